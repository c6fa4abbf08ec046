"""The network, typed key by key: a right one is counted and drawn, a wrong one is answered at its very word."""

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QTextCharFormat
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from core.nn.architecture import MAX_TEXT
from gui.widgets.network_field import NetworkField


@pytest.fixture
def field(qtbot: QtBot) -> NetworkField:
    field = NetworkField()
    qtbot.addWidget(field)
    field.resize(280, 300)
    field.show()
    return field


def editor(field: NetworkField) -> QPlainTextEdit:
    found = field.findChild(QPlainTextEdit, "networkField")
    assert found is not None
    return found


def write(qtbot: QtBot, field: NetworkField, text: str) -> None:
    editor(field).clear()
    qtbot.keyClicks(editor(field), text)


def message(field: NetworkField) -> QLabel:
    label = field.findChild(QLabel, "networkMessage")
    assert label is not None
    return label


def picture(field: NetworkField) -> QWidget:
    found = field.findChild(QWidget, "networkPicture")
    assert found is not None
    return found


def underlined(field: NetworkField) -> list[str]:
    wavy = QTextCharFormat.UnderlineStyle.WaveUnderline
    marks = editor(field).extraSelections()
    return [mark.cursor.selectedText() for mark in marks if mark.format.underlineStyle() == wavy]


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("linear 10", 784 * 10 + 10),
        ("linear 32 relu, linear 10", 784 * 32 + 32 + 32 * 10 + 10),
        ("linear 32 nobias, linear 10 nobias", 784 * 32 + 32 * 10),
        ("conv 4x5 relu, pool 2, dropout 0.5, linear 10", 4 * 25 + 4 + 4 * 12 * 12 * 10 + 10),
    ],
)
def test_a_typed_network_is_taken_and_its_weights_are_counted(
    qtbot: QtBot, field: NetworkField, text: str, weights: int
) -> None:
    write(qtbot, field, text)
    assert field.network() == text
    assert message(field).text() == f"{QLocale().toString(weights)} weights"
    assert message(field).property("problem") is False
    assert underlined(field) == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("linear 32 relo, linear 10", "relo"),
        ("lineer 32 relu, linear 10", "lineer"),
        ("linear 32 relu, linear ten", "ten"),
        ("linear 32 relu, linear", "linear"),
        ("linear 99999, linear 10", "99999"),
        ("conv 4x3x3, linear 10", "4x3x3"),
        ("linear 32 relu, , linear 10", " "),
        ("linear 32, conv 4x3, linear 10", "conv"),
        ("linear 32 relu dropout 0.5, linear 10", "dropout"),
        ("dropout 1.5, linear 10", "1.5"),
    ],
)
def test_a_mistake_is_told_in_a_sentence_and_underlined_at_its_word(
    qtbot: QtBot, field: NetworkField, text: str, word: str
) -> None:
    write(qtbot, field, text)
    assert field.network() is None
    told = message(field)
    assert told.property("problem") is True
    assert word.strip() in told.text()
    assert told.text()[0] in (told.text()[0].upper(), "'")
    assert told.text().endswith(".")
    assert underlined(field) == [word]


@pytest.mark.parametrize("text", ["linear 32 relu", "linear 10, linear 9", "conv 10x3"])
def test_a_network_without_ten_answers_is_told_what_it_must_end_with(
    qtbot: QtBot, field: NetworkField, text: str
) -> None:
    write(qtbot, field, text)
    assert field.network() is None
    assert message(field).text() == "It must end with linear 10, one answer for each digit."
    assert underlined(field) == []


def test_a_number_out_of_its_range_is_told_with_the_range(qtbot: QtBot, field: NetworkField) -> None:
    write(qtbot, field, "conv 4x29, linear 10")
    assert message(field).text() == "Kernel is 29; it must be from 1 to 28."
    assert underlined(field) == ["4x29"]


def test_an_empty_field_is_no_network(qtbot: QtBot, field: NetworkField) -> None:
    write(qtbot, field, "linear 10")
    qtbot.keyClick(editor(field), Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(editor(field), Qt.Key.Key_Delete)
    assert editor(field).toPlainText() == ""
    assert field.network() is None
    assert message(field).property("problem") is True


def test_a_corrected_mistake_is_forgotten(qtbot: QtBot, field: NetworkField) -> None:
    write(qtbot, field, "linear 10 rel")
    assert underlined(field) == ["rel"]
    qtbot.keyClicks(editor(field), "u")
    assert field.network() == "linear 10 relu"
    assert underlined(field) == []
    assert message(field).text().endswith("weights")


def test_a_network_over_several_lines_is_one_line_and_its_mistake_is_found_on_the_right_one(
    qtbot: QtBot, field: NetworkField
) -> None:
    write(qtbot, field, "linear 32 relu,")
    qtbot.keyClick(editor(field), Qt.Key.Key_Return)
    qtbot.keyClicks(editor(field), "linear 1x")
    assert underlined(field) == ["1x"]
    qtbot.keyClick(editor(field), Qt.Key.Key_Backspace)
    qtbot.keyClicks(editor(field), "0")
    assert field.network() == "linear 32 relu, linear 10"


def test_a_text_of_any_length_and_any_characters_is_answered(field: NetworkField) -> None:
    endless = "linear 10 \U0001f600 " + "x" * 10 * MAX_TEXT
    editor(field).setPlainText(endless)
    assert field.network() is None
    assert str(MAX_TEXT) in message(field).text()
    editor(field).setPlainText("linear 10 \U0001f600")
    assert field.network() is None
    assert "\U0001f600" in message(field).text()
    assert len(editor(field).extraSelections()) == 1


def test_the_picture_shows_the_network_and_nothing_while_there_is_a_mistake(qtbot: QtBot, field: NetworkField) -> None:
    write(qtbot, field, "conv 8x3 relu, pool 2, linear 10")
    assert picture(field).accessibleDescription() == "input 1×28², conv 8×26², pool 8×13², linear 10"
    assert picture(field).height() > 0
    qtbot.keyClicks(editor(field), "x")
    assert picture(field).accessibleDescription() == ""
    assert picture(field).height() == 0


def test_every_edit_is_told(qtbot: QtBot, field: NetworkField) -> None:
    told: list[str | None] = []
    field.changed.connect(lambda: told.append(field.network()))
    qtbot.keyClicks(editor(field), "linear 10")
    assert told == [None] * 8 + ["linear 10"]


def test_showing_the_same_network_again_leaves_the_cursor_where_it_is(qtbot: QtBot, field: NetworkField) -> None:
    field.show_network("linear 16 relu, linear 10")
    assert field.network() == "linear 16 relu, linear 10"
    for _ in range(5):
        qtbot.keyClick(editor(field), Qt.Key.Key_Right)
    with qtbot.assertNotEmitted(field.changed):
        field.show_network("linear 16 relu, linear 10")
    assert editor(field).textCursor().position() == 5


def test_the_tab_key_leaves_the_text(qtbot: QtBot, field: NetworkField) -> None:
    beside = QLineEdit(field)
    beside.show()
    field.activateWindow()
    editor(field).setFocus()
    qtbot.waitUntil(lambda: editor(field).hasFocus())
    write(qtbot, field, "linear 10")
    qtbot.keyClick(editor(field), Qt.Key.Key_Tab)
    assert beside.hasFocus()
    assert editor(field).toPlainText() == "linear 10"
