"""What the drawing is meant to be, beside what the network makes of it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel
from pytestqt.qtbot import QtBot

from gui.widgets.meant_digit import MeantDigit


@pytest.fixture
def meant(qtbot: QtBot) -> MeantDigit:
    meant = MeantDigit()
    qtbot.addWidget(meant)
    meant.show()
    return meant


def selector(meant: MeantDigit) -> QComboBox:
    found = meant.findChild(QComboBox, "meantSelector")
    assert found is not None
    return found


def label(meant: MeantDigit, name: str) -> QLabel:
    found = meant.findChild(QLabel, name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("said", "answer", "mark"), [(7, 7, "✓"), (7, 1, "✗"), (0, 0, "✓"), (None, 7, ""), (7, None, "")]
)
def test_the_mark_tells_right_from_wrong_without_colour(
    meant: MeantDigit, said: int | None, answer: int | None, mark: str
) -> None:
    meant.show_answer(answer)
    meant.show_drawing(said)
    verdict = label(meant, "verdictLabel")
    assert verdict.text() == mark
    assert bool(verdict.accessibleDescription()) == bool(mark)
    meant.show_drawing(None)
    meant.show_answer(None)
    assert verdict.text() == ""


def test_the_digit_is_chosen_by_hand(qtbot: QtBot, meant: MeantDigit) -> None:
    meant.show_drawing(None)
    chosen: list[int] = []
    meant.chosen.connect(chosen.append)
    selector(meant).setFocus()
    for _ in range(2):
        qtbot.keyClick(selector(meant), Qt.Key.Key_Down)
    assert chosen == [0, 1]


def test_what_was_said_cannot_be_unsaid(qtbot: QtBot, meant: MeantDigit) -> None:
    meant.show_drawing(0)
    chosen: list[int] = []
    meant.chosen.connect(chosen.append)
    qtbot.keyClick(selector(meant), Qt.Key.Key_Up)
    assert chosen == []
    assert "0" in selector(meant).currentText()


def test_there_is_something_to_choose_only_for_a_drawing(meant: MeantDigit) -> None:
    meant.show_nothing()
    assert not selector(meant).isEnabled()
    meant.show_drawing(None)
    assert selector(meant).isEnabled()
    meant.show_printed(4304, 1)
    assert not selector(meant).isVisible()
    assert label(meant, "printedLabel").text().startswith("Test digit 4")
    assert label(meant, "printedLabel").text().endswith("305 is a 1")
    meant.show_drawing(3)
    assert selector(meant).isVisible()
    assert not label(meant, "printedLabel").isVisible()


KANA = ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")


def test_what_was_meant_among_other_classes_is_neither_right_nor_wrong(meant: MeantDigit) -> None:
    meant.show_printed(0, 7)
    meant.show_answer(7)
    assert label(meant, "verdictLabel").text() == "✓"
    meant.show_classes(KANA)
    assert label(meant, "verdictLabel").text() == ""
    meant.show_printed(0, 7, KANA)
    assert label(meant, "printedLabel").text() == "Test picture 1: ya"
    assert label(meant, "verdictLabel").text() == "✓"
    meant.show_answer(2)
    assert label(meant, "verdictLabel").accessibleDescription() == "The network reads su."


def test_no_digit_can_be_meant_for_a_network_that_reads_none(meant: MeantDigit) -> None:
    meant.show_drawing(None)
    assert selector(meant).isEnabled()
    meant.show_classes(KANA)
    assert not selector(meant).isEnabled()
    assert "reads no digits" in selector(meant).toolTip()
