"""The line of a curve, drawn smooth and yet fast.

A room of its own because of one fact about Qt: it draws a smooth line of one pixel quickly and any wider one up to a
hundred times more slowly. A wider line is therefore several lines of one pixel, each a little below the last.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPaintEngine, QPainter, QPainterPath, QTransform

from gui import theme


class CurveItem(pg.PlotCurveItem):
    """A `pyqtgraph.PlotCurveItem` of `theme.CURVE_WIDTH_PX` on screens of any resolution, given a cosmetic pen."""

    def __init__(self) -> None:
        super().__init__(antialias=True, skipFiniteCheck=True)

    def paint(self, painter: QPainter, option: Any, widget: Any) -> None:
        if painter.paintEngine().type() == QPaintEngine.Type.SVG:
            painter.setPen(self.opts["pen"])
            painter.drawPath(self._path_in_sight())
            return
        ratio = painter.device().devicePixelRatioF()
        width = theme.CURVE_WIDTH_PX * ratio
        lines = max(math.ceil(width), 1)
        place = painter.transform()
        for line in range(lines):
            below = (width - 1) * (line / (lines - 1) - 0.5) if lines > 1 else 0.0
            painter.setTransform(place * QTransform.fromTranslate(0.0, below / ratio))
            super().paint(painter, option, widget)
        painter.setTransform(place)

    def _path_in_sight(self) -> QPainterPath:
        """The line where it is not below the plot: a drawing in a file is not cut off there as the screen is."""
        floor = float(self.getViewBox().viewRange()[1][0])
        points = list(zip(*map(np.ndarray.tolist, self.getData()), strict=True))
        path = QPainterPath()
        for (x, y), (next_x, next_y) in pairwise(points):
            if max(y, next_y) < floor:
                continue
            start, end = (_lifted(x, y, next_x, next_y, floor), _lifted(next_x, next_y, x, y, floor))
            if path.currentPosition() != start or path.isEmpty():
                path.moveTo(start)
            path.lineTo(end)
        return path


def _lifted(x: float, y: float, other_x: float, other_y: float, floor: float) -> QPointF:
    """(x, y), or if that is below `floor`, the place where the line to the other point comes up."""
    if y >= floor:
        return QPointF(x, y)
    return QPointF(x + (other_x - x) * (floor - y) / (other_y - y), floor)
