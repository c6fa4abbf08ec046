"""Synthetic ink mixed into a set: how much of it, which, and that nothing is lost."""

import numpy as np
import pytest

from core.digits.dataset import Dataset, DigitSets
from core.digits.mixture import with_synthetic_ink


@pytest.fixture
def digits(few_digits: DigitSets) -> Dataset:
    return few_digits.train.part(0, 120)


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (0.001, 0), (0.25, 40), (0.5, 120)])
def test_the_share_is_that_of_the_whole_and_the_digits_stay_in_front(digits: Dataset, share: float, count: int) -> None:
    mixed = with_synthetic_ink(digits, share, seed=3)
    assert len(mixed) == 120 + count
    np.testing.assert_array_equal(mixed.images[:120], digits.images)
    np.testing.assert_array_equal(mixed.labels[:120], digits.labels)
    assert (mixed.images.dtype, mixed.labels.dtype) == (np.uint8, np.uint8)


def test_all_digits_are_written_about_equally_often_and_every_picture_has_ink(digits: Dataset) -> None:
    mixed = with_synthetic_ink(digits, 0.75, seed=0)
    labels, pictures = mixed.labels[120:], mixed.images[120:]
    assert np.bincount(labels, minlength=10).min() > 15
    assert (pictures.max(axis=(1, 2)) == 255).all()
    assert len({picture.tobytes() for picture in pictures}) == len(pictures)


def test_the_same_seed_writes_the_same_and_another_something_else(digits: Dataset) -> None:
    once, again, other = (with_synthetic_ink(digits, 0.2, seed).images[120:] for seed in (1, 1, 2))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)
