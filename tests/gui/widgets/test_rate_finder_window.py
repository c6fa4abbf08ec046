"""The window of the search: points as they come, the rate to begin with, and a button that takes it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from gui.widgets.rate_finder_window import RateFinderWindow


@pytest.fixture
def window(qtbot: QtBot) -> RateFinderWindow:
    window = RateFinderWindow()
    qtbot.addWidget(window)
    window.begin(1e-5, 10.0)
    for step in range(40):
        window.add_point(1e-5 * 1.4**step, 2.3 - 0.04 * step)
    return window


def use_button(window: RateFinderWindow) -> QPushButton:
    button = window.findChild(QPushButton, "useRateButton")
    assert button is not None
    return button


def result(window: RateFinderWindow) -> str:
    label = window.findChild(QLabel, "rateResult")
    assert label is not None
    return str(label.text())


def test_before_the_end_there_is_no_rate_to_take(window: RateFinderWindow) -> None:
    assert not use_button(window).isEnabled()


def test_the_suggested_rate_is_told_and_can_be_taken(qtbot: QtBot, window: RateFinderWindow) -> None:
    window.show_result(0.02199)
    assert "0.022" in result(window)
    with qtbot.waitSignal(window.closed), qtbot.waitSignal(window.rate_chosen) as taken:
        qtbot.mouseClick(use_button(window), Qt.MouseButton.LeftButton)
    assert taken.args == [0.022]
    assert not window.isVisible()


def test_a_search_that_found_nothing_says_so_and_offers_nothing(window: RateFinderWindow) -> None:
    window.show_result(None)
    assert "No rate" in result(window)
    assert not use_button(window).isEnabled()


def test_a_new_search_forgets_the_last_one(window: RateFinderWindow) -> None:
    window.show_result(0.1)
    window.begin(1e-5, 10.0)
    assert not use_button(window).isEnabled()
    assert "0.1" not in result(window)


def test_closing_the_window_is_told(qtbot: QtBot, window: RateFinderWindow) -> None:
    with qtbot.waitSignal(window.closed):
        window.close()
