"""Other sets in the whole window: got by mouse, trained on, shown for what they are, and found again by their runs."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLabel, QTableView
from pytestqt.qtbot import QtBot

from core.digits.dataset import DigitSets
from core.digits.dataset_files import fetch_set, is_here, remove_set
from core.predictor import Predictor
from core.training.ledger import list_runs
from core.training.model_file import load_model
from core.training.run_folder import LAST
from gui.application import Application
from gui.dialogs import Keep
from gui.training_state import TrainingState
from gui.widgets.runs_model import DATA
from tests.core.mirrors import MANNERS, Mirror, made_up
from tests.gui.whole_window import click, find

SMALL = {"network": "linear 16 relu, linear 10", "epochs": 2, "validation_digits": 50}


@pytest.fixture
def person() -> SimpleNamespace:
    return SimpleNamespace(
        files=[],
        title="",
        ask_before_closing=lambda training, kept: Keep.DISCARD,
        ask_before_replacing=lambda: Keep.DISCARD,
    )


@pytest.fixture
def application(
    qtbot: QtBot, mirror: Mirror, person: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Application]:
    monkeypatch.setattr("gui.application.Dialogs", lambda window: person)
    person.ask_which_data_files = lambda title: person.files
    application = Application()
    application.start()
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=60_000)
    assert mirror.requests == []
    change(application, **SMALL)
    yield application
    application.window.close()
    qtbot.waitUntil(lambda: not application.window.isVisible(), timeout=60_000)
    qtbot.waitUntil(lambda: not application.data.is_running, timeout=20_000)
    application.data.cancel()


def change(application: Application, **choices: object) -> None:
    form = application.window.hyperparameter_form
    values = form.values()
    assert values is not None
    form.show_values(replace(values, **choices))  # type: ignore[arg-type]


def text(application: Application, name: str) -> str:
    label = find(application, name, QLabel)
    assert isinstance(label, QLabel)
    return label.text()


def selector(application: Application) -> QComboBox:
    return application.window.hyperparameter_form.data_field.selector


def choose(application: Application, name: str) -> None:
    """As the list does when a line of it is picked."""
    selector(application).activated.emit(selector(application).findData(name))


def choose_and_wait(qtbot: QtBot, application: Application, name: str) -> None:
    choose(application, name)
    qtbot.waitUntil(lambda: selector(application).currentData() == name, timeout=20_000)


def train(qtbot: QtBot, application: Application) -> None:
    with qtbot.waitSignal(application.training.ended, timeout=60_000):
        click(qtbot, application, "trainButton")
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)


def show_runs(qtbot: QtBot, application: Application) -> QTableView:
    with qtbot.waitSignal(application.runs.controller.listed, timeout=20_000):
        application.window.tabs.setCurrentIndex(2)
    table = find(application, "runsTable", QTableView)
    assert isinstance(table, QTableView)
    return table


def draw(qtbot: QtBot, application: Application, *strokes: tuple[int, int, int, int]) -> None:
    canvas = find(application, "drawingCanvas")
    for left, top, right, bottom in strokes:
        ends = [
            QPoint(canvas.width() * x // 100, canvas.height() * y // 100) for x, y in ((left, top), (right, bottom))
        ]
        qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=ends[0])
        for step in range(1, 9):
            qtbot.mouseMove(canvas, ends[0] + (ends[1] - ends[0]) * step / 8)
        qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=ends[1])


def test_a_set_is_fetched_trained_on_and_its_network_reads_clothes(
    qtbot: QtBot, application: Application, places: Path, few_digits: DigitSets
) -> None:
    choose(application, "tiny")
    assert selector(application).currentData() == "mnist"
    assert text(application, "offerTitle") == "Tiny is not here yet"
    click(qtbot, application, "downloadData")
    qtbot.waitUntil(lambda: selector(application).currentData() == "tiny", timeout=20_000)
    assert text(application, "statusLabel").startswith("Tiny is ready: 300 pictures to learn from, 100 to be tested")
    assert not find(application, "dataOffer").isVisible()
    train(qtbot, application)
    (run,) = list_runs(places / "runs")
    assert run.info is not None
    assert run.info.job.data == "tiny"
    model = load_model(run.path / LAST)
    assert model.facts["trained_on"] == "Tiny"
    test = made_up(few_digits, 300, 100).test
    right = Predictor.from_model(model).probabilities(test.images).argmax(axis=1) == test.labels
    assert run.test_accuracy == pytest.approx(right.mean(), abs=0.03)
    assert "% of Tiny)" in text(application, "networkLabel")
    assert text(application, "answerLabel") == "No digits"
    draw(qtbot, application, (15, 20, 40, 80), (60, 20, 85, 80))
    names = ("cap", "coat", "dress", "glove", "hat", "scarf", "shirt", "shoe", "sock", "tie")
    known = {*names, *(f"Perhaps {name}" for name in names), "I don't know"}
    # Two strokes side by side are one thing here, and no number.
    qtbot.waitUntil(lambda: text(application, "answerLabel") in known, timeout=20_000)
    assert not find(application, "meantSelector").isEnabled()
    qtbot.keyClick(find(application, "drawingCanvas"), Qt.Key.Key_1)
    assert not (places / "my-digits.jsonl").exists()


def test_a_download_that_fails_or_is_cancelled_leaves_the_choice_and_the_set_in_use(
    qtbot: QtBot, application: Application, mirror: Mirror
) -> None:
    mirror.manners = ["not found"]
    choose(application, "tiny")
    click(qtbot, application, "downloadData")
    qtbot.waitUntil(lambda: "answers 404" in text(application, "statusLabel"), timeout=20_000)
    assert selector(application).currentData() == "mnist"
    assert find(application, "trainButton").isEnabled()
    mirror.manners = ["truncating", "silent"]
    click(qtbot, application, "downloadData")
    qtbot.waitUntil(lambda: "ended after" in text(application, "statusLabel"), timeout=20_000)
    assert "it goes on from there" in text(application, "offerWords")
    mirror.manners = ["well"]
    click(qtbot, application, "downloadData")
    qtbot.waitUntil(lambda: selector(application).currentData() == "tiny", timeout=20_000)


def test_one_of_the_four_files_is_enough_to_open_them_all(
    qtbot: QtBot, application: Application, mirror: Mirror, person: SimpleNamespace, tmp_path: Path
) -> None:
    choose(application, "tiny")
    click(qtbot, application, "openData")  # and the dialog is left without an answer
    assert not application.data.is_running
    folder = tmp_path / "theirs"
    folder.mkdir()
    for name, content in mirror.files.items():
        (folder / name).write_bytes(content)
    person.files = [folder / "train-labels-idx1-ubyte.gz"]
    click(qtbot, application, "openData")
    qtbot.waitUntil(lambda: selector(application).currentData() == "tiny", timeout=20_000)
    assert mirror.requests == []


def test_with_a_set_without_digits_neither_ink_nor_own_digits_are_offered(
    qtbot: QtBot, application: Application
) -> None:
    fetch_set("tiny")
    change(application, synthetic=0.3)
    ink = find(application, "syntheticField", QDoubleSpinBox)
    assert isinstance(ink, QDoubleSpinBox)
    application.window.tabs.setCurrentIndex(1)
    assert find(application, "trainOnMine").isVisible()
    choose_and_wait(qtbot, application, "tiny")
    assert not ink.isEnabled()
    job = application.setup.job()
    assert job is not None
    assert (job.data, job.hyperparameters.synthetic, ink.value()) == ("tiny", 0.0, 0.0)
    assert not find(application, "trainOnMine").isVisible()
    assert "shows no digits" in text(application, "whyNotMixed")
    choose_and_wait(qtbot, application, "mnist")
    assert ink.isEnabled()
    assert ink.value() == 0.3
    assert find(application, "trainOnMine").isVisible()


def test_a_run_on_another_set_is_listed_with_it_and_repeated_on_it(
    qtbot: QtBot, application: Application, places: Path
) -> None:
    fetch_set("tiny")
    choose_and_wait(qtbot, application, "tiny")
    train(qtbot, application)
    choose_and_wait(qtbot, application, "mnist")
    table = show_runs(qtbot, application)
    assert table.model().index(0, DATA).data() == "Tiny"
    with qtbot.waitSignal(application.training.ended, timeout=60_000):
        click(qtbot, application, "repeatRun")
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    assert selector(application).currentData() == "tiny"
    first, second = list_runs(places / "runs")
    assert first.info is not None
    assert first.info.job.data == "tiny"
    assert first.test_accuracy == second.test_accuracy
    choose_and_wait(qtbot, application, "mnist")
    remove_set("tiny")
    show_runs(qtbot, application)
    click(qtbot, application, "repeatRun")
    assert "learned from Tiny, which is not on this machine" in text(application, "statusLabel")
    assert text(application, "offerTitle") == "Tiny is not here yet"
    assert application.training.state is TrainingState.IDLE
    assert selector(application).currentData() == "mnist"


def test_a_stopped_run_goes_on_with_its_own_set(qtbot: QtBot, application: Application, places: Path) -> None:
    fetch_set("tiny")
    choose_and_wait(qtbot, application, "tiny")
    change(application, epochs=2000)
    with qtbot.waitSignal(application.training.evaluated, timeout=60_000):
        click(qtbot, application, "trainButton")
    assert not selector(application).isEnabled()
    click(qtbot, application, "stopButton")
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    (before,) = list_runs(places / "runs")
    choose_and_wait(qtbot, application, "mnist")
    show_runs(qtbot, application)
    with qtbot.waitSignal(application.training.started, timeout=60_000):
        click(qtbot, application, "continueRun")
    with qtbot.waitSignal(application.training.evaluated, timeout=60_000):
        pass
    assert selector(application).currentData() == "tiny"
    click(qtbot, application, "stopButton")
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    (after,) = list_runs(places / "runs")
    assert after.steps > before.steps
    assert not after.problem


def test_a_run_and_its_network_are_used_with_the_names_of_their_set_whatever_is_in_use(
    qtbot: QtBot, application: Application
) -> None:
    fetch_set("tiny")
    choose_and_wait(qtbot, application, "tiny")
    train(qtbot, application)
    choose_and_wait(qtbot, application, "mnist")
    application.network.open_shipped()
    assert text(application, "answerLabel") == "No digits"
    qtbot.waitUntil(lambda: text(application, "answerLabel") == "Draw a digit", timeout=20_000)
    show_runs(qtbot, application)
    click(qtbot, application, "useRun")
    qtbot.waitUntil(lambda: text(application, "answerLabel") == "No digits", timeout=20_000)
    # A test digit of MNIST is neither right nor wrong to a network that reads clothes.
    application.window.drawing_panel.random_example_requested.emit()
    qtbot.waitUntil(lambda: text(application, "printedLabel").startswith("Test digit"), timeout=20_000)
    qtbot.waitUntil(lambda: text(application, "answerLabel") != "No digits", timeout=20_000)
    assert text(application, "verdictLabel") == ""
    assert not find(application, "certaintySlider").isVisible()


def test_the_threshold_of_the_network_that_answers_outlives_a_change_of_set(
    qtbot: QtBot, application: Application
) -> None:
    fetch_set("tiny")
    row, slider = application.window.drawing_panel.certainty, find(application, "certaintySlider")
    shown: list[float] = []
    row.threshold_shown.connect(shown.append)
    application.network.open_shipped()
    assert slider.isVisible()
    qtbot.keyClick(slider, Qt.Key.Key_End)
    shown.clear()
    choose_and_wait(qtbot, application, "tiny")
    assert text(application, "certaintyEffect") == ""
    choose_and_wait(qtbot, application, "mnist")
    qtbot.waitUntil(lambda: text(application, "certaintyEffect") != "", timeout=60_000)
    assert (slider.isVisible(), row.threshold, shown) == (True, 1.0, [])


def test_closing_while_a_server_says_nothing_waits_out_of_sight(
    qtbot: QtBot, application: Application, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MANNERS, "silent until shown out", lambda to, content, mirror: mirror.going_down.wait(20))
    mirror.manners = ["silent until shown out"]
    choose(application, "tiny")
    click(qtbot, application, "downloadData")
    qtbot.waitUntil(lambda: bool(mirror.requests), timeout=20_000)
    application.window.close()
    assert not application.window.isVisible()
    assert application.data.is_running
    with qtbot.waitSignal(application.left, timeout=20_000):
        mirror.going_down.set()
    assert not is_here("tiny")
