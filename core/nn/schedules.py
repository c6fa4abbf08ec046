"""How the learning rate goes over a run: a factor of the chosen rate for each moment of it."""

import math
from collections.abc import Callable
from typing import TypeAlias

Schedule: TypeAlias = Callable[[float], float]
"""From the share of the run that is done, 0 to under 1, to a factor of the learning rate."""


def constant(done: float) -> float:
    """The same rate throughout."""
    return 1.0


def cosine(done: float) -> float:
    """Down half a cosine wave, from 1 at the start to 0 at the end. Loshchilov and Hutter, 2017, eq. 5, one cycle."""
    return 0.5 * (1.0 + math.cos(math.pi * done))
