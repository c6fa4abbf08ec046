"""Runs that are kept, at the terminal: go on with one, and list them all."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from core.terminal import Json, print_json, stdout
from core.train_command import print_training, run_training, training_result
from core.training.events import OUTCOMES, TrainingEnded
from core.training.ledger import RunSummary, list_runs, number, summarize
from core.training.model_file import ModelFileError, load_model
from core.training.run_folder import LAST, RunError, RunFolder, default_runs_folder, with_start


def resume_command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a run, or its name in the list of runs.")
    ],
    as_json: Json = False,
) -> None:
    """Go on with a run that was stopped, or broken off, as if it never had been."""
    in_the_list = default_runs_folder() / folder
    run = RunFolder(in_the_list if not os.path.exists(folder) and os.path.exists(in_the_list) else folder)
    job = run.info().job
    summary = summarize(run)
    if summary.state in OUTCOMES and not summary.can_go_on:
        print_training(_as_it_ended(summary), as_json)
        return
    with run.locked():
        since = run.checkpoint()
        result = run_training(with_start(replace(job, device_key=summary.device_key), since), None, run, since)
    print_training(result, as_json)


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
    if not found:
        stdout.print(Text(f"no runs are kept in {folder or default_runs_folder()}"), soft_wrap=True)
        return
    table = Table("Run", "Preset", "Device", "State", "Steps", "Seconds", "Test")
    for run in found:
        table.add_row(*(Text(_printable(cell)) for cell in _cells(run)))
    stdout.print(table)


def _cells(run: RunSummary) -> tuple[str, ...]:
    """A row of the table for people."""
    accuracy = "" if run.test_accuracy is None else f"{run.test_accuracy:.2%}"
    preset = run.problem if run.info is None else run.info.job.preset
    name = run.path.name if run.info is None or not run.info.name else f"{run.info.name} ({run.path.name})"
    return name, preset, run.device_key, run.state, f"{run.steps:,}", f"{run.train_seconds:.1f}", accuracy


def _printable(text: str) -> str:
    """Names come from files and may hold anything, what commands a terminal included."""
    return "".join(sign if sign.isprintable() else "�" for sign in text)


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
    told = {name: value for name, value in run.ended.items() if name != "event"}
    try:
        end = TrainingEnded(**told, weights=load_model(run.path / LAST).weights)
        result = training_result(run.info.job, run.device_key, end, 0.0, None)
        if not all(value is None or isinstance(value, str) or number(value) is not None for value in result.values()):
            raise ValueError("a figure is no number")
    except ModelFileError as error:
        raise RunError(f"{run.path} is damaged ({str(error)[:200]}); start the run anew") from None
    except (TypeError, ValueError, OverflowError):
        raise RunError(f"{run.path} is damaged (it does not say how it ended); start the run anew") from None
    return result


COMMANDS = {"resume": resume_command, "runs": runs_command}
