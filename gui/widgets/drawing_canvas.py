"""The sheet to draw a digit on.

A room of its own because it turns a mouse, a pen or a finger into `Ink` and knows nothing of pixels: points are kept
in units of the sheet's side, so that it may be resized and shown on any screen without the drawing changing.
"""

from itertools import pairwise

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHideEvent,
    QInputDevice,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPointingDevice,
    QResizeEvent,
    QTabletEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.digits.ink import Ink, Stroke
from gui import theme

_SMALLEST_SIDE_PX = 160
_MODEST_SIDE_PX = 200
_FRAME_PX = 2
_PENS = (QInputDevice.DeviceType.Stylus, QInputDevice.DeviceType.Airbrush, QInputDevice.DeviceType.Puck)


class DrawingCanvas(QWidget):
    """A square sheet; `ink_changed` carries all that is on it after every point, Clear and Undo."""

    ink_changed = Signal(object)
    undo_available_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._strokes: tuple[Stroke, ...] = ()
        self._before: list[tuple[Stroke, ...]] = []
        self._points: list[tuple[float, float]] = []
        self._pen_is_down = False
        self._path = QPainterPath()
        self.setObjectName("drawingCanvas")
        self.setAccessibleName(self.tr("Drawing canvas"))
        explanation = self.tr(
            "Draw a digit with the mouse, a pen or a finger, as large as you like; the network answers while you draw. "
            "Delete clears the canvas, Ctrl+Z takes back the last stroke."
        )
        self.setAccessibleDescription(explanation)
        self.setToolTip(theme.tooltip(explanation))
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(_SMALLEST_SIDE_PX, _SMALLEST_SIDE_PX)

    def ink(self) -> Ink:
        """All that is on the sheet, the stroke being drawn included."""
        return Ink((*self._strokes, Stroke(np.array(self._points))) if self._points else self._strokes)

    def clear(self) -> None:
        """Empty the sheet; `undo` brings the drawing back."""
        self._lift_pen()
        if self._strokes:
            self._remember()
            self._replace(())

    def undo(self) -> None:
        """Take back the last stroke or the last Clear."""
        self._lift_pen()
        if self._before:
            self._replace(self._before.pop())
            if not self._before:
                self.undo_available_changed.emit(False)

    def sizeHint(self) -> QSize:
        # Modest, and the sheet grows into what room there is: scroll areas ask for this much before they scroll.
        return QSize(_MODEST_SIDE_PX, _MODEST_SIDE_PX)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and not _is_by_pen(event):
            self._put_pen_down(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and not _is_by_pen(event):
            self._move_pen(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and not _is_by_pen(event):
            self._move_pen(event.position())
            self._lift_pen()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        # Two dots made quickly are two dots.
        self.mousePressEvent(event)

    def tabletEvent(self, event: QTabletEvent) -> None:
        # An accepted pen event is not sent again as a mouse event.
        event.accept()
        if event.type() == QEvent.Type.TabletPress and event.button() == Qt.MouseButton.LeftButton:
            self._put_pen_down(event.position())
        elif event.type() == QEvent.Type.TabletMove and event.buttons() & Qt.MouseButton.LeftButton:
            self._move_pen(event.position())
        elif event.type() == QEvent.Type.TabletRelease and event.button() == Qt.MouseButton.LeftButton:
            self._move_pen(event.position())
            self._lift_pen()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.clear()
        elif event.matches(QKeySequence.StandardKey.Undo):
            self.undo()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        # The release goes elsewhere once the canvas is gone.
        self._lift_pen()
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # No taller than wide: room above and below the sheet would look like more of it. Never below the size hint, or
        # a scroll area around it would forever ask for less height with its scroll bar and for more without.
        self.setMaximumHeight(max(self.width(), _MODEST_SIDE_PX))

    def paintEvent(self, event: QPaintEvent) -> None:
        scheme = theme.colours(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        sheet = self._sheet()
        frame_width = _FRAME_PX if self.hasFocus() else 1
        painter.setPen(QPen(QColor(scheme.accent if self.hasFocus() else scheme.border), frame_width))
        painter.setBrush(QColor(scheme.paper))
        inset = frame_width / 2
        painter.drawRoundedRect(sheet.adjusted(inset, inset, -inset, -inset), theme.RADIUS + 2, theme.RADIUS + 2)
        if not self._strokes and not self._points:
            painter.setPen(QColor(scheme.muted))
            painter.setFont(theme.title_font(self.font()))
            painter.drawText(sheet, Qt.AlignmentFlag.AlignCenter, self.tr("Draw a digit"))
            return
        painter.setClipRect(sheet.adjusted(_FRAME_PX, _FRAME_PX, -_FRAME_PX, -_FRAME_PX))
        painter.translate(sheet.topLeft())
        painter.scale(sheet.width(), sheet.height())
        self._paint_ink(painter, QColor(scheme.ink))

    def _paint_ink(self, painter: QPainter, colour: QColor) -> None:
        round_cap, round_join = Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
        painter.setPen(QPen(colour, theme.INK_WIDTH, Qt.PenStyle.SolidLine, round_cap, round_join))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self._path)
        if self._points:
            painter.drawPath(_smooth_path(self._points))

    def _sheet(self) -> QRectF:
        side = min(self.width(), self.height())
        return QRectF((self.width() - side) / 2, (self.height() - side) / 2, side, side)

    def _put_pen_down(self, position: QPointF) -> None:
        self._lift_pen()
        self._pen_is_down = True
        self._add_point(position)

    def _move_pen(self, position: QPointF) -> None:
        if self._pen_is_down:
            self._add_point(position)

    def _lift_pen(self) -> None:
        self._pen_is_down = False
        if self._points:
            self._remember()
            stroke = Stroke(np.array(self._points))
            self._path.addPath(_smooth_path(self._points))
            self._points = []
            self._strokes = (*self._strokes, stroke)

    def _add_point(self, position: QPointF) -> None:
        sheet = self._sheet()
        # Ink beyond the edge could not be seen and would still move the digit away from the centre.
        x = min(max((position.x() - sheet.left()) / sheet.width(), 0.0), 1.0)
        y = min(max((position.y() - sheet.top()) / sheet.height(), 0.0), 1.0)
        if self._points and self._points[-1] == (x, y):
            return
        self._points.append((x, y))
        self._update_around_last_points(sheet)
        self.ink_changed.emit(self.ink())

    def _update_around_last_points(self, sheet: QRectF) -> None:
        if len(self._points) < 2 and not self._strokes:
            self.update()
            return
        xs, ys = zip(*self._points[-4:], strict=True)
        reach = theme.INK_WIDTH
        left, top = min(xs) - reach, min(ys) - reach
        width, height = max(xs) + reach - left, max(ys) + reach - top
        side = sheet.width()
        touched = QRectF(sheet.left() + left * side, sheet.top() + top * side, width * side, height * side)
        self.update(touched.toAlignedRect())

    def _remember(self) -> None:
        self._before.append(self._strokes)
        if len(self._before) == 1:
            self.undo_available_changed.emit(True)

    def _replace(self, strokes: tuple[Stroke, ...]) -> None:
        self._strokes = strokes
        self._path = QPainterPath()
        for stroke in strokes:
            self._path.addPath(_smooth_path([(float(x), float(y)) for x, y in stroke.points]))
        self.update()
        self.ink_changed.emit(self.ink())


def _is_by_pen(event: QMouseEvent) -> bool:
    """Whether the system made a mouse event of a pen's: the pen's own event was enough."""
    return event.device().type() in _PENS or event.pointerType() == QPointingDevice.PointerType.Pen


def _smooth_path(points: list[tuple[float, float]]) -> QPainterPath:
    """A curve through the middle of every two points, bent by the points themselves."""
    path = QPainterPath(QPointF(*points[0]))
    for (x, y), (next_x, next_y) in pairwise(points[1:]):
        path.quadTo(x, y, (x + next_x) / 2, (y + next_y) / 2)
    if len(points) > 1:
        path.lineTo(*points[-1])
    else:
        # A line without length has no round ends; this one is shorter than can be seen.
        path.lineTo(points[0][0] + 1e-4, points[0][1])
    return path
