"""The slider of certainty, moved by real keys, and the sentence beside it."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSlider
from pytestqt.qtbot import QtBot

from gui.widgets.certainty_row import CertaintyRow

COVERAGE = np.linspace(1.0, 0.5, 101)
ACCURACY = np.linspace(0.98, 1.0, 101)


@pytest.fixture
def row(qtbot: QtBot) -> CertaintyRow:
    row = CertaintyRow()
    qtbot.addWidget(row)
    return row


def text(row: CertaintyRow, name: str) -> str:
    label = row.findChild(QLabel, name)
    assert isinstance(label, QLabel)
    return label.text()


def slider(row: CertaintyRow) -> QSlider:
    found = row.findChild(QSlider, "certaintySlider")
    assert isinstance(found, QSlider)
    return found


def show(row: CertaintyRow, threshold: float) -> None:
    row.show_threshold(threshold)
    row.show_effect(COVERAGE, ACCURACY)


def test_it_is_hidden_until_there_is_something_to_choose(row: CertaintyRow) -> None:
    assert row.isHidden()
    show(row, 0.8)
    assert not row.isHidden()
    row.show_nothing()
    assert row.isHidden()


def test_it_begins_at_the_fitted_threshold_without_changing_it(qtbot: QtBot, row: CertaintyRow) -> None:
    with qtbot.assertNotEmitted(row.threshold_changed):
        show(row, 0.807)
    assert text(row, "certaintyPercent") == "80 %"
    assert text(row, "certaintyEffect") == "Test set: 60.0 % answered, 99.60 % right."


def test_the_keys_move_it_and_the_sentence_follows(qtbot: QtBot, row: CertaintyRow) -> None:
    show(row, 0.8)
    shown: list[float] = []
    row.threshold_shown.connect(shown.append)
    with qtbot.waitSignal(row.threshold_changed) as told:
        qtbot.keyClick(slider(row), Qt.Key.Key_End)
    assert told.args == [1.0]
    show(row, 0.807)
    row.show_nothing()
    assert shown == [1.0, 0.8, 0.0]
    show(row, 1.0)
    assert text(row, "certaintyEffect") == "Test set: 50.0 % answered, 100.00 % right."


def test_where_nothing_is_answered_it_says_so(row: CertaintyRow) -> None:
    row.show_threshold(1.0)
    row.show_effect(np.zeros(101), np.full(101, np.nan))
    assert text(row, "certaintyEffect") == "No test digit would be answered."


def test_where_the_effect_is_forgotten_the_slider_stays_where_it_was_moved(qtbot: QtBot, row: CertaintyRow) -> None:
    show(row, 0.8)
    qtbot.keyClick(slider(row), Qt.Key.Key_End)
    with qtbot.assertNotEmitted(row.threshold_shown):
        row.forget_effect()
    assert (row.isHidden(), row.threshold, text(row, "certaintyEffect")) == (False, 1.0, "")
    qtbot.keyClick(slider(row), Qt.Key.Key_Home)
    assert text(row, "certaintyEffect") == ""
    row.show_effect(COVERAGE, ACCURACY)
    assert (row.threshold, text(row, "certaintyEffect")) == (0.0, "Test set: 100.0 % answered, 98.00 % right.")
