"""A network as a picture: what goes from layer to layer, pictures as stacks of squares, rows of numbers as bars.

A room of its own because it draws what core.nn.architecture describes and knows nothing of how the text was typed.
"""

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.nn.architecture import Stage
from core.nn.layers.layer import Shape
from gui import theme

_COLUMN_PX, _ROW_PX, _TEXT_PX = 44, 84, 15
_TEXT_GAP_PX = 6
_SHEETS, _SHEET_STEP_PX = 4, 2
_LARGEST_PICTURE_PX, _BAR_WIDTH_PX = 34, 8
_LARGEST_UNITS = 16384


class NetworkPicture(QWidget):
    """Shows the input and every stage that changes its shape or has weights."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stops: list[tuple[str, Shape]] = []
        self.setObjectName("networkPicture")
        self.setAccessibleName(self.tr("Picture of the network"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_stages(self, input_shape: Shape, stages: Sequence[Stage]) -> None:
        """Draw a network that takes `input_shape`; an empty sequence draws nothing."""
        stops = [(self.tr("input"), input_shape)] if stages else []
        for stage in stages:
            if stage.words.split()[0] in ("conv", "pool", "linear"):
                stops.append((stage.words.split()[0], stage.output))
        self._stops = stops
        spoken = ", ".join(f"{name} {_size_text(shape)}" for name, shape in stops)
        self.setAccessibleDescription(spoken)
        self.setToolTip(theme.tooltip("\n".join(stage.words for stage in stages)) if stages else "")
        self._take_height()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._take_height()

    def _take_height(self) -> None:
        self.setFixedHeight(-(-len(self._stops) // self._columns()) * _ROW_PX)

    def _column_px(self) -> int:
        """Room for a picture, and for the longest size written below one."""
        metrics = QFontMetrics(theme.small_font(self.font()))
        longest = max((metrics.horizontalAdvance(_size_text(shape)) for _, shape in self._stops), default=0)
        return max(_COLUMN_PX, longest + _TEXT_GAP_PX)

    def _columns(self) -> int:
        return max(2, self.width() // self._column_px())

    def paintEvent(self, event: QPaintEvent) -> None:
        scheme = theme.colours(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.small_font(self.font()))
        columns, column_px = self._columns(), self._column_px()
        for index, (name, shape) in enumerate(self._stops):
            column, row = index % columns, index // columns
            cell = QRectF(column * column_px, row * _ROW_PX, column_px, _ROW_PX)
            painter.setPen(QColor(scheme.muted))
            above = QRectF(cell.left(), cell.top(), cell.width(), _TEXT_PX)
            below = QRectF(cell.left(), cell.bottom() - _TEXT_PX - 4, cell.width(), _TEXT_PX)
            painter.drawText(above, Qt.AlignmentFlag.AlignCenter, name)
            painter.setPen(QColor(scheme.text))
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, _size_text(shape))
            middle = QPointF(cell.center().x(), (above.bottom() + below.top()) / 2)
            self._paint_shape(painter, middle, shape, scheme)

    def _paint_shape(self, painter: QPainter, middle: QPointF, shape: Shape, scheme: theme.Colours) -> None:
        painter.setPen(theme.thin_pen(scheme.surface))
        painter.setBrush(QColor(scheme.bar))
        if len(shape) == 1:
            height = 6 + (_LARGEST_PICTURE_PX - 6) * math.log(shape[0] + 1) / math.log(_LARGEST_UNITS)
            painter.drawRect(QRectF(middle.x() - _BAR_WIDTH_PX / 2, middle.y() - height / 2, _BAR_WIDTH_PX, height))
            return
        sheets = min(_SHEETS, 1 + int(math.log2(shape[0])))
        side = max(9.0, _LARGEST_PICTURE_PX * shape[1] / 28 - (sheets - 1))
        for sheet in reversed(range(sheets)):
            offset = (sheet - (sheets - 1) / 2) * _SHEET_STEP_PX
            corner = middle + QPointF(offset - side / 2, -offset - side / 2)
            painter.drawRect(QRectF(corner.x(), corner.y(), side, side))


def _size_text(shape: Shape) -> str:
    return str(shape[0]) if len(shape) == 1 else f"{shape[0]}×{shape[1]}²"
