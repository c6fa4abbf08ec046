"""Mouse, tablet and fingers on the canvas, by the events that Qt sends: every movement counts once."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEventPoint, QInputDevice, QMouseEvent, QPointingDevice, QTabletEvent, QTouchEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.digits.ink import Ink
from gui.widgets.drawing_canvas import DrawingCanvas

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
NO_KEY = Qt.KeyboardModifier.NoModifier
PRESS, MOVE, RELEASE = QEvent.Type.TabletPress, QEvent.Type.TabletMove, QEvent.Type.TabletRelease
MOUSE_KINDS = {
    PRESS: QEvent.Type.MouseButtonPress,
    MOVE: QEvent.Type.MouseMove,
    RELEASE: QEvent.Type.MouseButtonRelease,
}


@pytest.fixture(scope="module")
def touchscreen() -> QPointingDevice:
    return QTest.createTouchDevice()


def stylus(end: QPointingDevice.PointerType, *, presses: bool = True) -> QPointingDevice:
    caps = QInputDevice.Capability.Position
    if presses:
        caps |= QInputDevice.Capability.Pressure
    return QPointingDevice("pen", 7, QInputDevice.DeviceType.Stylus, end, caps, 1, 3)


@pytest.fixture(scope="module")
def pen() -> QPointingDevice:
    return stylus(QPointingDevice.PointerType.Pen)


def tablet(
    canvas: DrawingCanvas,
    pen: QPointingDevice,
    kind: QEvent.Type,
    place: tuple[float, float],
    *,
    pressure: float = 0.5,
    time: int = 0,
) -> bool:
    at = QPointF(*place)
    buttons = NONE if kind == RELEASE else LEFT
    globally = QPointF(canvas.mapToGlobal(at))
    event = QTabletEvent(kind, pen, at, globally, pressure, 0.0, 0.0, 0.0, 0.0, 0.0, NO_KEY, LEFT, buttons)
    event.setTimestamp(time)
    QApplication.sendEvent(canvas, event)
    return event.isAccepted()


def mouse(
    canvas: DrawingCanvas,
    kind: QEvent.Type,
    place: tuple[float, float],
    source: Qt.MouseEventSource = Qt.MouseEventSource.MouseEventNotSynthesized,
    device: QPointingDevice | None = None,
) -> None:
    at = QPointF(*place)
    mouse = device or QPointingDevice.primaryPointingDevice()
    buttons = NONE if kind == QEvent.Type.MouseButtonRelease else LEFT
    globally = QPointF(canvas.mapToGlobal(at))
    QApplication.sendEvent(canvas, QMouseEvent(kind, at, globally, globally, LEFT, buttons, NO_KEY, source, mouse))


def pixels(canvas: DrawingCanvas) -> list[list[list[float]]]:
    return [(stroke.points * 200).round(2).tolist() for stroke in canvas.ink().strokes]


def test_a_finger_draws_a_stroke(canvas: DrawingCanvas, touchscreen: QPointingDevice, inks: list[Ink]) -> None:
    for act, x in (("press", 40), ("move", 80), ("move", 120), ("release", 120)):
        getattr(QTest.touchEvent(canvas, touchscreen, False), act)(0, QPoint(x, 60), canvas).commit()
    assert pixels(canvas) == [[[40, 60], [80, 60], [120, 60]]]
    # No mouse event was made of it: every point is told once.
    assert len(inks) == 3


def test_a_second_finger_adds_nothing(canvas: DrawingCanvas, touchscreen: QPointingDevice) -> None:
    def touch() -> QTest.QTouchEventSequence:
        return QTest.touchEvent(canvas, touchscreen, False)

    touch().press(0, QPoint(20, 20), canvas).commit()
    touch().move(0, QPoint(40, 20), canvas).press(1, QPoint(150, 150), canvas).commit()
    touch().move(0, QPoint(60, 20), canvas).move(1, QPoint(150, 100), canvas).commit()
    touch().release(0, QPoint(60, 20), canvas).stationary(1).commit()
    touch().move(1, QPoint(100, 100), canvas).commit()
    assert pixels(canvas) == [[[20, 20], [40, 20], [60, 20]]]
    # The first finger comes back while the second still rests.
    touch().press(0, QPoint(20, 180), canvas).stationary(1).commit()
    touch().release(0, QPoint(20, 180), canvas).release(1, QPoint(100, 100), canvas).commit()
    assert pixels(canvas)[1:] == [[[20, 180]]]


def test_a_touch_that_was_a_gesture_leaves_nothing(
    canvas: DrawingCanvas, touchscreen: QPointingDevice, inks: list[Ink]
) -> None:
    QTest.touchEvent(canvas, touchscreen, False).press(0, QPoint(20, 20), canvas).commit()
    QTest.touchEvent(canvas, touchscreen, False).move(0, QPoint(90, 20), canvas).commit()
    QApplication.sendEvent(canvas, QTouchEvent(QEvent.Type.TouchCancel, touchscreen))
    assert canvas.ink().is_empty
    assert inks[-1].is_empty
    assert not canvas.can_undo
    # QTest still believes the finger down.
    QTest.touchEvent(canvas, touchscreen, False).release(0, QPoint(90, 20), canvas).commit()
    assert canvas.ink().is_empty


def test_a_finger_that_left_without_a_word_blocks_nobody(canvas: DrawingCanvas, touchscreen: QPointingDevice) -> None:
    for x in (40, 90):
        place = QPointF(canvas.mapToGlobal(QPointF(x, 60)))
        finger = QEventPoint(5, QEventPoint.State.Pressed, QPointF(x, 60), place)
        event = QTouchEvent(QEvent.Type.TouchBegin, touchscreen, NO_KEY, [finger])
        QApplication.sendEvent(canvas, event)
    assert len(canvas.ink().strokes) == 2


@pytest.mark.parametrize(
    "source", [Qt.MouseEventSource.MouseEventSynthesizedBySystem, Qt.MouseEventSource.MouseEventSynthesizedByQt]
)
def test_mouse_events_made_of_others_draw_nothing(canvas: DrawingCanvas, source: Qt.MouseEventSource) -> None:
    mouse(canvas, QEvent.Type.MouseButtonPress, (20, 20), source)
    mouse(canvas, QEvent.Type.MouseMove, (50, 20), source)
    mouse(canvas, QEvent.Type.MouseButtonRelease, (50, 20), source)
    assert canvas.ink().is_empty


def test_mouse_events_of_a_touchscreen_draw_nothing(canvas: DrawingCanvas, touchscreen: QPointingDevice) -> None:
    mouse(canvas, QEvent.Type.MouseButtonPress, (20, 20), device=touchscreen)
    mouse(canvas, QEvent.Type.MouseButtonRelease, (20, 20), device=touchscreen)
    assert canvas.ink().is_empty


def test_a_pen_is_not_doubled_by_what_looks_like_a_mouse(
    canvas: DrawingCanvas, pen: QPointingDevice, inks: list[Ink]
) -> None:
    for kind, place in ((PRESS, (40.25, 40.5)), (MOVE, (80.75, 60.0)), (RELEASE, (120.0, 90.0))):
        if kind == RELEASE:
            mouse(canvas, MOUSE_KINDS[kind], (place[0] + 1, place[1]))
        assert tablet(canvas, pen, kind, place)
        if kind != RELEASE:
            mouse(canvas, MOUSE_KINDS[kind], (place[0] + 1, place[1]))
    assert pixels(canvas) == [[[40.25, 40.5], [80.75, 60.0], [120.0, 90.0]]]
    assert len(inks) == 3


def test_pressure_and_time_are_kept(canvas: DrawingCanvas, pen: QPointingDevice) -> None:
    tablet(canvas, pen, PRESS, (20, 20), pressure=0.25, time=1000)
    tablet(canvas, pen, MOVE, (60, 20), pressure=0.75, time=1016)
    tablet(canvas, pen, RELEASE, (90, 20), pressure=0.0, time=1030)
    tablet(canvas, pen, PRESS, (20, 90), pressure=1.0, time=1500)
    tablet(canvas, pen, RELEASE, (20, 90), pressure=0.0, time=1510)
    first, second = canvas.ink().strokes
    assert first.pressures is not None
    assert first.pressures.tolist() == [0.25, 0.75, 0.0]
    assert first.times_ms is not None
    assert first.times_ms.tolist() == [0, 16, 30]
    assert second.times_ms is not None
    assert second.times_ms.tolist() == [500]


def test_a_clock_that_goes_back_stands_still(canvas: DrawingCanvas, pen: QPointingDevice) -> None:
    for kind, x, time in ((PRESS, 20, 900), (MOVE, 60, 950), (RELEASE, 90, 100)):
        tablet(canvas, pen, kind, (x, 20), time=time)
    times = canvas.ink().strokes[0].times_ms
    assert times is not None
    assert times.tolist() == [0, 50, 50]


def test_a_mouse_and_a_plain_pen_say_nothing_of_pressure(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    qtbot.mouseClick(canvas, LEFT, pos=QPoint(50, 50))
    plain = stylus(QPointingDevice.PointerType.Pen, presses=False)
    tablet(canvas, plain, PRESS, (90, 90))
    tablet(canvas, plain, RELEASE, (90, 90))
    assert [stroke.pressures for stroke in canvas.ink().strokes] == [None, None]


def test_the_eraser_end_takes_strokes_away(qtbot: QtBot, canvas: DrawingCanvas) -> None:
    for y in (40, 100, 160):
        qtbot.mousePress(canvas, LEFT, pos=QPoint(20, y))
        mouse(canvas, QEvent.Type.MouseMove, (180, y))
        qtbot.mouseRelease(canvas, LEFT, pos=QPoint(180, y))
    rubber = stylus(QPointingDevice.PointerType.Eraser)
    tablet(canvas, rubber, PRESS, (100, 70))
    assert len(canvas.ink().strokes) == 3
    # So fast that no event falls on the strokes themselves.
    tablet(canvas, rubber, MOVE, (100, 190))
    tablet(canvas, rubber, RELEASE, (100, 190))
    assert [stroke[0][1] for stroke in pixels(canvas)] == [40]
    canvas.undo()
    canvas.undo()
    assert [stroke[0][1] for stroke in pixels(canvas)] == [40, 100, 160]
    # The other end draws as before.
    tablet(canvas, stylus(QPointingDevice.PointerType.Pen), PRESS, (10, 10))
    tablet(canvas, stylus(QPointingDevice.PointerType.Pen), RELEASE, (10, 10))
    assert len(canvas.ink().strokes) == 4


def test_fast_strokes_have_no_gaps(canvas: DrawingCanvas, pen: QPointingDevice) -> None:
    for kind, place in ((PRESS, (20, 180)), (MOVE, (100, 20)), (RELEASE, (180, 180))):
        tablet(canvas, pen, kind, place)
    image = canvas.grab().toImage()
    paper = image.pixelColor(10, 100)
    inked = np.array([[image.pixelColor(x, y) != paper for x in range(4, 196)] for y in range(4, 196)])
    # One piece: every inked row between top and bottom touches ink in the row above it.
    rows = np.flatnonzero(inked.any(axis=1))
    assert np.array_equal(rows, np.arange(rows[0], rows[-1] + 1))
    grown = inked | np.roll(inked, 1, axis=1) | np.roll(inked, -1, axis=1)
    assert all((grown[row] & inked[row - 1]).any() for row in rows[1:])
    columns = np.flatnonzero(inked.any(axis=0))
    assert np.array_equal(columns, np.arange(columns[0], columns[-1] + 1))
