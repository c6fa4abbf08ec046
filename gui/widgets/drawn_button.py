"""A button that shows a small drawing: sharp at every scale, in the scheme's own colours, and without picture files."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QWidget

from gui import theme

_GRID = 24
"""Drawings are made on a grid of so many units each way."""

_ICON_PX = 17
_SIZE_PX = (26, 30)
_LINE = 2.0


class DrawnButton(QPushButton):
    """Shows `drawing` by its outline, and filled where `filled`; one that is checked wears the accent colour."""

    def __init__(self, drawing: QPainterPath, *, filled: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drawing = drawing
        self._filled = filled
        self.setAutoDefault(False)
        self.setFixedSize(*_SIZE_PX)

    def show_drawing(self, drawing: QPainterPath) -> None:
        """Show another drawing from now on."""
        self._drawing = drawing
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(*_SIZE_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        scheme = theme.colours(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isChecked():
            painter.setPen(QPen(QColor(scheme.accent), 1.5))
            painter.setBrush(QColor(scheme.hover))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), theme.RADIUS, theme.RADIUS)
        colour = QColor(scheme.accent if self.isChecked() else scheme.text if self.isEnabled() else scheme.disabled)
        painter.translate(QRectF(self.rect()).center() - QPointF(_ICON_PX / 2, _ICON_PX / 2))
        painter.scale(_ICON_PX / _GRID, _ICON_PX / _GRID)
        round_cap, round_join = Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
        painter.setPen(QPen(colour, _LINE, Qt.PenStyle.SolidLine, round_cap, round_join))
        painter.setBrush(colour if self._filled else Qt.BrushStyle.NoBrush)
        painter.drawPath(self._drawing)


def lines(*chains: tuple[tuple[float, float], ...]) -> QPainterPath:
    """A drawing of straight lines from point to point on the grid of 24 by 24."""
    path = QPainterPath()
    for first, *others in chains:
        path.moveTo(*first)
        for point in others:
            path.lineTo(*point)
    return path


def dot(radius: float) -> QPainterPath:
    """A drawing of a round dot in the middle."""
    path = QPainterPath()
    path.addEllipse(QPointF(_GRID / 2, _GRID / 2), radius, radius)
    return path
