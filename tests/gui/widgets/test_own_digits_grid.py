"""The user's digits side by side: what is drawn for each, and what keys and mouse choose and ask for."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gui import theme
from gui.widgets.own_digits_grid import OwnDigitsGrid
from gui.widgets.own_digits_model import OwnDigitsModel
from tests.gui.widgets.own_digits import own_digit

LEFT, SHIFT, CONTROL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def model() -> OwnDigitsModel:
    model = OwnDigitsModel()
    model.show_digits([own_digit(0, 7, 7), own_digit(1, 1, 7), own_digit(2, 4), own_digit(3, 7, 7)])
    return model


@pytest.fixture
def grid(qtbot: QtBot, model: OwnDigitsModel) -> OwnDigitsGrid:
    grid = OwnDigitsGrid(model)
    qtbot.addWidget(grid)
    grid.resize(400, 300)
    grid.show()
    qtbot.waitExposed(grid)
    return grid


def place(grid: OwnDigitsGrid, row: int) -> QRect:
    return grid.visualRect(grid.model().index(row, 0))


def click(qtbot: QtBot, grid: OwnDigitsGrid, row: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier):
    qtbot.mouseClick(grid.viewport(), LEFT, keys, place(grid, row).center())


def chosen(grid: OwnDigitsGrid) -> list[str]:
    return [digit.key for digit in grid.chosen()]


def test_each_pixel_the_network_sees_is_a_square_of_two(grid: OwnDigitsGrid) -> None:
    picture = grid.viewport().grab().toImage()
    left, top = place(grid, 1).x() + 5, place(grid, 1).y() + 5
    for x in range(56):
        grey = 101 if 16 <= x < 40 else 0
        assert picture.pixelColor(left + x, top + 28) == QColor(grey, grey, grey), x


def colours_of_words(grid: OwnDigitsGrid, row: int) -> set[str]:
    words = place(grid, row).adjusted(5, 61, -5, -5)
    picture = grid.viewport().grab(words).toImage()
    return {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}


def test_a_wrong_one_is_told_by_sign_and_colour(grid: OwnDigitsGrid, model: OwnDigitsModel) -> None:
    problem = theme.colours(grid.palette()).problem
    assert [problem in colours_of_words(grid, row) for row in range(4)] == [False, True, False, False]
    words = [model.data(model.index(row), Qt.ItemDataRole.AccessibleTextRole) for row in range(4)]
    assert words == ["A 7, read as a 7 ✓", "A 1, read as a 7 ✗", "A 4", "A 7, read as a 7 ✓"]
    assert grid.viewport().grab(place(grid, 0)).toImage() != grid.viewport().grab(place(grid, 2)).toImage()


def test_several_are_chosen_by_mouse_and_keys(qtbot: QtBot, grid: OwnDigitsGrid) -> None:
    click(qtbot, grid, 1)
    click(qtbot, grid, 3, CONTROL)
    assert chosen(grid) == ["1", "3"]
    click(qtbot, grid, 0)
    click(qtbot, grid, 2, SHIFT)
    assert chosen(grid) == ["0", "1", "2"]
    qtbot.keyClick(grid, Qt.Key.Key_A, CONTROL)
    assert chosen(grid) == ["0", "1", "2", "3"]


@pytest.mark.parametrize("digit", range(10))
def test_a_digit_key_says_what_they_are_on_both_keypads(qtbot: QtBot, grid: OwnDigitsGrid, digit: int) -> None:
    heard: list[int] = []
    grid.label_chosen.connect(heard.append)
    key = Qt.Key(Qt.Key.Key_0.value + digit)
    qtbot.keyClick(grid, key)
    qtbot.keyClick(grid, key, Qt.KeyboardModifier.KeypadModifier)
    qtbot.keyClick(grid, key, CONTROL)
    assert heard == [digit, digit]


def test_delete_asks(qtbot: QtBot, grid: OwnDigitsGrid) -> None:
    with qtbot.waitSignal(grid.delete_requested):
        qtbot.keyClick(grid, Qt.Key.Key_Delete)


def test_what_is_chosen_stays_when_others_come_and_go(qtbot: QtBot, grid: OwnDigitsGrid, model: OwnDigitsModel) -> None:
    click(qtbot, grid, 1)
    click(qtbot, grid, 2, CONTROL)
    model.show_digits([own_digit(2, 9), own_digit(9, 5), own_digit(1, 1)])
    assert sorted(chosen(grid)) == ["1", "2"]
    model.show_only(9, only_wrong=False)
    assert chosen(grid) == ["2"]


def test_new_answers_move_nothing(qtbot: QtBot, grid: OwnDigitsGrid, model: OwnDigitsModel) -> None:
    many = [own_digit(number % 100, number % 10) for number in range(100)]
    model.show_digits(many)
    qtbot.waitUntil(lambda: grid.verticalScrollBar().maximum() > 300)
    grid.verticalScrollBar().setValue(300)
    row = grid.indexAt(grid.viewport().rect().center()).row()
    click(qtbot, grid, row)
    where = grid.verticalScrollBar().value()
    assert where > 0
    model.show_digits([replace(digit, answer=3) for digit in many])
    assert grid.verticalScrollBar().value() == where
    assert [digit.answer for digit in grid.chosen()] == [3]


def test_only_those_of_a_label_or_read_wrongly_are_shown(model: OwnDigitsModel) -> None:
    def shown() -> list[str]:
        return [model.digit(row).key for row in range(model.rowCount())]

    model.show_only(7, only_wrong=False)
    assert shown() == ["0", "3"]
    model.show_only(7, only_wrong=True)
    assert shown() == []
    model.show_only(None, only_wrong=True)
    assert shown() == ["1"]
    model.show_only(None, only_wrong=False)
    assert shown() == ["0", "1", "2", "3"]
