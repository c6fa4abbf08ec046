"""Which devices to measure: a box to tick for each, and for one that cannot be used, why not.

A room of its own because, unlike the choice of one device to train on, any number may be ticked, and the reason for a
missing GPU must be read here without opening anything.
"""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QWidget

from core.device import DeviceInfo
from gui import theme

_COLUMNS = 2


class DeviceBoxes(QWidget):
    """A box a device; `changed` when a tick is set or taken."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("deviceBoxes")
        self._boxes: dict[str, QCheckBox] = {}
        self._shown: list[QWidget] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.MARGIN)
        self._grid.setVerticalSpacing(theme.SPACING // 2)
        self._grid.setColumnStretch(_COLUMNS - 1, 1)
        self.show_devices([DeviceInfo("cpu", self.tr("CPU"), available=True)])

    def show_devices(self, devices: Sequence[DeviceInfo]) -> None:
        """A ticked box for each device that can compute, a grey one with the reason for one that cannot.

        Devices that were there before keep their ticks.
        """
        before = {key: box.isChecked() for key, box in self._boxes.items() if box.isEnabled()}
        for widget in self._shown:
            widget.setParent(None)
            widget.deleteLater()
        self._boxes, self._shown = {}, []
        for info in devices:
            self._add(info, info.available and before.get(info.key, True))
        self.changed.emit()

    def chosen_keys(self) -> tuple[str, ...]:
        """The keys of the ticked devices, in the order shown."""
        return tuple(key for key, box in self._boxes.items() if box.isChecked())

    def names(self) -> dict[str, str]:
        """What each device is called, by its key."""
        return {key: box.text() for key, box in self._boxes.items()}

    def _add(self, info: DeviceInfo, ticked: bool) -> None:
        box = QCheckBox(info.name if info.available else self.tr("%1 (not available)").replace("%1", info.name))
        box.setObjectName(f"deviceBox-{info.key}")
        box.setAccessibleName(box.text())
        box.setChecked(ticked)
        box.setEnabled(info.available)
        box.toggled.connect(self._on_toggled)
        explanation = self.tr("Measure this device. Several take turns, so that none slows another down.")
        if not info.available:
            explanation = f"{info.reason[:1].upper()}{info.reason[1:]}. {info.remedy}"
        box.setToolTip(theme.tooltip(explanation))
        box.setAccessibleDescription(explanation)
        self._boxes[info.key] = box
        self._shown.append(box)
        row = (len(self._boxes) - 1) // _COLUMNS if info.available else self._grid.rowCount()
        self._grid.addWidget(box, row, (len(self._boxes) - 1) % _COLUMNS if info.available else 0)
        if not info.available:
            reason = QLabel(explanation, wordWrap=True)
            reason.setFont(theme.small_font(self.font()))
            reason.setProperty("muted", True)
            self._shown.append(reason)
            self._grid.addWidget(reason, row, 1)

    @Slot()
    def _on_toggled(self) -> None:
        self.changed.emit()
