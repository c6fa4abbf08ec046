"""The digits of a number side by side, each as the network sees it, with its answer and how sure that is.

A room of its own because one of them is chosen here, by mouse or by the arrow keys, to be looked at more closely.
"""

from collections.abc import Sequence

from PySide6.QtCore import QLocale, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QListView,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from core.digits.downloads import DIGITS
from gui import theme
from gui.read_number import ReadDigit, ReadNumber, digit_text
from gui.widgets.grey_image import to_qimage

_PICTURE_PX = 28
"""Every pixel the network sees is one of the screen's."""
_LINE_PX = 13
_PADDING_PX = 2
_ANSWER_PX = 11
_WIDTH_PX = _PICTURE_PX + _ANSWER_PX + 5
"""Four of them fit beside the large picture."""
_HEIGHT_PX = _PICTURE_PX + _LINE_PX + 2 * _PADDING_PX
_SCROLL_BAR_PX = 10

_KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)
_DIGIT_ROLE, _NAME_ROLE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1


class NumberRow(QListWidget):
    """Shows one number; `selected` carries the place, from 0, of the digit that the user wants to look at."""

    selected = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._classes: Sequence[str] = DIGITS
        self.setObjectName("numberRow")
        self.setAccessibleName(self.tr("Digits of the number"))
        explanation = self.tr(
            "Each digit of the number as the network sees it, what it is read as, and how sure that is. Click on one, "
            "or go along with the arrow keys, to see its ten bars and its steps; at first it is the one that is least "
            "sure."
        )
        self.setAccessibleDescription(explanation)
        self.setToolTip(theme.tooltip(explanation))
        self.setItemDelegate(_DigitDelegate(self))
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(False)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(_HEIGHT_PX + _SCROLL_BAR_PX)
        self.currentRowChanged.connect(self.selected)

    def show_classes(self, classes: Sequence[str]) -> None:
        """Call what 0 to 9 stand for so, from the next number on."""
        self._classes = classes

    def show_number(self, number: ReadNumber | None) -> None:
        """Show the digits of `number`, of which one is selected; None shows nothing."""
        digits = () if number is None else number.digits
        # What is shown is nobody's choice.
        self.blockSignals(True)
        while self.count() > len(digits):
            self.takeItem(self.count() - 1)
        while self.count() < len(digits):
            self.addItem(QListWidgetItem())
        for place, digit in enumerate(digits):
            item = self.item(place)
            item.setData(_DIGIT_ROLE, digit)
            item.setData(_NAME_ROLE, digit_text(digit.answer, self._classes))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, self._in_words(digit))
        if number is not None and number.selected != self.currentRow():
            self.setCurrentRow(number.selected)
        self.blockSignals(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _KEYS:
            super().keyPressEvent(event)
        else:
            # Anything else, such as Delete, is meant for the sheet.
            event.ignore()

    def sizeHint(self) -> QSize:
        return QSize(4 * _WIDTH_PX, _HEIGHT_PX + _SCROLL_BAR_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(2 * _WIDTH_PX, _HEIGHT_PX + _SCROLL_BAR_PX)

    def _in_words(self, digit: ReadDigit) -> str:
        if digit.answer is None:
            return self.tr("not answered")
        words = self.tr("%1, %2 sure").replace("%1", digit_text(digit.answer, self._classes))
        if digit.answer.digit is None:
            words = self.tr("unknown, perhaps %1, %2 sure").replace("%1", self._classes[digit.answer.guess])
        return words.replace("%2", _percent(digit))


class _DigitDelegate(QStyledItemDelegate):
    """A digit in squares, beside it what it is read as, and below how sure that is; the selected one in a frame."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(_WIDTH_PX, _HEIGHT_PX)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        digit: ReadDigit = index.data(_DIGIT_ROLE)
        scheme = theme.colours(option.palette)
        corner = option.rect.topLeft()
        cell = QRectF(corner.x(), corner.y(), _WIDTH_PX, _HEIGHT_PX).adjusted(1, 1, -1, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(QPen(QColor(scheme.accent), 2))
            painter.setBrush(QColor(scheme.hover))
            painter.drawRoundedRect(cell, theme.RADIUS - 2, theme.RADIUS - 2)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(scheme.text), 1, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(cell, theme.RADIUS - 2, theme.RADIUS - 2)
        # Views smooth what they scale; here every pixel is to be seen.
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        picture = QRectF(corner.x() + _PADDING_PX, corner.y() + _PADDING_PX, _PICTURE_PX, _PICTURE_PX)
        painter.drawImage(picture, to_qimage(digit.picture))
        if digit.answer is not None:
            self._paint_words(painter, option, digit, str(index.data(_NAME_ROLE)), picture)
        painter.restore()

    def _paint_words(
        self, painter: QPainter, option: QStyleOptionViewItem, digit: ReadDigit, name: str, picture: QRectF
    ) -> None:
        scheme = theme.colours(option.palette)
        painter.setPen(QColor(scheme.text))
        painter.setFont(theme.title_font(option.font))
        beside = QRectF(picture.right(), picture.top(), _ANSWER_PX, _PICTURE_PX)
        # A name has no room there; it stands below, in place of how sure that is.
        if len(name) == 1:
            painter.drawText(beside, Qt.AlignmentFlag.AlignCenter, name)
        painter.setPen(QColor(scheme.muted))
        painter.setFont(theme.small_font(option.font))
        below = QRectF(picture.left(), picture.bottom(), _PICTURE_PX + _ANSWER_PX, _LINE_PX)
        words = _percent(digit) if len(name) == 1 else name
        elided = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, int(below.width()))
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, elided)


def _percent(digit: ReadDigit) -> str:
    assert digit.answer is not None
    return f"{QLocale().toString(digit.answer.confidence * 100, 'f', 0)} %"
