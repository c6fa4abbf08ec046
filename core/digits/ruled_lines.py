"""The lines of ruled and squared paper, told from a digit's own bars and taken out of the ink.

A rule runs from edge to edge of the picture, level or upright but for a few degrees, and there are several, or it is
finer or fainter than the pen. Where a stroke crosses one, the ink is taller than a rule is thick, and is left alone.
"""

import cv2
import numpy as np

from core.device import HostArray

_SHORTEST_PIECE = 1 / 12  # of the picture's width: so much of a rule is seen between two digits
_BRIDGED = 0.6  # of the picture's width may be hidden by digits
_SHORTEST_RULE = 0.8  # of the way from edge to edge
_STEEPEST = 0.08  # in pixels a pixel
_THICKEST = 1.5  # times the usual width of a stroke
_MANY_RULES = 3
_FINE = 0.6  # of the pen's width


def without_rules(ink: HostArray) -> HostArray:
    """`ink` 0..1 float32 (height, width) without ruled lines, level or upright."""
    level, upright = _level_rules(ink), _level_rules(np.ascontiguousarray(ink.T)).T
    if not (level.any() or upright.any()):
        return ink
    inked = ink > 0
    crossed = level & _tall((inked & ~upright) | level, level)
    crossed |= upright & _tall(((inked & ~level) | upright).T, upright.T).T
    return np.where((level | upright) & ~crossed, 0, ink)


def _stroke_width(inked: HostArray, share: float = 0.5) -> float:
    """How wide strokes are, in pixels: at most this long is that share of the runs of `inked`; 1 if it is empty."""
    lengths = []
    for along in (inked, inked.T):
        edges = np.diff(np.pad(along, ((0, 0), (1, 1))).astype(np.int8), axis=1).ravel()
        lengths.append(np.flatnonzero(edges < 0) - np.flatnonzero(edges > 0))
    runs = np.concatenate(lengths)
    return float(np.quantile(runs, share)) if len(runs) else 1.0


def _level_rules(ink: HostArray) -> HostArray:
    """Which pixels are on ruled lines from left to right: bool (height, width); those of strokes across them too."""
    inked = ink > 0
    width = _stroke_width(inked, 0.25)
    thin = inked & (_opened(inked, 1, int(_THICKEST * width) + 1) == 0)
    # Upright rules and strokes leave gaps in level ones.
    closed = cv2.morphologyEx(thin.astype(np.uint8), cv2.MORPH_CLOSE, _bar(2 * int(3 * width) + 1, 1))
    piece = round(ink.shape[1] * _SHORTEST_PIECE) + 2
    pieces = _opened(cv2.dilate(closed, _bar(1, 3)), piece, 1) & closed
    slope = _slope(pieces, piece)
    rules = np.zeros_like(inked)
    if slope is None:
        return rules
    seen = 0
    for middle in _rules(pieces, slope):
        rule = inked & (np.abs(np.arange(ink.shape[0])[:, np.newaxis] - middle) <= width / 2 + 1)
        rules |= rule
        seen += int(np.count_nonzero((middle >= 0) & (middle < ink.shape[0])))
    pen = _stroke_width(np.where(rules, 0, ink) > 0.5)
    is_fine = ink[rules & thin].sum() < _FINE * pen * seen
    return rules if is_fine or seen >= _MANY_RULES * _SHORTEST_RULE * ink.shape[1] else np.zeros_like(rules)


def _slope(pieces: HostArray, shortest: int) -> float | None:
    """How steep the level lines in `pieces` are, in pixels down for each to the right; None if there are none."""
    _, labels, boxes, _ = cv2.connectedComponentsWithStats(pieces, connectivity=8)
    slopes, lengths = [], []
    for label, (left, top, wide, high, _) in enumerate(boxes[1:], start=1):
        if wide >= shortest and high <= _STEEPEST * wide + 3:
            rows, columns = np.nonzero(labels[top : top + high, left : left + wide] == label)
            slopes.append(np.polynomial.Polynomial.fit(columns, rows, 1).convert().coef[-1])
            lengths.append(wide)
    if not slopes:
        return None
    order = np.argsort(slopes)
    middle = np.searchsorted(np.cumsum(np.array(lengths)[order]), sum(lengths) / 2)
    return float(slopes[order[middle]])


def _rules(pieces: HostArray, slope: float) -> list[HostArray]:
    """The middle row, float64 (width,), of each line that runs from edge to edge."""
    height, width = pieces.shape
    shift = np.round(slope * (np.arange(width) - width / 2)).astype(np.intp)
    margin = int(np.abs(shift).max())
    rows, columns = np.nonzero(pieces)
    levelled = np.zeros((height + 2 * margin, width), np.uint8)
    levelled[rows - shift[columns] + margin, columns] = 1
    bridged = cv2.dilate(levelled, _bar(2 * round(width * _BRIDGED / 2) + 1, 3))
    _, labels, boxes, _ = cv2.connectedComponentsWithStats(bridged)
    middles = []
    for label, (left, top, wide, high, _) in enumerate(boxes[1:], start=1):
        window = np.s_[top : top + high, left : left + wide]
        rows, columns = np.nonzero((labels[window] == label) & (levelled[window] > 0))
        columns += left
        row = float(np.median(rows)) + top - margin
        seen = np.count_nonzero((row + shift >= 0) & (row + shift < height))
        if np.ptp(columns) >= _SHORTEST_RULE * seen and high <= _STEEPEST * width + 4:
            bent = np.polynomial.Polynomial.fit(columns, rows + top - margin, 2, domain=[0, width])
            middles.append(bent(np.arange(width)) + slope * (np.arange(width) - width / 2))
    return middles


def _tall(inked: HostArray, rules: HostArray) -> HostArray:
    """Which pixels of `inked` are in upright runs of more than twice what the level `rules` are thick."""
    if not rules.any():
        return rules
    edges = np.count_nonzero(np.diff(np.pad(rules, ((1, 1), (0, 0))).astype(np.int8), axis=0)) / 2
    return _opened(inked, 1, int(2 * rules.sum() / edges) + 1) > 0


def _opened(inked: HostArray, width: int, height: int) -> HostArray:
    """uint8: what of `inked` a bar of this size fits into."""
    return cv2.morphologyEx(inked.astype(np.uint8), cv2.MORPH_OPEN, _bar(width, height))


def _bar(width: int, height: int) -> HostArray:
    # OpenCV opens with an even bar one pixel beside the place.
    return np.ones((height | 1, width | 1), np.uint8)
