"""Digits of several kinds in one set to learn from."""

import hashlib

import numpy as np

from core.device import HostArray
from core.digits.dataset import OUTLIER, Dataset, Splits
from core.digits.outliers import outlier_pictures
from core.digits.synthetic_ink import synthetic_pictures

OUTLIER_SHARE = 0.25
"""The share of drawings that are no digit in synthetic ink."""

HELD_OUT_EVERY = 5
"""Of the user's own digits, each fifth is not learned from."""


def with_synthetic_ink(digits: Dataset, share: float, seed: int) -> Dataset:
    """`digits` and so much synthetic ink behind them that it is `share` (0 to under 1) of the whole.

    A quarter of the ink is no digit. The same seed writes the same. It takes about 0.4 ms a picture.
    """
    count = round(len(digits) * share / (1.0 - share))
    if count == 0:
        return digits
    rng = np.random.default_rng((seed, count))
    outliers = round(count * OUTLIER_SHARE)
    labels = rng.integers(0, 10, count - outliers, np.uint8)
    images = digits.images, synthetic_pictures(labels, rng), outlier_pictures(outliers, rng)
    return Dataset(
        np.concatenate(images), np.concatenate([digits.labels, labels, np.full(outliers, OUTLIER, np.uint8)])
    )


def with_own_digits(splits: Splits, own: Dataset, share: float) -> Splits:
    """`splits` with the user's `own` digits behind the training digits, as `share` (above 0, under 1) of the whole.

    They are repeated evenly, or taken evenly where there are more than that. Every fifth is held out to be measured
    on; of fewer than five all are learned from, and measured.
    """
    learned, measured = own, own
    if can_hold_out(len(own)):
        is_held_out = np.arange(len(own)) % HELD_OUT_EVERY == HELD_OUT_EVERY - 1
        learned, measured = _chosen(own, ~is_held_out), _chosen(own, is_held_out)
    train = splits.train
    count = max(round(len(train) * share / (1.0 - share)), 1)
    repeated = _chosen(learned, np.arange(count) * len(learned) // count)
    mixed = Dataset(
        np.concatenate([train.images, repeated.images]),
        np.concatenate([train.labels, repeated.labels]),
    )
    return Splits(mixed, splits.validation, splits.test, measured, _digest(own))


def can_hold_out(count: int) -> bool:
    """Whether of so many digits of the user's own some are held out."""
    return count >= HELD_OUT_EVERY


def _chosen(digits: Dataset, rows: HostArray) -> Dataset:
    return Dataset(digits.images[rows], digits.labels[rows])


def _digest(digits: Dataset) -> str:
    return hashlib.sha256(digits.images.tobytes() + digits.labels.tobytes()).hexdigest()
