"""Which network answers and whether it is kept, through real files."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.digits.dataset import DigitSets, split
from core.training.events import Evaluated, Event, HyperparametersChanged, TrainingEnded, WeightsPublished
from core.training.job import TrainingControl, TrainingJob
from core.training.model_file import SHIPPED_MODEL, load_model
from core.training.trainer import train
from gui.network_controller import NetworkController


@pytest.fixture
def events(small_job: TrainingJob, few_digits: DigitSets) -> list[Event]:
    return list(train(small_job, split(few_digits, small_job.hyperparameters.validation_digits)))


@pytest.fixture
def controller(qtbot: QtBot, few_digits: DigitSets) -> NetworkController:
    controller = NetworkController()
    controller.on_data_loaded(few_digits)
    return controller


def follow(controller: NetworkController, job: TrainingJob, events: list[Event]) -> None:
    """Tell the controller what the training controller would."""
    controller.on_job_accepted(job)
    for event in events:
        if isinstance(event, Evaluated):
            controller.on_evaluated(event)
        elif isinstance(event, HyperparametersChanged):
            controller.on_changed(event)
        elif isinstance(event, WeightsPublished):
            controller.on_weights_published(event)
        elif isinstance(event, TrainingEnded):
            controller.on_ended(event)


def test_the_shipped_network_answers_first_and_needs_no_saving(qtbot: QtBot, controller: NetworkController) -> None:
    with qtbot.waitSignals([controller.predictor_changed, controller.named]):
        controller.open_shipped()
    assert not controller.has_unsaved


def test_a_trained_network_is_unsaved_until_it_is_in_a_file(
    controller: NetworkController, small_job: TrainingJob, events: list[Event], tmp_path: Path
) -> None:
    follow(controller, small_job, events)
    assert controller.has_unsaved
    path = tmp_path / controller.suggested_file_name()
    assert controller.save_file(path, "float32", controller.model)
    assert not controller.has_unsaved
    saved, end = load_model(path), events[-1]
    assert isinstance(end, TrainingEnded)
    assert (saved.preset, saved.hyperparameters) == (small_job.preset, small_job.hyperparameters)
    assert saved.facts["trained_on"] == "few"
    assert saved.test_accuracy == pytest.approx(end.test_accuracy, abs=1e-4)
    assert all(np.array_equal(saved.weights[name], w) for name, w in end.weights.items())


def test_a_network_in_training_can_be_saved_as_it_stands(
    controller: NetworkController, small_job: TrainingJob, events: list[Event], tmp_path: Path
) -> None:
    published = [event for event in events if isinstance(event, WeightsPublished)]
    follow(controller, small_job, events[: events.index(published[1])])
    assert controller.save_file(tmp_path / "half-way.safetensors", "float32", controller.model)
    saved = load_model(tmp_path / "half-way.safetensors")
    measured = next(event for event in events if isinstance(event, Evaluated) and event.step == published[0].step)
    assert saved.facts["validation_accuracy"] == f"{measured.accuracy:.4f}"
    assert all(np.array_equal(saved.weights[name], w) for name, w in published[0].weights.items())


def test_what_was_changed_on_the_way_is_kept_with_the_network(
    controller: NetworkController, small_job: TrainingJob, few_digits: DigitSets, tmp_path: Path
) -> None:
    control, wanted = TrainingControl(), replace(small_job.hyperparameters, learning_rate=0.03, augment=0.5)
    control.change(replace(wanted, augment=0.0))
    events: list[Event] = []
    for event in train(small_job, split(few_digits, 200), control):
        events.append(event)
        if isinstance(event, WeightsPublished) and event.step == 5:
            control.change(wanted)
    follow(controller, small_job, events)
    assert controller.save_file(tmp_path / "changed.safetensors", "float16", controller.model)
    saved = load_model(tmp_path / "changed.safetensors")
    assert saved.hyperparameters == wanted
    assert json.loads(saved.facts["changes"]) == [{"step": 0, "learning_rate": 0.03}, {"step": 5, "augment": 0.5}]


def test_a_run_without_changes_notes_none_even_after_one_with_some(
    controller: NetworkController, small_job: TrainingJob, events: list[Event], tmp_path: Path
) -> None:
    chosen = replace(small_job.hyperparameters, epochs=2)
    change = HyperparametersChanged(10, 1000, 1.0, 0.1, {"epochs": 2}, chosen, 20)
    follow(controller, small_job, [*events[:-1], change, events[-1]])
    follow(controller, small_job, events)
    assert controller.save_file(tmp_path / "plain.safetensors", "float16", controller.model)
    saved = load_model(tmp_path / "plain.safetensors")
    assert "changes" not in saved.facts
    assert saved.hyperparameters == small_job.hyperparameters


def test_each_run_gets_a_predictor_of_its_own(
    controller: NetworkController, small_job: TrainingJob, events: list[Event]
) -> None:
    predictors: list[object] = []
    controller.predictor_changed.connect(predictors.append)
    for _ in range(2):
        follow(controller, small_job, events)
    assert len(predictors) == 2
    assert predictors[0] is not predictors[1]


def test_a_network_that_went_on_while_it_was_saved_is_still_unsaved(
    controller: NetworkController, small_job: TrainingJob, events: list[Event], tmp_path: Path
) -> None:
    published = [event for event in events if isinstance(event, WeightsPublished)]
    later = events.index(published[1])
    follow(controller, small_job, events[:later])
    asked_for = controller.model
    for event in published[1:]:
        controller.on_weights_published(event)
    assert controller.save_file(tmp_path / "early.safetensors", "float32", asked_for)
    saved = load_model(tmp_path / "early.safetensors")
    assert all(np.array_equal(saved.weights[name], w) for name, w in published[0].weights.items())
    assert controller.has_unsaved
    assert controller.save_file(tmp_path / "late.safetensors", "float32", controller.model)
    assert not controller.has_unsaved


def test_float16_is_half_the_size(
    controller: NetworkController, small_job: TrainingJob, events: list[Event], tmp_path: Path
) -> None:
    follow(controller, small_job, events)
    sizes = {}
    for stored_as in ("float16", "float32"):
        path = tmp_path / f"{stored_as}.safetensors"
        assert controller.save_file(path, stored_as, controller.model)
        sizes[stored_as] = path.stat().st_size
    assert sizes["float16"] == pytest.approx(sizes["float32"] / 2, rel=0.02)


def test_weights_of_one_run_go_to_one_predictor(
    controller: NetworkController, small_job: TrainingJob, events: list[Event]
) -> None:
    predictors: list[object] = []
    updates: list[object] = []
    controller.predictor_changed.connect(predictors.append)
    controller.weights_changed.connect(updates.append)
    follow(controller, small_job, events)
    published = sum(isinstance(event, WeightsPublished) for event in events)
    assert (len(predictors), len(updates)) == (1, published)


def test_a_damaged_file_is_refused_and_changes_nothing(
    qtbot: QtBot, controller: NetworkController, small_job: TrainingJob, events: list[Event], tmp_path: Path
) -> None:
    follow(controller, small_job, events)
    name = controller.suggested_file_name()
    cut = tmp_path / "cut.safetensors"
    cut.write_bytes(SHIPPED_MODEL.read_bytes()[:-100])
    with (
        qtbot.assertNotEmitted(controller.predictor_changed),
        qtbot.waitSignal(controller.failed) as failed,
    ):
        controller.open_file(cut)
    assert "cut.safetensors" in failed.args[0]
    assert controller.has_unsaved
    assert controller.suggested_file_name() == name


def test_a_place_that_cannot_be_written_is_told_and_the_network_stays_unsaved(
    qtbot: QtBot, controller: NetworkController, small_job: TrainingJob, events: list[Event], tmp_path: Path
) -> None:
    follow(controller, small_job, events)
    with qtbot.waitSignal(controller.failed) as failed:
        assert not controller.save_file(tmp_path / "absent" / "x.safetensors", "float16", controller.model)
    assert "x.safetensors" in failed.args[0]
    assert controller.has_unsaved


def test_a_run_stopped_before_its_first_step_leaves_the_network_that_was(
    controller: NetworkController, small_job: TrainingJob
) -> None:
    controller.open_shipped()
    name = controller.suggested_file_name()
    nothing = TrainingEnded("stopped", 0, 0, 0, 0.0, None, None, 0.1, None, False, {})
    follow(controller, small_job, [nothing])
    assert not controller.has_unsaved
    assert controller.suggested_file_name() == name


def test_a_run_that_diverged_before_it_learned_leaves_the_network_that_was(
    controller: NetworkController, small_job: TrainingJob, few_digits: DigitSets
) -> None:
    controller.open_shipped()
    name = controller.suggested_file_name()
    rarely = {"evaluate_every": 100_000, "epochs": 1}
    wild = replace(
        small_job.hyperparameters,
        network="linear 32 relu, " * 8 + "linear 10",
        learning_rate=100.0,
        shift_px=0,
        **rarely,
    )
    job = replace(small_job, hyperparameters=wild)
    events = list(train(job, split(few_digits, 200)))
    assert isinstance(events[-1], TrainingEnded)
    assert (events[-1].outcome, events[-1].learned) == ("diverged", False)
    follow(controller, job, events)
    assert not controller.has_unsaved
    assert controller.suggested_file_name() == name


def test_what_a_network_learned_from_is_told_before_it_answers_and_stands_in_its_name(
    controller: NetworkController, small_job: TrainingJob, events: list[Event], few_digits: DigitSets, tmp_path: Path
) -> None:
    told: list[str] = []
    names: list[str] = []
    controller.learned_from.connect(lambda published: told.append(published.name))
    controller.predictor_changed.connect(lambda predictor: told.append("answers"))
    controller.named.connect(names.append)
    controller.on_data_loaded(DigitSets("KMNIST", few_digits.train, few_digits.test))
    follow(controller, small_job, events)
    assert told == ["kmnist", "answers"]
    assert names[-1].endswith(" % of KMNIST)")
    path = tmp_path / controller.suggested_file_name()
    assert path.name.startswith("quick-mlp-kmnist-")
    assert controller.save_file(path, "float32", controller.model)
    controller.open_shipped()
    controller.open_file(path)
    assert told[2:] == ["mnist", "answers", "kmnist", "answers"]
