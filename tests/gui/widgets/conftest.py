"""A canvas on screen, and what it tells."""

import pytest
from pytestqt.qtbot import QtBot

from core.digits.ink import Ink
from gui.widgets.drawing_canvas import DrawingCanvas


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
