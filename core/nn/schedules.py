"""How the learning rate, and what else changes evenly, goes over a run: a factor for each moment of it."""

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

Schedule: TypeAlias = Callable[[float], float]
"""From the share of the run that is done, 0 to under 1, to a factor of the learning rate."""


def constant(done: float) -> float:
    """The same rate throughout."""
    return 1.0


def step(done: float) -> float:
    """A tenth after half of the run, a hundredth after three quarters. He et al., 2016, section 4.2, in outline."""
    return 1.0 if done < 0.5 else 0.1 if done < 0.75 else 0.01


def cosine(done: float) -> float:
    """Down half a cosine wave, from 1 at the start to 0 at the end. Loshchilov and Hutter, 2017, eq. 5, one cycle."""
    return 0.5 * (1.0 + math.cos(math.pi * done))


def one_cycle(done: float) -> float:
    """Up from 1/25 to 1 in the first 30 % of the run, then down to nothing, on cosines. Smith and Topin, 2018."""
    if done < _ONE_CYCLE_TOP:
        return 1.0 - (1.0 - 1.0 / 25.0) * cosine(done / _ONE_CYCLE_TOP)
    return cosine((done - _ONE_CYCLE_TOP) / (1.0 - _ONE_CYCLE_TOP))


_ONE_CYCLE_TOP = 0.3

SCHEDULES: Mapping[str, Schedule] = {"constant": constant, "step": step, "cosine": cosine, "one-cycle": one_cycle}


def warmed_up(done: float, warmup: float) -> float:
    """A further factor, rising evenly to 1 over the first share `warmup` (0 to 1) of the run. Goyal et al., 2017."""
    return min(1.0, done / warmup) if warmup else 1.0


def faded(done: float, fade: float) -> float:
    """Of what is to end with the run: 1, and over the last share `fade` (0 to 1) of the run evenly down to 0."""
    return min(1.0, (1.0 - done) / fade) if fade else 1.0
