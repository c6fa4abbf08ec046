"""What lies on the sheet, and every sheet before it: what Undo and Redo walk along.

A room of its own because the order of sheets has nothing to do with how they are drawn, and must be right in every
order of strokes, erasing, Clear and Undo.
"""

from dataclasses import dataclass, field

import numpy as np

from core.device import HostArray
from core.digits.downloads import DIGITS
from core.digits.ink import Ink, Stroke


@dataclass(frozen=True, eq=False)
class PrintedDigit:
    """A digit of a data set laid on the sheet: `picture` uint8 (28, 28), its `label` and its `number` in the set.

    `classes`: what the set's labels stand for, which are digits or not.
    """

    picture: HostArray
    label: int
    number: int
    classes: tuple[str, ...] = DIGITS


@dataclass(frozen=True, eq=False)
class OpenedPicture:
    """A picture from a file or the clipboard, and the digits found in it, as the network sees them.

    `pixels`: uint8 (height, width, 3), for the eye; `digits`: each uint8 (28, 28), at least one, in reading order;
    `boxes`: float64 (n, 4), left, top, right and bottom of each as shares of the picture's width and height.
    """

    pixels: HostArray
    digits: tuple[HostArray, ...]
    boxes: HostArray


@dataclass(frozen=True, eq=False)
class Sheet:
    """Either ink, or something printed and no ink."""

    ink: Ink = field(default_factory=Ink)
    printed: PrintedDigit | OpenedPicture | None = None

    @property
    def is_empty(self) -> bool:
        return self.ink.is_empty and self.printed is None


class InkHistory:
    """The sheets in their order; each change begins a new one, and forgets those that had been undone."""

    def __init__(self) -> None:
        self._sheets = [Sheet()]
        self._now = 0

    @property
    def sheet(self) -> Sheet:
        return self._sheets[self._now]

    @property
    def can_undo(self) -> bool:
        return self._now > 0

    @property
    def can_redo(self) -> bool:
        return self._now < len(self._sheets) - 1

    def add(self, stroke: Stroke) -> None:
        """A new stroke; on something printed it begins a new drawing."""
        self._begin(Sheet(Ink((*self.sheet.ink.strokes, stroke))))

    def erase(self, stroke: Stroke) -> None:
        """Take away this stroke, which is on the sheet."""
        self._begin(Sheet(Ink(tuple(other for other in self.sheet.ink.strokes if other is not stroke))))

    def put(self, printed: PrintedDigit | OpenedPicture) -> None:
        """Something printed takes the place of all that was there."""
        self._begin(Sheet(printed=printed))

    def clear(self) -> None:
        """An empty sheet; where it is empty already, nothing happens."""
        if not self.sheet.is_empty:
            self._begin(Sheet())

    def undo(self) -> None:
        """Back to the sheet before, if there is one."""
        self._now = max(self._now - 1, 0)

    def redo(self) -> None:
        """On to the sheet that was undone last, if there is one."""
        self._now = min(self._now + 1, len(self._sheets) - 1)

    def _begin(self, sheet: Sheet) -> None:
        del self._sheets[self._now + 1 :]
        self._sheets.append(sheet)
        self._now += 1


def strokes_touched(ink: Ink, start: tuple[float, float], end: tuple[float, float], reach: float) -> list[Stroke]:
    """The strokes of `ink` that come within `reach` of the straight way from `start` to `end`, all in its units."""
    way = np.array([start, end], dtype=np.float64)
    return [stroke for stroke in ink.strokes if _distance(way, stroke.points.astype(np.float64)) <= reach]


def _distance(way: HostArray, points: HostArray) -> float:
    """The least distance between a line (2, 2) and a chain of lines through points (n, 2)."""
    starts, ends = points, np.concatenate([points[1:], points[-1:]])
    if _cross(way, starts, ends).any():
        return 0.0
    to_way = _to_line(points, way[0], way[1])
    to_chain = [_to_line(point, starts, ends) for point in way]
    return float(min(to_way.min(), *(distances.min() for distances in to_chain)))


def _cross(way: HostArray, starts: HostArray, ends: HostArray) -> HostArray:
    """Which lines, bool (n,), have their ends on either side of `way` while its ends are on either side of them."""

    def side(from_: HostArray, to: HostArray, point: HostArray) -> HostArray:
        (ax, ay), (bx, by) = (to - from_).T, (point - from_).T
        return np.sign(ax * by - ay * bx)

    apart = side(way[0], way[1], starts) * side(way[0], way[1], ends) < 0
    return apart & (side(starts, ends, way[0]) * side(starts, ends, way[1]) < 0)


def _to_line(points: HostArray, starts: HostArray, ends: HostArray) -> HostArray:
    """The distance of each point from its line, float64 (n,); a line without length is a point."""
    along = ends - starts
    square = np.maximum((along**2).sum(axis=-1), 1e-12)
    share = np.clip(((points - starts) * along).sum(axis=-1) / square, 0, 1)
    return np.hypot(*(points - starts - along * share[..., None]).T)
