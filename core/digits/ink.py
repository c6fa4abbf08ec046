"""What a hand leaves behind: strokes, before any of it is a pixel; and the file format that keeps them.

Ink has no size, no position and no thickness of its own: units are whatever the pen or the mouse reported, and
core.digits.rasterizer removes them. This room checks once, so that everybody else may rely on it: a `Stroke` has at
least one point and no point is NaN or infinite.

An ink file has one JSON object a line, {"label": 3, "strokes": [[[x, y], ...], ...]}, gzip-compressed where its name
ends in .gz. Further keys of the object, and numbers after x and y, are left for later and ignored. Files come from
anywhere and are not trusted.
"""

import gzip
import io
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.device import HostArray

MAX_LINE_BYTES = 8 * 1024 * 1024
"""The longest line that is read; a digit of 100,000 points takes about 2 MB."""

MAX_DIGITS = 1_000_000
"""The most digits read from one file; a small compressed file could otherwise fill the memory."""


@dataclass(frozen=True, eq=False)
class Stroke:
    """The pen's path from touching the paper to leaving it.

    `points`: (n, 2), n >= 1, x and y of each point in any unit, y growing downwards; finite. Whatever array or nested
    list is given, a read-only float32 copy is kept. Strokes are equal only if they are the same object.

    Raises ValueError for any other shape and for numbers that are not finite as float32.
    """

    points: HostArray

    def __post_init__(self) -> None:
        with np.errstate(over="ignore"):
            points = np.array(self.points, dtype=np.float32)
        if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
            raise ValueError(f"a stroke wants points of shape (n, 2) with n of at least 1, got {points.shape}")
        if not np.isfinite(points).all():
            raise ValueError("a stroke wants finite points, got NaN, infinity or a number beyond float32")
        points.flags.writeable = False
        object.__setattr__(self, "points", points)


@dataclass(frozen=True)
class Ink:
    """Everything drawn for one picture, in the order in which it was drawn; no strokes is an empty sheet."""

    strokes: tuple[Stroke, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.strokes


@dataclass(frozen=True)
class LabelledInk:
    """Ink and the digit (0 to 9) it is meant to be."""

    label: int
    ink: Ink


class InkFileError(ValueError):
    """An ink file cannot be read; the message names the file and the line and says what to do."""


def read_ink_file(path: str | os.PathLike[str]) -> list[LabelledInk]:
    """All digits of the ink file at `path`, in its order; blank lines are skipped.

    Raises InkFileError if the file cannot be opened or unpacked, has no digits, or has a line that is not one.
    """
    digits: list[LabelledInk] = []
    for number, line in enumerate(_lines(Path(path)), start=1):
        if line.isspace():
            continue
        if len(digits) == MAX_DIGITS:
            raise InkFileError(f"{path} has more than {MAX_DIGITS:,} digits; split it into smaller files.")
        try:
            digits.append(_labelled_ink(line))
        except ValueError as error:
            raise InkFileError(f"{path}, line {number}: {error}; correct or delete this line.") from None
    if not digits:
        raise InkFileError(f"{path} has no digits in it; choose a file with one JSON object a line.")
    return digits


def _lines(path: Path) -> Iterator[bytes]:
    packed = path.suffix.lower() == ".gz"
    number = 1
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            # Without the buffer each line would pass through gzip's slow Python-level readline.
            reader = io.BufferedReader(file, 1 << 20)
            while line := reader.readline(MAX_LINE_BYTES + 1):
                if len(line) > MAX_LINE_BYTES:
                    raise InkFileError(
                        f"{path}, line {number} is longer than {MAX_LINE_BYTES:,} bytes; "
                        "one digit a line is expected, so choose another file."
                    )
                yield line
                number += 1
    except FileNotFoundError:
        raise InkFileError(f"{path} does not exist; check the name and the folder.") from None
    except IsADirectoryError:
        raise InkFileError(f"{path} is a folder; choose an ink file in it.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InkFileError(
            f"{path}, line {number}: the gzip data ends early or is damaged, or is not gzip at all; "
            "fetch the file again, or take .gz off its name if it is plain text."
        ) from None
    except OSError as error:
        reason = error.strerror or error
        raise InkFileError(f"{path} cannot be read ({reason}); check the file and its permissions.") from None


def _labelled_ink(line: bytes) -> LabelledInk:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("this is not JSON") from None
    if not isinstance(record, dict):
        raise ValueError('this is not an object with "label" and "strokes"')
    label, strokes = record.get("label"), record.get("strokes")
    # bool is an int to Python, and 3.0 == 3: only the plain integer is a label.
    if type(label) is not int or not 0 <= label <= 9:
        raise ValueError(f'"label" is {_short(label)} and must be a whole number from 0 to 9')
    if not isinstance(strokes, list) or not strokes:
        raise ValueError('"strokes" must be a list of at least one stroke')
    return LabelledInk(label, Ink(tuple(_stroke(points, i) for i, points in enumerate(strokes, start=1))))


def _stroke(points: Any, position: int) -> Stroke:
    try:
        return Stroke(_numbers(points)[:, :2])
    except (ValueError, TypeError, IndexError, OverflowError):
        raise ValueError(
            f'stroke {position} of "strokes" must be a list of at least one [x, y] pair of finite numbers'
        ) from None


def _numbers(points: Any) -> HostArray:
    """`points` as an array, or only x and y of each where what follows them is not an equal count of numbers."""
    try:
        numbers = np.asarray(points)
    except ValueError:
        numbers = np.asarray(None)
    if numbers.dtype.kind not in "iuf":
        numbers = np.asarray([point[:2] for point in points])
    # Texts of digits would convert, and are refused like any other text.
    if numbers.dtype.kind not in "iuf":
        raise TypeError(numbers.dtype)
    return numbers


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 20 else text[:20] + "..."
