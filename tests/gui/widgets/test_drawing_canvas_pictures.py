"""Pictures on the canvas: dropped there, put there with the digits found in them, and gone once drawn on."""

import numpy as np
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.digits.ink import Ink
from gui import theme
from gui.ink_history import OpenedPicture
from gui.widgets.drawing_canvas import DrawingCanvas
from tests.gui.widgets.canvas_mouse import LEFT, NO_KEY, draw


def opened_picture() -> OpenedPicture:
    """Half red, half blue, with a digit in the middle of each."""
    pixels = np.zeros((40, 80, 3), np.uint8)
    pixels[:, :40, 0], pixels[:, 40:, 2] = 255, 255
    boxes = np.array([[0.2, 0.2, 0.3, 0.8], [0.7, 0.2, 0.8, 0.8]])
    return OpenedPicture(pixels, (np.zeros((28, 28), np.uint8),) * 2, boxes)


def colour(canvas: DrawingCanvas, x: int, y: int) -> str:
    return canvas.grab().toImage().pixelColor(x, y).name()


def test_a_picture_is_seen_told_and_gone_once_drawn_on(qtbot: QtBot, canvas: DrawingCanvas, inks: list[Ink]) -> None:
    put: list[object] = []
    canvas.picture_put.connect(put.append)
    opened = opened_picture()
    draw(qtbot, canvas, (20, 20), (60, 60))
    canvas.put(opened)
    assert put == [opened]
    assert (canvas.is_empty, canvas.can_erase, canvas.printed()) == (False, False, None)
    assert (colour(canvas, 20, 100), colour(canvas, 180, 100)) == ("#ff0000", "#0000ff")
    draw(qtbot, canvas, (100, 20), (100, 180))
    assert len(inks[-1].strokes) == 1
    assert colour(canvas, 20, 100) not in ("#ff0000", "#0000ff")
    qtbot.keyClick(canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert put == [opened, opened]
    assert colour(canvas, 20, 100) == "#ff0000"
    qtbot.keyClick(canvas, Qt.Key.Key_Delete)
    assert inks[-1].is_empty
    assert canvas.is_empty
    qtbot.keyClick(canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert put == [opened] * 3
    qtbot.keyClick(canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert len(inks[-1].strokes) == 1


def test_the_marked_digit_has_the_stronger_box(canvas: DrawingCanvas) -> None:
    canvas.put(opened_picture())
    accents = []
    for place in (0, 1):
        canvas.mark_digit(place)
        image, accent = canvas.grab().toImage(), QColor(theme.colours(canvas.palette()).accent).name()
        accents.append([[image.pixelColor(x, 100).name() for x in half].count(accent) for half in HALVES])
    assert accents[0][0] > accents[0][1] > 0
    assert accents[1][1] > accents[1][0] > 0


HALVES = (range(100), range(100, 200))


def drop(canvas: DrawingCanvas, mime: QMimeData) -> bool:
    """Whether it was taken where the mouse brought it."""
    middle, copy = canvas.rect().center(), Qt.DropAction.CopyAction
    enter = QDragEnterEvent(middle, copy, mime, LEFT, NO_KEY)
    QApplication.sendEvent(canvas, enter)
    if enter.isAccepted():
        QApplication.sendEvent(canvas, QDropEvent(QPointF(middle), copy, mime, LEFT, NO_KEY))
    return enter.isAccepted()


def test_files_and_pictures_can_be_dropped_and_texts_cannot(canvas: DrawingCanvas, inks: list[Ink]) -> None:
    dropped: list[object] = []
    canvas.picture_dropped.connect(dropped.append)
    mime = QMimeData()
    mime.setText("seven")
    assert not drop(canvas, mime)
    assert dropped == []
    mime.setUrls([QUrl.fromLocalFile("/tmp/seven.jpg")])
    assert drop(canvas, mime)
    assert [str(path) for path in dropped] == ["/tmp/seven.jpg"]
    image = QMimeData()
    image.setImageData(QImage(4, 4, QImage.Format.Format_RGB32))
    assert drop(canvas, image)
    assert isinstance(dropped[-1], bytes)
    assert inks == []
