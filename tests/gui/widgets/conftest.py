"""A canvas on screen, and what it tells; the plots on screen."""

import pytest
from pytestqt.qtbot import QtBot

from core.digits.ink import Ink
from gui.widgets.drawing_canvas import DrawingCanvas
from gui.widgets.learning_plot import LearningPlot
from tests.gui.widgets.learning_plots import settle


@pytest.fixture
def canvas(qtbot: QtBot) -> DrawingCanvas:
    canvas = DrawingCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(200, 200)
    canvas.show()
    qtbot.waitExposed(canvas)
    return canvas


@pytest.fixture
def inks(canvas: DrawingCanvas) -> list[Ink]:
    heard: list[Ink] = []
    canvas.ink_changed.connect(heard.append)
    return heard


@pytest.fixture
def plot(qtbot: QtBot) -> LearningPlot:
    plot = LearningPlot()
    qtbot.addWidget(plot)
    plot.set_redraw_interval_ms(10)
    plot.resize(700, 600)
    plot.show()
    qtbot.waitExposed(plot)
    settle(qtbot, plot)
    return plot
