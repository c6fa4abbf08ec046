"""All runs that are kept: what each came to, told from its own events."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.training.events import OUTCOMES
from core.training.run_folder import RUN, RunError, RunFolder
from core.training.run_info import RunInfo, is_device_key

LARGEST = 1e15
"""No run comes to more digits, steps or seconds than this."""

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
    device_key: str = ""
    steps: int = 0
    total_steps: int = 0
    train_seconds: float = 0.0
    test_accuracy: float | None = None
    validation_accuracy: float | None = None
    curves: Mapping[str, Curve] = field(default_factory=dict)
    ended: Mapping[str, Any] | None = None
    problem: str = ""

    @property
    def can_go_on(self) -> bool:
        """Whether there is something left of it to do."""
        return self.state in (INTERRUPTED, "stopped", "failed")


def list_runs(root: Path) -> list[RunSummary]:
    """The runs in the folders of `root`, the latest first; what holds no run is passed over. Never raises."""
    try:
        folders = [Path(entry.path) for entry in os.scandir(root)]
    except (OSError, ValueError):
        return []
    runs = [summarize(RunFolder(folder)) for folder in folders if os.path.lexists(folder / RUN)]
    return sorted(runs, key=lambda run: ("" if run.info is None else run.info.created, run.path), reverse=True)


def summarize(folder: RunFolder) -> RunSummary:
    """What the run in `folder` came to; never raises."""
    try:
        info = folder.info()
    except RunError as error:
        return RunSummary(folder.path, None, DAMAGED, problem=str(error))
    # Before the events are read: who ends in between has told all of them.
    running = folder.is_locked()
    account = _Account(info.job.device_key)
    for told in folder.events():
        account.add(told)
    outcome = None if account.ended is None else account.ended.get("outcome")
    return RunSummary(
        path=folder.path,
        info=info,
        state=RUNNING if running else str(outcome) if outcome in OUTCOMES else INTERRUPTED,
        device_key=account.device_key,
        steps=account.steps,
        total_steps=account.total_steps,
        train_seconds=account.train_seconds,
        test_accuracy=account.last_accuracy("test"),
        validation_accuracy=account.last_accuracy("validation"),
        curves=account.curves(),
        ended=account.ended,
    )


def number(value: object) -> float | None:
    """A number that may have been counted or measured, or None for whatever else a file may say there."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= LARGEST else None


def _share(value: object) -> float | None:
    """A number from 0 to 1, or None."""
    share = number(value)
    return share if share is not None and 0 <= share <= 1 else None


class _Account:
    """What a run's events add up to, taken one by one: only the curves of a long run are kept."""

    def __init__(self, device_key: str) -> None:
        self.device_key = device_key
        self.steps = self.total_steps = 0
        self.train_seconds = 0.0
        self.ended: dict[str, Any] | None = None
        self._points: dict[str, list[tuple[float, float, float]]] = {}

    def add(self, told: dict[str, Any]) -> None:
        kind = told["event"]
        self.steps = int(number(told.get("steps", told.get("step"))) or self.steps)
        self.total_steps = int(number(told.get("total_steps")) or self.total_steps)
        self.train_seconds = number(told.get("train_seconds")) or self.train_seconds
        if kind == "TrainingStarted" and is_device_key(told.get("device_key")):
            self.device_key = told["device_key"]
        elif kind == "TrainingEnded":
            self.ended = told
        elif kind in ("StepsCompleted", "Evaluated"):
            self._add_point("train" if kind == "StepsCompleted" else str(told.get("split")), told)

    def _add_point(self, split: str, told: Mapping[str, Any]) -> None:
        samples, seconds = (number(told.get(name)) for name in ("samples", "train_seconds"))
        accuracy = _share(told.get("accuracy"))
        if split in ("train", "validation", "test") and not (samples is None or seconds is None or accuracy is None):
            self._points.setdefault(split, []).append((samples, seconds, accuracy))

    def curves(self) -> dict[str, Curve]:
        return {split: Curve(*zip(*points, strict=True)) for split, points in self._points.items()}

    def last_accuracy(self, split: str) -> float | None:
        """As measured in the end, or else as last measured on the way."""
        ended = None if self.ended is None else _share(self.ended.get(f"{split}_accuracy"))
        return ended if ended is not None or split not in self._points else self._points[split][-1][2]
