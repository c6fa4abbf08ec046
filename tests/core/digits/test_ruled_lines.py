"""Ruled and squared paper: the lines go, the strokes stay."""

import numpy as np
import pytest

from core.digits.ruled_lines import without_rules

HEIGHT, WIDTH = 200, 400
ROWS, COLUMNS = np.indices((HEIGHT, WIDTH))


def bar(top, left, bottom, right):
    return ((top <= ROWS) & (bottom > ROWS) & (left <= COLUMNS) & (right > COLUMNS)).astype(np.float32)


def rule(row, slope=0.0, thickness=3):
    return (abs(ROWS - row - slope * COLUMNS) < thickness / 2).astype(np.float32)


# A seven, a one on its foot, and a plus: bars along the rules and across them.
PEN = np.max([bar(40, 60, 52, 120), bar(40, 108, 150, 120), bar(40, 200, 150, 212), bar(145, 180, 157, 232)], axis=0)


def test_ink_without_rules_is_left_as_it_is():
    assert without_rules(PEN) is PEN


@pytest.mark.parametrize("slope", [0.0, 0.02, -0.03])
@pytest.mark.parametrize("strength", [0.3, 1.0])
def test_rules_go_and_strokes_stay_whole(slope, strength):
    lines = strength * np.max([rule(row, slope) for row in (15, 70, 125, 185)], axis=0)
    cleaned = without_rules(np.maximum(PEN, lines))
    assert (cleaned[PEN > 0] == 1).mean() > 0.99
    assert (cleaned[(PEN == 0) & (lines > 0)] > 0).mean() < 0.05


def test_squares_go_in_both_directions_crossings_too():
    level = [rule(row) for row in range(20, 200, 40)]
    upright = [(abs(COLUMNS - column) < 1.5).astype(np.float32) for column in range(15, 390, 40)]
    lines = 0.4 * np.max(level + upright, axis=0)
    cleaned = without_rules(np.maximum(PEN, lines))
    assert (cleaned[PEN > 0] == 1).mean() > 0.99
    assert (cleaned[(PEN == 0) & (lines > 0)] > 0).mean() < 0.06


@pytest.mark.parametrize(
    "digit",
    [
        np.maximum(bar(0, 0, 30, 400), bar(0, 200, 200, 230)),  # a seven that fills its picture
        np.maximum.reduce([bar(0, 0, 25, 400), bar(175, 0, 200, 400), bar(0, 180, 200, 210)]),  # a Z-like two
        bar(0, 190, 200, 215),  # a one
    ],
)
def test_a_digit_s_own_bars_are_no_rules(digit):
    assert np.array_equal(without_rules(digit), digit)


@pytest.mark.parametrize(
    "ink", [np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 50)), np.ones((50, 1)), np.ones((9, 9))]
)
def test_tiny_and_full_pictures_are_borne(ink):
    assert without_rules(ink.astype(np.float32)).shape == ink.shape
