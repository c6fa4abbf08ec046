"""Drawing and its answer in one panel: the words follow the numbers, the buttons follow the ink."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from core.digits.ink import Ink
from gui.widgets.drawing_panel import DrawingPanel


@pytest.fixture
def panel(qtbot: QtBot) -> DrawingPanel:
    panel = DrawingPanel()
    qtbot.addWidget(panel)
    panel.resize(300, 650)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def button(panel: DrawingPanel, name: str) -> QPushButton:
    found = panel.findChild(QPushButton, name)
    assert found is not None
    return found


def words(panel: DrawingPanel) -> list[str]:
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def probabilities(**digits: float) -> np.ndarray:
    values = np.zeros(10, np.float32)
    for name, value in digits.items():
        values[int(name[1])] = value
    return values


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        (probabilities(d7=0.93, d1=0.07), "It is a 7"),
        (probabilities(d8=0.999, d3=0.001), "It is an 8"),
        (probabilities(d4=0.4, d9=0.35, d1=0.25), "Perhaps a 4"),
    ],
)
def test_the_answer_in_words(panel: DrawingPanel, values: np.ndarray, answer: str) -> None:
    panel.show_answer(values, np.zeros((28, 28), np.uint8))
    label = panel.findChild(QLabel, "answerLabel")
    assert label is not None
    assert label.text() == answer


def test_how_sure_and_what_else_it_might_be(panel: DrawingPanel) -> None:
    panel.show_answer(probabilities(d7=0.93, d1=0.07), None)
    assert "93.0 % sure; 7.0 % for a 1" in words(panel)
    panel.show_answer(probabilities(d7=0.998, d1=0.002), None)
    assert "99.8 % sure" in words(panel)


def test_without_an_answer_it_asks_for_a_digit(panel: DrawingPanel) -> None:
    panel.show_answer(probabilities(d7=1.0), np.zeros((28, 28), np.uint8))
    panel.show_answer(None, None)
    assert "Draw a digit" in words(panel)


def test_drawing_is_told_and_the_buttons_follow(qtbot: QtBot, panel: DrawingPanel) -> None:
    heard: list[Ink] = []
    panel.ink_changed.connect(heard.append)
    clear, undo = button(panel, "clearButton"), button(panel, "undoButton")
    assert (clear.isEnabled(), undo.isEnabled()) == (False, False)
    qtbot.mouseClick(panel.canvas, Qt.MouseButton.LeftButton, pos=QPoint(100, 100))
    assert len(heard[-1].strokes) == 1
    assert (clear.isEnabled(), undo.isEnabled()) == (True, True)
    qtbot.mouseClick(clear, Qt.MouseButton.LeftButton)
    assert heard[-1].is_empty
    assert (clear.isEnabled(), undo.isEnabled()) == (False, True)
    qtbot.mouseClick(undo, Qt.MouseButton.LeftButton)
    assert len(heard[-1].strokes) == 1
    qtbot.mouseClick(undo, Qt.MouseButton.LeftButton)
    assert heard[-1].is_empty
    assert (clear.isEnabled(), undo.isEnabled()) == (False, False)


def test_it_says_which_network_answers(panel: DrawingPanel) -> None:
    panel.show_network_name("the shipped model")
    assert "Answered by the shipped model" in words(panel)
    panel.show_network_name("")
    assert not [text for text in words(panel) if "Answered" in text]


def test_the_canvas_is_square_in_a_tall_panel(qtbot: QtBot, panel: DrawingPanel) -> None:
    panel.resize(300, 1200)
    qtbot.waitUntil(lambda: panel.canvas.height() == panel.canvas.width())


@pytest.mark.parametrize(
    "name", ["drawingCanvas", "clearButton", "undoButton", "inputPreview", "answerLabel", "probabilityChart"]
)
def test_names_for_tests_and_screen_readers(panel: DrawingPanel, name: str) -> None:
    control = panel.findChild(QWidget, name)
    assert control is not None
    assert control.accessibleName()
    assert control.toolTip()
