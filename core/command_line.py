"""The same jobs without a window: train, evaluate, classify, devices, and those of core.inspect_commands.

The command rooms alone in core/ print, but for the GPU probe in a process of its own. People read tables on stdout and
progress on stderr; with --json, stdout carries one JSON object as its last line and nothing else. Exit status: 0, 1 for
a job that failed, 2 for wrong use.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from core.device import DeviceError, HostArray, UnknownDeviceError
from core.device_list import list_devices
from core.digits.dataset import Dataset, DatasetError
from core.digits.ink import InkFileError, read_ink_file
from core.digits.mnist import BUILT_IN_FOLDER, load_mnist_test
from core.digits.pictures import PictureError, read_picture
from core.digits.rasterizer import rasterize
from core.inspect_commands import COMMANDS
from core.nn.architecture import NetworkTextError, with_hidden_units
from core.nn.optimizers import OPTIMIZERS
from core.nn.schedules import SCHEDULES
from core.predictor import Predictor
from core.terminal import Json, print_json, stdout
from core.train_command import run_training
from core.training.evaluation import accuracy_of, accuracy_per_class, confusion_matrix
from core.training.hyperparameters import HyperparameterError
from core.training.model_file import SHIPPED_MODEL, ModelFileError, check_can_save, load_model
from core.training.presets import UnknownPresetError, find_preset
from core.training.trainer import TrainingJob


class WrongUseError(ValueError):
    """An option that cannot be meant; the message says which and why."""


WRONG_USE = (HyperparameterError, UnknownDeviceError, UnknownPresetError, WrongUseError)
FAILURES = (DeviceError, DatasetError, InkFileError, ModelFileError, PictureError)

app = typer.Typer(
    help="Train networks on handwritten digits and read digits with them. Without a command, the window opens.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
ModelPath = Annotated[Path | None, typer.Option("--model", help="A saved network; the shipped one without it.")]
DIGITS = [str(digit) for digit in range(10)]


def run(arguments: Sequence[str]) -> int:
    """Do what the words after the program's name ask for; returns the exit status."""
    try:
        app(args=list(arguments), prog_name="main.py")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except WRONG_USE as error:
        return _complain(str(error), 2)
    except FAILURES as error:
        return _complain(str(error), 1)
    except MemoryError:
        return _complain("there is not enough memory for this; choose fewer hidden units or a smaller batch", 1)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return _complain(f"something unexpected went wrong ({type(error).__name__}: {error}); please report it", 1)
    return 0


def _complain(sentence: str, status: int) -> int:
    sys.stderr.write(f"inkling: {sentence}\n")
    return status


@app.command("train")
def train_command(
    preset: Annotated[str, typer.Option(help="The recipe to start from.")] = "quick-mlp",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda:0 ...; auto takes a GPU if one works.")] = "auto",
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
    precision: Annotated[str | None, typer.Option(help="float32 or float64.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of everything random.")] = None,
    train_limit: Annotated[int | None, typer.Option(help="Use only that many training digits.")] = None,
    until_accuracy: Annotated[
        float | None, typer.Option(help="Stop once the accuracy on the test set (0 to 1) reaches this.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Save the network here (safetensors, float16).")] = None,
    as_json: Json = False,
) -> None:
    """Train a network on the built-in MNIST. Ctrl-C stops it and keeps what it learned."""
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
    if until_accuracy is not None and not 0 < until_accuracy <= 1:
        raise WrongUseError(f"until-accuracy is {until_accuracy}; it must be above 0 and at most 1, such as 0.97")
    if out is not None:
        _check_out(out)
    job = TrainingJob(preset, hyperparameters, device, until_accuracy)
    result = run_training(job, out)
    _print_result(result, as_json)
    if result["outcome"] == "diverged":
        sys.stderr.write("inkling: the loss became infinite; choose a smaller learning rate\n")
        raise typer.Exit(1)


def _check_out(path: Path) -> None:
    try:
        check_can_save(path)
    except ModelFileError as error:
        raise WrongUseError(str(error)) from None


def _with_hidden(network: str, sizes: str) -> str:
    try:
        return with_hidden_units(network, [int(part) for part in sizes.split(",")])
    except NetworkTextError as error:
        raise WrongUseError(f"hidden: {error}") from None
    except ValueError:
        raise WrongUseError(f"hidden is {sizes!r:.60}; it wants layer sizes, such as 256 or 512,128") from None


@app.command("evaluate")
def evaluate_command(
    model: ModelPath = None,
    mnist_folder: Annotated[Path | None, typer.Option(help="A folder with IDX files; its test set is read.")] = None,
    images: Annotated[Path | None, typer.Option(help="A folder with one folder of pictures per digit.")] = None,
    ink: Annotated[Path | None, typer.Option(help="Pen strokes, one JSON object a line (.jsonl or .jsonl.gz).")] = None,
    as_json: Json = False,
) -> None:
    """Measure a network: on the built-in test set, other IDX files, folders of pictures, or pen strokes."""
    if sum(source is not None for source in (mnist_folder, images, ink)) > 1:
        raise WrongUseError("choose one of --mnist-folder, --images and --ink")
    predictor = _predictor(model)
    if images is not None:
        data = _read_image_folders(images)
    elif ink is not None:
        data = _read_ink(ink)
    else:
        data = load_mnist_test(mnist_folder or BUILT_IN_FOLDER)
    answers = predictor.probabilities(data.images).argmax(axis=1)
    confusion = confusion_matrix(data.labels, answers, 10)
    result = {
        "n": len(data),
        "accuracy": accuracy_of(confusion),
        "per_class": accuracy_per_class(confusion),
        "confusion": confusion.tolist(),
    }
    if as_json:
        print_json(result)
        return
    stdout.print(f"{result['accuracy']:.2%} of {len(data):,} digits read right")
    stdout.print(_confusion_table(confusion, accuracy_per_class(confusion)))


def _predictor(path: Path | None) -> Predictor:
    return Predictor.from_model(load_model(path or SHIPPED_MODEL))


def _read_ink(path: Path) -> Dataset:
    samples = read_ink_file(path)
    labels = np.array([sample.label for sample in samples], np.uint8)
    return Dataset(np.stack([rasterize(sample.ink) for sample in samples]), labels)


def _read_image_folders(folder: Path) -> Dataset:
    """Every picture in the folders 0 to 9 of `folder`; one that cannot be read is named on stderr and left out."""
    if not folder.is_dir():
        raise DatasetError(f"there is no folder {folder}; it should hold folders named 0 to 9 with pictures in them")
    named = [(digit, path) for digit in range(10) for path in sorted((folder / str(digit)).glob("*"))]
    labels, pictures = [], []
    for digit, path in named:
        try:
            pictures.append(read_picture(path))
            labels.append(digit)
        except PictureError as error:
            _complain(f"left out: {error}", 1)
    if not pictures:
        raise DatasetError(f"{folder} holds no pictures; it should have folders named 0 to 9 with pictures in them")
    return Dataset(np.stack(pictures), np.array(labels, np.uint8))


def _confusion_table(confusion: HostArray, per_class: Iterable[float | None]) -> Table:
    # Ten columns and two fit into eighty characters only without frames.
    title = "Who is taken for whom: a row for each digit, a column for each answer"
    table = Table("", "right", *DIGITS, title=title, box=None, padding=(0, 1))
    for digit, row, share in zip(DIGITS, confusion, per_class, strict=True):
        table.add_row(digit, "–" if share is None else f"{share:.1%}", *(str(count) if count else "·" for count in row))
    return table


@app.command("classify")
def classify_command(
    paths: Annotated[list[Path], typer.Argument(help="Picture files, one digit each.")],
    model: ModelPath = None,
    as_json: Json = False,
) -> None:
    """Say which digit each picture shows."""
    predictor = _predictor(model)
    results: list[dict[str, Any]] = []
    for path in paths:
        try:
            probabilities = predictor.probabilities(read_picture(path)[np.newaxis])[0]
        except PictureError as error:
            results.append({"file": str(path), "error": str(error)})
            _complain(str(error), 1)
            continue
        digit = int(probabilities.argmax())
        results.append({"file": str(path), "digit": digit, "probabilities": [float(p) for p in probabilities]})
        if not as_json:
            stdout.print(f"{escape(str(path))}: {digit} ({probabilities[digit]:.1%})", soft_wrap=True)
    if as_json:
        print_json({"files": results})
    if any("error" in result for result in results):
        raise typer.Exit(1)


@app.command("devices")
def devices_command(as_json: Json = False) -> None:
    """List what can compute here, and for what cannot, why and what to do."""
    devices = list_devices()
    if as_json:
        fields = ("key", "name", "available", "reason", "remedy")
        print_json({"devices": [{name: getattr(info, name) for name in fields} for info in devices]})
        return
    for info in devices:
        stdout.print(f"{info.key}: {info.name}" + ("" if info.available else " (not available)"))
        if not info.available:
            stdout.print(f"    {info.reason}. {info.remedy}", soft_wrap=True)


for name, command in COMMANDS.items():
    app.command(name)(command)


def _print_result(result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(result)
        return
    table = Table(show_header=False)
    for name, value in result.items():
        table.add_row(name.replace("_", " "), "–" if value is None else str(value))
    stdout.print(table)
