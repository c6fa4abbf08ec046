"""A run as the window trains it: in a folder of its own as it goes, or in memory alone where nothing can be written.

Generators for the training thread: folders are made and read here, never in the GUI thread.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from core.digits.dataset import Splits
from core.training.checkpoint import is_count
from core.training.events import Evaluated, Event, HyperparametersChanged, RunNotKept, StepsCompleted
from core.training.hyperparameters import CHANGEABLE, HyperparameterError, Hyperparameters
from core.training.job import TrainingControl, TrainingJob
from core.training.ledger import number
from core.training.run_folder import RunError, RunFolder, new_folder_name, with_start
from core.training.run_recorder import RunRecorder
from core.training.trainer import train

TOLD_AT_ONCE = 500
"""Few enough for the window to take in between two of its frames."""


@dataclass(frozen=True)
class RunKept:
    """What the run tells from now on is written to the folder at `path`."""

    path: Path


@dataclass(frozen=True)
class Retold:
    """What the run told before it was broken off, or a part of that, in order."""

    events: tuple[Event, ...]


@dataclass(frozen=True)
class RunGoesOn:
    """All is retold; the run goes on with `hyperparameters`, which may have been changed on the way."""

    hyperparameters: Hyperparameters


def begin(runs_folder: Path, job: TrainingJob, splits: Splits, control: TrainingControl) -> Iterator[object]:
    """Run `job`, kept in a new folder below `runs_folder` if there can be one.

    Raises RunError if the network it is to begin with cannot be read, and what train raises.
    """
    job = with_start(job)
    events = train(job, splits, control)
    folder = RunFolder(_new_path(runs_folder, job))
    try:
        folder.create(job)
        yield RunKept(folder.path)
        yield from RunRecorder(folder, job, control).record(events)
    except RunError as error:
        # Raised before the first event, and never later: the whole run is still to come.
        control.checkpoint_at_end = False
        yield RunNotKept(str(error))
        yield from events


def go_on(path: Path, job: TrainingJob, splits: Splits, control: TrainingControl) -> Iterator[object]:
    """Go on with the run of `job` in the folder at `path`, from its last checkpoint, and keep it there.

    Raises RunError if another goes on with it or nobody can write there, CheckpointError, and what train raises.
    """
    folder = RunFolder(path)
    with folder.locked():
        since = folder.checkpoint()
        job = with_start(job, since)
        events = train(job, splits, control, since)
        folder.go_back_to(0 if since is None else since.progress.step)
        yield RunKept(path)
        told = _events(folder)
        while some := tuple(islice(told, TOLD_AT_ONCE)):
            yield Retold(some)
        yield RunGoesOn(job.hyperparameters if since is None else since.hyperparameters)
        yield from RunRecorder(folder, job, control, since).record(events)


def _new_path(runs_folder: Path, job: TrainingJob) -> Path:
    """A folder that is not there yet, even if two runs begin within a second."""
    name = new_folder_name(job, datetime.now(UTC))
    names = [name, *(f"{name} {number}" for number in range(2, 100))]
    return next((runs_folder / free for free in names if not (runs_folder / free).exists()), runs_folder / name)


def _events(folder: RunFolder) -> Iterator[Event]:
    """What the curves are made of, as far as its figures can be true: folders are not to be trusted."""
    kinds = {kind.__name__: kind for kind in (StepsCompleted, Evaluated, HyperparametersChanged)}
    for told in folder.events():
        kind = kinds.get(told["event"])
        values: dict[str, Any] = {} if kind is None else {field.name: told.get(field.name) for field in fields(kind)}
        counts = [values.get(name, 0) for name in ("step", "samples", "total_steps")]
        figures = [values.get(name, 0) for name in ("epoch", "train_seconds", "loss", "accuracy")]
        if kind is None or not all(map(is_count, counts)) or None in map(number, figures):
            continue
        if kind is HyperparametersChanged:
            yield from _change(values)
        elif counts[0] > 0 and figures[1] > 0 and values.get("split", "test") in ("validation", "test", "mine"):
            yield kind(**values)


def _change(values: dict[str, Any]) -> Iterator[HyperparametersChanged]:
    """The one change that was told, if that can be."""
    try:
        chosen = Hyperparameters.from_dict(values["hyperparameters"])
    except (HyperparameterError, TypeError):
        return
    changes = {name: getattr(chosen, name) for name in CHANGEABLE if name in (values["changes"] or ())}
    yield HyperparametersChanged(**{**values, "hyperparameters": chosen, "changes": changes})
