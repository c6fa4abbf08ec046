"""Which digits of a set look most like a picture: the simplest reader of digits there is, and a mirror for the others.

A network's answer says nothing of why; the training digits that lie nearest often do.
"""

from collections.abc import Callable

import numpy as np

from core.device import HostArray
from core.digits.dataset import Dataset

BLOCK = 4096
"""So many pictures become floats at a time: 12 MB, however large the set."""


def nearest_digits(
    data: Dataset, picture: HostArray, count: int, interrupted: Callable[[], bool] = lambda: False
) -> HostArray | None:
    """The places in `data` of the `count` digits nearest to `picture`, uint8 (28, 28): intp (count,), nearest first.

    Nearness is Euclidean distance between pictures as vectors of 784 grey levels. A set with fewer digits gives them
    all. None if `interrupted` answered True on the way.
    """
    wanted = picture.reshape(-1).astype(np.float32)
    flat = data.images.reshape(len(data), -1)
    distances = np.empty(len(data), np.float32)
    for start in range(0, len(data), BLOCK):
        if interrupted():
            return None
        block = flat[start : start + BLOCK].astype(np.float32)
        # |a - b|² without |b|², which is the same for all.
        distances[start : start + BLOCK] = np.einsum("ij,ij->i", block, block) - 2 * (block @ wanted)
    count = min(count, len(data))
    nearest = np.argpartition(distances, count - 1)[:count]
    return nearest[np.argsort(distances[nearest], kind="stable")]
