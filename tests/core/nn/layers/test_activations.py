"""Activation functions, held against values worked out by hand."""

import numpy as np
import pytest

from core.device import Device
from core.nn.layers.activations import ReLU, StraightThroughReLU

X = np.array([[-2.0, -0.0, 0.0, 1e-30], [3.0, -1e-30, np.inf, -np.inf]])
Y = np.array([[0.0, 0.0, 0.0, 1e-30], [3.0, 0.0, np.inf, 0.0]])
DY = np.array([[1.0, 2.0, 3.0, 4.0], [-5.0, 6.0, 7.0, 8.0]])


def bound(layer: ReLU, device: Device) -> ReLU:
    layer.bind(device, np.float64, {}, {}, propagates=True)
    return layer


@pytest.fixture(params=[ReLU, StraightThroughReLU])
def either(request: pytest.FixtureRequest, device: Device) -> ReLU:
    return bound(request.param(), device)


def test_both_cut_off_what_is_negative(either: ReLU, device: Device) -> None:
    np.testing.assert_array_equal(device.to_host(either.forward(device.to_device(X), training=True)), Y)


def test_both_let_nan_through_so_that_a_diverged_run_is_noticed(either: ReLU, device: Device) -> None:
    y = either.forward(device.to_device(np.array([[np.nan, 1.0]])), training=True)
    np.testing.assert_array_equal(device.to_host(y), [[np.nan, 1.0]])


def test_both_leave_x_and_dy_as_they_were_and_reuse_their_arrays(either: ReLU, device: Device) -> None:
    x, dy = device.to_device(X), device.to_device(DY)
    y, dx = either.forward(x, training=True), either.backward(dy)
    np.testing.assert_array_equal(device.to_host(x), X)
    np.testing.assert_array_equal(device.to_host(dy), DY)
    assert either.forward(x, training=True) is y
    assert either.backward(dy) is dx


def test_relu_passes_the_gradient_on_only_where_its_output_is_positive(device: Device) -> None:
    layer = bound(ReLU(), device)
    layer.forward(device.to_device(X), training=True)
    dx = layer.backward(device.to_device(DY))
    np.testing.assert_array_equal(device.to_host(dx), [[0.0, 0.0, 0.0, 4.0], [-5.0, 0.0, 7.0, 0.0]])


def test_straight_through_relu_passes_every_gradient_on_unchanged_even_where_its_output_is_zero(device: Device) -> None:
    layer = bound(StraightThroughReLU(), device)
    layer.forward(device.to_device(X), training=True)
    np.testing.assert_array_equal(device.to_host(layer.backward(device.to_device(DY))), DY)


def test_neither_has_parameters_or_changes_the_shape_of_a_sample() -> None:
    for layer in (ReLU(), StraightThroughReLU()):
        assert layer.parameter_shapes((5, 3)) == {}
        assert layer.initial_parameters((5, 3), np.random.default_rng(0)) == {}
        assert layer.output_shape((5, 3)) == (5, 3)
