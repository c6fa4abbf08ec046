"""A training run at the terminal: progress as it goes, Ctrl-C, the file it leaves, and what is said of it in the end.

It is a room of its own because it is the one command that lasts: it has to be watched and stopped, and may be kept in a
folder to go on from.
"""

import hashlib
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from core.digits.dataset import Dataset
from core.digits.dataset_files import load_digit_sets
from core.digits.downloads import find_set
from core.digits.mixture import can_hold_out
from core.predictor import calibrated
from core.terminal import complain, print_json, stderr, stdout, stop_on_interrupt
from core.training.checkpoint import Checkpoint, Weights
from core.training.events import Evaluated, RunNotKept, StepsCompleted, TrainingEnded, TrainingStarted
from core.training.job import TrainingControl, TrainingJob
from core.training.model_file import Model, WeightsTooLargeError, save_model
from core.training.run_folder import RunFolder
from core.training.run_recorder import RunRecorder
from core.training.trainer import train
from core.training.training_digits import my_digits_of, splits_of


def run_training(
    job: TrainingJob, out: Path | None, folder: RunFolder | None = None, since: Checkpoint | None = None
) -> dict[str, Any]:
    """Run `job` on its data, save what it learned to `out`, and return its figures by name.

    The run is kept in `folder`, if there is one, and goes on from `since`. "model" is the path written, None if there
    is none. Raises what train, RunRecorder and save_model raise.
    """
    begun = time.perf_counter()
    device_key, end, validation = _train_with_progress(job, folder, since)
    if end.reason:
        complain(f"the device could not go on: {end.reason}")
    if out is not None and not end.learned:
        complain(f"nothing was learned, so {out} was not written")
        out = None
    if out is not None:
        model = _model(job, end)
        _save(out, calibrated(model, validation) if validation else model)
    return training_result(job, device_key, end, time.perf_counter() - begun, out)


def print_training(result: dict[str, Any], as_json: bool) -> None:
    """What run_training returned, for people or as JSON; raises typer.Exit for a run that came to nothing."""
    if as_json:
        print_json(result)
    else:
        table = Table(show_header=False)
        for name, value in result.items():
            table.add_row(name.replace("_", " "), Text("–" if value is None else str(value)))
        stdout.print(table)
    if result["outcome"] == "diverged":
        complain("the loss became infinite; choose a smaller learning rate")
    if result["outcome"] in ("diverged", "failed"):
        raise typer.Exit(1)


def _train_with_progress(
    job: TrainingJob, folder: RunFolder | None, since: Checkpoint | None
) -> tuple[str, TrainingEnded, Dataset | None]:
    """Run the job with a progress bar; returns the key of the device that computed, the end, and what was held out."""
    chosen = job.hyperparameters
    splits = splits_of(job, load_digit_sets(job.data))
    if job.mine:
        _tell_of_mine(job)
    control = TrainingControl()
    device_key, total_steps, measured = job.device_key, 1, ""
    with stop_on_interrupt(control.stop, "what was learned"), _progress() as progress:
        task = progress.add_task("training", total=None)
        events = train(job, splits, control, since)
        if folder is not None:
            events = RunRecorder(folder, job, control, since).record(events)
        for event in events:
            if isinstance(event, RunNotKept):
                complain(f"the run goes on, but is not kept any more: {event.reason}")
            elif isinstance(event, TrainingStarted):
                device_key, total_steps = event.device_key, event.total_steps
            elif isinstance(event, Evaluated):
                measured = f"{event.accuracy:.2%} {event.split}"
            elif isinstance(event, StepsCompleted):
                speed = f"{event.samples / event.train_seconds:,.0f} digits/s"
                words = f"{device_key} · {speed} · epoch {event.epoch:.1f} of {chosen.epochs} · {measured}"
                progress.update(task, completed=event.step, total=total_steps, description=words)
            elif isinstance(event, TrainingEnded):
                return device_key, event, splits.validation
    raise AssertionError("training ended without a last event")


def _tell_of_mine(job: TrainingJob) -> None:
    """What the one who drew them has to know of the user's digits."""
    mine = my_digits_of(job)
    for problem in mine.problems():
        complain(f"{mine.path}, line {problem.line} is no digit and was passed over: {problem.reason}")
    count = len(mine.samples())
    if not can_hold_out(count):
        complain(f"you have only {count} digits of your own, so all are learned from and none is held out to measure")


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal)


def _save(path: Path, model: Model) -> None:
    """As float16, or, rather than lose a network whose weights do not fit that, as float32."""
    try:
        save_model(path, model)
    except WeightsTooLargeError:
        save_model(path, model, "float32")
        complain(f"some weights are too large for float16, so {path} holds float32")


def _model(job: TrainingJob, end: TrainingEnded) -> Model:
    facts = {
        "trained_on": find_set(job.data).title,
        "outcome": end.outcome,
        "epochs_completed": str(end.epochs),
        "command": shlex.join(["uv", "run", "main.py", *sys.argv[1:]]),
    }
    for name in ("test_accuracy", "validation_accuracy", "mine_accuracy"):
        if getattr(end, name) is not None:
            facts[name] = f"{getattr(end, name):.4f}"
    return Model(job.preset, job.hyperparameters, end.weights, facts)


def weights_sha256(weights: Weights) -> str:
    """The SHA-256 of all weights in the order of their names, as little-endian float32: equal where every bit is."""
    digest = hashlib.sha256()
    for name in sorted(weights):
        digest.update(np.ascontiguousarray(weights[name], "<f4").tobytes())
    return digest.hexdigest()


def training_result(
    job: TrainingJob, device_key: str, end: TrainingEnded, total_seconds: float, out: Path | None
) -> dict[str, Any]:
    """The figures of a run by name, as the commands tell them; those of own digits and of a given start if any."""
    names = ("mine_accuracy", "test_accuracy_before", "mine_accuracy_before")
    special = {name: getattr(end, name) for name in names if getattr(end, name) is not None}
    return {
        "preset": job.preset,
        "device": device_key,
        "seed": job.hyperparameters.seed,
        "epochs": end.epochs,
        "steps": end.steps,
        "samples": end.samples,
        "train_seconds": round(end.train_seconds, 4),
        "total_seconds": round(total_seconds, 4),
        "samples_per_second": round(end.samples / end.train_seconds, 1) if end.train_seconds else None,
        "train_loss": end.train_loss,
        "validation_accuracy": end.validation_accuracy,
        "test_accuracy": end.test_accuracy,
        **special,
        "outcome": end.outcome,
        "seconds_to_target": None if end.seconds_to_target is None else round(end.seconds_to_target, 4),
        "model": None if out is None else str(out),
        "weights_sha256": weights_sha256(end.weights),
    }
