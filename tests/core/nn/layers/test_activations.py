"""Activation functions, held against the math module number by number, and their slopes against central differences."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from core.device import Device, last_axis_first
from core.nn.layers.activations import GELU, LeakyReLU, ReLU, Sigmoid, StraightThroughReLU, Tanh
from core.nn.layers.dropout import Dropout
from core.nn.layers.layer import Layer

X = np.array([[-2.0, -0.0, 0.0, 1e-30], [3.0, -1e-30, 0.7, -0.4], [8.0, -9.0, 1.3, -0.01]])
DY = np.array([[1.0, 2.0, 3.0, 4.0], [-5.0, 6.0, 7.0, 8.0], [0.5, -0.25, 2.0, 1.0]])


def gelu(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


FORMULAS: dict[type[Layer], Callable[[float], float]] = {
    ReLU: lambda x: max(x, 0.0),
    StraightThroughReLU: lambda x: max(x, 0.0),
    LeakyReLU: lambda x: x if x > 0 else 0.01 * x,
    Sigmoid: lambda x: 1 / (1 + math.exp(-x)),
    Tanh: math.tanh,
    GELU: gelu,
}
ALL = pytest.mark.parametrize("kind", FORMULAS)


def bound(kind: type[Layer], device: Device, dtype: type = np.float64, *, propagates: bool = False) -> Layer:
    layer = kind()
    layer.bind(device, dtype, {}, {}, {}, propagates=propagates)
    return layer


@ALL
def test_each_is_its_formula_applied_to_every_number(kind: type[Layer], device: Device) -> None:
    y = bound(kind, device).forward(device.to_device(X), training=True)
    wanted = [[FORMULAS[kind](float(x)) for x in row] for row in X]
    np.testing.assert_allclose(device.to_host(y), wanted, rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize("kind", [kind for kind in FORMULAS if kind is not StraightThroughReLU])
def test_backward_is_the_formula_s_slope_times_the_gradient(
    kind: type[Layer], device: Device, rng: np.random.Generator
) -> None:
    layer, x, dy = bound(kind, device), rng.normal(0, 2, (6, 7)), rng.normal(0, 1, (6, 7))
    layer.forward(device.to_device(x), training=True)
    formula = FORMULAS[kind]
    slopes = [[(formula(float(v) + 1e-6) - formula(float(v) - 1e-6)) / 2e-6 for v in row] for row in x]
    dx = device.to_host(layer.backward(device.to_device(dy)))
    np.testing.assert_allclose(dx, dy * np.array(slopes), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("shape", [(6, 7), (1, 5, 4, 7)], ids=str)
@pytest.mark.parametrize("kind", [*FORMULAS, lambda: Dropout(0.5)])
def test_each_writes_as_what_it_is_given_lies(
    kind: Callable[[], Layer], shape: tuple[int, ...], device: Device, rng: np.random.Generator
) -> None:
    layer, results = kind(), {}
    layer.bind(device, np.float64, {}, {}, {}, propagates=False)
    x, dy = rng.normal(0, 2, (2, *shape))
    for samples in ("last", "first"):
        given, back = (device.to_device(values) for values in (x, dy))
        if samples == "first":
            turned = (np.ascontiguousarray(np.moveaxis(values, -1, 0)) for values in (x, dy))
            given, back = (device.to_device(values).transpose(*range(1, len(shape)), 0) for values in turned)
        if isinstance(layer, Dropout):
            layer.rng = np.random.default_rng(3)
        layer.draw(shape)
        y, dx = layer.forward(given, training=True), layer.backward(back)
        assert last_axis_first(y) == last_axis_first(dx) == (samples == "first")
        results[samples] = device.to_host(y).copy(), device.to_host(dx).copy()
    np.testing.assert_array_equal(results["first"], results["last"])


@ALL
def test_all_answer_a_batch_of_pictures_as_they_answer_its_numbers_in_a_row(
    kind: type[Layer], device: Device, rng: np.random.Generator
) -> None:
    x, dy, layer = rng.normal(0, 2, (2, 3, 4, 5)), rng.normal(0, 1, (2, 3, 4, 5)), bound(kind, device)
    y = device.to_host(layer.forward(device.to_device(x), training=True))
    dx = device.to_host(layer.backward(device.to_device(dy)))
    flat = device.to_host(layer.forward(device.to_device(x.reshape(24, 5)), training=True))
    np.testing.assert_allclose(y.reshape(24, 5), flat, rtol=1e-14)
    np.testing.assert_allclose(
        dx.reshape(24, 5), device.to_host(layer.backward(device.to_device(dy.reshape(24, 5)))), rtol=1e-14
    )


@ALL
def test_all_let_nan_through_so_that_a_diverged_run_is_noticed(kind: type[Layer], device: Device) -> None:
    y = device.to_host(bound(kind, device).forward(device.to_device(np.array([[np.nan, 1.0]])), training=True))
    assert np.isnan(y).tolist() == [[True, False]]


@ALL
def test_all_leave_x_and_dy_as_they_were_and_reuse_their_arrays(kind: type[Layer], device: Device) -> None:
    # Only the relu may write into what another layer owns: into dy, and into x behind a layer that learns.
    layer = bound(kind, device, propagates=kind is not ReLU)
    x, dy = device.to_device(X), device.to_device(DY)
    y, dx = layer.forward(x, training=True), layer.backward(dy)
    np.testing.assert_array_equal(device.to_host(x), X)
    if kind is not ReLU:
        np.testing.assert_array_equal(device.to_host(dy), DY)
    assert layer.forward(x, training=True) is y
    assert layer.backward(dy) is dx


def test_a_relu_behind_a_layer_that_learns_writes_where_x_is(device: Device) -> None:
    layer, x = bound(ReLU, device, propagates=True), device.to_device(X)
    assert layer.forward(x, training=True) is x
    np.testing.assert_array_equal(device.to_host(x), np.maximum(X, 0))
    np.testing.assert_array_equal(device.to_host(layer.backward(device.to_device(DY))), DY * (X > 0))


@ALL
def test_huge_numbers_in_float32_give_an_answer_and_a_slope_that_are_finite(kind: type[Layer], device: Device) -> None:
    layer, x = bound(kind, device, np.float32), np.array([[1e4, -1e4, 200.0, -200.0]], np.float32)
    y = device.to_host(layer.forward(device.to_device(x), training=True))
    dx = device.to_host(layer.backward(device.to_device(np.ones((1, 4), np.float32))))
    assert y.dtype == dx.dtype == np.float32
    assert np.isfinite(y).all()
    assert np.isfinite(dx).all()


def test_relu_passes_the_gradient_on_only_where_its_output_is_positive(device: Device) -> None:
    layer = bound(ReLU, device)
    layer.forward(device.to_device(X[:2]), training=True)
    dx = layer.backward(device.to_device(DY[:2]))
    np.testing.assert_array_equal(device.to_host(dx), [[0.0, 0.0, 0.0, 4.0], [-5.0, 0.0, 7.0, 0.0]])


def test_straight_through_relu_passes_every_gradient_on_unchanged_even_where_its_output_is_zero(device: Device) -> None:
    layer = bound(StraightThroughReLU, device)
    layer.forward(device.to_device(X), training=True)
    np.testing.assert_array_equal(device.to_host(layer.backward(device.to_device(DY))), DY)


@ALL
def test_none_has_parameters_or_changes_the_shape_of_a_sample(kind: type[Layer]) -> None:
    layer = kind()
    assert layer.parameter_shapes((5, 3)) == {}
    assert layer.initial_parameters((5, 3), np.random.default_rng(0)) == {}
    assert layer.initial_state((5, 3)) == {}
    assert layer.output_shape((5, 3)) == (5, 3)
