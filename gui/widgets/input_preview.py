"""The 28x28 grey levels a network is given, pixel by pixel, and the hand that moves them.

A room of its own because it shows exactly what it is handed, unsmoothed: whoever wonders about an answer looks here
first. Moved it is by whoever made the picture; here is only said how far.
"""

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.device import HostArray
from gui import theme
from gui.widgets.grey_image import to_qimage

_PIXELS = 28
_SIDE_PX = 3 * _PIXELS
_FARTHEST = 14
"""So many pixels the picture can be moved each way; more would leave less than half of it."""

_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class InputPreview(QWidget):
    """Shows one picture with sharp pixels, or an empty frame; `moved` carries pixels to the right and down."""

    moved = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._image: QImage | None = None
        self._move = (0, 0)
        self._grip: tuple[QPointF, tuple[int, int]] | None = None
        self.setObjectName("inputPreview")
        self.setAccessibleName(self.tr("What the network sees"))
        explanation = self.tr(
            "What the network sees: the drawing at 28 by 28 pixels, scaled and centred the way the training digits "
            "were. A digit that is hard to read here is hard for the network too.\n"
            "Drag it, or use the arrow keys, to see how far from the centre it is still read; a double click, or Home, "
            "puts it back."
        )
        self.setAccessibleDescription(explanation)
        self.setToolTip(theme.tooltip(explanation))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_image(self, image: HostArray | None) -> None:
        """Show `image`, uint8 (28, 28), 0 for paper and 255 for ink; None empties the frame and forgets the move.

        Raises ValueError for any other shape or dtype.
        """
        if image is not None and (image.shape != (_PIXELS, _PIXELS) or image.dtype != np.uint8):
            raise ValueError(f"a preview wants uint8 of shape (28, 28), got {image.dtype} of {image.shape}")
        self._image = None if image is None else to_qimage(image)
        self.setCursor(Qt.CursorShape.ArrowCursor if image is None else Qt.CursorShape.OpenHandCursor)
        if image is None:
            self._grip = None
            self._move_to(0, 0)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(_SIDE_PX, _SIDE_PX)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._image is not None:
            self._grip = (event.position(), self._move)
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grip is not None:
            (start, (right, down)), pixel = self._grip, self._whole_pixels().width() / _PIXELS
            way = event.position() - start
            self._move_to(right + round(way.x() / pixel), down + round(way.y() / pixel))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._grip is not None:
            self._grip = None
            self.setCursor(Qt.CursorShape.OpenHandCursor)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._move_to(0, 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        arrow = _ARROWS.get(Qt.Key(event.key()))
        if self._image is not None and arrow is not None:
            self._move_to(self._move[0] + arrow[0], self._move[1] + arrow[1])
        elif self._image is not None and event.key() == Qt.Key.Key_Home:
            self._move_to(0, 0)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        scheme = theme.colours(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QPainterPath()
        frame.addRoundedRect(QRectF(self.rect()), theme.RADIUS - 2, theme.RADIUS - 2)
        painter.setClipPath(frame)
        if self._image is None:
            painter.fillRect(self.rect(), QColor(scheme.track))
        else:
            # As in the files of MNIST, and whatever the scheme: ink is white.
            painter.fillRect(self.rect(), Qt.GlobalColor.black)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.drawImage(self._whole_pixels(), self._image)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus():
            painter.setPen(QPen(QColor(scheme.accent), 4))
            painter.drawPath(frame)

    def _move_to(self, right_px: int, down_px: int) -> None:
        move = (min(max(right_px, -_FARTHEST), _FARTHEST), min(max(down_px, -_FARTHEST), _FARTHEST))
        if move != self._move:
            self._move = move
            self.moved.emit(*move)

    def _whole_pixels(self) -> QRect:
        """The largest square in which all pixels of the picture get the same size."""
        side = min(self.width(), self.height()) // _PIXELS * _PIXELS
        return QRect((self.width() - side) // 2, (self.height() - side) // 2, side, side)
