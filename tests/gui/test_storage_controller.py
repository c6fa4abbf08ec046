"""What is found out about a network in the background, against files and answers counted one by one."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QThread
from pytestqt.qtbot import QtBot

from core.digits.dataset import DigitSets, split
from core.predictor import Predictor
from core.training.events import TrainingEnded
from core.training.job import TrainingJob
from core.training.model_file import Model, load_model, save_model
from core.training.storage import STORAGE_PRECISIONS
from core.training.trainer import train
from gui import storage_controller
from gui.storage_controller import StorageController
from gui.widgets.save_dialog import StorageFigures


@pytest.fixture
def model(small_job: TrainingJob, few_digits: DigitSets) -> Model:
    *_, end = train(small_job, split(few_digits, small_job.hyperparameters.validation_digits))
    assert isinstance(end, TrainingEnded)
    return Model(small_job.preset, small_job.hyperparameters, end.weights)


@pytest.fixture
def controller(qtbot: QtBot, few_digits: DigitSets) -> StorageController:
    controller = StorageController()
    controller.on_data_loaded(few_digits)
    return controller


def gather(qtbot: QtBot, controller: StorageController, model: Model, count: int) -> list[StorageFigures]:
    """The first `count` things that are told about `model`."""
    told: list[StorageFigures] = []
    controller.measured.connect(told.append)
    controller.start(model)
    qtbot.waitUntil(lambda: len(told) >= count, timeout=20_000)
    controller.stop()
    return told[:count]


def test_sizes_come_first_then_accuracies_and_they_are_those_of_the_files(
    qtbot: QtBot, controller: StorageController, model: Model, few_digits: DigitSets, tmp_path: Path
) -> None:
    told = gather(qtbot, controller, model, 6)
    assert [figures.precision for figures in told] == [*STORAGE_PRECISIONS, *STORAGE_PRECISIONS]
    assert all(figures.accuracy is None for figures in told[:3])
    for early, late in zip(told[:3], told[3:], strict=True):
        path = tmp_path / early.precision
        save_model(path, model, early.precision)
        assert early.size == late.size == path.stat().st_size
        answers = Predictor.from_model(load_model(path)).probabilities(few_digits.test.images).argmax(axis=1)
        right = sum(int(a) == int(b) for a, b in zip(answers, few_digits.test.labels, strict=True))
        assert late.accuracy == right / len(few_digits.test)


def test_it_is_measured_in_another_thread(
    qtbot: QtBot, controller: StorageController, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []

    class Watched(Predictor):
        def probabilities(self, pictures: np.ndarray) -> np.ndarray:
            threads.append(QThread.currentThread())
            return super().probabilities(pictures)

    monkeypatch.setattr(storage_controller, "Predictor", Watched)
    gather(qtbot, controller, model, 6)
    assert len(threads) == 3
    assert QThread.currentThread() not in threads


def test_without_digits_only_sizes_are_told(qtbot: QtBot, model: Model) -> None:
    controller = StorageController()
    assert controller.measured_on == ""
    told = gather(qtbot, controller, model, 3)
    qtbot.wait(50)
    assert [figures.accuracy for figures in told] == [None] * 3


def test_it_says_which_digits_it_measures_on(controller: StorageController) -> None:
    assert "300 test digits of few" in controller.measured_on


def test_weights_too_large_for_float16_have_no_size_in_it(
    qtbot: QtBot, controller: StorageController, model: Model
) -> None:
    large = Model(model.preset, model.hyperparameters, {name: 1e6 * w for name, w in model.weights.items()})
    sizes = {figures.precision: figures.size for figures in gather(qtbot, controller, large, 6)}
    assert sizes["float16"] is None
    assert sizes["float32"] is not None
    assert sizes["int8"] is not None


def test_after_a_stop_nothing_more_is_told_until_the_next_start(
    qtbot: QtBot, controller: StorageController, model: Model
) -> None:
    told: list[StorageFigures] = []

    def stop_at_the_first(figures: StorageFigures) -> None:
        told.append(figures)
        controller.stop()

    controller.measured.connect(stop_at_the_first)
    controller.start(model)
    qtbot.waitUntil(lambda: len(told) > 0)
    qtbot.wait(100)
    assert len(told) == 1
    controller.measured.disconnect(stop_at_the_first)
    assert len(gather(qtbot, controller, model, 6)) == 6


def test_a_network_that_reads_clothes_is_not_measured_on_digits(
    qtbot: QtBot, controller: StorageController, model: Model
) -> None:
    clothes = replace(model, facts={"trained_on": "Fashion-MNIST"})
    told = gather(qtbot, controller, clothes, len(STORAGE_PRECISIONS))
    assert [figures.accuracy for figures in told] == [None] * len(STORAGE_PRECISIONS)
    assert all(figures.size for figures in told)
    assert controller.measured_on == ""
