"""Synthetic ink and the user's own digits mixed into a set: how much of it, which, and that nothing is lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.digits.dataset import OUTLIER, Dataset, DigitSets, Splits
from core.digits.mixture import with_own_digits, with_synthetic_ink


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
    assert np.bincount(labels, minlength=11)[:10].min() > 12
    assert (pictures.max(axis=(1, 2)) == 255).all()
    assert len({picture.tobytes() for picture in pictures}) == len(pictures)


def test_a_quarter_of_the_ink_is_no_digit(digits: Dataset) -> None:
    labels = with_synthetic_ink(digits, 0.5, seed=0).labels[120:]
    assert (labels == OUTLIER).sum() == 30
    assert (labels[:90] < 10).all()


def test_the_same_seed_writes_the_same_and_another_something_else(digits: Dataset) -> None:
    once, again, other = (with_synthetic_ink(digits, 0.2, seed).images[120:] for seed in (1, 1, 2))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)


def own_digits(count: int) -> Dataset:
    """Digits that can be told apart: the nth is the picture of grey level n."""
    return Dataset(
        np.stack([np.full((28, 28), number, np.uint8) for number in range(count)]),
        (np.arange(count) % 10).astype(np.uint8),
    )


@given(st.integers(1, 60), st.floats(0.01, 0.9))
def test_own_digits_are_repeated_evenly_to_their_share_and_every_fifth_is_kept_apart(count: int, share: float) -> None:
    train = Dataset(np.full((90, 28, 28), 255, np.uint8), np.zeros(90, np.uint8))
    mixed = with_own_digits(Splits(train, None, train), own_digits(count), share)
    own = mixed.train.images[90:, 0, 0].tolist()
    assert len(own) == max(round(90 * share / (1 - share)), 1)
    assert mixed.train.labels[90:].tolist() == [number % 10 for number in own]
    assert mixed.mine is not None
    held_out = mixed.mine.images[:, 0, 0].tolist()
    if count < 5:
        assert held_out == list(range(count))
        learned = set(range(count))
    else:
        assert held_out == list(range(4, count, 5))
        learned = set(range(count)) - set(held_out)
    often = [own.count(number) for number in sorted(learned)]
    assert sum(often) == len(own)
    assert max(often) - min(often) <= 1


def test_the_digest_tells_collections_apart_by_pictures_labels_and_order(digits: Dataset) -> None:
    splits = Splits(digits, None, digits)
    own = own_digits(12)
    changed = own.labels.copy()
    changed[4] = 9
    backwards = Dataset(own.images[::-1].copy(), own.labels[::-1].copy())
    others = (own, own_digits(11), Dataset(own.images, changed), backwards)
    assert len({with_own_digits(splits, other, 0.5).mine_digest for other in others}) == 4
    assert with_own_digits(splits, own_digits(12), 0.2).mine_digest == with_own_digits(splits, own, 0.5).mine_digest
