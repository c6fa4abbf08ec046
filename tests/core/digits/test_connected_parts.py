"""Which ink belongs together: parts of one digit, and neighbours."""

import tracemalloc

import numpy as np

from core.digits.connected_parts import split_picture

ROWS, COLUMNS = np.indices((120, 240))


def bar(top, left, bottom, right):
    return ((top <= ROWS) & (bottom > ROWS) & (left <= COLUMNS) & (right > COLUMNS)) * np.uint8(255)


def ring(top, left, bottom, right):
    y, x = (
        (ROWS - (top + bottom - 1) / 2) / ((bottom - top) / 2),
        (COLUMNS - (left + right - 1) / 2) / ((right - left) / 2),
    )
    radius = np.hypot(x, y)
    return ((radius <= 1) & (radius >= 0.7)) * np.uint8(255)


def boxes(*shapes):
    """The boxes found, without the pixel of soft edge around each."""
    parts = split_picture(np.max(shapes, axis=0))
    return [(left + 1, top + 1, right - 1, bottom - 1) for left, top, right, bottom in (part.box for part in parts)]


def test_a_blank_picture_has_no_parts():
    assert split_picture(np.zeros((30, 40), np.uint8)) == []


def test_parts_side_by_side_come_from_left_to_right():
    assert boxes(bar(20, 150, 100, 160), ring(30, 40, 100, 90)) == [(40, 30, 90, 100), (150, 20, 160, 100)]


def test_a_bar_apart_belongs_to_the_five_below_it():
    body = np.maximum(bar(30, 40, 38, 80), np.maximum(bar(30, 40, 60, 48), ring(50, 30, 100, 80)))
    assert boxes(body, bar(15, 45, 23, 95), ring(20, 130, 100, 190)) == [(30, 15, 95, 100), (130, 20, 190, 100)]


def test_a_dot_in_a_ring_and_a_slash_through_it_are_of_the_digit():
    assert boxes(ring(20, 40, 100, 100), bar(55, 65, 65, 75)) == [(40, 20, 100, 100)]
    slash = (abs(COLUMNS + ROWS - 130) < 6) & (ROWS >= 10) & (ROWS < 110)
    assert len(boxes(ring(20, 40, 100, 100), slash * np.uint8(255))) == 1


def test_a_part_shows_nothing_of_its_neighbours():
    # The bar of a five hangs over the one beside it; their boxes overlap.
    five, one = np.maximum(bar(20, 30, 30, 100), bar(20, 30, 100, 40)), bar(40, 92, 105, 102)
    parts = split_picture(np.maximum(five, one))
    assert sorted(int(part.ink.sum()) for part in parts) == sorted([int(five.sum()), int(one.sum())])


def test_specks_and_hairlines_are_dirt():
    frame = np.maximum.reduce([bar(2, 2, 3, 238), bar(117, 2, 118, 238), bar(2, 2, 118, 3), bar(2, 237, 118, 238)])
    assert boxes(ring(20, 40, 100, 100), bar(110, 200, 113, 203), frame) == [(40, 20, 100, 100)]


def test_rows_follow_one_another():
    first, second = (
        [bar(5, left, 50, left + 10) for left in (20, 80)],
        [bar(70, left, 115, left + 10) for left in (10, 60)],
    )
    assert [box[0] for box in boxes(*second, *first)] == [20, 80, 10, 60]


def test_ten_thousand_parts_are_one_and_take_no_memory():
    rows, columns = np.indices((800, 800))
    dots = ((rows % 8 < 4) & (columns % 8 < 4)) * np.uint8(255)
    tracemalloc.start()
    try:
        assert len(split_picture(dots)) == 1
        # A number for each pair of them would be 800 MB.
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
