"""What the tests of the user's own digits share: some to be shown."""

import numpy as np

from core.digits.my_digits import Problem
from gui.widgets.own_digits_model import OwnDigit, OwnDigits


def own_digit(number: int, label: int, answer: int | None = None) -> OwnDigit:
    """A digit that can be told apart: its key is its number, and its picture a square as grey as that."""
    picture = np.zeros((28, 28), np.uint8)
    picture[8:20, 8:20] = 100 + number
    return OwnDigit(str(number), label, picture, answer)


def own_digits(*labels_and_answers: tuple[int, int | None], problems: tuple[Problem, ...] = ()) -> OwnDigits:
    digits = (own_digit(number, label, answer) for number, (label, answer) in enumerate(labels_and_answers))
    return OwnDigits("mine.jsonl", tuple(digits), problems)
