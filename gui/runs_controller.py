"""The runs that are kept, as the window lists them: read, renamed, annotated and deleted in the background."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from PySide6.QtCore import QFile, QObject, Signal, Slot

from core.training.ledger import INTERRUPTED, Curve, RunSummary, list_runs
from core.training.run_folder import RunError, RunFolder
from gui.background_job import BackgroundJob
from gui.dialogs import Dialogs

_BUCKETS = 300
"""Of the stretches a long curve is cut into for the screen; of each, the lowest and the highest point are kept."""


class RunsController(QObject):
    """`listed` carries RunSummaries, the latest first, each with the one curve to show; `failed` a sentence.

    `interrupted` carries the run that was broken off, unless that is `left_run`, the name of the one left alone.
    """

    listed = Signal(object)
    interrupted = Signal(RunSummary)
    failed = Signal(str)

    def __init__(self, folder: Path, dialogs: Dialogs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder, self._dialogs = folder, dialogs
        self.left_run = ""
        self._reading, self._searching, self._writing = BackgroundJob(self), BackgroundJob(self), BackgroundJob(self)
        self._reading.done.connect(self.listed)
        self._searching.done.connect(self._on_searched)
        self._writing.done.connect(self.refresh)
        for job in (self._reading, self._searching, self._writing):
            job.failed.connect(self.failed)

    @property
    def folder(self) -> Path:
        """Where runs are kept."""
        return self._folder

    def use_folder(self, folder: Path) -> None:
        """From the next `refresh` on, list the runs in `folder`."""
        self._folder = folder

    @Slot()
    def refresh(self) -> None:
        """Read all runs anew; `listed` follows."""
        folder = self._folder
        self._reading.start(lambda cancelled: _read(folder))

    def look_for_interrupted(self) -> None:
        """Find the latest run that was broken off; `interrupted` follows if there is one."""
        folder = self._folder
        self._searching.start(lambda cancelled: _read(folder))

    def leave(self, run: RunSummary) -> None:
        """Never offer this broken-off run by itself again."""
        self.left_run = run.path.name

    def rename(self, run: RunSummary, name: str) -> None:
        """Call it `name`; without one it is called by its time again."""
        self._write(partial(_describe, RunFolder(run.path), name=name))

    def ask_for_note(self, run: RunSummary) -> None:
        """Let the user write something beside it."""
        if run.info is not None and (note := self._dialogs.ask_for_note(run.info.note)) is not None:
            self._write(partial(_describe, RunFolder(run.path), note=note))

    def ask_to_delete(self, run: RunSummary) -> None:
        """Move it to the trash, if that is what the user wants."""
        name = run.info.name if run.info is not None and run.info.name else run.path.name
        if self._dialogs.ask_before_deleting(name):
            busy = self.tr("%1 is being written to; stop the run first.").replace("%1", name)
            no_trash = self.tr(
                "%1 could not be moved to the trash: there is none here that takes it. Delete the folder by hand."
            ).replace("%1", os.fspath(run.path))
            self._write(partial(_move_to_trash, run.path, busy, no_trash))

    def cancel(self) -> None:
        """Nothing more is wanted; waits for what is being written."""
        for job in (self._reading, self._searching, self._writing):
            job.cancel()

    def _write(self, change: Callable[[], None]) -> None:
        self._writing.start(lambda cancelled: change())

    @Slot(object)
    def _on_searched(self, runs: list[RunSummary]) -> None:
        found = next((run for run in runs if run.state == INTERRUPTED), None)
        if found is not None and found.path.name != self.left_run:
            self.interrupted.emit(found)


def _read(folder: Path) -> list[RunSummary]:
    """All runs, each with the one curve that tells most, thinned: a list of long runs must not fill the memory."""
    shown = []
    for run in list_runs(folder):
        split = next((split for split in ("validation", "test", "train") if split in run.curves), None)
        curves = {} if split is None else {split: _thinned(run.curves[split])}
        shown.append(replace(run, curves=curves, ended=None))
    return shown


def _thinned(curve: Curve) -> Curve:
    """At most a few hundred points of it: the first and the last, and every peak and valley."""
    count = len(curve.accuracy)
    if count <= 2 * _BUCKETS:
        return curve
    values = np.array(curve.accuracy)
    edges = np.linspace(0, count, _BUCKETS + 1).astype(int)
    kept = {0, count - 1}
    for start, stop in pairwise(edges):
        kept |= {start + int(values[start:stop].argmin()), start + int(values[start:stop].argmax())}
    chosen = sorted(kept)
    return Curve(*(tuple(column[place] for place in chosen) for column in vars(curve).values()))


def _describe(folder: RunFolder, name: str | None = None, note: str | None = None) -> None:
    """Give it another name or another note; the rest stays as the folder has it by now. Raises RunError."""
    info = folder.info()
    folder.rename(info.name if name is None else name, info.note if note is None else note)


def _move_to_trash(path: Path, busy: str, no_trash: str) -> None:
    """Raises RunError with the sentence `busy` if somebody writes there, or with `no_trash` if no trash takes it."""
    if RunFolder(path).is_locked():
        raise RunError(busy)
    if not QFile(os.fspath(path)).moveToTrash():
        raise RunError(no_trash)
