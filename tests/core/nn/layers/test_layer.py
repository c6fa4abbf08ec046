"""What all layers share: how work is divided among threads."""

import numpy as np
import pytest

from core.device import Device
from core.nn.layers.layer import Layer, stretches


def bound(device: Device, *, divides: bool, shares: int = 3) -> Layer:
    device.shares = shares
    layer = Layer()
    layer.bind(device, np.float64, {}, {}, {}, propagates=True, divides=divides)
    return layer


@pytest.mark.parametrize(
    ("count", "work", "parts"),
    [
        (9, 1e9, [(0, 3), (3, 6), (6, 9)]),
        (10, 1e9, [(0, 3), (3, 6), (6, 10)]),
        (2, 1e9, [(0, 1), (1, 2)]),
        (9, 250_000, [(0, 4), (4, 9)]),
        (9, 199_000, [(0, 9)]),
        (9, 0, [(0, 9)]),
    ],
)
def test_work_is_divided_evenly_into_as_many_parts_as_it_is_worth(
    device: Device, count: int, work: float, parts: list[tuple[int, int]]
) -> None:
    assert bound(device, divides=True).shares(count, work) == [slice(*part) for part in parts]


@pytest.mark.parametrize(("count", "parts"), [(1, 1), (7, 3), (8, 3), (3, 8), (784, 2)])
def test_stretches_follow_one_another_and_differ_by_one_at_most(count: int, parts: int) -> None:
    made = stretches(count, parts)
    assert [i for part in made for i in range(count)[part]] == list(range(count))
    lengths = [part.stop - part.start for part in made]
    assert len(made) == min(count, parts)
    assert max(lengths) - min(lengths) <= 1


def test_a_network_that_does_not_divide_leaves_all_work_in_one_piece(device: Device) -> None:
    assert bound(device, divides=False).shares(9, 1e9) == [slice(0, 9)]


def test_every_share_is_worked_on_once(device: Device) -> None:
    layer, seen = bound(device, divides=True), []
    layer.run_shares(layer.shares(10, 1e9), seen.append)
    assert sorted(seen, key=lambda share: share.start) == [slice(0, 3), slice(3, 6), slice(6, 10)]
