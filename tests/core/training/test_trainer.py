"""The loop, held against training written out sample by sample in float64, and against its own promises on events.

Two oracles stand at the top. One is the rule of the system that Inkling grew from, from the text of issue 2; the other
is softmax regression by momentum descent, which quick-mlp comes to without hidden layers and shifts. Both are given a
run's start weights (those of a run that was stopped before its first step) and its order of digits (drawn from the
second of the generators that the seed spawns), and nothing else.
"""

import contextlib
import math
import queue
import threading
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.device import Device, DeviceError, HostArray
from core.digits.dataset import Dataset, DatasetError, DigitSets, Splits, split
from core.nn.initializers import he_normal
from core.training import trainer as trainer_module
from core.training.events import (
    OUTCOMES,
    Evaluated,
    Event,
    StepsCompleted,
    TrainingEnded,
    TrainingStarted,
    Weights,
    WeightsPublished,
)
from core.training.presets import PRESETS, UnknownPresetError, find_preset
from core.training.trainer import TrainingControl, TrainingJob, train

RARELY = 1_000_000


def job(preset: str, *, device: str = "cpu", until_accuracy: float | None = None, **choices: Any) -> TrainingJob:
    """`preset`'s own job but for `choices`."""
    return TrainingJob(preset, replace(find_preset(preset).hyperparameters, **choices), device, until_accuracy)


def of_kind(kind: type, events: Sequence[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def end_of(events: Sequence[Event]) -> TrainingEnded:
    assert isinstance(events[-1], TrainingEnded)
    assert len(of_kind(TrainingEnded, events)) == 1
    assert events[-1].outcome in OUTCOMES
    return events[-1]


def start_weights(job: TrainingJob, splits: Splits) -> dict[str, HostArray]:
    control = TrainingControl()
    control.stop()
    return {name: w.astype(np.float64) for name, w in end_of(list(train(job, splits, control))).weights.items()}


def batches_of(job: TrainingJob, count: int) -> list[HostArray]:
    """The digits of each step of the whole run."""
    chosen = job.hyperparameters
    rng = np.random.default_rng(chosen.seed).spawn(2)[1]
    orders = [rng.permutation(count) for _ in range(chosen.epochs)]
    return [order[i : i + chosen.batch_size] for order in orders for i in range(0, count, chosen.batch_size)]


@pytest.fixture
def splits(few_digits: DigitSets) -> Splits:
    """1,000 training, 200 validation and 300 test digits."""
    return split(few_digits, 200)


class PycudaSeed:
    """D <- 0.9 D + (sum over the batch of error times input), W <- W + (0.01/100) D."""

    def __init__(self, weights: Weights, rate: float) -> None:
        self.w1, self.w2 = weights["linear1.weight"], weights["linear2.weight"]
        self.d1, self.d2 = np.zeros_like(self.w1), np.zeros_like(self.w2)
        self.rate = rate
        self.silent_hidden = self.silent_outputs = 0

    def step(self, data: Dataset, rows: HostArray) -> None:
        sum1, sum2 = np.zeros_like(self.w1), np.zeros_like(self.w2)
        for row in rows:
            x = data.images[row].ravel() / 255
            hidden = np.maximum(self.w1 @ x, 0)
            output = np.maximum(self.w2 @ hidden, 0)
            target = np.zeros(10)
            target[data.labels[row]] = 1
            output_error = target - output
            hidden_error = self.w2.T @ output_error
            hidden_error[hidden <= 0] = 0
            sum1 += np.outer(hidden_error, x)
            sum2 += np.outer(output_error, hidden)
            self.silent_hidden += np.count_nonzero(hidden == 0)
            self.silent_outputs += np.count_nonzero(output == 0)
        self.d1 = 0.9 * self.d1 + sum1
        self.d2 = 0.9 * self.d2 + sum2
        self.w1 = self.w1 + self.rate / 100 * self.d1
        self.w2 = self.w2 + self.rate / 100 * self.d2


class SoftmaxRegression:
    """v <- momentum v + mean gradient, w <- w - rate v; keeps each step's summed loss and right answers."""

    def __init__(self, weights: Weights, momentum: float) -> None:
        self.weight, self.bias = weights["linear1.weight"], weights["linear1.bias"]
        self.v_weight, self.v_bias = np.zeros_like(self.weight), np.zeros_like(self.bias)
        self.momentum = momentum
        self.losses: list[float] = []
        self.right: list[int] = []

    def step(self, data: Dataset, rows: HostArray, rate: float) -> None:
        by_weight, by_bias, loss, right = np.zeros_like(self.weight), np.zeros_like(self.bias), 0.0, 0
        for row in rows:
            x, label = data.images[row].ravel() / 255, int(data.labels[row])
            scores = self.weight @ x + self.bias
            exponentials = np.exp(scores - scores.max())
            p = exponentials / exponentials.sum()
            loss -= math.log(p[label])
            right += int(scores.argmax()) == label
            p[label] -= 1
            by_weight += np.outer(p, x) / len(rows)
            by_bias += p / len(rows)
        self.v_weight = self.momentum * self.v_weight + by_weight
        self.v_bias = self.momentum * self.v_bias + by_bias
        self.weight = self.weight - rate * self.v_weight
        self.bias = self.bias - rate * self.v_bias
        self.losses.append(loss)
        self.right.append(right)


def assert_close(weights: Weights, name: str, wanted: HostArray, relative: float) -> None:
    """Every weight within `relative` of the largest one."""
    assert np.abs(weights[name] - wanted).max() <= relative * np.abs(wanted).max()


@pytest.mark.parametrize(("precision", "relative"), [("float32", 1e-5), ("float64", 1e-12)])
def test_pycuda_seed_learns_by_the_rule_of_the_system_it_repeats(
    device: Device, few_digits: DigitSets, precision: str, relative: float
) -> None:
    splits = split(few_digits, 0, 1000)
    run = job("pycuda-seed", device=device.key, hidden=(32,), epochs=1, precision=precision)
    oracle = PycudaSeed(start_weights(run, splits), rate=0.01)
    for rows in batches_of(run, 1000):
        oracle.step(splits.train, rows)
    weights = end_of(list(train(run, splits))).weights
    assert_close(weights, "linear1.weight", oracle.w1, relative)
    assert_close(weights, "linear2.weight", oracle.w2, relative)


def test_pycuda_seed_keeps_to_its_rule_where_hidden_units_and_outputs_fall_silent(
    device: Device, few_digits: DigitSets
) -> None:
    splits = split(few_digits, 0, 1000)
    run = job("pycuda-seed", device=device.key, hidden=(16,), epochs=1, learning_rate=0.5)
    oracle = PycudaSeed(start_weights(run, splits), rate=0.5)
    for rows in batches_of(run, 1000):
        oracle.step(splits.train, rows)
    assert 500 < oracle.silent_hidden < 15_500
    assert 500 < oracle.silent_outputs < 9_500
    weights = end_of(list(train(run, splits))).weights
    assert_close(weights, "linear1.weight", oracle.w1, 1e-5)
    assert_close(weights, "linear2.weight", oracle.w2, 1e-5)


def test_every_digit_trains_once_an_epoch_the_last_smaller_batch_and_the_falling_rate_included(
    device: Device, splits: Splits
) -> None:
    run = job("quick-mlp", device=device.key, hidden=(), shift_px=0, batch_size=150, epochs=3, learning_rate=0.05)
    assert run.hyperparameters.schedule == "cosine"
    batches = batches_of(run, 1000)
    assert [len(rows) for rows in batches[:7]] == [150] * 6 + [100]
    oracle = SoftmaxRegression(start_weights(run, splits), momentum=0.9)
    for step, rows in enumerate(batches):
        oracle.step(splits.train, rows, 0.05 * (1 + math.cos(math.pi * step / 21)) / 2)
    events = list(train(run, splits))
    end = end_of(events)
    assert (end.steps, end.samples, end.epochs, end.outcome) == (21, 3000, 3, "completed")
    assert_close(end.weights, "linear1.weight", oracle.weight, 1e-5)
    assert_close(end.weights, "linear1.bias", oracle.bias, 1e-5)

    reports = of_kind(StepsCompleted, events)
    assert [report.step for report in reports] == [6, 7, 12, 14, 18, 21]
    begun = 0
    for report in reports:
        digits = sum(len(rows) for rows in batches[begun : report.step])
        assert report.samples == sum(len(rows) for rows in batches[: report.step])
        assert report.epoch == pytest.approx(report.samples / 1000)
        assert report.loss == pytest.approx(sum(oracle.losses[begun : report.step]) / digits, rel=1e-5)
        assert report.accuracy == pytest.approx(sum(oracle.right[begun : report.step]) / digits, abs=1.01 / digits)
        begun = report.step
    assert end.train_loss == reports[-1].loss


def test_the_constant_schedule_and_no_momentum_are_obeyed(splits: Splits) -> None:
    run = job("quick-mlp", hidden=(), shift_px=0, epochs=2, learning_rate=0.05, schedule="constant", momentum=0.0)
    oracle = SoftmaxRegression(start_weights(run, splits), momentum=0.0)
    for rows in batches_of(run, 1000):
        oracle.step(splits.train, rows, 0.05)
    assert_close(end_of(list(train(run, splits))).weights, "linear1.weight", oracle.weight, 1e-5)


def test_adam_is_used_where_it_is_chosen(splits: Splits) -> None:
    run = job("quick-mlp", hidden=(), shift_px=0, epochs=1, batch_size=1000, optimizer="adam", learning_rate=0.25)
    start, end = start_weights(run, splits), end_of(list(train(run, splits))).weights
    inked = (splits.train.images > 0).mean(axis=0).ravel() > 0.1
    moved = np.abs(end["linear1.weight"] - start["linear1.weight"])[:, inked]
    # Adam's first step has the learning rate's size wherever the gradient is larger than its epsilon.
    np.testing.assert_allclose(moved, 0.25, rtol=0.02)


def test_start_weights_are_the_preset_s_drawn_from_the_first_generator_the_seed_spawns(splits: Splits) -> None:
    run = job("quick-mlp", hidden=(8,), seed=5)
    rng = np.random.default_rng(5).spawn(2)[0]
    start = start_weights(run, splits)
    for name, shape in (("linear1.weight", (8, 784)), ("linear2.weight", (10, 8))):
        np.testing.assert_array_equal(start[name].astype(np.float32), he_normal(rng, shape).astype(np.float32))


def plain_accuracy_and_loss(preset: str, weights: Weights, data: Dataset) -> tuple[float, float]:
    """A network with one hidden layer, written out in float64."""
    w = {name: values.astype(np.float64) for name, values in weights.items()}
    x = data.images.reshape(len(data), -1) / 255
    scores = np.maximum(x @ w["linear1.weight"].T + w.get("linear1.bias", 0), 0) @ w["linear2.weight"].T
    rows = np.arange(len(data))
    if preset == "quick-mlp":
        scores += w["linear2.bias"]
        losses = np.log(np.exp(scores).sum(axis=1)) - scores[rows, data.labels]
    else:
        scores = np.maximum(scores, 0)
        losses = ((scores - np.eye(10)[data.labels]) ** 2).sum(axis=1) / 2
    return float((scores.argmax(axis=1) == data.labels).mean()), float(losses.mean())


@pytest.mark.parametrize(("preset", "held_out"), [("quick-mlp", 200), ("pycuda-seed", 0)])
def test_what_is_evaluated_is_what_the_published_weights_come_to(
    device: Device, few_digits: DigitSets, preset: str, held_out: int
) -> None:
    splits = split(few_digits, held_out)
    sets = {"validation": splits.validation, "test": splits.test}
    run = job(preset, device=device.key, hidden=(16,), epochs=2, learning_rate=0.05, evaluate_every=300)
    events = list(train(run, splits))
    for published, evaluated in pairwise(events):
        if isinstance(published, WeightsPublished):
            assert isinstance(evaluated, Evaluated)
            assert evaluated.step == published.step
            assert evaluated.split == ("validation" if held_out else "test")
            data = sets[evaluated.split]
            assert data is not None
            accuracy, loss = plain_accuracy_and_loss(preset, published.weights, data)
            assert evaluated.accuracy == pytest.approx(accuracy, abs=1.01 / len(data))
            assert evaluated.loss == pytest.approx(loss, rel=1e-4)
    end = end_of(events)
    assert end.test_accuracy == pytest.approx(plain_accuracy_and_loss(preset, end.weights, splits.test)[0], abs=0.004)
    if splits.validation is None:
        assert end.validation_accuracy is None
    else:
        accuracy, _ = plain_accuracy_and_loss(preset, end.weights, splits.validation)
        assert end.validation_accuracy == pytest.approx(accuracy, abs=0.006)


def story(events: Sequence[Event]) -> list[tuple[str, int]]:
    """Kind (or split) and step of each event but the first and last."""
    return [
        (event.split if isinstance(event, Evaluated) else type(event).__name__, event.step) for event in events[1:-1]
    ]


def moments(*steps: tuple[int, str]) -> list[tuple[str, int]]:
    """A story: at each step a report, and where splits are named, weights and an evaluation on each."""
    told = []
    for step, splits in steps:
        told.append(("StepsCompleted", step))
        if splits:
            told += [("WeightsPublished", step), *((name, step) for name in splits.split())]
    return told


def test_events_come_in_order_at_the_digits_asked_for(splits: Splits) -> None:
    run = job("quick-mlp", hidden=(16,), epochs=2, evaluate_every=400)
    events = list(train(run, splits))
    assert events[0] == TrainingStarted("cpu", Device().name, 784 * 16 + 16 + 160 + 10, 1000, 10, 20)
    v = "validation"
    assert story(events) == moments((4, v), (8, v), (10, v), (12, v), (16, v), (20, v))
    end = end_of(events)
    assert (end.outcome, end.epochs, end.steps, end.samples) == ("completed", 2, 20, 2000)


def test_reports_come_every_thousand_digits_and_evaluations_at_least_once_an_epoch(few_digits: DigitSets) -> None:
    splits = split(few_digits, 0, 1200)
    run = job("pycuda-seed", hidden=(4,), batch_size=50, epochs=2, evaluate_every=RARELY)
    assert story(list(train(run, splits))) == moments((20, ""), (24, "test"), (40, ""), (48, "test"))
    large = job("pycuda-seed", hidden=(4,), batch_size=500, epochs=1, evaluate_every=RARELY)
    assert story(list(train(large, splits))) == moments((2, ""), (3, "test"))
    whole = job("pycuda-seed", hidden=(4,), batch_size=1200, epochs=2, evaluate_every=100)
    assert story(list(train(whole, splits))) == moments((1, "test"), (2, "test"))


def test_with_a_target_the_test_set_is_measured_beside_the_validation_set(splits: Splits) -> None:
    run = job("quick-mlp", hidden=(4,), epochs=1, evaluate_every=500, until_accuracy=1.0)
    assert story(list(train(run, splits))) == moments((5, "validation test"), (10, "validation test"))


def without_seconds(value: Any) -> Any:
    """An event as plain values that can be compared bit by bit, but for the time it took."""
    if is_dataclass(value):
        timed = ("train_seconds", "seconds_to_target")
        return [
            type(value).__name__,
            *(without_seconds(getattr(value, f.name)) for f in fields(value) if f.name not in timed),
        ]
    if isinstance(value, dict):
        return {name: (w.dtype.str, w.shape, w.tobytes()) for name, w in value.items()}
    return value


@pytest.mark.parametrize(
    "choices",
    [{"preset": preset} for preset in PRESETS]
    + [{"preset": "quick-mlp", "shift_px": 2, "augment": 0.5}, {"preset": "quick-mlp", "optimizer": "adam"}],
    ids=str,
)
def test_the_same_seed_tells_the_same_story_to_the_last_bit_and_another_seed_another(
    device: Device, splits: Splits, choices: dict[str, Any]
) -> None:
    def told(seed: int) -> list[Any]:
        run = job(device=device.key, hidden=(16,), epochs=1, evaluate_every=300, seed=seed, **choices)
        return [without_seconds(event) for event in train(run, splits)]

    first = told(1)
    assert told(1) == first
    other = told(2)
    assert other != first
    assert [event[:2] for event in other[1:]] == [event[:2] for event in first[1:]]


@pytest.mark.parametrize("choices", [{"shift_px": 1}, {"augment": 0.5}], ids=str)
def test_training_digits_are_shifted_and_distorted_where_that_is_chosen_and_nothing_else_changes(
    splits: Splits, choices: dict[str, Any]
) -> None:
    plain = {"hidden": (16,), "epochs": 1, "shift_px": 0}
    without, with_it = job("quick-mlp", **plain), job("quick-mlp", **{**plain, **choices})
    first = [of_kind(StepsCompleted, list(train(run, splits)))[0].loss for run in (without, with_it)]
    assert first[0] != first[1]
    assert without_seconds(start_weights(without, splits)) == without_seconds(start_weights(with_it, splits))


@pytest.mark.parametrize("preset", PRESETS)
def test_float64_gives_the_same_curve(splits: Splits, preset: str) -> None:
    curves = {}
    for precision in ("float32", "float64"):
        events = list(train(job(preset, hidden=(16,), epochs=3, precision=precision), splits))
        curves[precision] = [event.loss for event in of_kind(StepsCompleted, events)]
        assert {w.dtype for w in end_of(events).weights.values()} == {np.dtype(precision)}
    assert curves["float32"] == pytest.approx(curves["float64"], rel=1e-4)
    assert curves["float32"] != curves["float64"]


def test_neither_validation_nor_test_digits_have_any_part_in_what_is_learned(splits: Splits) -> None:
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


def test_published_weights_are_read_only_copies_that_training_leaves_alone(device: Device, splits: Splits) -> None:
    run = job("quick-mlp", device=device.key, hidden=(16,), epochs=1, evaluate_every=300)
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


def test_between_events_numpy_warns_the_consumer_as_it_always_does(splits: Splits) -> None:
    before = np.geterr()
    for _ in train(job("quick-mlp", hidden=(4,), epochs=1), splits):
        assert np.geterr() == before


@pytest.mark.parametrize("preset", ["quick-mlp", "pycuda-seed"])
def test_a_training_step_allocates_nothing(mnist: DigitSets, preset: str) -> None:
    run = job(preset, hidden=(16,), batch_size=5000, epochs=1, validation_digits=0, evaluate_every=RARELY)
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


def test_training_seconds_are_those_of_steps_and_their_reports_alone(
    splits: Splits, monkeypatch: pytest.MonkeyPatch
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


class StopsItself(TrainingControl):
    """A control that is told to stop at the very moment it is asked for the nth time."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self._left = n

    def should_stop(self) -> bool:
        self._left -= 1
        if self._left == 0:
            self.stop()
        return super().should_stop()


@pytest.mark.parametrize("steps", [0, 1, 7, 10, 13])
def test_stop_ends_the_run_after_the_step_it_is_in_and_keeps_what_was_learned(splits: Splits, steps: int) -> None:
    run = job("quick-mlp", hidden=(), shift_px=0, epochs=2, evaluate_every=RARELY, schedule="constant")
    oracle = SoftmaxRegression(start_weights(run, splits), momentum=0.9)
    for rows in batches_of(run, 1000)[:steps]:
        oracle.step(splits.train, rows, 0.1)
    # The validation set after the first epoch takes one more question.
    events = list(train(run, splits, StopsItself(steps + 1 + (steps > 10))))
    end = end_of(events)
    assert (end.outcome, end.steps, end.samples, end.epochs) == ("stopped", steps, 100 * steps, steps // 10)
    assert_close(end.weights, "linear1.weight", oracle.weight, 1e-5)
    assert end.test_accuracy is not None
    assert end.validation_accuracy is not None
    assert (end.train_loss is None) == (steps < 10)
    assert end.seconds_to_target is None


def test_stop_between_two_events_is_obeyed_before_the_next_step(splits: Splits) -> None:
    control = TrainingControl()
    events = []
    for event in train(job("quick-mlp", hidden=(4,), epochs=50, evaluate_every=RARELY), splits, control):
        events.append(event)
        if isinstance(event, StepsCompleted) and event.step == 30:
            control.stop()
    assert end_of(events).steps == 30
    assert end_of(events).outcome == "stopped"


def test_stop_during_an_evaluation_breaks_it_off(splits: Splits) -> None:
    control = TrainingControl()
    events = []
    for event in train(job("quick-mlp", hidden=(4,), epochs=50, evaluate_every=500), splits, control):
        events.append(event)
        if isinstance(event, StepsCompleted):
            control.stop()
    assert story(events) == [("StepsCompleted", 5), ("WeightsPublished", 5)]
    assert end_of(events).outcome == "stopped"
    assert end_of(events).steps == 5


class BackgroundRun:
    """A run in a thread of its own that stays at most two events ahead of who takes them."""

    def __init__(self, run: TrainingJob, splits: Splits, control: TrainingControl) -> None:
        self.control = control
        self._events: queue.Queue[Event] = queue.Queue(maxsize=1)
        self._thread = threading.Thread(target=self._work, args=(run, splits))
        self._thread.start()

    def _work(self, run: TrainingJob, splits: Splits) -> None:
        for event in train(run, splits, self.control):
            self._events.put(event)

    def next(self) -> Event:
        return self._events.get(timeout=30)

    def next_step(self) -> int:
        while not isinstance(event := self.next(), StepsCompleted):
            assert not isinstance(event, TrainingEnded)
        return event.step

    def is_held(self) -> bool:
        """Whether the events stop coming; takes those that were on their way."""
        for _ in range(6):
            try:
                self._events.get(timeout=0.3)
            except queue.Empty:
                return True
        return False

    def finish(self) -> TrainingEnded:
        """Stop the run and take its last event."""
        self.control.stop()
        while not isinstance(event := self.next(), TrainingEnded):
            pass
        self._thread.join(timeout=30)
        return event

    def abandon(self) -> None:
        """Bring the thread to its end whatever became of the test."""
        while self._thread.is_alive():
            self.control.stop()
            self.control.resume()
            with contextlib.suppress(queue.Empty):
                self._events.get(timeout=0.1)


@pytest.fixture
def begin(splits: Splits) -> Iterator[Callable[[TrainingControl], BackgroundRun]]:
    """Begins a run that would go on for 10,000 steps, each of which is reported."""
    begun = []

    def begin(control: TrainingControl) -> BackgroundRun:
        run = job("quick-mlp", hidden=(4,), batch_size=1000, epochs=10_000, evaluate_every=RARELY)
        begun.append(BackgroundRun(run, splits, control))
        return begun[-1]

    yield begin
    for run in begun:
        run.abandon()


def test_a_run_in_another_thread_is_held_goes_on_and_stops_as_told(begin) -> None:
    run = begin(TrainingControl())
    run.next_step()
    run.control.pause()
    assert run.is_held()
    run.control.resume()
    first = run.next_step()
    assert run.next_step() == first + 1
    run.control.pause()
    assert run.is_held()
    run.control.resume()
    seen = run.next_step()
    end = run.finish()
    assert end.outcome == "stopped"
    assert seen <= end.steps <= seen + 4


def test_stop_ends_a_run_that_is_held(begin) -> None:
    run = begin(TrainingControl())
    run.next_step()
    run.control.pause()
    assert run.is_held()
    assert run.finish().outcome == "stopped"


def test_a_run_that_was_held_before_it_began_announces_itself_and_takes_no_step(begin) -> None:
    control = TrainingControl()
    control.pause()
    run = begin(control)
    assert isinstance(run.next(), TrainingStarted)
    assert run.is_held()
    end = run.finish()
    assert (end.outcome, end.steps) == ("stopped", 0)


def test_a_run_told_to_stop_is_not_held_by_a_pause_that_comes_too_late() -> None:
    control, answers = TrainingControl(), []
    control.stop()
    control.pause()
    thread = threading.Thread(target=lambda: answers.append(control.should_stop()))
    thread.start()
    thread.join(timeout=2)
    held = thread.is_alive()
    control.resume()
    thread.join()
    assert not held
    assert answers == [True]


def test_resume_and_stop_may_be_said_more_than_once() -> None:
    control = TrainingControl()
    assert not control.should_stop()
    control.resume()
    control.pause()
    control.pause()
    control.resume()
    assert not control.should_stop()
    control.stop()
    control.stop()
    assert control.should_stop()


EXPLODES: dict[str, Any] = {"hidden": (64, 64, 64), "learning_rate": 100.0, "shift_px": 0, "epochs": 3}


def test_a_run_that_diverges_says_so_and_keeps_the_last_weights_that_were_published(
    device: Device, splits: Splits
) -> None:
    events = list(train(job("quick-mlp", device=device.key, evaluate_every=300, **EXPLODES), splits))
    assert story(events) == moments((3, "validation"))
    end = end_of(events)
    assert (end.outcome, end.steps, end.samples, end.epochs) == ("diverged", 6, 600, 0)
    published, evaluated = events[2], events[3]
    assert isinstance(published, WeightsPublished)
    assert isinstance(evaluated, Evaluated)
    assert without_seconds(dict(end.weights)) == without_seconds(dict(published.weights))
    assert all(np.isfinite(w).all() for w in end.weights.values())
    assert end.validation_accuracy == evaluated.accuracy
    assert end.test_accuracy is not None
    assert end.train_loss == of_kind(StepsCompleted, events)[-1].loss


def test_no_event_carries_a_loss_or_an_accuracy_of_weights_that_are_finite_and_too_large_to_compute_with(
    splits: Splits,
) -> None:
    events = list(train(job("quick-mlp", evaluate_every=100, **{**EXPLODES, "hidden": (32,) * 8}), splits))
    assert end_of(events).outcome == "diverged"
    assert [event for event in of_kind(Evaluated, events) if not math.isfinite(event.loss)] == []
    last = of_kind(WeightsPublished, events)[-1].weights
    assert without_seconds(dict(end_of(events).weights)) == without_seconds(dict(last))


def test_a_run_that_diverges_before_anything_was_published_keeps_its_start(splits: Splits) -> None:
    run = job("quick-mlp", evaluate_every=RARELY, **EXPLODES)
    events = list(train(run, splits))
    end = end_of(events)
    assert (end.outcome, end.train_loss) == ("diverged", None)
    for name, start in start_weights(run, splits).items():
        np.testing.assert_array_equal(end.weights[name], start.astype(np.float32))


def test_a_run_stopped_after_it_diverged_and_before_that_was_noticed_keeps_finite_weights_too(splits: Splits) -> None:
    run = job("quick-mlp", evaluate_every=RARELY, **EXPLODES)
    end = end_of(list(train(run, splits, StopsItself(9))))
    assert end.steps == 8
    assert all(np.isfinite(w).all() for w in end.weights.values())


def test_the_run_ends_once_the_test_accuracy_reaches_the_target(splits: Splits) -> None:
    run = job("quick-mlp", hidden=(16,), epochs=20, evaluate_every=100, until_accuracy=0.7)
    events = list(train(run, splits))
    end, last = end_of(events), events[-2]
    assert isinstance(last, Evaluated)
    assert (end.outcome, last.split) == ("target", "test")
    assert last.accuracy >= 0.7
    assert end.test_accuracy == last.accuracy
    assert end.seconds_to_target == last.train_seconds
    assert end.steps == last.step < 200
    earlier = [event.accuracy for event in of_kind(Evaluated, events)[:-1] if event.split == "test"]
    assert earlier
    assert max(earlier) < 0.7


def test_a_target_out_of_reach_changes_nothing(splits: Splits) -> None:
    end = end_of(list(train(job("quick-mlp", hidden=(4,), epochs=1, until_accuracy=1.0), splits)))
    assert (end.outcome, end.steps, end.seconds_to_target) == ("completed", 10, None)


def test_an_epoch_that_was_finished_counts_even_if_its_end_reached_the_target(splits: Splits) -> None:
    end = end_of(list(train(job("quick-mlp", hidden=(16,), epochs=5, until_accuracy=0.1), splits)))
    assert (end.outcome, end.steps) == ("target", 10)
    assert end.epochs == 1


def test_a_batch_larger_than_the_training_set_is_refused_before_anything_begins(splits: Splits) -> None:
    with pytest.raises(DatasetError, match=r"batch size is 1001 .* only 1000 training digits; choose a smaller batch"):
        train(job("quick-mlp", batch_size=1001), splits)
    assert end_of(list(train(job("quick-mlp", hidden=(4,), batch_size=1000, epochs=1), splits))).steps == 1


def test_a_preset_or_device_that_does_not_exist_is_refused_before_anything_begins(splits: Splits) -> None:
    chosen = find_preset("quick-mlp").hyperparameters
    with pytest.raises(UnknownPresetError, match="there is no preset 'alexnet'"):
        train(TrainingJob("alexnet", chosen, "cpu"), splits)
    with pytest.raises(DeviceError, match="there is no device 'abacus'"):
        train(TrainingJob("quick-mlp", chosen, "abacus"), splits)


def test_one_training_digit_is_enough(few_digits: DigitSets) -> None:
    end = end_of(list(train(job("quick-mlp", hidden=(4,), batch_size=1, epochs=3), split(few_digits, 200, 1))))
    assert (end.outcome, end.steps, end.samples) == ("completed", 3, 3)


@pytest.mark.parametrize(("preset", "accuracy"), [("quick-mlp", 0.9), ("pycuda-seed", 0.75)])
def test_20_000_real_digits_teach_a_small_network_to_read_digits_it_has_not_seen(
    device: Device, mnist: DigitSets, preset: str, accuracy: float
) -> None:
    run = job(preset, device=device.key, hidden=(32,), epochs=1, evaluate_every=RARELY)
    end = end_of(list(train(run, split(mnist, 5000, 20_000))))
    assert end.test_accuracy is not None
    assert end.test_accuracy >= accuracy
