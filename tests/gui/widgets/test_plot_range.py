"""The vertical stretch of plots: round, never hiding a point, and still while values move a little."""

import math

import pytest

from gui.widgets.plot_range import SMALLEST_LOSS, accuracy_range, loss_range


@pytest.mark.parametrize(
    ("worst", "floor"), [(0.0, 0.0), (49.9, 0.0), (50.0, 50.0), (94.2, 90.0), (97.9, 95.0), (100.0, 98.0)]
)
def test_accuracies_stand_on_the_nearest_round_floor(worst: float, floor: float) -> None:
    low, high = accuracy_range(worst)
    assert low == floor
    assert 100.0 < high <= 103.0


def test_losses_stand_on_zero() -> None:
    assert loss_range(0.2, 2.0, logarithmic=False) == pytest.approx((0.0, 2.1))


@pytest.mark.parametrize(("lowest", "highest"), [(0.01, 2.3), (1e-7, 0.5), (1.0, 1.0), (0.0, 0.0), (0.0, 3.0)])
def test_by_magnitude_all_losses_are_in_sight_and_the_ends_are_quarters_of_a_decade(
    lowest: float, highest: float
) -> None:
    low, high = loss_range(lowest, highest, logarithmic=True)
    assert low < math.log10(max(lowest, SMALLEST_LOSS))
    assert math.log10(max(highest, SMALLEST_LOSS)) < high
    assert (4 * low).is_integer()
    assert (4 * high).is_integer()


def test_a_slightly_lower_loss_moves_no_axis() -> None:
    assert loss_range(0.0100, 2.3, logarithmic=True) == loss_range(0.0097, 2.3, logarithmic=True)
