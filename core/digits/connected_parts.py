"""A picture's digits by what is connected: the parts of the ink, grouped as core.digits.segmentation says.

Not every part is of a digit: specks are lighter than any, and what is left of a ruled line or of the paper's edge is
much finer than the pen.
"""

import cv2
import numpy as np

from core.device import HostArray
from core.digits.segmentation import CONTACT, MAX_PARTS, Part, box_gaps, groups_of

_LIGHTEST = 1 / 50  # of the heaviest part's ink
_FINEST = 1 / 4  # of the width of the stroke in which most ink is


def split_picture(ink: HostArray) -> list[Part]:
    """The digits of the picture `ink`, uint8 (height, width), ink bright on 0: row by row, each from left to right.

    What touches stays together, specks and hairlines are left out, and more than MAX_PARTS other parts are one digit.
    """
    labels, stats = _labelled(ink)
    kept = _kept_parts(ink, labels)
    if len(kept) == 0:
        return []
    corner, size = stats[kept, :2], stats[kept, 2:4]
    boxes = np.hstack([corner, corner + size])
    if len(kept) > MAX_PARTS:
        return [_part(ink, labels, kept, boxes)]
    # Their boxes may overlap, but the parts themselves do not meet, or they would be one.
    apart = np.maximum(box_gaps(boxes), 1.01 * CONTACT * size[:, 1].max())
    return [_part(ink, labels, kept[group], boxes[group]) for group in groups_of(boxes, apart)]


def without_dirt(ink: HostArray) -> HostArray:
    """The picture `ink`, uint8 (height, width), ink bright on 0, without specks and hairlines."""
    labels, _ = _labelled(ink)
    kept = _kept_parts(ink, labels)
    return np.where((labels == 0) | np.isin(labels, kept), ink, 0)


def _labelled(ink: HostArray) -> tuple[HostArray, HostArray]:
    """Which part each pixel belongs to, 0 for none, and of each part its left, top, width and height."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats((ink > ink.max() // 4).astype(np.uint8), connectivity=8)
    return labels, stats


def _kept_parts(ink: HostArray, labels: HostArray) -> HostArray:
    """The labels of the parts that may be of a digit."""
    flat = labels.ravel()
    mass = np.bincount(flat, weights=ink.ravel())
    mass[0] = 0
    depth = cv2.distanceTransform(np.pad(labels > 0, 1).astype(np.uint8), cv2.DIST_L2, 3)[1:-1, 1:-1]
    # The mean way out of a part grows with the width of its strokes; it is half a pixel for a hairline.
    width = np.bincount(flat, weights=depth.ravel() - 0.5) / np.maximum(np.bincount(flat), 1)
    order = np.argsort(width)
    usual = width[order[np.searchsorted(np.cumsum(mass[order]), mass.sum() / 2)]]
    kept = (mass > mass.max() * _LIGHTEST) & (width >= usual * _FINEST)
    return np.flatnonzero((mass > 0) & (kept | (mass == mass.max())))


def _part(ink: HostArray, labels: HostArray, kept: HostArray, boxes: HostArray) -> Part:
    # One more pixel on each side holds the soft edge, which is too faint to be labelled.
    left, top = np.maximum(boxes[:, :2].min(axis=0) - 1, 0)
    right, bottom = boxes[:, 2:].max(axis=0) + 1
    window = np.s_[top:bottom, left:right]
    others = (labels[window] > 0) & ~np.isin(labels[window], kept)
    return Part(int(left), int(top), np.where(others, 0, ink[window]))
