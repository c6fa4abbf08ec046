"""Strokes as they are painted: smooth, whole, and never away from the points."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.digits.ink import Ink, Stroke
from gui.widgets.ink_path import ink_path, ink_pen, stroke_path

places = st.tuples(st.floats(0, 1), st.floats(0, 1))


@given(st.lists(places, min_size=1, max_size=8))
def test_a_path_is_one_piece_from_the_first_point_to_the_last(points: list[tuple[float, float]]) -> None:
    path = stroke_path(points)
    start, end = path.elementAt(0), path.currentPosition()
    assert (start.x, start.y) == pytest.approx(points[0])
    assert (end.x(), end.y()) == pytest.approx(points[-1], abs=2e-4)
    assert sum(path.elementAt(place).isMoveTo() for place in range(path.elementCount())) == 1
    box = path.boundingRect()
    assert box.left() >= min(x for x, _ in points) - 1e-9
    assert box.bottom() <= max(y for _, y in points) + 1e-9


def test_a_path_passes_through_the_middles_without_a_kink() -> None:
    points = [(0.0, 0.0), (0.2, 0.8), (0.6, 0.2), (1.0, 1.0)]
    path = stroke_path(points)
    along = [path.pointAtPercent(share / 2000) for share in range(2001)]
    for middle in ((0.4, 0.5), (0.8, 0.6)):
        assert min(math.dist((p.x(), p.y()), middle) for p in along) < 2e-3
    # Between the ends, which are straight, the direction turns little by little.
    angles = [path.angleAtPercent(share / 400) for share in range(4, 396)]
    turns = [abs((later - earlier + 180) % 360 - 180) for earlier, later in pairwise(angles)]
    assert max(turns) < 15


def test_ink_is_all_its_strokes_and_a_dot_can_be_seen() -> None:
    strokes = (Stroke(np.array([[0.1, 0.1], [0.4, 0.1]])), Stroke(np.array([[0.9, 0.7]])))
    path = ink_path(Ink(strokes))
    assert path.boundingRect().right() == pytest.approx(0.9, abs=2e-4)
    assert path.boundingRect().left() == pytest.approx(0.1)
    assert sum(path.elementAt(place).isMoveTo() for place in range(path.elementCount())) == 2
    assert ink_path(Ink()).isEmpty()
    assert path.length() > 0.3
    assert ink_pen("#102030", 0.5).widthF() == 0.5
