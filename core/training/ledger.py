"""All runs that are kept: what each came to, told from its own events."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.training.events import OUTCOMES
from core.training.run_folder import CHECKPOINT, RUN, RunError, RunFolder, RunInfo

RUNNING, INTERRUPTED, DAMAGED = "running", "interrupted", "damaged"
"""States besides the outcomes: somebody is writing it; it ended without a word; its folder cannot be read."""


@dataclass(frozen=True)
class Curve:
    """One line of a plot: digits learned from, seconds spent in steps, and the accuracy (0..1) measured then."""

    samples: tuple[float, ...]
    seconds: tuple[float, ...]
    accuracy: tuple[float, ...]


@dataclass(frozen=True)
class RunSummary:
    """One kept run. `state` is an outcome or one of those above; accuracies are 0..1, None where nothing was measured.

    `curves`: by split ("train", "validation", "test"). `ended`: the last event as told, None while there is none.
    `info` is None where the folder is damaged, and `problem` then says how.
    """

    path: Path
    info: RunInfo | None
    state: str
    device_key: str
    steps: int
    total_steps: int
    train_seconds: float
    test_accuracy: float | None
    validation_accuracy: float | None
    curves: Mapping[str, Curve]
    ended: Mapping[str, Any] | None
    problem: str = ""

    @property
    def can_go_on(self) -> bool:
        """Whether there is something left of it to do."""
        return self.info is not None and self.state in (INTERRUPTED, "stopped", "failed")


def list_runs(root: Path) -> list[RunSummary]:
    """The runs in the folders of `root`, the latest first; what holds no run is passed over. Never raises."""
    try:
        folders = sorted((Path(entry.path) for entry in os.scandir(root) if entry.is_dir()), reverse=True)
    except OSError:
        return []
    return [summarize(RunFolder(folder)) for folder in folders if (folder / RUN).exists()]


def summarize(folder: RunFolder) -> RunSummary:
    """What the run in `folder` came to; never raises."""
    try:
        info = folder.info()
    except RunError as error:
        return RunSummary(folder.path, None, DAMAGED, "", 0, 0, 0.0, None, None, {}, None, str(error))
    told = list(folder.events())
    started = next((event for event in told if event["event"] == "TrainingStarted"), {})
    ended = next((event for event in reversed(told) if event["event"] == "TrainingEnded"), None)
    curves = {split: _curve(told, split) for split in ("train", "validation", "test")}
    changed = [event for event in told if event["event"] == "HyperparametersChanged"]
    return RunSummary(
        path=folder.path,
        info=info,
        state=_state(folder, ended),
        device_key=str(started.get("device_key", info.job.device_key)),
        steps=int(_number((told or [{}])[-1].get("step" if ended is None else "steps")) or 0),
        total_steps=int(_number([started, *changed][-1].get("total_steps")) or 0),
        train_seconds=max((_number(event.get("train_seconds")) or 0.0 for event in told), default=0.0),
        test_accuracy=_last(ended, "test_accuracy", curves["test"]),
        validation_accuracy=_last(ended, "validation_accuracy", curves["validation"]),
        curves={split: curve for split, curve in curves.items() if curve.samples},
        ended=ended,
    )


def has_checkpoint(folder: RunFolder) -> bool:
    """Whether a run could go on from where it was, rather than from its start."""
    return (folder.path / CHECKPOINT).exists()


def _state(folder: RunFolder, ended: Mapping[str, Any] | None) -> str:
    if folder.is_locked():
        return RUNNING
    outcome = None if ended is None else ended.get("outcome")
    return str(outcome) if outcome in OUTCOMES else INTERRUPTED


def _curve(told: Sequence[Mapping[str, Any]], split: str) -> Curve:
    kind = "StepsCompleted" if split == "train" else "Evaluated"
    points = [
        [_number(event.get(name)) for name in ("samples", "train_seconds", "accuracy")]
        for event in told
        if event["event"] == kind and (split == "train" or event.get("split") == split)
    ]
    sound = [point for point in points if None not in point]
    samples, seconds, accuracy = zip(*sound, strict=True) if sound else ((), (), ())
    return Curve(samples, seconds, accuracy)


def _last(ended: Mapping[str, Any] | None, name: str, curve: Curve) -> float | None:
    value = None if ended is None else _number(ended.get(name))
    return value if value is not None else (curve.accuracy[-1] if curve.accuracy else None)


def _number(value: Any) -> float | None:
    """A finite number, or None for whatever else a file may say there."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None
