"""The legend of a plot, which is also where its values are read.

A room of its own because a rich text label can draw no dashes, and a legend that shows a colour alone would be none
for the colour-blind. It stands outside the plot, so that reading a value redraws no curve.
"""

from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gui import theme

_LINE_PX = 24
_LINE_WIDTH_PX = 1.5


class CurveLegend(QWidget):
    """Shows each series' line, name and value, from the right edge inwards; `widest_value` is kept room for."""

    def __init__(self, widest_value: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._widest_value = widest_value
        self._readings: dict[str, str] = {}
        self._names = {
            "train": self.tr("train"),
            "validation": self.tr("validation"),
            "test": self.tr("test"),
            "mine": self.tr("yours"),
        }
        self.setAccessibleName(self.tr("Legend and values"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_readings(self, readings: Mapping[str, str]) -> None:
        """Show for each series the text read at the place pointed at, or at the end of its curve."""
        if self._readings != readings:
            self._readings = dict(readings)
            self.setAccessibleDescription(", ".join(f"{self._names[name]} {text}" for name, text in readings.items()))
            self.update()

    def readings(self) -> Mapping[str, str]:
        """What is shown, by series."""
        return self._readings

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self.fontMetrics().height() + 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        scheme = theme.colours(self.palette())
        painter = QPainter(self)
        metrics = QFontMetricsF(self.font())
        # A value of fixed width: the row must not jump about while numbers change.
        value_width = metrics.horizontalAdvance(self._widest_value)
        gap, middle = theme.SPACING / 2, self.height() / 2
        right = float(self.width())
        for name in reversed(self._readings):
            text = self._names[name]
            name_width = metrics.horizontalAdvance(text)
            left = right - value_width - name_width - _LINE_PX - 2 * gap
            pen = theme.curve_pen(name, scheme)
            pen.setWidthF(_LINE_WIDTH_PX)
            pen.setCosmetic(False)
            painter.setPen(pen)
            painter.drawLine(QPointF(left, middle), QPointF(left + _LINE_PX, middle))
            painter.setPen(QColor(scheme.muted))
            centre = Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(left + _LINE_PX + gap, 0, name_width + 1, self.height()), centre, text)
            painter.setPen(QColor(scheme.text))
            value = QRectF(right - value_width, 0, value_width, self.height())
            painter.drawText(value, centre | Qt.AlignmentFlag.AlignRight, self._readings[name])
            right = left - theme.MARGIN
