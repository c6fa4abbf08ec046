"""The line that the pen is drawing: points that come one by one, until they are a stroke."""

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainterPath

from core.digits.ink import Stroke
from gui.widgets.ink_path import stroke_path


class GrowingLine:
    """Points in units of the sheet's side, each with its time, in ms from `began_ms` on, and its pressure if known."""

    def __init__(self, began_ms: int) -> None:
        self._began_ms = began_ms
        self._points: list[tuple[float, float]] = []
        self._times: list[float] = []
        self._pressures: list[float | None] = []

    def add(self, x: float, y: float, time_ms: int, pressure: float | None) -> bool:
        """Go on to there; returns False where the pen has not moved."""
        if self._points and self._points[-1] == (x, y):
            return False
        # Clocks of devices may go back, time does not.
        earliest = self._times[-1] if self._times else 0.0
        self._points.append((x, y))
        self._times.append(max(float(time_ms - self._began_ms), earliest))
        self._pressures.append(pressure)
        return True

    def stroke(self) -> Stroke:
        """The line as it stands; it has at least one point."""
        pressures = None if None in self._pressures else np.array(self._pressures)
        return Stroke(np.array(self._points), np.array(self._times), pressures)

    def path(self) -> QPainterPath:
        """The line as it is to be painted."""
        return stroke_path(self._points)

    def last_change(self, reach: float) -> QRectF:
        """Where the last point has changed how the line looks, and `reach` around that."""
        xs, ys = zip(*self._points[-4:], strict=True)
        left, top = min(xs) - reach, min(ys) - reach
        return QRectF(left, top, max(xs) + reach - left, max(ys) + reach - top)
