"""The tab of the user's own digits: what it shows, what can be done with which of them, and how that is asked for."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QListView, QPushButton, QSlider, QTabBar
from pytestqt.qtbot import QtBot

from core.digits.my_digits import Problem
from gui.widgets.my_digits_panel import MyDigitsPanel
from tests.gui.widgets.own_digits import own_digits

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def panel(qtbot: QtBot) -> MyDigitsPanel:
    panel = MyDigitsPanel()
    qtbot.addWidget(panel)
    panel.resize(700, 600)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


@pytest.fixture
def filled(panel: MyDigitsPanel) -> MyDigitsPanel:
    panel.show_digits(own_digits((7, 7), (1, 7), (7, 1), (4, 4)))
    panel.allow(True)
    return panel


def find(panel: MyDigitsPanel, kind: type, name: str) -> Any:
    found = panel.findChild(kind, name)
    assert found is not None
    return found


def press(qtbot: QtBot, panel: MyDigitsPanel, name: str) -> None:
    qtbot.mouseClick(find(panel, QPushButton, name), LEFT)


def counts(panel: MyDigitsPanel) -> list[str]:
    bar = find(panel, QTabBar, "ownLabels")
    return [bar.tabText(tab) for tab in range(bar.count())]


def choose(qtbot: QtBot, panel: MyDigitsPanel, *rows: int) -> QListView:
    grid = find(panel, QListView, "ownDigits")
    for row in rows:
        place = grid.visualRect(grid.model().index(row, 0)).center()
        qtbot.mouseClick(grid.viewport(), LEFT, Qt.KeyboardModifier.ControlModifier, place)
    return grid


def test_without_any_it_says_how_to_begin_and_offers_nothing_else(panel: MyDigitsPanel) -> None:
    panel.allow(True)
    panel.show_digits(own_digits())
    assert find(panel, QLabel, "ownHint").isVisible()
    assert "press the key of what it is" in find(panel, QLabel, "ownHint").text()
    for name in ("relabelOwn", "deleteOwn", "undoDeleteOwn", "exportOwn", "trainOnMine"):
        assert not find(panel, QPushButton, name).isEnabled(), name
    assert find(panel, QPushButton, "importOwn").isEnabled()
    assert not find(panel, QLabel, "ownProblems").isVisible()


def test_until_they_are_read_it_says_so_and_counts_none(panel: MyDigitsPanel) -> None:
    hint = find(panel, QLabel, "ownHint")
    assert (hint.isVisible(), hint.text()) == (True, "Reading your digits…")
    assert counts(panel) == ["All", *map(str, range(10))]
    find(panel, QTabBar, "ownLabels").setCurrentIndex(3)
    assert hint.text() == "Reading your digits…"
    panel.show_failure()
    assert hint.text() == "Your digits could not be read."
    panel.show_digits(own_digits((7, 7)))
    find(panel, QTabBar, "ownLabels").setCurrentIndex(0)
    assert counts(panel)[0] == "All 1"
    panel.show_failure()
    assert not hint.isVisible()


def test_they_are_counted_by_label_and_the_wrong_ones_besides(filled: MyDigitsPanel) -> None:
    assert counts(filled) == ["All 4", "0: 0", "1: 1", "2: 0", "3: 0", "4: 1", "5: 0", "6: 0", "7: 2", "8: 0", "9: 0"]
    assert find(filled, QCheckBox, "onlyWrong").text() == "Only wrong ones: 2"
    assert not find(filled, QLabel, "ownHint").isVisible()


def test_filters_are_chosen_by_keyboard_and_mouse(qtbot: QtBot, filled: MyDigitsPanel) -> None:
    bar, model = find(filled, QTabBar, "ownLabels"), find(filled, QListView, "ownDigits").model()
    for _ in range(8):
        qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert bar.tabText(bar.currentIndex()) == "7: 2"
    assert model.rowCount() == 2
    find(filled, QCheckBox, "onlyWrong").click()
    assert [model.digit(row).key for row in range(model.rowCount())] == ["2"]
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert find(filled, QLabel, "ownHint").text() == "None of your digits is like that."


def test_a_key_relabels_those_chosen_that_are_something_else(qtbot: QtBot, filled: MyDigitsPanel) -> None:
    grid = choose(qtbot, filled, 0, 1)
    with qtbot.waitSignal(filled.relabel_requested) as heard:
        qtbot.keyClick(grid, Qt.Key.Key_7)
    assert heard.args == [["1"], 7]
    with qtbot.assertNotEmitted(filled.relabel_requested):
        grid.clearSelection()
        qtbot.keyClick(grid, Qt.Key.Key_7)


def test_the_menu_relabels_too(qtbot: QtBot, filled: MyDigitsPanel) -> None:
    choose(qtbot, filled, 3)
    action = find(filled, QPushButton, "relabelOwn").menu().actions()[9]
    assert action.text() == "This is a 9"
    with qtbot.waitSignal(filled.relabel_requested) as heard:
        action.trigger()
    assert heard.args == [["3"], 9]


def test_delete_is_for_those_chosen_by_key_or_button(qtbot: QtBot, filled: MyDigitsPanel) -> None:
    button = find(filled, QPushButton, "deleteOwn")
    assert not button.isEnabled()
    grid = choose(qtbot, filled, 0, 3)
    assert button.isEnabled()
    with qtbot.waitSignal(filled.delete_requested) as heard:
        press(qtbot, filled, "deleteOwn")
    assert heard.args == [["0", "3"]]
    with qtbot.waitSignal(filled.delete_requested):
        qtbot.keyClick(grid, Qt.Key.Key_Delete)
    filled.show_digits(own_digits())
    assert not button.isEnabled()


@pytest.mark.parametrize(
    ("name", "signal"),
    [("importOwn", "import_requested"), ("exportOwn", "export_requested"), ("undoDeleteOwn", "undo_requested")],
)
def test_each_button_asks_for_what_it_says(qtbot: QtBot, filled: MyDigitsPanel, name: str, signal: str) -> None:
    filled.allow_undo(True)
    with qtbot.waitSignal(getattr(filled, signal)):
        press(qtbot, filled, name)


def test_lines_that_are_no_digits_are_told_quietly_with_their_numbers(panel: MyDigitsPanel) -> None:
    label = find(panel, QLabel, "ownProblems")
    panel.show_digits(own_digits((7, 7), problems=(Problem(3, "this is not JSON"),)))
    assert label.text() == "Line 3 of mine.jsonl is no digit and is passed over; it stays in the file as it is."
    assert "this is not JSON" in label.toolTip()
    panel.show_digits(own_digits((7, 7), problems=tuple(Problem(line, "<b>") for line in range(1, 21))))
    assert label.text().startswith("20 lines of mine.jsonl are no digits and are passed over: 1, 2, 3, 4, 5, 6, 7, 8….")
    panel.show_digits(own_digits((7, 7)))
    assert not label.isVisible()


def test_training_asks_with_the_share_and_from_where(qtbot: QtBot, filled: MyDigitsPanel) -> None:
    slider = find(filled, QSlider, "shareOfMine")
    with qtbot.waitSignal(filled.train_requested) as heard:
        press(qtbot, filled, "trainOnMine")
    assert heard.args == [0.3, True]
    for _ in range(20):
        qtbot.keyClick(slider, Qt.Key.Key_Right)
    find(filled, QCheckBox, "fromNetwork").click()
    with qtbot.waitSignal(filled.train_requested) as heard:
        press(qtbot, filled, "trainOnMine")
    assert heard.args == [0.9, False]
    for _ in range(20):
        qtbot.keyClick(slider, Qt.Key.Key_Left)
    with qtbot.waitSignal(filled.train_requested) as heard:
        press(qtbot, filled, "trainOnMine")
    assert heard.args == [0.1, False]
    filled.allow(False)
    assert not find(filled, QPushButton, "trainOnMine").isEnabled()


def test_the_result_stays_to_be_read(filled: MyDigitsPanel) -> None:
    label = find(filled, QLabel, "ownResult")
    assert not label.isVisible()
    filled.show_result("On yours 98.0 %.")
    filled.show_digits(own_digits())
    assert (label.isVisible(), label.text()) == (True, "On yours 98.0 %.")


def test_every_control_has_a_name_and_explains_itself_and_all_fit_a_narrow_tab(filled: MyDigitsPanel) -> None:
    for kind in (QPushButton, QCheckBox, QSlider, QTabBar):
        for control in filled.findChildren(kind):
            assert control.objectName()
            assert control.accessibleName(), control.objectName()
            assert control.toolTip(), control.objectName()
    assert filled.minimumSizeHint().width() <= 438
