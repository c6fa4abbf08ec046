"""The line at the foot of the window: a problem is told from a notice, and progress is never ahead of the run."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar
from pytestqt.qtbot import QtBot

from gui.widgets.run_status import RunStatus


@pytest.fixture
def status(qtbot: QtBot) -> RunStatus:
    status = RunStatus()
    qtbot.addWidget(status)
    status.resize(500, 40)
    status.show()
    return status


def text(status: RunStatus) -> QLabel:
    label = status.findChild(QLabel, "statusLabel")
    assert label is not None
    return label


def bar(status: RunStatus) -> QProgressBar:
    found = status.findChild(QProgressBar, "progressBar")
    assert found is not None
    return found


def icons(status: RunStatus) -> list[QLabel]:
    return [label for label in status.findChildren(QLabel) if label.isVisible() and not label.pixmap().isNull()]


def test_a_problem_is_told_from_a_notice_by_a_sign_and_a_word(status: RunStatus) -> None:
    status.show_message("All is well.")
    assert (text(status).text(), text(status).accessibleName(), icons(status)) == ("All is well.", "Status", [])
    status.show_problem("It is not.")
    assert (text(status).text(), text(status).accessibleName(), len(icons(status))) == ("It is not.", "Problem", 1)
    status.show_message("Well again.")
    assert (text(status).accessibleName(), icons(status)) == ("Status", [])


def test_text_can_be_copied_and_is_never_taken_for_markup(status: RunStatus) -> None:
    status.show_problem("<b>a</b> & b")
    label = text(status)
    assert label.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
    assert label.textFormat() == Qt.TextFormat.PlainText
    label.setSelection(0, 4)
    assert label.selectedText() == "<b>a"


def test_a_long_sentence_wraps(qtbot: QtBot, status: RunStatus) -> None:
    status.show_message("short")
    one_line = text(status).heightForWidth(200)
    status.show_message("a long sentence " * 10)
    assert text(status).heightForWidth(200) > 2 * one_line


@pytest.mark.parametrize(("done", "share", "words"), [(0.0, 0.0, "0 %"), (0.386, 0.386, "38 %"), (1.0, 1.0, "100 %")])
def test_progress(status: RunStatus, done: float, share: float, words: str) -> None:
    status.show_progress(done)
    assert bar(status).isVisible()
    assert bar(status).value() / bar(status).maximum() == pytest.approx(share, abs=1e-3)
    assert words in [label.text() for label in status.findChildren(QLabel)]


def test_it_is_not_done_before_it_is(status: RunStatus) -> None:
    status.show_progress(0.99999)
    assert "99 %" in [label.text() for label in status.findChildren(QLabel)]


@pytest.mark.parametrize("done", [-1.0, 7.0])
def test_progress_beyond_the_ends_is_bounded(status: RunStatus, done: float) -> None:
    status.show_progress(done)
    assert bar(status).minimum() <= bar(status).value() <= bar(status).maximum()


def test_without_a_run_there_is_no_bar(status: RunStatus) -> None:
    status.show_progress(0.5)
    status.show_progress(None)
    assert not bar(status).isVisible()
