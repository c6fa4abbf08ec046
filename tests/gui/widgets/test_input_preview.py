"""What the network sees, pixel by pixel."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.widgets.input_preview import InputPreview


@pytest.fixture
def preview(qtbot: QtBot) -> InputPreview:
    preview = InputPreview()
    qtbot.addWidget(preview)
    preview.resize(84, 84)
    preview.show()
    return preview


def test_every_pixel_is_shown_sharp_and_in_its_place(preview: InputPreview, rng: np.random.Generator) -> None:
    image = rng.integers(0, 256, (28, 28), dtype=np.uint8)
    preview.show_image(image)
    shown = preview.grab().toImage()
    # The corners are rounded.
    for row in range(2, 26):
        for column in range(2, 26):
            grey = int(image[row, column])
            block = {shown.pixelColor(3 * column + x, 3 * row + y).name() for x in range(3) for y in range(3)}
            assert block == {QColor(grey, grey, grey).name()}


def test_it_keeps_what_it_was_shown(preview: InputPreview) -> None:
    image = np.full((28, 28), 200, np.uint8)
    preview.show_image(image)
    image[:] = 0
    assert preview.grab().toImage().pixelColor(42, 42).red() == 200


def test_none_empties_it(preview: InputPreview) -> None:
    preview.show_image(np.zeros((28, 28), np.uint8))
    assert preview.grab().toImage().pixelColor(42, 42) == QColor("black")
    preview.show_image(None)
    assert preview.grab().toImage().pixelColor(42, 42) != QColor("black")


@pytest.mark.parametrize("image", [np.zeros((28, 27), np.uint8), np.zeros((28, 28)), np.zeros(784, np.uint8)])
def test_anything_else_is_refused(preview: InputPreview, image: np.ndarray) -> None:
    with pytest.raises(ValueError, match="uint8 of shape"):
        preview.show_image(image)


def test_views_that_are_not_contiguous_are_shown_rightly(preview: InputPreview) -> None:
    image = np.zeros((28, 56), np.uint8)
    image[:, ::2] = np.arange(28, dtype=np.uint8)[:, None] * 9
    preview.show_image(image[:, ::2])
    assert preview.grab().toImage().pixelColor(42, 3 * 20 + 1).red() == 180


@pytest.fixture
def moves(preview: InputPreview) -> list[tuple[int, int]]:
    heard: list[tuple[int, int]] = []
    preview.moved.connect(lambda right, down: heard.append((right, down)))
    return heard


def drag(qtbot: QtBot, preview: InputPreview, start: tuple[int, int], *way: tuple[int, int]) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    qtbot.mousePress(preview, left, pos=QPoint(*start))
    for place in way:
        at, globally = QPointF(*place), QPointF(preview.mapToGlobal(QPointF(*place)))
        no_key = Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(preview, QMouseEvent(QEvent.Type.MouseMove, at, globally, none, left, no_key))
    qtbot.mouseRelease(preview, left, pos=QPoint(*way[-1]))


def test_dragging_moves_by_whole_pixels_of_the_picture(
    qtbot: QtBot, preview: InputPreview, moves: list[tuple[int, int]]
) -> None:
    preview.show_image(np.zeros((28, 28), np.uint8))
    # Three pixels of the screen are one of the picture.
    drag(qtbot, preview, (40, 40), (41, 40), (46, 40), (46, 31))
    assert moves == [(2, 0), (2, -3)]
    # The next drag goes on from there; beyond half a picture there is nothing to see.
    drag(qtbot, preview, (40, 40), (43, 40), (400, 40))
    assert moves[2:] == [(3, -3), (14, -3)]


def test_arrow_keys_move_and_home_or_a_double_click_puts_back(
    qtbot: QtBot, preview: InputPreview, moves: list[tuple[int, int]]
) -> None:
    preview.show_image(np.zeros((28, 28), np.uint8))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Home):
        qtbot.keyClick(preview, key)
    assert moves == [(1, 0), (2, 0), (2, 1), (1, 1), (1, 0), (0, 0)]
    qtbot.keyClick(preview, Qt.Key.Key_Up)
    qtbot.mouseDClick(preview, Qt.MouseButton.LeftButton)
    assert moves[6:] == [(0, -1), (0, 0)]


def test_a_new_sheet_lies_in_its_place(qtbot: QtBot, preview: InputPreview, moves: list[tuple[int, int]]) -> None:
    preview.show_image(np.zeros((28, 28), np.uint8))
    qtbot.keyClick(preview, Qt.Key.Key_Up)
    preview.show_image(np.ones((28, 28), np.uint8))
    assert moves == [(0, -1)]
    preview.show_image(None)
    assert moves == [(0, -1), (0, 0)]


def test_an_empty_frame_cannot_be_moved(qtbot: QtBot, preview: InputPreview, moves: list[tuple[int, int]]) -> None:
    drag(qtbot, preview, (40, 40), (60, 60))
    qtbot.keyClick(preview, Qt.Key.Key_Right)
    assert moves == []


def test_it_explains_itself(preview: InputPreview) -> None:
    assert preview.objectName() == "inputPreview"
    assert "network sees" in preview.toolTip()
    assert preview.accessibleName()
