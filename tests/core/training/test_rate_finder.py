"""The search for a learning rate, on small real networks and on losses made up to have a known answer."""

import math
from itertools import pairwise

import pytest

from core.digits.dataset import DatasetError, DigitSets, Splits, split
from core.training import rate_finder
from core.training.job import TrainingControl
from core.training.learner import Learner
from core.training.rate_finder import STEPS, RatesTried, RateTried, find_rate, rate_of, suggest
from tests.core.training.runs import job


@pytest.fixture
def splits(few_digits: DigitSets) -> Splits:
    return split(few_digits, 200)


def made_up(*losses: float) -> list[RateTried]:
    return [RateTried(step, rate_of(step), loss) for step, loss in enumerate(losses, start=1)]


def test_rates_rise_by_one_factor_from_1e_5_to_10() -> None:
    rates = [rate_of(step) for step in range(1, STEPS + 1)]
    assert (rates[0], rates[-1]) == (pytest.approx(1e-5), pytest.approx(10))
    factors = [after / before for before, after in pairwise(rates)]
    assert factors == pytest.approx([factors[0]] * (STEPS - 1))


def test_a_network_that_learns_is_given_a_rate_at_which_it_does(splits: Splits) -> None:
    *tried, end = find_rate(job("quick-mlp", hidden=(32,), shift_px=0), splits)
    assert all(isinstance(event, RateTried) for event in tried)
    assert [event.step for event in tried] == list(range(1, len(tried) + 1))
    assert [event.learning_rate for event in tried] == [rate_of(event.step) for event in tried]
    assert all(math.isfinite(event.loss) for event in tried)
    assert isinstance(end, RatesTried)
    assert end.suggested is not None
    assert 0.002 < end.suggested < 0.3
    best = min(tried, key=lambda event: event.loss)
    assert end.suggested < best.learning_rate / 2


def test_one_seed_tries_the_same_each_time(splits: Splits) -> None:
    def once(seed: int) -> list[object]:
        return list(find_rate(job("quick-mlp", hidden=(8,), seed=seed), splits))

    assert once(1) == once(1)
    assert once(1) != once(2)


def test_the_job_s_own_rate_schedule_and_average_play_no_part(splits: Splits) -> None:
    other = {"learning_rate": 5.0, "schedule": "one-cycle", "warmup": 0.4, "averaging": 0.9, "epochs": 1}
    assert list(find_rate(job("quick-mlp", hidden=(8,)), splits)) == list(
        find_rate(job("quick-mlp", hidden=(8,), **other), splits)
    )


def with_losses(monkeypatch: pytest.MonkeyPatch, losses: list[float]) -> None:
    left = iter(losses)
    monkeypatch.setattr(Learner, "read_and_reset", lambda self: (next(left), 0.5))


def test_the_loss_is_smoothed_and_freed_of_its_start(splits: Splits, monkeypatch: pytest.MonkeyPatch) -> None:
    with_losses(monkeypatch, [2.0, 4.0, 3.0, math.nan])
    losses = [event.loss for event in find_rate(job("quick-mlp", hidden=(4,)), splits) if isinstance(event, RateTried)]
    weighted = [2.0, (0.9 * 2 + 4) / 1.9, (0.81 * 2 + 0.9 * 4 + 3) / 2.71]
    assert losses == pytest.approx(weighted)


@pytest.mark.parametrize("last", [math.nan, math.inf])
def test_a_loss_that_is_no_number_ends_it_and_is_not_told(
    splits: Splits, monkeypatch: pytest.MonkeyPatch, last: float
) -> None:
    with_losses(monkeypatch, [2.0, 2.0, last])
    events = list(find_rate(job("quick-mlp", hidden=(4,)), splits))
    assert [type(event) for event in events] == [RateTried, RateTried, RatesTried]


def test_a_loss_of_four_times_the_best_ends_it(splits: Splits, monkeypatch: pytest.MonkeyPatch) -> None:
    with_losses(monkeypatch, [2.0, 2.0, 2.0, 40.0, 2.0])
    *tried, end = find_rate(job("quick-mlp", hidden=(4,)), splits)
    assert len(tried) == 4
    assert end == RatesTried(None)


def test_what_never_explodes_ends_after_all_rates(splits: Splits, monkeypatch: pytest.MonkeyPatch) -> None:
    with_losses(monkeypatch, [2.0] * STEPS)
    assert len(list(find_rate(job("quick-mlp", hidden=(4,)), splits))) == STEPS + 1


@pytest.mark.parametrize("steps", [0, 1, 60])
def test_it_stops_when_told_and_suggests_nothing_then(splits: Splits, steps: int) -> None:
    control = TrainingControl()
    if not steps:
        control.stop()
    events = []
    for event in find_rate(job("quick-mlp", hidden=(4,)), splits, control):
        events.append(event)
        if isinstance(event, RateTried) and event.step == steps:
            control.stop()
    assert len(events) == steps + 1
    assert events[-1] == RatesTried(None)


def test_the_steepest_fall_is_suggested_and_not_the_smallest_loss() -> None:
    # Flat, one steep slope around step 60, a gentle one to the minimum at step 110, and up again.
    losses = [2.0 - 1.2 / (1 + math.exp((60 - step) / 2)) - 0.004 * min(step, 110) for step in range(1, 111)]
    losses += [losses[-1] + 0.1 * step for step in range(1, 20)]
    assert suggest(made_up(*losses)) == pytest.approx(rate_of(60), rel=0.2)


def test_right_before_the_minimum_is_too_late() -> None:
    losses = [2.0] * 60 + [2.0 - 0.01 * step for step in range(20)] + [0.5, 0.4, 0.3] + [0.9] * 20
    suggested = suggest(made_up(*losses))
    assert suggested is not None
    assert suggested <= rate_of(83) / 3


@pytest.mark.parametrize(
    "losses", [[], [2.3], [2.3] * 50, [2.3, 2.2, 2.25, 2.3, 2.28, 9.0], [2.3 + 0.01 * step for step in range(50)]]
)
def test_where_the_loss_never_fell_no_rate_is_suggested(losses: list[float]) -> None:
    assert suggest(made_up(*losses)) is None


def test_where_it_fell_at_once_there_is_nothing_well_before_the_minimum() -> None:
    assert suggest(made_up(2.0, 0.5, 0.5, 3.0)) is None


def test_rates_stay_within_what_may_be_chosen() -> None:
    limits = rate_finder.RANGES["learning_rate"]
    assert limits.minimum <= rate_finder.LOWEST < rate_finder.HIGHEST <= limits.maximum


def test_a_batch_larger_than_the_training_set_is_refused_before_anything_begins(splits: Splits) -> None:
    with pytest.raises(DatasetError, match="smaller batch"):
        find_rate(job("quick-mlp", batch_size=1001), splits)
