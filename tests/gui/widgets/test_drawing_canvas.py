"""The sheet to draw on, drawn on with mouse, pen and keys: what is seen is what is told."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QColor,
    QImage,
    QInputDevice,
    QKeySequence,
    QMouseEvent,
    QPointingDevice,
    QTabletEvent,
)
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.digits.dataset import DigitSets
from core.digits.ink import Ink
from gui import theme
from gui.ink_history import PrintedDigit
from gui.widgets.drawing_canvas import DrawingCanvas
from tests.gui.widgets.canvas_mouse import LEFT, NO_KEY, NONE, RIGHT, draw, move


@pytest.fixture(scope="module")
def pen() -> QPointingDevice:
    kinds, caps = QInputDevice.DeviceType.Stylus, QInputDevice.Capability.Position | QInputDevice.Capability.Pressure
    return QPointingDevice("pen", 7, kinds, QPointingDevice.PointerType.Pen, caps, 1, 3)


def tablet(
    canvas: DrawingCanvas,
    pen: QPointingDevice,
    kind: QEvent.Type,
    place: tuple[float, float],
    *,
    button: Qt.MouseButton = LEFT,
    buttons: Qt.MouseButton = LEFT,
) -> bool:
    at, globally = QPointF(*place), QPointF(canvas.mapToGlobal(QPointF(*place)))
    event = QTabletEvent(kind, pen, at, globally, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, NO_KEY, button, buttons)
    QApplication.sendEvent(canvas, event)
    return event.isAccepted()


def ink_box(image: QImage, colour: str) -> tuple[int, int, int, int] | None:
    """Left, top, right and bottom of what has exactly the ink's colour."""
    pixels = np.array(
        [[image.pixelColor(x, y) == QColor(colour) for x in range(image.width())] for y in range(image.height())]
    )
    if not pixels.any():
        return None
    rows, columns = np.flatnonzero(pixels.any(axis=1)), np.flatnonzero(pixels.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]), int(rows[-1])


def picture(canvas: DrawingCanvas) -> QImage:
    return canvas.grab().toImage()


def ink_colour(canvas: DrawingCanvas) -> str:
    return theme.colours(canvas.palette()).ink


def test_a_stroke_is_kept_in_units_of_the_sheet(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    draw(qtbot, canvas, (20, 40), (100, 100), (180, 160))
    (stroke,) = canvas.ink().strokes
    assert stroke.points == pytest.approx(np.array([[0.1, 0.2], [0.5, 0.5], [0.9, 0.8]]), abs=1e-6)


def test_ink_is_told_at_every_point(qtbot: QtBot, canvas: DrawingCanvas, inks: list[Ink]) -> None:
    draw(qtbot, canvas, (20, 20), (50, 50), (80, 20))
    assert [len(ink.strokes[0].points) for ink in inks] == [1, 2, 3]
    draw(qtbot, canvas, (20, 120), (50, 150))
    assert [len(stroke.points) for stroke in inks[-1].strokes] == [3, 2]


def test_a_click_is_a_dot_that_can_be_seen(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    draw(qtbot, canvas, (100, 100))
    assert [len(stroke.points) for stroke in canvas.ink().strokes] == [1]
    box = ink_box(picture(canvas), ink_colour(canvas))
    assert box is not None
    width = theme.INK_WIDTH * 200
    assert box[2] - box[0] == pytest.approx(width, abs=3)
    assert box[3] - box[1] == pytest.approx(width, abs=3)


def test_two_quick_clicks_are_two_dots(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    qtbot.mouseClick(canvas, LEFT, pos=QPoint(50, 50))
    qtbot.mouseDClick(canvas, LEFT, pos=QPoint(120, 120))
    assert len(canvas.ink().strokes) == 2


def test_what_is_drawn_is_seen_where_it_was_drawn(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    draw(qtbot, canvas, (50, 60), (100, 60), (150, 60))
    box = ink_box(picture(canvas), ink_colour(canvas))
    half = theme.INK_WIDTH * 100
    assert box == pytest.approx((50 - half, 60 - half, 150 + half, 60 + half), abs=2.5)


def test_a_corner_is_rounded_off_not_cut_straight(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    draw(qtbot, canvas, (40, 160), (100, 40), (160, 160))
    box = ink_box(picture(canvas), ink_colour(canvas))
    assert box is not None
    # A curve through the mid-points passes half way between the corner and its chord.
    assert 60 < box[1] < 100


@pytest.mark.parametrize("size", [(400, 400), (400, 300), (170, 360)])
def test_resizing_keeps_the_drawing_in_proportion(
    qtbot: QtBot, canvas: DrawingCanvas, size: tuple[int, int], inks: list[Ink]
) -> None:
    canvas.setMaximumHeight(10_000)
    draw(qtbot, canvas, (50, 60), (100, 60), (150, 60))
    before = canvas.ink()
    heard = len(inks)
    canvas.resize(*size)
    canvas.setMinimumSize(*size)
    canvas.setMaximumHeight(size[1])
    QApplication.processEvents()
    assert np.array_equal(canvas.ink().strokes[0].points, before.strokes[0].points)
    assert len(inks) == heard
    side = min(canvas.width(), canvas.height())
    left = (canvas.width() - side) / 2
    box = ink_box(picture(canvas), ink_colour(canvas))
    assert box is not None
    assert (box[0] + box[2]) / 2 == pytest.approx(left + side / 2, abs=2)
    assert box[2] - box[0] == pytest.approx(side * (0.5 + theme.INK_WIDTH), abs=4)


def test_the_sheet_is_sharp_on_a_fine_screen(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    draw(qtbot, canvas, (50, 50), (150, 150))
    fine = QImage(400, 400, QImage.Format.Format_RGB32)
    fine.setDevicePixelRatio(2)
    canvas.render(fine)
    coarse = picture(canvas).scaled(400, 400)
    assert fine != coarse
    box = ink_box(fine, ink_colour(canvas))
    assert box is not None
    assert box[0] == pytest.approx(100 - theme.INK_WIDTH * 200, abs=3)


def test_beyond_the_edge_the_pen_stays_on_the_sheet(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    draw(qtbot, canvas, (100, 100), (-500, 100), (100, 900))
    points = canvas.ink().strokes[0].points
    assert points.min() == 0.0
    assert points.max() == 1.0


def test_the_mouse_standing_still_adds_nothing(qtbot: QtBot, canvas: DrawingCanvas, inks: list[Ink]) -> None:
    draw(qtbot, canvas, (100, 100), (100, 100), (120, 100), (120, 100))
    assert [len(ink.strokes[0].points) for ink in inks] == [1, 2]


def test_other_buttons_and_moves_without_a_button_draw_nothing(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    qtbot.mousePress(canvas, RIGHT)
    move(canvas, 100, 100, RIGHT)
    qtbot.mouseRelease(canvas, RIGHT)
    move(canvas, 50, 50, NONE)
    assert canvas.ink().is_empty


def test_a_pen_draws_once_and_its_mouse_events_draw_nothing(
    canvas: DrawingCanvas, pen: QPointingDevice, inks: list[Ink]
) -> None:
    for kind, mouse_kind, place in (
        (QEvent.Type.TabletPress, QEvent.Type.MouseButtonPress, (40.25, 40.5)),
        (QEvent.Type.TabletMove, QEvent.Type.MouseMove, (80.75, 60.0)),
        (QEvent.Type.TabletRelease, QEvent.Type.MouseButtonRelease, (120.0, 90.0)),
    ):
        buttons = NONE if kind == QEvent.Type.TabletRelease else LEFT
        assert tablet(canvas, pen, kind, place, buttons=buttons)
        at = QPointF(place[0] + 1, place[1])
        copied = QMouseEvent(mouse_kind, at, QPointF(canvas.mapToGlobal(at)), LEFT, LEFT, NO_KEY, pen)
        QApplication.sendEvent(canvas, copied)
    (stroke,) = canvas.ink().strokes
    assert stroke.points * 200 == pytest.approx(np.array([[40.25, 40.5], [80.75, 60.0], [120.0, 90.0]]), abs=1e-3)
    assert len(inks) == 3


def test_a_pen_that_hovers_draws_nothing(canvas: DrawingCanvas, pen: QPointingDevice) -> None:
    tablet(canvas, pen, QEvent.Type.TabletMove, (50, 50), button=NONE, buttons=NONE)
    assert canvas.ink().is_empty


def test_undo_takes_back_strokes_one_by_one(qtbot: QtBot, canvas: DrawingCanvas, inks: list[Ink]) -> None:
    draw(qtbot, canvas, (20, 20), (50, 50))
    draw(qtbot, canvas, (100, 20), (150, 50))
    canvas.undo()
    assert len(canvas.ink().strokes) == 1
    assert inks[-1].strokes == canvas.ink().strokes
    canvas.undo()
    assert inks[-1].is_empty
    heard = len(inks)
    canvas.undo()
    assert len(inks) == heard


def test_undo_brings_back_what_was_cleared(qtbot: QtBot, canvas: DrawingCanvas, inks: list[Ink]) -> None:
    draw(qtbot, canvas, (20, 20), (50, 50))
    draw(qtbot, canvas, (100, 20), (150, 50))
    strokes, seen = canvas.ink().strokes, picture(canvas)
    canvas.clear()
    assert inks[-1].is_empty
    assert ink_box(picture(canvas), ink_colour(canvas)) is None
    canvas.undo()
    assert canvas.ink().strokes == strokes
    assert picture(canvas) == seen


def test_clearing_an_empty_sheet_is_nothing_to_undo(canvas: DrawingCanvas, inks: list[Ink]) -> None:
    canvas.clear()
    assert not canvas.can_undo
    assert inks == []


def test_what_can_be_undone_and_done_again(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    told: list[tuple[bool, bool]] = []
    canvas.history_changed.connect(lambda: told.append((canvas.can_undo, canvas.can_redo)))
    draw(qtbot, canvas, (20, 20), (50, 50))
    draw(qtbot, canvas, (20, 50), (50, 80))
    canvas.undo()
    canvas.undo()
    canvas.redo()
    assert told == [(True, False), (True, False), (True, True), (False, True), (True, True)]
    draw(qtbot, canvas, (20, 50), (50, 80))
    assert told[-1] == (True, False)


@pytest.mark.parametrize("shifted", [False, True])
def test_keys_bring_back_what_was_undone(qtbot: QtBot, canvas: DrawingCanvas, shifted: bool) -> None:
    draw(qtbot, canvas, (20, 20), (50, 50))
    drawn = canvas.ink().strokes
    canvas.clear()
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    for _ in range(2):
        qtbot.keyClick(canvas, Qt.Key.Key_Z, control)
    assert canvas.ink().is_empty
    qtbot.keyClick(canvas, Qt.Key.Key_Z if shifted else Qt.Key.Key_Y, control | shift if shifted else control)
    assert canvas.ink().strokes == (drawn if shifted or QKeySequence("Ctrl+Y") in redo_keys() else ())


def redo_keys() -> list[QKeySequence]:
    return QKeySequence.keyBindings(QKeySequence.StandardKey.Redo)


def test_the_eraser_takes_whole_strokes_and_undo_gives_each_back(
    qtbot: QtBot, canvas: DrawingCanvas, inks: list[Ink]
) -> None:
    for y in (40, 100, 160):
        draw(qtbot, canvas, (20, y), (180, y))
    strokes = canvas.ink().strokes
    told: list[bool] = []
    canvas.eraser_changed.connect(told.append)
    qtbot.keyClick(canvas, Qt.Key.Key_E)
    draw(qtbot, canvas, (100, 130), (100, 60))
    assert canvas.ink().strokes == (strokes[0], strokes[2])
    assert inks[-1].strokes == (strokes[0], strokes[2])
    canvas.undo()
    assert canvas.ink().strokes == strokes
    qtbot.keyClick(canvas, Qt.Key.Key_E)
    assert told == [True, False]
    draw(qtbot, canvas, (100, 130), (100, 60))
    assert len(canvas.ink().strokes) == 4


def test_the_eraser_between_strokes_changes_nothing(qtbot: QtBot, canvas: DrawingCanvas, inks: list[Ink]) -> None:
    draw(qtbot, canvas, (20, 20), (180, 20))
    heard = len(inks)
    canvas.set_eraser(True)
    draw(qtbot, canvas, (20, 80), (180, 180))
    assert len(inks) == heard
    canvas.undo()
    assert canvas.is_empty


def test_where_nothing_is_left_to_erase_the_pen_draws_again(
    qtbot: QtBot, canvas: DrawingCanvas, mnist: DigitSets
) -> None:
    told: list[bool] = []
    canvas.eraser_changed.connect(told.append)
    canvas.set_eraser(True)
    assert told == []
    for empty in (canvas.clear, canvas.undo, lambda: canvas.put(PrintedDigit(mnist.test.images[7], 9, 7))):
        draw(qtbot, canvas, (20, 20), (180, 20))
        canvas.set_eraser(True)
        empty()
        assert told[-2:] == [True, False]
        canvas.clear()
    draw(qtbot, canvas, (20, 20), (180, 20))
    canvas.set_eraser(True)
    draw(qtbot, canvas, (100, 10), (100, 60), (100, 90))
    assert canvas.is_empty
    assert told[-1] is False
    draw(qtbot, canvas, (20, 20), (180, 20))
    assert not canvas.is_empty


def test_the_width_of_a_line_is_seen_here_and_told_to_nobody(
    qtbot: QtBot, canvas: DrawingCanvas, inks: list[Ink]
) -> None:
    draw(qtbot, canvas, (50, 100), (150, 100))
    told = inks[-1]
    heard = len(inks)
    canvas.set_line_width(0.2)
    box = ink_box(picture(canvas), ink_colour(canvas))
    assert box is not None
    assert box[3] - box[1] == pytest.approx(40, abs=2)
    assert len(inks) == heard
    assert np.array_equal(canvas.ink().strokes[0].points, told.strokes[0].points)


@pytest.mark.parametrize("key", range(10))
def test_digit_keys_say_which_digit_is_meant(qtbot: QtBot, canvas: DrawingCanvas, key: int) -> None:
    said: list[int] = []
    canvas.labelled.connect(said.append)
    qtbot.keyClicks(canvas, str(key))
    qtbot.keyClick(canvas, Qt.Key(Qt.Key.Key_0.value + key), Qt.KeyboardModifier.KeypadModifier)
    assert said == [key, key]


def test_a_printed_digit_is_shown_pixel_by_pixel(canvas: DrawingCanvas, mnist: DigitSets) -> None:
    digit = PrintedDigit(mnist.test.images[7], 9, 7)
    put: list[PrintedDigit] = []
    canvas.digit_put.connect(put.append)
    canvas.put(digit)
    assert put == [digit]
    assert canvas.printed() is digit
    image = picture(canvas)
    # Six pixels of the canvas for one of the digit's, in the middle; ink is dark on light paper.
    assert theme.colours(canvas.palette()) is theme.LIGHT
    shown = [[255 - image.pixelColor(16 + 6 * x + 3, 16 + 6 * y + 3).red() for x in range(28)] for y in range(28)]
    assert np.array_equal(shown, digit.picture)


def test_drawing_on_a_printed_digit_begins_anew_and_undo_brings_it_back(
    qtbot: QtBot, canvas: DrawingCanvas, mnist: DigitSets, inks: list[Ink]
) -> None:
    draw(qtbot, canvas, (20, 20), (50, 50))
    first = canvas.ink().strokes
    canvas.put(PrintedDigit(mnist.test.images[7], 9, 7))
    assert canvas.ink().is_empty
    draw(qtbot, canvas, (100, 20), (150, 50))
    assert canvas.printed() is None
    assert len(inks[-1].strokes) == 1
    canvas.undo()
    printed = canvas.printed()
    assert printed is not None
    assert printed.number == 7
    canvas.undo()
    assert canvas.printed() is None
    assert canvas.ink().strokes == first
    canvas.redo()
    canvas.clear()
    assert canvas.is_empty


@pytest.mark.parametrize("ratio", [1, 2, 3])
def test_an_edge_is_sharp_to_the_pixel_of_every_screen(qtbot: QtBot, canvas: DrawingCanvas, ratio: int) -> None:
    draw(qtbot, canvas, (50, 100), (150, 100))
    seen = [rendered(canvas, ratio), rendered(canvas, ratio % 3 + 1), rendered(canvas, ratio)]
    # There and back again, as from one screen to another.
    assert seen[0] == seen[2] != seen[1]
    column = [seen[0].pixelColor(100 * ratio, y).lightness() for y in range(60 * ratio, 140 * ratio)]
    ink, paper = min(column), max(column)
    assert sum(level not in (ink, paper) for level in column) <= 4
    assert sum(level == ink for level in column) == pytest.approx(theme.INK_WIDTH * 200 * ratio, abs=2)


def rendered(canvas: DrawingCanvas, ratio: int) -> QImage:
    image = QImage(200 * ratio, 200 * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    canvas.render(image)
    return image


def test_undo_while_drawing_takes_back_the_stroke_being_drawn(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    qtbot.mousePress(canvas, LEFT)
    move(canvas, 50, 50)
    qtbot.keyClick(canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert canvas.ink().is_empty
    move(canvas, 150, 50)
    assert canvas.ink().is_empty


@pytest.mark.parametrize("key", [Qt.Key.Key_Delete, Qt.Key.Key_Backspace])
def test_keys_clear_and_undo(qtbot: QtBot, canvas: DrawingCanvas, key: Qt.Key) -> None:
    draw(qtbot, canvas, (20, 20), (50, 50))
    qtbot.keyClick(canvas, key)
    assert canvas.ink().is_empty
    qtbot.keyClick(canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert len(canvas.ink().strokes) == 1


def test_a_stroke_whose_end_was_never_heard_of_ends_with_the_next(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    qtbot.mousePress(canvas, LEFT)
    move(canvas, 50, 50)
    canvas.hide()
    canvas.show()
    draw(qtbot, canvas, (150, 20), (150, 80))
    assert len(canvas.ink().strokes) == 2


def test_an_empty_sheet_says_what_it_is_for(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    muted = theme.colours(canvas.palette()).muted
    assert ink_box(picture(canvas), muted) is not None
    draw(qtbot, canvas, (100, 150))
    assert ink_box(picture(canvas), muted) is None


def test_the_keyboard_focus_can_be_seen(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    canvas.clearFocus()
    without = picture(canvas)
    canvas.activateWindow()
    canvas.setFocus()
    qtbot.waitUntil(canvas.hasFocus)
    assert picture(canvas) != without


def test_ink_once_told_never_changes(qtbot: QtBot, canvas: DrawingCanvas, inks: list[Ink]) -> None:
    draw(qtbot, canvas, (20, 20), (50, 50))
    first = inks[0].strokes[0].points
    assert not first.flags.writeable
    canvas.clear()
    assert len(first) == 1


def test_names_for_tests_and_screen_readers(canvas: DrawingCanvas) -> None:
    assert canvas.objectName() == "drawingCanvas"
    assert canvas.accessibleName()
    assert canvas.focusPolicy() == Qt.FocusPolicy.StrongFocus


def test_a_line_goes_on_where_it_was_begun_though_the_canvas_changes_its_size(
    qtbot: QtBot, canvas: DrawingCanvas
) -> None:
    canvas.resize(200, 200)
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=QPoint(20, 20))
    qtbot.mouseMove(canvas, QPoint(100, 100))
    canvas.resize(120, 120)
    qtbot.mouseMove(canvas, QPoint(110, 100))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=QPoint(110, 100))
    (stroke,) = canvas.ink().strokes
    np.testing.assert_allclose(stroke.points[-1], [0.55, 0.5], atol=0.01)
    canvas.clear()
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=canvas.rect().center())
    np.testing.assert_allclose(canvas.ink().strokes[0].points[0], [0.5, 0.5], atol=0.01)
