"""The sheet of paper in a photograph that shows the table around it.

What is outside the sheet would be taken for the paper, and the sheet for the ink. A sheet is a large bright part of a
picture: a rectangle, seen at an angle perhaps, with strokes of ink on it. An 8 of bright blocks is one too, but for its
holes, which are broader than strokes. What is around may be paper in the shadow, unless it is as plain as a table.
"""

from collections.abc import Sequence

import cv2
import numpy as np

from core.device import HostArray

_SIDE = 300  # pixels; a sheet and the light on it have no finer detail
_LEAST_CONTRAST = 40  # grey levels between the sheet and the table, in the mean
_TABLE_EDGE = 0.2  # of the picture's edge at least
_PLAIN = 25, 0.3  # grey levels, and share of what is usual on a table: what is darker by more is a mark
_LEAST_AREA, _LEAST_INK = 0.05, 0.0003  # of the picture
_MOST_INK = 0.4  # of the sheet
_BROADEST_PEN = 0.28  # of the sheet's shorter side
_STRAIGHT = 0.93  # of its convex hull a sheet fills; a digit, its holes filled, has bays
_RECTANGULAR = 0.88  # of the rectangle around it its hull fills; that of a round digit 0.79
_RIM = 0.012  # of the picture's longer side: the sheet's edge has a shadow, and bends
_SURROUNDINGS = 1 / 12  # of the picture's side


def table_around(grey: HostArray) -> HostArray | None:
    """Where `grey` 0..255 float32 (height, width) shows table beside sheets: bool of its shape; None if nowhere."""
    height, width = grey.shape
    small = cv2.resize(grey, small_size(grey), interpolation=cv2.INTER_AREA)
    smooth = cv2.GaussianBlur(small, (0, 0), 1.0).clip(0, 255).astype(np.uint8)
    _, bright = cv2.threshold(smooth, 0, 1, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    if not bright.any() or border(bright).mean() > 1 - _TABLE_EDGE:
        return None
    if smooth[bright > 0].mean() - smooth[bright == 0].mean() < _LEAST_CONTRAST:
        return None
    rim = np.ones((2 * max(1, round(_RIM * max(small.shape))) + 1,) * 2, np.uint8)
    sheets: HostArray = np.zeros_like(bright)
    for outline in cv2.findContours(bright, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]:
        _, sides, _ = cv2.minAreaRect(outline)
        sheet = _sheet(bright, outline, sides)
        if sheet is not None and _has_strokes(np.where(bright, 0, cv2.erode(sheet, rim)), sides):
            sheets = np.maximum(sheets, sheet)
    if not sheets.any() or not _is_plain(smooth[cv2.erode(1 - sheets, rim) > 0]):
        return None
    return cv2.resize(cv2.erode(sheets, rim), (width, height), interpolation=cv2.INTER_NEAREST) == 0


def _sheet(bright: HostArray, outline: HostArray, sides: Sequence[float]) -> HostArray | None:
    """What lies within an `outline` in `bright`, both uint8 0 or 1 of one shape; None if that is no sheet.

    `sides`: those of the smallest rectangle around it, in pixels.
    """
    shapes = outline, cv2.convexHull(outline)
    filled, sheet = (cv2.fillPoly(np.zeros_like(bright), [shape], 1) for shape in shapes)
    area = np.count_nonzero(sheet)
    if area < _LEAST_AREA * bright.size or np.count_nonzero(filled) < _STRAIGHT * area:
        return None
    # A side of n pixels is n - 1 long, from the middle of its first to that of its last.
    return sheet if area >= _RECTANGULAR * (sides[0] + 1) * (sides[1] + 1) else None


def _has_strokes(ink: HostArray, sides: Sequence[float]) -> bool:
    """Whether `ink`, uint8 0 or 1 (height, width), is that of digits on a sheet of these `sides` in pixels."""
    inked = np.count_nonzero(ink)
    if not _LEAST_INK * ink.size <= inked <= _MOST_INK * sides[0] * sides[1]:
        return False
    return bool(2 * cv2.distanceTransform(ink, cv2.DIST_L2, 3).max() <= _BROADEST_PEN * min(sides))


def _is_plain(levels: HostArray) -> bool:
    """Whether none of `levels`, uint8 (n,), is much darker than most, but for one in 500."""
    darkest, usual = np.percentile(levels, (0.2, 50)) if len(levels) else (0, 255)
    return bool(usual - darkest <= max(_PLAIN[0], _PLAIN[1] * usual))


def covered(plane: HostArray, table: HostArray) -> HostArray:
    """`plane` float32 (height, width) with paper like the nearest in place of the `table`, bool of the same shape."""
    size = small_size(plane)
    paper = cv2.resize((~table).astype(np.float32), size, interpolation=cv2.INTER_AREA)
    light = cv2.resize(np.where(table, 0, plane), size, interpolation=cv2.INTER_AREA)
    reach = _SURROUNDINGS * max(size)
    near, far = (_mean_around(light, paper, sigma) for sigma in (reach, 4 * reach))
    is_near = np.minimum(1, 20 * cv2.GaussianBlur(paper, (0, 0), reach))
    filled = is_near * near + (1 - is_near) * far
    return np.where(table, cv2.resize(filled, plane.shape[::-1]), plane)


def border(picture: HostArray) -> HostArray:
    """The pixels of the four edges of `picture` (height, width), in one row."""
    return np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])


def _mean_around(light: HostArray, paper: HostArray, sigma: float) -> HostArray:
    """Of `light`, the mean of what is around each pixel, counting each as far as it is `paper`."""
    return cv2.GaussianBlur(light, (0, 0), sigma) / np.maximum(cv2.GaussianBlur(paper, (0, 0), sigma), 1e-6)


def small_size(plane: HostArray) -> tuple[int, int]:
    """Width and height of the same shape, at most `_SIDE` a side, in the order OpenCV wants them."""
    height, width = plane.shape
    scale = min(1.0, _SIDE / max(height, width))
    return max(1, round(width * scale)), max(1, round(height * scale))
