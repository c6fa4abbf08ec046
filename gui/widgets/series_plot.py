"""A plot of a few short series with a legend above it: what the benchmark and the race are drawn with.

A room of its own because both want the same of pyqtgraph: still axes, points that can be told apart without colour,
places marked with words, and colours that follow the palette.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gui import theme
from gui.widgets.curve_item import CurveItem
from gui.widgets.plot_canvas import GRID_ALPHA, PlotCanvas
from gui.widgets.plot_range import accuracy_range
from gui.widgets.series_legend import SeriesLegend

_SYMBOL_PX = 7
_FEW_POINTS = 30
_LEAST_HEIGHT_PX = 150

Ticks = Sequence[tuple[float, str]]


@dataclass(frozen=True)
class Series:
    """A line through points (x, y) called `name`, drawn as `theme.series_pen` draws `style`."""

    name: str
    style: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class View:
    """The stretch of both axes in sight, and the numbers along them; places are the plot's own, whatever they mean."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_ticks: Ticks | None = None
    y_ticks: Ticks | None = None


def range_of_accuracies(series: Sequence[Series]) -> tuple[float, float]:
    """Where to show `series` of percents: that of all that follows the first third."""
    return accuracy_range(min((value for one in series for value in one.y[len(one.y) // 3 :]), default=0.0))


class SeriesPlot(QWidget):
    """Draws what it is given, all of it at once; nothing in it can be moved. `title` says what goes upwards."""

    def __init__(self, title: str, x_title: str) -> None:
        super().__init__()
        self._title = QLabel(title)
        self.legend = SeriesLegend()
        self.canvas = PlotCanvas()
        self._x_title = x_title
        self._series: list[Series] = []
        self._lines: list[CurveItem] = []
        self._dots: list[pg.ScatterPlotItem] = []
        self._marks: list[pg.InfiniteLine] = []
        self._set_up_canvas()
        self._arrange()
        self._restyle()

    def show_series(self, series: Sequence[Series], view: View) -> None:
        """Draw `series` in this view; one with no points has its place in the legend."""
        for item in (*self._lines, *self._dots):
            self.canvas.removeItem(item)
        self._series = list(series)
        self._lines = [CurveItem() for _ in series]
        self._dots = [pg.ScatterPlotItem(size=_SYMBOL_PX, pxMode=True, useCache=False) for _ in series]
        for one, line, dots in zip(series, self._lines, self._dots, strict=True):
            line.setData(np.array(one.x, float), np.array(one.y, float))
            # Many of them would hide their own line; a single one is no line.
            if len(one.x) <= (_FEW_POINTS if one.style in theme.CURVE_SYMBOLS else 1):
                symbol = theme.CURVE_SYMBOLS.get(one.style, "o")
                dots.setData(np.array(one.x, float), np.array(one.y, float), symbol=symbol)
            self.canvas.addItem(line, ignoreBounds=True)
            self.canvas.addItem(dots, ignoreBounds=True)
        self.legend.show_entries([(one.name, one.style) for one in series])
        self.canvas.bottom.setTicks(None if view.x_ticks is None else [view.x_ticks])
        self.canvas.left.setTicks(None if view.y_ticks is None else [view.y_ticks])
        self.canvas.show_range(view.x_range, view.y_range)
        self._restyle()

    def show_marks(self, upright: Sequence[tuple[float, str]], level: Sequence[tuple[float, str]] = ()) -> None:
        """Draw a line through these places of the horizontal (`upright`) and the vertical axis, words beside each.

        To be called after `show_series`, whose view decides where there is room.
        """
        for line in self._marks:
            self.canvas.removeItem(line)
        self._marks = []
        middle = sum(self.canvas.getViewBox().viewRange()[0]) / 2
        for places, angle in ((upright, 90), (level, 0)):
            for place, words in places:
                # Words hang from the top, where curves are rare, on the side that has more room.
                anchor = (0 if place < middle else 1, 0)
                label = {"position": 0.98, "anchors": [anchor, anchor]}
                line = pg.InfiniteLine(place, angle=angle, label=words or None, labelOpts=label)
                self.canvas.addItem(line, ignoreBounds=True)
                self._marks.append(line)
        self._restyle()

    def mark_words(self) -> list[str]:
        """What is written beside the marks."""
        return [line.label.toPlainText() for line in self._marks if getattr(line, "label", None) is not None]

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._restyle()

    def _set_up_canvas(self) -> None:
        self.canvas.setMouseEnabled(False, False)
        self.canvas.setMinimumHeight(_LEAST_HEIGHT_PX)
        # It would like to be 480 pixels high; it takes what is left.
        self.canvas.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.canvas.bottom.setGrid(GRID_ALPHA)

    def _arrange(self) -> None:
        self._title.setFont(theme.title_font(self.font()))
        self._title.setMinimumHeight(self.legend.height())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACING // 2)
        head = QHBoxLayout()
        head.setSpacing(theme.MARGIN)
        head.addWidget(self._title, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self.legend, 1)
        layout.addLayout(head)
        layout.addWidget(self.canvas, 1)

    def _restyle(self) -> None:
        scheme = theme.colours(self.palette())
        self.canvas.restyle(scheme)
        self.canvas.bottom.setLabel(self._x_title, color=scheme.muted)
        for one, line, dots in zip(self._series, self._lines, self._dots, strict=True):
            line.setPen(theme.series_pen(one.style, scheme))
            dots.setBrush(QColor(theme.series_colour(one.style, scheme)))
            dots.setPen(None)
        for mark in self._marks:
            mark.setPen(theme.mark_pen(scheme))
            if (label := getattr(mark, "label", None)) is not None:
                label.setColor(scheme.text)
                label.fill = pg.mkBrush(theme.veil(scheme))
