"""The ink of a picture, freed from the paper it is on: its light, shadows, grey, colour, noise and ruled lines.

Which of ink and paper is the darker is found first, for the border and most of the rest is paper. Then the paper under
the ink is what a window wider than any stroke sees around it (a morphological closing), which follows shadows; and how
much ink there is, is the share of the paper's light that it takes, so that a shadow takes nothing away from it.
"""

from collections.abc import Iterator

import cv2
import numpy as np
from PIL import Image

from core.device import HostArray
from core.digits.picture_file import to_grey
from core.digits.ruled_lines import without_rules
from core.digits.sheet import border, covered, small_size, table_around

LEAST_CONTRAST = 20
"""In grey levels of 255: what differs less from its paper is no ink."""

_SURROUNDINGS = 1 / 6  # of the picture's side: what is darker or lighter than these may be ink
_WINDOW = 5  # times the width of a stroke: wider than any stroke, narrower than most shadows
_DARKEST_PAPER = 64  # grey levels: in darker light the camera's noise would be taken for ink
_PALEST = 0.75  # of full ink: what touches the edge and has no darker place is a shadow
_STAINED_EDGE = 0.25  # of the picture's edge is more than digits touch


def find_ink(image: Image.Image) -> HostArray | None:
    """Ink 0..1, float32 (height, width), of an image of mode L, RGB, RGBA or F; None where there is none."""
    grey = to_grey(image)
    table = table_around(grey)
    for around in (table, None) if table is not None else (None,):
        for plane in _planes(image, grey):
            ink = _ink_on_paper(plane if around is None else covered(plane, around))
            if ink is not None and (ink := _without_stains(without_rules(ink))).any():
                return ink
    return None


def _planes(image: Image.Image, grey: HostArray) -> Iterator[HostArray]:
    """Ways to see the image in one plane, the usual one first; each counts only where those before it show no ink."""
    yield grey
    if image.mode == "RGBA":
        yield to_grey(image, "black")
    if image.mode == "RGB":
        # Red ink on green paper may be exactly as bright as the paper.
        yield from (np.asarray(plane, dtype=np.float32) for plane in image.convert("YCbCr").split()[1:])


def _ink_on_paper(grey: HostArray) -> HostArray | None:
    off = grey - _light(grey)
    # Paper is what most of the picture is, so the ink is where the differences are few and large.
    if (off**3).sum() > 0:
        grey, off = 255 - grey, -off
    for _ in range(3):
        paper = _paper(grey, _WINDOW * _pen_width(off < 0.6 * off.min()))
        off = grey - paper
    depth = -255 * off / np.maximum(paper, _DARKEST_PAPER)
    depth -= np.median(depth)
    noise = 1.5 * float(np.median(np.abs(depth)))
    peak = float(depth.max())
    if peak < max(LEAST_CONTRAST, 8 * noise):
        return None
    full = float(np.median(depth[depth > peak / 2]))
    faint = max(0.15 * full, min(4 * noise, 0.5 * full))
    return np.clip((depth - faint) / (full - faint), 0, 1).astype(np.float32)


def _without_stains(ink: HostArray) -> HostArray:
    """`ink` without what reaches in from the edge and is nowhere dark, or fills the edge: shadows, the table."""
    labels: HostArray = cv2.connectedComponents((ink > 0).astype(np.uint8), connectivity=8)[1]
    darkest = np.zeros(int(labels.max()) + 1, np.float32)
    np.maximum.at(darkest, labels.ravel(), ink.ravel())
    edge = np.bincount(border(labels), minlength=len(darkest))
    edge[0] = 0
    stains = np.flatnonzero((edge > 0) & ((darkest < _PALEST) | (edge > _STAINED_EDGE * len(border(labels)))))
    cleaned = np.where(np.isin(labels, stains), 0, ink)
    return cleaned if cleaned.any() else ink


def _light(grey: HostArray) -> HostArray:
    """The mean of the surroundings of each pixel, float32 (height, width)."""
    height, width = grey.shape
    small = cv2.resize(grey, small_size(grey), interpolation=cv2.INTER_AREA)
    return cv2.resize(cv2.GaussianBlur(small, (0, 0), _SURROUNDINGS * np.sqrt(small.size)), (width, height))


def _paper(grey: HostArray, window: float) -> HostArray:
    """The paper's light under dark ink, float32 (height, width): `grey` without what is narrower than `window`."""
    height, width = grey.shape
    small = cv2.resize(grey, small_size(grey), interpolation=cv2.INTER_AREA)
    side = 2 * round(window * max(small.shape) / max(grey.shape) / 2) + 1
    return cv2.resize(cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8)), (width, height))


def _pen_width(inked: HostArray) -> float:
    """The width in pixels of the strokes that most of `inked` bool (height, width) is in."""
    depth = cv2.distanceTransform(np.pad(inked, 1).astype(np.uint8), cv2.DIST_L2, 3)[1:-1, 1:-1]
    # Across a stroke the way out grows from none at its edges to half its width.
    return 4 * float(np.median(depth[inked])) if inked.any() else 1.0
