"""The convolution, held against sums written out tap by tap in plain Python.

Whatever decides how it computes is gone through: as first layer it unfolds few channels and not many, as a later one it
passes a gradient on; with the BLAS, with NumPy alone, and as for a device of many cores; in one piece and in several.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from core.device import Device, HostArray
from core.nn.initializers import uniform_over_fan_in
from core.nn.layers.conv2d import Conv2d
from core.nn.layers.layer import ShapeError
from tests.devices import DEVICES, as_parameters, in_use

CHANNELS = 3


@dataclass(frozen=True)
class Case:
    """A convolution to CHANNELS channels, of pictures of this shape."""

    size: int
    shape: tuple[int, int, int]
    same: bool = False
    bias: bool = True


CASES = pytest.mark.parametrize(
    "case",
    [
        Case(3, (2, 5, 6)),
        Case(3, (2, 5, 6), bias=False),
        Case(3, (2, 5, 4), same=True),
        Case(5, (1, 4, 5), same=True, bias=False),
        Case(2, (1, 4, 3)),
        Case(4, (2, 4, 6)),
        Case(1, (2, 3, 4)),
        Case(1, (2, 3, 4), same=True),
        Case(3, (5, 4, 4)),
        Case(3, (5, 3, 4), same=True),
        Case(3, (1, 3, 3)),
    ],
    ids=str,
)


def with_numpy_alone() -> Device:
    device = Device()
    device._blas = None
    return device


def with_many_cores() -> Device:
    device = Device(shares=1)
    device.many_cores = True
    return device


WAYS = {**DEVICES, "cpu with NumPy alone": with_numpy_alone, "cpu with many cores": with_many_cores}


@pytest.fixture(params=as_parameters(WAYS))
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    """Every device there is, and the CPU computing in every way it can."""
    with in_use(WAYS[request.param]()) as device:
        yield device


def bound(
    case: Case,
    device: Device,
    rng: np.random.Generator,
    *,
    propagates: bool = True,
    divides: bool = False,
    dtype: type = np.float64,
) -> Conv2d:
    """A layer that has taken its place in a network, with weights at random and gradients full of NaN."""
    layer = Conv2d(CHANNELS, case.size, same=case.same, bias=case.bias)
    shapes = layer.parameter_shapes(case.shape)
    parameters = {name: device.to_device(rng.normal(0, 1, shape).astype(dtype)) for name, shape in shapes.items()}
    gradients = {name: device.to_device(np.full(shape, np.nan, dtype)) for name, shape in shapes.items()}
    layer.bind(device, dtype, parameters, gradients, {}, propagates=propagates, divides=divides)
    return layer


@dataclass
class ByHand:
    y: HostArray
    dx: HostArray
    dweight: HostArray
    dbias: HostArray


def by_hand(layer: Conv2d, x: HostArray, dy: HostArray) -> ByHand:
    """Everything written out: each weight meets each number it meets, once, outside the picture there is nothing."""
    weight = layer.device.to_host(layer.parameters["weight"])
    bias = layer.device.to_host(layer.parameters["bias"]) if layer.bias else np.zeros(layer.channels)
    found = ByHand(np.zeros(dy.shape), np.zeros(x.shape), np.zeros(weight.shape), dy.sum(axis=(1, 2, 3)))
    border = (layer.size - 1) // 2 if layer.same else 0
    for o, h, w in np.ndindex(dy.shape[:3]):
        found.y[o, h, w] += bias[o]
        for i, j, c in np.ndindex(layer.size, layer.size, x.shape[0]):
            row, column = h + i - border, w + j - border
            if not (0 <= row < x.shape[1] and 0 <= column < x.shape[2]):
                continue
            for n in range(x.shape[3]):
                found.y[o, h, w, n] += weight[i, j, o, c] * x[c, row, column, n]
                found.dweight[i, j, o, c] += dy[o, h, w, n] * x[c, row, column, n]
                found.dx[c, row, column, n] += dy[o, h, w, n] * weight[i, j, o, c]
    return found


def check(layer: Conv2d, case: Case, rng: np.random.Generator, samples: int = 3, tolerance: float = 1e-12) -> None:
    """Forward and backward on a new batch are what they are by hand."""
    device, dtype = layer.device, layer.parameters["weight"].dtype
    x = rng.normal(0, 1, (*case.shape, samples)).astype(dtype)
    dy = rng.normal(0, 1, (*layer.output_shape(case.shape), samples)).astype(dtype)
    wanted, on_device, given = by_hand(layer, x, dy), device.to_device(x), device.to_device(dy)
    close = {"rtol": tolerance, "atol": tolerance}
    y = device.to_host(layer.forward(on_device, training=True))
    assert y.dtype == dtype
    np.testing.assert_allclose(y, wanted.y, **close)
    dx = layer.backward(given)
    np.testing.assert_allclose(device.to_host(layer.gradients["weight"]), wanted.dweight, **close)
    if case.bias:
        np.testing.assert_allclose(device.to_host(layer.gradients["bias"]), wanted.dbias, **close)
    if layer.propagates:
        np.testing.assert_allclose(device.to_host(dx), wanted.dx, **close)
    else:
        assert dx is given
    np.testing.assert_array_equal(device.to_host(on_device), x)
    np.testing.assert_array_equal(device.to_host(given), dy)


@CASES
@pytest.mark.parametrize("propagates", [False, True], ids=["first layer", "later layer"])
def test_forward_and_backward_are_the_sums_over_the_kernel_s_taps(
    case: Case, propagates: bool, device: Device, rng: np.random.Generator
) -> None:
    check(bound(case, device, rng, propagates=propagates), case, rng)


@pytest.mark.parametrize("propagates", [False, True], ids=["first layer", "later layer"])
def test_float32_gives_the_same_to_its_precision(propagates: bool, device: Device, rng: np.random.Generator) -> None:
    case = Case(3, (2, 6, 5))
    check(bound(case, device, rng, propagates=propagates, dtype=np.float32), case, rng, tolerance=2e-5)


@CASES
@pytest.mark.parametrize("propagates", [False, True], ids=["first layer", "later layer"])
@pytest.mark.parametrize("shares", [1, 2, 3])
def test_dividing_the_work_among_threads_changes_no_number(
    case: Case, propagates: bool, shares: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.nn.layers.layer._WORTH_SHARING", 1)
    cpu, pieces = Device(), []
    cpu.shares = shares
    together = cpu.run_together
    monkeypatch.setattr(cpu, "run_together", lambda work: pieces.append(len(work)) or together(work))
    layer = bound(case, cpu, rng, propagates=propagates, divides=True)
    check(layer, case, rng)
    assert max(pieces) == min(shares, case.shape[1] if propagates else layer.output_shape(case.shape)[1])


@CASES
@pytest.mark.parametrize("propagates", [False, True], ids=["first layer", "later layer"])
def test_a_smaller_last_batch_leaves_nothing_of_the_larger_one_before_and_comes_and_goes(
    case: Case, propagates: bool, device: Device, rng: np.random.Generator
) -> None:
    layer = bound(case, device, rng, propagates=propagates)
    for samples in (4, 4, 1, 4, 1):
        check(layer, case, rng, samples)


@pytest.mark.parametrize("propagates", [False, True], ids=["first layer", "later layer"])
def test_new_weights_count_from_the_next_step_on(propagates: bool, device: Device, rng: np.random.Generator) -> None:
    case = Case(3, (2, 5, 5))
    layer = bound(case, device, rng, propagates=propagates)
    check(layer, case, rng)
    for parameter in layer.parameters.values():
        parameter += 0.5
    check(layer, case, rng)


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("propagates", [False, True], ids=["first layer", "later layer"])
def test_pictures_and_gradients_that_are_parts_of_larger_arrays_are_read_where_they_lie(
    same: bool, propagates: bool, device: Device, rng: np.random.Generator
) -> None:
    case = Case(3, (2, 5, 5), same=same)
    layer = bound(case, device, rng, propagates=propagates)
    _, high, wide = layer.output_shape(case.shape)
    for _ in range(2):
        pictures, around = rng.normal(0, 1, (2, 7, 7, 3)), rng.normal(0, 1, (CHANNELS, high + 2, wide + 2, 3))
        inside = (slice(None), slice(1, -1), slice(1, -1))
        wanted = by_hand(layer, pictures[inside], around[inside])
        y = device.to_host(layer.forward(device.to_device(pictures)[inside], training=True))
        np.testing.assert_allclose(y, wanted.y, rtol=1e-12, atol=1e-12)
        dx = layer.backward(device.to_device(around)[inside])
        dweight = device.to_host(layer.gradients["weight"])
        np.testing.assert_allclose(dweight, wanted.dweight, rtol=1e-12, atol=1e-12)
        if propagates:
            np.testing.assert_allclose(device.to_host(dx), wanted.dx, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("inputs", [2, 5], ids=["few channels", "many channels"])
def test_pictures_whose_samples_lie_apart_in_memory_are_read_rightly_in_every_batch(
    inputs: int, device: Device, rng: np.random.Generator
) -> None:
    case = Case(3, (inputs, 4, 4))
    layer = bound(case, device, rng, propagates=False)
    by_sample = rng.normal(0, 1, (3, *case.shape))
    on_device, dy = device.to_device(by_sample), rng.normal(0, 1, (CHANNELS, 2, 2, 3))
    x = on_device.transpose(1, 2, 3, 0)
    for _ in range(2):
        on_device += 1
        by_sample += 1
        wanted = by_hand(layer, by_sample.transpose(1, 2, 3, 0), dy)
        y = device.to_host(layer.forward(x, training=True))
        np.testing.assert_allclose(y, wanted.y, rtol=1e-12, atol=1e-12)
        layer.backward(device.to_device(dy))
        dweight = device.to_host(layer.gradients["weight"])
        np.testing.assert_allclose(dweight, wanted.dweight, rtol=1e-12, atol=1e-12)


def test_each_batch_size_has_one_array_for_y(device: Device, rng: np.random.Generator) -> None:
    layer, x = bound(Case(3, (2, 5, 5)), device, rng), rng.normal(0, 1, (2, 5, 5, 4))
    part, x = device.to_device(np.ascontiguousarray(x[..., :2])), device.to_device(x)
    y = layer.forward(x, training=True)
    layer.forward(part, training=True)
    assert layer.forward(x, training=True) is y


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (Conv2d(8, 3), (8, 26, 24)),
        (Conv2d(8, 3, same=True), (8, 28, 26)),
        (Conv2d(8, 4), (8, 25, 23)),
        (Conv2d(8, 1), (8, 28, 26)),
        (Conv2d(8, 26), (8, 3, 1)),
        (Conv2d(8, 27, same=True), (8, 28, 26)),
    ],
)
def test_pictures_shrink_by_one_less_than_the_kernel_or_keep_their_size(
    layer: Conv2d, shape: tuple[int, int, int]
) -> None:
    assert layer.output_shape((1, 28, 26)) == shape


@pytest.mark.parametrize(
    ("layer", "shape", "message"),
    [
        (Conv2d(8, 3), (784,), "there is no picture to convolve"),
        (Conv2d(8, 5), (1, 9, 4), "a picture of 9x4 is too small for a kernel of 5x5"),
        (Conv2d(8, 4, same=True), (1, 9, 9), "same wants a kernel of odd size, not 4"),
    ],
)
def test_what_cannot_be_convolved_is_refused_with_the_reason(
    layer: Conv2d, shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(ShapeError) as caught:
        layer.output_shape(shape)
    assert str(caught.value) == message


@pytest.mark.parametrize("bias", [True, False])
def test_kernels_start_as_drawn_with_their_taps_in_front_and_the_bias_starts_as_zeros(bias: bool) -> None:
    layer = Conv2d(4, 3, bias=bias, initializer=uniform_over_fan_in)
    start = layer.initial_parameters((2, 9, 9), np.random.default_rng(3))
    assert {name: values.shape for name, values in start.items()} == layer.parameter_shapes((2, 9, 9))
    drawn = np.random.default_rng(3).random((4, 2, 3, 3)) / 18
    for i, j, o, c in np.ndindex(3, 3, 4, 2):
        assert start["weight"][i, j, o, c] == drawn[o, c, i, j]
    assert ("bias" in start) == bias
    assert not start.get("bias", np.zeros(4)).any()
