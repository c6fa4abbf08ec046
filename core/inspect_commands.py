"""The commands that look into training instead of doing it: gradcheck, profile, find-rate.

core.command_line puts them beside its own. They take a preset, and what is to differ from it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from core.digits.dataset import Splits, split
from core.digits.mnist import load_mnist
from core.nn.gradient_check import CheckedLayer, check_network
from core.nn.optimizers import OPTIMIZERS
from core.terminal import Json, print_json, stderr, stdout
from core.training.hyperparameters import INPUT_SHAPE
from core.training.job import TrainingJob
from core.training.presets import PRESETS, find_preset
from core.training.profile import Profile, profile
from core.training.rate_finder import STEPS, RatesTried, RateTried, find_rate

Preset = Annotated[str, typer.Option("--preset", help=f"The recipe to look into: {', '.join(PRESETS)}.")]
Network = Annotated[str | None, typer.Option("--network", help="Its layers, if not the recipe's own.")]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda:0 ...; auto takes a GPU if one works.")]
BatchSize = Annotated[int | None, typer.Option("--batch-size", help="Digits per step.")]
Augment = Annotated[
    float | None, typer.Option("--augment", help="How strongly to distort the training digits, 0 (not) to 1.")
]
Precision = Annotated[str | None, typer.Option("--precision", help="float32, tf32 (GPU) or float64.")]
Seed = Annotated[int | None, typer.Option("--seed", help="What everything random begins with.")]


def gradcheck_command(
    preset: Preset = "quick-mlp", network: Network = None, seed: Seed = None, as_json: Json = False
) -> None:
    """Check every layer's gradients against the slope of the loss; status 1 if one is wrong."""
    recipe = find_preset(preset)
    chosen = recipe.choose({"network": network, "seed": seed})
    rows = check_network(chosen.network, INPUT_SHAPE, recipe.initializer, recipe.loss, chosen.seed)
    ok = all(row.ok for row in rows)
    if as_json:
        print_json({"preset": preset, "network": chosen.network, "rows": [_as_json(row) for row in rows], "ok": ok})
    else:
        stdout.print(escape(chosen.network), soft_wrap=True)
        stdout.print(_gradient_table(rows))
    if not ok:
        raise typer.Exit(1)


def profile_command(
    preset: Preset = "quick-mlp",
    network: Network = None,
    device: Device = "auto",
    batch_size: BatchSize = None,
    augment: Augment = None,
    precision: Precision = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Steps to measure; about five seconds without it.")] = None,
    as_json: Json = False,
) -> None:
    """Measure how fast a recipe trains on the built-in MNIST, and which part of a step takes how long."""
    given = {"network": network, "batch_size": batch_size, "augment": augment, "precision": precision}
    job, splits = _job(preset, device, given)
    measured = profile(job, splits, steps)
    if as_json:
        print_json(_profile_figures(preset, measured))
    else:
        stdout.print(
            f"{measured.digits_per_second:,.0f} digits/s on {measured.device_key}: "
            f"{measured.steps_per_second:,.1f} steps/s of {measured.batch_size} digits"
        )
        stdout.print(_profile_table(measured))


def find_rate_command(
    preset: Preset = "quick-mlp",
    network: Network = None,
    device: Device = "auto",
    optimizer: Annotated[str | None, typer.Option(help=f"One of {', '.join(OPTIMIZERS)}.")] = None,
    batch_size: BatchSize = None,
    momentum: Annotated[float | None, typer.Option(help="Share of the last update carried on.")] = None,
    weight_decay: Annotated[float | None, typer.Option(help="Pull of all weights towards 0.")] = None,
    clip_norm: Annotated[float | None, typer.Option(help="Longest gradient; 0 for any.")] = None,
    augment: Augment = None,
    precision: Precision = None,
    seed: Seed = None,
    train_limit: Annotated[int | None, typer.Option(help="Learn from so many training digits only; 0 for all.")] = None,
    as_json: Json = False,
) -> None:
    """Try rising learning rates on a fresh network, and suggest the one at which its loss falls most steeply."""
    given = {
        "network": network,
        "optimizer": optimizer,
        "batch_size": batch_size,
        "momentum": momentum,
        "weight_decay": weight_decay,
        "clip_norm": clip_norm,
        "augment": augment,
        "precision": precision,
        "seed": seed,
        "train_limit": train_limit,
    }
    tried, suggested = _try_rates(*_job(preset, device, given))
    if as_json:
        rates, losses = [event.learning_rate for event in tried], [event.loss for event in tried]
        print_json({"rates": rates, "losses": losses, "suggested": suggested})
    else:
        stdout.print(_rate_table(tried))
        stdout.print("no rate let the loss fall" if suggested is None else f"suggested learning rate: {suggested:.2g}")


def _try_rates(job: TrainingJob, splits: Splits) -> tuple[list[RateTried], float | None]:
    """What was tried, and what is suggested; a progress bar shows where there is someone to see it."""
    tried: list[RateTried] = []
    suggested = None
    events = find_rate(job, splits)
    for event in track(events, "rates", STEPS, console=stderr, transient=True, disable=not stderr.is_terminal):
        if isinstance(event, RatesTried):
            suggested = event.suggested
        else:
            tried.append(event)
    return tried, suggested


COMMANDS: Mapping[str, Callable[..., None]] = {
    "gradcheck": gradcheck_command,
    "profile": profile_command,
    "find-rate": find_rate_command,
}


def _job(preset: str, device: str, given: Mapping[str, Any]) -> tuple[TrainingJob, Splits]:
    chosen = find_preset(preset).choose(given)
    return TrainingJob(preset, chosen, device), split(load_mnist(), chosen.validation_digits, chosen.train_limit)


def _as_json(row: CheckedLayer) -> dict[str, Any]:
    error = row.error if math.isfinite(row.error) else None
    return {"name": row.name, "checked": row.checked, "error": error, "ok": row.ok}


def _gradient_table(rows: list[CheckedLayer]) -> Table:
    table = Table("layer", "numbers", "largest error", "", "note")
    for row in rows:
        table.add_row(row.name, str(row.checked), f"{row.error:.1e}", "ok" if row.ok else "WRONG", row.note)
    return table


def _profile_figures(preset: str, measured: Profile) -> dict[str, Any]:
    return {
        "preset": preset,
        "device": measured.device_key,
        "batch_size": measured.batch_size,
        "steps": measured.steps,
        "steps_per_second": measured.steps_per_second,
        "digits_per_second": measured.digits_per_second,
        "step_seconds": measured.step_seconds,
        "parts": [asdict(part) for part in measured.parts],
        "augmentation_share": measured.augmentation_share,
    }


def _profile_table(measured: Profile) -> Table:
    table = Table("part of a step", "ms", "share")
    for part in measured.parts:
        table.add_row(part.name, f"{1000 * part.seconds:.3f}", f"{part.share:.1%}")
    return table


def _rate_table(tried: list[RateTried]) -> Table:
    """Every tenth rate, which is what a person can read."""
    table = Table("learning rate", "smoothed loss")
    for event in [*tried[:-1:10], *tried[-1:]]:
        table.add_row(f"{event.learning_rate:.2g}", f"{event.loss:.3f}")
    return table
