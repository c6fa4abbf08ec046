"""The plot of the ticked runs with what belongs to it: the choice of its axis, and its way into a file."""

from collections.abc import Sequence

from PySide6.QtCore import QLocale, Signal, Slot
from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QLabel, QMenu, QPushButton, QVBoxLayout, QWidget

from gui import theme
from gui.widgets.file_export import as_csv, as_png, as_svg, write
from gui.widgets.runs_plot import AXES, RunsPlot, StyledRun


class RunsOverlay(QWidget):
    """`exported` and `export_failed` carry a sentence."""

    exported = Signal(str)
    export_failed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._runs: Sequence[StyledRun] = ()
        self.plot = RunsPlot()
        self._axis = QComboBox()
        self._place = QLabel()
        self._export = QPushButton(self.tr("Export"))
        self._arrange()
        self._axis.currentIndexChanged.connect(self._show)
        self.plot.pointed_at.connect(self._on_pointed_at)
        self._show()

    def show_runs(self, runs: Sequence[StyledRun]) -> None:
        """Draw these."""
        self._runs = runs
        self._show()

    def _arrange(self) -> None:
        for title, axis in zip((self.tr("Digits seen"), self.tr("Seconds")), AXES, strict=True):
            self._axis.addItem(title, axis)
        explanation = self.tr("What the runs are compared by: digits seen for how they learn, seconds for how fast.")
        self._axis.setObjectName("runsAxis")
        self._axis.setAccessibleName(self.tr("Horizontal axis of the runs"))
        self._axis.setToolTip(theme.tooltip(explanation))
        self._place.setProperty("muted", True)
        self._place.setObjectName("runsPlace")
        self._export.setObjectName("exportRuns")
        self._export.setToolTip(theme.tooltip(self.tr("Write the curves of the ticked runs to a file.")))
        menu = QMenu(self)
        for text, save in (
            (self.tr("Points as CSV…"), self._on_csv_triggered),
            (self.tr("Picture as PNG…"), self._on_png_triggered),
            (self.tr("Drawing as SVG…"), self._on_svg_triggered),
        ):
            menu.addAction(text).triggered.connect(save)
        self._export.setMenu(menu)
        foot = QHBoxLayout()
        foot.setSpacing(theme.SPACING)
        foot.addWidget(self._axis)
        foot.addWidget(self._place, 1)
        foot.addWidget(self._export)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACING)
        layout.addWidget(self.plot, 1)
        layout.addLayout(foot)

    @Slot()
    def _show(self) -> None:
        self.plot.show_runs(self._runs, self._axis.currentData())
        self._export.setEnabled(bool(self._runs))

    @Slot(object)
    def _on_pointed_at(self, x: float | None) -> None:
        if x is None:
            words = "" if self._runs else self.tr("Tick runs to see their curves.")
            self._place.setText(words)
            return
        words = self.tr("%1 digits") if self._axis.currentData() == "samples" else self.tr("%1 s")
        decimals = 0 if self._axis.currentData() == "samples" else 1
        self._place.setText(words.replace("%1", QLocale().toString(max(x, 0.0), "f", decimals)))

    @Slot()
    def _on_csv_triggered(self) -> None:
        self._save("csv", as_csv(self.plot.rows()).encode())

    @Slot()
    def _on_png_triggered(self) -> None:
        self._save("png", as_png(self.plot))

    @Slot()
    def _on_svg_triggered(self) -> None:
        self._save("svg", as_svg(self.plot))

    def _save(self, kind: str, content: bytes) -> None:
        kinds = f"{kind.upper()} (*.{kind})"
        path, _ = QFileDialog.getSaveFileName(self, self.tr("Save curves"), f"runs.{kind}", kinds)
        if path:
            saved, sentence = write(path, content)
            (self.exported if saved else self.export_failed).emit(sentence)
