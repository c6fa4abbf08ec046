"""The buttons under the sheet: each says what it is for and asks for it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gui import theme
from gui.widgets.drawing_tools import DrawingTools

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def tools(qtbot: QtBot) -> DrawingTools:
    tools = DrawingTools()
    qtbot.addWidget(tools)
    tools.show()
    return tools


def button(tools: DrawingTools, name: str) -> QPushButton:
    found = tools.findChild(QPushButton, name)
    assert found is not None
    return found


def show(tools: DrawingTools, *, has_example: bool = True) -> None:
    tools.show_state(can_clear=True, can_undo=True, can_redo=True, can_erase=True, has_example=has_example)


@pytest.mark.parametrize(
    ("name", "signal"),
    [
        ("clearButton", "clear_requested"),
        ("undoButton", "undo_requested"),
        ("redoButton", "redo_requested"),
        ("randomDigitButton", "random_digit_requested"),
    ],
)
def test_each_button_asks_for_what_it_shows(qtbot: QtBot, tools: DrawingTools, name: str, signal: str) -> None:
    tools.allow_examples()
    show(tools)
    with qtbot.waitSignal(getattr(tools, signal)):
        qtbot.mouseClick(button(tools, name), LEFT)


def test_neighbours_are_before_and_after(qtbot: QtBot, tools: DrawingTools) -> None:
    tools.allow_examples()
    show(tools)
    asked: list[int] = []
    tools.neighbour_requested.connect(asked.append)
    for name in ("previousDigitButton", "nextDigitButton"):
        qtbot.mouseClick(button(tools, name), LEFT)
    assert asked == [-1, 1]


def test_only_what_can_be_done_is_offered(tools: DrawingTools) -> None:
    names = (
        "clearButton",
        "undoButton",
        "redoButton",
        "eraserButton",
        "previousDigitButton",
        "randomDigitButton",
        "nextDigitButton",
    )

    def offered() -> list[str]:
        return [name for name in names if button(tools, name).isEnabled()]

    assert offered() == []
    tools.show_state(can_clear=False, can_undo=True, can_redo=False, can_erase=True, has_example=True)
    assert offered() == ["undoButton", "eraserButton"]
    tools.allow_examples()
    assert offered() == ["undoButton", "eraserButton", "randomDigitButton"]
    tools.show_state(can_clear=True, can_undo=False, can_redo=True, can_erase=False, has_example=True)
    assert offered() == ["clearButton", "redoButton", "previousDigitButton", "randomDigitButton", "nextDigitButton"]


def test_the_eraser_can_be_pressed_and_shown_pressed(qtbot: QtBot, tools: DrawingTools) -> None:
    show(tools)
    eraser = button(tools, "eraserButton")
    told: list[bool] = []
    tools.eraser_toggled.connect(told.append)
    qtbot.mouseClick(eraser, LEFT)
    pressed = eraser.grab().toImage()
    tools.show_eraser(False)
    assert told == [True, False]
    assert eraser.grab().toImage() != pressed
    assert accent_pixels(tools, "eraserButton") == 0
    tools.show_eraser(True)
    assert accent_pixels(tools, "eraserButton") > 20


def accent_pixels(tools: DrawingTools, name: str) -> int:
    image = button(tools, name).grab().toImage()
    accent = QColor(theme.colours(tools.palette()).accent)
    return sum(image.pixelColor(x, y) == accent for x in range(image.width()) for y in range(image.height()))


def test_the_width_goes_round_three_and_its_dot_shows_which(qtbot: QtBot, tools: DrawingTools) -> None:
    widths: list[float] = []
    looks: list[QImage] = []
    tools.line_width_chosen.connect(widths.append)
    width = button(tools, "lineWidthButton")
    for _ in range(4):
        qtbot.mouseClick(width, LEFT)
        looks.append(width.grab().toImage())
    assert len(set(widths)) == 3
    assert widths[0] == widths[3]
    assert widths[2] == theme.INK_WIDTH
    assert looks[0] == looks[3]
    assert looks[0] != looks[1] != looks[2] != looks[0]


@pytest.mark.parametrize(
    "name",
    [
        "eraserButton",
        "lineWidthButton",
        "undoButton",
        "redoButton",
        "clearButton",
        "previousDigitButton",
        "randomDigitButton",
        "nextDigitButton",
    ],
)
def test_buttons_without_words_explain_themselves(tools: DrawingTools, name: str) -> None:
    control = button(tools, name)
    assert control.accessibleName()
    assert control.accessibleName() in control.toolTip()
    assert control.accessibleDescription() in control.toolTip()
    assert control.focusPolicy() & Qt.FocusPolicy.TabFocus
