"""What a benchmark is asked for and what it came to: widths and recipe above, then the plot, a table and the lesson.

A room of its own because it keeps the results: plot, table, lesson and file all show the same ones.
"""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from core.training.benchmark import HIDDEN, PRESETS, BenchmarkJob, WidthFailed, WidthMeasured, read_widths
from core.training.benchmark_lesson import crossovers, lesson
from core.training.hyperparameters import HyperparameterError
from core.training.presets import find_preset
from gui import theme
from gui.widgets.benchmark_plot import BenchmarkPlot
from gui.widgets.control_names import ControlNames, name_controls
from gui.widgets.file_export import Row
from gui.widgets.finding_texts import in_words

_MOST_ROWS = 4
_COLUMN_WIDTHS_PX = {0: 92, 2: 72, 3: 80, 4: 68}
_ROW_PX = 24


class BenchmarkPage(QWidget):
    """`changed` when something is chosen or a result has come."""

    changed = Signal()
    file_name = "benchmark"

    def __init__(self) -> None:
        super().__init__()
        self._widths: tuple[int, ...] = HIDDEN
        self._names: Mapping[str, str] = {}
        self._measured: list[WidthMeasured] = []
        self._failed: list[WidthFailed] = []
        self._field = QLineEdit(", ".join(str(units) for units in HIDDEN))
        self._field.setCursorPosition(0)
        self._preset = QComboBox()
        self._problem = QLabel(wordWrap=True)
        self.plot = BenchmarkPlot()
        self._table = QTableWidget(0, 5)
        self._lesson = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._name_controls()
        self._set_up_table()
        self._arrange()
        self._field.textChanged.connect(self._on_text_changed)
        self._show()

    def job(self, device_keys: Sequence[str]) -> BenchmarkJob | None:
        """What is chosen, for these devices; None if the widths cannot be read."""
        try:
            return BenchmarkJob(self._preset.currentData(), read_widths(self._field.text()), tuple(device_keys))
        except HyperparameterError:
            return None

    def set_running(self, running: bool) -> None:
        """While something is measured, nothing is chosen."""
        self._field.setEnabled(not running)
        self._preset.setEnabled(not running)

    def begin(self, widths: Sequence[int], names: Mapping[str, str]) -> None:
        """A new benchmark of these widths on the devices of these `names`, by key: what was there goes."""
        self._widths, self._names = tuple(widths), dict(names)
        self._measured, self._failed = [], []
        # Room for what will come: the plot above should not shrink with every result.
        self._table.setFixedHeight((1 + min(len(self._widths) * len(self._names), _MOST_ROWS)) * _ROW_PX)
        self._table.show()
        self._show()

    def add(self, result: WidthMeasured | WidthFailed) -> None:
        """Show one more result."""
        if isinstance(result, WidthMeasured):
            self._measured.append(result)
            self._names = {**self._names, result.device_key: result.device_name}
        else:
            self._failed.append(result)
        self._show()

    def rows(self) -> list[Row]:
        """All that was measured, under the names of the columns."""
        rows: list[Row] = [["device", "device name", "hidden", "seconds", "digits/s", "flop/s", "share of peak"]]
        for result in self._measured:
            speeds = result.digits_per_second, result.flops_per_second, result.share_of_peak
            rows.append([result.device_key, result.device_name, result.hidden, result.seconds, *speeds])
        return rows

    def _show(self) -> None:
        self.plot.show_results(self._widths, self._measured, self._names, crossovers(self._measured))
        results: list[WidthMeasured | WidthFailed] = [*self._measured, *self._failed]
        order = list(self._names)
        results.sort(key=lambda result: (result.hidden, order.index(result.device_key)))
        self._table.clearSpans()
        self._table.setRowCount(len(results))
        for row, result in enumerate(results):
            self._show_row(row, result)
        if results:
            self._table.scrollToBottom()
        hint = self.tr("Each width is trained for one epoch on each ticked device, after a warm-up; nothing is kept.")
        # A device that cannot be opened fails at each width, and is told of once.
        reasons = [f"{reason}." for reason in dict.fromkeys(failure.reason.rstrip(".") for failure in self._failed)]
        self._lesson.setText(" ".join(filter(None, [in_words(lesson(self._measured)), *reasons])) or hint)
        self.changed.emit()

    def _show_row(self, row: int, result: WidthMeasured | WidthFailed) -> None:
        number = QLocale().toString
        cells = [number(result.hidden), self._names[result.device_key]]
        if isinstance(result, WidthMeasured):
            cells += [
                number(result.seconds, "f", 2),
                number(round(result.digits_per_second)),
                f"{number(100 * result.share_of_peak, 'f', 1)} %",
            ]
        else:
            cells.append(result.reason)
            self._table.setSpan(row, 2, 1, 3)
        for column, text in enumerate(cells):
            item = QTableWidgetItem(text)
            is_number = column != 1 and not (column == 2 and isinstance(result, WidthFailed))
            item.setTextAlignment(_side(is_number=is_number))
            item.setToolTip(theme.tooltip(text))
            self._table.setItem(row, column, item)

    def _name_controls(self) -> None:
        for name in PRESETS:
            self._preset.addItem(find_preset(name).title, name)
        controls: Sequence[ControlNames] = (
            (
                self._field,
                "widthsField",
                self.tr("Widths of the hidden layer"),
                self.tr(
                    "How many hidden units to try, small to large, with commas between. Each width takes about as many "
                    "times longer as it is larger, once the device has enough to do."
                ),
            ),
            (
                self._preset,
                "benchmarkPreset",
                self.tr("Recipe of the benchmark"),
                self.tr(
                    "The network and the way it is trained; only its width changes. The PyCUDA perceptron is the one "
                    "whose times were published in 2017."
                ),
            ),
            (
                self._table,
                "benchmarkTable",
                self.tr("Results"),
                self.tr(
                    "The share of the peak says how much of what a device can do in one large matrix product is left "
                    "in training: the rest goes into starting work, moving numbers and waiting."
                ),
            ),
        )
        name_controls(controls)
        self._problem.setProperty("problem", True)
        self._problem.setObjectName("widthsProblem")
        self._lesson.setObjectName("benchmarkLesson")
        self._lesson.setAccessibleName(self.tr("What was found"))
        self._lesson.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def _set_up_table(self) -> None:
        table = self._table
        titles = self.tr("Hidden units"), self.tr("Device"), self.tr("Seconds"), self.tr("Digits/s"), self.tr("Peak")
        for column, title in enumerate(titles):
            item = QTableWidgetItem(title)
            item.setTextAlignment(_side(is_number=column != 1))
            table.setHorizontalHeaderItem(column, item)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(_ROW_PX)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        table.setFrameShape(QTableWidget.Shape.NoFrame)
        table.setShowGrid(False)
        header = table.horizontalHeader()
        for column, width in _COLUMN_WIDTHS_PX.items():
            header.resizeSection(column, width)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header.setHighlightSections(False)
        header.setFixedHeight(_ROW_PX)
        table.hide()

    def _arrange(self) -> None:
        choices = QHBoxLayout()
        choices.setSpacing(theme.SPACING)
        for title, field, stretch in (
            (self.tr("Hidden &units"), self._field, 1),
            (self.tr("Re&cipe"), self._preset, 0),
        ):
            label = QLabel(title)
            label.setBuddy(field)
            choices.addWidget(label)
            choices.addWidget(field, stretch)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACING)
        layout.addLayout(choices)
        layout.addWidget(self._problem)
        layout.addWidget(self.plot, 1)
        layout.addWidget(self._table)
        layout.addWidget(self._lesson)
        self._problem.hide()

    @Slot()
    def _on_text_changed(self) -> None:
        try:
            read_widths(self._field.text())
            self._problem.hide()
        except HyperparameterError as error:
            self._problem.setText(str(error)[:1].upper() + str(error)[1:] + ".")
            self._problem.show()
        self.changed.emit()


def _side(*, is_number: bool) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if is_number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
