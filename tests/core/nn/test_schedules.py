"""Schedules, held against values of the cosine known from school."""

import math
from itertools import pairwise

import pytest

from core.nn.schedules import SCHEDULES, constant, cosine, faded, one_cycle, step, warmed_up


@pytest.mark.parametrize("done", [0.0, 0.3, 0.999])
def test_constant_keeps_the_rate(done: float) -> None:
    assert constant(done) == 1.0


@pytest.mark.parametrize(
    ("done", "factor"),
    [(0.0, 1.0), (1 / 6, 0.5 + math.sqrt(3) / 4), (0.25, 0.5 + math.sqrt(2) / 4), (0.5, 0.5), (2 / 3, 0.25)],
)
def test_cosine_follows_half_a_wave(done: float, factor: float) -> None:
    assert cosine(done) == pytest.approx(factor, rel=1e-15)


def test_cosine_falls_all_the_way_and_stays_positive_to_the_last_step() -> None:
    factors = [cosine(step / 1000) for step in range(1000)]
    assert all(later < earlier for earlier, later in pairwise(factors))
    assert 0 < factors[-1] < 1e-5


@pytest.mark.parametrize(
    ("done", "factor"), [(0.0, 1.0), (0.499, 1.0), (0.5, 0.1), (0.749, 0.1), (0.75, 0.01), (0.999, 0.01)]
)
def test_step_takes_a_tenth_at_half_of_the_run_and_a_hundredth_at_three_quarters(done: float, factor: float) -> None:
    assert step(done) == factor


@pytest.mark.parametrize(
    ("done", "factor"),
    [
        (0.0, 0.04),
        (0.15, 0.52),  # half way up
        (0.1, 1 - 0.96 * 0.75),  # a third of the way, where the cosine has done a quarter
        (0.3, 1.0),
        (0.65, 0.5),  # half way down
        (0.3 + 0.7 * 2 / 3, 0.25),
    ],
)
def test_one_cycle_rises_for_three_tenths_of_the_run_and_falls_for_the_rest(done: float, factor: float) -> None:
    assert one_cycle(done) == pytest.approx(factor, rel=1e-12)


def test_one_cycle_rises_and_then_falls_without_a_jump_and_ends_near_nothing() -> None:
    factors = [one_cycle(i / 1000) for i in range(1000)]
    assert all(later > earlier for earlier, later in pairwise(factors[:301]))
    assert all(later < earlier for earlier, later in pairwise(factors[300:]))
    assert max(abs(later - earlier) for earlier, later in pairwise(factors)) < 0.01
    assert 0 < factors[-1] < 1e-4


@pytest.mark.parametrize(
    ("done", "warmup", "factor"),
    [(0.0, 0.1, 0.0), (0.025, 0.1, 0.25), (0.1, 0.1, 1.0), (0.9, 0.1, 1.0), (0.0, 0.0, 1.0), (0.5, 1.0, 0.5)],
)
def test_warming_up_rises_evenly_to_the_full_rate_and_stays_there(done: float, warmup: float, factor: float) -> None:
    assert warmed_up(done, warmup) == pytest.approx(factor, rel=1e-12)


@pytest.mark.parametrize(
    ("done", "fade", "factor"),
    [(0.0, 0.2, 1.0), (0.8, 0.2, 1.0), (0.9, 0.2, 0.5), (0.999, 0.2, 0.005), (0.999, 0.0, 1.0), (0.25, 1.0, 0.75)],
)
def test_what_fades_stays_whole_until_its_share_of_the_run_and_goes_evenly(
    done: float, fade: float, factor: float
) -> None:
    assert faded(done, fade) == pytest.approx(factor, rel=1e-9)


def test_schedules_go_by_the_names_people_choose_them_by() -> None:
    assert dict(SCHEDULES) == {"constant": constant, "step": step, "cosine": cosine, "one-cycle": one_cycle}
