"""What the tests of the loop share: jobs, what events tell, and the two oracles that runs are held against.

One oracle is the rule of the system that Inkling grew from, sample by sample in float64; the other is softmax
regression by momentum descent, which quick-mlp comes to without hidden layers and shifts. Both are given a run's start
weights (those of a run that was stopped before its first step) and its order of digits (drawn from the second of the
generators that the seed spawns), and nothing else.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from core.device import HostArray
from core.digits.dataset import Dataset, Splits
from core.training.events import (
    OUTCOMES,
    Evaluated,
    Event,
    TrainingEnded,
    Weights,
)
from core.training.job import TrainingControl, TrainingJob
from core.training.presets import find_preset
from core.training.trainer import train

RARELY = 1_000_000

JobMaker: TypeAlias = Callable[..., TrainingJob]
"""As `job`, for the device that is being tested."""

DENSE = {
    "quick-mlp": ("linear {} relu", "linear 10"),
    "pycuda-seed": ("linear {} nobias relu", "linear 10 nobias straight-relu"),
}
SMALL_CONV = (
    "conv 4x3 bn relu, pool 2, dropout 0.25, conv 4x3 same relu, pool 2, linear 12 relu, dropout 0.5, linear 10"
)


def job(
    preset: str,
    *,
    hidden: Sequence[int] | None = None,
    device: str = "cpu",
    until_accuracy: float | None = None,
    **choices: Any,
) -> TrainingJob:
    """`preset`'s own job but for `choices`; `hidden` are the sizes of its hidden layers instead."""
    if hidden is not None:
        layer, last = DENSE[preset]
        choices["network"] = ", ".join([*(layer.format(units) for units in hidden), last])
    return TrainingJob(preset, replace(find_preset(preset).hyperparameters, **choices), device, until_accuracy)


def of_kind(kind: type, events: Sequence[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def end_of(events: Sequence[Event]) -> TrainingEnded:
    assert isinstance(events[-1], TrainingEnded)
    assert len(of_kind(TrainingEnded, events)) == 1
    assert events[-1].outcome in OUTCOMES
    return events[-1]


def start_weights(job: TrainingJob, splits: Splits) -> dict[str, HostArray]:
    control = TrainingControl()
    control.stop()
    return {name: w.astype(np.float64) for name, w in end_of(list(train(job, splits, control))).weights.items()}


def batches_of(job: TrainingJob, count: int) -> list[HostArray]:
    """The digits of each step of the whole run."""
    chosen = job.hyperparameters
    rng = np.random.default_rng(chosen.seed).spawn(2)[1]
    orders = [rng.permutation(count) for _ in range(chosen.epochs)]
    return [order[i : i + chosen.batch_size] for order in orders for i in range(0, count, chosen.batch_size)]


class PycudaSeed:
    """D <- 0.9 D + (sum over the batch of error times input), W <- W + (0.01/100) D."""

    def __init__(self, weights: Weights, rate: float) -> None:
        self.w1, self.w2 = weights["linear1.weight"], weights["linear2.weight"]
        self.d1, self.d2 = np.zeros_like(self.w1), np.zeros_like(self.w2)
        self.rate = rate
        self.silent_hidden = self.silent_outputs = 0

    def step(self, data: Dataset, rows: HostArray) -> None:
        sum1, sum2 = np.zeros_like(self.w1), np.zeros_like(self.w2)
        for row in rows:
            x = data.images[row].ravel() / 255
            hidden = np.maximum(self.w1 @ x, 0)
            output = np.maximum(self.w2 @ hidden, 0)
            target = np.zeros(10)
            target[data.labels[row]] = 1
            output_error = target - output
            hidden_error = self.w2.T @ output_error
            hidden_error[hidden <= 0] = 0
            sum1 += np.outer(hidden_error, x)
            sum2 += np.outer(output_error, hidden)
            self.silent_hidden += np.count_nonzero(hidden == 0)
            self.silent_outputs += np.count_nonzero(output == 0)
        self.d1 = 0.9 * self.d1 + sum1
        self.d2 = 0.9 * self.d2 + sum2
        self.w1 = self.w1 + self.rate / 100 * self.d1
        self.w2 = self.w2 + self.rate / 100 * self.d2


class SoftmaxRegression:
    """v <- momentum v + g, w <- w - rate v, with g the mean gradient, its length at most `clip_norm` (0: any length),
    and weight_decay w more; keeps each step's summed loss and right answers.
    """

    def __init__(self, weights: Weights, momentum: float) -> None:
        self.weights = np.hstack([weights["linear1.weight"], weights["linear1.bias"][:, np.newaxis]])
        self.velocity = np.zeros_like(self.weights)
        self.momentum, self.smoothing, self.weight_decay, self.clip_norm = momentum, 0.0, 0.0, 0.0
        self.losses: list[float] = []
        self.right: list[int] = []

    @property
    def weight(self) -> HostArray:
        return self.weights[:, :-1]

    @property
    def bias(self) -> HostArray:
        return self.weights[:, -1]

    def step(self, data: Dataset, rows: HostArray, rate: float) -> None:
        gradient, loss, right = np.zeros_like(self.weights), 0.0, 0
        for row in rows:
            x, label = np.append(data.images[row].ravel() / 255, 1), int(data.labels[row])
            scores = self.weights @ x
            exponentials = np.exp(scores - scores.max())
            p = exponentials / exponentials.sum()
            target = np.array([self.smoothing / 10] * 10)
            target[label] = 1 - self.smoothing * 9 / 10
            loss -= sum(target * np.log(p))
            right += int(scores.argmax()) == label
            gradient += np.outer(p - target, x) / len(rows)
        length = math.sqrt((gradient**2).sum())
        if 0 < self.clip_norm < length:
            gradient *= self.clip_norm / length
        self.velocity = self.momentum * self.velocity + gradient + self.weight_decay * self.weights
        self.weights = self.weights - rate * self.velocity
        self.losses.append(loss)
        self.right.append(right)


def assert_close(weights: Weights, name: str, wanted: HostArray, relative: float) -> None:
    """Every weight within `relative` of the largest one."""
    assert np.abs(weights[name] - wanted).max() <= relative * np.abs(wanted).max()


def story(events: Sequence[Event]) -> list[tuple[str, int]]:
    """Kind (or split) and step of each event but the first and last."""
    return [
        (event.split if isinstance(event, Evaluated) else type(event).__name__, event.step) for event in events[1:-1]
    ]


def moments(*steps: tuple[int, str]) -> list[tuple[str, int]]:
    """A story: at each step a report where "report" is named; where splits are, weights and an evaluation on each."""
    told = []
    for step, words in steps:
        splits = [word for word in words.split() if word != "report"]
        if "report" in words:
            told.append(("StepsCompleted", step))
        if splits:
            told += [("WeightsPublished", step), *((name, step) for name in splits)]
    return told


def without_seconds(value: Any) -> Any:
    """An event as plain values that can be compared bit by bit, but for the time it took."""
    if is_dataclass(value):
        timed = ("train_seconds", "seconds_to_target")
        return [
            type(value).__name__,
            *(without_seconds(getattr(value, f.name)) for f in fields(value) if f.name not in timed),
        ]
    if isinstance(value, dict):
        return {name: without_seconds(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    return value


class StopsItself(TrainingControl):
    """A control that is told to stop at the very moment it is asked for the nth time."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self._left = n

    def should_stop(self) -> bool:
        self._left -= 1
        if self._left == 0:
            self.stop()
        return super().should_stop()
