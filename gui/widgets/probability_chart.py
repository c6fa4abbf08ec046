"""Eleven bars: how sure the network is of each digit, and that the drawing is none.

A room of its own because it is painted afresh with every stroke of the pen and therefore draws itself, without eleven
labels and progress bars to lay out.
"""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QLineF, QLocale, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from core.device import HostArray
from core.digits.downloads import DIGITS
from core.predictor import Answer
from gui import theme
from gui.read_number import NO_DIGIT, shares

_ROWS = NO_DIGIT + 1
_ROW_PX = 15
_TALLEST_ROW_PX = 30


class ProbabilityChart(QWidget):
    """Shows the shares of eleven answers, that which is given with a mark, a bolder type and a stronger bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shares: HostArray | None = None
        self._marked: int | None = None
        self._threshold = 0.0
        self._classes: Sequence[str] = DIGITS
        self.setObjectName("probabilityChart")
        self.setAccessibleName(self.tr("Probability of each answer"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMaximumHeight(_ROWS * _TALLEST_ROW_PX)
        self.show_answer(None)

    def show_classes(self, classes: Sequence[str]) -> None:
        """Name the bars so, 0 first."""
        self._classes = classes
        self.setAccessibleDescription(self._describe())
        self.update()

    def show_answer(self, answer: Answer | None) -> None:
        """Show how sure the network is of each answer; None shows empty bars. What is not finite is shown as 0."""
        if answer is None:
            self._shares = self._marked = None
        else:
            self._shares = np.clip(np.nan_to_num(shares(answer), posinf=0.0), 0.0, 1.0)
            self._marked = int(self._shares.argmax()) if answer.digit is None else answer.digit
        self.setAccessibleDescription(self._describe())
        self.setToolTip(theme.tooltip(self._explain()))
        self.update()

    @Slot(float)
    def show_threshold(self, threshold: float) -> None:
        """Mark the share (0..1) from which a digit is an answer; 0 marks nothing."""
        self._threshold = threshold
        self.setToolTip(theme.tooltip(self._explain()))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(220, _ROWS * _ROW_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(140, _ROWS * _ROW_PX)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._shares is not None:
            place = min(int(event.y() * _ROWS / max(self.height(), 1)), NO_DIGIT)
            share = QLocale().toString(float(self._shares[place]) * 100, "f", 2)
            text = self.tr("The network gives the digit %1 a probability of %2 %.")
            if place == NO_DIGIT or self._classes != DIGITS:
                text = self.tr("The network gives “%1” a probability of %2 %.")
            text = text.replace("%2", share).replace("%1", self._name(place))
            QToolTip.showText(event.globalPos(), theme.tooltip(f"{text}\n{self._explain()}"), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left = self._name_width() + theme.SPACING
        percent_width = QFontMetricsF(_bold(self.font())).horizontalAdvance(_percent(1.0)) + theme.SPACING
        track = QRectF(left, 0, self.width() - percent_width - left, self.height() / _ROWS)
        for place in range(_ROWS):
            self._paint_row(painter, place, track.translated(0, place * track.height()))
        if self._threshold > 0:
            painter.setPen(theme.mark_pen(theme.colours(self.palette())))
            x = track.left() + self._threshold * track.width()
            painter.drawLine(QLineF(x, 0, x, NO_DIGIT * track.height()))

    def _paint_row(self, painter: QPainter, place: int, track: QRectF) -> None:
        """One name, bar and share; the bar lies within `track`."""
        scheme = theme.colours(self.palette())
        is_marked = place == self._marked
        row = QRectF(0, track.top(), self.width(), track.height())
        painter.setFont(_bold(self.font()) if is_marked else self.font())
        painter.setPen(QColor(scheme.text if is_marked else scheme.muted))
        name = QRectF(0, row.top(), track.left() - theme.SPACING, row.height())
        words = f"▸ {self._name(place)}" if is_marked else self._name(place)
        painter.drawText(name, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)
        thickness = min(row.height() * 0.55, 12.0)
        bar = QRectF(track.left(), row.center().y() - thickness / 2, track.width(), thickness)
        if self._shares is not None:
            # A network that was not measured for it gives nothing to "no digit", which is not to know that it is one.
            says_nothing = place == NO_DIGIT and self._shares[place] == 0
            share = "–" if says_nothing else _percent(float(self._shares[place]))
            painter.drawText(row, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, share)
        painter.setBrush(QColor(scheme.track))
        self._paint_bar(painter, bar)
        # A bar shorter than its own rounding would vanish; below half a percent there is none.
        if self._shares is not None and (length := float(self._shares[place])) >= 0.005:
            quiet = scheme.disabled if place == NO_DIGIT else scheme.bar
            painter.setBrush(QColor(scheme.accent if is_marked and place != NO_DIGIT else quiet))
            self._paint_bar(painter, QRectF(bar.left(), bar.top(), max(bar.width() * length, 3.0), thickness))

    def _name(self, place: int) -> str:
        if place < NO_DIGIT:
            return self._classes[place]
        return self.tr("no digit") if self._classes == DIGITS else self.tr("none")

    def _name_width(self) -> float:
        """Of the column of names, with room for the mark before them."""
        metrics = QFontMetricsF(_bold(self.font()))
        return max(metrics.horizontalAdvance(f"▸ {self._name(place)}") for place in range(_ROWS))

    def _paint_bar(self, painter: QPainter, bar: QRectF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        rounding = min(3.0, bar.width() / 2)
        painter.drawRoundedRect(bar, rounding, rounding)

    def _explain(self) -> str:
        words = self.tr(
            "All bars add up to 100 %; high ones beside the answer show what the network confuses the drawing with. "
            "Whatever resembles nothing it has learned goes to the last, once the training is over."
        )
        if self._threshold > 0:
            words += "\n" + self.tr("A digit is an answer once its bar reaches the dotted line; the slider moves it.")
        return words

    def _describe(self) -> str:
        if self._shares is None:
            return self.tr("Nothing is drawn.")
        order = np.argsort(-self._shares)[:3]
        return ", ".join(f"{self._name(int(place))}: {_percent(float(self._shares[place]))}" for place in order)


def _percent(share: float) -> str:
    return f"{QLocale().toString(share * 100, 'f', 1)} %"


def _bold(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setWeight(QFont.Weight.Bold)
    return bold
