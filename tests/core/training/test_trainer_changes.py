"""A run is changed while it goes on, held against runs that were begun so, and against training written out by hand."""

import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from core.digits.dataset import Splits
from core.training.events import Event, HyperparametersChanged, StepsCompleted, TrainingStarted, WeightsPublished
from core.training.hyperparameters import CHANGEABLE, HyperparameterError, Hyperparameters
from core.training.job import TrainingControl, TrainingJob, check_change
from core.training.presets import find_preset
from core.training.trainer import train
from tests.core.training.runs import (
    RARELY,
    SMALL_CONV,
    JobMaker,
    SoftmaxRegression,
    assert_close,
    batches_of,
    end_of,
    of_kind,
    start_weights,
    without_seconds,
)

PLAIN: dict[str, Any] = {"hidden": (), "shift_px": 0, "learning_rate": 0.05, "schedule": "constant"}


def changed_at(run: TrainingJob, splits: Splits, changes: dict[int, dict[str, Any]]) -> list[Event]:
    """All events of `run`, changed after each step as told, if it is reported or measured; 0: before the first step."""
    control, events, chosen = TrainingControl(), [], run.hyperparameters
    for event in train(run, splits, control):
        events.append(event)
        is_told = isinstance(event, StepsCompleted | WeightsPublished)
        step = 0 if isinstance(event, TrainingStarted) else event.step if is_told else None
        if step in changes:
            chosen = replace(chosen, **changes[step])
            control.change(chosen)
    return events


def test_learning_rate_momentum_and_weight_decay_count_from_the_step_after_the_change(
    job: JobMaker, splits: Splits
) -> None:
    run = job("quick-mlp", batch_size=200, epochs=3, evaluate_every=400, **PLAIN)
    changes = {2: {"learning_rate": 0.2}, 5: {"momentum": 0.3}, 10: {"weight_decay": 0.5, "learning_rate": 0.01}}
    oracle, rate = SoftmaxRegression(start_weights(run, splits), momentum=0.9), 0.05
    for step, rows in enumerate(batches_of(run, 1000)):
        rate = changes.get(step, {}).get("learning_rate", rate)
        oracle.momentum = changes.get(step, {}).get("momentum", oracle.momentum)
        oracle.weight_decay = changes.get(step, {}).get("weight_decay", oracle.weight_decay)
        oracle.step(splits.train, rows, rate)
    events = changed_at(run, splits, changes)
    assert_close(end_of(events).weights, "linear1.weight", oracle.weight, 1e-5)
    assert_close(end_of(events).weights, "linear1.bias", oracle.bias, 1e-5)
    told = of_kind(HyperparametersChanged, events)
    assert [(event.step, event.samples, event.changes) for event in told] == [
        (step, 200 * step, values) for step, values in changes.items()
    ]


def test_a_change_is_told_with_when_it_counts_and_what_holds_from_then_on(job: JobMaker, splits: Splits) -> None:
    run = job("quick-mlp", hidden=(4,), batch_size=200, epochs=2, evaluate_every=RARELY)
    events = changed_at(run, splits, {5: {"learning_rate": 0.02, "shift_px": 3, "epochs": 4}})
    (told,) = of_kind(HyperparametersChanged, events)
    before = events[events.index(told) - 1]
    assert (told.step, told.samples, told.epoch, told.total_steps) == (5, 1000, 1.0, 20)
    assert told.changes == {"learning_rate": 0.02, "shift_px": 3, "epochs": 4}
    assert told.hyperparameters == replace(run.hyperparameters, learning_rate=0.02, shift_px=3, epochs=4)
    assert before.train_seconds == told.train_seconds
    assert of_kind(StepsCompleted, events)[0].step == 5 < of_kind(StepsCompleted, events)[1].step == 10


@pytest.mark.parametrize(
    "change",
    [
        {"learning_rate": 0.01},
        {"momentum": 0.2},
        {"weight_decay": 0.1},
        {"shift_px": 3},
        {"shift_px": 0},
        {"augment": 0.7},
        {"augment": 0.0},
        {"epochs": 1},
        {"epochs": 3},
        {"network": SMALL_CONV.replace("dropout 0.5", "dropout 0.1").replace("dropout 0.25", "dropout 0")},
    ],
    ids=str,
)
def test_a_run_changed_before_its_first_step_is_the_run_that_was_begun_so_to_the_last_bit(
    job: JobMaker, splits: Splits, change: dict[str, Any]
) -> None:
    few = Splits(splits.train.part(0, 300), splits.validation, splits.test)
    choices = {"network": SMALL_CONV, "shift_px": 1, "augment": 0.2, "epochs": 2}
    run, begun_so = job("quick-mlp", **choices), job("quick-mlp", **{**choices, **change})
    changed = changed_at(run, few, {0: change})
    told = [without_seconds(event) for event in changed if not isinstance(event, HyperparametersChanged)]
    assert told[1:] == [without_seconds(event) for event in train(begun_so, few)][1:]
    assert told[1:] != [without_seconds(event) for event in train(run, few)][1:]
    assert len(told) == len(changed) - 1


@pytest.mark.parametrize(
    "change",
    [{"learning_rate": 0.01}, {"momentum": 0.1}, {"weight_decay": 0.1}, {"shift_px": 3}, {"augment": 0.7}],
    ids=str,
)
def test_up_to_the_change_nothing_is_different_and_from_the_next_step_on_everything(
    job: JobMaker, splits: Splits, change: dict[str, Any]
) -> None:
    run = job("quick-mlp", hidden=(6,), shift_px=0, schedule="constant", epochs=1, evaluate_every=100)
    plain = of_kind(WeightsPublished, list(train(run, splits)))
    changed = of_kind(WeightsPublished, changed_at(run, splits, {4: change}))
    same = [
        without_seconds(dict(one.weights)) == without_seconds(dict(other.weights))
        for one, other in zip(plain, changed, strict=True)
    ]
    assert same == [True] * 4 + [False] * 6


def test_another_rate_of_dropout_counts_from_the_next_step_and_weights_stay(job: JobMaker, splits: Splits) -> None:
    without, half = "dropout 0, linear 10", "dropout 0.5, linear 10"
    run = job("quick-mlp", network=without, shift_px=0, epochs=1, evaluate_every=100)
    plain = of_kind(WeightsPublished, list(train(run, splits)))
    changed = of_kind(WeightsPublished, changed_at(run, splits, {4: {"network": half}}))
    same = [
        without_seconds(dict(one.weights)) == without_seconds(dict(other.weights))
        for one, other in zip(plain, changed, strict=True)
    ]
    assert same == [True] * 4 + [False] * 6


@pytest.mark.parametrize("asked_at", [5, 15])
def test_more_epochs_make_a_run_longer_and_stretch_what_is_left_of_its_schedule(
    job: JobMaker, splits: Splits, asked_at: int
) -> None:
    run = job("quick-mlp", **{**PLAIN, "schedule": "cosine"}, epochs=2, evaluate_every=500)
    longer = replace(run, hyperparameters=replace(run.hyperparameters, epochs=4))
    oracle = SoftmaxRegression(start_weights(run, splits), momentum=0.9)
    for step, rows in enumerate(batches_of(longer, 1000)):
        total = 20 if step < asked_at else 40
        oracle.step(splits.train, rows, 0.05 * (1 + math.cos(math.pi * step / total)) / 2)
    events = changed_at(run, splits, {asked_at: {"epochs": 4}})
    end = end_of(events)
    assert (end.outcome, end.epochs, end.steps) == ("completed", 4, 40)
    assert_close(end.weights, "linear1.weight", oracle.weight, 1e-5)


@pytest.mark.parametrize("asked_at", [15, 20, 25])
def test_fewer_epochs_than_have_begun_end_the_run_with_the_epoch_it_is_in_and_its_schedule_too(
    job: JobMaker, splits: Splits, asked_at: int
) -> None:
    run = job("quick-mlp", **{**PLAIN, "schedule": "cosine"}, epochs=8, evaluate_every=500)
    ends = 20 if asked_at < 20 else 30
    oracle = SoftmaxRegression(start_weights(run, splits), momentum=0.9)
    for step, rows in enumerate(batches_of(run, 1000)[:ends]):
        total = 80 if step < asked_at else ends
        oracle.step(splits.train, rows, 0.05 * (1 + math.cos(math.pi * step / total)) / 2)
    events = changed_at(run, splits, {asked_at: {"epochs": 1}})
    end = end_of(events)
    assert of_kind(HyperparametersChanged, events)[0].total_steps == ends
    assert (end.outcome, end.epochs, end.steps) == ("completed", ends // 10, ends)
    assert_close(end.weights, "linear1.weight", oracle.weight, 1e-5)


def test_of_two_changes_between_two_steps_the_last_one_counts_and_is_told_alone(job: JobMaker, splits: Splits) -> None:
    control, events = TrainingControl(), []
    run = job("quick-mlp", hidden=(4,), epochs=1, evaluate_every=RARELY)
    for event in train(run, splits, control):
        events.append(event)
        if isinstance(event, TrainingStarted):
            control.change(replace(run.hyperparameters, momentum=0.5))
            control.change(replace(run.hyperparameters, learning_rate=0.5))
    assert [event.changes for event in of_kind(HyperparametersChanged, events)] == [{"learning_rate": 0.5}]


def test_a_change_to_what_holds_already_is_not_told(job: JobMaker, splits: Splits) -> None:
    run = job("quick-mlp", hidden=(4,), epochs=1)
    changed = changed_at(run, splits, {0: {"learning_rate": run.hyperparameters.learning_rate}})
    assert [without_seconds(event) for event in changed] == [without_seconds(event) for event in train(run, splits)]


def test_a_control_hands_a_change_out_once() -> None:
    control, wanted = TrainingControl(), Hyperparameters("linear 10")
    assert control.take_change() is None
    control.change(wanted)
    assert control.take_change() is wanted
    assert control.take_change() is None


CONV = replace(find_preset("quick-cnn").hyperparameters, network=SMALL_CONV)
OTHERWISE: dict[str, Any] = {
    "optimizer": "sgd",
    "clip_norm": 3.0,
    "schedule": "step",
    "warmup": 0.25,
    "augment_fade": 0.25,
    "batch_size": 7,
    "seed": 9,
    "label_smoothing": 0.2,
    "averaging": 0.5,
    "synthetic": 0.3,
    "patience": 5,
    "keep_best": True,
    "validation_digits": 7,
    "evaluate_every": 777,
    "precision": "float64",
    "train_limit": 99,
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_cannot_be_changed_during_a_run_is_named_in_a_sentence(name: str) -> None:
    words = name.replace("_", " ")
    with pytest.raises(HyperparameterError, match=f"^{words} cannot be changed while training; it counts"):
        check_change("quick-cnn", CONV, replace(CONV, **{name: OTHERWISE[name]}))


def test_every_choice_either_can_be_changed_or_is_tested_not_to() -> None:
    assert {field.name for field in fields(Hyperparameters)} == {*OTHERWISE, *CHANGEABLE}
    assert not set(OTHERWISE) & set(CHANGEABLE)


OTHER_NETWORKS: dict[str, Callable[[str], str]] = {
    "channels": lambda text: text.replace("conv 4x3 bn", "conv 5x3 bn"),
    "kernel": lambda text: text.replace("conv 4x3 bn", "conv 4x5 bn"),
    "same": lambda text: text.replace(" same", ""),
    "units": lambda text: text.replace("linear 12", "linear 13"),
    "pool": lambda text: text.replace("pool 2, linear", "pool 3, linear"),
    "activation": lambda text: text.replace("linear 12 relu", "linear 12 tanh"),
    "batch normalization": lambda text: text.replace("bn ", ""),
    "bias": lambda text: text.replace("linear 12", "linear 12 nobias"),
    "one layer more": lambda text: "dropout 0.1, " + text,
    "one layer less": lambda text: text.replace("dropout 0.5, ", ""),
    "order": lambda text: text.replace("pool 2, dropout 0.25", "dropout 0.25, pool 2"),
}


@pytest.mark.parametrize("kind", OTHER_NETWORKS)
def test_of_the_network_all_but_dropout_is_refused(kind: str) -> None:
    other = OTHER_NETWORKS[kind](SMALL_CONV)
    assert other != SMALL_CONV
    with pytest.raises(HyperparameterError, match=r"^of the network, only dropout can be changed while training; "):
        check_change("quick-cnn", CONV, replace(CONV, network=other))


def test_rates_of_dropout_and_the_spelling_of_the_text_may_be_changed() -> None:
    for text in (
        SMALL_CONV.replace("dropout 0.5", "dropout 0.9"),
        SMALL_CONV.replace("dropout 0.25", "dropout 0").replace("dropout 0.5", "dropout .1"),
        SMALL_CONV.replace(", ", "  ,"),
    ):
        assert text != SMALL_CONV
        check_change("quick-cnn", CONV, replace(CONV, network=text))


def test_a_run_refuses_what_may_not_change(job: JobMaker, splits: Splits) -> None:
    run = job("quick-mlp", hidden=(4,), epochs=1)
    with pytest.raises(HyperparameterError, match=r"^batch size cannot be changed while training"):
        changed_at(run, splits, {0: {"batch_size": 10}})


def test_a_change_while_a_run_is_held_counts_from_its_next_step(job: JobMaker, splits: Splits) -> None:
    class ChangesWhileAsked(TrainingControl):
        """As if a paused run were changed and then resumed: `should_stop` waits where a change comes in."""

        def should_stop(self) -> bool:
            self.change(replace(run.hyperparameters, learning_rate=1e-6, momentum=0.0))
            return super().should_stop()

    run = job("quick-mlp", hidden=(4,), shift_px=0, epochs=1, evaluate_every=100)
    events = list(train(run, splits, ChangesWhileAsked()))
    assert [event.step for event in of_kind(HyperparametersChanged, events)] == [0]
    first, start = of_kind(WeightsPublished, events)[0].weights, start_weights(run, splits)
    assert np.abs(first["linear1.weight"] - start["linear1.weight"]).max() < 1e-5
