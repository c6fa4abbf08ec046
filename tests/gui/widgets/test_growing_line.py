"""A line that grows: what it was told is what the stroke says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.widgets.growing_line import GrowingLine

places = st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32))


@given(st.lists(st.tuples(places, st.integers(-50, 5000), st.floats(0, 1, width=32)), min_size=1, max_size=12))
def test_every_new_place_is_kept_with_its_time_and_pressure(
    points: list[tuple[tuple[float, float], int, float]],
) -> None:
    line = GrowingLine(1000)
    kept: list[tuple[float, float]] = []
    latest = 0
    times: list[int] = []
    pressures: list[float] = []
    for (x, y), after, pressure in points:
        is_new = not kept or kept[-1] != (x, y)
        assert line.add(x, y, 1000 + after, pressure) == is_new
        if is_new:
            latest = max(latest, after)
            kept.append((x, y))
            times.append(latest)
            pressures.append(pressure)
    stroke = line.stroke()
    assert [tuple(point) for point in stroke.points.tolist()] == kept
    assert stroke.times_ms is not None
    assert stroke.times_ms.tolist() == times
    assert stroke.pressures is not None
    assert stroke.pressures.tolist() == pressures


def test_one_unknown_pressure_makes_none_of_them_known() -> None:
    line = GrowingLine(0)
    line.add(0.0, 0.0, 0, 0.5)
    line.add(0.5, 0.0, 1, None)
    assert line.stroke().pressures is None


def test_a_new_point_bends_the_line_no_further_back_than_it_says() -> None:
    line = GrowingLine(0)
    xs = [0.0, 0.2, 0.1, 0.5, 0.6, 0.9]
    for number, x in enumerate(xs):
        line.add(x, number / 10, number, None)
    box = line.last_change(0.05)
    assert (box.left(), box.top()) == pytest.approx((0.05, 0.15))
    assert (box.right(), box.bottom()) == pytest.approx((0.95, 0.55))
