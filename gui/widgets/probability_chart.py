"""Ten bars: how sure the network is of each digit.

A room of its own because it is painted afresh with every stroke of the pen and therefore draws itself, without ten
labels and ten progress bars to lay out.
"""

import numpy as np
from PySide6.QtCore import QEvent, QLocale, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from core.device import HostArray
from core.training.hyperparameters import CLASSES
from gui import theme

_ROW_PX = 17
_TALLEST_ROW_PX = 30
_DIGIT_WIDTH_PX = 24


class ProbabilityChart(QWidget):
    """Shows ten probabilities, the highest with a mark, a bolder type and a stronger bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._probabilities: HostArray | None = None
        self.setObjectName("probabilityChart")
        self.setAccessibleName(self.tr("Probabilities of the ten digits"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMaximumHeight(CLASSES * _TALLEST_ROW_PX)
        self.show_probabilities(None)

    def show_probabilities(self, probabilities: HostArray | None) -> None:
        """Show `probabilities`, ten numbers 0..1; None shows empty bars.

        Raises ValueError for any other shape; numbers that are not finite are shown as 0.
        """
        if probabilities is not None and probabilities.shape != (CLASSES,):
            raise ValueError(f"the chart wants probabilities of shape (10,), got {probabilities.shape}")
        if probabilities is not None:
            probabilities = np.clip(np.nan_to_num(probabilities.astype(np.float64), posinf=0.0), 0.0, 1.0)
        self._probabilities = probabilities
        self.setAccessibleDescription(self._describe())
        self.setToolTip(theme.tooltip(self._explain()))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(220, CLASSES * _ROW_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(140, CLASSES * _ROW_PX)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._probabilities is not None:
            digit = min(int(event.y() * CLASSES / max(self.height(), 1)), CLASSES - 1)
            share = QLocale().toString(float(self._probabilities[digit]) * 100, "f", 2)
            text = self.tr("The network gives the digit %1 a probability of %2 %.")
            text = text.replace("%2", share).replace("%1", str(digit))
            QToolTip.showText(event.globalPos(), theme.tooltip(f"{text} {self._explain()}"), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        percent_width = QFontMetricsF(_bold(self.font())).horizontalAdvance(self._percent(1.0)) + theme.SPACING
        row_height = self.height() / CLASSES
        highest = None if self._probabilities is None else int(self._probabilities.argmax())
        for digit in range(CLASSES):
            row = QRectF(0, digit * row_height, self.width(), row_height)
            self._paint_row(painter, digit, row, percent_width, highest=digit == highest)

    def _paint_row(self, painter: QPainter, digit: int, row: QRectF, percent_width: float, *, highest: bool) -> None:
        scheme = theme.colours(self.palette())
        painter.setFont(_bold(self.font()) if highest else self.font())
        painter.setPen(QColor(scheme.text if highest else scheme.muted))
        painter.drawText(row, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, "▸" if highest else "")
        name = QRectF(row.left(), row.top(), _DIGIT_WIDTH_PX, row.height())
        painter.drawText(name, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, str(digit))
        thickness = min(row.height() * 0.55, 12.0)
        left = name.right() + theme.SPACING
        bar = QRectF(left, row.center().y() - thickness / 2, row.right() - percent_width - left, thickness)
        painter.setBrush(QColor(scheme.track))
        self._paint_bar(painter, bar)
        if self._probabilities is None:
            return
        probability = float(self._probabilities[digit])
        painter.setPen(QColor(scheme.text if highest else scheme.muted))
        painter.drawText(row, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._percent(probability))
        painter.setBrush(QColor(scheme.accent if highest else scheme.bar))
        # A bar shorter than its own rounding would vanish; below half a percent there is none.
        if probability >= 0.005:
            self._paint_bar(painter, QRectF(bar.left(), bar.top(), max(bar.width() * probability, 3.0), thickness))

    def _paint_bar(self, painter: QPainter, bar: QRectF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        rounding = min(3.0, bar.width() / 2)
        painter.drawRoundedRect(bar, rounding, rounding)

    def _percent(self, probability: float) -> str:
        return f"{QLocale().toString(probability * 100, 'f', 1)} %"

    def _explain(self) -> str:
        return self.tr(
            "All ten add up to 100 %. A network is always sure of something, even of a scribble: high bars elsewhere "
            "show what it confuses the drawing with."
        )

    def _describe(self) -> str:
        if self._probabilities is None:
            return self.tr("Nothing is drawn.")
        order = np.argsort(-self._probabilities)[:3]
        return ", ".join(f"{digit}: {self._percent(float(self._probabilities[digit]))}" for digit in order)


def _bold(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setWeight(QFont.Weight.Bold)
    return bold
