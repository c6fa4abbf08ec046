"""Sets of labelled pictures: kept apart for training, validation and test, drawn in batches, turned into network input.

Pictures stay bytes, 0 (paper) to 255 (ink), until the moment a network takes them: `to_network_input` is the only
place where pixels become floats, for training and for a drawing alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from core.device import Array, HostArray

OUTLIER = 10
"""The label of a picture that shows no digit, of which a network learns to find all digits equally likely."""


class DatasetError(ValueError):
    """Data that cannot be used; the message names the file or set, what is wrong, and what to do."""


@dataclass(frozen=True)
class Dataset:
    """`images` uint8 (N, 28, 28) and `labels` uint8 (N,), 0 to 9 or `OUTLIER`; both read-only, N at least 1."""

    images: HostArray
    labels: HostArray

    def __post_init__(self) -> None:
        for array in (self.images, self.labels):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.labels)

    def part(self, start: int, stop: int) -> "Dataset":
        """The digits from `start` to before `stop`, sharing this set's memory."""
        return Dataset(self.images[start:stop], self.labels[start:stop])


@dataclass(frozen=True)
class DigitSets:
    """A whole collection as it was published: its training and its test set. `name` is for people."""

    name: str
    train: Dataset
    test: Dataset


@dataclass(frozen=True)
class Splits:
    """What one run trains on and what it is measured on; `validation` is None where nothing is held out.

    `mine`: the user's own digits to measure on, None where a run learns from none; `mine_digest` is the same only for
    the same collection of them, held out or not.
    """

    train: Dataset
    validation: Dataset | None
    test: Dataset
    mine: Dataset | None = None
    mine_digest: str = ""


def split(sets: DigitSets, validation_digits: int, train_limit: int = 0) -> Splits:
    """Hold out the last `validation_digits` training digits; train on the first `train_limit` of the rest (0: all).

    The same digits are held out each time, so that runs can be compared. Raises DatasetError if none are left.
    """
    rest = len(sets.train) - validation_digits
    if rest < 1:
        raise DatasetError(
            f"{sets.name} has {len(sets.train)} training digits; "
            f"with {validation_digits} held out for validation none are left to train on, so hold out fewer"
        )
    validation = sets.train.part(rest, len(sets.train)) if validation_digits else None
    return Splits(sets.train.part(0, min(rest, train_limit or rest)), validation, sets.test)


def minibatches(order: Array, batch_size: int) -> Iterator[Array]:
    """`order` in slices of `batch_size`; the last one holds what is left."""
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def shuffled(count: int, rng: np.random.Generator) -> HostArray:
    """0 to count - 1 in random order, as NumPy's index type; drawn on the host, the same for every device."""
    return rng.permutation(count).astype(np.intp, copy=False)


def to_network_input(xp: ModuleType, pictures: Array, out: Array) -> Array:
    """Bytes 0..255 to floats 0..1 in `out`, which has the shape of `pictures` and the network's dtype."""
    # Converted first and scaled then: a product of bytes and a number would be computed in float64.
    out[...] = pictures
    return xp.multiply(out, 1.0 / 255.0, out=out)
