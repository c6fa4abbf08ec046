"""The list of kept runs: a row each, with a small picture of how its accuracy rose.

A room of its own because it is driven by keys as well as by the mouse: Space ticks, F2 renames, Enter and Delete ask.
"""

from pathlib import Path

import numpy as np
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from core.training.ledger import RunSummary
from core.training.run_info import MAX_NAME
from gui import theme
from gui.widgets.run_curves import curve_of
from gui.widgets.runs_model import ACCURACY, CURVE, DATA, DEVICE, NAME, PRESET, STATE, STYLE_ROLE, TIME, RunsModel

_ROW_PX = 28
_COLUMN_WIDTHS_PX = {PRESET: 94, DATA: 98, DEVICE: 56, STATE: 82, ACCURACY: 68, TIME: 54, CURVE: 50}
_SPARK_WIDTH_PX = 1.4


class RunsTable(QTableView):
    """Shows what its model holds; `run_opened` by Enter or a double click, `delete_requested` by the Delete key."""

    current_changed = Signal()
    run_opened = Signal()
    delete_requested = Signal()

    def __init__(self, model: RunsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._path: Path | None = None
        self.setModel(model)
        self.setItemDelegateForColumn(NAME, _NameDelegate(self))
        self.setItemDelegateForColumn(CURVE, _SparkDelegate(self))
        self._set_up()
        model.modelAboutToBeReset.connect(self._on_about_to_be_reset)
        model.modelReset.connect(self._on_reset)
        self.selectionModel().currentRowChanged.connect(self.current_changed)
        self.doubleClicked.connect(self._on_double_clicked)

    def current_run(self) -> RunSummary | None:
        """The run the keys and buttons are about."""
        row = self.currentIndex().row()
        return self._model.run(row) if 0 <= row < self._model.rowCount() else None

    def rename_current(self) -> None:
        """Let the name be edited in place."""
        if self.currentIndex().isValid():
            self.edit(self._model.index(self.currentIndex().row(), NAME))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, editing = event.key(), self.state() == QAbstractItemView.State.EditingState
        if editing or self.current_run() is None:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.run_opened.emit()
        elif key == Qt.Key.Key_Delete:
            self.delete_requested.emit()
        elif key == Qt.Key.Key_F2:
            self.rename_current()
        elif key == Qt.Key.Key_Space:
            # Whichever column the focus is in.
            index = self._model.index(self.currentIndex().row(), NAME)
            self._model.setData(index, None, Qt.ItemDataRole.CheckStateRole)
        else:
            super().keyPressEvent(event)

    def _set_up(self) -> None:
        self.setObjectName("runsTable")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_PX)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setFixedHeight(_ROW_PX)
        header.setMinimumSectionSize(40)
        for column, width in _COLUMN_WIDTHS_PX.items():
            header.resizeSection(column, width)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)

    @Slot()
    def _on_about_to_be_reset(self) -> None:
        run = self.current_run()
        self._path = None if run is None else run.path

    @Slot()
    def _on_reset(self) -> None:
        """Stay with the run that was chosen, or begin with the latest."""
        row = -1 if self._path is None else self._model.row_of(self._path)
        if self._model.rowCount():
            self.setCurrentIndex(self._model.index(max(row, 0), NAME))
        self.current_changed.emit()

    @Slot(QModelIndex)
    def _on_double_clicked(self, _index: QModelIndex) -> None:
        self.run_opened.emit()


class _NameDelegate(QStyledItemDelegate):
    """Its editor takes no name that would be cut."""

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        editor = QLineEdit(parent)
        editor.setMaxLength(MAX_NAME)
        editor.setObjectName("runName")
        editor.setAccessibleName(self.tr("Name of the run"))
        return editor


class _SparkDelegate(QStyledItemDelegate):
    """How the accuracy rose, from its own lowest to its own highest point, in the colour of the run's curve."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        model = index.model()
        assert isinstance(model, RunsModel)
        curve = curve_of(model.run(index.row()))
        if not curve.accuracy:
            return
        place = QRectF(option.rect).adjusted(theme.SPACING, theme.SPACING, -theme.SPACING, -theme.SPACING)
        x, y = np.array(curve.samples), np.array(curve.accuracy)
        across, up = (x - x[0]) / (np.ptp(x) or 1.0), (y - y.min()) / (np.ptp(y) or 1.0)
        points = [
            QPointF(place.left() + a * place.width(), place.bottom() - u * place.height())
            for a, u in zip(across, up, strict=True)
        ]
        # The table's own palette is without a background.
        table = self.parent()
        assert isinstance(table, QTableView)
        palette = table.window().palette()
        colour = theme.series_colour(str(index.data(STYLE_ROLE)), theme.colours(palette))
        pen = QPen(QColor(colour), _SPARK_WIDTH_PX)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen)
        painter.drawPolyline(QPolygonF(points)) if len(points) > 1 else painter.drawEllipse(points[0], 1.5, 1.5)
        painter.restore()
