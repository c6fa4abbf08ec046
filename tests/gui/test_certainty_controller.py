"""How sure a network must be, fitted in the background, against the same fitted in the open."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.digits.dataset import DigitSets, split
from core.predictor import Predictor, calibrated
from core.training.calibration import Calibration
from core.training.events import TrainingEnded
from core.training.job import TrainingJob
from core.training.model_file import Model
from core.training.presets import find_preset
from core.training.trainer import train
from gui.background_job import BackgroundJob
from gui.certainty_controller import PERCENT, Certainty, CertaintyController

GIVEN = Calibration(2.0, 1.0, 0.5, 0.0, 1.0, 0.01)


@pytest.fixture
def controller(qtbot: QtBot, few_digits: DigitSets) -> Iterator[CertaintyController]:
    controller = CertaintyController()
    controller.on_data_loaded(few_digits)
    yield controller
    controller.cancel()


@pytest.fixture
def model(few_digits: DigitSets) -> Model:
    chosen = replace(
        find_preset("quick-mlp").hyperparameters, network="linear 16 relu, linear 10", epochs=3, validation_digits=200
    )
    *_, end = train(TrainingJob("quick-mlp", chosen, "cpu"), split(few_digits, 200))
    assert isinstance(end, TrainingEnded)
    return Model("quick-mlp", chosen, end.weights)


def fitted(qtbot: QtBot, controller: CertaintyController, model: Model) -> Certainty:
    with qtbot.waitSignal(controller.unknown), qtbot.waitSignal(controller.measured, timeout=20_000) as told:
        controller.look_at(model)
    return told.args[0]


def test_a_network_without_is_fitted_on_the_digits_it_has_not_learned_from(
    qtbot: QtBot, controller: CertaintyController, model: Model, few_digits: DigitSets
) -> None:
    certainty = fitted(qtbot, controller, model)
    held_out = split(few_digits, 200).validation
    assert held_out is not None
    wanted = calibrated(model, held_out)
    assert certainty.calibration == Calibration.from_facts(wanted.facts)
    probabilities, confidences = Predictor.from_model(wanted).read(few_digits.test.images)
    right = probabilities.argmax(axis=1) == few_digits.test.labels
    for percent in (0, 50, 90):
        answered = confidences >= PERCENT[percent] / 100
        assert certainty.coverage[percent] == pytest.approx(answered.mean())
        assert certainty.accuracy[percent] == pytest.approx(right[answered].mean())
    assert (np.diff(certainty.coverage) <= 0).all()


def test_what_a_file_says_is_taken_as_it_is(qtbot: QtBot, controller: CertaintyController, model: Model) -> None:
    certainty = fitted(qtbot, controller, replace(model, facts=GIVEN.as_facts()))
    assert certainty.calibration == GIVEN


def test_as_long_as_weights_change_there_is_nothing_to_tell(
    qtbot: QtBot, controller: CertaintyController, model: Model
) -> None:
    controller.look_at(model)
    with qtbot.assertNotEmitted(controller.measured, wait=300):
        controller.look_at(None)


def test_it_waits_while_the_machine_is_not_free_and_is_fitted_once_for_each_network(
    qtbot: QtBot, controller: CertaintyController, model: Model
) -> None:
    controller.allow(False)
    with qtbot.assertNotEmitted(controller.measured, wait=300):
        controller.look_at(model)
    with qtbot.waitSignal(controller.measured, timeout=20_000):
        controller.allow(True)
    with qtbot.assertNotEmitted(controller.measured, wait=300):
        controller.allow(False)
        controller.allow(True)


def test_once_it_was_cancelled_nothing_begins_until_it_is_allowed(
    qtbot: QtBot, controller: CertaintyController, model: Model
) -> None:
    controller.cancel()
    with qtbot.assertNotEmitted(controller.measured, wait=300):
        controller.look_at(model)
    with qtbot.waitSignal(controller.measured, timeout=20_000):
        controller.allow(True)


def test_a_network_is_not_measured_on_pictures_that_it_cannot_mean(
    qtbot: QtBot,
    controller: CertaintyController,
    model: Model,
    few_digits: DigitSets,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[object] = []
    monkeypatch.setattr(BackgroundJob, "start", lambda job, work: started.append(work))
    controller.look_at(replace(model, facts={"trained_on": "Fashion-MNIST"}))
    assert started == []
    monkeypatch.undo()
    clothes = DigitSets("Fashion-MNIST", few_digits.train, few_digits.test)
    with qtbot.waitSignal(controller.measured, timeout=20_000):
        controller.on_data_loaded(clothes)


@pytest.mark.parametrize("calibration", [None, GIVEN])
def test_a_calibration_outlives_a_change_of_set_and_only_what_it_does_there_is_measured_anew(
    qtbot: QtBot,
    controller: CertaintyController,
    model: Model,
    few_digits: DigitSets,
    monkeypatch: pytest.MonkeyPatch,
    calibration: Calibration | None,
) -> None:
    known: list[Calibration] = []
    controller.known.connect(known.append)
    own = fitted(qtbot, controller, replace(model, facts=calibration.as_facts() if calibration else {})).calibration
    clothes = DigitSets("Fashion-MNIST", few_digits.train, few_digits.test)
    others = DigitSets("letters", few_digits.test, few_digits.train)
    with qtbot.assertNotEmitted(controller.unknown):
        with qtbot.waitSignal(controller.unmeasured):
            controller.on_data_loaded(clothes)
        with qtbot.waitSignal(controller.measured, timeout=20_000) as told:
            controller.on_data_loaded(others)
    assert told.args[0].calibration == own
    assert known == [own]


def test_what_a_file_says_is_known_even_where_it_cannot_be_measured(
    qtbot: QtBot, controller: CertaintyController, model: Model
) -> None:
    with qtbot.waitSignal(controller.known) as told:
        controller.look_at(replace(model, facts={"trained_on": "Fashion-MNIST", **GIVEN.as_facts()}))
    assert told.args == [GIVEN]
