"""The choice of a recipe: one of the presets, by its title.

A room of its own because what the choice means, what it teaches and which values it starts from belong to
core.training.presets; this widget only shows the names and says which one was chosen.
"""

from PySide6.QtCore import QCoreApplication, Qt, Signal, Slot
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QWidget

from core.training.presets import PRESETS
from gui import theme


class PresetSelector(QComboBox):
    """Shows the presets' titles; `preset_selected` carries the name of the one chosen."""

    preset_selected = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("presetSelector")
        self.setAccessibleName(self.tr("Preset"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        for row, preset in enumerate(PRESETS.values()):
            self.addItem(QCoreApplication.translate("presets", preset.title), preset.name)
            self.setItemData(row, theme.tooltip(_lesson(preset.name)), Qt.ItemDataRole.ToolTipRole)
        self._show_lesson()
        self.currentIndexChanged.connect(self._on_current_index_changed)

    def selected_name(self) -> str:
        """The name of the preset that is chosen."""
        return str(self.currentData())

    def select(self, name: str) -> None:
        """Choose the preset called `name`; raises ValueError if there is none."""
        row = self.findData(name)
        if row < 0:
            raise ValueError(f"there is no preset {name!r} in the selector")
        self.setCurrentIndex(row)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    @Slot(int)
    def _on_current_index_changed(self, _row: int) -> None:
        self._show_lesson()
        self.preset_selected.emit(self.selected_name())

    def _show_lesson(self) -> None:
        lesson = _lesson(self.selected_name())
        self.setAccessibleDescription(lesson)
        self.setToolTip(theme.tooltip(self.tr("A recipe to start from. %1").replace("%1", lesson)))


def _lesson(name: str) -> str:
    return QCoreApplication.translate("presets", PRESETS[name].lesson)
