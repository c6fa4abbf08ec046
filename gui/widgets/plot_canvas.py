"""The area a plot is drawn on: pyqtgraph's, without its manners, in the colours of the window.

A room of its own because every plot wants the same of pyqtgraph: ranges that only the plot itself sets, no menus and
buttons of another kind than the window's, and axes that keep still and follow the palette.
"""

import pyqtgraph as pg
from PySide6.QtCore import Qt

from gui import theme
from gui.widgets.curve_axis import CurveAxis

GRID_ALPHA = 60
"""How much the lines of a grid cover, of 255."""


class PlotCanvas(pg.PlotWidget):
    """A `pyqtgraph.PlotWidget` with a `left` and a `bottom` axis, and lines across from the left one."""

    def __init__(self) -> None:
        left, bottom = CurveAxis("left"), CurveAxis("bottom")
        super().__init__(axisItems={"left": left, "bottom": bottom})
        self.left, self.bottom = left, bottom
        item, box = self.getPlotItem(), self.getViewBox()
        item.hideButtons()
        item.setMenuEnabled(False)
        box.disableAutoRange()
        box.setDefaultPadding(0)
        for axis in (self.left, self.bottom):
            axis.setStyle(maxTickLevel=0)
        self.left.setGrid(GRID_ALPHA)
        # The menu of the right mouse button is that of the widget around.
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.setFrameShape(self.Shape.NoFrame)

    def show_range(self, x_range: tuple[float, float], y_range: tuple[float, float]) -> None:
        """Show exactly this."""
        self.getViewBox().setRange(xRange=x_range, yRange=y_range, padding=0, disableAutoRange=False)

    def restyle(self, scheme: theme.Colours) -> None:
        """Take the colours of `scheme`."""
        self.setBackground(scheme.surface)
        for axis in (self.left, self.bottom):
            axis.setPen(theme.thin_pen(scheme.disabled))
            axis.setTextPen(theme.thin_pen(scheme.muted))
