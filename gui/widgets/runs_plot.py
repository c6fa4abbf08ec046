"""The accuracy of any number of kept runs, one over the other, and what each read at the place that is pointed at."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QLocale, QObject, QPointF, Signal, Slot

from core.training.ledger import Curve, RunSummary
from gui import theme
from gui.widgets.file_export import Row
from gui.widgets.run_curves import curve_of
from gui.widgets.run_texts import run_name
from gui.widgets.series_plot import Series, SeriesPlot, View, range_of_accuracies

AXES = ("samples", "seconds")
_ROOM = 1.04
_LONGEST_NAME = 22
_NOTHING_YET = {"samples": 60_000.0, "seconds": 10.0}

StyledRun: TypeAlias = tuple[RunSummary, str]


class RunsPlot(SeriesPlot):
    """One line a run: its validation accuracy, or where it has none, the one that was measured."""

    pointed_at = Signal(object)

    def __init__(self) -> None:
        super().__init__(self.tr("Accuracy (%)"), "")
        self._runs: list[StyledRun] = []
        self._axis = AXES[0]
        self._pointer = pg.InfiniteLine(angle=90)
        self._pointer.hide()
        self.canvas.addItem(self._pointer, ignoreBounds=True)
        self.canvas.setObjectName("runsPlot")
        self.canvas.setAccessibleName(self.tr("Accuracy of the ticked runs"))
        explanation = self.tr(
            "The ticked runs over each other: on the digits held out, against the digits learned from, which compares "
            "how well each uses the data, or against seconds of training, which compares how fast each gets there."
        )
        self.canvas.setAccessibleDescription(explanation)
        self.legend.setToolTip(theme.tooltip(explanation))
        self.canvas.installEventFilter(self)
        self.canvas.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.show_runs([], self._axis)

    def show_runs(self, runs: Sequence[StyledRun], axis: str) -> None:
        """Draw each run in its style against `axis`, one of AXES."""
        self._runs, self._axis = list(runs), axis
        titles = {"samples": self.tr("Digits seen"), "seconds": self.tr("Seconds of training")}
        self._x_title = titles[axis]
        series = []
        for run, style in runs:
            curve = curve_of(run)
            series.append(Series(run_name(run), style, getattr(curve, axis), [100.0 * y for y in curve.accuracy]))
        longest = max((x for one in series for x in one.x), default=0.0) or _NOTHING_YET[axis]
        self.show_series(series, View((0.0, _ROOM * longest), range_of_accuracies(series)))
        self.show_readings(None)

    def show_readings(self, x: float | None) -> None:
        """Let the legend say what each run read at `x`, and mark the place; None: what each read last."""
        entries = []
        for run, style in self._runs:
            reading = self._reading(curve_of(run), x)
            entries.append((_short(run_name(run)) + ("" if reading is None else f"  {reading}"), style))
        self.legend.show_entries(entries)
        self._pointer.setVisible(x is not None)
        if x is not None:
            self._pointer.setPos(x)
        self.pointed_at.emit(x)

    def rows(self) -> list[Row]:
        """All points that are drawn, under the names of the columns."""
        rows: list[Row] = [["run", "name", "samples", "seconds", "accuracy"]]
        for run, _ in self._runs:
            points = zip(*vars(curve_of(run)).values(), strict=True)
            rows += [[run.path.name, run_name(run), int(samples), *rest] for samples, *rest in points]
        return rows

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice the mouse leaving the plot, which pyqtgraph keeps to itself."""
        if event.type() == QEvent.Type.Leave:
            self.show_readings(None)
        return super().eventFilter(watched, event)

    def _reading(self, curve: Curve, x: float | None) -> str | None:
        if not curve.accuracy:
            return None
        places = np.array(getattr(curve, self._axis))
        nearest = -1 if x is None else int(np.abs(places - x).argmin())
        return f"{QLocale().toString(100.0 * curve.accuracy[nearest], 'f', 2)} %"

    def _restyle(self) -> None:
        super()._restyle()
        if hasattr(self, "_pointer"):
            self._pointer.setPen(theme.thin_pen(theme.colours(self.palette()).muted))

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        box = self.canvas.getViewBox()
        inside = box.sceneBoundingRect().contains(position) and bool(self._runs)
        self.show_readings(float(box.mapSceneToView(position).x()) if inside else None)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1].rstrip()}…"
