"""One plot of learning curves: accuracy or loss of every series, with a legend that reads values.

A room of its own because all that is known about pyqtgraph's speed and manners is known here. It draws only when it is
told to, and then about a thousand points a curve, however many there are.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QLocale, QObject, QPointF, Signal, Slot
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gui import theme
from gui.widgets.curve_history import CurveHistory
from gui.widgets.curve_item import CurveItem
from gui.widgets.curve_legend import CurveLegend
from gui.widgets.curve_marks import CurveMarks
from gui.widgets.plot_canvas import PlotCanvas
from gui.widgets.plot_range import SMALLEST_LOSS, accuracy_range, loss_range

SERIES = ("train", "validation", "test", "mine")
_AXIS_WIDTH_PX = 46
_EMPTY_REACH = {"samples": 60_000.0, "epoch": 1.0, "seconds": 10.0}
_EMPTY_VALUES = {"accuracy": (0.0, 0.0), "loss": (1.0, 1.0)}
_WIDE_ENOUGH_PX = 520
_GROWTH = 1.12
_FEW_POINTS = 60
_LOG_LIMITS, _NO_LIMITS = (-12.0, 40.0), (-1e307, 1e307)


class CurvePlot(QWidget):
    """Draws one metric, "accuracy" (shown in percent) or "loss", against one axis; while there is no point, `hint`.

    `header` is the row above the plot, for what belongs to this plot alone.
    """

    pointed_at = Signal(float)
    pointer_left = Signal()
    moved_by_user = Signal(float, float)
    fit_requested = Signal()

    def __init__(self, metric: str, title: str, hint: str, *, axis_numbers: bool) -> None:
        super().__init__()
        self._metric, self._hint = metric, hint
        self._histories: Mapping[str, CurveHistory] = {}
        self._axis = "samples"
        self._logarithmic = False
        self._follows = True
        self._reach = 0.0
        self._title = QLabel(title)
        self.legend = CurveLegend(self._format(1.0) if metric == "accuracy" else self._format(0.000123))
        self.canvas = PlotCanvas()
        self._curves = {name: CurveItem() for name in SERIES}
        self._dots = {name: pg.ScatterPlotItem(size=5, symbol=theme.CURVE_SYMBOLS[name]) for name in SERIES}
        self._best_mark = pg.ScatterPlotItem(size=13, symbol="star")
        self._note = pg.TextItem()
        self._pointer = pg.InfiniteLine(angle=90)
        self._marks = CurveMarks(self.canvas)
        self._set_up_canvas(axis_numbers)
        self._arrange()
        self._restyle()

    def show_histories(self, histories: Mapping[str, CurveHistory], axis: str) -> None:
        """From the next `draw` on, show `histories` against `axis`, from the left edge on and all of it."""
        self._histories = histories
        self._axis = axis
        self._reach = 0.0
        self._follows = True

    def show_marks(self, marks: Sequence[tuple[float, str]]) -> None:
        """Draw a vertical line at each of these places of the axis, with words beside it where there is room."""
        self._marks.show(marks)
        self._marks.restyle(theme.colours(self.palette()))

    def set_logarithmic(self, logarithmic: bool) -> None:
        """From the next `draw` on, space the values by their magnitude."""
        self._logarithmic = logarithmic

    def explain(self, explanation: str) -> None:
        """Say what is to be learned from this plot, where the mouse does not hide the curves."""
        for widget in (self._title, self.legend):
            widget.setToolTip(theme.tooltip(explanation))

    def show_range(self, low: float, high: float) -> None:
        """Show this stretch of the axis and stop following: this plot or the other was moved."""
        self._follows = False
        self.canvas.getViewBox().setXRange(low, high, padding=0)

    def x_range(self) -> tuple[float, float]:
        """The stretch of the axis in view."""
        low, high = self.canvas.getViewBox().viewRange()[0]
        return float(low), float(high)

    def draw(self) -> None:
        """Bring everything on screen up to date."""
        shown = {name: history for name, history in self._histories.items() if len(history)}
        if self.canvas.left.logMode != self._logarithmic:
            self._change_scale()
        if self._follows:
            self._follow(shown)
        low, high = self.x_range()
        for name in SERIES:
            self._draw_series(name, shown.get(name), low, high)
        self._mark_best(shown)
        self._marks.arrange()
        if not self._pointer.isVisible():
            self.show_readings(None)

    def show_readings(self, x: float | None) -> None:
        """Let the legend read all series at `x` and mark the place; None reads the newest points."""
        readings = {}
        for name, history in self._histories.items():
            if len(history):
                point = len(history) - 1 if x is None else history.nearest(self._axis, x)
                readings[name] = self._format(float(history.values(self._metric)[point]))
        self.legend.show_readings(readings)
        self._pointer.setVisible(x is not None)
        if x is not None:
            self._pointer.setPos(x)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._restyle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # In a narrow window the legend gets a row of its own.
        is_narrow = self.width() < _WIDE_ENOUGH_PX
        row = self.layout() if is_narrow else self.header
        if isinstance(row, QBoxLayout) and row.indexOf(self.legend) < 0:
            row.insertWidget(1 if is_narrow else -1, self.legend, 0 if is_narrow else 1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice the mouse leaving the plot, which pyqtgraph keeps to itself."""
        if event.type() == QEvent.Type.Leave:
            self.pointer_left.emit()
        return super().eventFilter(watched, event)

    def _set_up_canvas(self, axis_numbers: bool) -> None:
        item, box = self.canvas.getPlotItem(), self.canvas.getViewBox()
        self.canvas.bottom.setStyle(showValues=axis_numbers)
        self.canvas.left.setWidth(_AXIS_WIDTH_PX)
        for curve_item in (*self._curves.values(), *self._dots.values(), self._best_mark, self._note):
            item.addItem(curve_item, ignoreBounds=True)
        item.addItem(self._pointer, ignoreBounds=True)
        self._pointer.hide()
        self.canvas.installEventFilter(self)
        self.canvas.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.canvas.scene().sigMouseClicked.connect(self._on_mouse_clicked)
        box.sigRangeChangedManually.connect(self._on_range_changed_manually)
        box.sigResized.connect(self._on_box_resized)

    def _arrange(self) -> None:
        self._title.setFont(theme.title_font(self.font()))
        self.header = QHBoxLayout()
        self.header.setSpacing(theme.MARGIN)
        self.header.addWidget(self._title)
        self.header.addStretch()
        self.header.addWidget(self.legend, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACING // 2)
        layout.addLayout(self.header)
        layout.addWidget(self.canvas, 1)

    def _restyle(self) -> None:
        scheme = theme.colours(self.palette())
        self.canvas.restyle(scheme)
        for name in SERIES:
            self._curves[name].setPen(theme.curve_pen(name, scheme))
            self._dots[name].setBrush(QColor(scheme.curves[name]))
            self._dots[name].setPen(None)
        self._best_mark.setBrush(QColor(scheme.text))
        self._best_mark.setPen(theme.thin_pen(scheme.surface))
        self._note.setColor(scheme.text)
        self._note.fill = pg.mkBrush(theme.veil(scheme))
        self._pointer.setPen(theme.thin_pen(scheme.muted))
        self._marks.restyle(scheme)

    def _draw_series(self, name: str, history: CurveHistory | None, low: float, high: float) -> None:
        if history is None:
            self._curves[name].clear()
            self._dots[name].clear()
            return
        chosen = history.worth_drawing(self._axis, self._metric, low, high)
        x = history.values(self._axis)[chosen]
        y = self._to_plot(history.values(self._metric)[chosen])
        self._curves[name].setData(x, y)
        # A single measurement is no line; and where there are few, each deserves to be seen.
        if len(history) <= _FEW_POINTS and name != "train":
            self._dots[name].setData(x, y)
        else:
            self._dots[name].clear()

    def _mark_best(self, shown: Mapping[str, CurveHistory]) -> None:
        history = shown.get("validation") or shown.get("test")
        if history is None:
            self._best_mark.clear()
            self._show_hint()
            return
        best = history.best(self._metric)
        value = float(history.values(self._metric)[best])
        x, y = float(history.values(self._axis)[best]), float(self._to_plot(np.array([value]))[0])
        self._best_mark.setData([x], [y])
        self._note.setText(self.tr("best %1").replace("%1", self._format(value)))
        self._note.setAnchor((self._label_anchor(x), -0.4 if self._metric == "accuracy" else 1.4))
        self._note.setPos(x, y)

    def _show_hint(self) -> None:
        (left, right), (bottom, top) = self.canvas.getViewBox().viewRange()
        self._note.setText("" if any(map(len, self._histories.values())) else self._hint)
        self._note.setAnchor((0.5, 0.5))
        self._note.setPos((left + right) / 2, (bottom + top) / 2)

    def _change_scale(self) -> None:
        # Axis and range change together: pyqtgraph would look for a tick in each of a range's 10^30 "decades".
        low, high = _LOG_LIMITS if self._logarithmic else _NO_LIMITS
        self.canvas.getViewBox().setLimits(yMin=low, yMax=high)
        self.canvas.left.setLogMode(self._logarithmic)
        self._follows = True

    def _label_anchor(self, x: float) -> float:
        """Which part of the best point's label stands over `x`: its middle, unless an edge of the plot is near."""
        low, high = self.x_range()
        label, room = self._note.boundingRect().width(), self.canvas.getViewBox().width()
        if label <= 0 or room <= label:
            return 0.5
        place = (x - low) / (high - low) * room
        return float(np.clip(0.5, (place - room + label) / label, place / label))

    def _follow(self, shown: Mapping[str, CurveHistory]) -> None:
        end = max((float(history.values(self._axis)[-1]) for history in shown.values()), default=0.0)
        # In leaps, not at each point: a still axis is easier to read, and drawing one costs more than the curves.
        if end > self._reach:
            # Of a fixed series, so that both plots come to the same although they are drawn at different times.
            self._reach = _GROWTH ** math.ceil(math.log(end, _GROWTH))
        x_range, y_range = (0.0, self._reach or _EMPTY_REACH[self._axis]), self._value_range(shown, end)
        self.canvas.show_range(x_range, y_range)

    def _value_range(self, shown: Mapping[str, CurveHistory], end: float) -> tuple[float, float]:
        since = end / 3 if self._metric == "accuracy" else 0.0
        extremes = [history.extremes(self._axis, self._metric, since, end) for history in shown.values()]
        lows, highs = zip(*(extremes or [_EMPTY_VALUES[self._metric]]), strict=True)
        if self._metric == "accuracy":
            return accuracy_range(100.0 * min(lows))
        return loss_range(min(lows), max(highs), self._logarithmic)

    def _to_plot(self, values: np.ndarray) -> np.ndarray:
        if self._metric == "accuracy":
            return values * 100.0
        return np.log10(np.maximum(values, SMALLEST_LOSS)) if self._logarithmic else values

    def _format(self, value: float) -> str:
        if self._metric == "accuracy":
            return f"{QLocale().toString(value * 100.0, 'f', 2)} %"
        return QLocale().toString(value, "g", 3)

    @Slot(object)
    def _on_mouse_moved(self, position: QPointF) -> None:
        box = self.canvas.getViewBox()
        if box.sceneBoundingRect().contains(position):
            self.pointed_at.emit(float(box.mapSceneToView(position).x()))
        else:
            self.pointer_left.emit()

    @Slot(object)
    def _on_mouse_clicked(self, click: object) -> None:
        if click.double():  # type: ignore[attr-defined]
            self.fit_requested.emit()

    @Slot(object)
    def _on_box_resized(self, _box: object) -> None:
        self._marks.arrange()

    @Slot(object)
    def _on_range_changed_manually(self, _axes: object) -> None:
        self.moved_by_user.emit(*self.x_range())
