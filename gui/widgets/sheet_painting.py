"""How the sheet looks, and what lies on it: lines of the pen, a digit of a data set, a picture, or a word on its use.

All of it is painted into the square `sheet` of the canvas.
"""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPainterPath, QPen

from core.device import HostArray
from gui import theme
from gui.ink_history import OpenedPicture
from gui.widgets.grey_image import to_qimage
from gui.widgets.ink_path import ink_pen

_FRAME_PX = 2
_BOX_PX = 1.5
_SELECTED_PX = 3
_AIR_PX = 2
"""Between a digit and its box."""


def paint_paper(painter: QPainter, sheet: QRectF, scheme: theme.Colours, *, has_focus: bool) -> None:
    """Paint the empty sheet, with a frame that tells whether keys are meant for it."""
    frame_width = _FRAME_PX if has_focus else 1
    painter.setPen(QPen(QColor(scheme.accent if has_focus else scheme.border), frame_width))
    painter.setBrush(QColor(scheme.paper))
    inset = frame_width / 2
    painter.drawRoundedRect(sheet.adjusted(inset, inset, -inset, -inset), theme.RADIUS + 2, theme.RADIUS + 2)


def paint_lines(
    painter: QPainter, sheet: QRectF, lines: Sequence[QPainterPath], line_width: float, scheme: theme.Colours
) -> None:
    """Paint `lines`, which are in units of the sheet's side as is `line_width`."""
    painter.setClipRect(sheet.adjusted(_FRAME_PX, _FRAME_PX, -_FRAME_PX, -_FRAME_PX))
    painter.translate(sheet.topLeft())
    painter.scale(sheet.width(), sheet.height())
    painter.setPen(ink_pen(scheme.ink, line_width))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for path in lines:
        painter.drawPath(path)


def paint_hint(painter: QPainter, sheet: QRectF, font: QFont, scheme: theme.Colours, subject: str = "") -> None:
    """Say on an empty sheet what it is for; `subject`: what is read in place of digits."""
    painter.setPen(QColor(scheme.muted))
    painter.setFont(theme.title_font(font))
    words = QCoreApplication.translate("DrawingCanvas", "Draw a digit")
    painter.drawText(sheet, Qt.AlignmentFlag.AlignCenter, subject or words)
    painter.setFont(theme.small_font(font))
    more = QCoreApplication.translate("DrawingCanvas", "or a number, or drop a picture")
    if subject:
        more = QCoreApplication.translate("DrawingCanvas", "to be drawn, or drop a picture")
    below = sheet.adjusted(0, 2.6 * painter.fontMetrics().height(), 0, 0)
    painter.drawText(below, Qt.AlignmentFlag.AlignCenter, more)


def paint_digit(painter: QPainter, sheet: QRectF, picture: HostArray, scheme: theme.Colours) -> None:
    """Paint `picture`, uint8 (28, 28), 0 paper to 255 ink, in the colours of paper and with sharp pixels."""
    image = to_qimage(picture)
    if scheme is theme.LIGHT:
        image.invertPixels()
    # Every pixel of the picture as large as the others.
    side = int(sheet.width() - 2 * theme.RADIUS) // image.width() * image.width()
    corner = (sheet.center() - QPointF(side / 2, side / 2)).toPoint()
    painter.drawImage(QRect(corner, QSize(side, side)), image)


def paint_picture(
    painter: QPainter, sheet: QRectF, opened: OpenedPicture, selected: int, scheme: theme.Colours
) -> None:
    """Paint a picture as large as fits, with a box around each digit, that of the selected one the strongest."""
    height, width, _ = opened.pixels.shape
    # The image lies over these bytes, which must live as long.
    content = opened.pixels.tobytes()
    image = QImage(content, width, height, 3 * width, QImage.Format.Format_RGB888)
    inside = sheet.adjusted(theme.RADIUS, theme.RADIUS, -theme.RADIUS, -theme.RADIUS)
    size = QSizeF(width, height).scaled(inside.size(), Qt.AspectRatioMode.KeepAspectRatio)
    place = QRectF(inside.center() - QPointF(size.width(), size.height()) / 2, size)
    # A small picture is enlarged so that its pixels are seen, as the network's own are.
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, size.width() < width)
    painter.drawImage(place, image)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for number, (left, top, right, bottom) in enumerate(opened.boxes.tolist()):
        corner = place.topLeft() + QPointF(left * size.width(), top * size.height())
        box = QRectF(corner, QSizeF((right - left) * size.width(), (bottom - top) * size.height()))
        box = box.adjusted(-_AIR_PX, -_AIR_PX, _AIR_PX, _AIR_PX) & inside
        painter.setPen(QPen(QColor(scheme.accent), _SELECTED_PX if number == selected else _BOX_PX))
        painter.drawRoundedRect(box, 2, 2)
