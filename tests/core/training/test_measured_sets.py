"""Which sets a run is measured on, and when: what a run tells of them is tested with the loop."""

import numpy as np
import pytest

from core.device import Device
from core.digits.dataset import Dataset, Splits
from core.training.measured_sets import MeasuredSets


def digits(count: int) -> Dataset:
    return Dataset(np.zeros((count, 28, 28), np.uint8), np.zeros(count, np.uint8))


@pytest.mark.parametrize(
    ("validation", "mine", "has_target", "watched"),
    [
        (0, 0, False, {"test": 4}),
        (3, 0, False, {"validation": 3}),
        (3, 0, True, {"validation": 3, "test": 4}),
        (3, 2, False, {"validation": 3, "mine": 2}),
        (3, 2, True, {"validation": 3, "test": 4, "mine": 2}),
        (0, 2, True, {"test": 4, "mine": 2}),
    ],
)
def test_the_test_set_is_watched_only_in_need_or_as_a_target(
    validation: int, mine: int, has_target: bool, watched: dict[str, int]
) -> None:
    splits = Splits(digits(5), digits(validation) if validation else None, digits(4), digits(mine) if mine else None)
    sets = MeasuredSets(splits, Device(), np.dtype(np.float32))
    assert {split: len(data) for split, data in sets.watched(has_target).items()} == watched
    apart = {split: len(data) for split, data in sets.kept_apart().items()}
    assert apart == ({"test": 4, "mine": mine} if mine else {"test": 4})
