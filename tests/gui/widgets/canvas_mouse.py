"""The mouse, drawing on a canvas by real events."""

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.widgets.drawing_canvas import DrawingCanvas

LEFT, RIGHT, NONE = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton, Qt.MouseButton.NoButton
NO_KEY = Qt.KeyboardModifier.NoModifier


def draw(qtbot: QtBot, canvas: DrawingCanvas, *points: tuple[int, int]) -> None:
    qtbot.mousePress(canvas, LEFT, pos=QPoint(*points[0]))
    for point in points[1:]:
        move(canvas, *point)
    qtbot.mouseRelease(canvas, LEFT, pos=QPoint(*points[-1]))


def move(canvas: DrawingCanvas, x: float, y: float, buttons: Qt.MouseButton = LEFT) -> None:
    place = QPointF(x, y)
    globally = QPointF(canvas.mapToGlobal(place))
    QApplication.sendEvent(canvas, QMouseEvent(QEvent.Type.MouseMove, place, globally, NONE, buttons, NO_KEY))
