"""Runs that are kept, at the terminal: go on with one, and list them all."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from core.terminal import Json, print_json, stdout
from core.train_command import print_training, run_training, weights_sha256
from core.training.ledger import RunSummary, list_runs, summarize
from core.training.model_file import ModelFileError, load_model
from core.training.run_folder import LAST, RunError, RunFolder, default_runs_folder


def resume_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run (train --run).")],
    as_json: Json = False,
) -> None:
    """Go on with a run that was stopped, or broken off, as if it never had been."""
    run = RunFolder(folder)
    job = run.info().job
    summary = summarize(run)
    if summary.ended is not None and not summary.can_go_on:
        print_training(_as_it_ended(summary), as_json)
        return
    since = run.checkpoint()
    run.forget_after(0 if since is None else since.step)
    print_training(run_training(replace(job, device_key=summary.device_key), None, run, since), as_json)


def runs_command(
    folder: Annotated[
        Path | None, typer.Option(help="Where runs are kept; without it, the window's own place.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the runs that are kept, the latest first."""
    found = list_runs(folder or default_runs_folder())
    if as_json:
        print_json({"runs": [_as_row(run) for run in found]})
        return
    table = Table("Run", "Preset", "Device", "State", "Steps", "Seconds", "Test")
    for run in found:
        accuracy = "" if run.test_accuracy is None else f"{run.test_accuracy:.2%}"
        preset = run.problem if run.info is None else run.info.job.preset
        name = run.path.name if run.info is None or not run.info.name else f"{run.info.name} ({run.path.name})"
        steps, seconds = f"{run.steps:,}", f"{run.train_seconds:.1f}"
        table.add_row(name, preset, run.device_key, run.state, steps, seconds, accuracy)
    stdout.print(table)


def _as_row(run: RunSummary) -> dict[str, Any]:
    row: dict[str, Any] = {"run": str(run.path), "state": run.state}
    if run.info is None:
        return {**row, "problem": run.problem}
    return {
        **row,
        "name": run.info.name,
        "note": run.info.note,
        "created": run.info.created,
        "preset": run.info.job.preset,
        "device": run.device_key,
        "seed": run.info.job.hyperparameters.seed,
        "steps": run.steps,
        "total_steps": run.total_steps,
        "train_seconds": round(run.train_seconds, 4),
        "validation_accuracy": run.validation_accuracy,
        "test_accuracy": run.test_accuracy,
    }


def _as_it_ended(run: RunSummary) -> dict[str, Any]:
    """What `train` said of it, from its own folder; raises RunError where that is damaged."""
    assert run.info is not None
    assert run.ended is not None
    ended = run.ended
    try:
        weights = load_model(run.path / LAST).weights
        seconds, samples = float(ended["train_seconds"]), int(ended["samples"])
        names = ("epochs", "steps", "samples", "train_seconds", "train_loss", "validation_accuracy", "test_accuracy")
        figures = {name: ended[name] for name in (*names, "outcome", "seconds_to_target")}
    except (ModelFileError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"{run.path} is damaged ({str(error)[:200]}); start the run anew") from None
    return {
        "preset": run.info.job.preset,
        "device": run.device_key,
        "seed": run.info.job.hyperparameters.seed,
        **figures,
        "total_seconds": 0.0,
        "samples_per_second": round(samples / seconds, 1) if seconds else None,
        "model": None,
        "weights_sha256": weights_sha256(weights),
    }


COMMANDS = {"resume": resume_command, "runs": runs_command}
