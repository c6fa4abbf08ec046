"""The offer to go on: shown only when there is one, answered once."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from core.training.job import TrainingJob
from core.training.ledger import INTERRUPTED, RunSummary
from core.training.presets import find_preset
from core.training.run_info import RunInfo
from gui.widgets.recovery_bar import RecoveryBar


@pytest.fixture
def bar(qtbot: QtBot) -> RecoveryBar:
    bar = RecoveryBar()
    qtbot.addWidget(bar)
    return bar


@pytest.fixture
def run() -> RunSummary:
    job = TrainingJob("quick-mlp", find_preset("quick-mlp").hyperparameters)
    info = RunInfo(job, "2026-01-01T10:45:16+00:00", {}, "Wide")
    return RunSummary(Path("a"), info, INTERRUPTED, "cpu", steps=1_400, total_steps=5_500)


def button(bar: RecoveryBar, name: str) -> QPushButton:
    found = bar.findChild(QPushButton, name)
    assert isinstance(found, QPushButton)
    return found


def test_it_says_which_run_and_how_far_it_came(bar: RecoveryBar, run: RunSummary) -> None:
    assert not bar.isVisible()
    bar.offer(run)
    assert bar.isVisible()
    words = bar.findChild(QLabel, "recoveryWords")
    assert isinstance(words, QLabel)
    assert words.text() == "The run of Wide on MNIST was broken off at epoch 3 of 10."


def test_continue_asks_for_it_when_a_run_may_begin(qtbot: QtBot, bar: RecoveryBar, run: RunSummary) -> None:
    bar.offer(run)
    bar.allow(False)
    assert not button(bar, "recoveryContinue").isEnabled()
    bar.allow(True)
    with qtbot.waitSignal(bar.continue_requested) as asked:
        qtbot.mouseClick(button(bar, "recoveryContinue"), Qt.MouseButton.LeftButton)
    assert asked.args == [run]


def test_left_alone_it_is_gone(qtbot: QtBot, bar: RecoveryBar, run: RunSummary) -> None:
    bar.offer(run)
    with qtbot.waitSignal(bar.left) as left:
        qtbot.mouseClick(button(bar, "recoveryLeave"), Qt.MouseButton.LeftButton)
    assert left.args == [run]
    assert not bar.isVisible()
