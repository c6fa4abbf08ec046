"""How runs end: at a target, out of patience, diverged, or before they begin; and which weights they keep."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.device import DeviceError
from core.digits.dataset import DatasetError, DigitSets, Splits, split
from core.training.events import (
    Evaluated,
    StepsCompleted,
    WeightsPublished,
)
from core.training.job import TrainingControl, TrainingJob
from core.training.presets import UnknownPresetError, find_preset
from core.training.trainer import train
from tests.core.training.runs import (
    RARELY,
    JobMaker,
    StopsItself,
    end_of,
    moments,
    of_kind,
    start_weights,
    story,
    without_seconds,
)

EXPLODES: dict[str, Any] = {"hidden": (64, 64, 64), "learning_rate": 100.0, "shift_px": 0, "epochs": 3}


def test_a_run_that_diverges_says_so_and_keeps_the_last_weights_that_were_published(
    job: JobMaker, splits: Splits
) -> None:
    events = list(train(job("quick-mlp", evaluate_every=300, **EXPLODES), splits))
    assert story(events) == moments((3, "validation"))
    end = end_of(events)
    assert (end.outcome, end.steps, end.samples, end.epochs) == ("diverged", 6, 600, 0)
    published, evaluated = events[1], events[2]
    assert isinstance(published, WeightsPublished)
    assert isinstance(evaluated, Evaluated)
    assert without_seconds(dict(end.weights)) == without_seconds(dict(published.weights))
    assert all(np.isfinite(w).all() for w in end.weights.values())
    assert end.validation_accuracy == evaluated.accuracy
    assert end.test_accuracy is not None
    assert end.train_loss is None


def test_no_event_carries_a_loss_or_an_accuracy_of_weights_that_are_finite_and_too_large_to_compute_with(
    job: JobMaker, splits: Splits
) -> None:
    events = list(train(job("quick-mlp", evaluate_every=100, **{**EXPLODES, "hidden": (32,) * 8}), splits))
    assert end_of(events).outcome == "diverged"
    assert [event for event in of_kind(Evaluated, events) if not math.isfinite(event.loss)] == []
    last = of_kind(WeightsPublished, events)[-1].weights
    assert without_seconds(dict(end_of(events).weights)) == without_seconds(dict(last))


def test_a_run_that_diverges_before_anything_was_published_keeps_its_start(job: JobMaker, splits: Splits) -> None:
    run = job("quick-mlp", evaluate_every=RARELY, **EXPLODES)
    events = list(train(run, splits))
    end = end_of(events)
    assert (end.outcome, end.train_loss) == ("diverged", None)
    for name, start in start_weights(run, splits).items():
        np.testing.assert_array_equal(end.weights[name], start.astype(np.float32))


def test_a_run_stopped_after_it_diverged_and_before_that_was_noticed_keeps_finite_weights_too(
    job: JobMaker, splits: Splits
) -> None:
    run = job("quick-mlp", evaluate_every=RARELY, **EXPLODES)
    end = end_of(list(train(run, splits, StopsItself(9))))
    assert end.steps == 8
    assert all(np.isfinite(w).all() for w in end.weights.values())


def test_a_convolutional_network_that_diverges_keeps_the_last_weights_that_were_published(
    job: JobMaker, splits: Splits
) -> None:
    network = "conv 4x3 relu, pool 2, conv 4x3 relu, pool 2, linear 16 relu, linear 16 relu, linear 10"
    run = job("quick-mlp", network=network, learning_rate=100.0, shift_px=0, epochs=3, evaluate_every=100)
    events = list(train(run, splits))
    end, published = end_of(events), of_kind(WeightsPublished, events)
    assert end.outcome == "diverged"
    assert end.learned
    assert published
    assert without_seconds(dict(end.weights)) == without_seconds(dict(published[-1].weights))
    assert all(np.isfinite(w).all() for w in end.weights.values())
    assert end.validation_accuracy == of_kind(Evaluated, events)[-1].accuracy


UNSTEADY: dict[str, Any] = {"hidden": (16,), "learning_rate": 0.5, "schedule": "constant", "shift_px": 0}


@pytest.mark.parametrize("averaging", [0.0, 0.5])
def test_the_weights_with_the_best_validation_accuracy_are_kept_where_that_is_chosen(
    job: JobMaker, splits: Splits, averaging: float
) -> None:
    choices = {**UNSTEADY, "epochs": 3, "evaluate_every": 200, "averaging": averaging}
    events = list(train(job("quick-mlp", keep_best=True, **choices), splits))
    accuracies = [event.accuracy for event in of_kind(Evaluated, events)]
    first_best = accuracies.index(max(accuracies))
    assert max(accuracies) > accuracies[-1]
    published, end = of_kind(WeightsPublished, events), end_of(events)
    assert without_seconds(dict(end.weights)) == without_seconds(dict(published[first_best].weights))
    assert end.validation_accuracy == max(accuracies)
    assert (end.outcome, end.steps, end.learned) == ("completed", 30, True)

    last = end_of(list(train(job("quick-mlp", keep_best=False, **choices), splits)))
    assert without_seconds(dict(last.weights)) == without_seconds(dict(published[-1].weights))
    assert last.validation_accuracy == accuracies[-1]


def test_a_run_that_is_stopped_keeps_its_best_weights_too(job: JobMaker, splits: Splits) -> None:
    control, events = TrainingControl(), []
    run = job("quick-mlp", keep_best=True, epochs=50, evaluate_every=200, **UNSTEADY)
    for event in train(run, splits, control):
        events.append(event)
        measured = [event.accuracy for event in of_kind(Evaluated, events)]
        if measured and measured[-1] < max(measured):
            control.stop()
    end = end_of(events)
    assert end.outcome == "stopped"
    assert end.validation_accuracy == max(measured) > measured[-1]


def test_a_run_that_diverges_keeps_its_best_weights_where_that_is_chosen(job: JobMaker, splits: Splits) -> None:
    control, events = TrainingControl(), []
    run = job("quick-mlp", keep_best=True, epochs=50, evaluate_every=200, **{**UNSTEADY, "hidden": (64, 64, 64)})
    for event in train(run, splits, control):
        events.append(event)
        measured = [event.accuracy for event in of_kind(Evaluated, events)]
        if measured and measured[-1] < max(measured):
            control.change(replace(run.hyperparameters, learning_rate=100.0))
    end = end_of(events)
    assert (end.outcome, end.learned) == ("diverged", True)
    assert end.validation_accuracy == max(measured) > measured[-1]


def test_without_validation_digits_the_last_weights_are_kept_and_patience_is_not_lost(
    job: JobMaker, few_digits: DigitSets
) -> None:
    run = job("quick-mlp", keep_best=True, patience=1, validation_digits=0, epochs=6, **UNSTEADY)
    events = list(train(run, split(few_digits, 0, 1000)))
    end = end_of(events)
    assert (end.outcome, end.epochs) == ("completed", 6)
    assert without_seconds(dict(end.weights)) == without_seconds(dict(of_kind(WeightsPublished, events)[-1].weights))


@pytest.mark.parametrize("patience", [1, 2, 3])
def test_a_run_ends_after_as_many_epochs_without_a_better_validation_accuracy_as_it_has_patience_for(
    job: JobMaker, splits: Splits, patience: int
) -> None:
    endless = {**UNSTEADY, "epochs": 30, "evaluate_every": RARELY}
    accuracies = [e.accuracy for e in of_kind(Evaluated, list(train(job("quick-mlp", **endless), splits)))]
    best, wanted = 0, None
    for epoch, accuracy in enumerate(accuracies):
        best = epoch if accuracy > accuracies[best] else best
        if epoch - best == patience:
            wanted = epoch + 1
            break
    assert wanted is not None
    events = list(train(job("quick-mlp", patience=patience, **endless), splits))
    assert [event.accuracy for event in of_kind(Evaluated, events)] == accuracies[:wanted]
    end = end_of(events)
    assert (end.outcome, end.epochs, end.steps) == ("completed", wanted, 10 * wanted)
    assert end.validation_accuracy == accuracies[wanted - 1]


def test_the_run_ends_once_the_test_accuracy_reaches_the_target(job: JobMaker, splits: Splits) -> None:
    run = job("quick-mlp", hidden=(16,), epochs=20, evaluate_every=100, until_accuracy=0.7)
    events = list(train(run, splits))
    end, last = end_of(events), of_kind(Evaluated, events)[-1]
    assert (end.outcome, last.split) == ("target", "test")
    assert last.accuracy >= 0.7
    assert end.test_accuracy == last.accuracy
    assert end.seconds_to_target == last.train_seconds
    assert end.steps == last.step < 200
    earlier = [event.accuracy for event in of_kind(Evaluated, events)[:-1] if event.split == "test"]
    assert earlier
    assert max(earlier) < 0.7
    # What was learned from since the report before is told, too.
    assert isinstance(events[-2], StepsCompleted)
    assert (events[-2].samples, events[-2].loss) == (end.samples, end.train_loss)


def test_a_target_out_of_reach_changes_nothing(job: JobMaker, splits: Splits) -> None:
    end = end_of(list(train(job("quick-mlp", hidden=(4,), epochs=1, until_accuracy=1.0), splits)))
    assert (end.outcome, end.steps, end.seconds_to_target) == ("completed", 10, None)


def test_an_epoch_that_was_finished_counts_even_if_its_end_reached_the_target(job: JobMaker, splits: Splits) -> None:
    end = end_of(list(train(job("quick-mlp", hidden=(16,), epochs=5, until_accuracy=0.1), splits)))
    assert (end.outcome, end.steps) == ("target", 10)
    assert end.epochs == 1


def test_a_batch_larger_than_the_training_set_is_refused_before_anything_begins(job: JobMaker, splits: Splits) -> None:
    with pytest.raises(DatasetError, match=r"batch size is 1001 .* only 1000 training digits; choose a smaller batch"):
        train(job("quick-mlp", batch_size=1001), splits)
    assert end_of(list(train(job("quick-mlp", hidden=(4,), batch_size=1000, epochs=1), splits))).steps == 1


def test_a_preset_or_device_that_does_not_exist_is_refused_before_anything_begins(splits: Splits) -> None:
    chosen = find_preset("quick-mlp").hyperparameters
    with pytest.raises(UnknownPresetError, match="there is no preset 'alexnet'"):
        train(TrainingJob("alexnet", chosen, "cpu"), splits)
    with pytest.raises(DeviceError, match="there is no device 'abacus'"):
        train(TrainingJob("quick-mlp", chosen, "abacus"), splits)


def test_one_training_digit_is_enough(job: JobMaker, few_digits: DigitSets) -> None:
    end = end_of(list(train(job("quick-mlp", hidden=(4,), batch_size=1, epochs=3), split(few_digits, 200, 1))))
    assert (end.outcome, end.steps, end.samples) == ("completed", 3, 3)
