"""An axis of a plot: its numbers in the user's language, and painted once instead of at every frame.

A room of its own because pyqtgraph's axis replays a recording of its lines and texts each time a curve moves, which
costs several times what the curves do. This one keeps a picture of itself until its range changes.
"""

import math
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QLocale, QPointF
from PySide6.QtGui import QPaintEngine, QPainter, QPixmap

_OVERHANG_PX = 16


def _leads(exponent: float) -> bool:
    """Whether ten to this power is 1, 2 or 5 times a whole power of ten."""
    return round(10.0 ** (exponent - math.floor(exponent + 1e-9)), 6) in (1.0, 2.0, 5.0)


class CurveAxis(pg.AxisItem):
    """A `pyqtgraph.AxisItem` without powers of ten to work out."""

    def __init__(self, orientation: str) -> None:
        self.picture: QPixmap | None = None
        super().__init__(orientation)
        self._picture_origin = QPointF()
        self.enableAutoSIPrefix(False)

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        locale = QLocale()
        if self.logMode:
            # pyqtgraph offers all of 1 to 9; more than these would stand in each other's way.
            return [locale.toString(10.0**value, "g", 3) if _leads(value) else "" for value in values]
        decimals = max(0, math.ceil(-math.log10(spacing * scale) - 1e-9))
        return [locale.toString(value * scale, "f", decimals) for value in values]

    def paint(self, painter: QPainter, option: Any, widget: Any) -> None:
        if painter.paintEngine().type() == QPaintEngine.Type.SVG:
            specs = self.generateDrawSpecs(painter)
            if specs is not None:
                self.drawPicture(painter, *specs)
            return
        # `picture` is pyqtgraph's: it is set to None wherever something about the axis changes.
        ratio = painter.device().devicePixelRatioF()
        picture: QPixmap | None = self.picture
        if picture is None or picture.devicePixelRatioF() != ratio:
            picture = self.picture = self._draw_picture(ratio)
        painter.drawPixmap(self._picture_origin, picture)

    def _draw_picture(self, ratio: float) -> QPixmap:
        # Numbers at the ends of an axis stick out of it.
        area = self.boundingRect().adjusted(-_OVERHANG_PX, -_OVERHANG_PX, _OVERHANG_PX, _OVERHANG_PX)
        self._picture_origin = area.topLeft()
        picture = QPixmap((area.size() * ratio).toSize().expandedTo(QPixmap(1, 1).size()))
        picture.setDevicePixelRatio(ratio)
        picture.fill("transparent")
        painter = QPainter(picture)
        painter.translate(-area.topLeft())
        specs = self.generateDrawSpecs(painter)
        if specs is not None:
            self.drawPicture(painter, *specs)
        painter.end()
        return picture
