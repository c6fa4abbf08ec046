"""The sheet of paper in a photograph that shows the table around it.

What is outside the sheet would be taken for the paper, and the sheet for the ink. A sheet is the largest bright part of
a picture: a rectangle, seen at an angle perhaps, as no bright digit is, with ink on it. Around it is the dark table, or
at some of its sides; but there only what has no marks is table, for it may as well be paper in the shadow.
"""

import cv2
import numpy as np

from core.device import HostArray

_SIDE = 300  # pixels; a sheet has no finer detail
_LEAST_CONTRAST = 40  # grey levels between the sheet and the table, in the mean
_TABLE_EDGE, _TABLE_ALL_ROUND = 0.2, 0.9  # of the picture's edge
_PLAIN = 25, 0.3  # grey levels, and share of what is usual on a table: what is darker by more is a mark
_LEAST_AREA, _LEAST_INK = 0.05, 0.0003  # of the picture
_MOST_INK = 0.4  # of the sheet
_STRAIGHT = 0.93  # of its convex hull a sheet fills; a digit, its holes filled, has bays
_RECTANGULAR = 0.88  # of the rectangle around it its hull fills; that of a round digit 0.79
_RIM = 0.012  # of the picture's longer side: the sheet's edge has a shadow, and bends
_SURROUNDINGS = 1 / 12  # of the picture's side


def table_around(grey: HostArray) -> HostArray | None:
    """Where `grey` 0..255 float32 (height, width) shows table beside a sheet: bool of its shape; None if nowhere."""
    height, width = grey.shape
    small = cv2.resize(grey, _small_size(grey), interpolation=cv2.INTER_AREA)
    smooth = cv2.GaussianBlur(small, (0, 0), 1.0).clip(0, 255).astype(np.uint8)
    _, bright = cv2.threshold(smooth, 0, 1, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    edge = 1 - border(bright).mean()
    if not bright.any() or edge < _TABLE_EDGE:
        return None
    if smooth[bright > 0].mean() - smooth[bright == 0].mean() < _LEAST_CONTRAST:
        return None
    sheet = _sheet(bright)
    if sheet is None:
        return None
    rim = np.ones((2 * max(1, round(_RIM * max(small.shape))) + 1,) * 2, np.uint8)
    inside, outside = cv2.erode(sheet, rim), cv2.erode(1 - sheet, rim)
    ink = np.count_nonzero((inside > 0) & (bright == 0))
    if not _LEAST_INK * small.size <= ink <= _MOST_INK * np.count_nonzero(inside):
        return None
    if edge < _TABLE_ALL_ROUND and not _is_plain(smooth[outside > 0]):
        return None
    return cv2.resize(inside, (width, height), interpolation=cv2.INTER_NEAREST) == 0


def _is_plain(levels: HostArray) -> bool:
    """Whether none of `levels`, uint8 (n,), is much darker than most, but for one in 500."""
    darkest, usual = np.percentile(levels, (0.2, 50)) if len(levels) else (0, 255)
    return bool(usual - darkest <= max(_PLAIN[0], _PLAIN[1] * usual))


def _sheet(bright: HostArray) -> HostArray | None:
    """The largest part of `bright`, without holes, both uint8 0 or 1 of one shape; None if that is no sheet."""
    outlines, _ = cv2.findContours(bright, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = max(outlines, key=cv2.contourArea)
    hull, (_, sides, _) = cv2.convexHull(outline), cv2.minAreaRect(outline)
    filled, sheet = (cv2.fillPoly(np.zeros_like(bright), [shape], 1) for shape in (outline, hull))
    area = np.count_nonzero(sheet)
    if area < _LEAST_AREA * bright.size or np.count_nonzero(filled) < _STRAIGHT * area:
        return None
    # A side of n pixels is n - 1 long, from the middle of its first to that of its last.
    if area < _RECTANGULAR * (sides[0] + 1) * (sides[1] + 1):
        return None
    return sheet


def covered(plane: HostArray, table: HostArray) -> HostArray:
    """`plane` float32 (height, width) with paper like the nearest in place of the `table`, bool of the same shape."""
    size = _small_size(plane)
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


def _small_size(plane: HostArray) -> tuple[int, int]:
    """Width and height of the same shape, at most `_SIDE` a side, in the order OpenCV wants them."""
    height, width = plane.shape
    scale = min(1.0, _SIDE / max(height, width))
    return max(1, round(width * scale)), max(1, round(height * scale))
