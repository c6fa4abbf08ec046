"""The kept runs as rows and columns, and which of them are ticked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from core.training.ledger import RunSummary
from gui import theme
from gui.widgets import run_texts
from gui.widgets.run_curves import told_apart, with_styles

NAME, PRESET, DATA, DEVICE, STATE, ACCURACY, TIME, CURVE = range(8)
STYLE_ROLE = Qt.ItemDataRole.UserRole
_CHECKED, _UNCHECKED = Qt.CheckState.Checked.value, Qt.CheckState.Unchecked.value

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class RunsModel(QAbstractTableModel):
    """`ticks_changed` when another set of runs is to be drawn; `renamed` carries a run and the name it is given."""

    ticks_changed = Signal()
    renamed = Signal(RunSummary, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs: list[RunSummary] = []
        self._ticked: set[Path] = set()
        self._styles: dict[str, str] = {}
        self._titles = (
            self.tr("Run"),
            self.tr("Preset"),
            self.tr("Data"),
            self.tr("Device"),
            self.tr("State"),
            self.tr("Accuracy"),
            self.tr("Time"),
            self.tr("Curve"),
        )

    def show_runs(self, runs: Sequence[RunSummary]) -> None:
        """These in this order; ticks and styles stay with the runs that were there before."""
        self.beginResetModel()
        self._runs = list(runs)
        self._styles = with_styles(self._styles, runs)
        self._ticked &= {run.path for run in runs}
        self.endResetModel()
        self.ticks_changed.emit()

    def run(self, row: int) -> RunSummary:
        """The run in this row."""
        return self._runs[row]

    def row_of(self, path: Path) -> int:
        """The row of the run at `path`, -1 if there is none."""
        return next((row for row, run in enumerate(self._runs) if run.path == path), -1)

    def ticked(self) -> list[tuple[RunSummary, str]]:
        """The runs to draw, each with its style."""
        return [(run, self._styles[run.path.name]) for run in self._runs if run.path in self._ticked]

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._runs)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._titles)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(section)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if index.column() == NAME and self._runs[index.row()].info is not None:
            flags |= Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        run, column = self._runs[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(run, column)
        if role == Qt.ItemDataRole.EditRole:
            return run_texts.run_name(run)
        if role == Qt.ItemDataRole.CheckStateRole and column == NAME and run.info is not None:
            return _CHECKED if run.path in self._ticked else _UNCHECKED
        if role == Qt.ItemDataRole.ToolTipRole:
            return theme.tooltip(run_texts.explanation(run))
        if role == Qt.ItemDataRole.AccessibleTextRole and column == CURVE:
            return self.tr("Curve of the accuracy")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(column)
        return self._styles[run.path.name] if role == STYLE_ROLE else None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        run = self._runs[index.row()]
        if role == Qt.ItemDataRole.CheckStateRole:
            if run.path not in self._ticked:
                name = run.path.name
                self._styles[name] = told_apart(self._styles, name, [path.name for path in self._ticked])
            self._ticked ^= {run.path}
            self.dataChanged.emit(self.index(index.row(), 0), self.index(index.row(), CURVE))
            self.ticks_changed.emit()
            return True
        # The time it is called by, left as it was, is no name.
        if role == Qt.ItemDataRole.EditRole and str(value).strip() != run_texts.run_name(run):
            self.renamed.emit(run, str(value).strip())
        return False

    def _text(self, run: RunSummary, column: int) -> str:
        texts = {
            NAME: run_texts.run_name,
            PRESET: run_texts.preset_title,
            DATA: run_texts.data_title,
            DEVICE: lambda run: run.device_key.upper(),
            STATE: run_texts.state_in_words,
            ACCURACY: run_texts.accuracy_in_words,
            TIME: run_texts.time_in_words,
        }
        return texts[column](run) if column in texts else ""


def _side(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in (ACCURACY, TIME) else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
