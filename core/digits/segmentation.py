"""Several digits in one place, told apart: strokes of ink, or the connected parts of a picture, a group for each digit.

Both ways come to the same question: which boxes belong to one digit? A bar above a 5, a slash through a 0 or the foot
of a 1 lies over or under what it belongs to, or within it; two digits stand side by side. So it is the overlap from
side to side that counts, more of it being asked of boxes as tall as each other than of a small one beside a tall one.

What touches in a picture is one part, however many digits it is: core.digits.cutting takes those apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.device import HostArray
from core.digits.ink import Ink

MAX_PARTS = 100
"""Of so many strokes or parts at most the digits are told apart; more are a drawing, or dirt."""

# All of these are shares of a height: that of the tallest of all, or where two are compared, of the taller one.
_NARROWEST = 0.12  # what is narrower, such as an upright bar, counts as this wide
_SMALLEST = 0.3  # of the tallest of all: what is smaller is no measure for its neighbours
_LOWEST = 0.2  # of the tallest digit: what stays alone and is lower is a dot or a dash
_SIDE_BY_SIDE = 0.65  # so much is shared by two digits of a row, and seldom by two strokes of one
_STAIR = 0.12  # so much lower begins and ends the second stroke of a 4
_FLAT = 0.3  # a bar is no digit by itself
CONTACT = 0.05  # strokes that come so close were meant to meet
_NEAR = 0.15  # so close is a bar, or the second stroke of a 4, to its digit
_WIDEST_GAP = 0.35  # from what is above to what is below


@dataclass(frozen=True, eq=False)
class Part:
    """One digit's `ink`, uint8 (height, width), ink bright on 0, whose first pixel is `left`, `top` of the picture."""

    left: int
    top: int
    ink: HostArray

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom in the picture, the last two just beyond the ink."""
        height, width = self.ink.shape
        return self.left, self.top, self.left + width, self.top + height


def split_ink(ink: Ink) -> list[Ink]:
    """The digits of `ink` from left to right, each with its strokes in the order in which they were drawn.

    No ink is no digit, and more than MAX_PARTS strokes are one.
    """
    if not 1 < len(ink.strokes) <= MAX_PARTS:
        return [] if ink.is_empty else [ink]
    paths = [stroke.points.astype(np.float64) for stroke in ink.strokes]
    boxes = np.array([[*path.min(axis=0), *path.max(axis=0)] for path in paths])
    groups = groups_of(boxes, _gaps(paths, boxes))
    return [Ink(tuple(ink.strokes[i] for i in group)) for group in groups]


def groups_of(boxes: HostArray, apart: HostArray) -> list[list[int]]:
    """Which of `boxes` (n, 4) belong to one digit, `apart` (n, n) being the gaps between them; in reading order."""
    boxes, apart = boxes.astype(np.float64), apart.copy()
    sizes = boxes[:, 2:] - boxes[:, :2]
    tallest = max(sizes[:, 1].max(), sizes[:, 0].max() / 4) or 1.0
    groups = [[i] for i in range(len(boxes))]
    while len(groups) > 1:
        ties = _ties(boxes, apart, tallest)
        first, second = sorted(np.unravel_index(ties.argmax(), ties.shape))
        if ties[first, second] <= 0:
            break
        groups[first] = sorted(groups[first] + groups.pop(second))
        boxes[first, :2] = np.minimum(boxes[first, :2], boxes[second, :2])
        boxes[first, 2:] = np.maximum(boxes[first, 2:], boxes[second, 2:])
        apart[first] = apart[:, first] = np.minimum(apart[first], apart[second])
        boxes = np.delete(boxes, second, axis=0)
        apart = np.delete(np.delete(apart, second, axis=0), second, axis=1)
    heights = boxes[:, 3] - boxes[:, 1]
    return [groups[i] for i in reading_order(boxes) if heights[i] >= _LOWEST * heights.max()]


def _ties(boxes: HostArray, apart: HostArray, tallest: float) -> HostArray:
    """How strongly each box is tied to each other one: float64 (n, n), 0 for not at all."""
    left, top, right, bottom = boxes.T
    height, middle = bottom - top, (left + right) / 2
    half = np.maximum(right - left, _NARROWEST * tallest) / 2
    across = np.add.outer(half, half) - np.abs(np.subtract.outer(middle, middle))
    overlap = np.clip(across / (2 * np.minimum.outer(half, half)), 0, 1)
    taller = np.maximum.outer(height, height)
    scale = np.maximum(taller, _SMALLEST * tallest)
    shared = np.minimum.outer(bottom, bottom) - np.maximum.outer(top, top)
    later, longer = np.subtract.outer(top, top), np.subtract.outer(bottom, bottom)
    stairs = (later * longer > 0) & (np.minimum(np.abs(later), np.abs(longer)) > _STAIR * scale)
    flat = np.minimum.outer(height, height) < _FLAT * scale
    meet = apart <= CONTACT * scale
    least = np.where(shared > _SIDE_BY_SIDE * taller, np.where(meet, 0.5, 0.85), np.where(meet, 0.1, 0.5))
    tied = (overlap >= least) | ((flat | stairs) & (apart <= _NEAR * scale))
    tied &= shared > -_WIDEST_GAP * scale
    np.fill_diagonal(tied, False)
    return tied * (1.01 + overlap - np.minimum(apart / scale, 1))


def _gaps(paths: Sequence[HostArray], boxes: HostArray) -> HostArray:
    """How far apart the strokes (k, 2) are where they are nearest: float64 (n, n); of distant ones, their boxes."""
    size = (boxes[:, 2:] - boxes[:, :2]).max()
    dense = [_resampled(path, size * CONTACT / 2) for path in paths]
    gaps = box_gaps(boxes)
    for i, j in zip(*np.nonzero(np.tril(gaps <= _NEAR * size, -1)), strict=True):
        between = dense[i][:, np.newaxis] - dense[j]
        gaps[i, j] = gaps[j, i] = np.hypot(between[..., 0], between[..., 1]).min()
    return gaps


def _resampled(path: HostArray, spacing: float) -> HostArray:
    """Points of the stroke `path` (k, 2), at most 500, about `spacing` apart."""
    way = np.concatenate([[0.0], np.hypot(*np.diff(path, axis=0).T).cumsum()])
    at = np.linspace(0, way[-1], int(np.clip(way[-1] / (spacing or 1), 1, 499)) + 1)
    return np.stack([np.interp(at, way, path[:, 0]), np.interp(at, way, path[:, 1])], axis=1)


def box_gaps(boxes: HostArray) -> HostArray:
    """How far apart the boxes (n, 4) are: float64 (n, n)."""
    low, high = boxes[:, np.newaxis, :2], boxes[:, np.newaxis, 2:]
    gaps = np.maximum(low - high.swapaxes(0, 1), low.swapaxes(0, 1) - high).clip(0)
    return np.hypot(gaps[..., 0], gaps[..., 1])


def reading_order(boxes: HostArray) -> list[int]:
    """The order of boxes (n, 4) row by row, each from left to right; a row is what shares half of its height."""
    rows: list[list[int]] = []
    for i in np.argsort(boxes[:, 1] + boxes[:, 3], kind="stable"):
        top, bottom = boxes[i, 1], boxes[i, 3]
        for row in rows:
            row_top, row_bottom = boxes[row, 1].min(), boxes[row, 3].max()
            if min(bottom, row_bottom) - max(top, row_top) >= min(bottom - top, row_bottom - row_top) / 2:
                row.append(int(i))
                break
        else:
            rows.append([int(i)])
    return [i for row in rows for i in sorted(row, key=lambda i: boxes[i, 0] + boxes[i, 2])]
