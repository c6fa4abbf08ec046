"""The training digits that look most like the drawing, side by side, with what they are labelled as."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.device import HostArray
from core.digits import downloads
from gui import theme
from gui.widgets.grey_image import to_qimage

DIGITS = 5
_SIDE_PX = 44
_LABEL_PX = 18


class NearestRow(QWidget):
    """Shows `DIGITS` pictures with a label under each, or empty frames."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._images: list[QImage] = []
        self._labels: list[int] = []
        self._classes: Sequence[str] = downloads.DIGITS
        self.setObjectName("nearestRow")
        self.setAccessibleName(self.tr("Nearest training digits"))
        explanation = self.tr(
            "The training digits whose 784 grey levels differ least from what the network sees, the nearest first, and "
            "their labels. Where these disagree, the drawing lies between two digits. They are looked for when the pen "
            "rests."
        )
        self.setToolTip(theme.tooltip(explanation))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_digits(None, None)

    def show_classes(self, classes: Sequence[str]) -> None:
        """Call what the labels stand for so."""
        self._classes = classes

    def show_digits(self, pictures: HostArray | None, labels: HostArray | None) -> None:
        """Show `pictures`, uint8 (n, 28, 28), n at most `DIGITS`, with their `labels` (n,); None shows empty frames."""
        self._images = [] if pictures is None else [to_qimage(picture) for picture in pictures[:DIGITS]]
        self._labels = [] if labels is None else [int(label) for label in labels[:DIGITS]]
        self.setAccessibleDescription(
            ", ".join(self._classes[label] for label in self._labels) or self.tr("Nothing is drawn.")
        )
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(DIGITS * (_SIDE_PX + theme.SPACING) - theme.SPACING, _SIDE_PX + _LABEL_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        scheme = theme.colours(self.palette())
        are_digits = all(len(name) == 1 for name in self._classes)
        painter.setFont((theme.title_font if are_digits else theme.small_font)(self.font()))
        painter.setPen(QColor(scheme.text))
        gap = (self.width() - DIGITS * _SIDE_PX) / (DIGITS - 1)
        for number in range(DIGITS):
            left = round(number * (_SIDE_PX + gap))
            place = QRectF(left, 0, _SIDE_PX, _SIDE_PX)
            if number < len(self._images):
                painter.drawImage(place, self._images[number])
                below = QRectF(left, _SIDE_PX, _SIDE_PX, _LABEL_PX)
                name = self._classes[self._labels[number]]
                words = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, _SIDE_PX + int(gap))
                painter.drawText(below.adjusted(-gap / 2, 0, gap / 2, 0), Qt.AlignmentFlag.AlignCenter, words)
            else:
                painter.fillRect(place, QColor(scheme.track))
