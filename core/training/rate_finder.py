"""Which learning rate suits a network: try them all, small to large, in one short run. Smith, 2017, section 3.3.

A fresh network takes steps whose learning rate rises exponentially. Too small a rate changes nothing, a good one lets
the loss fall, too large a one lets it explode; the loss is smoothed, since single batches differ.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from core.digits.dataset import Splits
from core.training.hyperparameters import RANGES
from core.training.job import TrainingControl, TrainingJob
from core.training.learner import Learner

STEPS = 150
LOWEST = max(1e-5, RANGES["learning_rate"].minimum)
HIGHEST = min(10.0, RANGES["learning_rate"].maximum)

KEPT = 0.9
"""Share of the old in the smoothed loss."""
EXPLODED = 4.0
"""Times the best smoothed loss at which there is nothing more to be learned."""
_FALLEN = 0.9
"""A loss that never came below this share of its start never fell: batches differ by less."""
_MARGIN = 3.0
"""The suggestion stays below the rate with the smallest loss by this factor: there the loss is about to rise."""
_REACH = 5
"""Steps to either side between which a slope is taken."""


@dataclass(frozen=True)
class RateTried:
    """After step number `step`, 1 and up, which was taken with `learning_rate`: the smoothed mean `loss`, finite."""

    step: int
    learning_rate: float
    loss: float


@dataclass(frozen=True)
class RatesTried:
    """The last event: the rate to begin with; None if the loss never fell, or if the search was stopped."""

    suggested: float | None


RateEvent: TypeAlias = RateTried | RatesTried


def find_rate(job: TrainingJob, splits: Splits, control: TrainingControl | None = None) -> Iterator[RateEvent]:
    """Try up to 150 rates from 1e-5 to 10 on a fresh network of `job`; the last event is a RatesTried.

    The job's own learning rate and schedule play no part. Raises what `train` raises, before anything began.
    """
    # The average of the weights is never looked at here.
    chosen = replace(job.hyperparameters, averaging=0.0)
    learner = Learner(job.preset, chosen, job.device_key, splits.train)
    return _events(learner, control or TrainingControl())


def rate_of(step: int) -> float:
    """The learning rate of step number `step`, 1 to `STEPS`."""
    return float(LOWEST * (HIGHEST / LOWEST) ** ((step - 1) / (STEPS - 1)))


def _events(learner: Learner, control: TrainingControl) -> Iterator[RateEvent]:
    tried: list[RateTried] = []
    smoothed = _Smoothed()
    for step, rows in zip(range(1, STEPS + 1), learner.full_batches(), strict=False):
        if control.should_stop():
            yield RatesTried(None)
            return
        rate = rate_of(step)
        learner.step(rows, rate)
        loss = smoothed.add(learner.read_and_reset()[0])
        if not math.isfinite(loss):
            break
        tried.append(RateTried(step, rate, loss))
        yield tried[-1]
        if loss > EXPLODED * min(event.loss for event in tried):
            break
    yield RatesTried(suggest(tried))


class _Smoothed:
    """A running mean in which the latest counts most; at the start, divided by what its weights sum to so far."""

    def __init__(self) -> None:
        self._sum = self._weights = 0.0

    def add(self, value: float) -> float:
        self._sum = KEPT * self._sum + (1.0 - KEPT) * value
        self._weights = KEPT * self._weights + (1.0 - KEPT)
        return self._sum / self._weights


def suggest(tried: Sequence[RateTried]) -> float | None:
    """The rate at which the loss fell most steeply, well below the one with the smallest loss; None if it never fell.

    Rates rise by the same factor from step to step, so that steps measure them on a logarithmic scale.
    """
    if not tried:
        return None
    best = min(tried, key=lambda event: event.loss)
    if best.loss > _FALLEN * tried[0].loss:
        return None

    def slope(index: int) -> float:
        before, after = max(index - _REACH, 0), min(index + _REACH, len(tried) - 1)
        return (tried[after].loss - tried[before].loss) / (after - before)

    early = [index for index, event in enumerate(tried) if event.learning_rate <= best.learning_rate / _MARGIN]
    return tried[min(early, key=slope)].learning_rate if early else None
