"""How ink looks on a screen: a smooth line with round ends, whatever its size."""

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainterPath, QPen

from core.digits.ink import Ink


def ink_pen(colour: str, width: float) -> QPen:
    """A round pen, `width` in the units of what it draws."""
    return QPen(QColor(colour), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)


def ink_path(ink: Ink) -> QPainterPath:
    """All strokes of `ink`, in its own units."""
    path = QPainterPath()
    for stroke in ink.strokes:
        path.addPath(stroke_path(stroke.points.tolist()))
    return path


def stroke_path(points: Sequence[Sequence[float]]) -> QPainterPath:
    """A curve through the middle of every two points (x, y), bent by the points themselves."""
    path = QPainterPath(QPointF(*points[0]))
    for (x, y), (next_x, next_y) in pairwise(points[1:]):
        path.quadTo(x, y, (x + next_x) / 2, (y + next_y) / 2)
    if len(points) > 1:
        path.lineTo(*points[-1])
    else:
        # A line without length has no round ends; this one is shorter than can be seen.
        path.lineTo(points[0][0] + 1e-4, points[0][1])
    return path
