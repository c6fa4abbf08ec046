"""The legend of a plot of a few series: the line, the symbol and the name of each, in as many rows as it takes.

A room of its own because names of devices are long and a plot is small: a legend inside it would hide what it explains.
"""

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gui import theme

_LINE_PX = 28
_SYMBOL_PX = 7
_LINE_WIDTH_PX = 1.5
_ROW_GAP_PX = 4


class SeriesLegend(QWidget):
    """Shows names in the order given; `styles` name what `theme.series_pen` knows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: list[tuple[str, str]] = []
        self.setAccessibleName(self.tr("Legend"))
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSizePolicy(policy)
        self._make_room()

    def show_entries(self, entries: Sequence[tuple[str, str]]) -> None:
        """Show these (name, style) pairs."""
        if self._entries != list(entries):
            self._entries = list(entries)
            self.setAccessibleDescription(", ".join(name for name, _ in entries))
            self._make_room()
            self.update()

    def names(self) -> list[str]:
        """What is shown."""
        return [name for name, _ in self._entries]

    def sizeHint(self) -> QSize:
        return QSize(200, self._row_height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def paintEvent(self, event: QPaintEvent) -> None:
        scheme = theme.colours(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for (name, style), place in zip(self._entries, self._places(), strict=True):
            middle = place.center().y()
            pen = QPen(theme.series_pen(style, scheme))
            pen.setWidthF(_LINE_WIDTH_PX)
            pen.setCosmetic(False)
            painter.setPen(pen)
            painter.drawLine(QPointF(place.left(), middle), QPointF(place.left() + _LINE_PX, middle))
            if style in theme.CURVE_SYMBOLS:
                self._draw_symbol(painter, QPointF(place.left() + _LINE_PX / 2, middle), style)
            painter.setPen(QColor(scheme.muted))
            text = place.adjusted(_LINE_PX + theme.SPACING / 2, 0, 0, 0)
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, name)

    def _draw_symbol(self, painter: QPainter, centre: QPointF, style: str) -> None:
        colour = QColor(theme.series_colour(style, theme.colours(self.palette())))
        painter.save()
        painter.translate(centre)
        symbol = theme.CURVE_SYMBOLS[style]
        pg.graphicsItems.ScatterPlotItem.drawSymbol(painter, symbol, _SYMBOL_PX, pg.mkPen(None), pg.mkBrush(colour))
        painter.restore()

    def _places(self) -> list[QRectF]:
        """Where each entry stands, left to right and row by row."""
        metrics = QFontMetricsF(self.font())
        places: list[QRectF] = []
        x = y = 0.0
        for name, _ in self._entries:
            width = _LINE_PX + theme.SPACING / 2 + metrics.horizontalAdvance(name) + 1
            if x > 0 and x + width > self.width():
                x, y = 0.0, y + self._row_height()
            places.append(QRectF(x, y, width, self._row_height()))
            x += width + theme.MARGIN
        return places

    def _row_height(self) -> int:
        return self.fontMetrics().height() + _ROW_GAP_PX

    def _make_room(self) -> None:
        places = self._places()
        self.setFixedHeight(round(places[-1].bottom()) if places else self._row_height())
