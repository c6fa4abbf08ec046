"""The buttons of a run and its accuracy: each state allows what makes sense in it, by mouse and by key."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from gui.training_state import TrainingState
from gui.widgets.run_controls import RunControls


@pytest.fixture
def controls(qtbot: QtBot) -> RunControls:
    controls = RunControls()
    qtbot.addWidget(controls)
    controls.show()
    qtbot.waitExposed(controls)
    return controls


def button(controls: RunControls, name: str) -> QPushButton:
    found = controls.findChild(QPushButton, name)
    assert found is not None
    return found


def texts(controls: RunControls) -> str:
    return " ".join(label.text() for label in controls.findChildren(QLabel) if label.text())


@pytest.mark.parametrize(
    ("state", "can_train", "enabled"),
    [
        (TrainingState.LOADING, True, set()),
        (TrainingState.IDLE, True, {"trainButton"}),
        (TrainingState.IDLE, False, set()),
        (TrainingState.TRAINING, True, {"pauseButton", "stopButton"}),
        (TrainingState.PAUSED, True, {"pauseButton", "stopButton"}),
        (TrainingState.STOPPING, True, set()),
    ],
)
def test_each_state_allows_its_buttons(
    controls: RunControls, state: TrainingState, can_train: bool, enabled: set[str]
) -> None:
    controls.show_state(state, can_train)
    names = ("trainButton", "pauseButton", "stopButton")
    assert {name for name in names if button(controls, name).isEnabled()} == enabled


def test_buttons_emit_requests(qtbot: QtBot, controls: RunControls) -> None:
    left = Qt.MouseButton.LeftButton
    controls.show_state(TrainingState.IDLE, can_train=True)
    with qtbot.waitSignal(controls.train_requested):
        qtbot.mouseClick(button(controls, "trainButton"), left)
    controls.show_state(TrainingState.TRAINING, can_train=False)
    with qtbot.waitSignal(controls.pause_requested):
        qtbot.mouseClick(button(controls, "pauseButton"), left)
    with qtbot.waitSignal(controls.stop_requested):
        qtbot.mouseClick(button(controls, "stopButton"), left)
    controls.show_state(TrainingState.PAUSED, can_train=False)
    with qtbot.waitSignal(controls.resume_requested):
        qtbot.mouseClick(button(controls, "pauseButton"), left)


def test_the_keyboard_stays_with_the_buttons_when_one_that_was_pressed_may_not_be_again(controls: RunControls) -> None:
    field = QLineEdit(controls)
    field.show()
    controls.show_state(TrainingState.IDLE, can_train=True)
    button(controls, "trainButton").setFocus()
    for state, focused in (
        (TrainingState.TRAINING, "pauseButton"),
        (TrainingState.STOPPING, ""),
        (TrainingState.IDLE, "trainButton"),
    ):
        controls.show_state(state, can_train=True)
        assert not field.hasFocus()
        assert [name for name in ("trainButton", "pauseButton", "stopButton") if button(controls, name).hasFocus()] == [
            focused
        ] * bool(focused)
    field.setFocus()
    controls.show_state(TrainingState.TRAINING, can_train=True)
    assert field.hasFocus()


def test_keys_do_the_same_even_after_the_words_changed(qtbot: QtBot, controls: RunControls) -> None:
    control = Qt.KeyboardModifier.ControlModifier
    controls.activateWindow()
    qtbot.waitUntil(controls.isActiveWindow)
    controls.show_state(TrainingState.IDLE, can_train=True)
    with qtbot.waitSignal(controls.train_requested):
        qtbot.keyClick(controls, Qt.Key.Key_Return, control)
    controls.show_state(TrainingState.TRAINING, can_train=False)
    with qtbot.waitSignal(controls.pause_requested):
        qtbot.keyClick(controls, Qt.Key.Key_P, control)
    controls.show_state(TrainingState.PAUSED, can_train=False)
    with qtbot.waitSignal(controls.resume_requested):
        qtbot.keyClick(controls, Qt.Key.Key_P, control)
    with qtbot.waitSignal(controls.stop_requested):
        qtbot.keyClick(controls, Qt.Key.Key_Period, control)


def test_pause_turns_into_resume_without_moving_the_row(controls: RunControls) -> None:
    controls.show_state(TrainingState.TRAINING, can_train=False)
    pause = button(controls, "pauseButton")
    before = pause.text(), pause.sizeHint().expandedTo(pause.minimumSize()).width()
    controls.show_state(TrainingState.PAUSED, can_train=False)
    after = pause.text(), pause.sizeHint().expandedTo(pause.minimumSize()).width()
    assert (before[0], after[0]) == ("Pause", "Resume")
    assert before[1] == after[1]
    assert pause.accessibleName() == "Resume"


def test_icons_are_drawn(controls: RunControls) -> None:
    for name in ("trainButton", "pauseButton", "stopButton"):
        image = button(controls, name).icon().pixmap(14, 14).toImage()
        assert any(image.pixelColor(x, y).alpha() for x in range(image.width()) for y in range(image.height()))


@pytest.fixture
def german() -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale("de_DE"))
    yield
    QLocale.setDefault(before)


@pytest.mark.usefixtures("german")
def test_the_accuracy_is_written_as_the_language_does(controls: RunControls) -> None:
    controls.show_accuracy("test", 0.979)
    assert texts(controls) == "97,9 % test"


def test_the_accuracy_is_the_headline(controls: RunControls) -> None:
    controls.show_accuracy("test", 0.979)
    assert texts(controls) == "97.9 % test"
    controls.show_accuracy("validation", 0.99957)
    assert texts(controls) == "99.96 % validation"
    controls.show_accuracy("test", None)
    assert texts(controls) == ""


@pytest.mark.parametrize("name", ["trainButton", "pauseButton", "stopButton"])
def test_every_button_explains_itself(controls: RunControls, name: str) -> None:
    assert button(controls, name).accessibleName()
    assert "Ctrl" in button(controls, name).toolTip()
