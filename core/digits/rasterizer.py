"""From ink to the 28x28 picture that MNIST's makers would have got from the same hand, in NumPy alone.

MNIST's recipe, kept here to the letter because a network knows no other pictures: the ink's bounding box is scaled to
20x20 pixels without changing its aspect, and its centre of mass is put on pixel (14, 14). All 60,000 training pictures
have their centre of mass within half a pixel of that pixel, for MNIST shifted by whole pixels; here the strokes
themselves are shifted, so the centre is true to a tenth of a pixel and no rounding can make a picture jump.

How thick the pen is and how soft its edge cannot be read off the ink, so MNIST decides. Its means over the ten digits,
beside those of 7,494 digits of pen trajectories (UCI Pen-Based Recognition of Handwritten Digits) drawn by this room
with other pens, width and edge in pixels:

                                        MNIST   2.4, 1.2   2.4, 1.0   2.6, 1.2
    mean ink of a picture (0..1)        0.132   0.127      0.127      0.136
    pixels with any ink                 19.2 %  19.0 %     17.9 %     19.8 %
    pixels of level 250 and more         7.4 %   6.7 %      7.7 %      7.7 %
    stroke width, 2 area / perimeter    2.48    2.47       2.46       2.67

MNIST's own strokes go from 1.8 (5 % are finer) to 3.7 (5 % are wider). Reading is no judge of the width: a plain dense
network trained on MNIST reads the trajectories equally well, within 0.2 points, at any from 2.0 to 2.6.
"""

from dataclasses import dataclass

import numpy as np

from core.device import HostArray
from core.digits.ink import Ink

PICTURE_SIZE = 28
BOX_SIZE = 20
"""The longer side of a digit's bounding box, in pixels, pen included."""

CENTRE_PIXEL = 14
"""The row and the column on which the centre of mass lies."""

PEN_WIDTH_PX = 2.4
EDGE_WIDTH_PX = 1.2
"""Across this distance the ink fades from full to none; half of it lies within the pen's width."""

THIN_PEN_WIDTH_PX = 1.0
"""The pen of a drawing that is not thickened: the finest that leaves no line broken."""

PIECE_LENGTH_PX = 1.0
"""Strokes are cut to pieces of at most this length, so that a piece inks only the few pixels around it."""

CROWDED_PIECES = 3000
"""With more pieces than this, one is drawn per cell of a quarter pixel; a digit has about 100."""

MANY_POINTS = 1000
"""With more points than this, those are passed over that hardly move the pen; a digit has about 50."""

MAX_SEGMENTS = 20_000
"""So many points of one long stroke are looked at; they would cover the box a hundred times over."""


@dataclass(frozen=True)
class Recipe:
    """Which of MNIST's steps a drawing goes through; all of them make the picture that a network knows.

    `crop`: the ink's bounding box is looked at, not the whole sheet. `scale`: what is looked at gets 20 pixels, not
    the sheet 28. `thicken`: the pen is as wide as MNIST's. `centre`: the centre of mass is put on the centre pixel, not
    the middle of what is looked at into the middle of the picture.

    Without `crop` or `scale` the sheet matters: it reaches from (0, 0) to (1, 1).
    """

    crop: bool = True
    scale: bool = True
    thicken: bool = True
    centre: bool = True


@dataclass(frozen=True, eq=False)
class Trace:
    """How a drawing became a picture, step by step, for people to see.

    `box`: float64 (2, 2), the least and the greatest x and y of the ink, in its own units. The point `anchor` of the
    ink, float64 (2,), is what `px_per_unit` scales about, and comes to lie at `place_px`, float64 (2,), x and y in the
    picture, whose first pixel reaches from 0 to 1. `picture`: uint8 (28, 28).
    """

    box: HostArray
    anchor: HostArray
    px_per_unit: float
    pen_width_px: float
    place_px: HostArray
    picture: HostArray


def rasterize(ink: Ink, pen_width_px: float = PEN_WIDTH_PX) -> HostArray:
    """The picture of `ink`: uint8 (28, 28), ink bright (255) on 0; all 0 where there is no ink.

    `pen_width_px` (0.5 to 6) is measured in the finished picture. Neither position nor size nor unit of the ink
    matters, and ink without extent is a dot as wide as the pen. Ink so lopsided that centring would push it over the
    edge keeps its box inside the picture instead.

    Raises ValueError for a pen width out of range.
    """
    if not 0.5 <= pen_width_px <= 6:
        raise ValueError(f"pen_width_px is {pen_width_px} and must be from 0.5 to 6")
    if ink.is_empty:
        return np.zeros((PICTURE_SIZE, PICTURE_SIZE), np.uint8)
    return trace(ink, Recipe(), pen_width_px).picture


def trace(ink: Ink, recipe: Recipe, pen_width_px: float = PEN_WIDTH_PX) -> Trace:
    """Take `ink` through the steps of `recipe`; with all of them the picture is that of `rasterize`.

    Raises ValueError for empty ink, and where the sheet matters for ink that lies beyond it.
    """
    if ink.is_empty:
        raise ValueError("there is no ink to trace")
    pen_width_px = pen_width_px if recipe.thicken else THIN_PEN_WIDTH_PX
    points = np.concatenate([stroke.points for stroke in ink.strokes]).astype(np.float64)
    box = np.stack([points.min(axis=0), points.max(axis=0)])
    anchor, px_per_unit = _fit(box, recipe, BOX_SIZE - pen_width_px)
    points -= anchor
    points *= px_per_unit
    starts, steps = _pieces(*_segments(points, [len(stroke.points) for stroke in ink.strokes]))
    place = _place(starts, steps, pen_width_px) if recipe.centre else np.full(2, PICTURE_SIZE / 2)
    picture = _draw(starts + place, steps, pen_width_px)
    return Trace(box, anchor, px_per_unit, pen_width_px, place, (picture * 255 + 0.5).astype(np.uint8))


def moved(picture: HostArray, right_px: int, down_px: int) -> HostArray:
    """`picture` (28, 28) moved by whole pixels, -28 to 28; what leaves it is lost, what comes in is paper."""
    top, left = PICTURE_SIZE - down_px, PICTURE_SIZE - right_px
    return np.pad(picture, PICTURE_SIZE)[top : top + PICTURE_SIZE, left : left + PICTURE_SIZE]


def centre_of_mass(picture: HostArray) -> HostArray:
    """The centre (x, y), float64 (2,), of a picture (height, width) with some ink; the first pixel is (0, 0)."""
    columns, rows = picture.sum(axis=0, dtype=np.float64), picture.sum(axis=1, dtype=np.float64)
    moments = columns @ np.arange(len(columns)), rows @ np.arange(len(rows))
    return np.array(moments) / rows.sum()


def _fit(box: HostArray, recipe: Recipe, extent_px: float) -> tuple[HostArray, float]:
    """The point of the ink to scale about, (2,), and by how much, so that what is looked at fits `extent_px`."""
    low, high = box
    if not (recipe.crop and recipe.scale) and (low.min() < 0 or high.max() > 1):
        raise ValueError("ink that is not cropped and scaled must lie on the sheet, from (0, 0) to (1, 1)")
    anchor = (low + high) / 2 if recipe.crop else np.full(2, 0.5)
    if not recipe.scale:
        return anchor, float(PICTURE_SIZE)
    if not recipe.crop:
        return anchor, extent_px
    extent = float((high - low).max())
    # Within a few steps of float32 all points are one point; blowing up what separates them would draw rounding noise.
    is_dot = extent <= 64 * np.finfo(np.float32).eps * np.abs(box).max()
    return anchor, 0.0 if is_dot else extent_px / extent


def _place(starts: HostArray, steps: HostArray, pen_width_px: float) -> HostArray:
    """Where (0, 0) must lie in the picture, x and y, for the centre of mass of the pieces to be on the centre pixel."""
    middle = CENTRE_PIXEL + 0.5
    mass = centre_of_mass(_draw(starts + middle, steps, pen_width_px))
    # Pixel i reaches from i to i + 1: its middle, where its mass is, lies at i + 0.5.
    wanted = middle + CENTRE_PIXEL - mass
    reach = np.maximum(np.abs(starts), np.abs(starts + steps)).max(axis=0) + pen_width_px / 2
    # What fills the whole picture cannot be moved at all.
    reach = np.minimum(reach, PICTURE_SIZE / 2)
    return np.clip(wanted, reach, PICTURE_SIZE - reach)


def _segments(points: HostArray, counts: list[int]) -> tuple[HostArray, HostArray]:
    """Start and vector of each line from point to point, (n, 2) each; `counts` says how many points a stroke has.

    The last point of a stroke gives a segment of no length, which makes a dot out of a stroke of one point.
    """
    stroke_ends = np.cumsum(counts) - 1
    vectors = np.diff(points, axis=0, append=points[-1:])
    kept = _apart(vectors) if len(points) > MANY_POINTS else np.full(len(points), True)
    kept[stroke_ends] = True
    vectors[stroke_ends] = 0
    return points[kept], vectors[kept]


def _apart(moves: HostArray) -> HostArray:
    """Which points to keep, bool (n,), given the moves (n, 2) from each to the next, lifted pen included.

    Of the points along a tenth of a pixel the first will do, and of a way too long for that, evenly fewer.
    """
    way_px = np.hypot(*moves.T).cumsum()
    slot = (way_px / max(0.1, way_px[-1] / MAX_SEGMENTS)).astype(np.int64)
    # A point lies at the end of the move before it.
    return np.diff(slot, prepend=[-1, 0])[:-1] > 0


def _pieces(starts: HostArray, vectors: HostArray) -> tuple[HostArray, HostArray]:
    """The same lines cut to pieces of at most PIECE_LENGTH_PX: their starts and vectors, (n, 2) each."""
    counts = np.maximum(np.ceil(np.hypot(*vectors.T) / PIECE_LENGTH_PX), 1).astype(np.int64)
    ends = counts.cumsum()
    position = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
    steps = np.repeat(vectors / counts[:, None], counts, axis=0)
    cut = np.repeat(starts, counts, axis=0) + steps * position[:, None]
    if len(cut) <= CROWDED_PIECES:
        return cut, steps
    # Pieces lie within the picture, the sheet's edge included.
    side = 4 * (PICTURE_SIZE + 2)
    column, row = np.floor((cut + steps / 2) * 4).astype(np.intp).T + side // 2
    tenant = np.full(side * side, -1)
    tenant[row * side + column] = np.arange(len(cut))
    kept = tenant[tenant >= 0]
    return cut[kept], steps[kept]


def _draw(starts: HostArray, steps: HostArray, pen_width_px: float) -> HostArray:
    """Coverage 0..1, float64 (28, 28), of the pieces drawn with a round pen."""
    reach = (PIECE_LENGTH_PX + pen_width_px + EDGE_WIDTH_PX) / 2
    half = int(np.ceil(reach - 0.5))
    window = np.arange(-half, half + 1)
    corner = np.floor(starts + steps / 2)
    # From a piece's start to the middles of the pixels around it. Pieces run along the last axis: they are many.
    x, y = (corner - starts).T[:, None, :] + (window[:, None] + 0.5)
    x, y = x[None, :, :], y[:, None, :]
    step_x, step_y = steps.T
    square = np.maximum(step_x**2 + step_y**2, 1e-12)
    along = np.clip((x * step_x + y * step_y) / square, 0, 1)
    distance_squared = (x - along * step_x) ** 2 + (y - along * step_y) ** 2

    margin = half + 1
    side = PICTURE_SIZE + 2 * margin
    column, row = (corner + margin).astype(np.intp).T
    pixels = (window[:, None] * side + window)[:, :, None] + (row * side + column)
    nearest = np.full(side * side, np.inf)
    np.minimum.at(nearest, pixels.ravel(), distance_squared.ravel())
    nearest = np.sqrt(nearest.reshape(side, side)[margin:-margin, margin:-margin])
    return np.clip((pen_width_px / 2 - nearest) / EDGE_WIDTH_PX + 0.5, 0, 1)
