"""What lies behind the picture: closed at first, and open about what is not as usual."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QToolButton
from pytestqt.qtbot import QtBot

from gui.widgets.picture_details import PictureDetails


@pytest.fixture
def details(qtbot: QtBot) -> PictureDetails:
    details = PictureDetails()
    qtbot.addWidget(details)
    details.show()
    qtbot.waitExposed(details)
    return details


@pytest.fixture
def opener(details: PictureDetails) -> QToolButton:
    found = details.findChild(QToolButton, "stepsOpener")
    assert found is not None
    return found


@pytest.mark.parametrize("by_key", [False, True])
def test_it_opens_and_closes(qtbot: QtBot, details: PictureDetails, opener: QToolButton, by_key: bool) -> None:
    told: list[bool] = []
    details.opened.connect(told.append)
    assert not details.steps.isVisible()
    for is_open in (True, False):
        if by_key:
            qtbot.keyClick(opener, Qt.Key.Key_Space)
        else:
            qtbot.mouseClick(opener, Qt.MouseButton.LeftButton)
        assert details.steps.isVisible() == is_open
        assert details.nearest.isVisible() == is_open
    assert told == [True, False]


def test_what_is_left_out_can_be_read_while_it_is_closed(details: PictureDetails, opener: QToolButton) -> None:
    whole = opener.text()
    switches = [details.findChild(QCheckBox, f"{step}Switch") for step in ("scale", "centre")]
    for number, switch in enumerate(switches, start=1):
        assert switch is not None
        switch.click()
        assert opener.text() == f"{whole} ({number} left out)"
    for switch in switches:
        assert switch is not None
        switch.click()
    assert opener.text() == whole


def test_a_move_is_shown_until_it_is_taken_back(details: PictureDetails) -> None:
    label = details.findChild(QLabel, "moveLabel")
    assert label is not None
    assert not label.isVisible()
    details.show_move(0, -3)
    assert label.isVisible()
    assert label.text() == "moved 0, -3"
    details.show_move(0, 0)
    assert not label.isVisible()
