"""A number in text: known digits as they are, unknown ones as question marks."""

from dataclasses import replace

import numpy as np

from gui.read_number import ReadDigit, ReadNumber
from tests.gui.answers import sure

PICTURE = np.zeros((28, 28), np.uint8)


def test_what_is_not_known_is_a_question_mark() -> None:
    four, zero = (sure(np.eye(10, dtype=np.float32)[digit]) for digit in (4, 0))
    answers = (four, zero, replace(four, digit=None), None)
    assert ReadNumber(tuple(ReadDigit(PICTURE, answer) for answer in answers), 0).text == "40??"
