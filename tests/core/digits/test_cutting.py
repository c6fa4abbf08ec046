"""Digits that touch are cut where they touch, and one that does not is left whole."""

import numpy as np
import pytest

from core.digits.cutting import cut_touching
from core.digits.segmentation import Part


def disc(side=60, hole=0.8):
    y, x = np.indices((side, side)) - (side - 1) / 2
    radius = np.hypot(x, y) / (side / 2)
    return ((radius <= 1) & (radius >= hole)).astype(np.uint8) * 255


def side_by_side(*pieces, overlap=0):
    height = max(piece.shape[0] for piece in pieces)
    width = sum(piece.shape[1] - overlap for piece in pieces) + overlap
    ink, x = np.zeros((height, width), np.uint8), 0
    for piece in pieces:
        there = ink[: piece.shape[0], x : x + piece.shape[1]]
        np.maximum(there, piece, out=there)
        x += piece.shape[1] - overlap
    return Part(100, 50, ink)


def sure(parts):
    return np.ones(len(parts))


@pytest.mark.parametrize("count", [2, 3])
def test_rings_that_touch_are_cut_where_they_touch(count):
    pieces = cut_touching(side_by_side(*[disc()] * count, overlap=1), sure)
    assert len(pieces) == count
    for i, piece in enumerate(pieces):
        # Each ring is 60 wide and begins 59 after the last.
        assert piece.box == pytest.approx((100 + 59 * i, 50, 160 + 59 * i, 110), abs=6)


def test_no_ink_is_lost_or_doubled():
    part = side_by_side(disc(), disc(), overlap=1)
    assert sum(int(piece.ink.sum()) for piece in cut_touching(part, sure)) == int(part.ink.sum())


@pytest.mark.parametrize("wide", [12, 40, 60])
def test_what_is_as_wide_as_a_digit_is_one(wide):
    part = Part(0, 0, np.ascontiguousarray(disc()[:, :wide]))
    assert cut_touching(part, sure) == [part]


def test_a_reader_decides_where_the_widths_leave_it_open():
    part = side_by_side(disc(), disc()[:, :20], overlap=1)

    def surer_of(narrow):
        return lambda parts: np.array([0.99 if (p.ink.shape[1] < 70) == narrow else 0.02 for p in parts])

    assert len(cut_touching(part, surer_of(True))) == 2
    assert cut_touching(part, surer_of(False)) == [part]


def test_flat_and_tiny_parts_are_borne():
    for shape in [(1, 1), (1, 80), (3, 200), (80, 1)]:
        part = Part(0, 0, np.full(shape, 255, np.uint8))
        assert len(cut_touching(part, sure)) >= 1
