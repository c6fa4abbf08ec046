"""The commands that read digits with a trained network: evaluate, classify.

core.command_line puts them beside its own.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from core.device import HostArray
from core.digits.dataset import Dataset, DatasetError
from core.digits.dataset_files import load_test_digits
from core.digits.downloads import BUILT_IN
from core.digits.ink import read_ink_file
from core.digits.mnist import load_mnist_test
from core.digits.picture_file import PictureError
from core.digits.pictures import FoundDigit, find_digits, read_picture
from core.digits.rasterizer import rasterize
from core.predictor import Answer, Predictor
from core.terminal import Json, WrongUseError, complain, print_json, stdout
from core.training.calibration import calibration_error, coverage_at
from core.training.evaluation import accuracy_of, accuracy_per_class, confusion_matrix
from core.training.model_file import SHIPPED_MODEL, Model, as_stored, file_size, load_model
from core.training.storage import STORAGE_PRECISIONS, PrecisionError

DIGITS = [str(digit) for digit in range(10)]
ALL = "all"
ModelPath = Annotated[Path | None, typer.Option("--model", help="A saved network; the shipped one without it.")]
Threshold = Annotated[
    float | None, typer.Option(help="Least confidence (0 to 1) of an answer; without it, as fitted for the network.")
]


def evaluate_command(
    model: ModelPath = None,
    data: Annotated[str | None, typer.Option(help="A set by its name (data lists them); its test set is read.")] = None,
    mnist_folder: Annotated[Path | None, typer.Option(help="A folder with IDX files; its test set is read.")] = None,
    images: Annotated[Path | None, typer.Option(help="A folder with one folder of pictures per digit.")] = None,
    ink: Annotated[Path | None, typer.Option(help="Pen strokes, one JSON object a line (.jsonl or .jsonl.gz).")] = None,
    precision: Annotated[
        str | None, typer.Option(help="As if saved as float32, float16 or int8; all compares the three.")
    ] = None,
    threshold: Threshold = None,
    as_json: Json = False,
) -> None:
    """Measure a network: on a set's test digits, other IDX files, folders of pictures, or pen strokes."""
    if sum(source is not None for source in (data, mnist_folder, images, ink)) > 1:
        raise WrongUseError("choose one of --data, --mnist-folder, --images and --ink")
    if precision not in (None, *STORAGE_PRECISIONS, ALL):
        choices = " or ".join((*STORAGE_PRECISIONS, ALL))
        raise WrongUseError(f"--precision is {precision!r:.60}; choose {choices}")
    network = _load(model)
    digits = _read_digits(data, mnist_folder, images, ink)
    stored = {}
    if precision is not None and precision != ALL:
        stored = {"precision": precision, "bytes": file_size(network, precision)}
        network = as_stored(network, precision)
    confusion, sureness = _measure(_predictor(network, threshold), digits)
    if precision == ALL:
        stored = {"precisions": _compare_precisions(network, digits, accuracy_of(confusion))}
    if as_json:
        print_json(_figures(confusion) | sureness | stored)
    else:
        _show(confusion, sureness, stored)


def classify_command(
    paths: Annotated[list[Path], typer.Argument(help="Picture files, of a digit or a number each.")],
    model: ModelPath = None,
    threshold: Threshold = None,
    as_json: Json = False,
) -> None:
    """Say which digit or number each picture shows, or that it shows none."""
    predictor = _predictor(_load(model), threshold)
    results: list[dict[str, Any]] = []
    for path in paths:
        try:
            found = find_digits(path, lambda pictures: predictor.read(pictures)[1])
        except PictureError as error:
            results.append({"file": str(path), "error": str(error)})
            complain(str(error))
            continue
        answers = [predictor.answer(digit.picture) for digit in found]
        row = _as_row(answers[0]) if len(found) == 1 else _as_number(answers, found)
        results.append({"file": str(path), **row})
        if not as_json:
            words = _in_words(answers[0]) if len(found) == 1 else _number_in_words(answers)
            stdout.print(f"{escape(str(path))}: {words}", soft_wrap=True)
    if as_json:
        print_json({"files": results})
    if any("error" in result for result in results):
        raise typer.Exit(1)


COMMANDS: Mapping[str, Callable[..., None]] = {"evaluate": evaluate_command, "classify": classify_command}


def _load(path: Path | None) -> Model:
    return load_model(path or SHIPPED_MODEL)


def _predictor(network: Model, threshold: float | None) -> Predictor:
    predictor = Predictor.from_model(network)
    if threshold is not None:
        if not 0 <= threshold <= 1:
            raise WrongUseError(f"--threshold is {threshold}; it must be from 0 to 1, such as 0.5")
        predictor.threshold = threshold
    return predictor


def _as_row(answer: Answer) -> dict[str, Any]:
    """The likeliest digit stands as "guess" only where it is not the answer."""
    row: dict[str, Any] = {"digit": answer.digit, "probabilities": [float(p) for p in answer.probabilities]}
    return {**row, "confidence": answer.confidence} | ({"guess": answer.guess} if answer.digit is None else {})


def _in_words(answer: Answer) -> str:
    if answer.digit is None:
        return f"I don't know; if it is a digit, perhaps {answer.guess} ({answer.probabilities[answer.guess]:.1%})"
    return f"{answer.digit} ({answer.probabilities[answer.digit]:.1%})"


def _number(answers: Sequence[Answer]) -> str:
    return "".join("?" if answer.digit is None else str(answer.digit) for answer in answers)


def _as_number(answers: Sequence[Answer], found: Sequence[FoundDigit]) -> dict[str, Any]:
    """The number, with a ? for each digit that is not known, and of each digit its row and its box in the picture."""
    digits = [{**_as_row(answer), "box": list(digit.box)} for answer, digit in zip(answers, found, strict=True)]
    return {"number": _number(answers), "digits": digits}


def _number_in_words(answers: Sequence[Answer]) -> str:
    known = [answer.probabilities[answer.guess] for answer in answers if answer.digit is not None]
    if not known:
        return f"{_number(answers)} (I don't know any of them)"
    which = "each digit" if len(known) == len(answers) else "the others"
    return f"{_number(answers)} ({which} at least {min(known):.1%})"


def _measure(predictor: Predictor, data: Dataset) -> tuple[HostArray, dict[str, Any]]:
    """The confusion of all digits, doubtful ones included, and by their names the figures of how sure it is of them."""
    probabilities, confidences = predictor.read(data.images)
    answers = probabilities.argmax(axis=1)
    sureness: dict[str, Any] = {"calibration_error": calibration_error(probabilities, data.labels)}
    if predictor.threshold:
        coverage, accuracy = coverage_at(np.array([predictor.threshold]), confidences, answers == data.labels)
        answered = coverage[0] > 0
        sureness |= {
            "threshold": predictor.threshold,
            "coverage": float(coverage[0]),
            "accuracy_of_answered": float(accuracy[0]) if answered else None,
        }
    return confusion_matrix(data.labels, answers, len(DIGITS)), sureness


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


def _read_digits(data: str | None, mnist_folder: Path | None, images: Path | None, ink: Path | None) -> Dataset:
    if images is not None:
        return _read_image_folders(images)
    if ink is not None:
        return _read_ink(ink)
    if mnist_folder is not None:
        return load_mnist_test(mnist_folder)
    return load_test_digits(data or BUILT_IN)


def _read_ink(path: Path) -> Dataset:
    samples = read_ink_file(path)
    labels = np.array([sample.label for sample in samples], np.uint8)
    return Dataset(np.stack([rasterize(sample.ink) for sample in samples]), labels)


def _read_image_folders(folder: Path) -> Dataset:
    """Every picture in the folders 0 to 9 of `folder`; one that cannot be read is named on stderr and left out."""
    if not os.path.isdir(folder):
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


def _show(confusion: HostArray, sureness: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
    stdout.print(f"{accuracy_of(confusion):.2%} of {confusion.sum():,} digits read right")
    stdout.print(_sureness_in_words(sureness))
    if "bytes" in stored:
        stdout.print(f"saved as {stored['precision']}: {stored['bytes']:,} bytes")
    stdout.print(_confusion_table(confusion, accuracy_per_class(confusion)))
    if "precisions" in stored:
        stdout.print(_precision_table(stored["precisions"]))


def _sureness_in_words(sureness: Mapping[str, Any]) -> str:
    words = f"probabilities are wrong by {100 * sureness['calibration_error']:.2f} points (calibration error)"
    if "threshold" not in sureness:
        return words
    words += f"\n{sureness['coverage']:.2%} answered, with a confidence of at least {sureness['threshold']:.2f}"
    accuracy = sureness["accuracy_of_answered"]
    return words if accuracy is None else f"{words}; {accuracy:.2%} of these right"


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
