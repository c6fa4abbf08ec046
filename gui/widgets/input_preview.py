"""The 28x28 grey levels a network is given, pixel by pixel.

A room of its own because it shows exactly what it is handed, unsmoothed: whoever wonders about an answer looks here
first.
"""

import numpy as np
from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.device import HostArray
from gui import theme
from gui.widgets.grey_image import to_qimage

_PIXELS = 28
_SIDE_PX = 3 * _PIXELS


class InputPreview(QWidget):
    """Shows one picture with sharp pixels, or an empty frame."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._image: QImage | None = None
        self.setObjectName("inputPreview")
        self.setAccessibleName(self.tr("What the network sees"))
        explanation = self.tr(
            "What the network sees: the drawing at 28 by 28 pixels, scaled and centred the way the training digits "
            "were. A digit that is hard to read here is hard for the network too."
        )
        self.setAccessibleDescription(explanation)
        self.setToolTip(theme.tooltip(explanation))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_image(self, image: HostArray | None) -> None:
        """Show `image`, uint8 (28, 28), 0 for paper and 255 for ink; None empties the frame.

        Raises ValueError for any other shape or dtype.
        """
        if image is not None and (image.shape != (_PIXELS, _PIXELS) or image.dtype != np.uint8):
            raise ValueError(f"a preview wants uint8 of shape (28, 28), got {image.dtype} of {image.shape}")
        self._image = None if image is None else to_qimage(image)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(_SIDE_PX, _SIDE_PX)

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

    def _whole_pixels(self) -> QRect:
        """The largest square in which all pixels of the picture get the same size."""
        side = min(self.width(), self.height()) // _PIXELS * _PIXELS
        return QRect((self.width() - side) // 2, (self.height() - side) // 2, side, side)
