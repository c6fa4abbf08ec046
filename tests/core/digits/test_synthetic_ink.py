"""Synthetic ink: forms come out as they were drawn, bending does what its name says, and a reader reads the result."""

from dataclasses import replace

import numpy as np
import pytest

from core.digits.rasterizer import rasterize
from core.digits.stroke_forms import FORMS, Form, Skeleton
from core.digits.stroke_path import SPACING
from core.digits.synthetic_ink import UNBENT, synthetic_pictures, write_digits, write_form
from core.predictor import Predictor
from core.training.model_file import SHIPPED_MODEL, load_model

EACH_DIGIT = np.arange(10, dtype=np.uint8)
each_digit = pytest.mark.parametrize("forms", FORMS, ids=range(10))


def form_of(*strokes, corners=()):
    skeletons = [Skeleton(np.array(points, float), np.isin(range(len(points)), corners)) for points in strokes]
    return Form(1, "a test", 1.0, tuple(skeletons))


def strokes_of(form, count, bending, seed=0):
    """For each digit its strokes, moved back to where the form has them (bending is around the middle of the box)."""
    inks = write_form(form, count, np.random.default_rng(seed), bending)
    return [[stroke.points.astype(float) + 0.5 for stroke in ink.strokes] for ink in inks]


def distance_to_path(point, path):
    starts, steps = path[:-1], np.diff(path, axis=0)
    along = ((point - starts) * steps).sum(axis=1) / np.maximum((steps**2).sum(axis=1), 1e-12)
    nearest = starts + np.clip(along, 0, 1)[:, None] * steps
    return np.hypot(*(nearest - point).T).min()


BAR = form_of([(0.5, 0.0), (0.5, 1.0)])
ANGLE = form_of([(0.2, 0.0), (0.2, 1.0), (0.9, 1.0)], corners=[1])


@each_digit
def test_unbent_ink_passes_through_every_point_of_its_form(forms):
    for form in forms:
        (strokes,) = strokes_of(form, 1, UNBENT)
        assert len(strokes) == len(form.strokes)
        for path, skeleton in zip(strokes, form.strokes, strict=True):
            np.testing.assert_allclose(path[[0, -1]], skeleton.points[[0, -1]], atol=1e-5)
            assert max(distance_to_path(point, path) for point in skeleton.points) < SPACING / 4, form.name
            assert np.hypot(*np.diff(path, axis=0).T).max() < 2 * SPACING, form.name


def test_a_corner_is_sharp_and_lines_between_corners_are_straight():
    ((path,),) = strokes_of(ANGLE, 1, UNBENT)
    lines = np.array([(0.2, 0.0), (0.2, 1.0), (0.9, 1.0)])
    assert max(distance_to_path(point, lines) for point in path) < 1e-6
    assert distance_to_path(np.array([0.2, 1.0]), path) < 1e-6


def test_between_points_without_corners_the_path_is_as_round_as_what_they_were_taken_from():
    turn = np.linspace(0, 2 * np.pi, 9)
    circle = 0.5 + 0.5 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    ((path,),) = strokes_of(form_of(circle), 1, UNBENT)
    radius = np.hypot(*(path - 0.5).T)
    assert radius.min() > 0.48
    assert radius.max() < 0.51


def test_unbent_digits_are_all_alike_and_bent_ones_all_differ():
    form = FORMS[2][0]
    alike = [strokes[0] for strokes in strokes_of(form, 3, UNBENT)]
    assert all(np.array_equal(alike[0], other) for other in alike)
    bent = [ink.strokes[0].points[0].tobytes() for ink in write_form(form, 50, np.random.default_rng(0))]
    assert len(set(bent)) == 50


def test_slant_moves_sideways_in_proportion_to_the_height_and_to_the_right_more_often():
    lean = []
    for (path,) in strokes_of(BAR, 200, replace(UNBENT, slant=0.2)):
        np.testing.assert_allclose(path[:, 1], np.linspace(0, 1, len(path)), atol=1e-6)
        slope = (path[0, 0] - path[-1, 0]) / 1.0
        np.testing.assert_allclose(path[:, 0], 0.5 - slope * (path[:, 1] - 0.5), atol=1e-6)
        lean.append(slope)
    assert np.mean(lean) == pytest.approx(0.08, abs=0.05)
    assert np.std(lean) == pytest.approx(0.18, abs=0.04)
    assert np.abs(lean).max() <= 0.2 * 2.4 + 1e-6


def test_rotation_keeps_lengths_and_no_digit_is_turned_far():
    turns = []
    for (path,) in strokes_of(BAR, 200, replace(UNBENT, rotation=0.1)):
        vector = path[-1] - path[0]
        assert np.hypot(*vector) == pytest.approx(1, abs=1e-5)
        turns.append(np.arctan2(vector[0], vector[1]))
    assert np.std(turns) == pytest.approx(0.09, abs=0.02)
    assert np.abs(turns).max() <= 0.2 + 1e-6


def test_aspect_stretches_sideways_only():
    widths = []
    for (path,) in strokes_of(ANGLE, 100, replace(UNBENT, aspect=0.2)):
        assert np.ptp(path[:, 1]) == pytest.approx(1, abs=1e-5)
        widths.append(np.ptp(path[:, 0]) / 0.7)
    assert min(widths) < 0.85
    assert max(widths) > 1.15
    assert np.abs(np.log(widths)).max() <= 0.4 + 1e-6


def test_overshoot_moves_the_ends_along_the_stroke_both_ways_and_nothing_else():
    lengths = []
    for (path,) in strokes_of(BAR, 100, replace(UNBENT, overshoot=0.05)):
        np.testing.assert_allclose(path[:, 0], 0.5, atol=1e-6)
        np.testing.assert_allclose(path[len(path) // 2], [0.5, 0.5], atol=SPACING)
        lengths.append(path[-1, 1] - path[0, 1])
    assert min(lengths) < 0.97
    assert max(lengths) > 1.03


def test_a_hook_turns_the_ends_aside_and_leaves_the_middle():
    sides = []
    for (path,) in strokes_of(BAR, 100, replace(UNBENT, hook=0.05)):
        middle = (path[:, 1] > 0.25) & (path[:, 1] < 0.75)
        np.testing.assert_allclose(path[middle, 0], 0.5, atol=1e-6)
        sides.append(path[-1, 0] - 0.5)
    assert min(sides) < -0.03
    assert max(sides) > 0.03


def test_a_hurried_hand_rounds_corners_keeps_ends_and_reports_fewer_points():
    paths = [path for (path,) in strokes_of(ANGLE, 100, replace(UNBENT, hurry=1.0))]
    gaps = [distance_to_path(np.array([0.2, 1.0]), path) for path in paths]
    assert min(gaps) < 0.002
    assert max(gaps) > 0.02
    for path in paths:
        np.testing.assert_allclose(path[[0, -1]], [(0.2, 0.0), (0.9, 1.0)], atol=1e-5)
    assert np.corrcoef(gaps, [len(path) for path in paths])[0, 1] < -0.5


def test_displacement_moves_whole_strokes_against_each_other():
    crossing = form_of([(0.0, 0.0), (1.0, 1.0)], [(1.0, 0.0), (0.0, 1.0)])
    moves = []
    for one, other in strokes_of(crossing, 100, replace(UNBENT, displacement=0.05)):
        np.testing.assert_allclose(one[-1] - one[0], [1, 1], atol=1e-5)
        moves.append((one[0] - other[0]) + [1, 0])
    assert np.std(moves, axis=0).min() > 0.03
    # A stroke alone has nothing to be displaced from.
    assert np.ptp([path[0] for (path,) in strokes_of(BAR, 10, replace(UNBENT, displacement=0.05))]) < 0.6


@pytest.mark.parametrize("name", ["jitter", "tremor", "warp"])
def test_irregular_bending_moves_points_a_little(name):
    moved = [np.abs(path[:, 0] - 0.5).max() for (path,) in strokes_of(BAR, 100, replace(UNBENT, **{name: 0.02}))]
    assert 0.005 < np.mean(moved) < 0.1
    assert max(moved) < 0.3


@each_digit
def test_bent_ink_of_every_form_stays_in_bounds_and_makes_a_sane_picture(forms):
    for form in forms:
        inks = list(write_form(form, 20, np.random.default_rng(1)))
        points = np.concatenate([stroke.points for ink in inks for stroke in ink.strokes])
        assert np.abs(points).max() < 1.5, form.name
        shares = [rasterize(ink).mean() / 255 for ink in inks]
        assert min(shares) > 0.03, form.name
        assert max(shares) < 0.3, form.name


def test_digits_come_in_the_order_of_their_labels():
    labels = np.array([7, 0, 0, 3, 7, 9, 1], np.uint8)
    digits = write_digits(labels, np.random.default_rng(0))
    assert [digit.label for digit in digits] == labels.tolist()
    assert len({digit.ink for digit in digits}) == len(labels)


def test_no_labels_give_no_digits():
    nothing = np.zeros(0, np.uint8)
    assert write_digits(nothing, np.random.default_rng(0)) == []
    assert synthetic_pictures(nothing, np.random.default_rng(0)).shape == (0, 28, 28)


def test_forms_are_as_common_as_their_weights_say():
    weights = np.array([form.weight for form in FORMS[7]])
    barred = sum(weight for form, weight in zip(FORMS[7], weights, strict=True) if len(form.strokes) == 2)
    digits = write_digits(np.full(3000, 7, np.uint8), np.random.default_rng(0))
    share = np.mean([len(digit.ink.strokes) == 2 for digit in digits])
    assert share == pytest.approx(barred / weights.sum(), abs=4 * 0.5 / np.sqrt(3000))


def test_pictures_are_what_the_rasterizer_makes_the_same_for_a_seed_and_as_inky_as_mnist():
    labels = np.tile(EACH_DIGIT, 40)
    pictures = synthetic_pictures(labels, np.random.default_rng(5))
    assert pictures.shape == (400, 28, 28)
    assert pictures.dtype == np.uint8
    assert len({picture.tobytes() for picture in pictures}) == 400
    np.testing.assert_array_equal(pictures, synthetic_pictures(labels, np.random.default_rng(5)))
    assert (pictures != synthetic_pictures(labels, np.random.default_rng(6))).any(axis=(1, 2)).all()
    # MNIST's mean is 0.132; its lightest digit, the 1, has 0.075, its darkest, the 0, 0.172.
    inkiness = pictures.reshape(40, 10, -1).mean(axis=(0, 2)) / 255
    assert inkiness.mean() == pytest.approx(0.135, abs=0.015)
    assert inkiness.argmin() == 1


def test_pens_are_as_different_as_those_of_mnist():
    bars = synthetic_pictures(np.full(300, 1, np.uint8), np.random.default_rng(2))
    ink = np.sort(bars.reshape(300, -1).sum(axis=1))
    assert ink[270] > 1.5 * ink[30]


def test_a_network_that_may_never_have_seen_them_reads_most():
    labels = np.tile(EACH_DIGIT, 80)
    pictures = synthetic_pictures(labels, np.random.default_rng(7))
    right = Predictor.from_model(load_model(SHIPPED_MODEL)).probabilities(pictures).argmax(axis=1) == labels
    assert right.mean() > 0.88
    # What MNIST lacks most is the 1 with an upstroke and the 9 with a curled tail.
    per_digit = right.reshape(80, 10).mean(axis=0)
    assert per_digit[1] > 0.4
    assert np.delete(per_digit, 1).min() > 0.75
