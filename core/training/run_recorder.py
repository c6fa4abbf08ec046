"""Keeps a run as it goes: every event in its folder at once, and the state to go on from as often as that is cheap.

It stands between the trainer and whoever listens, and hands every event on. Writing a checkpoint is left to a thread
of its own, since a disk may take its time; what cannot be written ends the keeping, never the run.
"""

import errno
import os
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from io import FileIO

from core.atomic_file import UnwritableFileError
from core.digits.downloads import title_of
from core.training.checkpoint import Checkpoint, Weights, save_checkpoint
from core.training.events import (
    Checkpointed,
    Evaluated,
    Event,
    HyperparametersChanged,
    RunNotKept,
    StepsCompleted,
    TrainingEnded,
    TrainingStarted,
    WeightsPublished,
)
from core.training.job import TrainingControl, TrainingJob
from core.training.model_file import Model, ModelFileError, save_model
from core.training.run_folder import BEST, CHECKPOINT, EVENTS, LAST, RunError, RunFolder, as_line, told_by

CHECKPOINT_SECONDS = 2.5
"""Time between two checkpoints where they are cheap; half of it is enough where an epoch ends."""
CPU_SHARE, DISK_SHARE = 0.006, 0.5
"""Of the time, what checkpoints may take of a processor, and of the disk; where they are dear, they are rarer for it.

What a kill loses is the work since the last one written: at most `CHECKPOINT_SECONDS`, or 1 / `CPU_SHARE` = 167 times
the processor's seconds for one checkpoint, or twice the disk's, whichever is longest, and that of the step and the
writing in between.
"""


class RunRecorder:
    """Writes what a run of `job` tells into `folder`, which exists; `control` is the run's own.

    `since` is the checkpoint that the run goes on from, None for one that begins.
    """

    def __init__(
        self, folder: RunFolder, job: TrainingJob, control: TrainingControl, since: Checkpoint | None = None
    ) -> None:
        self._folder, self._control, self._since = folder, control, since
        self._preset, self._trained_on = job.preset, {"trained_on": title_of(job.data)}
        self._hyperparameters = job.hyperparameters if since is None else since.hyperparameters
        self._published: Weights = {}
        self._best: Weights = {}
        self._best_accuracy = -1.0
        if since is not None and since.progress.best is not None:
            self._best_accuracy, self._best = since.progress.best[0], since.best
        self._keeps = True
        self._last_told = time.monotonic()
        self._least_seconds = 0.0
        self._epoch = 0
        self._writing: Future[tuple[float, float]] | None = None
        control.checkpoint_at_end = True

    def record(self, events: Iterator[Event]) -> Iterator[Event]:
        """All of `events`, each written before it is handed on, and a RunNotKept where that is no longer possible.

        Raises RunError, before anything began, if somebody else writes there or nobody can.
        """
        with self._folder.locked():
            self._folder.go_back_to(0 if self._since is None else self._since.progress.step)
            with self._opened() as file, ThreadPoolExecutor(1, "inkling-recorder") as writer:
                for event in events:
                    if self._keeps:
                        yield from self._kept(event, file, writer)
                    if not isinstance(event, Checkpointed):
                        yield event

    def _opened(self) -> FileIO:
        """The events' file, unbuffered: what is written to it outlives this process."""
        path = self._folder.path / EVENTS
        try:
            return FileIO(path, "ab")
        except OSError as error:
            raise RunError(f"{path} cannot be written: {error.strerror or error}; choose another folder") from None

    def _kept(self, event: Event, file: FileIO, writer: ThreadPoolExecutor) -> Iterator[Event]:
        """Nothing, or the one event that says why this event, and all that follow, are not kept."""
        try:
            self._keep(event, file, writer)
        except MemoryError:
            self._keeps = False
            yield RunNotKept("there is not enough memory for a copy of its state; close other programs")
        except (OSError, UnwritableFileError, ModelFileError) as error:
            self._keeps = False
            yield RunNotKept(_reason(error, self._folder))

    def _keep(self, event: Event, file: FileIO, writer: ThreadPoolExecutor) -> None:
        if isinstance(event, Checkpointed):
            self._keep_checkpoint(event, file, writer)
            return
        if isinstance(event, WeightsPublished):
            self._published = event.weights
            return
        if isinstance(event, TrainingEnded):
            self._finish(event)
        _append(file, as_line(told_by(event)))
        if isinstance(event, TrainingEnded):
            os.fsync(file.fileno())
        elif isinstance(event, Evaluated):
            self._look_at_best(event)
        else:
            self._ask_for_checkpoint(event)

    def _ask_for_checkpoint(self, event: Event) -> None:
        """Have one told in time, at the end of an epoch of more than a moment, and after a change, which is dear."""
        if isinstance(event, TrainingStarted):
            self._control.ask_for_checkpoint(CHECKPOINT_SECONDS)
        elif isinstance(event, HyperparametersChanged):
            self._hyperparameters = event.hyperparameters
            self._control.ask_for_checkpoint()
        elif isinstance(event, StepsCompleted) and int(event.epoch) > self._epoch:
            self._epoch = int(event.epoch)
            if time.monotonic() - self._last_told >= max(CHECKPOINT_SECONDS / 2, self._least_seconds):
                self._control.ask_for_checkpoint()

    def _keep_checkpoint(self, event: Checkpointed, file: FileIO, writer: ThreadPoolExecutor) -> None:
        self._last_told = time.monotonic()
        # Before any was written: as dear as putting it together, which is copying about as much.
        cpu_seconds, disk_seconds = self._wait_for_writer() or (event.cpu_seconds, 0.0)
        self._least_seconds = max((event.cpu_seconds + cpu_seconds) / CPU_SHARE, disk_seconds / DISK_SHARE)
        self._control.ask_for_checkpoint(max(CHECKPOINT_SECONDS, self._least_seconds))
        self._writing = writer.submit(_write_checkpoint, self._folder, event.checkpoint, file)

    def _wait_for_writer(self) -> tuple[float, float] | None:
        """Until the last checkpoint is written, if any was; what that took, or raises what went wrong with it."""
        return None if self._writing is None else self._writing.result()

    def _look_at_best(self, event: Evaluated) -> None:
        if event.split == "validation" and event.accuracy > self._best_accuracy:
            self._best_accuracy, self._best = event.accuracy, self._published

    def _finish(self, end: TrainingEnded) -> None:
        """The networks for others to use, once the state it ended in is written."""
        self._wait_for_writer()
        facts = {**self._trained_on, "outcome": end.outcome, "test_accuracy": f"{end.test_accuracy:.4f}"}
        last = Model(self._preset, self._hyperparameters, end.weights, facts)
        save_model(self._folder.path / LAST, last, "float32")
        if self._best:
            best = Model(self._preset, self._hyperparameters, self._best, self._trained_on)
            save_model(self._folder.path / BEST, best, "float32")


def _append(file: FileIO, line: bytes) -> None:
    if file.write(line) != len(line):  # So a disk that is getting full says it.
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _write_checkpoint(folder: RunFolder, checkpoint: Checkpoint, file: FileIO) -> tuple[float, float]:
    """The seconds it took of the processor, and altogether."""
    begun, cpu_begun = time.monotonic(), time.thread_time()
    os.fsync(file.fileno())  # What was told before it must outlast a power cut as it does.
    save_checkpoint(folder.path / CHECKPOINT, checkpoint)
    return time.thread_time() - cpu_begun, time.monotonic() - begun


def _reason(error: OSError | ValueError, folder: RunFolder) -> str:
    if isinstance(error, OSError):
        return f"{folder.path} cannot be written: {error.strerror or error}; choose another folder for the next run"
    return str(error)
