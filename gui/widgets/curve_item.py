"""The line of a curve, drawn smooth and yet fast.

A room of its own because of one fact about Qt: it draws a smooth line of one pixel quickly and any wider one up to a
hundred times more slowly. A wider line is therefore several lines of one pixel, each a little below the last.
"""

import math
from typing import Any

import pyqtgraph as pg
from PySide6.QtGui import QPainter, QTransform

from gui import theme


class CurveItem(pg.PlotCurveItem):
    """A `pyqtgraph.PlotCurveItem` of `theme.CURVE_WIDTH_PX` on screens of any resolution, given a cosmetic pen."""

    def __init__(self) -> None:
        super().__init__(antialias=True, skipFiniteCheck=True)

    def paint(self, painter: QPainter, option: Any, widget: Any) -> None:
        ratio = painter.device().devicePixelRatioF()
        width = theme.CURVE_WIDTH_PX * ratio
        lines = max(math.ceil(width), 1)
        place = painter.transform()
        for line in range(lines):
            below = (width - 1) * (line / (lines - 1) - 0.5) if lines > 1 else 0.0
            painter.setTransform(place * QTransform.fromTranslate(0.0, below / ratio))
            super().paint(painter, option, widget)
        painter.setTransform(place)
