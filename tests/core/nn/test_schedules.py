"""Schedules, held against values of the cosine known from school."""

import math
from itertools import pairwise

import pytest

from core.nn.schedules import constant, cosine


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
