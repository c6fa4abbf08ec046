"""The fully connected layer, held against sums written out sample by sample in plain Python."""

import numpy as np
import pytest

from core.device import Array, Device, HostArray, last_axis_first
from core.nn.initializers import uniform_over_fan_in
from core.nn.layers.layer import ShapeError
from core.nn.layers.linear import Linear

X = np.array([[1.0, 0.5], [-2.0, 0.0], [3.0, -1.0]])
WEIGHT = np.array([[0.1, 0.2, 0.3], [-1.0, 2.0, 0.5], [0.0, 1.0, -1.0], [4.0, 0.25, -0.5]])
BIAS = np.array([0.5, -0.5, 1.0, 0.0])
DY = np.array([[1.0, -0.25], [2.0, 1.0], [-3.0, 0.0], [0.5, 4.0]])


def bound(device: Device, *, bias: bool = True, propagates: bool = True, divides: bool = False) -> Linear:
    """A layer of four units over three inputs that has taken its place in a network, gradients full of NaN."""
    layer = Linear(4, bias=bias)
    start = {"weight": WEIGHT, "bias": BIAS} if bias else {"weight": WEIGHT}
    parameters = {name: device.to_device(values) for name, values in start.items()}
    gradients = {name: device.to_device(np.full_like(values, np.nan)) for name, values in start.items()}
    layer.bind(device, np.float64, parameters, gradients, {}, propagates=propagates, divides=divides)
    return layer


def weighted_sums(x: HostArray, weight: HostArray, bias: HostArray) -> HostArray:
    """y written out: each unit's sum of weight times input, plus its bias, for one sample after the other."""
    samples = [
        [
            sum(float(w * v) for w, v in zip(row, sample, strict=True)) + float(b)
            for row, b in zip(weight, bias, strict=True)
        ]
        for sample in x.T
    ]
    return np.array(samples).T


def test_forward_is_the_weighted_sum_of_the_inputs_plus_the_bias(device: Device) -> None:
    y = bound(device).forward(device.to_device(X), training=True)
    np.testing.assert_allclose(device.to_host(y), weighted_sums(X, WEIGHT, BIAS), rtol=1e-14)


def test_forward_without_bias_is_the_weighted_sum_alone(device: Device) -> None:
    y = bound(device, bias=False).forward(device.to_device(X), training=True)
    np.testing.assert_allclose(device.to_host(y), weighted_sums(X, WEIGHT, np.zeros(4)), rtol=1e-14)


def test_the_weight_gradient_sums_output_gradient_times_input_over_the_batch(device: Device) -> None:
    layer = bound(device)
    layer.forward(device.to_device(X), training=True)
    layer.backward(device.to_device(DY))
    wanted = np.zeros((4, 3))
    for sample, dy in zip(X.T, DY.T, strict=True):
        for unit in range(4):
            for i in range(3):
                wanted[unit, i] += dy[unit] * sample[i]
    np.testing.assert_allclose(device.to_host(layer.gradients["weight"]), wanted, rtol=1e-14)
    np.testing.assert_allclose(device.to_host(layer.gradients["bias"]), [0.75, 3.0, -3.0, 4.5], rtol=1e-14)


def test_the_input_gradient_is_each_weight_times_its_unit_s_gradient(device: Device) -> None:
    layer = bound(device)
    layer.forward(device.to_device(X), training=True)
    dx = layer.backward(device.to_device(DY))
    wanted = [[sum(dy[unit] * WEIGHT[unit, i] for unit in range(4)) for dy in DY.T] for i in range(3)]
    np.testing.assert_allclose(device.to_host(dx), wanted, rtol=1e-14)


def test_the_first_layer_of_a_network_writes_its_gradients_and_computes_no_dx(device: Device) -> None:
    layer = bound(device, propagates=False)
    layer.forward(device.to_device(X), training=True)
    dy = device.to_device(DY)
    assert layer.backward(dy) is dy
    np.testing.assert_allclose(device.to_host(layer.gradients["weight"]), DY @ X.T, rtol=1e-14)


def test_gradients_are_written_anew_by_each_backward_not_added_up(device: Device) -> None:
    layer = bound(device)
    for _ in range(2):
        layer.forward(device.to_device(X), training=True)
        layer.backward(device.to_device(DY))
    np.testing.assert_allclose(device.to_host(layer.gradients["bias"]), DY.sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(device.to_host(layer.gradients["weight"]), DY @ X.T, rtol=1e-14)


def test_backward_belongs_to_the_last_forward_when_batch_sizes_change(device: Device) -> None:
    layer = bound(device)
    layer.forward(device.to_device(X), training=True)
    layer.forward(device.to_device(X[:, 1:]), training=True)
    dx = layer.backward(device.to_device(DY[:, 1:]))
    np.testing.assert_allclose(device.to_host(dx), WEIGHT.T @ DY[:, 1:], rtol=1e-14)
    np.testing.assert_allclose(device.to_host(layer.gradients["weight"]), DY[:, 1:] @ X[:, 1:].T, rtol=1e-14)


def test_each_batch_size_has_one_array_for_y_and_one_for_dx(device: Device) -> None:
    layer, x, dy = bound(device), device.to_device(X), device.to_device(DY)
    y, dx = layer.forward(x, training=True), layer.backward(dy)
    layer.forward(x[:, :1], training=True)
    assert layer.forward(x, training=True) is y
    assert layer.backward(dy) is dx


def test_neither_forward_nor_backward_changes_what_it_is_given(device: Device) -> None:
    layer, x, dy = bound(device), device.to_device(X), device.to_device(DY)
    layer.forward(x, training=True)
    layer.backward(dy)
    np.testing.assert_array_equal(device.to_host(x), X)
    np.testing.assert_array_equal(device.to_host(dy), DY)
    np.testing.assert_array_equal(device.to_host(layer.parameters["weight"]), WEIGHT)


@pytest.mark.parametrize("shares", [1, 2, 3, 9])
def test_dividing_the_work_among_threads_changes_no_number(monkeypatch: pytest.MonkeyPatch, shares: int) -> None:
    monkeypatch.setattr("core.nn.layers.layer._WORTH_SHARING", 1)
    device = Device(shares=shares)
    layer = bound(device, divides=True)
    y = layer.forward(device.to_device(X), training=True)
    dx = layer.backward(device.to_device(DY))
    np.testing.assert_allclose(device.to_host(y), weighted_sums(X, WEIGHT, BIAS), rtol=1e-14)
    np.testing.assert_allclose(device.to_host(dx), WEIGHT.T @ DY, rtol=1e-14)
    np.testing.assert_allclose(device.to_host(layer.gradients["weight"]), DY @ X.T, rtol=1e-14)
    np.testing.assert_allclose(device.to_host(layer.gradients["bias"]), DY.sum(axis=1), rtol=1e-14)


NARROW_SHARES = pytest.mark.parametrize("shares", [1, 2, 3, 4, 9])


def lying(device: Device, values: HostArray, samples: str) -> Array:
    """`values` (features, N) on the device, with the samples first or last in memory."""
    return device.to_device(values.T.copy()).T if samples == "first" else device.to_device(values)


def narrow(device: Device, monkeypatch: pytest.MonkeyPatch, shares: int, *, bias: bool = True) -> Linear:
    """A layer of two units over seven inputs, divided among `shares` threads, with a weight drawn at random."""
    for least in ("_WORTH_TURNING", "_WORTH_DIVIDING"):
        monkeypatch.setattr(f"core.nn.layers.linear.{least}", 0)
    monkeypatch.setattr(device, "product_shares", lambda work: shares)
    layer = Linear(2, bias=bias)
    assert layer.column_major((7,)) == ("weight",)
    rng = np.random.default_rng(5)
    start = {"weight": rng.normal(0, 1, (7, 2))} | ({"bias": rng.normal(0, 1, 2)} if bias else {})
    views = [{name: device.to_device(values).T for name, values in start.items()} for _ in range(2)]
    layer.bind(device, np.float64, *views, {}, propagates=True)
    return layer


@NARROW_SHARES
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("samples", ["first", "last"])
@pytest.mark.parametrize("keep", [0.0, 0.9])
def test_a_narrow_layer_divided_by_its_inputs_computes_the_same(
    device: Device,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
    shares: int,
    bias: bool,
    samples: str,
    keep: float,
) -> None:
    layer = narrow(device, monkeypatch, shares, bias=bias)
    layer.carry(keep)
    weight, before = (device.to_host(arrays["weight"]) for arrays in (layer.parameters, layer.gradients))
    for count in (5, 1, 5):
        x, dy = rng.normal(0, 1, (7, count)), rng.normal(0, 1, (2, count))
        given = lying(device, x, samples)
        y = layer.forward(given, training=True)
        dx = layer.backward(lying(device, dy, samples))
        offset = device.to_host(layer.parameters["bias"]) if bias else np.zeros(2)
        np.testing.assert_allclose(device.to_host(y), weighted_sums(x, weight, offset), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(device.to_host(dx), np.einsum("ui,un->in", weight, dy), rtol=1e-12, atol=1e-12)
        before = np.einsum("un,in->ui", dy, x) + keep * before
        np.testing.assert_allclose(device.to_host(layer.gradients["weight"]), before, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(device.to_host(given), x)
        if count > 1:
            lies_first = samples == "first" and not device.many_cores
            assert last_axis_first(y) == last_axis_first(dx) == lies_first


@NARROW_SHARES
def test_a_narrow_layer_keeps_one_array_for_y_and_one_for_dx(
    device: Device, monkeypatch: pytest.MonkeyPatch, shares: int
) -> None:
    layer = narrow(device, monkeypatch, shares)
    x, dy = lying(device, np.ones((7, 3)), "first"), lying(device, np.ones((2, 3)), "first")
    y, dx = layer.forward(x, training=True), layer.backward(dy)
    layer.forward(x[:, :1], training=True)
    assert layer.forward(x, training=True) is y
    assert layer.backward(dy) is dx


@pytest.mark.parametrize(("units", "shares"), [(64, 2), (512, 2), (300, 3)], ids=["narrow", "wide", "too many shares"])
def test_a_large_layer_s_products_are_one_for_each_thread(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, units: int, shares: int
) -> None:
    device, layer, asked = Device(shares=shares), Linear(units), []
    if not device.may_be_alone:
        pytest.skip("NumPy's BLAS computes nothing together here")
    prepare = device.prepare_products
    monkeypatch.setattr(device, "prepare_products", lambda made, **how: asked.append(len(made)) or prepare(made, **how))
    weight = rng.normal(0, 1, (units, 784)).astype(np.float32)
    views = ({"weight": weight.copy(), "bias": np.zeros(units, np.float32)} for _ in range(2))
    layer.bind(device, np.float32, *views, {}, propagates=True)
    x, dy = rng.random((100, 784), np.float32).T, rng.normal(0, 1, (units, 100)).astype(np.float32)
    y = layer.forward(x, training=True)
    dx = layer.backward(dy)
    assert asked == [shares, shares, 1, shares]  # y, dW, db, dx
    close = {"rtol": 1e-4, "atol": 2e-3}
    np.testing.assert_allclose(y, np.einsum("ui,in->un", weight, x), **close)
    np.testing.assert_allclose(dx, np.einsum("ui,un->in", weight, dy), **close)
    np.testing.assert_allclose(layer.gradients["weight"], np.einsum("un,in->ui", dy, x), **close)
    np.testing.assert_allclose(layer.gradients["bias"], dy.sum(axis=1), **close)


@pytest.mark.parametrize(
    ("units", "inputs", "stored"),
    [
        (64, 784, ("weight",)),
        (391, 784, ("weight",)),
        (392, 784, ()),
        (1024, 784, ()),
        (10, 400, ("weight",)),
        (10, 399, ()),
    ],
)
def test_only_a_narrow_layer_s_weight_lies_column_by_column(units: int, inputs: int, stored: tuple[str, ...]) -> None:
    assert Linear(units).column_major((inputs,)) == stored


def test_of_few_weights_y_has_the_samples_last_and_only_dx_lies_as_x_does(
    device: Device, rng: np.random.Generator
) -> None:
    layer = Linear(2, bias=False)
    views = ({"weight": device.to_device(rng.normal(0, 1, (7, 2))).T} for _ in range(2))
    layer.bind(device, np.float64, *views, {}, propagates=True)
    y = layer.forward(lying(device, rng.normal(0, 1, (7, 5)), "first"), training=True)
    dx = layer.backward(lying(device, rng.normal(0, 1, (2, 5)), "first"))
    assert not last_axis_first(y)
    assert last_axis_first(dx) == (not device.many_cores)


def test_a_picture_is_refused_with_what_to_do() -> None:
    with pytest.raises(ShapeError, match="linear wants a row of numbers, not a picture; put flatten before it"):
        Linear(7).output_shape((1, 5, 5))


@pytest.mark.parametrize(
    ("bias", "shapes"), [(True, {"weight": (7, 5), "bias": (7,)}), (False, {"weight": (7, 5)})], ids=["bias", "no bias"]
)
def test_the_layer_names_its_parameters_and_starts_each_of_them(bias: bool, shapes: dict[str, tuple[int, ...]]) -> None:
    layer = Linear(7, bias=bias)
    start = layer.initial_parameters((5,), np.random.default_rng(3))
    assert layer.output_shape((5,)) == (7,)
    assert layer.parameter_shapes((5,)) == shapes
    assert {name: values.shape for name, values in start.items()} == shapes
    assert np.ptp(start["weight"]) > 0
    assert not start.get("bias", np.zeros(7)).any()


def test_the_weight_starts_as_the_chosen_initializer_draws_it() -> None:
    start = Linear(7, initializer=uniform_over_fan_in).initial_parameters((5,), np.random.default_rng(3))
    np.testing.assert_array_equal(start["weight"], np.random.default_rng(3).random((7, 5)) / 5)
