"""A run's folder on disk: what it was to do, everything it told as it went, and from where it can go on.

    run.json                what was to be done, when, on what, with which versions; its name and note
    events.jsonl            what the run told, an event a line, in order; a last line cut off by a crash is passed over
    checkpoint.safetensors  the state to go on from, replaced every few seconds
    last.safetensors        the network as it ended; best.safetensors: the one that measured best on the way
    lock                    held while somebody writes here

Nothing of it is trusted when it is read: folders are copied from stick to stick, edited and cut short.
"""

import json
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from platformdirs import user_data_path

from core import VERSION
from core.atomic_file import UnwritableFileError, write_atomically
from core.training.checkpoint import Checkpoint, load_checkpoint
from core.training.events import Event
from core.training.hyperparameters import HyperparameterError, Hyperparameters
from core.training.job import TrainingJob
from core.training.presets import UnknownPresetError, find_preset

FORMAT, FORMAT_VERSION = "inkling-run", 1
RUN, EVENTS, CHECKPOINT, LAST, BEST = (
    "run.json",
    "events.jsonl",
    "checkpoint.safetensors",
    "last.safetensors",
    "best.safetensors",
)
MAX_RUN_BYTES = 1024 * 1024
MAX_EVENT_BYTES = 256 * 2**20
MAX_NAME, MAX_NOTE = 200, 20_000


class RunError(ValueError):
    """A run's folder that cannot be used; the message names it, says what is wrong and what to do."""


@dataclass(frozen=True)
class RunInfo:
    """What run.json holds. `created` is UTC, ISO 8601; `versions` are those of the programs that took part."""

    job: TrainingJob
    created: str
    versions: Mapping[str, str]
    name: str = ""
    note: str = ""


def default_runs_folder() -> Path:
    """Where runs are kept unless said otherwise: in the user's own data folder."""
    return user_data_path("inkling", appauthor=False) / "runs"


def new_folder_name(job: TrainingJob, now: datetime) -> str:
    """A name that sorts by time: "2026-11-30 10-45-16 quick-mlp"."""
    return f"{now.astimezone():%Y-%m-%d %H-%M-%S} {job.preset}"


class RunFolder:
    """The folder at `path` and what is in it; making the object touches nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(path / "lock", timeout=0)

    def create(self, job: TrainingJob) -> None:
        """Make the folder, for `job`; raises RunError if there is one with something in it, or if it cannot be made."""
        try:
            if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
                raise RunError(f"{self.path} is not empty; name a new folder for the run, or resume the one in it")
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{self.path} cannot be made: {error.strerror or error}; choose another folder") from None
        versions = {"inkling": VERSION, "python": platform.python_version(), "numpy": np.__version__}
        self._write_info(RunInfo(job, datetime.now(UTC).isoformat(timespec="seconds"), versions))

    def info(self) -> RunInfo:
        """What was to be done; raises RunError if the folder does not say."""
        path = self.path / RUN
        try:
            if path.stat().st_size > MAX_RUN_BYTES:
                raise ValueError("it is too long")
            return _info(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            if isinstance(error, FileNotFoundError):
                raise RunError(f"{self.path} holds no run; name the folder of one") from None
            raise RunError(f"{path} cannot be read ({str(error)[:200]}); the run in it cannot go on") from None

    def rename(self, name: str, note: str) -> None:
        """Give the run a name and a note of its own; raises RunError."""
        self._write_info(replace(self.info(), name=name[:MAX_NAME], note=note[:MAX_NOTE]))

    def _write_info(self, info: RunInfo) -> None:
        values = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "preset": info.job.preset,
            "hyperparameters": info.job.hyperparameters.as_dict(),
            "device": info.job.device_key,
            "until_accuracy": info.job.until_accuracy,
            "seed": info.job.hyperparameters.seed,
            "created": info.created,
            "versions": dict(info.versions),
            "name": info.name,
            "note": info.note,
        }
        try:
            write_atomically(self.path / RUN, json.dumps(values, indent=1, ensure_ascii=False).encode())
        except UnwritableFileError as error:
            raise RunError(str(error)) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """To be held while writing; raises RunError if another holds it, or if the folder cannot be written."""
        try:
            self._lock.acquire()
        except Timeout:
            raise RunError(f"another window or command is writing to {self.path}; end that first") from None
        except OSError as error:
            raise RunError(f"{self.path} cannot be written: {error.strerror or error}; choose another folder") from None
        try:
            yield
        finally:
            self._lock.release()

    def is_locked(self) -> bool:
        """Whether somebody is writing here, this process or another."""
        if not (self.path / "lock").exists():
            return False
        try:
            with FileLock(self.path / "lock", timeout=0):
                return False
        except Timeout:
            return True
        except OSError:  # Where this cannot write, neither can others.
            return False

    def events(self) -> Iterator[dict[str, Any]]:
        """What the run told, in order, each with its kind under "event"; ends where the file is damaged or missing."""
        try:
            with (self.path / EVENTS).open("rb") as file:
                for line in file:
                    if file.tell() > MAX_EVENT_BYTES or not line.endswith(b"\n"):
                        return
                    values = json.loads(line)
                    if not isinstance(values, dict) or not isinstance(values.get("event"), str):
                        return
                    yield values
        except (OSError, ValueError, RecursionError):
            return

    def checkpoint(self) -> Checkpoint | None:
        """The state to go on from, None if none was reached; raises CheckpointError if it cannot be read."""
        path = self.path / CHECKPOINT
        return load_checkpoint(path) if path.exists() else None

    def forget_after(self, step: int) -> None:
        """Take out of the events all that came after `step`, which is about to be done again; raises RunError."""
        kept = [told for told in self.events() if told["event"] != "TrainingEnded" and _step(told) <= step]
        try:
            write_atomically(self.path / EVENTS, b"".join(as_line(told) for told in kept))
        except UnwritableFileError as error:
            raise RunError(str(error)) from None


def as_line(told: Mapping[str, Any]) -> bytes:
    """One line of the events' file."""
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


def told_by(event: Event) -> dict[str, Any]:
    """`event` as JSON can hold it, without weights; its kind is under "event"."""
    values = {name: value for name, value in vars(event).items() if name not in ("weights", "hyperparameters")}
    if hasattr(event, "hyperparameters"):
        values["hyperparameters"] = event.hyperparameters.as_dict()
    return {"event": type(event).__name__, **{k: dict(v) if isinstance(v, Mapping) else v for k, v in values.items()}}


def _step(told: Mapping[str, Any]) -> int:
    step = told.get("step", 0)
    return step if isinstance(step, int) else 0


def _info(values: Any) -> RunInfo:
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise ValueError("it describes no run")
    if values.get("format_version") != FORMAT_VERSION:
        raise ValueError("it was written by another version of Inkling")
    try:
        preset = find_preset(values["preset"]).name
        hyperparameters = Hyperparameters.from_dict(values["hyperparameters"])
    except (HyperparameterError, UnknownPresetError) as error:
        raise ValueError(str(error)) from None
    device, until, versions = values["device"], values["until_accuracy"], values["versions"]
    texts = [values["created"], values["name"], values["note"]]
    if not isinstance(device, str) or not re.fullmatch(r"[a-z]+(:\d{1,3})?", device):
        raise ValueError("its device is none")
    if until is not None and not (isinstance(until, int | float) and 0 <= until <= 1):
        raise ValueError("its target accuracy is none")
    if not isinstance(versions, dict) or not all(isinstance(text, str) for text in (*texts, *versions.values())):
        raise ValueError("its notes are no text")
    job = TrainingJob(preset, hyperparameters, device, None if until is None else float(until))
    return RunInfo(job, texts[0], versions, texts[1][:MAX_NAME], texts[2][:MAX_NOTE])
