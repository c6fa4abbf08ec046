"""Where the time of a training step goes: every part of it watched from outside, by name.

Watching costs time itself, on a GPU much of it, since each part is waited for. So steps are taken in turn, one timed as
a whole and the next part by part: the speed is that of the former, the shares are those of the latter.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import ParamSpec, TypeVar

from core.digits.dataset import Splits
from core.training.job import TrainingJob
from core.training.learner import Learner

P = ParamSpec("P")
R = TypeVar("R")

WARM_UP_STEPS = 5
"""The first steps make the arrays that all others use."""
SECONDS = 5.0
LEAST_STEPS = 5
BATCH, AUGMENTATION, LOSS, UPDATE, AVERAGING, REST = "batch", "augmentation", "loss", "update", "averaging", "the rest"


@dataclass(frozen=True)
class Part:
    """One part of a step: its median `seconds`, and its `share` (0..1) of all parts together."""

    name: str
    seconds: float
    share: float


@dataclass(frozen=True)
class Profile:
    """How fast a job's steps are, and where their time goes; all times are medians over `steps` steps.

    `parts` are in the order in which a step comes to them; a layer has one for each way, "linear1 forward" and
    "linear1 backward".
    """

    device_key: str
    batch_size: int
    steps: int
    step_seconds: float
    parts: tuple[Part, ...]

    @property
    def steps_per_second(self) -> float:
        """How often such a step can be taken in a second."""
        return 1.0 / self.step_seconds

    @property
    def digits_per_second(self) -> float:
        """How many digits are learned from in a second."""
        return self.batch_size / self.step_seconds

    @property
    def augmentation_share(self) -> float:
        """The share (0..1) of a step that goes into making new digits from old ones."""
        return next(part.share for part in self.parts if part.name == AUGMENTATION)


def profile(job: TrainingJob, splits: Splits, steps: int | None = None) -> Profile:
    """Take `steps` (at least 1) steps of `job` and as many that are watched; None for about five seconds of them.

    Raises what `train` raises before a run begins.
    """
    chosen = job.hyperparameters
    learner = Learner(job.preset, chosen, job.device_key, splits.train)
    batches = learner.full_batches()

    def step() -> None:
        learner.step(next(batches), chosen.learning_rate)

    for _ in range(WARM_UP_STEPS):
        step()
    watch = _Watch(learner)
    whole: list[float] = []
    watched: list[dict[str, float]] = []
    begun = time.perf_counter()
    while not _is_enough(len(whole), steps, time.perf_counter() - begun):
        learner.records = True
        whole.append(watch.time(step))
        learner.records = False
        watched.append(watch.time_parts(step))
    return Profile(learner.device.key, chosen.batch_size, len(whole), median(whole), _medians(watched))


def _is_enough(taken: int, wanted: int | None, seconds: float) -> bool:
    if wanted is not None:
        return taken >= wanted
    return taken >= LEAST_STEPS and seconds >= SECONDS


def _medians(watched: list[dict[str, float]]) -> tuple[Part, ...]:
    seconds = {name: median(step[name] for step in watched) for name in watched[0]}
    total = sum(seconds.values())
    return tuple(Part(name, value, value / total) for name, value in seconds.items())


class _Watch:
    """Stands before the methods that make up a learner's step, and notes how long they take while a step is watched."""

    def __init__(self, learner: Learner) -> None:
        self._device = learner.device
        self._seconds: dict[str, float] | None = None
        named = learner.network.named_layers()
        self._stand_before(BATCH, learner.data, "batch", "pixels")
        self._stand_before(AUGMENTATION, learner.shift, "draw", "clear")
        self._stand_before(AUGMENTATION, learner.distortion, "draw", "apply")
        for name, layer in named:
            self._stand_before(f"{name} forward", layer, "draw", "forward")
            self._stand_before(f"{name} backward", layer, "backward")
        self._stand_before(LOSS, learner.loss, "forward", "backward")
        self._stand_before(UPDATE, learner.optimizer, "update")
        if learner.average is not None:
            self._stand_before(AVERAGING, learner.average, "add")

    def time(self, step: Callable[[], None]) -> float:
        """The seconds `step` takes, until the device has done all of it."""
        self._device.synchronize()
        started = time.perf_counter()
        step()
        self._device.synchronize()
        return time.perf_counter() - started

    def time_parts(self, step: Callable[[], None]) -> dict[str, float]:
        """The seconds each part of `step` takes, in the order in which they come."""
        seconds = self._seconds = {BATCH: 0.0, AUGMENTATION: 0.0}
        total = self.time(step)
        self._seconds = None
        return {**seconds, REST: total - sum(seconds.values())}

    def _stand_before(self, part: str, owner: object, *methods: str) -> None:
        for method in methods:
            setattr(owner, method, self._watched(part, getattr(owner, method)))

    def _watched(self, part: str, method: Callable[P, R]) -> Callable[P, R]:
        def watched(*args: P.args, **kwargs: P.kwargs) -> R:
            if self._seconds is None:
                return method(*args, **kwargs)
            started = time.perf_counter()
            result = method(*args, **kwargs)
            self._device.synchronize()
            self._seconds[part] = self._seconds.get(part, 0.0) + time.perf_counter() - started
            return result

        return watched
