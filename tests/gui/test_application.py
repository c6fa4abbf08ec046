"""The whole window, driven by mouse and keyboard on the real data: the main job from end to end."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from core.training.model_file import SHIPPED_MODEL, load_model
from gui.application import Application
from gui.dialogs import Keep
from gui.training_state import TrainingState


class Person:
    """Answers the dialogs; by default gives up what is not saved."""

    def __init__(self) -> None:
        self.keep = Keep.DISCARD
        self.where: tuple[Path, str] | None = None
        self.network: Path | None = None
        self.folder: Path | None = None

    def ask_before_closing(self, training: bool) -> Keep:
        return self.keep

    def ask_before_replacing(self) -> Keep:
        return self.keep

    def ask_where_to_save(self, suggested_name: str) -> tuple[Path, str] | None:
        return self.where

    def ask_which_network(self) -> Path | None:
        return self.network

    def ask_which_data_folder(self) -> Path | None:
        return self.folder


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def application(qtbot: QtBot, person: Person, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    monkeypatch.setattr("gui.application.Dialogs", lambda window: person)
    application = Application()
    application.start()
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    yield application
    person.keep = Keep.DISCARD
    application.window.close()
    qtbot.waitUntil(lambda: not application.window.isVisible(), timeout=20_000)


def find(application: Application, name: str, kind: type = QWidget) -> QWidget:
    found: QWidget | None = application.window.findChild(kind, name)
    assert found is not None
    return found


def click(qtbot: QtBot, application: Application, name: str) -> None:
    qtbot.mouseClick(find(application, name, QPushButton), Qt.MouseButton.LeftButton)


def status(application: Application) -> str:
    label = find(application, "statusLabel", QLabel)
    assert isinstance(label, QLabel)
    return label.text()


def answer(application: Application) -> str:
    label = find(application, "answerLabel", QLabel)
    assert isinstance(label, QLabel)
    return label.text()


def draw_a_seven(qtbot: QtBot, application: Application) -> None:
    canvas = find(application, "drawingCanvas")
    w, h = canvas.width(), canvas.height()
    corners = [(0.25, 0.2), (0.75, 0.2), (0.45, 0.85)]
    points = [QPointF(x * w, y * h).toPoint() for x, y in corners]
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=points[0])
    for start, end in pairwise(points):
        for step in range(1, 11):
            qtbot.mouseMove(canvas, QPoint(start + (end - start) * step / 10))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=points[-1])


def choose_small_network(application: Application, epochs: int) -> None:
    form = application.window.hyperparameter_form
    values = form.values()
    assert values is not None
    form.show_values(replace(values, hidden=(16,), epochs=epochs))


def test_every_part_can_be_found_by_name(application: Application, control_names: list[str]) -> None:
    for name in control_names:
        assert find(application, name).accessibleName(), name


def test_before_any_training_a_drawn_seven_is_read(qtbot: QtBot, application: Application) -> None:
    draw_a_seven(qtbot, application)
    qtbot.waitUntil(lambda: answer(application) == "It is a 7")
    click(qtbot, application, "clearButton")
    qtbot.waitUntil(lambda: answer(application) == "Draw a digit")
    click(qtbot, application, "undoButton")
    qtbot.waitUntil(lambda: answer(application) == "It is a 7")


def test_training_pauses_resumes_stops_and_its_network_reads_a_seven(
    qtbot: QtBot, application: Application, person: Person, tmp_path: Path
) -> None:
    choose_small_network(application, epochs=500)
    click(qtbot, application, "trainButton")
    assert not find(application, "trainButton").isEnabled()
    with qtbot.waitSignal(application.training.evaluated, timeout=20_000):
        pass
    click(qtbot, application, "pauseButton")
    assert application.training.state is TrainingState.PAUSED
    qtbot.waitUntil(lambda: status(application).startswith("Paused on CPU"))
    click(qtbot, application, "pauseButton")
    assert application.training.state is TrainingState.TRAINING
    with qtbot.waitSignals([application.training.evaluated] * 12, timeout=30_000):
        pass
    click(qtbot, application, "stopButton")
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    assert status(application).startswith("Stopped")
    draw_a_seven(qtbot, application)
    qtbot.waitUntil(lambda: answer(application) == "It is a 7")
    person.where = (tmp_path / "mine.safetensors", "float16")
    application.window.save_network_action.trigger()
    assert load_model(person.where[0]).hyperparameters.hidden == (16,)
    person.network = person.where[0]
    application.window.open_network_action.trigger()
    assert "mine.safetensors" in status(application)


def test_closing_during_training_stops_the_run_and_goes(
    qtbot: QtBot, application: Application, person: Person, tmp_path: Path
) -> None:
    choose_small_network(application, epochs=5000)
    click(qtbot, application, "trainButton")
    with qtbot.waitSignal(application.training.weights_published, timeout=20_000):
        pass
    person.keep = Keep.STAY
    application.window.close()
    assert application.window.isVisible()
    assert application.training.state is TrainingState.TRAINING
    person.keep, person.where = Keep.SAVE, (tmp_path / "kept.safetensors", "float32")
    application.window.close()
    qtbot.waitUntil(lambda: not application.window.isVisible(), timeout=20_000)
    assert load_model(tmp_path / "kept.safetensors").hyperparameters.epochs == 5000


def test_a_folder_without_digits_and_a_damaged_network_are_told_and_change_nothing(
    qtbot: QtBot, application: Application, person: Person, tmp_path: Path
) -> None:
    person.folder = tmp_path
    application.window.open_data_action.trigger()
    qtbot.waitUntil(lambda: "train-images" in status(application))
    assert find(application, "trainButton").isEnabled()
    person.network = tmp_path / "cut.safetensors"
    person.network.write_bytes(SHIPPED_MODEL.read_bytes()[:-100])
    application.window.open_network_action.trigger()
    assert "cut.safetensors" in status(application)
    draw_a_seven(qtbot, application)
    qtbot.waitUntil(lambda: answer(application) == "It is a 7")


def test_the_window_and_cpu_training_never_import_cupy(qtbot: QtBot, application: Application) -> None:
    choose_small_network(application, epochs=1)
    click(qtbot, application, "trainButton")
    with qtbot.waitSignal(application.training.ended, timeout=30_000):
        pass
    assert "cupy" not in sys.modules


@pytest.mark.parametrize(
    ("hidden", "words"), [((64, 64, 64), "became infinite"), ((16,), "little better than by chance")]
)
def test_a_learning_rate_too_large_is_recognised(
    qtbot: QtBot, application: Application, hidden: tuple[int, ...], words: str
) -> None:
    values = application.window.hyperparameter_form.values()
    assert values is not None
    wild = replace(values, hidden=hidden, epochs=1, learning_rate=100.0)
    application.window.hyperparameter_form.show_values(wild)
    click(qtbot, application, "trainButton")
    qtbot.waitUntil(lambda: words in status(application), timeout=30_000)
    assert "smaller learning rate" in status(application)
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=30_000)


def test_opening_a_network_asks_before_it_drops_a_trained_one(
    qtbot: QtBot, application: Application, person: Person
) -> None:
    choose_small_network(application, epochs=1)
    click(qtbot, application, "trainButton")
    assert not application.window.open_network_action.isEnabled()
    qtbot.waitUntil(lambda: application.network.has_unsaved, timeout=20_000)
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    person.network, person.keep = SHIPPED_MODEL, Keep.STAY
    application.window.open_network_action.trigger()
    assert application.network.has_unsaved
    person.keep = Keep.DISCARD
    application.window.open_network_action.trigger()
    assert not application.network.has_unsaved
