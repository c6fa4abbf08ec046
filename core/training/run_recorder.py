"""Keeps a run as it goes: every event in its folder at once, and every few seconds the state it could go on from.

It stands between the trainer and whoever listens, and hands every event on. Writing a checkpoint is left to a thread
of its own, since a disk may take its time; what cannot be written ends the keeping, never the run.
"""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO

from core.atomic_file import UnwritableFileError
from core.training.checkpoint import Checkpoint, save_checkpoint
from core.training.events import (
    Checkpointed,
    Event,
    RunNotKept,
    StepsCompleted,
    TrainingEnded,
    WeightsPublished,
)
from core.training.job import TrainingControl, TrainingJob
from core.training.model_file import Model, ModelFileError, save_model
from core.training.run_folder import BEST, CHECKPOINT, EVENTS, LAST, RunError, RunFolder, as_line, told_by

CHECKPOINT_SECONDS = 2.0
"""Time between two checkpoints; half of it is enough where an epoch ends."""


class RunRecorder:
    """Writes what a run of `job` tells into `folder`, which exists; `control` is the run's own."""

    def __init__(self, folder: RunFolder, job: TrainingJob, control: TrainingControl) -> None:
        self._folder, self._job, self._control = folder, job, control
        control.checkpoint_at_end = True
        self._file: IO[bytes] | None = None
        self._last_asked = time.monotonic()
        self._epoch = 0
        self._writing: Future[None] | None = None
        self._best: Checkpoint | None = None

    def record(self, events: Iterator[Event]) -> Iterator[Event]:
        """All of `events`, each written before it is handed on, and a RunNotKept where that is no longer possible.

        Raises RunError, before anything began, if somebody else writes there or nobody can.
        """
        with self._folder.locked(), ThreadPoolExecutor(1, "inkling-recorder") as writer:
            try:
                self._file = (self._folder.path / EVENTS).open("ab")
            except OSError as error:
                raise RunError(f"{self._folder.path} cannot be written: {error.strerror or error}") from None
            try:
                yield from self._recorded(events, writer)
            finally:
                if self._file is not None:
                    self._file.close()

    def _recorded(self, events: Iterator[Event], writer: ThreadPoolExecutor) -> Iterator[Event]:
        for event in events:
            if self._file is not None:
                try:
                    self._keep(event, writer)
                except (OSError, UnwritableFileError, ModelFileError) as error:
                    self._file.close()
                    self._file = None
                    yield RunNotKept(str(error))
            if not isinstance(event, Checkpointed):
                yield event

    def _keep(self, event: Event, writer: ThreadPoolExecutor) -> None:
        assert self._file is not None
        if isinstance(event, Checkpointed):
            self._keep_checkpoint(event.checkpoint, writer)
        elif not isinstance(event, WeightsPublished):
            if isinstance(event, TrainingEnded):
                self._finish(event)
            self._file.write(as_line(told_by(event)))
            self._file.flush()
        if isinstance(event, StepsCompleted):
            self._ask_when_due(event)

    def _ask_when_due(self, event: StepsCompleted) -> None:
        waited, epoch = time.monotonic() - self._last_asked, int(event.epoch)
        due = CHECKPOINT_SECONDS if epoch == self._epoch else CHECKPOINT_SECONDS / 2
        self._epoch = epoch
        if waited >= due and (self._writing is None or self._writing.done()):
            self._last_asked = time.monotonic()
            self._control.ask_for_checkpoint()

    def _keep_checkpoint(self, checkpoint: Checkpoint, writer: ThreadPoolExecutor) -> None:
        if self._writing is not None:
            self._writing.result()  # What went wrong then is told now.
        self._best = checkpoint
        self._writing = writer.submit(save_checkpoint, self._folder.path / CHECKPOINT, checkpoint)

    def _finish(self, end: TrainingEnded) -> None:
        """The state it ended in, and the networks for others to use."""
        if self._writing is not None:
            self._writing.result()
        facts = {"trained_on": "MNIST", "outcome": end.outcome, "test_accuracy": f"{end.test_accuracy:.4f}"}
        hyperparameters = self._job.hyperparameters if self._best is None else self._best.hyperparameters
        save_model(self._folder.path / LAST, Model(self._job.preset, hyperparameters, end.weights, facts), "float32")
        if self._best is not None and self._best.best:
            best = Model(self._job.preset, hyperparameters, self._best.best, {"trained_on": "MNIST"})
            save_model(self._folder.path / BEST, best, "float32")
