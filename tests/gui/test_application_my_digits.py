"""The user's own digits in the whole window: drawn, kept, put right and learned from, by mouse and keyboard."""

import gc
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QListView, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from core.digits.my_digits import MyDigits
from core.digits.synthetic_ink import write_digits
from core.training.ledger import list_runs
from core.training.model_file import save_model
from gui.application import Application
from gui.dialogs import Keep
from gui.training_state import TrainingState
from gui.widgets.curve_legend import CurveLegend
from tests.gui.whole_window import find

LEFT = Qt.MouseButton.LeftButton
SMALL = "linear 8 relu, linear 10"
MY_DIGITS = 1
Kind = TypeVar("Kind", bound=QWidget)


def wait_until(qtbot: QtBot, condition: Callable[[], bool]) -> None:
    qtbot.waitUntil(condition, timeout=60_000)


@pytest.fixture
def mine(places: Path) -> MyDigits:
    return MyDigits(places / "my-digits.jsonl")


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """A window that is gone is destroyed here, not by the garbage collector in some thread of the next test."""
    yield
    gc.collect()


@pytest.fixture
def application(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    person = SimpleNamespace(
        ask_before_closing=lambda *_, **__: Keep.DISCARD, ask_before_deleting_digits=lambda count: True
    )
    monkeypatch.setattr("gui.application.Dialogs", lambda window: person)
    application = Application()
    application.start()
    wait_until(qtbot, lambda: application.training.state is TrainingState.IDLE)
    yield application
    application.window.close()
    wait_until(qtbot, lambda: not application.window.isVisible())


def text(application: Application, name: str) -> str:
    return find(application, name, QLabel).text()


def draw(qtbot: QtBot, application: Application, *corners: tuple[float, float]) -> QWidget:
    canvas = application.window.drawing_panel.canvas
    points = [QPoint(int(x * canvas.width()), int(y * canvas.height())) for x, y in corners]
    qtbot.mousePress(canvas, LEFT, pos=points[0])
    for start, end in pairwise(points):
        for step in range(1, 11):
            qtbot.mouseMove(canvas, start + (end - start) * step / 10)
    qtbot.mouseRelease(canvas, LEFT, pos=points[-1])
    return canvas


def show_tab(qtbot: QtBot, application: Application, digits: int) -> QListView:
    application.window.tabs.setCurrentIndex(MY_DIGITS)
    assert application.window.my_digits_panel.isVisible()
    grid = find(application, "ownDigits", QListView)
    wait_until(qtbot, lambda: grid.model().rowCount() == digits)
    return grid


def test_a_drawing_is_kept_by_its_key_put_right_deleted_and_brought_back(
    qtbot: QtBot, application: Application, mine: MyDigits
) -> None:
    canvas = draw(qtbot, application, (0.3, 0.2), (0.7, 0.2), (0.45, 0.8))
    qtbot.keyClick(canvas, Qt.Key.Key_1)
    wait_until(qtbot, lambda: text(application, "statusLabel") == "Kept as a 1: your first.")
    grid = show_tab(qtbot, application, 1)
    wait_until(qtbot, lambda: grid.model().digit(0).answer == 7)
    assert find(application, "onlyWrong", QCheckBox).text() == "Only wrong ones: 1"
    grid.setFocus()
    qtbot.keyClick(grid, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(grid, Qt.Key.Key_7)
    wait_until(qtbot, lambda: [sample.digit.label for sample in mine.samples()] == [7])
    wait_until(qtbot, lambda: find(application, "onlyWrong", QCheckBox).text() == "Only wrong ones: 0")
    qtbot.keyClick(grid, Qt.Key.Key_Delete)
    wait_until(qtbot, lambda: mine.samples() == [])
    undo = find(application, "undoDeleteOwn", QPushButton)
    wait_until(qtbot, undo.isEnabled)
    # The tab still shows the digit that is gone until the file has been read anew.
    show_tab(qtbot, application, 0)
    qtbot.mouseClick(undo, LEFT)
    show_tab(qtbot, application, 1)
    assert [sample.digit.label for sample in mine.samples()] == [7]
    assert not undo.isEnabled()


@pytest.fixture
def twenty(mine: MyDigits) -> MyDigits:
    mine.add(write_digits(np.array([3, 7] * 10, np.uint8), np.random.default_rng(5)))
    return mine


def use_small_network(application: Application, folder: Path, epochs: int = 3) -> None:
    """Let a network answer that knows nothing yet, of a recipe of its own."""
    shipped = application.network.model
    assert shipped is not None
    form = application.window.hyperparameter_form.values()
    assert form is not None
    rng = np.random.default_rng(1)
    shapes = {"linear1.weight": (8, 784), "linear1.bias": (8,), "linear2.weight": (10, 8), "linear2.bias": (10,)}
    weights = {name: rng.normal(0, 0.05, shape).astype(np.float32) for name, shape in shapes.items()}
    chosen = replace(form, network=SMALL, epochs=epochs, learning_rate=0.5, batch_size=200)
    path = folder / "small.safetensors"
    save_model(path, replace(shipped, preset="quick-mlp", hyperparameters=chosen, weights=weights), "float32")
    application.network.open_file(path)


def train_on_mine(qtbot: QtBot, application: Application) -> None:
    qtbot.mouseClick(find(application, "trainOnMine", QPushButton), LEFT)
    assert application.training.state is TrainingState.TRAINING
    assert application.window.tabs.currentIndex() == 0
    wait_until(qtbot, lambda: application.training.state is TrainingState.IDLE)


def test_the_network_in_use_learns_on_gently_and_what_was_won_and_forgotten_is_said(
    qtbot: QtBot, application: Application, twenty: MyDigits, tmp_path: Path, places: Path
) -> None:
    use_small_network(application, tmp_path)
    show_tab(qtbot, application, 20)
    train_on_mine(qtbot, application)
    values = application.window.hyperparameter_form.values()
    assert values is not None
    assert (values.network, values.epochs, values.learning_rate) == (SMALL, 1, 0.05)
    model = application.network.model
    assert model is not None
    figures = {name: float(model.facts[f"{name}_accuracy"]) * 100 for name in ("mine", "test")}
    sentence = text(application, "ownResult")
    assert sentence.startswith("On yours ")
    assert f" → {figures['mine']:.1f} %, on MNIST " in sentence
    assert sentence.endswith(f" → {figures['test']:.2f} %.")
    assert figures["test"] > 50
    assert text(application, "statusLabel") == sentence
    legends = application.window.learning_plot.findChildren(CurveLegend)
    wait_until(qtbot, lambda: all("yours" in legend.accessibleDescription() for legend in legends))
    (run,) = list_runs(places / "runs")
    assert run.ended is not None
    assert (run.ended["outcome"], run.steps) == ("completed", -(-(55_000 + 23_571) // 200))


def test_a_new_network_has_no_before_and_a_form_that_fits_is_taken_as_it_stands(
    qtbot: QtBot, application: Application, twenty: MyDigits, tmp_path: Path
) -> None:
    use_small_network(application, tmp_path)
    form = application.window.hyperparameter_form
    values = form.values()
    assert values is not None
    form.show_values(replace(values, network=SMALL, epochs=1, learning_rate=0.3))
    show_tab(qtbot, application, 20)
    train_on_mine(qtbot, application)
    assert "→" in text(application, "ownResult")
    assert application.network.model is not None
    assert application.network.model.hyperparameters.learning_rate == 0.3
    show_tab(qtbot, application, 20)
    find(application, "fromNetwork", QCheckBox).click()
    train_on_mine(qtbot, application)
    assert "→" not in text(application, "ownResult")
    assert text(application, "ownResult").startswith("On yours ")


def test_with_fewer_than_five_it_is_said_that_none_was_held_out(
    qtbot: QtBot, application: Application, mine: MyDigits, tmp_path: Path
) -> None:
    mine.add(write_digits(np.array([3, 7], np.uint8), np.random.default_rng(5)))
    use_small_network(application, tmp_path)
    show_tab(qtbot, application, 2)
    train_on_mine(qtbot, application)
    assert text(application, "ownResult").endswith("Fewer than five are yours, so all of them were learned from.")


def test_a_collection_that_is_gone_ends_the_run_with_a_sentence(
    qtbot: QtBot, application: Application, twenty: MyDigits, tmp_path: Path
) -> None:
    use_small_network(application, tmp_path)
    show_tab(qtbot, application, 20)
    twenty.path.unlink()
    train_on_mine(qtbot, application)
    assert "my-digits.jsonl holds no digits yet" in text(application, "statusLabel")


def test_nothing_is_trained_twice_at_once(qtbot: QtBot, application: Application, twenty: MyDigits) -> None:
    show_tab(qtbot, application, 20)
    button = find(application, "trainOnMine", QPushButton)
    assert button.isEnabled()
    form = application.window.hyperparameter_form
    values = form.values()
    assert values is not None
    form.show_values(replace(values, network=SMALL, epochs=500))
    application.window.run_controls.train_requested.emit()
    assert application.training.state is TrainingState.TRAINING
    assert not button.isEnabled()
    application.training.stop()
    wait_until(qtbot, lambda: application.training.state is TrainingState.IDLE)
    assert button.isEnabled()
