"""What a hand leaves behind: strokes, before any of it is a pixel; and the file format that keeps them.

Ink has no size, no position and no thickness of its own: units are whatever the pen or the mouse reported, and
core.digits.rasterizer removes them. This room checks once, so that everybody else may rely on it: a `Stroke` has at
least one point and no point is NaN or infinite.

An ink file has one JSON object a line, {"label": 3, "strokes": [[[x, y], ...], ...]}, gzip-compressed where its name
ends in .gz. A point may go on: [x, y, milliseconds] or [x, y, milliseconds, pressure]; what cannot be a time or a
pressure is ignored, as are further numbers and further keys of the object. Files come from anywhere and are not
trusted.
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
"""The most digits read from one file, and the most lines, blank ones too."""

MAX_STROKES = 10_000
"""The most strokes of one digit; each of them takes its time, however short it is."""

MAX_SWELLING, FREE_BYTES = 10, 2**20
"""A compressed file may unpack to a mebibyte, or to so many times its size; ink comes to four times."""


@dataclass(frozen=True, eq=False)
class Stroke:
    """The pen's path from touching the paper to leaving it.

    `points`: (n, 2), n >= 1, x and y of each point in any unit, y growing downwards; finite. Whatever array or nested
    list is given, a read-only float32 copy is kept. Strokes are equal only if they are the same object.
    `times_ms`: (n,), when the pen was at each point, never falling, counted from the drawing's first; `pressures`:
    (n,), 0 to 1, how hard it was pressed. None where the pen did not say, and for pressures wherever times are None.

    Raises ValueError for anything else, and for numbers that are not finite as float32.
    """

    points: HostArray
    times_ms: HostArray | None = None
    pressures: HostArray | None = None

    def __post_init__(self) -> None:
        with np.errstate(over="ignore"):
            points = np.array(self.points, dtype=np.float32)
        if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
            raise ValueError(f"a stroke wants points of shape (n, 2) with n of at least 1, got {points.shape}")
        if not np.isfinite(points).all():
            raise ValueError("a stroke wants finite points, got NaN, infinity or a number beyond float32")
        points.flags.writeable = False
        object.__setattr__(self, "points", points)
        if self.times_ms is not None:
            times = self._keep("times_ms", self.times_ms)
            if (np.diff(times, prepend=0) < 0).any():
                raise ValueError("a stroke wants times from 0 on that never fall")
        if self.pressures is not None:
            pressures = self._keep("pressures", self.pressures)
            if self.times_ms is None or pressures.min() < 0 or pressures.max() > 1:
                raise ValueError("a stroke wants pressures from 0 to 1, and times with them")

    def _keep(self, name: str, given: HostArray) -> HostArray:
        """Put a checked, read-only copy of one number a point in the place of what was given."""
        with np.errstate(over="ignore"):
            numbers = np.array(given, dtype=np.float32)
        if numbers.shape != (len(self.points),) or not np.isfinite(numbers).all():
            raise ValueError(f"a stroke of {len(self.points)} points wants as many finite {name}")
        numbers.flags.writeable = False
        object.__setattr__(self, name, numbers)
        return numbers


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


def ink_line(digit: LabelledInk) -> str:
    """`digit` as a line of an ink file, without its end; reading it gives every number back as it was."""
    strokes = [[_written(point) for point in np.column_stack(_columns(stroke))] for stroke in digit.ink.strokes]
    return json.dumps({"label": digit.label, "strokes": strokes}, separators=(",", ":"))


def _columns(stroke: Stroke) -> list[HostArray]:
    return [column for column in (stroke.points, stroke.times_ms, stroke.pressures) if column is not None]


def _written(point: HostArray) -> list[float]:
    # As text a float32 has the fewest digits that tell it apart; as a float it would have many that say nothing.
    return [float(str(number)) for number in point]


class InkFileError(ValueError):
    """An ink file cannot be read; the message names the file and the line and says what to do."""


def read_ink_file(path: str | os.PathLike[str]) -> list[LabelledInk]:
    """All digits of the ink file at `path`, in its order; blank lines are skipped.

    Raises InkFileError if the file cannot be opened or unpacked, has no digits, or has a line that is not one.
    """
    digits: list[LabelledInk] = []
    for number, line in enumerate(_lines(Path(path)), start=1):
        if number > MAX_DIGITS:
            raise InkFileError(f"{path} has more than {MAX_DIGITS:,} digits or lines; split it into smaller files.")
        if line.isspace():
            continue
        try:
            digits.append(parse_ink_line(line))
        except ValueError as error:
            raise InkFileError(f"{path}, line {number}: {error}; correct or delete this line.") from None
    if not digits:
        raise InkFileError(f"{path} has no digits in it; choose a file with one JSON object a line.")
    return digits


def _lines(path: Path) -> Iterator[bytes]:
    packed = path.suffix.lower() == ".gz"
    number, length = 1, 0
    try:
        most = max(FREE_BYTES, MAX_SWELLING * path.stat().st_size)
        with gzip.open(path) if packed else path.open("rb") as file:
            # Without the buffer each line would pass through gzip's slow Python-level readline.
            reader = io.BufferedReader(file, 1 << 20)
            while line := reader.readline(MAX_LINE_BYTES + 1):
                if len(line) > MAX_LINE_BYTES:
                    raise InkFileError(
                        f"{path}, line {number} is longer than {MAX_LINE_BYTES:,} bytes; "
                        "one digit a line is expected, so choose another file."
                    )
                length += len(line)
                if packed and length > most:
                    raise InkFileError(
                        f"{path} unpacks to more than {MAX_SWELLING} times its size, as no ink does; "
                        "if it is ink all the same, unpack it and open that."
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


def parse_ink_line(line: bytes) -> LabelledInk:
    """The digit that one line of an ink file holds; raises ValueError, saying what is wrong with it."""
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
    if len(strokes) > MAX_STROKES:
        raise ValueError(f'"strokes" must be a list of at most {MAX_STROKES:,} strokes')
    return LabelledInk(label, Ink(tuple(_stroke(points, i) for i, points in enumerate(strokes, start=1))))


def _stroke(points: Any, position: int) -> Stroke:
    try:
        numbers = _numbers(points)
        stroke = Stroke(numbers[:, :2])
    except (ValueError, TypeError, IndexError, OverflowError):
        raise ValueError(
            f'stroke {position} of "strokes" must be a list of at least one [x, y] pair of finite numbers'
        ) from None
    for columns in (4, 3):
        if numbers.shape[1] >= columns:
            try:
                return Stroke(numbers[:, :2], *numbers[:, 2:columns].T)
            except ValueError:
                continue
    return stroke


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
