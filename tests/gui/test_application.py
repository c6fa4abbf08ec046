"""The whole window, driven by mouse and keyboard on the real data: the main job from end to end."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QDoubleSpinBox, QLabel, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from core.training.events import HyperparametersChanged
from core.training.ledger import list_runs
from core.training.model_file import SHIPPED_MODEL, load_model
from core.training.run_folder import LAST
from gui.application import Application
from gui.dialogs import Keep
from gui.training_state import TrainingState
from gui.widgets.curve_plot import CurvePlot
from tests.gui.whole_window import find

SMALL = "linear 16 relu, linear 10"


class Person:
    """Answers the dialogs; by default gives up what is not saved."""

    def __init__(self) -> None:
        self.keep = Keep.DISCARD
        self.where: tuple[Path, str] | None = None
        self.network: Path | None = None
        self.folder: Path | None = None

    def ask_before_closing(self, training: bool, kept: bool) -> Keep:
        return self.keep

    def ask_before_replacing(self) -> Keep:
        return self.keep

    def ask_how_to_store(self, measured: object, measured_on: str) -> str | None:
        return self.where and self.where[1]

    def ask_where_to_save(self, suggested_name: str) -> Path | None:
        return self.where and self.where[0]

    def ask_which_network(self) -> Path | None:
        return self.network

    def ask_which_data_folder(self) -> Path | None:
        return self.folder


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def application(qtbot: QtBot, person: Person, places: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    monkeypatch.setattr("gui.application.Dialogs", lambda window: person)
    application = Application()
    application.start()
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    yield application
    person.keep = Keep.DISCARD
    application.window.close()
    qtbot.waitUntil(lambda: not application.window.isVisible(), timeout=20_000)


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
    form.show_values(replace(values, network=SMALL, epochs=epochs))


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
    assert load_model(person.where[0]).hyperparameters.network == SMALL
    person.network = person.where[0]
    application.window.open_network_action.trigger()
    assert "mine.safetensors" in status(application)


def test_closing_during_training_stops_the_run_keeps_it_and_goes(
    qtbot: QtBot, application: Application, person: Person, places: Path
) -> None:
    choose_small_network(application, epochs=5000)
    click(qtbot, application, "trainButton")
    with qtbot.waitSignal(application.training.weights_published, timeout=20_000):
        pass
    person.keep = Keep.STAY
    application.window.close()
    assert application.window.isVisible()
    assert application.training.state is TrainingState.TRAINING
    person.keep = Keep.DISCARD
    application.window.close()
    qtbot.waitUntil(lambda: not application.window.isVisible(), timeout=20_000)
    (run,) = list_runs(places / "runs")
    assert run.can_go_on
    assert load_model(run.path / LAST).hyperparameters.epochs == 5000


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
    ("network", "words"),
    [("linear 64 relu, " * 3 + "linear 10", "became infinite"), ("linear 16 relu, linear 10", "better than by chance")],
)
def test_a_learning_rate_too_large_is_recognised(
    qtbot: QtBot, application: Application, network: str, words: str
) -> None:
    values = application.window.hyperparameter_form.values()
    assert values is not None
    wild = replace(values, network=network, epochs=1, learning_rate=100.0)
    application.window.hyperparameter_form.show_values(wild)
    click(qtbot, application, "trainButton")
    qtbot.waitUntil(lambda: words in status(application), timeout=30_000)
    assert "smaller learning rate" in status(application)
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=30_000)


def test_opening_a_network_asks_before_it_drops_a_trained_one_that_could_not_be_kept(
    qtbot: QtBot, application: Application, person: Person, places: Path
) -> None:
    places.mkdir(exist_ok=True)
    (places / "runs").write_text("in the way of all folders")
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


def number(application: Application, name: str) -> QDoubleSpinBox:
    field = find(application, name, QDoubleSpinBox)
    assert isinstance(field, QDoubleSpinBox)
    return field


def begin_typing(qtbot: QtBot, application: Application, field: QWidget) -> None:
    application.window.activateWindow()
    field.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(field.hasFocus)


def marks(application: Application) -> list[list[float]]:
    """The places of the marks, for each plot."""
    plots = application.window.learning_plot.findChildren(CurvePlot)
    return [[line.value() for line in plot._marks.lines] for plot in plots]


def start_training(qtbot: QtBot, application: Application) -> list[HyperparametersChanged]:
    """A run that goes on; returns the changes that the trainer tells of, as they come."""
    changes: list[HyperparametersChanged] = []
    application.training.changed.connect(changes.append)
    choose_small_network(application, epochs=500)
    with qtbot.waitSignal(application.training.evaluated, timeout=20_000):
        click(qtbot, application, "trainButton")
    return changes


def test_what_is_changed_during_a_run_reaches_it_and_is_marked_counted_and_kept(
    qtbot: QtBot, application: Application, person: Person, tmp_path: Path
) -> None:
    changes = start_training(qtbot, application)
    rate, epochs = number(application, "learning_rateField"), number(application, "epochsField")
    begin_typing(qtbot, application, rate)
    rate.selectAll()
    qtbot.keyClicks(rate, "0.03")
    with qtbot.waitSignals([application.training.evaluated] * 2, timeout=20_000):
        pass
    assert changes == []
    with qtbot.waitSignal(application.training.changed, timeout=20_000):
        qtbot.keyClick(rate, Qt.Key.Key_Return)
    with qtbot.waitSignal(application.training.changed, timeout=20_000):
        qtbot.keyClick(epochs, Qt.Key.Key_Up)
    assert [change.changes for change in changes] == [{"learning_rate": 0.03}, {"epochs": 501}]
    assert marks(application) == [[change.samples for change in changes]] * 2
    qtbot.waitUntil(lambda: "of 501 · " in status(application), timeout=20_000)
    with qtbot.waitSignal(application.training.evaluated, timeout=20_000):
        pass
    click(qtbot, application, "stopButton")
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    person.where = (tmp_path / "changed.safetensors", "float16")
    application.window.save_network_action.trigger()
    saved = load_model(person.where[0])
    assert (saved.hyperparameters.learning_rate, saved.hyperparameters.epochs) == (0.03, 501)
    noted = [{"step": change.step, **change.changes} for change in changes]
    assert json.loads(saved.facts["changes"]) == noted


def test_the_marks_of_a_run_are_gone_in_the_next(qtbot: QtBot, application: Application) -> None:
    start_training(qtbot, application)
    with qtbot.waitSignal(application.training.changed, timeout=20_000):
        qtbot.keyClick(number(application, "epochsField"), Qt.Key.Key_Up)
    assert all(marks(application))
    click(qtbot, application, "stopButton")
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    choose_small_network(application, epochs=1)
    click(qtbot, application, "trainButton")
    assert marks(application) == [[], []]
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=30_000)


def test_an_impossible_change_is_told_in_a_sentence_that_stays_and_changes_nothing(
    qtbot: QtBot, application: Application
) -> None:
    changes = start_training(qtbot, application)
    text = find(application, "networkField", QPlainTextEdit)
    assert isinstance(text, QPlainTextEdit)
    begin_typing(qtbot, application, text)
    text.selectAll()
    qtbot.keyClicks(text, "linear 17 relu, linear 10")
    assert "dropout" not in status(application)
    qtbot.keyClick(text, Qt.Key.Key_Tab)
    told = "of the network, only dropout can be changed while training; the rest counts from the next run on"
    assert status(application) == told
    for _ in range(2):
        with qtbot.waitSignal(application.progress.progress_changed, timeout=20_000):
            pass
    assert status(application) == told
    with qtbot.waitSignal(application.training.evaluated, timeout=20_000):
        pass
    assert changes == []
    assert marks(application) == [[], []]
    assert application.training.state is TrainingState.TRAINING


def test_a_mistake_in_the_network_keeps_a_run_from_starting_until_a_preset_is_chosen(
    qtbot: QtBot, application: Application
) -> None:
    text = find(application, "networkField", QPlainTextEdit)
    qtbot.keyClicks(text, "x")
    assert not find(application, "trainButton").isEnabled()
    qtbot.keyClick(application.window.preset_selector, Qt.Key.Key_Down)
    assert find(application, "trainButton").isEnabled()


def test_the_preview_grows_with_the_distortion_and_a_click_draws_another(
    qtbot: QtBot, application: Application
) -> None:
    preview, field = find(application, "distortionPreview"), number(application, "augmentField")
    plain = preview.grab().toImage()
    qtbot.keyClick(field, Qt.Key.Key_Up)
    weak = preview.grab().toImage()
    for _ in range(5):
        qtbot.keyClick(field, Qt.Key.Key_Up)
    strong = preview.grab().toImage()
    assert plain != weak != strong != plain
    qtbot.mouseClick(preview, Qt.MouseButton.LeftButton)
    another = preview.grab().toImage()
    assert another != strong
    qtbot.keyClick(field, Qt.Key.Key_Down)
    qtbot.keyClick(field, Qt.Key.Key_Up)
    assert preview.grab().toImage() == another
