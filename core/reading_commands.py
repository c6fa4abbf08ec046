"""The commands that read digits with a trained network: evaluate, classify.

core.command_line puts them beside its own.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from core.device import HostArray
from core.digits.dataset import Dataset, DatasetError
from core.digits.ink import read_ink_file
from core.digits.mnist import BUILT_IN_FOLDER, load_mnist_test
from core.digits.pictures import PictureError, read_picture
from core.digits.rasterizer import rasterize
from core.predictor import Predictor
from core.terminal import Json, WrongUseError, complain, print_json, stdout
from core.training.evaluation import accuracy_of, accuracy_per_class
from core.training.model_file import SHIPPED_MODEL, Model, as_stored, file_size, load_model
from core.training.storage import STORAGE_PRECISIONS, PrecisionError

DIGITS = [str(digit) for digit in range(10)]
ALL = "all"
ModelPath = Annotated[Path | None, typer.Option("--model", help="A saved network; the shipped one without it.")]


def evaluate_command(
    model: ModelPath = None,
    mnist_folder: Annotated[Path | None, typer.Option(help="A folder with IDX files; its test set is read.")] = None,
    images: Annotated[Path | None, typer.Option(help="A folder with one folder of pictures per digit.")] = None,
    ink: Annotated[Path | None, typer.Option(help="Pen strokes, one JSON object a line (.jsonl or .jsonl.gz).")] = None,
    precision: Annotated[
        str | None, typer.Option(help="As if saved as float32, float16 or int8; all compares the three.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure a network: on the built-in test set, other IDX files, folders of pictures, or pen strokes."""
    if sum(source is not None for source in (mnist_folder, images, ink)) > 1:
        raise WrongUseError("choose one of --mnist-folder, --images and --ink")
    if precision not in (None, *STORAGE_PRECISIONS, ALL):
        choices = " or ".join((*STORAGE_PRECISIONS, ALL))
        raise WrongUseError(f"precision is {precision!r:.60}; choose {choices}")
    network = _load(model)
    data = _read_digits(mnist_folder, images, ink)
    stored = {}
    if precision is not None and precision != ALL:
        stored = {"precision": precision, "bytes": file_size(network, precision)}
        network = as_stored(network, precision)
    confusion = _confusion(network, data)
    if precision == ALL:
        stored = {"precisions": _compare_precisions(network, data, accuracy_of(confusion))}
    if as_json:
        print_json(_figures(confusion) | stored)
    else:
        _show(confusion, stored)


def classify_command(
    paths: Annotated[list[Path], typer.Argument(help="Picture files, one digit each.")],
    model: ModelPath = None,
    as_json: Json = False,
) -> None:
    """Say which digit each picture shows."""
    predictor = Predictor.from_model(_load(model))
    results: list[dict[str, Any]] = []
    for path in paths:
        try:
            probabilities = predictor.probabilities(read_picture(path)[np.newaxis])[0]
        except PictureError as error:
            results.append({"file": str(path), "error": str(error)})
            complain(str(error))
            continue
        digit = int(probabilities.argmax())
        results.append({"file": str(path), "digit": digit, "probabilities": [float(p) for p in probabilities]})
        if not as_json:
            stdout.print(f"{escape(str(path))}: {digit} ({probabilities[digit]:.1%})", soft_wrap=True)
    if as_json:
        print_json({"files": results})
    if any("error" in result for result in results):
        raise typer.Exit(1)


COMMANDS: Mapping[str, Callable[..., None]] = {"evaluate": evaluate_command, "classify": classify_command}


def _load(path: Path | None) -> Model:
    return load_model(path or SHIPPED_MODEL)


def _confusion(network: Model, data: Dataset) -> HostArray:
    confusion = Predictor.from_model(network).confusion(data)
    assert confusion is not None
    return confusion


def _compare_precisions(network: Model, data: Dataset, accuracy: float) -> list[dict[str, Any]]:
    """For each precision its bytes in a file, its accuracy, and the points by which that differs from `accuracy`.

    All three are None where the weights are too large for it.
    """
    rows: list[dict[str, Any]] = []
    for precision in STORAGE_PRECISIONS:
        row: dict[str, Any] = {"precision": precision, "bytes": None, "accuracy": None, "points": None}
        try:
            row["bytes"] = file_size(network, precision)
            row["accuracy"] = accuracy_of(_confusion(as_stored(network, precision), data))
            row["points"] = round(100 * (row["accuracy"] - accuracy), 4)
        except PrecisionError as error:
            complain(str(error))
        rows.append(row)
    return rows


def _read_digits(mnist_folder: Path | None, images: Path | None, ink: Path | None) -> Dataset:
    if images is not None:
        return _read_image_folders(images)
    if ink is not None:
        return _read_ink(ink)
    return load_mnist_test(mnist_folder or BUILT_IN_FOLDER)


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
            complain(f"left out: {error}")
    if not pictures:
        raise DatasetError(f"{folder} holds no pictures; it should have folders named 0 to 9 with pictures in them")
    return Dataset(np.stack(pictures), np.array(labels, np.uint8))


def _figures(confusion: HostArray) -> dict[str, Any]:
    return {
        "n": int(confusion.sum()),
        "accuracy": accuracy_of(confusion),
        "per_class": accuracy_per_class(confusion),
        "confusion": confusion.tolist(),
    }


def _show(confusion: HostArray, stored: Mapping[str, Any]) -> None:
    stdout.print(f"{accuracy_of(confusion):.2%} of {confusion.sum():,} digits read right")
    if "bytes" in stored:
        stdout.print(f"saved as {stored['precision']}: {stored['bytes']:,} bytes")
    stdout.print(_confusion_table(confusion, accuracy_per_class(confusion)))
    if "precisions" in stored:
        stdout.print(_precision_table(stored["precisions"]))


def _confusion_table(confusion: HostArray, per_class: Iterable[float | None]) -> Table:
    # Ten columns and two fit into eighty characters only without frames.
    title = "Who is taken for whom: a row for each digit, a column for each answer"
    table = Table("", "right", *DIGITS, title=title, box=None, padding=(0, 1))
    for digit, row, share in zip(DIGITS, confusion, per_class, strict=True):
        table.add_row(digit, "–" if share is None else f"{share:.1%}", *(str(count) if count else "·" for count in row))
    return table


def _precision_table(rows: Iterable[Mapping[str, Any]]) -> Table:
    table = Table("saved as", "bytes", "right", "difference in points")
    for row in rows:
        if row["bytes"] is None:
            table.add_row(row["precision"], "–", "–", "–")
        else:
            table.add_row(row["precision"], f"{row['bytes']:,}", f"{row['accuracy']:.2%}", f"{row['points']:+.2f}")
    return table
