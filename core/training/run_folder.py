"""A run's folder on disk: what it was to do, everything it told as it went, and from where it can go on.

    run.json                what was to be done, when, on what, with which versions; its name and note
    events.jsonl            what the run told, an event a line, in order; a last line cut off by a crash is passed over
    checkpoint.safetensors  the state to go on from, replaced every few seconds, less often where it is dear
    start.safetensors       the network that the run began with, where it was given one
    last.safetensors        the network as it ended; best.safetensors: the one that measured best on the way
    lock                    held while somebody writes here

Nothing of it is trusted when it is read: folders are copied from stick to stick, edited and cut short.
"""

import contextlib
import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_data_path

from core import VERSION
from core.atomic_file import TEMPORARY, UnwritableFileError, write_atomically
from core.training.checkpoint import Checkpoint, load_checkpoint
from core.training.events import Event
from core.training.job import TrainingJob
from core.training.model_file import Model, ModelFileError, load_model, save_model
from core.training.run_info import MAX_NAME, MAX_NOTE, START, RunInfo, from_json, to_json

RUN, EVENTS, CHECKPOINT, LAST, BEST, LOCK = (
    "run.json",
    "events.jsonl",
    "checkpoint.safetensors",
    "last.safetensors",
    "best.safetensors",
    "lock",
)
MAX_RUN_BYTES = 2**20
MAX_EVENTS_BYTES = 256 * 2**20
"""Enough for 10,000 epochs of MNIST and more; of a longer file, only the beginning is read."""
MAX_LINE_BYTES = 2**16
LOCK_SECONDS = 1.0
"""How long to wait for who only asks whether the folder is in use."""


class RunError(ValueError):
    """A run's folder that cannot be used; the message names it, says what is wrong and what to do."""


def default_runs_folder() -> Path:
    """Where runs are kept unless said otherwise: in the user's own data folder."""
    return user_data_path("inkling", appauthor=False) / "runs"


def new_folder_name(job: TrainingJob, now: datetime) -> str:
    """A name that sorts by time: "2026-11-30 10-45-16 quick-mlp"."""
    return f"{now.astimezone():%Y-%m-%d %H-%M-%S} {job.preset}"


class RunFolder:
    """The folder at `path` and what is in it; making the object touches nothing."""

    def __init__(self, path: Path) -> None:
        from filelock import FileLock  # 0.1 s that no start should wait for

        self.path = path
        self._lock = FileLock(path / LOCK)

    def create(self, job: TrainingJob) -> None:
        """Make the folder, for `job`; raises RunError if there is one with something in it, or if it cannot be made."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise RunError(f"{self.path} is not a folder; name a new one for the run") from None
        except OSError as error:
            raise RunError(f"{self.path} cannot be made: {error.strerror or error}; choose another folder") from None
        with self.locked():
            if set(os.listdir(self.path)) > {LOCK}:
                raise RunError(f"{self.path} is not empty; name a new folder for the run, or resume the one in it")
            self._write_start(job)
            versions = {"inkling": VERSION, "python": platform.python_version(), "numpy": np.__version__}
            self._write_info(RunInfo(job, datetime.now(UTC).isoformat(timespec="seconds"), versions))

    def info(self) -> RunInfo:
        """What was to be done; raises RunError if the folder does not say."""
        path = self.path / RUN
        if not os.path.isfile(path):
            raise RunError(f"{self.path} holds no run; name the folder of one")
        try:
            if path.stat().st_size > MAX_RUN_BYTES:
                raise ValueError("it is too long")
            return from_json(path.read_bytes(), self.path)
        except (OSError, ValueError) as error:
            raise RunError(f"{path} cannot be read ({str(error)[:200]}); the run in it cannot go on") from None

    def rename(self, name: str, note: str) -> None:
        """Give the run a name and a note of its own; raises RunError."""
        self._write_info(replace(self.info(), name=name[:MAX_NAME], note=note[:MAX_NOTE]))

    def _write_start(self, job: TrainingJob) -> None:
        if job.start is not None:
            try:
                save_model(self.path / START, Model(job.preset, job.hyperparameters, job.start), "float32")
            except ModelFileError as error:
                raise RunError(str(error)) from None

    def _write_info(self, info: RunInfo) -> None:
        self._write(RUN, to_json(info))

    def _write(self, name: str, content: bytes) -> None:
        try:
            write_atomically(self.path / name, content)
        except UnwritableFileError as error:
            raise RunError(str(error)) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """To be held while writing, also more than once; raises RunError if another holds it, or nobody can write."""
        from filelock import Timeout  # 0.1 s that no start should wait for

        try:
            self._lock.acquire(timeout=LOCK_SECONDS)
        except Timeout:
            raise RunError(f"another window or command is writing to {self.path}; end that first") from None
        except (OSError, NotImplementedError) as error:
            reason = getattr(error, "strerror", None) or error
            raise RunError(f"{self.path} cannot be written: {reason}; choose another, or copy it there") from None
        try:
            yield
        finally:
            self._lock.release()

    def is_locked(self) -> bool:
        """Whether somebody is writing here, this process or another."""
        from filelock import FileLock, Timeout  # 0.1 s that no start should wait for

        if not os.path.isfile(self.path / LOCK):
            return False
        try:
            with FileLock(self.path / LOCK, timeout=0):
                return False
        except Timeout:
            return True
        except (OSError, NotImplementedError):  # Where this cannot write, neither can others.
            return False

    def events(self) -> Iterator[dict[str, Any]]:
        """What the run told, in order, each with its kind under "event"; ends where the file is damaged or missing."""
        path = self.path / EVENTS
        if not os.path.isfile(path):
            return
        try:
            with path.open("rb") as file:
                while (line := file.readline(MAX_LINE_BYTES)).endswith(b"\n") and file.tell() <= MAX_EVENTS_BYTES:
                    values = json.loads(line)
                    if not isinstance(values, dict) or not isinstance(values.get("event"), str):
                        return
                    yield values
        except (OSError, ValueError, RecursionError):
            return

    def checkpoint(self) -> Checkpoint | None:
        """The state to go on from, None if none was reached; raises CheckpointError if it cannot be read."""
        path = self.path / CHECKPOINT
        return load_checkpoint(path) if os.path.lexists(path) else None

    def go_back_to(self, step: int) -> None:
        """Forget all that was told after `step`, which is about to be done again, and what a crash left half written.

        Raises RunError.
        """
        self._write(EVENTS, b"".join(as_line(told) for told in self.events() if _was_told_before(told, step)))
        for leftover in self.path.glob(f"{TEMPORARY}*"):
            with contextlib.suppress(OSError):
                leftover.unlink()


def with_start(job: TrainingJob, since: Checkpoint | None = None) -> TrainingJob:
    """`job` with the weights of its `start_file` read, unless it goes on from a later step; raises RunError."""
    if job.start_file is None:
        return job
    if since is not None and since.progress.step > 0:
        return replace(job, start_file=None)
    try:
        return replace(job, start=load_model(job.start_file).weights, start_file=None)
    except ModelFileError:
        raise RunError(
            f"{job.start_file}, the network that the run began with, is missing or damaged; "
            "put it back there, or start a new run"
        ) from None


def as_line(told: Mapping[str, Any]) -> bytes:
    """One line of the events' file."""
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


def told_by(event: Event) -> dict[str, Any]:
    """`event` as JSON can hold it, without weights; its kind is under "event"."""
    values = {name: value for name, value in vars(event).items() if name not in ("weights", "hyperparameters")}
    if hasattr(event, "hyperparameters"):
        values["hyperparameters"] = event.hyperparameters.as_dict()
    return {"event": type(event).__name__, **{k: dict(v) if isinstance(v, Mapping) else v for k, v in values.items()}}


def _was_told_before(told: Mapping[str, Any], step: int) -> bool:
    """Whether a run that goes on from a checkpoint after `step` does not tell it again."""
    at = told.get("step")
    if told["event"] in ("TrainingStarted", "TrainingEnded"):
        return told["event"] == "TrainingStarted" and step > 0
    if not isinstance(at, int):
        return False
    # A change that counts from the next step on came after the checkpoint.
    return at < step if told["event"] == "HyperparametersChanged" else at <= step
