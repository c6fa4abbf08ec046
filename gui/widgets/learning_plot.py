"""How a network learns, drawn while it does: accuracy above, loss below.

A room of its own because here time is kept: points are taken in at any rate, and the screen follows on a timer, one
plot at a tick, so that neither many points nor slow painting ever holds up the window.
"""

from PySide6.QtCore import QEvent, QLocale, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QContextMenuEvent, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gui import theme
from gui.widgets.control_names import name_controls
from gui.widgets.curve_history import COLUMNS, CurveHistory
from gui.widgets.curve_plot import SERIES, CurvePlot
from gui.widgets.file_export import Row, as_csv, as_png, write

REDRAW_INTERVAL_MS = 300


class LearningPlot(QWidget):
    """Takes points in with `add_point` and shows them; `exported` and `export_failed` carry a sentence."""

    exported = Signal(str)
    export_failed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._histories = {name: CurveHistory() for name in SERIES}
        hint = self.tr("Press Train and watch the network learn.")
        self._accuracy = CurvePlot("accuracy", self.tr("Accuracy (%)"), hint, axis_numbers=False)
        self._loss = CurvePlot("loss", self.tr("Loss"), "", axis_numbers=True)
        self._log = QCheckBox(self.tr("Log scale"))
        self._axis = QComboBox()
        self._place = QLabel()
        self._fit = QPushButton(self.tr("Fit"))
        self._waiting: list[CurvePlot] = []
        self._marks: list[tuple[dict[str, float], str]] = []
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_timeout)
        self.set_redraw_interval_ms(REDRAW_INTERVAL_MS)
        self._name_controls()
        self._arrange()
        self._connect()
        self._on_axis_changed()

    def add_point(self, series: str, samples: int, epoch: float, seconds: float, accuracy: float, loss: float) -> None:
        """Add a point to `series`, one of curve_plot.SERIES, with `accuracy` 0..1; it is drawn a little later."""
        self._histories[series].append(samples, epoch, seconds, accuracy, loss)
        self._redraw_soon()

    def add_mark(self, samples: int, epoch: float, seconds: float, words: str) -> None:
        """Mark this moment of the run with `words`: something was changed there."""
        self._marks.append(({"samples": samples, "epoch": epoch, "seconds": seconds}, words))
        self._show_marks()

    def reset(self) -> None:
        """Forget all points and marks: a new run begins."""
        self._marks = []
        self._histories = {name: CurveHistory() for name in SERIES}
        self._on_axis_changed()

    def axis(self) -> str:
        """What the curves are drawn against: one of curve_history.AXES."""
        return str(self._axis.currentData())

    def is_logarithmic(self) -> bool:
        """Whether the loss is spaced by its magnitude."""
        return self._log.isChecked()

    def show_as(self, axis: str, logarithmic: bool) -> None:
        """Draw the curves so; an axis that is none of curve_history.AXES changes nothing."""
        if (row := self._axis.findData(axis)) >= 0:
            self._axis.setCurrentIndex(row)
        self._log.setChecked(logarithmic)

    def set_redraw_interval_ms(self, interval_ms: int) -> None:
        """How long a plot may lag behind; the longer, the more of the processor is left to training."""
        # The two plots take turns.
        self._timer.setInterval(max(interval_ms // 2, 1))

    def export_points(self, path: str) -> None:
        """Write all points that are remembered, and not only those drawn, to `path` as CSV."""
        rows: list[Row] = [["series", *COLUMNS]]
        for name, history in self._histories.items():
            columns = [history.values(column).tolist() for column in COLUMNS]
            rows += [[name, int(samples), *rest] for samples, *rest in zip(*columns, strict=True)]
        self._save(path, as_csv(rows).encode())

    def export_picture(self, path: str) -> None:
        """Write the plots as they stand to `path` as PNG, sharp enough to print."""
        self._save(path, as_png(self))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._waiting:
            self._timer.start()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions(self.actions())
        menu.popup(event.globalPos())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._redraw_soon()

    def _name_controls(self) -> None:
        plots = (
            (self._accuracy, "accuracyPlot", self.tr("Accuracy"), self._explain_accuracy()),
            (self._loss, "lossPlot", self.tr("Loss"), self._explain_loss()),
        )
        for plot, name, title, explanation in plots:
            plot.canvas.setObjectName(name)
            plot.canvas.setAccessibleName(title)
            plot.canvas.setAccessibleDescription(explanation)
            plot.explain(explanation)
        controls = (
            (self._log, "logScale", self.tr("Log scale of the loss"), self._explain_log_scale()),
            (self._axis, "xAxis", self.tr("Horizontal axis"), self._explain_axis()),
            (self._fit, "fitButton", self.tr("Fit the plots"), self._explain_fit()),
        )
        name_controls(controls)

    def _explain_accuracy(self) -> str:
        return self.tr(
            "The share of digits read correctly: on those just learned from (train) and on those held out (validation, "
            "test, yours). Where train goes on rising and validation does not, it learns by heart. A star marks the "
            "best."
        )

    def _explain_loss(self) -> str:
        return self.tr(
            "What training makes smaller: how far the answers are from the right ones, sure mistakes counting most. It "
            "often tells of trouble before the accuracy does. A star marks the lowest."
        )

    def _explain_log_scale(self) -> str:
        return self.tr("Spaces the loss by its magnitude: late in a run small improvements stay visible.")

    def _explain_axis(self) -> str:
        return self.tr(
            "What learning is measured against: digits seen and epochs compare how well runs use the data, seconds how "
            "well they use the machine. Seconds count training steps only, without measurements and pauses."
        )

    def _explain_fit(self) -> str:
        return self.tr("Show the whole run again and follow it; so does a double click on a plot.")

    def _arrange(self) -> None:
        for title, column in (
            (self.tr("Digits seen"), "samples"),
            (self.tr("Epochs"), "epoch"),
            (self.tr("Seconds"), "seconds"),
        ):
            self._axis.addItem(title, column)
        self._loss.header.insertWidget(1, self._log)
        self._place.setProperty("muted", True)
        self._place.setObjectName("placeLabel")
        foot = QHBoxLayout()
        foot.setSpacing(theme.SPACING)
        foot.addWidget(self._axis)
        foot.addWidget(self._fit)
        foot.addStretch(1)
        foot.addWidget(self._place)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.MARGIN)
        layout.addWidget(self._accuracy, 1)
        layout.addWidget(self._loss, 1)
        layout.addLayout(foot)

    def _connect(self) -> None:
        self._axis.currentIndexChanged.connect(self._on_axis_changed)
        self._log.toggled.connect(self._on_log_toggled)
        self._fit.clicked.connect(self._on_axis_changed)
        for plot in (self._accuracy, self._loss):
            plot.fit_requested.connect(self._on_axis_changed)
            plot.pointed_at.connect(self._on_pointed_at)
            plot.pointer_left.connect(self._on_pointer_left)
            plot.moved_by_user.connect(self._on_moved_by_user)
        for text, slot in (
            (self.tr("Show the whole run"), self._on_axis_changed),
            (self.tr("Save points as CSV…"), self._on_export_points_triggered),
            (self.tr("Save picture as PNG…"), self._on_export_picture_triggered),
        ):
            action = QAction(text, self)
            action.triggered.connect(slot)
            self.addAction(action)

    def _redraw_soon(self) -> None:
        self._waiting += [plot for plot in (self._accuracy, self._loss) if plot not in self._waiting]
        # While the plots are out of sight there is nothing to draw; showEvent catches up.
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def _show_marks(self) -> None:
        marks = [(places[self._axis.currentData()], words) for places, words in self._marks]
        # The words stand above the upper plot; a line is enough below.
        self._accuracy.show_marks(marks)
        self._loss.show_marks([(x, "") for x, _ in marks])
        self._redraw_soon()

    @Slot()
    def _on_timeout(self) -> None:
        if self._waiting and self.isVisible():
            self._waiting.pop(0).draw()
        if not self._waiting or not self.isVisible():
            self._timer.stop()

    @Slot()
    def _on_axis_changed(self) -> None:
        for plot in (self._accuracy, self._loss):
            plot.show_histories(self._histories, self._axis.currentData())
        self._show_marks()
        self._on_pointer_left()
        self._redraw_soon()

    @Slot(bool)
    def _on_log_toggled(self, logarithmic: bool) -> None:
        self._loss.set_logarithmic(logarithmic)
        self._redraw_soon()

    @Slot(float, float)
    def _on_moved_by_user(self, low: float, high: float) -> None:
        for plot in (self._accuracy, self._loss):
            plot.show_range(low, high)
        self._redraw_soon()

    @Slot(float)
    def _on_pointed_at(self, x: float) -> None:
        history = max(self._histories.values(), key=len)
        if not len(history):
            return
        point = history.nearest(self._axis.currentData(), x)
        for plot in (self._accuracy, self._loss):
            plot.show_readings(float(history.values(self._axis.currentData())[point]))
        number = QLocale().toString
        text = self.tr("%1 digits · epoch %2 · %3 s")
        for place, value in (
            ("%1", number(int(history.values("samples")[point]))),
            ("%2", number(float(history.values("epoch")[point]), "f", 2)),
            ("%3", number(float(history.values("seconds")[point]), "f", 1)),
        ):
            text = text.replace(place, value)
        self._place.setText(text)

    @Slot()
    def _on_pointer_left(self) -> None:
        self._place.clear()
        for plot in (self._accuracy, self._loss):
            plot.show_readings(None)

    @Slot()
    def _on_export_points_triggered(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, self.tr("Save points"), "learning.csv", self.tr("CSV (*.csv)"))
        if path:
            self.export_points(path)

    @Slot()
    def _on_export_picture_triggered(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, self.tr("Save picture"), "learning.png", self.tr("PNG (*.png)"))
        if path:
            self.export_picture(path)

    def _save(self, path: str, content: bytes) -> None:
        saved, sentence = write(path, content)
        (self.exported if saved else self.export_failed).emit(sentence)
