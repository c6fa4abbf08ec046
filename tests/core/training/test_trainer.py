"""The loop learns by the rules it names: held against training written out sample by sample in float64."""

import math
from itertools import pairwise

import numpy as np
import pytest

from core.digits.dataset import Dataset, DigitSets, Splits, split
from core.nn.initializers import he_normal
from core.training.events import (
    Evaluated,
    StepsCompleted,
    Weights,
    WeightsPublished,
)
from core.training.trainer import train
from tests.core.training.runs import (
    RARELY,
    JobMaker,
    PycudaSeed,
    SoftmaxRegression,
    assert_close,
    batches_of,
    end_of,
    of_kind,
    start_weights,
    without_seconds,
)


@pytest.mark.parametrize(("precision", "relative"), [("float32", 1e-5), ("float64", 1e-12)])
def test_pycuda_seed_learns_by_the_rule_of_the_system_it_repeats(
    job: JobMaker, few_digits: DigitSets, precision: str, relative: float
) -> None:
    splits = split(few_digits, 0, 1000)
    run = job("pycuda-seed", hidden=(32,), epochs=1, precision=precision)
    oracle = PycudaSeed(start_weights(run, splits), rate=0.01)
    for rows in batches_of(run, 1000):
        oracle.step(splits.train, rows)
    weights = end_of(list(train(run, splits))).weights
    assert_close(weights, "linear1.weight", oracle.w1, relative)
    assert_close(weights, "linear2.weight", oracle.w2, relative)


def test_pycuda_seed_keeps_to_its_rule_where_hidden_units_and_outputs_fall_silent(
    job: JobMaker, few_digits: DigitSets
) -> None:
    splits = split(few_digits, 0, 1000)
    run = job("pycuda-seed", hidden=(16,), epochs=1, learning_rate=0.5)
    oracle = PycudaSeed(start_weights(run, splits), rate=0.5)
    for rows in batches_of(run, 1000):
        oracle.step(splits.train, rows)
    assert 500 < oracle.silent_hidden < 15_500
    assert 500 < oracle.silent_outputs < 9_500
    weights = end_of(list(train(run, splits))).weights
    assert_close(weights, "linear1.weight", oracle.w1, 1e-5)
    assert_close(weights, "linear2.weight", oracle.w2, 1e-5)


def test_every_digit_trains_once_an_epoch_the_last_smaller_batch_and_the_falling_rate_included(
    job: JobMaker, splits: Splits
) -> None:
    run = job("quick-mlp", hidden=(), shift_px=0, batch_size=150, epochs=3, learning_rate=0.05, evaluate_every=450)
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
    assert [report.step for report in reports] == [3, 7, 10, 14, 21]
    begun = 0
    for report in reports:
        digits = sum(len(rows) for rows in batches[begun : report.step])
        assert report.samples == sum(len(rows) for rows in batches[: report.step])
        assert report.epoch == pytest.approx(report.samples / 1000)
        assert report.loss == pytest.approx(sum(oracle.losses[begun : report.step]) / digits, rel=1e-5)
        assert report.accuracy == pytest.approx(sum(oracle.right[begun : report.step]) / digits, abs=1.01 / digits)
        begun = report.step
    assert end.train_loss == reports[-1].loss


def test_the_constant_schedule_and_no_momentum_are_obeyed(job: JobMaker, splits: Splits) -> None:
    run = job("quick-mlp", hidden=(), shift_px=0, epochs=2, learning_rate=0.05, schedule="constant", momentum=0.0)
    oracle = SoftmaxRegression(start_weights(run, splits), momentum=0.0)
    for rows in batches_of(run, 1000):
        oracle.step(splits.train, rows, 0.05)
    assert_close(end_of(list(train(run, splits))).weights, "linear1.weight", oracle.weight, 1e-5)


def test_adam_is_used_where_it_is_chosen(job: JobMaker, splits: Splits) -> None:
    run = job("quick-mlp", hidden=(), shift_px=0, epochs=1, batch_size=1000, optimizer="adam", learning_rate=0.25)
    start, end = start_weights(run, splits), end_of(list(train(run, splits))).weights
    inked = (splits.train.images > 0).mean(axis=0).ravel() > 0.1
    moved = np.abs(end["linear1.weight"] - start["linear1.weight"])[:, inked]
    # Adam's first step has the learning rate's size wherever the gradient is larger than its epsilon.
    np.testing.assert_allclose(moved, 0.25, rtol=0.02)


def test_start_weights_are_the_preset_s_drawn_from_the_first_generator_the_seed_spawns(
    job: JobMaker, splits: Splits
) -> None:
    run = job("quick-mlp", hidden=(8,), seed=5)
    rng = np.random.default_rng(5).spawn(2)[0]
    start = start_weights(run, splits)
    for name, shape in (("linear1.weight", (8, 784)), ("linear2.weight", (10, 8))):
        np.testing.assert_array_equal(start[name].astype(np.float32), he_normal(rng, shape).astype(np.float32))


@pytest.mark.parametrize(
    ("choices", "settings"),
    [
        ({"label_smoothing": 0.3}, {"smoothing": 0.3}),
        ({"weight_decay": 0.2}, {"weight_decay": 0.2}),
        ({"clip_norm": 0.4}, {"clip_norm": 0.4}),
        ({"clip_norm": 0.4, "weight_decay": 0.2}, {"clip_norm": 0.4, "weight_decay": 0.2}),
    ],
    ids=str,
)
def test_smoothed_targets_weight_decay_and_shortened_gradients_are_those_written_out(
    job: JobMaker, splits: Splits, choices: dict[str, float], settings: dict[str, float]
) -> None:
    plain = {"hidden": (), "shift_px": 0, "epochs": 2, "learning_rate": 0.05, "schedule": "constant"}
    run = job("quick-mlp", **plain, **choices)
    oracle, without = (SoftmaxRegression(start_weights(run, splits), momentum=0.9) for _ in range(2))
    for name, value in settings.items():
        setattr(oracle, name, value)
    for rows in batches_of(run, 1000):
        oracle.step(splits.train, rows, 0.05)
        without.step(splits.train, rows, 0.05)
    events = list(train(run, splits))
    assert_close(end_of(events).weights, "linear1.weight", oracle.weight, 1e-5)
    assert_close(end_of(events).weights, "linear1.bias", oracle.bias, 1e-5)
    assert of_kind(StepsCompleted, events)[0].loss == pytest.approx(sum(oracle.losses[:10]) / 1000, rel=1e-5)
    assert np.abs(oracle.weight - without.weight).max() > 0.01 * np.abs(without.weight).max()


def test_a_warm_up_starts_at_nothing_and_rises_evenly_below_the_schedule(job: JobMaker, splits: Splits) -> None:
    run = job("quick-mlp", hidden=(), shift_px=0, epochs=2, learning_rate=0.05, warmup=0.4, evaluate_every=100)
    assert run.hyperparameters.schedule == "cosine"
    start = start_weights(run, splits)
    oracle = SoftmaxRegression(start, momentum=0.9)
    for step, rows in enumerate(batches_of(run, 1000)):
        oracle.step(splits.train, rows, 0.05 * min(1, step / 8) * (1 + math.cos(math.pi * step / 20)) / 2)
    events = list(train(run, splits))
    assert_close(end_of(events).weights, "linear1.weight", oracle.weight, 1e-5)
    first = of_kind(WeightsPublished, events)[0]
    np.testing.assert_array_equal(first.weights["linear1.weight"], start["linear1.weight"].astype(np.float32))


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_the_running_mean_of_the_weights_is_that_of_a_run_without_one(
    job: JobMaker, splits: Splits, kept: float
) -> None:
    choices = {"hidden": (6,), "epochs": 2, "evaluate_every": 100}
    plain, averaged = job("quick-mlp", **choices), job("quick-mlp", averaging=kept, **choices)
    mean = start_weights(plain, splits)
    events = list(train(averaged, splits))
    published = of_kind(WeightsPublished, events)
    each_step = of_kind(WeightsPublished, list(train(plain, splits)))
    assert len(published) == len(each_step) == 20
    for step, (now, told) in enumerate(zip(each_step, published, strict=True)):
        share = min(kept, (1 + step) / (10 + step))
        for name, weights in now.weights.items():
            mean[name] = share * mean[name] + (1 - share) * weights
            np.testing.assert_allclose(told.weights[name], mean[name], rtol=1e-4, atol=1e-6)
    end = end_of(events)
    assert without_seconds(dict(end.weights)) == without_seconds(dict(published[-1].weights))
    assert without_seconds(dict(end.weights)) != without_seconds(dict(each_step[-1].weights))
    assert splits.validation is not None
    accuracy, _ = plain_accuracy_and_loss("quick-mlp", end.weights, splits.validation)
    assert of_kind(Evaluated, events)[-1].accuracy == pytest.approx(accuracy, abs=0.006)


def test_the_running_mean_keeps_the_latest_running_means_of_batch_normalization(job: JobMaker, splits: Splits) -> None:
    choices = {"network": "linear 6 bn relu, linear 10", "epochs": 1}
    plain, averaged = (
        end_of(list(train(job("quick-mlp", averaging=kept, **choices), splits))).weights for kept in (0.0, 0.9)
    )
    for name in ("bn1.running_mean", "bn1.running_variance"):
        np.testing.assert_array_equal(averaged[name], plain[name])
    assert (averaged["bn1.weight"] != plain["bn1.weight"]).any()


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
    job: JobMaker, few_digits: DigitSets, preset: str, held_out: int
) -> None:
    splits = split(few_digits, held_out)
    sets = {"validation": splits.validation, "test": splits.test}
    run = job(preset, hidden=(16,), epochs=2, learning_rate=0.05, evaluate_every=300)
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


@pytest.mark.parametrize(("preset", "accuracy"), [("quick-mlp", 0.9), ("pycuda-seed", 0.75)])
def test_20_000_real_digits_teach_a_small_network_to_read_digits_it_has_not_seen(
    job: JobMaker, mnist: DigitSets, preset: str, accuracy: float
) -> None:
    run = job(preset, hidden=(32,), epochs=1, evaluate_every=RARELY)
    end = end_of(list(train(run, split(mnist, 5000, 20_000))))
    assert end.test_accuracy is not None
    assert end.test_accuracy >= accuracy
