"""The tab where devices are measured: the benchmark and the race, the devices they take, and their start and end.

A room of its own because both share everything but their page: the ticks, the buttons, the progress and the files.
"""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from core.device import DeviceInfo
from core.training.benchmark import BenchmarkEnded, BenchmarkJob, BenchmarkProgress, WidthFailed, WidthMeasured
from core.training.race import LapFailed, LapStarted, RaceEnded, RacePoint, RaceProgress
from gui import theme
from gui.widgets.benchmark_page import BenchmarkPage
from gui.widgets.control_names import ControlNames, name_controls
from gui.widgets.device_boxes import DeviceBoxes
from gui.widgets.file_export import as_csv, as_png, write
from gui.widgets.race_page import RacePage

_PROGRESS_STEPS = 1000


class BenchmarkPanel(QWidget):
    """Shows what is told by `show_event`; asks for a benchmark, for a race on devices, and for an end.

    `exported` and `export_failed` carry a sentence.
    """

    benchmark_requested = Signal(BenchmarkJob)
    race_requested = Signal(tuple)
    cancel_requested = Signal()
    exported = Signal(str)
    export_failed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._running = False
        self._can_measure = self._can_race = False
        self._boxes = DeviceBoxes()
        self._kinds = QTabBar()
        self._pages = QStackedWidget()
        self._benchmark, self._race = BenchmarkPage(), RacePage()
        self._start = QPushButton(self.tr("Start"))
        self._cancel = QPushButton(self.tr("Cancel"))
        self._progress = QProgressBar()
        self._words = QLabel(textFormat=Qt.TextFormat.PlainText)
        self._copy = QPushButton(self.tr("Copy table"))
        self._save_csv = QPushButton(self.tr("Save CSV…"))
        self._save_png = QPushButton(self.tr("Save PNG…"))
        self._events: Mapping[type, Callable] = {
            WidthMeasured: self._benchmark.add,
            WidthFailed: self._benchmark.add,
            LapStarted: self._race.add,
            RacePoint: self._race.add,
            LapFailed: self._race.add,
            BenchmarkProgress: self._show_benchmark_progress,
            RaceProgress: self._show_race_progress,
            BenchmarkEnded: self._show_end,
            RaceEnded: self._show_end,
        }
        self._name_controls()
        self._arrange()
        self._connect()
        self._show_state()

    def show_devices(self, devices: Sequence[DeviceInfo]) -> None:
        """Offer `devices`, those that cannot compute greyed with the reason."""
        self._boxes.show_devices(devices)

    def show_state(self, running: bool, can_measure: bool, can_race: bool) -> None:
        """Whether something is being measured here, and whether a benchmark or a race could begin now."""
        self._running, self._can_measure, self._can_race = running, can_measure, can_race
        self._show_state()

    def show_event(self, event: object) -> None:
        """Show what the benchmark or the race tells."""
        if (show := self._events.get(type(event))) is not None:
            show(event)

    def show_problem(self, sentence: str) -> None:
        """What was asked for could not begin or go on."""
        self._words.setText(sentence)

    def _name_controls(self) -> None:
        self._kinds.setObjectName("benchmarkKinds")
        self._kinds.setAccessibleName(self.tr("What to measure"))
        controls: Sequence[ControlNames] = (
            (
                self._start,
                "benchmarkStart",
                self.tr("Start measuring"),
                self.tr("Measure on every ticked device, one after the other. Leave the computer alone meanwhile."),
            ),
            (
                self._cancel,
                "benchmarkCancel",
                self.tr("Cancel measuring"),
                self.tr("End at the next step. What was measured so far stays."),
            ),
            (
                self._copy,
                "copyTable",
                self.tr("Copy the table"),
                self.tr("Put all figures on the clipboard, with tabs between, as spreadsheets take them."),
            ),
            (
                self._save_csv,
                "saveCsv",
                self.tr("Save the figures"),
                self.tr("Write all figures to a file, with commas between."),
            ),
            (
                self._save_png,
                "savePng",
                self.tr("Save the plot"),
                self.tr("Write the plot to a file, sharp enough to print."),
            ),
        )
        name_controls(controls)
        self._start.setProperty("primary", True)
        self._progress.setObjectName("benchmarkProgress")
        self._progress.setAccessibleName(self.tr("Progress of measuring"))
        self._words.setObjectName("benchmarkWords")

    def _arrange(self) -> None:
        for title, explanation, page in (
            (self.tr("Epoch by width"), self.tr("How long an epoch takes, by hidden units"), self._benchmark),
            (self.tr("Race"), self.tr("The same run on each device, against the clock"), self._race),
        ):
            self._kinds.setTabToolTip(self._kinds.addTab(title), theme.tooltip(explanation))
            self._pages.addWidget(page)
        self._kinds.setDrawBase(False)
        self._kinds.setExpanding(False)
        self._progress.setRange(0, _PROGRESS_STEPS)
        self._progress.setTextVisible(False)
        self._words.setProperty("muted", True)
        head, foot = QHBoxLayout(), QHBoxLayout()
        for row in (head, foot):
            row.setSpacing(theme.SPACING)
        head.addWidget(self._kinds, 1)
        head.addWidget(self._start)
        head.addWidget(self._cancel)
        foot.addWidget(self._words, 1)
        for button in (self._copy, self._save_csv, self._save_png):
            foot.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MARGIN, theme.SPACING, theme.MARGIN, theme.SPACING)
        layout.setSpacing(theme.SPACING)
        layout.addLayout(head)
        layout.addWidget(self._boxes)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self._progress)
        layout.addLayout(foot)

    def _connect(self) -> None:
        self._kinds.currentChanged.connect(self._pages.setCurrentIndex)
        self._kinds.currentChanged.connect(self._show_state)
        self._boxes.changed.connect(self._show_state)
        self._benchmark.changed.connect(self._show_state)
        self._race.changed.connect(self._show_state)
        self._start.clicked.connect(self._on_start_clicked)
        self._cancel.clicked.connect(self._on_cancel_clicked)
        self._copy.clicked.connect(self._on_copy_clicked)
        self._save_csv.clicked.connect(self._on_save_csv_clicked)
        self._save_png.clicked.connect(self._on_save_png_clicked)

    def _page(self) -> BenchmarkPage | RacePage:
        return self._benchmark if self._pages.currentIndex() == 0 else self._race

    @Slot()
    def _show_state(self) -> None:
        keys = self._boxes.chosen_keys()
        if self._page() is self._race:
            can_start = self._can_race
        else:
            can_start = self._can_measure and self._benchmark.job(keys) is not None
        self._start.setEnabled(can_start and bool(keys) and not self._running)
        self._cancel.setEnabled(self._running)
        self._boxes.setEnabled(not self._running)
        self._benchmark.set_running(self._running)
        has_figures = len(self._page().rows()) > 1
        for button in (self._copy, self._save_csv, self._save_png):
            button.setEnabled(has_figures)

    def _show_benchmark_progress(self, event: BenchmarkProgress) -> None:
        words = self.tr("Measuring %1 hidden units on %2…")
        number = QLocale().toString(event.hidden)
        self._words.setText(words.replace("%1", number).replace("%2", event.device_name))
        self._progress.setValue(round(_PROGRESS_STEPS * event.done))

    def _show_race_progress(self, event: RaceProgress) -> None:
        name = self._boxes.names().get(event.device_key, event.device_key)
        self._words.setText(self.tr("Training on %1…").replace("%1", name))
        self._progress.setValue(round(_PROGRESS_STEPS * event.done))

    def _show_end(self, event: BenchmarkEnded | RaceEnded) -> None:
        completed = event.outcome == "completed"
        stopped = self.tr("Cancelled. What was measured so far stays.")
        self._words.setText(self.tr("All measured.") if completed else stopped)
        self._progress.setValue(_PROGRESS_STEPS if completed else 0)

    @Slot()
    def _on_start_clicked(self) -> None:
        keys = self._boxes.chosen_keys()
        names = {key: name for key, name in self._boxes.names().items() if key in keys}
        self._words.setText(self.tr("Preparing the device…"))
        self._progress.setValue(0)
        if self._page() is self._race:
            self._race.begin(names)
            self.race_requested.emit(keys)
        elif (job := self._benchmark.job(keys)) is not None:
            self._benchmark.begin(job.hidden, names)
            self.benchmark_requested.emit(job)

    @Slot()
    def _on_cancel_clicked(self) -> None:
        self._words.setText(self.tr("Stopping…"))
        self.cancel_requested.emit()

    @Slot()
    def _on_copy_clicked(self) -> None:
        QApplication.clipboard().setText(as_csv(self._page().rows(), "\t"))
        self.exported.emit(self.tr("The table is on the clipboard."))

    @Slot()
    def _on_save_csv_clicked(self) -> None:
        page = self._page()
        self._save(
            self.tr("Save figures"), f"{page.file_name}.csv", self.tr("CSV (*.csv)"), as_csv(page.rows()).encode()
        )

    @Slot()
    def _on_save_png_clicked(self) -> None:
        page = self._page()
        self._save(self.tr("Save plot"), f"{page.file_name}.png", self.tr("PNG (*.png)"), as_png(page.plot))

    def _save(self, title: str, name: str, kinds: str, content: bytes) -> None:
        path, _ = QFileDialog.getSaveFileName(self, title, name, kinds)
        if path:
            saved, sentence = write(path, content)
            (self.exported if saved else self.export_failed).emit(sentence)
