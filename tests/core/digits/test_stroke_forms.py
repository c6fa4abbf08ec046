"""The table of forms: what its texts mean, and that no row of it is a slip of the pen."""

import itertools

import numpy as np
import pytest

from core.digits.stroke_forms import FORMS


def by_name(digit, name):
    (form,) = (form for form in FORMS[digit] if form.name == name)
    return form


def test_a_text_becomes_strokes_of_points_and_corners():
    upstroke, foot = by_name(1, "with an upstroke and a foot").strokes
    np.testing.assert_allclose(upstroke.points, [[0.22, 0.28], [0.53, 0], [0.52, 0.98]])
    assert upstroke.corners.tolist() == [False, True, False]
    np.testing.assert_allclose(foot.points, [[0.16, 0.99], [0.88, 0.98]])
    assert not foot.corners.any()


def test_there_are_many_forms_of_every_digit_each_with_a_name_of_its_own():
    assert len(FORMS) == 10
    for digit, forms in enumerate(FORMS):
        assert len(forms) >= 10
        assert len({form.name for form in forms}) == len(forms)
        assert all(form.digit == digit and form.weight > 0 for form in forms)


@pytest.mark.parametrize(
    ("digit", "names"),
    [
        (0, ["slashed", "dotted", "open at the top"]),
        (1, ["a bar", "with an upstroke", "with an upstroke and a foot"]),
        (2, ["looped", "angular"]),
        (3, ["round", "flat-topped"]),
        (4, ["open, straight", "closed"]),
        (5, ["in two strokes", "in one stroke"]),
        (6, ["curved", "with a straight stem"]),
        (7, ["plain", "barred"]),
        (8, ["from the right", "of two rings"]),
        (9, ["with a straight stem", "curled", "hooked"]),
    ],
)
def test_the_forms_people_use_are_there(digit, names):
    for name in names:
        by_name(digit, name)


@pytest.mark.parametrize("forms", FORMS, ids=range(10))
def test_a_form_fills_its_box_and_its_points_are_apart(forms):
    for form in forms:
        left, top = np.concatenate([stroke.points for stroke in form.strokes]).min(axis=0)
        right, bottom = np.concatenate([stroke.points for stroke in form.strokes]).max(axis=0)
        assert -0.11 <= top <= 0.1, form.name
        assert 0.9 <= bottom <= 1.11, form.name
        assert -0.05 <= left < right <= 1.25 or (left, right) == (0.5, 0.5), form.name
        for stroke in form.strokes:
            assert len(stroke.points) >= 2, form.name
            assert all(np.hypot(*(b - a)) >= 0.05 for a, b in itertools.pairwise(stroke.points)), form.name
            # The pen always turns or stops at the end of a stroke: a mark there would say nothing.
            assert not stroke.corners[[0, -1]].any(), form.name
