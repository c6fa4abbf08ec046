"""Inks of our own drawing, in a box of 100 high; x to the right, y down."""

import numpy as np
import pytest

from core.digits.ink import Ink, Stroke
from core.digits.segmentation import MAX_PARTS, reading_order, split_ink


def ring(left, top, right, bottom):
    angle = np.linspace(0, 2 * np.pi, 40)
    return np.stack(
        [(left + right - (right - left) * np.sin(angle)) / 2, (top + bottom - (bottom - top) * np.cos(angle)) / 2], 1
    )


FOUR = [[(40, 0), (5, 60), (70, 62)], [(52, 35), (48, 100)]]
OPEN_FOUR = [[(20, 0), (5, 50), (8, 60), (42, 58)], [(52, 25), (46, 100)]]
FIVE = [[(20, 5), (15, 45), (55, 45), (60, 80), (30, 100), (5, 92)], [(22, 4), (75, 0)]]
BROKEN_FIVE = [[(20, 12), (15, 45), (55, 45), (60, 80), (30, 100), (5, 92)], [(30, 0), (80, -4)]]
SEVEN = [[(0, 0), (60, 0), (25, 100)], [(15, 52), (62, 50)]]
SLASHED = [ring(0, 0, 60, 100), [(70, -5), (-8, 106)]]
DOTTED = [ring(0, 0, 60, 100), [(30, 50)]]
ONE_WITH_FOOT = [[(10, 25), (30, 0), (30, 100)], [(5, 101), (60, 100)]]
EIGHT = [ring(10, 0, 50, 45), ring(0, 44, 60, 100)]
NINE = [ring(0, 0, 45, 50), [(46, 5), (44, 100)]]
ONE = [[(0, 0), (2, 100)]]
THREE = [[(5, 10), (50, 5), (25, 45), (60, 75), (0, 95)]]
DRAWN = {
    "four": FOUR,
    "open four": OPEN_FOUR,
    "five": FIVE,
    "broken five": BROKEN_FIVE,
    "seven": SEVEN,
    "slashed nought": SLASHED,
    "dotted nought": DOTTED,
    "one with a foot": ONE_WITH_FOOT,
    "eight": EIGHT,
    "nine": NINE,
    "one": ONE,
    "three": THREE,
}
DIGITS, NAMES = list(DRAWN.values()), list(DRAWN)


def row_of(digits, gap, scale=1.0, drops=(0,)):
    """Ink of `digits` side by side, their boxes `gap` apart, and which digit each stroke is of."""
    strokes, owners, x = [], [], 0.0
    for i, digit in enumerate(digits):
        points = np.concatenate([np.asarray(stroke, float) for stroke in digit])
        for stroke in digit:
            moved = np.asarray(stroke, float) + np.array([x - points[:, 0].min(), drops[i % len(drops)]])
            strokes.append(moved * scale)
            owners.append(i)
        x += np.ptp(points[:, 0]) + gap
    return Ink(tuple(Stroke(stroke) for stroke in strokes)), owners


def owners_found(ink, owners):
    owner = {id(stroke): of for stroke, of in zip(ink.strokes, owners, strict=True)}
    return [[owner[id(stroke)] for stroke in part.strokes] for part in split_ink(ink)]


def told_apart(owners):
    return [[of for of in owners if of == digit] for digit in range(max(owners) + 1)]


def test_no_ink_is_no_digit():
    assert split_ink(Ink()) == []


@pytest.mark.parametrize("digit", DIGITS, ids=NAMES)
@pytest.mark.parametrize("scale", [0.01, 1, 700])
def test_the_strokes_of_a_digit_stay_together_and_in_order(digit, scale):
    ink, _ = row_of([digit], 0, scale)
    assert split_ink(ink) == [ink]


@pytest.mark.parametrize("right", DIGITS, ids=NAMES)
@pytest.mark.parametrize("left", DIGITS, ids=NAMES)
def test_any_two_digits_side_by_side_are_two(left, right):
    ink, owners = row_of([left, right], 25, drops=(0, 8))
    assert owners_found(ink, owners) == told_apart(owners)


@pytest.mark.parametrize("gap", [-4, 3])
def test_boxes_that_overlap_a_little_or_nearly_touch_are_two(gap):
    for pair in ([THREE, EIGHT], [EIGHT, THREE], [SLASHED, THREE], [SLASHED, EIGHT], [SEVEN, ONE_WITH_FOOT]):
        ink, owners = row_of(pair, gap)
        assert owners_found(ink, owners) == told_apart(owners)


def test_digits_come_from_left_to_right_whatever_was_drawn_first():
    ink, owners = row_of([SEVEN, FOUR, ONE, SLASHED], 30)
    shuffled = [5, 2, 6, 0, 4, 1, 3]
    mixed = Ink(tuple(ink.strokes[i] for i in shuffled))
    found = owners_found(mixed, [owners[i] for i in shuffled])
    assert found == told_apart(owners)
    assert [stroke for part in split_ink(mixed) for stroke in part.strokes] == [
        stroke for digit in range(4) for stroke in mixed.strokes if owners[ink.strokes.index(stroke)] == digit
    ]


def test_a_lone_dot_or_dash_is_left_out():
    ink, _ = row_of([THREE, [[(0, 95)]], EIGHT, [[(0, 50), (30, 50)]]], 40)
    assert [len(part.strokes) for part in split_ink(ink)] == [1, 2]


def test_ink_without_height_is_one_digit_each():
    level = [[(0, 5), (30, 5)]]
    assert [len(part.strokes) for part in split_ink(row_of([level, level], 200)[0])] == [1, 1]
    dots = Ink((Stroke([(3, 3)]), Stroke([(3, 3)])))
    assert sum(len(part.strokes) for part in split_ink(dots)) == 2


def test_a_scribble_of_very_many_strokes_is_one_digit():
    rng = np.random.default_rng(1)
    ink = Ink(tuple(Stroke(rng.normal(size=(5, 2))) for _ in range(MAX_PARTS + 1)))
    assert split_ink(ink) == [ink]


def test_rows_are_read_one_after_the_other():
    # Left, top, right, bottom: two rows, the second of them uneven.
    boxes = np.array([[50, 60, 70, 100], [0, 0, 20, 40], [0, 66, 20, 98], [50, 5, 70, 44], [90, 52, 95, 90]])
    assert reading_order(boxes) == [1, 3, 2, 0, 4]
