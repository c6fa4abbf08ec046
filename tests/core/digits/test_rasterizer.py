"""From strokes to a picture: against a slow oracle of MNIST's recipe, and what must not matter."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.digits import rasterizer
from core.digits.ink import Ink, Stroke
from core.digits.rasterizer import (
    BOX_SIZE,
    EDGE_WIDTH_PX,
    PEN_WIDTH_PX,
    THIN_PEN_WIDTH_PX,
    Recipe,
    centre_of_mass,
    moved,
    rasterize,
    trace,
)

DIGIT_SEVEN = [[(10, 10), (60, 12), (55, 30), (25, 110)], [(20, 60), (55, 58)]]
LETTER_L = [[(0, 0), (0, 100), (60, 100)]]

coordinates = st.integers(0, 400)
drawings = st.lists(st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=12), min_size=1, max_size=3)
few = settings(max_examples=40, deadline=None)


def ink_of(strokes, scale=1.0, shift=(0.0, 0.0)):
    return Ink(tuple(Stroke(np.array(points, dtype=np.float64) * scale + shift) for points in strokes))


def grey_distance(one, other):
    return np.abs(one.astype(int) - other).max()


def distance_to_segment(px, py, ax, ay, bx, by):
    length_squared = (bx - ax) ** 2 + (by - ay) ** 2
    t = 0 if length_squared == 0 else ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length_squared
    t = min(1, max(0, t))
    return math.hypot(px - ax - t * (bx - ax), py - ay - t * (by - ay))


def drawn_pixel_by_pixel(strokes, centre_x, centre_y, pen):
    """The oracle: every pixel asks every line how far away it is, in plain Python."""
    points = [point for stroke in strokes for point in stroke]
    xs, ys = [x for x, _ in points], [y for _, y in points]
    scale = (BOX_SIZE - pen) / max(max(xs) - min(xs), max(ys) - min(ys))
    middle_x, middle_y = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    return drawn_as_placed(strokes, (middle_x, middle_y), scale, (centre_x, centre_y), pen)


def drawn_as_placed(strokes, anchor, scale, place, pen):
    (from_x, from_y), (to_x, to_y) = anchor, place
    placed = [[((x - from_x) * scale + to_x, (y - from_y) * scale + to_y) for x, y in stroke] for stroke in strokes]
    segments = [(*a, *b) for s in placed for a, b in itertools.pairwise(s if len(s) > 1 else s * 2)]
    picture = np.zeros((28, 28))
    for row in range(28):
        for column in range(28):
            distance = min(distance_to_segment(column + 0.5, row + 0.5, *segment) for segment in segments)
            picture[row, column] = min(1, max(0, (pen / 2 - distance) / EDGE_WIDTH_PX + 0.5))
    return picture


@pytest.mark.parametrize("pen", [1.0, PEN_WIDTH_PX, 4.5])
@pytest.mark.parametrize("strokes", [DIGIT_SEVEN, LETTER_L, [[(0, 0), (300, 200)], [(150, 0)]]])
def test_agrees_with_the_oracle(strokes, pen):
    first = drawn_pixel_by_pixel(strokes, 14.5, 14.5, pen)
    rows, columns = np.indices((28, 28))
    off_x = 14 - (first * columns).sum() / first.sum()
    off_y = 14 - (first * rows).sum() / first.sum()
    expected = drawn_pixel_by_pixel(strokes, 14.5 + off_x, 14.5 + off_y, pen) * 255
    assert np.abs(rasterize(ink_of(strokes), pen) - expected).max() <= 1


def test_shape_dtype_and_range():
    picture = rasterize(ink_of(DIGIT_SEVEN))
    assert picture.shape == (28, 28)
    assert picture.dtype == np.uint8
    assert picture.max() == 255
    assert picture[0].max() == picture[-1].max() == 0


def test_no_ink_is_a_black_picture():
    assert not rasterize(Ink()).any()


@few
@given(drawings, st.integers(-20_000, 20_000), st.integers(-20_000, 20_000))
def test_position_does_not_matter(strokes, x, y):
    assume(len({point for stroke in strokes for point in stroke}) > 1)
    assert grey_distance(rasterize(ink_of(strokes)), rasterize(ink_of(strokes, shift=(x, y)))) <= 1


@few
@given(drawings, st.floats(1e-3, 1e3))
def test_size_does_not_matter(strokes, scale):
    assert grey_distance(rasterize(ink_of(strokes)), rasterize(ink_of(strokes, scale=scale))) <= 1


@few
@given(drawings)
def test_direction_and_order_do_not_matter(strokes):
    backwards = [stroke[::-1] for stroke in strokes[::-1]]
    assert grey_distance(rasterize(ink_of(strokes)), rasterize(ink_of(backwards))) <= 1


@few
@given(drawings)
def test_mirrored_ink_is_a_mirrored_picture(strokes):
    picture = rasterize(ink_of(strokes))
    mirrored = rasterize(ink_of([[(-x, y) for x, y in stroke] for stroke in strokes]))
    # Ink so lopsided that its box is held at an edge of the picture is not centred, and so not mirrored either.
    assume(not picture[:, [0, -1]].any() and not mirrored[:, [0, -1]].any())
    # Pixel 14 is the mirror, so column 0 has no partner.
    assert grey_distance(picture[:, 1:], mirrored[:, :0:-1]) <= 1


@few
@given(drawings)
def test_the_box_is_twenty_pixels_and_lies_in_the_picture(strokes):
    assume(len({point for stroke in strokes for point in stroke}) > 1)
    inked = rasterize(ink_of(strokes)) >= 128
    rows, columns = np.flatnonzero(inked.any(axis=1)), np.flatnonzero(inked.any(axis=0))
    assert BOX_SIZE - 1 <= max(np.ptp(rows), np.ptp(columns)) + 1 <= BOX_SIZE + 1


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e6, 1e36])
def test_insane_units_give_the_same_picture(scale):
    assert grey_distance(rasterize(ink_of(DIGIT_SEVEN)), rasterize(ink_of(DIGIT_SEVEN, scale=scale))) <= 1


@pytest.mark.parametrize("strokes", [DIGIT_SEVEN, LETTER_L])
def test_the_centre_of_mass_is_on_the_centre_pixel(strokes):
    picture = rasterize(ink_of(strokes)).astype(float)
    rows, columns = np.indices((28, 28))
    assert (picture * rows).sum() / picture.sum() == pytest.approx(14, abs=0.1)
    assert (picture * columns).sum() / picture.sum() == pytest.approx(14, abs=0.1)


def test_lopsided_ink_is_not_pushed_over_the_edge():
    block = [(x, y) for x in range(0, 61, 10) for y in (0, 400)]
    picture = rasterize(ink_of([block, [(0, 200), (400, 200)]]))
    inked = np.flatnonzero((picture >= 128).any(axis=0))
    # Centred, this ink would end beyond the last column.
    assert picture.sum(axis=0) @ np.arange(28) / picture.sum() < 13.5
    assert inked[-1] == 27
    assert np.ptp(inked) + 1 >= BOX_SIZE - 1


def test_centre_of_mass_counts_pixels_from_their_middles():
    picture = np.zeros((5, 7), np.uint8)
    picture[1, 2], picture[3, 2] = 100, 200
    assert centre_of_mass(picture) == pytest.approx([2, (100 * 1 + 200 * 3) / 300])


def test_a_vertical_line_is_an_upright_one():
    picture = rasterize(ink_of([[(50, 20), (50, 180)]]))
    assert set(np.flatnonzero((picture >= 128).any(axis=0))) <= {13, 14, 15}
    assert np.array_equal(np.flatnonzero(picture[:, 14] >= 128), np.arange(4, 25)[picture[4:25, 14] >= 128])
    assert 19 <= (picture[:, 14] >= 128).sum() <= 21
    # Across the line the ink adds up to the pen's width.
    assert picture[14].sum() / 255 == pytest.approx(PEN_WIDTH_PX, abs=0.1)


@pytest.mark.parametrize("pen", [1.5, 2.4, 3.5])
def test_the_pen_is_as_wide_as_asked(pen):
    picture = rasterize(ink_of([[(0, 0), (10, 0)]]), pen)
    assert picture[:, 14].sum() / 255 == pytest.approx(pen, abs=0.15)


@pytest.mark.parametrize("pen", [0, 0.4, 6.1, -1, math.nan, math.inf])
def test_a_pen_width_out_of_range_is_refused(pen):
    with pytest.raises(ValueError, match="pen_width_px"):
        rasterize(ink_of(DIGIT_SEVEN), pen)


@pytest.mark.parametrize(
    "strokes",
    [
        [[(0, 0)]],
        [[(300, 200)]],
        [[(300, 200)] * 50],
        [[(300, 200)], [(300, 200)]],
        [[(300, 200), (300.0001, 200.0001)]],
        [[(1e30, -1e30)]],
    ],
)
def test_ink_without_extent_is_a_round_dot_of_pen_width(strokes):
    picture = rasterize(ink_of(strokes))
    around_centre = picture[1:, 1:]
    for turned in (around_centre.T, around_centre[::-1], around_centre[:, ::-1]):
        assert np.array_equal(around_centre, turned)
    assert picture[14, 14] == 255
    disc = math.pi * (PEN_WIDTH_PX**2 / 4 + EDGE_WIDTH_PX**2 / 12)
    assert picture.sum() / 255 == pytest.approx(disc, rel=0.05)


def test_a_stroke_of_one_point_beside_others_is_drawn():
    line, dot = [(0, 0), (0, 100)], [(50, 50)]
    alone, both = rasterize(ink_of([line])), rasterize(ink_of([line, dot]))
    assert both.sum() > alone.sum() + 3 * 255
    assert (both >= 250).any(axis=0).sum() > (alone >= 250).any(axis=0).sum()


@pytest.mark.parametrize("points_a_line", [300, 1500, 20_000])
def test_many_points_on_the_same_path_change_little(points_a_line):
    corners = np.array(DIGIT_SEVEN[0], dtype=float)
    dense = np.concatenate([np.linspace(a, b, points_a_line) for a, b in itertools.pairwise(corners)])
    strokes = [dense, DIGIT_SEVEN[1]]
    assert grey_distance(rasterize(ink_of(DIGIT_SEVEN)), rasterize(ink_of(strokes))) <= 4


def test_a_dot_after_a_long_scribble_is_drawn():
    angle = np.linspace(0, 400, 30_000)
    scribble = np.stack([20 * np.cos(angle), 50 * np.sin(angle)], axis=1)
    without, with_dot = rasterize(ink_of([scribble])), rasterize(ink_of([scribble, [(50, 0)]]))
    assert (with_dot >= 128).any(axis=0).sum() > (without >= 128).any(axis=0).sum() + 2


def test_a_crowded_drawing_is_nearly_what_it_would_be_in_full(monkeypatch):
    rng = np.random.default_rng(5)
    crowded = ink_of([rng.normal(0, 3, (5000, 2)).cumsum(axis=0)])
    quick = rasterize(crowded).astype(int)
    monkeypatch.setattr(rasterizer, "CROWDED_PIECES", 10**9)
    full = rasterize(crowded)
    assert np.abs(quick - full).max() <= 48
    assert np.abs(quick - full).mean() <= 2


def test_an_insane_drawing_takes_memory_in_proportion():
    rng = np.random.default_rng(6)
    ink = ink_of([rng.uniform(-1e30, 1e30, (1_000_000, 2))])
    tracemalloc.start()
    try:
        picture = rasterize(ink)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * ink.strokes[0].points.nbytes
    # A million lines across the box leave no paper.
    assert (picture[6:23, 6:23] == 255).all()


def on_the_sheet(strokes):
    return [[(x / 200 + 0.2, y / 200 + 0.3) for x, y in stroke] for stroke in strokes]


RECIPES = [Recipe(*switches) for switches in itertools.product([True, False], repeat=4)]


@pytest.mark.parametrize("strokes", [DIGIT_SEVEN, LETTER_L, [[(40, 60)]], [[(-40, -60), (160, 140)]]])
def test_a_trace_with_all_steps_is_the_picture(strokes):
    ink = ink_of(on_the_sheet(strokes))
    way = trace(ink, Recipe())
    assert np.array_equal(way.picture, rasterize(ink))
    assert np.array_equal(trace(ink, Recipe(), 1.5).picture, rasterize(ink, 1.5))


@pytest.mark.parametrize("recipe", RECIPES)
def test_any_step_can_be_left_out(recipe):
    strokes = on_the_sheet(DIGIT_SEVEN)
    xs, ys = zip(*itertools.chain(*strokes), strict=True)
    pen = PEN_WIDTH_PX if recipe.thicken else THIN_PEN_WIDTH_PX
    middle = ((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2) if recipe.crop else (0.5, 0.5)
    side = max(max(xs) - min(xs), max(ys) - min(ys)) if recipe.crop else 1.0
    scale = (BOX_SIZE - pen) / side if recipe.scale else 28.0
    place = (14.0, 14.0)
    if recipe.centre:
        first = drawn_as_placed(strokes, middle, scale, (14.5, 14.5), pen)
        rows, columns = np.indices((28, 28))
        place = tuple(14.5 + 14 - (first * axis).sum() / first.sum() for axis in (columns, rows))
    expected = drawn_as_placed(strokes, middle, scale, place, pen) * 255
    way = trace(ink_of(strokes), recipe)
    assert np.abs(way.picture - expected).max() <= 1
    # What the trace tells is what was drawn.
    told = drawn_as_placed(strokes, way.anchor, way.px_per_unit, way.place_px, way.pen_width_px) * 255
    assert np.abs(way.picture - told).max() <= 1
    assert way.box == pytest.approx(np.array([[min(xs), min(ys)], [max(xs), max(ys)]]))


@few
@given(
    st.lists(
        st.lists(st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)), min_size=1, max_size=6),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(RECIPES),
)
def test_every_drawing_on_the_sheet_can_be_traced(strokes, recipe):
    way = trace(ink_of(strokes), recipe)
    assert way.picture.shape == (28, 28)
    assert way.picture.dtype == np.uint8
    assert way.picture.any() or not (recipe.crop and recipe.centre)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_sheet_scribbled_full_can_be_traced(recipe):
    rng = np.random.default_rng(3)
    corners = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], float)
    crowded = trace(ink_of([np.concatenate([corners, rng.uniform(0, 1, (3000, 2))])]), recipe)
    assert (crowded.picture[6:22, 6:22] > 0).all()


def test_without_cropping_or_scaling_the_ink_must_be_on_the_sheet():
    for recipe in (Recipe(crop=False), Recipe(scale=False)):
        for point in ((1.1, 0.5), (0.5, -0.1)):
            with pytest.raises(ValueError, match="on the sheet"):
                trace(ink_of([[(0.5, 0.5), point]]), recipe)
    with pytest.raises(ValueError, match="no ink"):
        trace(Ink(), Recipe())


@pytest.mark.parametrize(("right", "down"), [(0, 0), (3, 0), (0, -5), (-28, 2), (14, 28), (28, -28)])
def test_moving_loses_what_leaves_and_brings_in_paper(right, down):
    picture = np.random.default_rng(1).integers(1, 256, (28, 28), dtype=np.uint8)
    expected = np.zeros((28, 28), np.uint8)
    for row, column in itertools.product(range(28), repeat=2):
        if 0 <= row - down < 28 and 0 <= column - right < 28:
            expected[row, column] = picture[row - down, column - right]
    assert np.array_equal(moved(picture, right, down), expected)
