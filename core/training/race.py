"""A race: the same run, from the same seed over the same batches, on one device after the other.

It is a room of its own because what is watched is not how well the run learns, which is alike, but how soon. Seconds
are those of training steps, after a warm-up, without measuring. The networks are not kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from core.device import DeviceError
from core.digits.dataset import Splits
from core.training.benchmark import warm_up
from core.training.events import Evaluated, StepsCompleted, TrainingEnded, TrainingStarted
from core.training.finding import Finding, rounded
from core.training.job import TrainingControl, TrainingJob
from core.training.learner import Learner
from core.training.trainer import train

FINISH = 0.97
"""The accuracy raced for, unless some device's run ends below it."""


@dataclass(frozen=True)
class LapStarted:
    """This device is about to run."""

    device_key: str
    device_name: str


@dataclass(frozen=True)
class RaceProgress:
    """`done` (0..1) of all laps, told at every percent."""

    device_key: str
    done: float


@dataclass(frozen=True)
class RacePoint:
    """After `seconds` of training on this device the network read this share of digits right, `accuracy` 0..1."""

    device_key: str
    seconds: float
    accuracy: float


@dataclass(frozen=True)
class LapFailed:
    """This device could not run, or not to the end; `reason` says why."""

    device_key: str
    reason: str


@dataclass(frozen=True)
class RaceEnded:
    """The last event: "completed", or "stopped" on the way."""

    outcome: str


RaceEvent: TypeAlias = LapStarted | RaceProgress | RacePoint | LapFailed | RaceEnded


def race(
    job: TrainingJob, device_keys: Sequence[str], splits: Splits, control: TrainingControl | None = None
) -> Iterator[RaceEvent]:
    """Run `job` on each of `device_keys` in turn; its own device plays no part.

    Raises DatasetError if a batch is larger than the training set.
    """
    control = control or TrainingControl()
    for lap, key in enumerate(device_keys):
        if control.should_stop():
            break
        try:
            yield from _lap(replace(job, device_key=key), splits, control, lap, len(device_keys))
        except DeviceError as error:
            yield LapFailed(key, str(error))
    yield RaceEnded("stopped" if control.should_stop() else "completed")


def _lap(job: TrainingJob, splits: Splits, control: TrainingControl, lap: int, laps: int) -> Iterator[RaceEvent]:
    key, steps, told = job.device_key, 1, -1
    learner = Learner(job.preset, job.hyperparameters, key, splits.train)
    try:
        warm_up(learner, control)
    finally:
        learner.release()
    del learner
    for event in train(job, splits, control):
        if isinstance(event, TrainingStarted):
            steps = event.total_steps
            yield LapStarted(key, event.device_name)
        elif isinstance(event, StepsCompleted):
            percent = int(100 * (lap + event.step / steps) / laps)
            if percent > told:
                told = percent
                yield RaceProgress(key, percent / 100)
        elif isinstance(event, Evaluated):
            yield RacePoint(key, event.train_seconds, event.accuracy)
        elif isinstance(event, TrainingEnded) and event.outcome == "failed":
            yield LapFailed(key, event.reason)


def finish_line(points: Sequence[RacePoint]) -> float | None:
    """The accuracy by which the devices are compared: `FINISH`, or what the worst of them came to; None before all."""
    best: dict[str, float] = {}
    for point in points:
        best[point.device_key] = max(best.get(point.device_key, 0.0), point.accuracy)
    return min([FINISH, *best.values()]) if best else None


def finishes(points: Sequence[RacePoint]) -> dict[str, float]:
    """For each device, by its key, the seconds after which it first reached the finish line."""
    line = finish_line(points)
    if line is None:
        return {}
    reached: dict[str, float] = {}
    for point in points:
        if point.accuracy >= line:
            reached.setdefault(point.device_key, point.seconds)
    return reached


def verdict(points: Sequence[RacePoint], names: Mapping[str, str]) -> list[Finding]:
    """Who came first, and by how much; `names` are the devices' by key. Empty while there are no points."""
    line = finish_line(points)
    if line is None:
        return []
    percent = round(100 * line, 2)
    (first, best), *others = sorted(finishes(points).items(), key=lambda finish: finish[1])
    findings = [Finding("%1 reached %2 % after %3 s of training.", (names[first], percent, rounded(best)))]
    for key, seconds in others:
        ahead = rounded(seconds / best)
        text = "%1 took %2 s: %3 was %4 times as fast." if ahead > 1 else "%1 took %2 s, as good as the same."
        findings.append(Finding(text, (names[key], rounded(seconds), names[first], ahead)))
    if not others:
        findings.append(Finding("A race wants two devices.", ()))
    return findings
