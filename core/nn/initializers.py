"""How weights start. Always drawn on the host, from the caller's rng, so that every device starts from the same ones.

`shape` is (out, in): one row of weights per unit, `in` inputs each.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from core.device import HostArray

Initializer: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], HostArray]


def he_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> HostArray:
    """Normal with variance 2 / in, which keeps the signal's size through ReLU layers. He et al., 2015, eq. 10."""
    return rng.standard_normal(shape) * np.sqrt(2.0 / np.prod(shape[1:]))


def uniform_over_fan_in(rng: np.random.Generator, shape: tuple[int, ...]) -> HostArray:
    """Uniform in [0, 1) / in: all weights positive and small, as the PyCUDA perceptron starts."""
    return rng.random(shape) / np.prod(shape[1:])
