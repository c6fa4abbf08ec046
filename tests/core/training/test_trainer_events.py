"""What a run tells: which events, when, the same for the same seed, and at what cost."""

import tracemalloc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.device import Device
from core.digits.dataset import Dataset, DigitSets, Splits, split
from core.training import learner as learner_module
from core.training import trainer as trainer_module
from core.training.events import (
    Evaluated,
    StepsCompleted,
    TrainingEnded,
    TrainingStarted,
    WeightsPublished,
)
from core.training.trainer import train
from tests.core.training import runs
from tests.core.training.runs import (
    RARELY,
    SMALL_CONV,
    JobMaker,
    end_of,
    moments,
    of_kind,
    start_weights,
    story,
    without_seconds,
)
from tests.doubles.device import DoubleDevice


def test_events_come_in_order_at_the_digits_asked_for(job: JobMaker, device: Device, splits: Splits) -> None:
    run = job("quick-mlp", hidden=(16,), epochs=2, evaluate_every=400)
    events = list(train(run, splits))
    assert events[0] == TrainingStarted(device.key, device.name, 784 * 16 + 16 + 160 + 10, 1000, 10, 20)
    v, both = "validation", "report validation"
    assert story(events) == moments((4, v), (8, v), (10, both), (12, v), (16, v), (20, both))
    end = end_of(events)
    assert (end.outcome, end.epochs, end.steps, end.samples) == ("completed", 2, 20, 2000)


def test_reports_come_every_thousand_digits_and_evaluations_at_least_once_an_epoch(
    job: JobMaker, few_digits: DigitSets
) -> None:
    splits = split(few_digits, 0, 1200)
    run = job("pycuda-seed", hidden=(4,), batch_size=50, epochs=2, evaluate_every=RARELY)
    assert story(list(train(run, splits))) == moments((24, "report test"), (48, "report test"))
    large = job("pycuda-seed", hidden=(4,), batch_size=500, epochs=1, evaluate_every=RARELY)
    assert story(list(train(large, splits))) == moments((3, "report test"))
    whole = job("pycuda-seed", hidden=(4,), batch_size=1200, epochs=2, evaluate_every=100)
    assert story(list(train(whole, splits))) == moments((1, "report test"), (2, "report test"))


def test_with_a_target_the_test_set_is_measured_beside_the_validation_set(job: JobMaker, splits: Splits) -> None:
    run = job("quick-mlp", hidden=(4,), epochs=1, evaluate_every=500, until_accuracy=1.0)
    assert story(list(train(run, splits))) == moments((5, "report validation test"), (10, "report validation test"))


@pytest.mark.parametrize(
    "choices",
    [
        {"preset": "quick-mlp", "hidden": (16,)},
        {"preset": "pycuda-seed", "hidden": (16,)},
        {"preset": "quick-mlp", "hidden": (16,), "shift_px": 2, "augment": 0.5, "averaging": 0.9, "optimizer": "adam"},
        {"preset": "quick-cnn", "network": SMALL_CONV, "shift_px": 2, "augment": 0.5},
    ],
    ids=str,
)
def test_the_same_seed_tells_the_same_story_to_the_last_bit_and_another_seed_another(
    job: JobMaker, splits: Splits, choices: dict[str, Any]
) -> None:
    def told(seed: int) -> list[Any]:
        run = job(epochs=1, **{**choices, "evaluate_every": 300, "seed": seed})
        return [without_seconds(event) for event in train(run, splits)]

    first = told(1)
    assert told(1) == first
    other = told(2)
    assert other != first
    assert [event[:2] for event in other[1:]] == [event[:2] for event in first[1:]]


@pytest.mark.parametrize("choices", [{"shift_px": 1}, {"augment": 0.5}], ids=str)
def test_training_digits_are_shifted_and_distorted_where_that_is_chosen_and_nothing_else_changes(
    job: JobMaker, splits: Splits, choices: dict[str, Any]
) -> None:
    plain = {"hidden": (16,), "epochs": 1, "shift_px": 0}
    without, with_it = job("quick-mlp", **plain), job("quick-mlp", **{**plain, **choices})
    first = [of_kind(StepsCompleted, list(train(run, splits)))[0].loss for run in (without, with_it)]
    assert first[0] != first[1]
    assert without_seconds(start_weights(without, splits)) == without_seconds(start_weights(with_it, splits))


@pytest.mark.parametrize(
    ("preset", "choices"),
    [
        ("quick-mlp", {"hidden": (16,), "epochs": 3}),
        ("pycuda-seed", {"hidden": (16,), "epochs": 3}),
        ("quick-cnn", {"network": SMALL_CONV, "epochs": 1, "learning_rate": 0.0005}),
    ],
)
def test_float64_gives_the_same_curve(job: JobMaker, splits: Splits, preset: str, choices: dict[str, Any]) -> None:
    curves = {}
    for precision in ("float32", "float64"):
        events = list(train(job(preset, precision=precision, **choices), splits))
        curves[precision] = [event.loss for event in of_kind(StepsCompleted, events)]
        assert {w.dtype for w in end_of(events).weights.values()} == {np.dtype(precision)}
    assert curves["float32"] == pytest.approx(curves["float64"], rel=1e-4)
    assert curves["float32"] != curves["float64"]


def test_neither_validation_nor_test_digits_have_any_part_in_what_is_learned(job: JobMaker, splits: Splits) -> None:
    def noise(data: Dataset) -> Dataset:
        rng = np.random.default_rng(9)
        return Dataset(rng.integers(0, 256, data.images.shape, dtype=np.uint8), data.labels[::-1].copy())

    assert splits.validation is not None
    run = job("quick-mlp", hidden=(16,), epochs=2, evaluate_every=300)
    true = end_of(list(train(run, splits)))
    spoilt = end_of(list(train(run, Splits(splits.train, noise(splits.validation), noise(splits.test)))))
    assert without_seconds(dict(spoilt.weights)) == without_seconds(dict(true.weights))
    assert spoilt.train_loss == true.train_loss
    assert spoilt.validation_accuracy != true.validation_accuracy


def test_published_weights_are_read_only_copies_that_training_leaves_alone(job: JobMaker, splits: Splits) -> None:
    run = job("quick-mlp", hidden=(16,), epochs=1, evaluate_every=300)
    kept = []
    for event in train(run, splits):
        if isinstance(event, WeightsPublished | TrainingEnded):
            for w in event.weights.values():
                assert type(w) is np.ndarray
                with pytest.raises(ValueError, match="read-only"):
                    w[...] = 0
            kept.append((event.weights, without_seconds(dict(event.weights))))
    assert len(kept) == 5
    assert all(without_seconds(dict(weights)) == as_published for weights, as_published in kept)
    assert kept[0][1] != kept[1][1]
    assert kept[-2][1] == kept[-1][1]


def test_between_events_numpy_warns_the_consumer_as_it_always_does(job: JobMaker, splits: Splits) -> None:
    before = np.geterr()
    for _ in train(job("quick-mlp", hidden=(4,), epochs=1), splits):
        assert np.geterr() == before


@pytest.mark.parametrize("preset", ["quick-mlp", "pycuda-seed"])
def test_a_training_step_allocates_nothing(mnist: DigitSets, preset: str) -> None:
    run = runs.job(preset, hidden=(16,), batch_size=5000, epochs=1, validation_digits=0, evaluate_every=RARELY)
    reports = (event for event in train(run, split(mnist, 0)) if isinstance(event, StepsCompleted))
    # NumPy converts between dtypes in small buffers of its own; at their smallest they do not hide an array of a batch.
    buffer_size = np.setbufsize(16)
    tracemalloc.start()
    try:
        for _ in range(3):
            next(reports)
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for _ in range(5):
            assert next(reports).step > 3
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        np.setbufsize(buffer_size)
    assert peak - before < 5000  # one byte for each digit of a batch
    assert now - before < 2000


@pytest.mark.parametrize("device", ["double"], indirect=True)
@pytest.mark.parametrize(
    "choices",
    [
        {
            "preset": "quick-mlp",
            "hidden": (16,),
            "augment": 0.5,
            "averaging": 0.9,
            "optimizer": "adam",
            "clip_norm": 1.0,
        },
        {"preset": "quick-cnn", "network": SMALL_CONV},
    ],
    ids=str,
)
def test_where_steps_are_recorded_they_are_only_replayed_and_nothing_is_waited_for_between_reports(
    job: JobMaker, device: DoubleDevice, mnist: DigitSets, choices: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learner_module, "open_device", lambda key, tf32: device)
    run = job(**{"shift_px": 0, "epochs": 1, "evaluate_every": RARELY, "validation_digits": 0, **choices})
    reports = (event for event in train(run, split(mnist, 0, 5000)) if isinstance(event, StepsCompleted))
    stream, first = device.stream, next(reports).step
    made, waits, replays, launches = (
        stream.allocations.total(),
        stream.synchronisations.total(),
        stream.replays,
        stream.launches,
    )
    steps = [next(reports).step for _ in range(3)][-1] - first
    assert steps >= 30
    assert stream.allocations.total() == made
    assert stream.synchronisations.total() == waits + 2 * 3  # a report is the loss and the right answers
    assert stream.replays == replays + steps
    assert stream.launches == launches + 2 * 3  # which then start at 0 again


def test_training_seconds_are_those_of_steps_and_their_reports_alone(
    job: JobMaker, splits: Splits, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter(range(10_000))
    monkeypatch.setattr(trainer_module, "time", SimpleNamespace(perf_counter=lambda: next(now)))
    run = job("quick-mlp", hidden=(4,), epochs=1, evaluate_every=500)
    seconds = []
    for event in train(run, splits):
        next(now)  # the consumer takes its time
        if not isinstance(event, TrainingStarted | WeightsPublished):
            seconds.append(event.train_seconds)
    # A second for each of 5 steps and one for reading the report; the evaluation is free.
    assert seconds == [6, 6, 12, 12, 12]


@pytest.mark.parametrize("device", ["double"], indirect=True)
def test_an_evaluation_without_a_report_begins_when_the_steps_before_it_are_computed_and_their_seconds_counted(
    job: JobMaker, device: DoubleDevice, splits: Splits, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(trainer_module, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(learner_module, "open_device", lambda key, tf32: device)
    monkeypatch.setattr(device, "synchronize", lambda: now.__setitem__(0, now[0] + 5.0))
    run = job("quick-mlp", hidden=(4,), epochs=1, evaluate_every=300)
    evaluated = of_kind(Evaluated, list(train(run, splits)))
    # After steps 3, 6 and 9; the last comes with a report, which waits by itself.
    assert [(event.step, event.train_seconds) for event in evaluated] == [(3, 5.0), (6, 10.0), (9, 15.0), (10, 15.0)]
