"""A run that was broken off and goes on is held against the same run never broken off: every event and every bit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.digits.dataset import Splits, split
from core.nn.optimizers import OPTIMIZERS
from core.training.checkpoint import Checkpoint, CheckpointError, load_checkpoint, save_checkpoint
from core.training.events import (
    Checkpointed,
    Evaluated,
    Event,
    HyperparametersChanged,
    StepsCompleted,
    TrainingEnded,
    TrainingStarted,
    WeightsPublished,
)
from core.training.job import TrainingControl, TrainingJob
from core.training.trainer import train
from tests.core.training.runs import SMALL_CONV, StopsItself, end_of, job, of_kind, without_seconds

Changes = Mapping[int, Mapping[str, Any]]
"""By step: what is changed after it."""
SMALL: dict[str, Any] = {"hidden": (6,), "batch_size": 96, "epochs": 2, "evaluate_every": 400}
"""Eleven steps an epoch, the last with a smaller batch; evaluations at its end and in between, some with a report."""


class TellsEveryStep(TrainingControl):
    """A control that wants the state of the run after every step."""

    def __init__(self) -> None:
        super().__init__()
        self.checkpoint_at_end = True

    def take_checkpoint_wish(self) -> bool:
        return True


@dataclass
class Told:
    """All events of a run that tells its state after every step, and each state with how many events came before."""

    events: list[Event]
    checkpoints: list[tuple[Checkpoint, int]]


def told_by(run: TrainingJob, splits: Splits, changes: Changes | None = None, since: Checkpoint | None = None) -> Told:
    """What the run tells, changed after each step as told."""
    control, chosen, told = TellsEveryStep(), run.hyperparameters, Told([], [])
    for event in train(run, splits, control, since):
        if isinstance(event, Checkpointed):
            told.checkpoints.append((event.checkpoint, len(told.events)))
            step = event.checkpoint.progress.step
        elif isinstance(event, TrainingStarted):
            step = 0 if since is None else since.progress.step
        else:
            told.events.append(event)
            continue
        if changes and step in changes:
            for earlier in sorted(changes):
                chosen = replace(chosen, **changes[earlier]) if earlier <= step else chosen
            control.change(chosen)
    return told


def bits(events: Sequence[Event]) -> list[Any]:
    return [without_seconds(event) for event in events]


def from_disk(path: Path, checkpoint: Checkpoint) -> Checkpoint:
    save_checkpoint(path, checkpoint)
    return load_checkpoint(path)


def assert_goes_on_from_everywhere(
    tmp_path: Path, run: TrainingJob, splits: Splits, changes: Changes | None = None
) -> Told:
    whole = told_by(run, splits, changes)
    steps = [checkpoint.progress.step for checkpoint, _ in whole.checkpoints]
    assert steps == [*range(1, steps[-1] + 1), steps[-1]]  # and once more at the end
    for checkpoint, before in whole.checkpoints:
        rest = told_by(run, splits, changes, from_disk(tmp_path / "checkpoint", checkpoint))
        assert bits(rest.events) == bits(whole.events[before:]), f"broken off after step {checkpoint.progress.step}"
    return whole


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_it_goes_on_from_every_step_with_every_optimizer(tmp_path: Path, splits: Splits, optimizer: str) -> None:
    run = job("quick-mlp", optimizer=optimizer, learning_rate=0.01, weight_decay=0.001, warmup=0.2, **SMALL)
    whole = assert_goes_on_from_everywhere(tmp_path, run, splits)
    assert [event.step for event in of_kind(StepsCompleted, whole.events)] == [5, 11, 22]
    assert [event.step for event in of_kind(Evaluated, whole.events)] == [5, 9, 11, 14, 18, 22]


EVERYTHING: dict[str, dict[str, Any]] = {
    "dropout": {"network": "linear 8 relu, dropout 0.4, linear 10"},
    "batch norm": {"network": "linear 8 bn relu, linear 10"},
    "averaging": {"averaging": 0.95},
    "shift": {"shift_px": 2},
    "augmentation": {"augment": 0.7},
    "fading augmentation": {"augment": 0.7, "augment_fade": 0.6},
    "clipping and smoothing": {"clip_norm": 0.5, "label_smoothing": 0.1},
    "the best weights": {"keep_best": True, "learning_rate": 5.0},
    "nothing held out": {"validation_digits": 0},
    "float64": {"precision": "float64", "optimizer": "adam", "averaging": 0.9},
    "one batch an epoch": {"batch_size": 1000, "epochs": 4},
}


@pytest.mark.parametrize("name", EVERYTHING)
def test_it_goes_on_with_every_kind_of_choice(tmp_path: Path, splits: Splits, name: str) -> None:
    choices = {**SMALL, "shift_px": 0, **EVERYTHING[name]}
    if "network" in choices:
        del choices["hidden"]
    if choices.get("validation_digits") == 0:
        splits = Splits(splits.train, None, splits.test)
    assert_goes_on_from_everywhere(tmp_path, job("quick-mlp", **choices), splits)


def test_it_goes_on_with_the_same_synthetic_ink(tmp_path: Path, splits: Splits) -> None:
    run = job("quick-mlp", synthetic=0.2, **SMALL)
    whole = told_by(run, splits)
    checkpoint, before = whole.checkpoints[7]
    rest = told_by(run, splits, since=from_disk(tmp_path / "checkpoint", checkpoint))
    assert bits(rest.events) == bits(whole.events[before:])


def test_it_goes_on_with_everything_at_once(tmp_path: Path, splits: Splits) -> None:
    run = job(
        "quick-cnn",
        network=SMALL_CONV,
        optimizer="adam",
        epochs=2,
        batch_size=300,
        evaluate_every=600,
        averaging=0.9,
        augment=0.5,
        shift_px=1,
        keep_best=True,
        schedule="one-cycle",
    )
    assert_goes_on_from_everywhere(tmp_path, run, splits)


def test_changes_made_on_the_way_are_kept_and_count_on(tmp_path: Path, splits: Splits) -> None:
    choices = {**SMALL, "network": "linear 8 relu, dropout 0.4, linear 10"}
    del choices["hidden"]
    changes = {
        3: {"learning_rate": 0.02, "momentum": 0.5},
        7: {"network": "linear 8 relu, dropout 0.1, linear 10", "epochs": 3},
        11: {"shift_px": 2, "augment": 0.4},
        25: {"epochs": 1, "weight_decay": 0.01},
    }
    whole = assert_goes_on_from_everywhere(tmp_path, job("quick-mlp", **choices), splits, changes)
    assert [event.step for event in of_kind(HyperparametersChanged, whole.events)] == list(changes)
    assert end_of(whole.events).steps == 33


def test_a_run_that_lost_patience_ends_at_the_same_step(tmp_path: Path, splits: Splits) -> None:
    # Learns next to nothing, so that the first measurement, in the midst of an epoch, stays the best.
    run = job("quick-mlp", patience=1, keep_best=True, learning_rate=1e-6, **{**SMALL, "epochs": 5})
    whole = assert_goes_on_from_everywhere(tmp_path, run, splits)
    assert end_of(whole.events).outcome == "completed"
    assert end_of(whole.events).steps == 22


def test_a_run_reaches_its_target_at_the_same_step(tmp_path: Path, splits: Splits) -> None:
    run = job("quick-mlp", until_accuracy=0.5, **{**SMALL, "hidden": (16,), "epochs": 20})
    whole = told_by(run, splits)
    assert end_of(whole.events).outcome == "target"
    for checkpoint, before in whole.checkpoints:
        rest = told_by(run, splits, since=from_disk(tmp_path / "checkpoint", checkpoint))
        assert bits(rest.events) == bits(whole.events[before:])


def curves(events: Sequence[Event]) -> list[Any]:
    """All events but the first, the last, and the weights, which are told once more where a measurement is made up."""
    return bits([event for event in events if isinstance(event, StepsCompleted | Evaluated)])


def stopped_and_gone_on(run: TrainingJob, splits: Splits, questions: int) -> Iterator[list[Event]]:
    """The events of each sitting of `run`: each is told to stop when it has asked so many times whether to."""
    since = None
    while True:
        control = StopsItself(questions)
        control.checkpoint_at_end = True
        events = list(train(run, splits, control, since))
        yield events
        if end_of(events).outcome != "stopped":
            return
        since = of_kind(Checkpointed, events)[-1].checkpoint


@pytest.mark.parametrize("questions", [*range(4, 16), 19, 24])
def test_a_run_stopped_at_any_question_again_and_again_tells_the_same_story(splits: Splits, questions: int) -> None:
    """Each step is a question and each set measured another, so that some of these hit every moment of the run."""
    run = job("quick-mlp", until_accuracy=1.0, keep_best=True, patience=2, **{**SMALL, "learning_rate": 1.0})
    whole = list(train(run, splits))
    sittings = list(stopped_and_gone_on(run, splits, questions))
    assert len(sittings) > 1
    assert curves([event for events in sittings for event in events]) == curves(whole)
    assert without_seconds(sittings[-1][-1]) == without_seconds(whole[-1])
    assert [events[0].total_steps for events in sittings] == [whole[0].total_steps] * len(sittings)


def test_seconds_and_the_x_axis_go_on(splits: Splits) -> None:
    run = job("quick-mlp", **SMALL)
    events = [event for sitting in stopped_and_gone_on(run, splits, 9) for event in sitting]
    told = [event for event in events if isinstance(event, StepsCompleted | Evaluated | TrainingEnded)]
    seconds = [event.train_seconds for event in told]
    assert seconds == sorted(seconds)
    assert [event.samples for event in told] == sorted(event.samples for event in told)


def test_a_run_told_to_stop_in_its_very_last_measurement_has_it_still_to_make(splits: Splits) -> None:
    run = job("quick-mlp", **{**SMALL, "epochs": 1, "evaluate_every": 1_000_000})
    sittings = list(stopped_and_gone_on(run, splits, 12))  # eleven steps, then the measurement
    assert [end_of(events).outcome for events in sittings] == ["stopped", "completed"]
    assert of_kind(Evaluated, sittings[0]) == []
    assert [(event.step, event.split) for event in of_kind(Evaluated, sittings[1])] == [(11, "validation")]
    assert of_kind(StepsCompleted, sittings[1]) == []


def test_telling_its_state_changes_nothing_about_a_run(splits: Splits) -> None:
    run = job("quick-mlp", **SMALL)
    assert bits(told_by(run, splits).events) == bits(list(train(run, splits))[1:])


def test_what_was_told_does_not_change_while_the_run_goes_on(splits: Splits) -> None:
    run = job("quick-mlp", averaging=0.9, **SMALL)
    control, kept = TellsEveryStep(), []
    for event in train(run, splits, control):
        if isinstance(event, Checkpointed):
            arrays = event.checkpoint.learner.arrays
            kept.append((arrays, {name: array.tobytes() for name, array in arrays.items()}))
    for arrays, before in kept:
        assert {name: array.tobytes() for name, array in arrays.items()} == before
    assert kept[0][1] != kept[-1][1]


@pytest.fixture
def halfway(splits: Splits) -> tuple[TrainingJob, Checkpoint]:
    run = job("quick-mlp", optimizer="adam", averaging=0.5, **SMALL)
    return run, told_by(run, splits).checkpoints[13][0]


@pytest.mark.parametrize(
    "choices",
    [
        {"hidden": (7,)},
        {"hidden": (6, 6)},
        {"optimizer": "momentum"},
        {"averaging": 0.0},
        {"batch_size": 100},
        {"seed": 1},
        {"precision": "float64"},
        {"hidden": None, "network": "linear 6 bn relu, linear 10"},
    ],
    ids=str,
)
def test_the_state_of_another_job_is_refused(halfway, splits: Splits, choices: dict[str, Any]) -> None:
    run = job("quick-mlp", **{"optimizer": "adam", "averaging": 0.5, **SMALL, **choices})
    with pytest.raises(CheckpointError, match=r"does not belong to this run \(.+\); start it anew"):
        train(run, splits, since=halfway[1])


def test_the_state_of_a_run_with_other_digits_is_refused(halfway, few_digits) -> None:
    run, checkpoint = halfway
    with pytest.raises(CheckpointError, match="that of a run with other digits"):
        train(run, split(few_digits, 300), since=checkpoint)


def with_array(checkpoint: Checkpoint, name: str, array: np.ndarray) -> Checkpoint:
    return replace(checkpoint, learner=replace(checkpoint.learner, arrays={**checkpoint.learner.arrays, name: array}))


def with_counters(checkpoint: Checkpoint, **counters: Any) -> Checkpoint:
    changed = {**checkpoint.learner.counters, **counters}
    return replace(checkpoint, learner=replace(checkpoint.learner, counters=changed))


def with_progress(checkpoint: Checkpoint, **progress: Any) -> Checkpoint:
    return replace(checkpoint, progress=replace(checkpoint.progress, **progress))


def generators(checkpoint: Checkpoint, **state: Any) -> Checkpoint:
    first, *others = checkpoint.learner.counters["generators"]
    return with_counters(checkpoint, generators=[{**first, **state}, *others])


def with_weights(checkpoint: Checkpoint, part: str, **weights: np.ndarray) -> Checkpoint:
    return replace(checkpoint, **{part: {**getattr(checkpoint, part), **weights}})


PARAMETERS = 6 * 785 + 10 * 7
FOREIGN = {
    "parameters too short": lambda c: with_array(c, "parameters", np.zeros(3, np.float32)),
    "parameters of another dtype": lambda c: with_array(c, "parameters", np.zeros(PARAMETERS, np.float16)),
    "right answers as floats": lambda c: with_array(c, "right_sum", np.full((), np.nan)),
    "an array too many": lambda c: with_array(c, "surprise", np.zeros(1)),
    "an array too few": lambda c: replace(c, learner=replace(c.learner, arrays={})),
    "no counters": lambda c: replace(c, learner=replace(c.learner, counters={})),
    "steps below 0": lambda c: with_counters(c, optimizer_steps=-1),
    "steps beyond any": lambda c: with_counters(c, optimizer_steps=10**400),
    "steps a text": lambda c: with_counters(c, average_steps="7"),
    "steps infinite": lambda c: with_counters(c, digits_since_report=float("inf")),
    "more outliers than pictures": lambda c: with_counters(c, digits_since_report=5, outliers_since_report=6),
    "generators none": lambda c: with_counters(c, generators=None),
    "generators too few": lambda c: with_counters(c, generators=c.learner.counters["generators"][:1]),
    "generators too many": lambda c: with_counters(c, generators=c.learner.counters["generators"] * 2),
    "generators a text": lambda c: with_counters(c, generators="PCG64"),
    "generators numbers": lambda c: with_counters(c, generators=[1, 2]),
    "another generator": lambda c: generators(c, bit_generator="MT19937"),
    "a state of a generator that is none": lambda c: generators(c, state=None),
    "an empty state of a generator": lambda c: generators(c, state={}),
    "a state of a generator beyond 128 bits": lambda c: generators(c, state={"state": 2**130, "inc": 1}),
    "a negative state of a generator": lambda c: generators(c, state={"state": -1, "inc": 1}),
    "a state of a generator in a text": lambda c: generators(c, state={"state": "1", "inc": "1"}),
    "a half number beyond 32 bits": lambda c: generators(c, uinteger=2**70),
    "a flag beyond reason": lambda c: generators(c, has_uint32=10**400),
    "digits that were never learned from": lambda c: with_progress(c, samples=7),
    "more steps than any run has": lambda c: with_progress(c, total_steps=2**52),
    "a best without weights": lambda c: replace(c, best={}),
    "weights without a best": lambda c: with_progress(c, best=None),
    "published weights of another shape": lambda c: with_weights(
        c, "published", **{"linear1.bias": np.zeros(3, np.float32)}
    ),
    "published weights of another name": lambda c: with_weights(c, "published", extra=np.zeros(3, np.float32)),
    "best weights that are no numbers": lambda c: with_weights(
        c, "best", **{"linear1.bias": np.full(6, np.nan, np.float32)}
    ),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_state_that_no_run_of_this_job_can_have_been_in_is_refused(halfway, splits: Splits, kind: str) -> None:
    run, checkpoint = halfway
    with pytest.raises(CheckpointError, match=r"does not belong to this run \(.+\); start it anew") as caught:
        train(run, splits, since=FOREIGN[kind](checkpoint))
    assert "\n" not in str(caught.value)


def test_weights_in_training_that_are_no_numbers_end_the_run_as_they_would_have(halfway, splits: Splits) -> None:
    run, checkpoint = halfway
    broken = with_array(checkpoint, "parameters", np.full(PARAMETERS, np.nan, np.float32))
    end = end_of(list(train(run, splits, since=broken)))
    assert end.outcome == "diverged"
    assert end.learned
    assert all(np.isfinite(weights).all() for weights in end.weights.values())
    published = of_kind(WeightsPublished, told_by(run, splits).events)[-1]
    assert published.weights.keys() == end.weights.keys()
