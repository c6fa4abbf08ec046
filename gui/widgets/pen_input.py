"""One pen out of mouse, tablet and fingers: whatever touches the sheet first draws until it leaves it.

A room of its own because systems tell of one movement twice: of a pen or a finger they make mouse events as well. Only
events that a device sent by itself count here, and a second finger never joins the line of the first.
"""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import (
    QEventPoint,
    QInputDevice,
    QMouseEvent,
    QPointerEvent,
    QPointingDevice,
    QSinglePointEvent,
    QTabletEvent,
    QTouchEvent,
)
from PySide6.QtWidgets import QWidget

_NO_MICE = (
    QInputDevice.DeviceType.Stylus,
    QInputDevice.DeviceType.Airbrush,
    QInputDevice.DeviceType.Puck,
    QInputDevice.DeviceType.TouchScreen,
)
_PEN_ENDS = (QPointingDevice.PointerType.Pen, QPointingDevice.PointerType.Eraser)
_PRESSES = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick, QEvent.Type.TabletPress)
_RELEASES = (QEvent.Type.MouseButtonRelease, QEvent.Type.TabletRelease)
_MOVES = (QEvent.Type.MouseMove, QEvent.Type.TabletMove)
_MOUSE, _TABLET = -1, -2
"""Who holds the pen where it is no finger; fingers have numbers from 0 on."""


@dataclass(frozen=True)
class PenPoint:
    """Where the pen is in its widget, when, how hard it presses (0..1, None if unknown), and with which end."""

    position: QPointF
    time_ms: int
    pressure: float | None
    erases: bool


class PenInput(QObject):
    """What touches `widget`: `pressed` and `moved` carry a `PenPoint`, then `lifted`; `cancelled` if it was no line."""

    pressed = Signal(PenPoint)
    moved = Signal(PenPoint)
    lifted = Signal()
    cancelled = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._holder: int | None = None
        widget.setAttribute(Qt.WidgetAttribute.WA_AcceptTouchEvents)
        widget.installEventFilter(self)

    def let_go(self) -> None:
        """Hear no more of the line being drawn."""
        self._holder = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QTouchEvent):
            self._take_touch(event)
        elif isinstance(event, QTabletEvent):
            self._take_single(event, _TABLET)
        elif isinstance(event, QMouseEvent):
            if _is_a_mouses_own(event):
                self._take_single(event, _MOUSE)
        else:
            return False
        # An accepted pen or touch event is not sent again as a mouse event.
        event.accept()
        return True

    def _take_single(self, event: QSinglePointEvent, device: int) -> None:
        is_left = event.button() == Qt.MouseButton.LeftButton
        if event.type() in _PRESSES and is_left and self._holder in (None, device):
            self._press(device, _pen_point(event, event.points()[0]))
        elif event.type() in _MOVES and event.buttons() & Qt.MouseButton.LeftButton and self._holder == device:
            self.moved.emit(_pen_point(event, event.points()[0]))
        elif event.type() in _RELEASES and is_left and self._holder == device:
            self.moved.emit(_pen_point(event, event.points()[0]))
            self._lift()

    def _take_touch(self, event: QTouchEvent) -> None:
        if event.type() == QEvent.Type.TouchCancel:
            if self._holder is not None and self._holder >= 0:
                self._holder = None
                self.cancelled.emit()
            return
        if event.type() == QEvent.Type.TouchBegin and self._holder is not None and self._holder >= 0:
            # It is the first finger down, so the one before has left without a word.
            self._lift()
        for finger in event.points():
            if finger.state() == QEventPoint.State.Pressed and self._holder is None:
                self._press(finger.id(), _pen_point(event, finger))
            elif finger.id() == self._holder and finger.state() == QEventPoint.State.Updated:
                self.moved.emit(_pen_point(event, finger))
            elif finger.id() == self._holder and finger.state() == QEventPoint.State.Released:
                self.moved.emit(_pen_point(event, finger))
                self._lift()

    def _press(self, device: int, point: PenPoint) -> None:
        if self._holder is not None:
            # The end of the line before was never heard of.
            self._lift()
        self._holder = device
        self.pressed.emit(point)

    def _lift(self) -> None:
        self._holder = None
        self.lifted.emit()


def _pen_point(event: QPointerEvent, point: QEventPoint) -> PenPoint:
    device = event.pointingDevice()
    tells_pressure = not isinstance(event, QMouseEvent) and device.hasCapability(QInputDevice.Capability.Pressure)
    return PenPoint(
        point.position(),
        event.timestamp(),
        min(max(point.pressure(), 0.0), 1.0) if tells_pressure else None,
        device.pointerType() == QPointingDevice.PointerType.Eraser,
    )


def _is_a_mouses_own(event: QMouseEvent) -> bool:
    """Whether nothing but a mouse or a touchpad is behind this: of pens and fingers their own event is enough."""
    return (
        event.source() == Qt.MouseEventSource.MouseEventNotSynthesized
        and event.device().type() not in _NO_MICE
        and event.pointerType() not in _PEN_ENDS
    )
