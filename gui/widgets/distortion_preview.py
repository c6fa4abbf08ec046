"""Eight training digits as the network will see them: shifted and distorted as the form says.

A room of its own because the eye judges a distortion at once, where a number between 0 and 1 says nothing.
"""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.device import HostArray
from gui import theme
from gui.widgets.grey_image import to_qimage

DIGITS = 8
_SIDE = 28
_GAP_PX = 3


class DistortionPreview(QWidget):
    """Shows `DIGITS` pictures in two rows; a click asks for another draw."""

    another_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._images: list[QImage] = []
        self.setObjectName("distortionPreview")
        self.setAccessibleName(self.tr("Distorted digits"))
        explanation = self.tr(
            "Eight training digits as they are shown to the network, moved and distorted as chosen here. "
            "Where you can no longer tell which digit it was, the network learns nonsense. Click, or press space, for "
            "another draw."
        )
        self.setAccessibleDescription(explanation)
        self.setToolTip(theme.tooltip(explanation))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_pictures(self, pictures: HostArray) -> None:
        """Show `pictures`, uint8 (n, 28, 28), n at most `DIGITS`."""
        self._images = [to_qimage(picture) for picture in pictures[:DIGITS]]
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(4 * (2 * _SIDE + _GAP_PX), 2 * (2 * _SIDE + _GAP_PX))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.another_requested.emit()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.another_requested.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        scheme = theme.colours(self.palette())
        side = min((self.width() - 3 * _GAP_PX) / 4, (self.height() - _GAP_PX) / 2)
        for number in range(DIGITS):
            row, column = divmod(number, 4)
            place = QRectF(column * (side + _GAP_PX), row * (side + _GAP_PX), side, side)
            if number < len(self._images):
                painter.drawImage(place, self._images[number])
            else:
                painter.fillRect(place, QColor(scheme.track))
        if self.hasFocus():
            painter.setPen(theme.thin_pen(scheme.accent))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
