"""The user's own digits side by side, as the network sees them, to be chosen, relabelled and deleted.

A room of its own because it is driven by keys as well as by the mouse: 0 to 9 relabel what is chosen, Delete asks.
"""

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gui import theme
from gui.widgets.grey_image import to_qimage
from gui.widgets.own_digits_model import DIGIT_ROLE, OwnDigit, OwnDigitsModel

_PICTURE_PX = 56
"""Twice 28: every pixel the network sees is a square of two."""
_WORDS_PX = 20
_PADDING_PX = 5
_CELL = QSize(_PICTURE_PX + 2 * _PADDING_PX, _PICTURE_PX + _WORDS_PX + 2 * _PADDING_PX)


class OwnDigitsGrid(QListView):
    """Shows what its model holds; `label_chosen` carries 0 to 9."""

    label_chosen = Signal(int)
    delete_requested = Signal()
    chosen_changed = Signal()

    def __init__(self, model: OwnDigitsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._keys: set[str] = set()
        self.setModel(model)
        self.setItemDelegate(_CellDelegate(self))
        self._set_up()
        model.modelAboutToBeReset.connect(self._on_about_to_be_reset)
        model.modelReset.connect(self._on_reset)
        self.selectionModel().selectionChanged.connect(self.chosen_changed)

    def chosen(self) -> list[OwnDigit]:
        """The digits that are selected, in the order of the file."""
        rows = sorted(index.row() for index in self.selectionModel().selectedIndexes())
        return [self._model.digit(row) for row in rows]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        text, plain = event.text(), not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and plain:
            self.delete_requested.emit()
        elif plain and len(text) == 1 and text in "0123456789":
            self.label_chosen.emit(int(text))
        else:
            super().keyPressEvent(event)

    def _set_up(self) -> None:
        self.setObjectName("ownDigits")
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setMovement(QListView.Movement.Static)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionRectVisible(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)

    @Slot()
    def _on_about_to_be_reset(self) -> None:
        self._keys = {digit.key for digit in self.chosen()}

    @Slot()
    def _on_reset(self) -> None:
        """Stay with what was chosen, as far as it is still there."""
        still = QItemSelection()
        for row in range(self._model.rowCount()):
            if self._model.digit(row).key in self._keys:
                still.select(self._model.index(row), self._model.index(row))
        self.selectionModel().select(still, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self.chosen_changed.emit()


class _CellDelegate(QStyledItemDelegate):
    """A digit in squares, its label below, and beside it whether the network agrees: by sign, word and colour."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return _CELL

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        digit: OwnDigit = index.data(DIGIT_ROLE)
        scheme = theme.colours(option.palette)
        cell = QRectF(option.rect).adjusted(1.5, 1.5, -1.5, -1.5)
        left, top = option.rect.x() + _PADDING_PX, option.rect.y() + _PADDING_PX
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(scheme.accent), 2))
            painter.setBrush(QColor(scheme.hover))
            painter.drawRoundedRect(cell, theme.RADIUS, theme.RADIUS)
        # Views smooth what they scale; here every pixel is to be seen.
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        painter.drawImage(QRectF(left, top, _PICTURE_PX, _PICTURE_PX), to_qimage(digit.picture))
        words = QRectF(left, top + _PICTURE_PX, _PICTURE_PX, _WORDS_PX)
        painter.setFont(theme.title_font(option.font))
        painter.setPen(QColor(scheme.text))
        painter.drawText(words.adjusted(4, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, str(digit.label))
        if digit.answer is not None:
            painter.setPen(QColor(scheme.problem if digit.is_wrong else scheme.muted))
            verdict = f"✗ {digit.answer}" if digit.is_wrong else "✓"
            right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(words.adjusted(0, 0, -4, 0), right, verdict)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(scheme.text), 1, Qt.PenStyle.DotLine))
            painter.drawRoundedRect(cell, theme.RADIUS, theme.RADIUS)
        painter.restore()
