"""Batch normalization, held against means, variances and the published backward rule in plain Python."""

import math

import numpy as np
import pytest

from core.device import Device, HostArray
from core.nn.layers.batch_norm import BatchNorm

SHAPES = pytest.mark.parametrize("shape", [(3, 8), (3, 4, 5, 2)], ids=["features", "pictures"])
WEIGHT, BIAS = np.array([1.5, -0.5, 2.0]), np.array([0.25, 1.0, -3.0])


def bound(device: Device, *, divides: bool = False) -> BatchNorm:
    """A layer of three channels that has taken its place in a network, gradients full of NaN."""
    layer = BatchNorm()
    parameters = {"weight": device.to_device(WEIGHT), "bias": device.to_device(BIAS)}
    gradients = {name: device.to_device(np.full(3, np.nan)) for name in parameters}
    state = {name: device.to_device(values) for name, values in layer.initial_state((3,)).items()}
    layer.bind(device, np.float64, parameters, gradients, state, propagates=True, divides=divides)
    return layer


def moments(row: list[float]) -> tuple[float, float]:
    mean = math.fsum(row) / len(row)
    return mean, math.fsum((value - mean) ** 2 for value in row) / len(row)


def rows_of(x: HostArray) -> list[list[float]]:
    return [channel.ravel().tolist() for channel in x]


def normalized(x: HostArray, of_channels: list[tuple[float, float]]) -> HostArray:
    """y written out, given each channel's mean and variance."""
    y = [
        [WEIGHT[c] * (value - mean) / math.sqrt(variance + 1e-5) + BIAS[c] for value in row]
        for c, (row, (mean, variance)) in enumerate(zip(rows_of(x), of_channels, strict=True))
    ]
    return np.array(y).reshape(x.shape)


def a_batch(rng: np.random.Generator, shape: tuple[int, ...]) -> HostArray:
    """Channels of different sizes and far from 0."""
    column = (3, *[1] * (len(shape) - 1))
    return rng.normal(0, 1, shape) * np.reshape([1.0, 10.0, 0.1], column) + np.reshape([5.0, -20.0, 0.0], column)


@SHAPES
def test_training_brings_each_channel_to_mean_0_and_variance_1_over_the_whole_batch_before_weight_and_bias(
    device: Device, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    x = a_batch(rng, shape)
    y = bound(device).forward(device.to_device(x), training=True)
    wanted = normalized(x, [moments(row) for row in rows_of(x)])
    np.testing.assert_allclose(device.to_host(y), wanted, rtol=1e-10, atol=1e-12)


@SHAPES
def test_every_batch_moves_the_running_means_a_tenth_of_the_way(
    device: Device, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    layer, running = bound(device), [(0.0, 1.0)] * 3
    for _ in range(3):
        x = a_batch(rng, shape)
        layer.forward(device.to_device(x), training=True)
        now = [moments(row) for row in rows_of(x)]
        running = [
            (0.9 * mean + 0.1 * m, 0.9 * variance + 0.1 * v)
            for (mean, variance), (m, v) in zip(running, now, strict=True)
        ]
    np.testing.assert_allclose(device.to_host(layer.state["running_mean"]), [m for m, _ in running], rtol=1e-12)
    np.testing.assert_allclose(device.to_host(layer.state["running_variance"]), [v for _, v in running], rtol=1e-12)


@SHAPES
def test_otherwise_the_running_means_are_applied_and_stay_as_they_are(
    device: Device, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    layer, x = bound(device), a_batch(rng, shape)
    running = [(1.0, 4.0), (-2.0, 0.25), (0.5, 9.0)]
    layer.state["running_mean"][...] = device.to_device(np.array([m for m, _ in running]))
    layer.state["running_variance"][...] = device.to_device(np.array([v for _, v in running]))
    y = device.to_host(layer.forward(device.to_device(x), training=False))
    np.testing.assert_allclose(y, normalized(x, running), rtol=1e-12)
    assert device.to_host(layer.state["running_mean"]).tolist() == [1.0, -2.0, 0.5]
    assert device.to_host(layer.state["running_variance"]).tolist() == [4.0, 0.25, 9.0]
    alone = device.to_host(layer.forward(device.to_device(x[..., :1]), training=False))
    np.testing.assert_array_equal(alone, y[..., :1])


@SHAPES
def test_backward_follows_the_published_rule(device: Device, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    layer, x, dy = bound(device), a_batch(rng, shape), rng.normal(0, 1, shape)
    layer.forward(device.to_device(x), training=True)
    dx = device.to_host(layer.backward(device.to_device(dy)))
    for c, (row, given) in enumerate(zip(rows_of(x), rows_of(dy), strict=True)):
        mean, variance = moments(row)
        deviation, count = math.sqrt(variance + 1e-5), len(row)
        # Ioffe and Szegedy, 2015, section 3, equation by equation.
        dhat = [g * WEIGHT[c] for g in given]
        dvariance = math.fsum(d * (v - mean) for d, v in zip(dhat, row, strict=True)) * -0.5 / deviation**3
        dmean = -math.fsum(dhat) / deviation - 2 * dvariance * math.fsum(v - mean for v in row) / count
        wanted = [
            d / deviation + dvariance * 2 * (v - mean) / count + dmean / count for d, v in zip(dhat, row, strict=True)
        ]
        np.testing.assert_allclose(dx[c].ravel(), wanted, rtol=1e-9, atol=1e-10)
        dweight = math.fsum(g * (v - mean) / deviation for g, v in zip(given, row, strict=True))
        assert float(layer.gradients["weight"][c]) == pytest.approx(dweight, rel=1e-10)
        assert float(layer.gradients["bias"][c]) == pytest.approx(math.fsum(given), rel=1e-10)


def test_backward_takes_a_gradient_that_is_part_of_a_larger_array(device: Device, rng: np.random.Generator) -> None:
    layer, x, around = bound(device), rng.normal(0, 1, (3, 4, 5, 2)), rng.normal(0, 1, (3, 6, 7, 2))
    layer.forward(device.to_device(x), training=True)
    wanted = device.to_host(layer.backward(device.to_device(np.ascontiguousarray(around[:, 1:-1, 1:-1]))))
    dx = device.to_host(layer.backward(device.to_device(around)[:, 1:-1, 1:-1]))
    np.testing.assert_allclose(dx, wanted, rtol=1e-13)


@SHAPES
@pytest.mark.parametrize("shares", [2, 3])
def test_dividing_the_work_among_threads_changes_no_number(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], shares: int
) -> None:
    monkeypatch.setattr("core.nn.layers.layer._WORTH_SHARING", 1)
    device = Device(shares=shares)
    x, dy, answers = a_batch(rng, shape), rng.normal(0, 1, shape), []
    for divides in (False, True):
        layer = bound(device, divides=divides)
        assert len(layer.shares(3, x.size)) == (shares if divides else 1)
        forward = device.to_host(layer.forward(device.to_device(x), training=True))
        backward = device.to_host(layer.backward(device.to_device(dy)))
        evaluated = device.to_host(layer.forward(device.to_device(x), training=False))
        kept = [device.to_host(array) for array in (*layer.gradients.values(), *layer.state.values())]
        answers.append([forward, backward, evaluated, *kept])
    for alone, divided in zip(*answers, strict=True):
        np.testing.assert_allclose(divided, alone, rtol=1e-13)


def test_a_channel_that_is_the_same_everywhere_becomes_its_bias(device: Device) -> None:
    y = bound(device).forward(device.to_device(np.full((3, 4), 7.0)), training=True)
    np.testing.assert_allclose(device.to_host(y), np.repeat(BIAS[:, None], 4, axis=1), rtol=1e-14)


def test_neither_forward_nor_backward_changes_what_it_is_given(device: Device, rng: np.random.Generator) -> None:
    layer, x, dy = bound(device), rng.normal(0, 1, (3, 8)), rng.normal(0, 1, (3, 8))
    on_device, given = device.to_device(x), device.to_device(dy)
    layer.forward(on_device, training=True)
    layer.backward(given)
    np.testing.assert_array_equal(device.to_host(on_device), x)
    np.testing.assert_array_equal(device.to_host(given), dy)


@pytest.mark.parametrize("shape", [(5,), (5, 4, 4)], ids=["features", "pictures"])
def test_it_starts_by_normalizing_alone(shape: tuple[int, ...]) -> None:
    layer = BatchNorm()
    assert layer.output_shape(shape) == shape
    assert layer.parameter_shapes(shape) == {"weight": (5,), "bias": (5,)}
    start = {**layer.initial_parameters(shape, np.random.default_rng(0)), **layer.initial_state(shape)}
    assert {name: values.tolist() for name, values in start.items()} == {
        "weight": [1.0] * 5,
        "bias": [0.0] * 5,
        "running_mean": [0.0] * 5,
        "running_variance": [1.0] * 5,
    }
