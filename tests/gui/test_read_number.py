"""A number in text: known digits as they are, unknown ones as question marks."""

from dataclasses import replace

import numpy as np
import pytest

from core.predictor import Answer
from gui.read_number import NO_DIGIT, ReadDigit, ReadNumber, shares
from tests.gui.answers import sure

PICTURE = np.zeros((28, 28), np.uint8)


def test_what_is_not_known_is_a_question_mark() -> None:
    four, zero = (sure(np.eye(10, dtype=np.float32)[digit]) for digit in (4, 0))
    answers = (four, zero, replace(four, digit=None), None)
    assert ReadNumber(tuple(ReadDigit(PICTURE, answer) for answer in answers), 0).text == "40??"


def test_shares_add_up_with_what_is_no_digit_and_the_guess_has_its_confidence() -> None:
    found = shares(Answer(np.array([0.2, 0.8] + 8 * [0.0], np.float32), 1, 0.6, 1))
    assert found[[0, 1, NO_DIGIT]] == pytest.approx([0.15, 0.6, 0.25])
    assert found.sum() == pytest.approx(1.0)
    certain = sure(np.array([0.2, 0.8] + 8 * [0.0], np.float32))
    assert shares(certain)[[0, 1, NO_DIGIT]] == pytest.approx([0.2, 0.8, 0.0])
    assert shares(replace(certain, confidence=0.0, digit=None)).tolist() == 10 * [0.0] + [1.0]
