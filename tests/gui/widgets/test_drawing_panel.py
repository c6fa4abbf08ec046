"""Drawing and its answer in one panel: the words follow the numbers, the buttons follow the ink."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QListWidget, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from core.digits.ink import Ink
from core.digits.rasterizer import Recipe
from gui.ink_history import OpenedPicture, PrintedDigit
from gui.read_number import ReadDigit, ReadNumber
from gui.widgets.drawing_panel import DrawingPanel
from tests.gui.answers import sure


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


def test_another_network_leaves_the_sheet_as_it_is(qtbot: QtBot, panel: DrawingPanel) -> None:
    sizes = set()
    for name in ("", "the network in training", "the network that came with Inkling (99.71 %)"):
        panel.show_network_name(name)
        qtbot.wait(20)
        sizes.add(panel.canvas.size().toTuple())
    assert len(sizes) == 1


def test_the_canvas_is_square_in_a_tall_panel(qtbot: QtBot, panel: DrawingPanel) -> None:
    panel.resize(300, 1200)
    qtbot.waitUntil(lambda: panel.canvas.height() == panel.canvas.width())


def draw_a_line(qtbot: QtBot, panel: DrawingPanel, y: int = 80) -> None:
    left = Qt.MouseButton.LeftButton
    qtbot.mousePress(panel.canvas, left, pos=QPoint(90, y))
    qtbot.mouseRelease(panel.canvas, left, pos=QPoint(150, y))


def meant(panel: DrawingPanel) -> str:
    found = panel.findChild(QComboBox, "meantSelector")
    assert found is not None
    return found.currentText()


def verdict(panel: DrawingPanel) -> str:
    found = panel.findChild(QLabel, "verdictLabel")
    assert found is not None
    return found.text()


def test_a_drawing_is_labelled_by_key_and_the_answer_compared(qtbot: QtBot, panel: DrawingPanel) -> None:
    labelled: list[tuple[int, Ink]] = []
    panel.labelled.connect(lambda digit, ink: labelled.append((digit, ink)))
    qtbot.keyClicks(panel.canvas, "7")
    assert labelled == []
    draw_a_line(qtbot, panel)
    panel.show_answer(sure(probabilities(d1=0.9, d7=0.1)), np.zeros((28, 28), np.uint8))
    # Also after a button was pressed, and had the focus.
    qtbot.keyClicks(button(panel, "eraserButton"), "7")
    assert [(digit, len(ink.strokes)) for digit, ink in labelled] == [(7, 1)]
    assert (meant(panel), verdict(panel)) == ("You mean 7", "✗")
    panel.show_answer(sure(probabilities(d1=0.1, d7=0.9)), np.zeros((28, 28), np.uint8))
    assert verdict(panel) == "✓"


def test_a_label_stays_with_its_drawing(qtbot: QtBot, panel: DrawingPanel) -> None:
    draw_a_line(qtbot, panel)
    qtbot.keyClicks(panel.canvas, "4")
    draw_a_line(qtbot, panel, 120)
    assert meant(panel) == "You mean 4"
    qtbot.keyClick(panel.canvas, Qt.Key.Key_Delete)
    assert meant(panel) == "You mean…"
    draw_a_line(qtbot, panel)
    assert meant(panel) == "You mean…"


def test_a_printed_digit_brings_its_label_and_drawing_on_it_forgets_it(qtbot: QtBot, panel: DrawingPanel) -> None:
    put: list[PrintedDigit] = []
    labelled: list[int] = []
    panel.digit_put.connect(put.append)
    panel.labelled.connect(lambda digit, ink: labelled.append(digit))
    draw_a_line(qtbot, panel)
    digit = PrintedDigit(np.full((28, 28), 9, np.uint8), 6, 41)
    panel.canvas.put(digit)
    panel.show_answer(sure(probabilities(d6=1.0)), digit.picture)
    assert put == [digit]
    assert "Test digit 42 is a 6" in words(panel)
    assert verdict(panel) == "✓"
    qtbot.keyClicks(panel.canvas, "3")
    assert labelled == []
    draw_a_line(qtbot, panel)
    assert meant(panel) == "You mean…"


def test_examples_are_asked_for_by_number(qtbot: QtBot, panel: DrawingPanel) -> None:
    asked: list[object] = []
    panel.example_requested.connect(asked.append)
    panel.random_example_requested.connect(lambda: asked.append("any"))
    panel.allow_examples()
    names = ("previousDigitButton", "randomDigitButton", "nextDigitButton")
    for name in names:
        qtbot.mouseClick(button(panel, name), Qt.MouseButton.LeftButton)
    assert asked == ["any"]
    panel.canvas.put(PrintedDigit(np.zeros((28, 28), np.uint8), 6, 41))
    for name in names:
        qtbot.mouseClick(button(panel, name), Qt.MouseButton.LeftButton)
    assert asked == ["any", 40, "any", 42]


def test_redo_and_the_eraser_reach_the_canvas(qtbot: QtBot, panel: DrawingPanel) -> None:
    left = Qt.MouseButton.LeftButton
    draw_a_line(qtbot, panel)
    qtbot.mouseClick(button(panel, "undoButton"), left)
    qtbot.mouseClick(button(panel, "redoButton"), left)
    assert len(panel.canvas.ink().strokes) == 1
    qtbot.mouseClick(button(panel, "eraserButton"), left)
    draw_a_line(qtbot, panel)
    assert panel.canvas.ink().is_empty
    assert not button(panel, "eraserButton").isChecked()
    draw_a_line(qtbot, panel)
    qtbot.keyClicks(panel, "e")
    assert button(panel, "eraserButton").isChecked()


def test_a_move_is_told_and_shown_until_it_is_taken_back(qtbot: QtBot, panel: DrawingPanel) -> None:
    moves: list[tuple[int, int]] = []
    panel.moved.connect(lambda right, down: moves.append((right, down)))
    panel.show_answer(sure(probabilities(d6=1.0)), np.zeros((28, 28), np.uint8))
    preview = panel.findChild(QWidget, "inputPreview")
    qtbot.keyClick(preview, Qt.Key.Key_Right)
    qtbot.keyClick(preview, Qt.Key.Key_Down)
    assert "moved 1, 1" in words(panel)
    qtbot.keyClick(preview, Qt.Key.Key_Home)
    assert not [text for text in words(panel) if "moved" in text]
    assert moves == [(1, 0), (1, 1), (0, 0)]


def test_answer_picture_and_bars_are_shown_together(panel: DrawingPanel) -> None:
    panel.show_answer(sure(probabilities(d7=0.93, d1=0.07)), np.full((28, 28), 90, np.uint8))
    assert "It is a 7" in words(panel)
    preview, chart = panel.findChild(QWidget, "inputPreview"), panel.findChild(QWidget, "probabilityChart")
    assert preview is not None
    assert chart is not None
    assert preview.grab().toImage().pixelColor(42, 42).red() == 90
    assert chart.accessibleDescription().startswith("7")
    panel.show_answer(None, None)
    assert "Draw a digit" in words(panel)


def test_a_step_left_out_is_told(panel: DrawingPanel) -> None:
    recipes: list[Recipe] = []
    panel.recipe_changed.connect(recipes.append)
    switch = panel.findChild(QCheckBox, "scaleSwitch")
    assert switch is not None
    switch.click()
    assert recipes == [Recipe(scale=False)]


def test_the_details_are_told_to_be_open(qtbot: QtBot, panel: DrawingPanel) -> None:
    told: list[bool] = []
    panel.details_opened.connect(told.append)
    opener = panel.findChild(QToolButton, "stepsOpener")
    assert opener is not None
    qtbot.mouseClick(opener, Qt.MouseButton.LeftButton)
    assert told == [True]


@pytest.mark.parametrize(
    "name",
    [
        "drawingCanvas",
        "clearButton",
        "undoButton",
        "inputPreview",
        "answerLabel",
        "meantSelector",
        "numberRow",
        "stepsOpener",
        "nearestRow",
        "probabilityChart",
    ],
)
def test_names_for_tests_and_screen_readers(panel: DrawingPanel, name: str) -> None:
    control = panel.findChild(QWidget, name)
    assert control is not None
    assert control.accessibleName()
    assert control.toolTip()


def seventy_one(selected: int = 0) -> ReadNumber:
    answers = (sure(probabilities(d7=0.9, d1=0.1)), sure(probabilities(d1=0.8, d7=0.2)))
    pictures = (np.full((28, 28), 90, np.uint8), np.full((28, 28), 30, np.uint8))
    return ReadNumber(tuple(map(ReadDigit, pictures, answers)), selected)


def show(panel: DrawingPanel, number: ReadNumber) -> None:
    chosen = number.digits[number.selected]
    panel.show_number(number)
    panel.show_answer(chosen.answer, chosen.picture)


def test_a_number_is_told_with_its_digits_in_a_row(qtbot: QtBot, panel: DrawingPanel) -> None:
    chosen: list[int] = []
    panel.digit_selected.connect(chosen.append)
    size = panel.canvas.size()
    draw_a_line(qtbot, panel)
    show(panel, seventy_one(1))
    assert "It is 71" in words(panel)
    row, chart = panel.findChild(QListWidget, "numberRow"), panel.findChild(QWidget, "probabilityChart")
    assert row is not None
    assert chart is not None
    assert (row.isVisible(), row.count(), row.currentRow()) == (True, 2, 1)
    assert chart.accessibleDescription().startswith("1: ")
    assert chosen == []
    qtbot.keyClick(row, Qt.Key.Key_Left)
    assert chosen == [0]
    # The sheet must stay as it is under the pen.
    qtbot.wait(20)
    assert panel.canvas.size() == size
    panel.show_number(None)
    panel.show_answer(sure(probabilities(d7=1.0)), np.zeros((28, 28), np.uint8))
    assert "It is a 7" in words(panel)
    assert not row.isVisible()
    qtbot.wait(20)
    assert panel.canvas.size() == size


def test_of_a_number_nobody_says_which_digit_it_is(qtbot: QtBot, panel: DrawingPanel) -> None:
    labelled: list[int] = []
    panel.labelled.connect(lambda digit, ink: labelled.append(digit))
    draw_a_line(qtbot, panel)
    show(panel, seventy_one())
    qtbot.keyClicks(panel.canvas, "7")
    assert labelled == []
    selector = panel.findChild(QComboBox, "meantSelector")
    assert selector is not None
    assert not selector.isVisible()


def test_a_picture_is_told_and_cleared_away(qtbot: QtBot, panel: DrawingPanel) -> None:
    heard: list[object] = []
    panel.picture_put.connect(heard.append)
    opened = OpenedPicture(np.zeros((9, 9, 3), np.uint8), (np.zeros((28, 28), np.uint8),), np.zeros((1, 4)))
    draw_a_line(qtbot, panel)
    panel.canvas.put(opened)
    assert heard == [opened]
    assert (meant(panel), verdict(panel)) == ("You mean…", "")
    assert button(panel, "clearButton").isEnabled()
    assert not button(panel, "eraserButton").isEnabled()
    qtbot.mouseClick(button(panel, "clearButton"), Qt.MouseButton.LeftButton)
    assert panel.canvas.is_empty
    qtbot.mouseClick(button(panel, "undoButton"), Qt.MouseButton.LeftButton)
    assert heard == [opened, opened]
