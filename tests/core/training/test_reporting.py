"""Reports come often enough to watch a run by, and none speaks of so few digits that its accuracy is chance."""

from collections.abc import Iterator

import pytest

from core.training.reporting import REPORT_EVERY_DIGITS, is_report_due

EPOCHS = 2


def reports(digits: int, batch_size: int, evaluate_every: int) -> Iterator[tuple[int, int]]:
    """For each report of a run: how many digits were learned from until then, and how many since the one before."""
    samples = told = 0
    for _ in range(EPOCHS):
        for step, left in enumerate(range(digits - batch_size, -batch_size, -batch_size), start=1):
            before, samples = samples, samples + batch_size + min(left, 0)
            evaluation_due = samples // evaluate_every > before // evaluate_every
            if is_report_due(batch_size, step, samples - told, max(left, 0), evaluation_due):
                yield samples, samples - told
                told = samples


@pytest.mark.parametrize("digits", [3000, 3001, 5499, 10_999])
@pytest.mark.parametrize("batch_size", [7, 64, 96, 100, 128, 333, 500, 501, 700, 1000, 1024, 2900])
def test_no_report_speaks_of_far_fewer_digits_than_another_wherever_the_network_is_measured(
    digits: int, batch_size: int
) -> None:
    window = max(1, REPORT_EVERY_DIGITS // batch_size) * batch_size
    for evaluate_every in (100, 333, 700, 1000, 1001, 2300, 5000, 1_000_000):
        told = list(reports(digits, batch_size, evaluate_every))
        sizes = [size for _, size in told]
        assert window / 2 <= min(sizes)
        assert max(sizes) <= 2 * window
        assert {epoch * digits for epoch in range(1, EPOCHS + 1)} <= {samples for samples, _ in told}


@pytest.mark.parametrize(("batch_size", "evaluate_every"), [(100, 1000), (100, 20_000), (50, 5000), (1000, 7000)])
def test_reports_come_every_thousand_digits_where_all_goes_into_each_other(
    batch_size: int, evaluate_every: int
) -> None:
    told = list(reports(60_000, batch_size, evaluate_every))
    assert told == [(samples, 1000) for samples in range(1000, EPOCHS * 60_000 + 1, 1000)]


@pytest.mark.parametrize("batch_size", [1024, 3000])
def test_larger_batches_are_reported_one_by_one_and_a_small_one_at_the_end_with_the_one_before(batch_size: int) -> None:
    sizes = [size for _, size in reports(4 * batch_size + 10, batch_size, 1_000_000)]
    assert sizes == [batch_size, batch_size, batch_size, batch_size + 10] * EPOCHS


def test_a_report_comes_with_an_evaluation_if_half_a_thousand_digits_have_gathered() -> None:
    told = [samples for samples, _ in reports(10_000, 100, 2500)]
    assert told[:5] == [1000, 2000, 2500, 3000, 4000]
    rarely = [samples for samples, _ in reports(10_000, 100, 2400)]
    assert rarely[:5] == [1000, 2000, 3000, 4000, 4800]


def test_an_epoch_of_fewer_digits_is_reported_as_a_whole() -> None:
    assert list(reports(300, 100, 100)) == [(300, 300), (600, 300)]
