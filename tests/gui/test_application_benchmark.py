"""The benchmark and the race in the whole window: on the real data, and never beside a training run."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QTabBar
from pytestqt.qtbot import QtBot

from gui.application import Application
from gui.dialogs import Keep
from gui.training_state import TrainingState
from tests.gui.whole_window import find

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def application(qtbot: QtBot, places: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    monkeypatch.setattr("core.training.benchmark.measure_peak", lambda device: 1e12)
    discard = SimpleNamespace(ask_before_closing=lambda training, kept: Keep.DISCARD)
    monkeypatch.setattr("gui.application.Dialogs", lambda window: discard)
    application = Application()
    application.start()
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    values = application.window.hyperparameter_form.values()
    assert values is not None
    small = replace(values, network="linear 16 relu, linear 10", epochs=500)
    application.window.hyperparameter_form.show_values(small)
    application.window.tabs.setCurrentIndex(application.window.tabs.count() - 1)
    yield application
    application.window.close()
    qtbot.waitUntil(lambda: not application.window.isVisible(), timeout=20_000)
    qtbot.waitUntil(lambda: not application.measuring.benchmark.is_running, timeout=20_000)


def click(qtbot: QtBot, application: Application, name: str) -> None:
    qtbot.mouseClick(find(application, name, QPushButton), Qt.MouseButton.LeftButton)


def type_widths(qtbot: QtBot, application: Application, widths: str) -> None:
    field = find(application, "widthsField", QLineEdit)
    assert isinstance(field, QLineEdit)
    field.selectAll()
    qtbot.keyClicks(field, widths)


def text(application: Application, name: str) -> str:
    label = find(application, name, QLabel)
    assert isinstance(label, QLabel)
    return label.text()


def test_an_epoch_is_measured_and_teaches_something(qtbot: QtBot, application: Application) -> None:
    type_widths(qtbot, application, "4, 16")
    click(qtbot, application, "benchmarkStart")
    qtbot.waitUntil(lambda: text(application, "benchmarkWords") == "All measured.", timeout=60_000)
    assert "4 times the work, 4 to 16 hidden units" in text(application, "benchmarkLesson")
    qtbot.waitUntil(find(application, "benchmarkStart").isEnabled)


def test_nothing_else_computes_while_something_is_measured(qtbot: QtBot, application: Application) -> None:
    type_widths(qtbot, application, "16384")
    click(qtbot, application, "benchmarkStart")
    assert application.measuring.benchmark.is_running
    assert not find(application, "trainButton").isEnabled()
    assert not application.window.find_rate_action.isEnabled()
    # What bypasses the button is refused as well.
    application.window.run_controls.train_requested.emit()
    assert application.training.state is TrainingState.IDLE
    click(qtbot, application, "benchmarkCancel")
    qtbot.waitUntil(find(application, "trainButton").isEnabled, timeout=20_000)
    assert text(application, "benchmarkWords").startswith("Cancelled")


def test_nothing_is_measured_while_a_network_trains(qtbot: QtBot, application: Application) -> None:
    assert find(application, "benchmarkStart").isEnabled()
    click(qtbot, application, "trainButton")
    assert not find(application, "benchmarkStart").isEnabled()
    click(qtbot, application, "stopButton")
    qtbot.waitUntil(find(application, "benchmarkStart").isEnabled, timeout=20_000)


def test_a_race_runs_what_is_set_up_in_the_form(qtbot: QtBot, application: Application) -> None:
    values = application.window.hyperparameter_form.values()
    assert values is not None
    application.window.hyperparameter_form.show_values(replace(values, epochs=1))
    kinds = find(application, "benchmarkKinds", QTabBar)
    assert isinstance(kinds, QTabBar)
    qtbot.mouseClick(kinds, Qt.MouseButton.LeftButton, pos=kinds.tabRect(1).center())
    click(qtbot, application, "benchmarkStart")
    qtbot.waitUntil(lambda: text(application, "raceVerdict").endswith("A race wants two devices."), timeout=60_000)
    qtbot.waitUntil(lambda: not application.measuring.benchmark.is_running, timeout=20_000)
    # Neither the curves of the last run nor the network that answers have changed.
    assert not application.network.has_unsaved


def test_closing_ends_what_is_measured_and_goes(qtbot: QtBot, application: Application) -> None:
    type_widths(qtbot, application, "16384")
    click(qtbot, application, "benchmarkStart")
    application.window.close()
    assert not application.window.isVisible()
    qtbot.waitUntil(lambda: not application.measuring.benchmark.is_running, timeout=20_000)


def test_the_program_ends_with_its_window_even_while_something_is_measured(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget
from gui import application as room

class Application(room.Application):
    def __init__(self):
        super().__init__()
        self.data.loaded.connect(lambda sets: QTimer.singleShot(0, self.measure))
        self.measuring.benchmark.told.connect(lambda event: self.window.close())

    def measure(self):
        self.window.findChild(QWidget, "widthsField").setText("16384")
        self.window.findChild(QWidget, "benchmarkStart").click()
        print("measuring", self.measuring.benchmark.is_running)

room.default_runs_folder = lambda: Path(sys.argv[1], "runs")
room.user_settings_file = lambda: Path(sys.argv[1], "settings.ini")
room.Application = Application
sys.exit(room.run_window())
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "measuring True\n"), done.stderr
