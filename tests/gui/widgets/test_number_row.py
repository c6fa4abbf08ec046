"""The digits of a number in a row: seen pixel by pixel, chosen by mouse and by key."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gui.read_number import ReadDigit, ReadNumber
from gui.widgets.number_row import NumberRow
from tests.gui.answers import sure

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def row(qtbot: QtBot) -> NumberRow:
    row = NumberRow()
    qtbot.addWidget(row)
    row.resize(200, row.height())
    row.show()
    qtbot.waitExposed(row)
    return row


@pytest.fixture
def heard(row: NumberRow) -> list[int]:
    places: list[int] = []
    row.selected.connect(places.append)
    return places


def number(count: int, selected: int) -> ReadNumber:
    """Pictures all of one grey, each another, answered 0, 1, 2 and so on."""
    digits = [
        ReadDigit(np.full((28, 28), 20 * place + 15, np.uint8), sure(np.eye(10, dtype=np.float32)[place]))
        for place in range(count)
    ]
    return ReadNumber(tuple(digits), selected)


def middle(row: NumberRow, place: int) -> QPoint:
    return row.visualItemRect(row.item(place)).center()


def test_each_digit_is_shown_as_the_network_sees_it(row: NumberRow, heard: list[int]) -> None:
    row.show_number(number(4, 2))
    image = row.viewport().grab().toImage()
    for place in range(4):
        corner = row.visualItemRect(row.item(place)).topLeft()
        for at in (QPoint(3, 3), QPoint(28, 28)):
            assert image.pixelColor(corner + at).red() == 20 * place + 15
    assert row.currentRow() == 2
    assert heard == []


def test_a_click_and_the_arrow_keys_choose(qtbot: QtBot, row: NumberRow, heard: list[int]) -> None:
    row.show_number(number(4, 0))
    qtbot.mouseClick(row.viewport(), LEFT, pos=middle(row, 2))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_End):
        qtbot.keyClick(row, key)
    assert heard == [2, 3, 2, 0, 3]


def test_showing_another_number_chooses_nothing(row: NumberRow, heard: list[int]) -> None:
    for shown in (number(2, 1), number(5, 4), number(3, 0), None):
        row.show_number(shown)
        assert row.count() == (0 if shown is None else len(shown.digits))
    assert heard == []


def test_a_long_number_is_scrolled_to_what_is_selected(row: NumberRow) -> None:
    row.show_number(number(10, 9))
    assert row.viewport().rect().contains(middle(row, 9))
    assert not row.viewport().rect().contains(middle(row, 0))


def test_keys_for_the_sheet_pass_on(qtbot: QtBot) -> None:
    class Around(QWidget):
        def keyPressEvent(self, event):
            passed.append(event.key())

    passed: list[int] = []
    around, row = Around(), NumberRow()
    qtbot.addWidget(around)
    QVBoxLayout(around).addWidget(row)
    row.show_number(number(2, 0))
    for key in (Qt.Key.Key_Delete, Qt.Key.Key_7, Qt.Key.Key_Right):
        qtbot.keyClick(row, key)
    assert passed == [Qt.Key.Key_Delete, Qt.Key.Key_7]


def test_every_digit_has_words_for_screen_readers(row: NumberRow) -> None:
    known, unknown = number(2, 0).digits
    assert unknown.answer is not None
    unknown = replace(unknown, answer=replace(unknown.answer, digit=None, confidence=0.25))
    row.show_number(ReadNumber((known, unknown, replace(known, answer=None)), 0))
    told = [row.item(place).data(Qt.ItemDataRole.AccessibleTextRole) for place in range(3)]
    assert told == ["0, 100 % sure", "unknown, perhaps 1, 25 % sure", "not answered"]
    assert row.accessibleName()
    assert row.toolTip()
