"""The choice of the device that computes, and the place where a missing GPU explains itself.

A room of its own because a device that cannot be used is more than a grey line: its popup entry carries the reason
and the remedy, so it draws its entries itself.
"""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QStandardItem, QStandardItemModel, QWheelEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from core.device import DeviceInfo
from gui import theme

_KEY = Qt.ItemDataRole.UserRole
_EXPLANATION = Qt.ItemDataRole.UserRole + 1
_LOOKING_KEY = ""
_POPUP_WIDTH_PX = 420
_PADDING_PX = 8
_LONGEST_COMMAND = 44
_NO_BREAK_SPACE = "\u00a0"


class DeviceSelector(QComboBox):
    """Shows every device of the machine; `device_selected` carries the key of the one chosen."""

    device_selected = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("deviceSelector")
        self.setAccessibleName(self.tr("Device"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(16)
        self._model = QStandardItemModel(self)
        self.setModel(self._model)
        self.setItemDelegate(_DeviceDelegate(self))
        self.view().setMinimumWidth(_POPUP_WIDTH_PX)
        self._reported, self._wanted = "cpu", ""
        self.show_looking()
        self.currentIndexChanged.connect(self._on_current_index_changed)

    def show_looking(self) -> None:
        """Until the devices are known: the CPU, and a grey line that says a GPU is being looked for."""
        explanation = self.tr("This takes a few seconds and does not hold up anything.")
        self._show_items(
            [
                _item("cpu", self.tr("CPU"), ""),
                _item(_LOOKING_KEY, self.tr("Looking for a GPU…"), explanation, enabled=False),
            ]
        )

    def show_devices(self, devices: Sequence[DeviceInfo]) -> None:
        """Show `devices`; the one chosen stays chosen if it is among them and can compute."""
        self._show_items([self._device_item(info) for info in devices])

    def selected_key(self) -> str:
        """The key of the device that is chosen, such as "cpu" or "cuda:0"."""
        return str(self.currentData(_KEY))

    def select(self, key: str) -> None:
        """Choose this device, now or as soon as it turns out that it can compute."""
        self._wanted = key
        row = self._row_to_choose(key)
        if row >= 0 and self._model.item(row).data(_KEY) == key:
            self.setCurrentIndex(row)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def _device_item(self, info: DeviceInfo) -> QStandardItem:
        name = info.name
        if info.memory_bytes:
            memory = self.locale().formattedDataSize(info.memory_bytes, 1)
            name = self.tr("%1, %2").replace("%2", memory).replace("%1", name)
        if info.available:
            return _item(info.key, name, "")
        name = self.tr("%1 (not available)").replace("%1", name)
        reason = _sentence(info.reason)
        remedy = _sentence(_keep_command_together(info.remedy))
        return _item(info.key, name, f"{reason}\n{remedy}".strip(), enabled=False)

    def _show_items(self, items: Sequence[QStandardItem]) -> None:
        chosen = self._wanted or self._reported
        self.blockSignals(True)
        self._model.clear()
        for item in items:
            self._model.appendRow(item)
        self.setCurrentIndex(self._row_to_choose(chosen))
        self.blockSignals(False)
        self.update()
        self._report()

    def _row_to_choose(self, key: str) -> int:
        usable = [row for row in range(self._model.rowCount()) if self._model.item(row).isEnabled()]
        same = [row for row in usable if self._model.item(row).data(_KEY) == key]
        return next(iter(same or usable), -1)

    @Slot(int)
    def _on_current_index_changed(self, _row: int) -> None:
        self._wanted = self.selected_key()
        self._report()

    def _report(self) -> None:
        self.setToolTip(theme.tooltip(self._explain()))
        key = self.selected_key()
        if key != self._reported:
            self._reported = key
            self.device_selected.emit(key)

    def _explain(self) -> str:
        lines = [
            self.tr(
                "Where the network is trained. Every device starts from the same weights; a GPU shortens the wait for "
                "large networks, while a small one may well be faster on the CPU."
            )
        ]
        for row in range(self._model.rowCount()):
            item = self._model.item(row)
            if not item.isEnabled():
                lines.append(f"{item.text()}: {item.data(_EXPLANATION)}")
        return "\n".join(lines)


def _item(key: str, name: str, explanation: str, *, enabled: bool = True) -> QStandardItem:
    item = QStandardItem(name)
    item.setData(key, _KEY)
    item.setData(explanation, _EXPLANATION)
    item.setToolTip(theme.tooltip(f"{name}: {explanation}") if explanation else name)
    item.setAccessibleDescription(explanation)
    item.setEnabled(enabled)
    item.setSelectable(enabled)
    return item


def _sentence(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    # A remedy may end in a command to copy: a full stop would become part of it.
    ending = "" if text[-1] in ".!?" or ".py" in text[-8:] else "."
    return text[0].upper() + text[1:] + ending


def _keep_command_together(remedy: str) -> str:
    words, colon, command = remedy.rpartition(": ")
    # Broken in two, a command is read wrongly.
    if len(command) > _LONGEST_COMMAND:
        return remedy
    return f"{words}{colon}{command.replace(' ', _NO_BREAK_SPACE)}"


class _DeviceDelegate(QStyledItemDelegate):
    """A name, and beneath it in small type why the device cannot be used and what helps."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        rect, palette, state, font = option.rect, option.palette, option.state, option.font
        scheme = theme.colours(palette)
        enabled = bool(index.flags() & Qt.ItemFlag.ItemIsEnabled)
        painter.save()
        if enabled and state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(scheme.hover))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), theme.RADIUS, theme.RADIUS)
        text_rect = rect.adjusted(_PADDING_PX, _PADDING_PX // 2, -_PADDING_PX, -_PADDING_PX // 2)
        name_height = QFontMetrics(font).height()
        painter.setFont(font)
        painter.setPen(QColor(scheme.text if enabled else scheme.muted))
        painter.drawText(text_rect, _NAME_FLAGS, str(index.data()))
        painter.setFont(theme.small_font(font))
        painter.setPen(QColor(scheme.muted))
        painter.drawText(text_rect.adjusted(0, name_height + 2, 0, 0), _WRAP_FLAGS, str(index.data(_EXPLANATION)))
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        font: QFont = option.font
        height = QFontMetrics(font).height() + 2 * _PADDING_PX // 2 + 4
        explanation = str(index.data(_EXPLANATION) or "")
        if explanation:
            # The view's frame, padding and scroll bar may take some of the width.
            room = QRect(0, 0, _POPUP_WIDTH_PX - 2 * _PADDING_PX - 24, 1000)
            height += QFontMetrics(theme.small_font(font)).boundingRect(room, _WRAP_FLAGS, explanation).height() + 4
        return QSize(_POPUP_WIDTH_PX - 24, height)


_NAME_FLAGS = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
_WRAP_FLAGS = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop) | int(Qt.TextFlag.TextWordWrap)
