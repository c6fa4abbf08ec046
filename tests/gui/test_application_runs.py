"""Kept runs in the whole window: repeated, gone on with, used and deleted; and found again after a kill."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QTableView, QWidget
from pytestqt.qtbot import QtBot

from core.training.ledger import RunSummary, list_runs
from core.training.model_file import load_model
from core.training.run_folder import CHECKPOINT, LAST
from gui.application import Application
from gui.dialogs import Keep
from gui.settings import Settings, SettingsFile
from gui.training_state import TrainingState
from tests.gui.whole_window import click, find

ROOT = Path(__file__).resolve().parents[2]
SMALL = {"network": "linear 16 relu, linear 10", "epochs": 2, "train_limit": 5000}


@pytest.fixture
def person() -> SimpleNamespace:
    return SimpleNamespace(
        ask_before_closing=lambda training, kept: Keep.DISCARD,
        ask_before_deleting=lambda name: True,
        ask_for_note=lambda note: "wide",
        ask_which_runs_folder=lambda folder: None,
    )


@pytest.fixture
def application(
    qtbot: QtBot, places: Path, person: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Application]:
    (places / "data").mkdir(parents=True)
    monkeypatch.setenv("XDG_DATA_HOME", str(places / "data"))  # Where the trash lies.
    with window(qtbot, person, monkeypatch) as application:
        yield application


@contextlib.contextmanager
def window(qtbot: QtBot, person: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    monkeypatch.setattr("gui.application.Dialogs", lambda window: person)
    application = Application()
    application.start()
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=60_000)
    form = application.window.hyperparameter_form
    values = form.values()
    assert values is not None
    form.show_values(replace(values, **SMALL))
    try:
        yield application
    finally:
        application.window.close()
        qtbot.waitUntil(lambda: not application.window.isVisible(), timeout=60_000)


def tab(application: Application, title: str) -> int:
    """The place of the tab of this title."""
    tabs = application.window.tabs
    return next(place for place in range(tabs.count()) if tabs.tabText(place) == title)


def table(application: Application) -> QTableView:
    found = find(application, "runsTable", QTableView)
    assert isinstance(found, QTableView)
    return found


def train(qtbot: QtBot, application: Application) -> None:
    with qtbot.waitSignal(application.training.ended, timeout=60_000):
        click(qtbot, application, "trainButton")
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)


def show_runs(qtbot: QtBot, application: Application, count: int) -> None:
    with qtbot.waitSignal(application.runs.controller.listed, timeout=20_000):
        application.window.tabs.setCurrentIndex(tab(application, "Runs"))
    qtbot.waitUntil(lambda: table(application).model().rowCount() == count, timeout=20_000)


def the_run(places: Path) -> RunSummary:
    (run,) = list_runs(places / "runs")
    return run


def test_a_run_is_listed_and_repeated_with_the_same_seed_to_the_same_weights(
    qtbot: QtBot, application: Application, places: Path
) -> None:
    train(qtbot, application)
    show_runs(qtbot, application, 1)
    form = application.window.hyperparameter_form
    values = form.values()
    assert values is not None
    form.show_values(replace(values, network="linear 99 relu, linear 10", seed=5))
    with qtbot.waitSignal(application.training.ended, timeout=60_000):
        click(qtbot, application, "repeatRun")
    shown = form.values()
    assert shown is not None
    assert (shown.network, shown.seed) == (SMALL["network"], values.seed)
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    first, second = (load_model(run.path / LAST).weights for run in list_runs(places / "runs"))
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_a_stopped_run_goes_on_with_its_curves_from_the_start(
    qtbot: QtBot, application: Application, places: Path
) -> None:
    form = application.window.hyperparameter_form
    values = form.values()
    assert values is not None
    form.show_values(replace(values, epochs=400))
    with qtbot.waitSignal(application.training.evaluated, timeout=60_000):
        click(qtbot, application, "trainButton")
    click(qtbot, application, "stopButton")
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    stopped = the_run(places)
    show_runs(qtbot, application, 1)
    points: list[float] = []
    application.progress.curves_reset.connect(points.clear)
    application.progress.point_added.connect(lambda series, event: points.append(event.samples))
    with qtbot.waitSignal(application.training.started, timeout=60_000):
        click(qtbot, application, "continueRun")
    assert application.window.tabs.currentIndex() == tab(application, "Learn")
    assert min(points) == 1000
    qtbot.waitUntil(lambda: max(points) > stopped.steps * 100, timeout=60_000)
    assert sorted(points) == points
    click(qtbot, application, "stopButton")
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    assert the_run(places).steps > stopped.steps


def test_the_network_of_a_run_answers_when_it_is_chosen_by_enter(qtbot: QtBot, application: Application) -> None:
    train(qtbot, application)
    application.network.open_shipped()
    show_runs(qtbot, application, 1)
    with qtbot.waitSignal(application.network.named) as named:
        qtbot.keyClick(table(application), Qt.Key.Key_Return)
    assert named.args[0].startswith("the network of the run")
    assert application.network.model is not None
    assert application.network.model.hyperparameters.network == SMALL["network"]


def test_a_run_is_renamed_in_place_annotated_and_deleted_to_the_trash(
    qtbot: QtBot, application: Application, places: Path
) -> None:
    train(qtbot, application)
    show_runs(qtbot, application, 1)
    listed = application.runs.controller.listed
    qtbot.keyClick(table(application), Qt.Key.Key_F2)
    editor = table(application).findChild(QWidget, "runName")
    assert editor is not None
    qtbot.keyClicks(editor, "My first")
    with qtbot.waitSignal(listed, timeout=20_000):
        qtbot.keyClick(editor, Qt.Key.Key_Return)
    with qtbot.waitSignal(listed, timeout=20_000):
        application.window.runs_panel.note_requested.emit(the_run(places))
    info = the_run(places).info
    assert info is not None
    assert (info.name, info.note) == ("My first", "wide")
    path = the_run(places).path
    with qtbot.waitSignal(listed, timeout=20_000):
        qtbot.keyClick(table(application), Qt.Key.Key_Delete)
    assert list_runs(places / "runs") == []
    assert (places / "data" / "Trash" / "files" / path.name / LAST).exists() or not sys.platform.startswith("linux")


def test_where_a_full_disk_ends_the_keeping_one_sentence_says_so_and_training_goes_on(
    qtbot: QtBot, application: Application, places: Path
) -> None:
    places.mkdir(exist_ok=True)
    (places / "runs").write_text("in the way")
    label = find(application, "statusLabel", QLabel)
    assert isinstance(label, QLabel)
    with qtbot.waitSignal(application.training.not_kept, timeout=60_000):
        click(qtbot, application, "trainButton")
    assert "the run is not kept" in label.text()
    assert str(places / "runs") in label.text()
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=60_000)
    assert application.network.has_unsaved


def test_the_window_comes_back_as_it_was_left_and_can_be_reset(
    qtbot: QtBot, places: Path, person: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with window(qtbot, person, monkeypatch) as first:
        first.window.resize(1160, 650)
        first.window.tabs.setCurrentIndex(1)
        first.window.preset_selector.select("pycuda-seed")
        first.window.learning_plot.show_as("seconds", True)
    with window(qtbot, person, monkeypatch) as second:
        shown = second.window
        assert (shown.width(), shown.height(), shown.tabs.currentIndex()) == (1160, 650, 1)
        assert shown.preset_selector.selected_name() == "pycuda-seed"
        assert (shown.learning_plot.axis(), shown.learning_plot.is_logarithmic()) == ("seconds", True)
        shown.reset_action.trigger()
        assert (shown.width(), shown.height(), shown.tabs.currentIndex()) == (1280, 760, 0)
        assert (shown.learning_plot.axis(), shown.learning_plot.is_logarithmic()) == ("samples", False)
        assert SettingsFile(places / "settings.ini").read().tab == 0


@pytest.mark.parametrize("kept", [(0, 0, 0), (300, 0, 700), (300, 700)])
def test_no_pane_is_ever_without_width(
    qtbot: QtBot,
    places: Path,
    person: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    kept: tuple[int, ...],
) -> None:
    places.mkdir()
    SettingsFile(places / "settings.ini").write(Settings(splitter=kept))
    with window(qtbot, person, monkeypatch) as application:
        assert min(application.window.splitter.sizes()) > 200
    assert min(SettingsFile(places / "settings.ini").read().splitter) > 200


def test_a_window_that_was_never_shown_leaves_the_widths_as_they_were(
    qtbot: QtBot, places: Path, person: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with window(qtbot, person, monkeypatch) as first:
        first.window.splitter.setSizes([350, 600, 320])
        widths = tuple(first.window.splitter.sizes())
    unseen = Application()
    qtbot.addWidget(unseen.window)
    assert tuple(unseen.window.splitter.sizes()) != widths
    unseen.settings.keep()
    assert SettingsFile(places / "settings.ini").read().splitter == widths


def test_settings_from_a_screen_that_is_gone_and_damaged_ones_open_the_window_all_the_same(
    qtbot: QtBot, places: Path, person: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    places.mkdir()
    SettingsFile(places / "settings.ini").write(Settings(geometry=b"no geometry", tab=77, splitter=(1,), preset="none"))
    with window(qtbot, person, monkeypatch) as application:
        assert (application.window.width(), application.window.tabs.currentIndex()) == (1280, 0)
        assert application.window.screen().availableGeometry().contains(application.window.geometry().center())


def test_a_place_that_qt_refuses_costs_no_other_setting(
    qtbot: QtBot, places: Path, person: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    places.mkdir()
    kept = places / "runs of mine"
    file = SettingsFile(places / "settings.ini")
    file.write(Settings(geometry=b"of another screen", tab=2, preset="quick-cnn", axis="epoch", runs_folder=str(kept)))
    with window(qtbot, person, monkeypatch) as application:
        assert application.window.width() == 1280
        assert application.window.tabs.currentIndex() == 2
        assert application.window.preset_selector.selected_name() == "quick-cnn"
        assert application.window.learning_plot.axis() == "epoch"
        assert application.runs.controller.folder == kept
    assert not (places / "settings.ini.damaged").exists()


PROGRAM = """
import sys
from dataclasses import replace
from pathlib import Path
from PySide6.QtWidgets import QPushButton
from gui import application as room
from gui.training_state import TrainingState

class Application(room.Application):
    def __init__(self):
        super().__init__()
        self.ended = False
        self.training.ended.connect(self.remember)
        self.training.state_changed.connect(self.look)
        self.runs.controller.interrupted.connect(self.look)

    def remember(self, event):
        self.ended = True

    def look(self, *_):
        bar, form = self.window.recovery_bar, self.window.hyperparameter_form
        if self.training.state is not TrainingState.IDLE:
            return
        if self.ended:
            self.window.close()
        elif sys.argv[2] == "train":
            form.show_values(replace(form.values(), network="linear 16 relu, linear 10", epochs=8, seed=3))
            self.window.run_controls.train_requested.emit()
        elif bar.isVisible():
            bar.findChild(QPushButton, "recoveryContinue").click()

room.default_runs_folder = lambda: Path(sys.argv[1], "runs")
room.user_settings_file = lambda: Path(sys.argv[1], "settings.ini")
room.Application = Application
sys.exit(room.run_window())
"""


def command(places: Path, words: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, str(places), words]


def run_to_its_end(places: Path, words: str) -> None:
    done = subprocess.run(command(places, words), cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a signal that cannot be caught")
def test_after_a_kill_the_next_start_offers_the_run_and_ends_it_with_the_weights_of_an_unbroken_one(
    tmp_path: Path,
) -> None:
    unbroken, broken = tmp_path / "unbroken", tmp_path / "broken"
    run_to_its_end(unbroken, "train")
    with subprocess.Popen(command(broken, "train"), cwd=ROOT) as program:
        deadline = time.monotonic() + 120
        while not list(broken.glob(f"runs/*/{CHECKPOINT}")) and time.monotonic() < deadline:
            time.sleep(0.02)
        program.send_signal(signal.SIGKILL)
    run = the_run(broken)
    assert run.state == "interrupted"
    assert 0 < run.steps < run.total_steps
    run_to_its_end(broken, "continue")
    assert the_run(broken).state == "completed"
    one, other = (load_model(the_run(places).path / LAST).weights for places in (unbroken, broken))
    assert all(np.array_equal(one[name], other[name]) for name in one)
    assert json.loads((the_run(broken).path / "run.json").read_text())["seed"] == 3
