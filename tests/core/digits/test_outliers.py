"""Drawings that are no digit: that they are drawn as digits are, are of many kinds, and are no digit to a peer."""

import numpy as np
import pytest

from core.digits.dataset import OUTLIER, DigitSets
from core.digits.outliers import FORMS, outlier_pictures
from core.digits.stroke_forms import FORMS as DIGIT_FORMS
from core.digits.synthetic_ink import synthetic_pictures


def test_pictures_are_as_a_network_takes_them_and_no_two_are_the_same() -> None:
    pictures = outlier_pictures(300, np.random.default_rng(0))
    assert (pictures.shape, pictures.dtype) == ((300, 28, 28), np.uint8)
    assert (pictures.max(axis=(1, 2)) == 255).all()
    assert len({picture.tobytes() for picture in pictures}) == 300


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_few_or_none_can_be_asked_for(count: int) -> None:
    assert outlier_pictures(count, np.random.default_rng(0)).shape == (count, 28, 28)


def test_a_seed_draws_the_same_and_another_something_else() -> None:
    once, again, other = (outlier_pictures(40, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)


def test_no_form_is_that_of_a_digit() -> None:
    names = [form.name for form in FORMS]
    assert len(set(names)) == len(names) > 60
    assert {form.digit for form in FORMS} == {OUTLIER}
    digits = {stroke.points.tobytes() for forms in DIGIT_FORMS for form in forms for stroke in form.strokes}
    # Of one stroke and the same as a digit's: that would be the digit.
    assert not [form.name for form in FORMS if len(form.strokes) == 1 and form.strokes[0].points.tobytes() in digits]


def test_a_machine_that_has_seen_some_tells_others_from_digits(few_digits: DigitSets) -> None:
    """An independent judge: the nearest neighbour by pixels, digits of MNIST and synthetic ones on the other side."""
    rng = np.random.default_rng(0)
    digits = np.concatenate(
        [few_digits.train.images[:600], synthetic_pictures(rng.integers(0, 10, 600, np.uint8), rng)]
    )
    known = np.concatenate([digits[::2], outlier_pictures(1200, rng)]).reshape(-1, 784).astype(np.float32)
    asked = np.concatenate([digits[1::2], outlier_pictures(600, rng)]).reshape(-1, 784).astype(np.float32)
    distances = (known**2).sum(axis=1) - 2 * asked @ known.T
    is_outlier = distances.argmin(axis=1) >= 600
    assert is_outlier[:600].mean() < 0.25
    assert is_outlier[600:].mean() > 0.75
