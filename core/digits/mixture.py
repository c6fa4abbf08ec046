"""Digits of several kinds in one set to learn from."""

import numpy as np

from core.digits.dataset import Dataset
from core.digits.synthetic_ink import synthetic_pictures


def with_synthetic_ink(digits: Dataset, share: float, seed: int) -> Dataset:
    """`digits` and so much synthetic ink behind them that it is `share` (0 to under 1) of the whole.

    The same seed writes the same. It takes about 0.4 ms a synthetic digit.
    """
    count = round(len(digits) * share / (1.0 - share))
    if count == 0:
        return digits
    rng = np.random.default_rng((seed, count))
    labels = rng.integers(0, 10, count, np.uint8)
    pictures = synthetic_pictures(labels, rng)
    return Dataset(np.concatenate([digits.images, pictures]), np.concatenate([digits.labels, labels]))
