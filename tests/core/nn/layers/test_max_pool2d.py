"""Max pooling, held against the squares searched one by one in plain Python."""

import numpy as np
import pytest

from core.device import Device, HostArray
from core.nn.layers.layer import ShapeError
from core.nn.layers.max_pool2d import MaxPool2d

SIZES = pytest.mark.parametrize(
    ("size", "rows", "columns"), [(1, 3, 4), (2, 4, 6), (2, 5, 7), (3, 6, 9), (3, 8, 10), (4, 4, 4), (5, 13, 11)]
)


def bound(device: Device, size: int, *, divides: bool = False) -> MaxPool2d:
    layer = MaxPool2d(size)
    layer.bind(device, np.float64, {}, {}, {}, propagates=True, divides=divides)
    return layer


def squares(x: HostArray, size: int) -> dict[tuple[int, int, int, int], list[tuple[int, int, int, int]]]:
    """For each place of y the places of x in its square."""
    channels, rows, columns, samples = x.shape
    within = [(i, j) for i in range(size) for j in range(size)]
    return {
        (c, h, w, n): [(c, h * size + i, w * size + j, n) for i, j in within]
        for c in range(channels)
        for h in range(rows // size)
        for w in range(columns // size)
        for n in range(samples)
    }


def pooled(x: HostArray, size: int) -> HostArray:
    y = np.empty((len(x), x.shape[1] // size, x.shape[2] // size, x.shape[3]))
    for place, sources in squares(x, size).items():
        y[place] = max(float(x[source]) for source in sources)
    return y


@SIZES
def test_the_largest_of_each_square_is_kept_and_what_fills_no_square_left_out(
    device: Device, rng: np.random.Generator, size: int, rows: int, columns: int
) -> None:
    x = rng.normal(0, 1, (3, rows, columns, 4))
    y = bound(device, size).forward(device.to_device(x), training=True)
    np.testing.assert_array_equal(device.to_host(y), pooled(x, size))


@SIZES
def test_the_gradient_goes_to_the_largest_and_everything_else_gets_none(
    device: Device, rng: np.random.Generator, size: int, rows: int, columns: int
) -> None:
    x = rng.normal(0, 1, (3, rows, columns, 4))
    layer = bound(device, size)
    dy = rng.normal(0, 1, layer.forward(device.to_device(x), training=True).shape)
    wanted = np.zeros_like(x)
    for place, sources in squares(x, size).items():
        wanted[max(sources, key=lambda source: x[source])] = dy[place]
    np.testing.assert_array_equal(device.to_host(layer.backward(device.to_device(dy))), wanted)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_of_equally_large_ones_exactly_one_takes_the_whole_gradient(
    device: Device, rng: np.random.Generator, size: int
) -> None:
    # Of three values only, so that most squares have several largest ones, and some nothing else.
    x = rng.integers(0, 3, (4, 3 * size, 3 * size, 8)).astype(float)
    x[0] = 0.0
    layer = bound(device, size)
    dy = rng.normal(5, 1, layer.forward(device.to_device(x), training=True).shape)
    dx = device.to_host(layer.backward(device.to_device(dy)))
    for place, sources in squares(x, size).items():
        taken = [source for source in sources if dx[source] != 0]
        assert len(taken) == 1
        assert dx[taken[0]] == dy[place]
        assert x[taken[0]] == max(x[source] for source in sources)


def test_a_later_smaller_batch_and_other_winners_leave_nothing_of_the_gradient_before(
    device: Device, rng: np.random.Generator
) -> None:
    layer = bound(device, 2)
    for samples in (5, 2, 5):
        x = rng.normal(0, 1, (2, 5, 5, samples))
        y = layer.forward(device.to_device(x), training=True)
        np.testing.assert_array_equal(device.to_host(y), pooled(x, 2))
        dx = device.to_host(layer.backward(device.to_device(np.ones(y.shape))))
        assert dx.sum() == y.size
        np.testing.assert_array_equal(np.sort(x[dx == 1]), np.sort(device.to_host(y).ravel()))


@pytest.mark.parametrize("shares", [1, 2, 3])
def test_dividing_the_work_among_threads_changes_no_number(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, shares: int
) -> None:
    monkeypatch.setattr("core.nn.layers.layer._WORTH_SHARING", 1)
    device = Device(shares=shares)
    x, dy = rng.integers(0, 9, (5, 7, 6, 3)).astype(float), rng.normal(0, 1, (5, 3, 3, 3))
    alone, divided = bound(device, 2), bound(device, 2, divides=True)
    assert len(divided.shares(5, x.size)) == shares
    answers = []
    for layer in (alone, divided):
        y = device.to_host(layer.forward(device.to_device(x), training=True))
        answers.append((y, device.to_host(layer.backward(device.to_device(dy)))))
    np.testing.assert_array_equal(answers[1][0], answers[0][0])
    np.testing.assert_array_equal(answers[1][1], answers[0][1])


def test_neither_forward_nor_backward_changes_what_it_is_given(device: Device, rng: np.random.Generator) -> None:
    x, dy = rng.normal(0, 1, (2, 4, 4, 3)), rng.normal(0, 1, (2, 2, 2, 3))
    layer, on_device, given = bound(device, 2), device.to_device(x), device.to_device(dy)
    layer.forward(on_device, training=True)
    layer.backward(given)
    np.testing.assert_array_equal(device.to_host(on_device), x)
    np.testing.assert_array_equal(device.to_host(given), dy)


def test_a_number_that_is_none_is_passed_on_so_that_a_diverged_run_is_noticed(device: Device) -> None:
    x = np.zeros((1, 2, 2, 1))
    x[0, 0, 1, 0] = np.nan
    assert np.isnan(device.to_host(bound(device, 2).forward(device.to_device(x), training=True))).all()


def test_the_shape_of_y_leaves_out_what_fills_no_square() -> None:
    assert MaxPool2d(3).output_shape((4, 11, 9)) == (4, 3, 3)


@pytest.mark.parametrize(
    ("shape", "message"),
    [((12,), "there is no picture to pool"), ((1, 9, 2), "a picture of 9x2 is too small to pool by 3")],
)
def test_what_cannot_be_pooled_is_refused_with_the_reason(shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        MaxPool2d(3).output_shape(shape)
    assert str(caught.value) == message
