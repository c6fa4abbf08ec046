"""Flatten: the numbers of a picture in a row, in the order channel, row, column."""

import numpy as np
import pytest

from core.device import Device
from core.nn.layers.flatten import Flatten


def bound(device: Device) -> Flatten:
    layer = Flatten()
    layer.bind(device, np.float64, {}, {}, {}, propagates=True)
    return layer


def test_the_numbers_of_each_sample_stand_in_a_row_channel_by_channel_and_row_by_row(device: Device) -> None:
    x = np.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)
    y = device.to_host(bound(device).forward(device.to_device(x), training=True))
    for sample in range(5):
        assert y[:, sample].tolist() == [x[c, h, w, sample] for c in range(2) for h in range(3) for w in range(4)]


def test_backward_puts_each_gradient_back_in_its_place(device: Device) -> None:
    layer, x = bound(device), device.to_device(np.arange(120.0).reshape(2, 3, 4, 5))
    dx = layer.backward(layer.forward(x, training=True))
    np.testing.assert_array_equal(device.to_host(dx), device.to_host(x))


@pytest.mark.parametrize(("shape", "size"), [((2, 3, 4), 24), ((7,), 7)])
def test_a_sample_s_shape_becomes_its_number_of_numbers(shape: tuple[int, ...], size: int) -> None:
    assert Flatten().output_shape(shape) == (size,)
