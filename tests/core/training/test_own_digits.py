"""Runs that learn from the user's own digits too, and runs that begin with a network: what is won, what forgotten."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.digits.dataset import Dataset, DatasetError, DigitSets, Splits
from core.digits.ink import Ink, LabelledInk, Stroke
from core.digits.mixture import with_own_digits
from core.digits.my_digits import MyDigits, MyDigitsError
from core.digits.synthetic_ink import write_digits
from core.training.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from core.training.evaluation import DeviceDataset, evaluate
from core.training.events import Checkpointed, Evaluated, TrainingEnded
from core.training.hyperparameters import HyperparameterError
from core.training.job import TrainingControl
from core.training.learner import Learner
from core.training.trainer import train
from core.training.training_digits import splits_of
from tests.core.training.runs import end_of, job, of_kind, without_seconds

SMALL = {"hidden": (32,), "epochs": 3, "shift_px": 0}


class TellsEveryStep(TrainingControl):
    """A control that wants the state of the run after every step."""

    def take_checkpoint_wish(self) -> bool:
        return True


@pytest.fixture
def collection(tmp_path: Path) -> MyDigits:
    """Twenty threes and fours as if written on paper turned by a right angle: nothing that MNIST has."""
    mine = MyDigits(tmp_path / "mine.jsonl")
    mine.add(
        LabelledInk(digit.label, Ink(tuple(Stroke(stroke.points @ [[0, 1], [-1, 0]]) for stroke in digit.ink.strokes)))
        for digit in write_digits(np.array([3, 4] * 10, np.uint8), np.random.default_rng(5))
    )
    return mine


@pytest.fixture
def mixed(splits: Splits, collection: MyDigits) -> Splits:
    own = collection.dataset()
    assert own is not None
    return with_own_digits(splits, own, 0.3)


def test_learning_from_them_raises_the_accuracy_on_those_held_out(splits: Splits, mixed: Splits) -> None:
    assert mixed.mine is not None
    assert len(mixed.mine) == 4
    run = job("quick-mlp", **SMALL)
    without = end_of(list(train(run, replace(mixed, train=splits.train))))
    with_them = end_of(list(train(run, mixed)))
    assert without.mine_accuracy is not None
    assert without.mine_accuracy <= 0.5
    assert with_them.mine_accuracy == 1.0
    assert with_them.test_accuracy > 0.75
    assert (with_them.mine_accuracy_before, with_them.test_accuracy_before) == (None, None)


def test_they_are_measured_whenever_validation_is_and_decide_nothing(mixed: Splits) -> None:
    events = list(train(job("quick-mlp", keep_best=True, **SMALL), mixed))
    told = [(event.step, event.split) for event in of_kind(Evaluated, events)]
    assert [step for step, split in told if split == "mine"] == [step for step, split in told if split == "validation"]
    hidden_from = list(train(job("quick-mlp", keep_best=True, **SMALL), replace(mixed, mine=None)))
    assert without_seconds(end_of(hidden_from).weights) == without_seconds(end_of(events).weights)
    assert end_of(hidden_from).mine_accuracy is None


def test_the_last_figure_is_that_of_the_weights_kept(mixed: Splits) -> None:
    run = job("quick-mlp", **SMALL)
    end = end_of(list(train(run, mixed)))
    learner = Learner(run.preset, run.hyperparameters, "cpu", mixed.train)
    learner.begin_with(end.weights)
    assert mixed.mine is not None
    measured = evaluate(learner.network, learner.loss, DeviceDataset(mixed.mine, learner.device, np.float32, 10))
    assert measured is not None
    assert end.mine_accuracy == measured.accuracy


@pytest.fixture
def learned(splits: Splits) -> TrainingEnded:
    """A network that knows MNIST's digits alone."""
    return end_of(list(train(job("quick-mlp", **SMALL), splits)))


@pytest.mark.parametrize("averaging", [0.0, 0.9])
def test_a_run_that_begins_with_a_network_says_what_that_was_worth(
    mixed: Splits, learned: TrainingEnded, averaging: float
) -> None:
    run = replace(job("quick-mlp", averaging=averaging, **SMALL), start=learned.weights)
    end = end_of(list(train(run, mixed)))
    assert end.test_accuracy_before == learned.test_accuracy
    assert end.mine_accuracy_before is not None
    assert end.mine_accuracy is not None
    assert end.mine_accuracy_before < end.mine_accuracy


def test_a_run_stopped_at_once_keeps_what_it_began_with(mixed: Splits, learned: TrainingEnded) -> None:
    control = TrainingControl()
    control.stop()
    end = end_of(list(train(replace(job("quick-mlp", averaging=0.9, **SMALL), start=learned.weights), mixed, control)))
    assert not end.learned
    assert without_seconds(end.weights) == without_seconds(learned.weights)


@pytest.mark.parametrize("hidden", [(31,), (32, 32)])
def test_another_network_is_refused(splits: Splits, learned: TrainingEnded, hidden: tuple[int, ...]) -> None:
    run = replace(job("quick-mlp", **{**SMALL, "hidden": hidden}), start=learned.weights)
    with pytest.raises(HyperparameterError, match="has other layers than the one to be trained"):
        train(run, splits)


@pytest.mark.parametrize("question", [1, 5])
def test_it_goes_on_bit_for_bit_without_the_network_it_began_with(
    tmp_path: Path, mixed: Splits, learned: TrainingEnded, question: int
) -> None:
    begun = replace(job("quick-mlp", optimizer="adam", averaging=0.9, **SMALL), start=learned.weights)
    whole = list(train(begun, mixed))
    control = TellsEveryStep()
    control.checkpoint_at_end = True
    told = list(train(begun, mixed, control))
    at = of_kind(Checkpointed, told)[question - 1]
    assert at.checkpoint.progress.step == question
    save_checkpoint(tmp_path / "checkpoint", at.checkpoint)
    gone_on = list(train(replace(begun, start=None), mixed, None, load_checkpoint(tmp_path / "checkpoint")))
    rest = [event for event in told[told.index(at) :] if not isinstance(event, Checkpointed)]
    assert [without_seconds(event) for event in gone_on[1:]] == [without_seconds(event) for event in rest]
    assert without_seconds(end_of(gone_on)) == without_seconds(end_of(whole))


def test_the_digits_of_a_job_are_its_set_and_the_file(few_digits: DigitSets, collection: MyDigits) -> None:
    run = job("quick-mlp", validation_digits=200)
    assert splits_of(run, few_digits).mine is None
    splits = splits_of(replace(run, mine=0.5, my_digits=collection.path), few_digits)
    assert (len(splits.train), len(splits.mine or ()), len(splits.validation or ())) == (2000, 4, 200)
    own = collection.dataset()
    assert own is not None
    np.testing.assert_array_equal(splits.train.images[1000], own.images[0])
    assert splits.mine_digest


def test_a_broken_line_is_passed_over_and_an_empty_file_refused(
    few_digits: DigitSets, collection: MyDigits, tmp_path: Path
) -> None:
    with collection.path.open("ab") as file:
        file.write(b"no digit\n")
    run = replace(job("quick-mlp", validation_digits=200), mine=0.5, my_digits=collection.path)
    before = collection.path.read_bytes()
    assert len(splits_of(run, few_digits).mine or ()) == 4
    assert collection.path.read_bytes() == before
    with pytest.raises(DatasetError, match=r"none\.jsonl holds no digits yet; draw some"):
        splits_of(replace(run, my_digits=tmp_path / "none.jsonl"), few_digits)
    with pytest.raises(MyDigitsError, match="cannot be read"):
        splits_of(replace(run, my_digits=tmp_path), few_digits)


def test_no_digits_are_mixed_with_clothes(few_digits: DigitSets, collection: MyDigits) -> None:
    run = replace(job("quick-mlp", validation_digits=200), mine=0.5, my_digits=collection.path, data="fashion-mnist")
    with pytest.raises(DatasetError, match="fashion-mnist shows no digits"):
        splits_of(run, few_digits)


def test_too_few_to_hold_any_out_are_learned_from_and_measured(splits: Splits, collection: MyDigits) -> None:
    own = collection.dataset()
    assert own is not None
    few = with_own_digits(splits, Dataset(own.images[:4], own.labels[:4]), 0.3)
    assert end_of(list(train(job("quick-mlp", **SMALL), few))).mine_accuracy == 1.0


def test_a_run_does_not_go_on_with_other_digits_than_it_began_with(
    splits: Splits, mixed: Splits, collection: MyDigits
) -> None:
    run = job("quick-mlp", **SMALL)
    told = next(event for event in train(run, mixed, TellsEveryStep()) if isinstance(event, Checkpointed))
    collection.relabel({collection.samples()[0].key: 9})
    own = collection.dataset()
    assert own is not None
    with pytest.raises(CheckpointError, match="your own digits have changed since"):
        train(run, with_own_digits(splits, own, 0.3), since=told.checkpoint)
    assert end_of(list(train(run, mixed, since=told.checkpoint))).outcome == "completed"
