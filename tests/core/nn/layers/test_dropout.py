"""Dropout, held against what it promises: how much it silences, what it does to the rest, and that backward agrees."""

import numpy as np
import pytest

from core.device import Device, HostArray
from core.nn.layers.dropout import Dropout


def bound(device: Device, rate: float, dtype: type = np.float64) -> Dropout:
    layer = Dropout(rate)
    layer.bind(device, dtype, {}, {}, {}, propagates=True)
    return layer


def dropped(layer: Dropout, device: Device, x: HostArray) -> HostArray:
    layer.draw(x.shape)
    return device.to_host(layer.forward(device.to_device(x), training=True))


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.5, 0.9])
def test_the_chosen_share_is_silenced_and_the_mean_stays(device: Device, rate: float) -> None:
    y = dropped(bound(device, rate), device, np.ones((200, 500)))
    assert (y == 0).mean() == pytest.approx(rate, abs=0.006)
    assert y.mean() == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize(("rate", "factor"), [(0.25, 4 / 3), (0.5, 2.0), (0.75, 4.0)])
def test_what_is_left_is_scaled_up_by_what_was_silenced(
    device: Device, rng: np.random.Generator, rate: float, factor: float
) -> None:
    x = rng.normal(0, 1, (20, 30))
    y = dropped(bound(device, rate), device, x)
    kept = y != 0
    assert 0 < kept.sum() < kept.size
    np.testing.assert_allclose(y[kept], factor * x[kept], rtol=1e-14)


def test_backward_silences_and_scales_exactly_what_forward_did(device: Device, rng: np.random.Generator) -> None:
    layer, x, dy = bound(device, 0.5), rng.normal(0, 1, (20, 30)), rng.normal(0, 1, (20, 30))
    y = dropped(layer, device, x)
    np.testing.assert_allclose(device.to_host(layer.backward(device.to_device(dy))), dy * (y / x), rtol=1e-13)


def test_until_drawn_anew_the_same_is_silenced(device: Device) -> None:
    layer, x = bound(device, 0.5), np.ones((20, 30))
    first = dropped(layer, device, x)
    np.testing.assert_array_equal(device.to_host(layer.forward(device.to_device(x), training=True)), first)


def test_each_draw_silences_something_else(device: Device) -> None:
    layer, x = bound(device, 0.5), np.ones((20, 30))
    assert not np.array_equal(dropped(layer, device, x), dropped(layer, device, x))


def test_equal_generators_silence_alike_in_every_precision(device: Device) -> None:
    layers = bound(device, 0.3), bound(device, 0.3, np.float32)
    wide, narrow = (
        dropped(layer, device, np.ones((20, 30), dtype)) for layer, dtype in zip(layers, ("f8", "f4"), strict=True)
    )
    assert narrow.dtype == np.float32
    np.testing.assert_array_equal(wide == 0, narrow == 0)


def test_it_is_off_while_not_training_and_draws_nothing(device: Device) -> None:
    layer, other, x = bound(device, 0.5), bound(device, 0.5), np.ones((20, 30))
    for _ in range(3):
        y = device.to_host(layer.forward(device.to_device(x), training=False))
        np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(dropped(layer, device, x), dropped(other, device, x))


def test_a_rate_of_0_silences_nothing(device: Device) -> None:
    np.testing.assert_array_equal(dropped(bound(device, 0.0), device, np.ones((50, 50))), 1.0)


def test_a_rate_close_to_1_leaves_a_few_numbers_and_all_of_them_finite(device: Device) -> None:
    y = dropped(bound(device, 0.9999), device, np.ones((100, 100)))
    assert np.isfinite(y).all()
    assert 0 < np.count_nonzero(y) < 200


def test_the_rate_may_change_between_steps(device: Device) -> None:
    layer, x = bound(device, 0.9), np.ones((100, 100))
    dropped(layer, device, x)
    layer.rate = 0.0
    np.testing.assert_array_equal(dropped(layer, device, x), x)


def test_neither_forward_nor_backward_changes_what_it_is_given(device: Device) -> None:
    layer, x, dy = bound(device, 0.5), device.to_device(np.ones((9, 8))), device.to_device(np.ones((9, 8)))
    layer.draw(x.shape)
    layer.forward(x, training=True)
    layer.backward(dy)
    assert (device.to_host(x) == 1).all()
    assert (device.to_host(dy) == 1).all()
