"""The same jobs without a window: train, devices, and those of core.reading_commands and core.inspect_commands.

The command rooms alone in core/ print, but for the GPU probe in a process of its own. People read tables on stdout and
progress on stderr; with --json, stdout carries one JSON object as its last line and nothing else. Exit status: 0, 1 for
a job that failed, 2 for wrong use.
"""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from core import (
    benchmark_command,
    data_command,
    exchange_commands,
    ink_command,
    inspect_commands,
    mine_command,
    reading_commands,
    run_commands,
)
from core.atomic_file import UnwritableFileError
from core.device import DeviceError, UnknownDeviceError
from core.device_list import list_devices
from core.digits.dataset import DatasetError
from core.digits.dataset_files import check_is_here
from core.digits.downloads import BUILT_IN, UnknownSetError, find_set
from core.digits.ink import InkFileError
from core.digits.my_digits import MyDigitsError
from core.digits.picture_file import PictureError
from core.exchange.foreign_network import ForeignFileError
from core.exchange.onnx_package import MissingOnnxError
from core.nn.architecture import NetworkTextError, with_hidden_units
from core.nn.optimizers import OPTIMIZERS
from core.nn.schedules import SCHEDULES
from core.terminal import Json, WrongUseError, complain, in_option_words, print_json, stdout
from core.train_command import print_training, run_training
from core.training.checkpoint import CheckpointError
from core.training.hyperparameters import HyperparameterError, Hyperparameters, check_network
from core.training.job import MOST_OF_MINE, TrainingJob, check_start
from core.training.model_file import Model, ModelFileError, check_can_save, load_model
from core.training.presets import PRESETS, UnknownPresetError, find_preset
from core.training.run_folder import RunError, RunFolder
from core.training.storage import PrecisionError
from core.training.training_digits import check_can_mix

WRONG_USE = (UnknownDeviceError, UnknownPresetError, UnknownSetError, WrongUseError)
FAILURES = (
    DeviceError,
    DatasetError,
    ForeignFileError,
    InkFileError,
    MissingOnnxError,
    ModelFileError,
    MyDigitsError,
    PictureError,
    PrecisionError,
    CheckpointError,
    RunError,
    UnwritableFileError,
)

Command = TypeVar("Command", bound=Callable[..., Any])

app = typer.Typer(
    help="Train networks on handwritten digits and read digits with them. Without a command, the window opens.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _command(name: str) -> Callable[[Command], Command]:
    """Make a function the command called `name`; the list of commands has its first sentence, wrapped and never cut."""

    def add(command: Command) -> Command:
        sentence = (command.__doc__ or "").partition(". ")[0].rstrip(".")
        return app.command(name, short_help=f"{sentence}.")(command)

    return add


def run(arguments: Sequence[str]) -> int:
    """Do what the words after the program's name ask for; returns the exit status."""
    try:
        app(args=list(arguments), prog_name="main.py")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except HyperparameterError as error:
        return _fail(in_option_words(str(error), error.name), 2)
    except WRONG_USE as error:
        return _fail(str(error), 2)
    except FAILURES as error:
        return _fail(str(error), 1)
    except MemoryError:
        return _fail("there is not enough memory for this; choose fewer hidden units or a smaller batch", 1)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return _fail(f"something unexpected went wrong ({type(error).__name__}: {error}); please report it", 1)
    return 0


def _fail(sentence: str, status: int) -> int:
    complain(sentence)
    return status


@_command("train")
def train_command(
    preset: Annotated[str, typer.Option(help=f"The recipe to start from: {', '.join(PRESETS)}.")] = "quick-mlp",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda:0 ...; auto takes a GPU if one works.")] = "auto",
    data: Annotated[str, typer.Option(help="The set to train on, by its name (data lists them).")] = BUILT_IN,
    epochs: Annotated[int | None, typer.Option(help="Passes over the training digits.")] = None,
    network: Annotated[
        str | None, typer.Option(help='The layers, such as "conv 16x3 relu, pool 2, linear 128 relu, linear 10".')
    ] = None,
    hidden: Annotated[
        str | None, typer.Option(help="Units of each hidden layer of a dense network, such as 256 or 512,128.")
    ] = None,
    optimizer: Annotated[str | None, typer.Option(help=f"One of {', '.join(OPTIMIZERS)}.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Digits per step.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Step size, before its schedule.")] = None,
    momentum: Annotated[float | None, typer.Option(help="Share of the last update carried on.")] = None,
    weight_decay: Annotated[float | None, typer.Option(help="Pull of all weights towards 0.")] = None,
    clip_norm: Annotated[float | None, typer.Option(help="Longest gradient; 0 for any.")] = None,
    schedule: Annotated[str | None, typer.Option(help=f"One of {', '.join(SCHEDULES)}.")] = None,
    warmup: Annotated[float | None, typer.Option(help="Share of the run over which the rate first rises.")] = None,
    augment: Annotated[
        float | None, typer.Option(help="How strongly to distort the training digits, 0 (not) to 1.")
    ] = None,
    augment_fade: Annotated[
        float | None, typer.Option(help="Share of the run, its end, over which the distortion fades away.")
    ] = None,
    synthetic: Annotated[
        float | None, typer.Option(help="Share of synthetic ink among the training digits, 0 to 0.9.")
    ] = None,
    shift_px: Annotated[int | None, typer.Option(help="Each batch is moved by up to so many pixels.")] = None,
    label_smoothing: Annotated[float | None, typer.Option(help="Share of certainty taken from the targets.")] = None,
    averaging: Annotated[
        float | None, typer.Option(help="Share of the old in the running mean of the weights; 0 for none.")
    ] = None,
    patience: Annotated[
        int | None, typer.Option(help="Epochs without a better validation accuracy before it ends; 0 for never.")
    ] = None,
    keep_best: Annotated[
        bool | None, typer.Option("--keep-best/--keep-last", help="Which weights to keep, by validation accuracy.")
    ] = None,
    validation_digits: Annotated[int | None, typer.Option(help="Training digits held out to measure on.")] = None,
    precision: Annotated[str | None, typer.Option(help="float32, tf32 (GPU) or float64.")] = None,
    seed: Annotated[int | None, typer.Option(help="What everything random begins with.")] = None,
    train_limit: Annotated[int | None, typer.Option(help="Learn from so many training digits only; 0 for all.")] = None,
    until_accuracy: Annotated[
        float | None, typer.Option(help="Stop once the accuracy on the test set (0 to 1) reaches this.")
    ] = None,
    mine: Annotated[
        float, typer.Option(help="Share of your own digits among those to learn from, 0 to 0.9, synthetic ones apart.")
    ] = 0.0,
    my_digits: Annotated[
        Path | None, typer.Option(help="The file of your own digits; without it, the window's own.")
    ] = None,
    start: Annotated[
        Path | None, typer.Option(help="Begin with the weights of this network, made of the same layers.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Save the network here (safetensors, float16).")] = None,
    run: Annotated[Path | None, typer.Option(help="Keep the run in this new folder, to resume it from there.")] = None,
    as_json: Json = False,
) -> None:
    """Train a network on the built-in MNIST, or another set. Ctrl-C stops it and keeps what it learned."""
    recipe = find_preset(preset)
    if hidden is not None:
        network = _with_hidden(network or recipe.hyperparameters.network, hidden)
    given = {
        "network": network,
        "optimizer": optimizer,
        "epochs": epochs,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "momentum": momentum,
        "weight_decay": weight_decay,
        "clip_norm": clip_norm,
        "schedule": schedule,
        "warmup": warmup,
        "augment": augment,
        "augment_fade": augment_fade,
        "synthetic": synthetic,
        "shift_px": shift_px,
        "label_smoothing": label_smoothing,
        "averaging": averaging,
        "patience": patience,
        "keep_best": keep_best,
        "validation_digits": validation_digits,
        "precision": precision,
        "seed": seed,
        "train_limit": train_limit,
    }
    hyperparameters = recipe.choose(given)
    if (hyperparameters.patience or hyperparameters.keep_best) and not hyperparameters.validation_digits:
        raise WrongUseError("--patience and --keep-best go by validation digits; hold some out by --validation-digits")
    if until_accuracy is not None and not 0 < until_accuracy <= 1:
        raise WrongUseError(f"--until-accuracy is {until_accuracy}; it must be above 0 and at most 1, such as 0.97")
    if out is not None:
        _check_out(out)
    _check_data(data, hyperparameters)
    if not 0 <= mine <= MOST_OF_MINE:
        raise WrongUseError(f"--mine is {mine}; it must be from 0 to {MOST_OF_MINE}, such as 0.3")
    if mine:
        check_can_mix(data)
    first = None if start is None else load_model(start)
    weights = None if first is None else first.weights
    job = TrainingJob(preset, hyperparameters, device, until_accuracy, data, mine, my_digits, weights)
    if first is not None:
        _check_start(job, first)
    folder = None if run is None else RunFolder(run)
    if folder is not None:
        folder.create(job)
    print_training(run_training(job, out, folder), as_json)


def _check_data(name: str, chosen: Hyperparameters) -> None:
    check_is_here(name)
    if chosen.synthetic and not find_set(name).shows_digits:
        raise WrongUseError(f"{name} shows no digits, so synthetic ink cannot be mixed in; use --synthetic 0")


def _check_start(job: TrainingJob, first: Model) -> None:
    try:
        check_start(job)
    except HyperparameterError:
        layers = shlex.quote(first.hyperparameters.network)
        raise WrongUseError(f"--start has other layers than the network to train; add --network {layers}") from None


def _check_out(path: Path) -> None:
    try:
        check_can_save(path)
    except ModelFileError as error:
        raise WrongUseError(str(error)) from None


def _with_hidden(network: str, sizes: str) -> str:
    try:
        network = with_hidden_units(network, [int(part) for part in sizes.split(",")])
        check_network(network)
        return network
    except NetworkTextError as error:
        raise WrongUseError(f"--hidden: {error}") from None
    except HyperparameterError as error:
        raise HyperparameterError(in_option_words(str(error), "network", "--hidden")) from None
    except ValueError:
        raise WrongUseError(f"--hidden is {sizes!r:.60}; it wants layer sizes, such as 256 or 512,128") from None


@_command("devices")
def devices_command(as_json: Json = False) -> None:
    """List what can compute here, and for what cannot, why and what to do."""
    devices = list_devices()
    if as_json:
        print_json({"devices": [asdict(info) for info in devices]})
        return
    for info in devices:
        memory = f", {info.memory_bytes / 2**30:.1f} GiB" if info.memory_bytes else ""
        lines = [f"{info.key}: {info.name}{memory}{'' if info.available else ' (not available)'}"]
        if not info.available:
            lines.append(f"    {info.reason}. {info.remedy}")
        # An error's own words may hold brackets, and a command to copy must not be cut in two.
        stdout.print("\n".join(lines), soft_wrap=True, markup=False)


for room in (
    reading_commands,
    inspect_commands,
    benchmark_command,
    ink_command,
    data_command,
    mine_command,
    run_commands,
    exchange_commands,
):
    for name, command in room.COMMANDS.items():
        _command(name)(command)
