"""The search for a learning rate as a picture: the loss against the rate, and the rate to begin with.

A room of its own because the search has its own plot, beside the window: training's curves stay where they are.
"""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QLocale, Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPushButton, QVBoxLayout, QWidget

from gui import theme
from gui.widgets.curve_item import CurveItem

_SIZE = (560, 400)


class RateFinderWindow(QDialog):
    """Shows points as they come; `rate_chosen` carries the suggested rate if the user takes it."""

    rate_chosen = Signal(float)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rateFinderWindow")
        self.setWindowTitle(self.tr("Find a learning rate"))
        self._rates: list[float] = []
        self._losses: list[float] = []
        self._suggested: float | None = None
        self.plot = pg.PlotWidget()
        self._curve = CurveItem()
        self._mark = pg.InfiniteLine(angle=90)
        self._explanation = QLabel(wordWrap=True)
        self._result = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._use = QPushButton(self.tr("Use this rate"))
        self._arrange()
        self._restyle()
        self.resize(*_SIZE)

    def begin(self, lowest: float, highest: float) -> None:
        """A new search between these rates: an empty plot, in sight."""
        self.plot.setXRange(np.log10(lowest), np.log10(highest), padding=0.02)
        self._rates, self._losses, self._suggested = [], [], None
        self._curve.clear()
        self._mark.hide()
        self._use.setEnabled(False)
        self._result.setText(self.tr("Trying rates from small to large on a fresh network…"))
        self.show()

    def add_point(self, rate: float, loss: float) -> None:
        """The smoothed `loss` after a step with `rate`."""
        self._rates.append(rate)
        self._losses.append(loss)
        self._curve.setData(np.log10(self._rates), np.array(self._losses))
        # What explodes in the end must not flatten what came before.
        top = 1.3 * self._losses[0]
        self.plot.setYRange(0.0, max(top, 0.1), padding=0.02)

    def show_result(self, suggested: float | None) -> None:
        """The search has ended with this rate to begin with, or with none."""
        self._suggested = suggested
        self._use.setEnabled(suggested is not None)
        if suggested is None:
            self._result.setText(self.tr("No rate let the loss fall. Try another network or optimizer."))
            return
        self._mark.setPos(np.log10(suggested))
        self._mark.show()
        words = self.tr(
            "The loss falls fastest at about %1. Begin there; with one cycle, two or three times higher works."
        )
        self._result.setText(words.replace("%1", QLocale().toString(suggested, "g", 2)))

    def show_problem(self, sentence: str) -> None:
        """The search could not begin or go on."""
        self._result.setText(sentence)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._restyle()

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.closed.emit()

    def _arrange(self) -> None:
        self._explanation.setProperty("muted", True)
        self._explanation.setText(
            self.tr(
                "Each step takes a larger rate than the last. Too small a rate changes nothing, a good one lets the "
                "loss fall, too large a one lets it explode."
            )
        )
        item = self.plot.getPlotItem()
        item.hideButtons()
        item.setMenuEnabled(False)
        item.getAxis("bottom").setLogMode(True)
        item.setLabel("bottom", self.tr("Learning rate"))
        item.setLabel("left", self.tr("Loss, smoothed"))
        self.plot.setMouseEnabled(False, False)
        self.plot.setObjectName("ratePlot")
        self.plot.setAccessibleName(self.tr("Loss against learning rate"))
        self.plot.addItem(self._curve)
        self.plot.addItem(self._mark)
        self._result.setObjectName("rateResult")
        self._use.setObjectName("useRateButton")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.addButton(self._use, QDialogButtonBox.ButtonRole.ApplyRole)
        buttons.button(QDialogButtonBox.StandardButton.Close).setIcon(QIcon())
        buttons.rejected.connect(self.close)
        self._use.clicked.connect(self._on_use_clicked)
        layout = QVBoxLayout(self)
        for widget in (self._explanation, self.plot, self._result, buttons):
            layout.addWidget(widget)
        layout.setStretch(1, 1)

    def _restyle(self) -> None:
        scheme = theme.colours(self.palette())
        self.plot.setBackground(scheme.surface)
        for side in ("left", "bottom"):
            axis = self.plot.getPlotItem().getAxis(side)
            axis.setPen(theme.thin_pen(scheme.disabled))
            axis.setTextPen(theme.thin_pen(scheme.muted))
        self._curve.setPen(theme.curve_pen("train", scheme))
        self._mark.setPen(theme.mark_pen(scheme))

    @Slot()
    def _on_use_clicked(self) -> None:
        if self._suggested is not None:
            # Two digits are more than such a search knows.
            self.rate_chosen.emit(float(f"{self._suggested:.2g}"))
            self.close()
