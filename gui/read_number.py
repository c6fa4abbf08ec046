"""What the network reads: how sure it is of each of its answers, and several digits side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.device import HostArray
from core.digits.downloads import DIGITS
from core.predictor import Answer

NO_DIGIT = len(DIGITS)
"""The place of the eleventh answer among `shares`."""


@dataclass(frozen=True, eq=False)
class ReadDigit:
    """One digit as the network sees it, uint8 (28, 28), and its answer; None where no network is there to answer."""

    picture: HostArray
    answer: Answer | None


@dataclass(frozen=True, eq=False)
class ReadNumber:
    """At least two digits in reading order; `selected`: the place, from 0, of the one whose bars are shown."""

    digits: tuple[ReadDigit, ...]
    selected: int

    @property
    def text(self) -> str:
        """The number as it is written, with "?" for each digit that the network does not know."""
        return "".join(digit_text(digit.answer) for digit in self.digits)

    def text_in(self, classes: Sequence[str]) -> str:
        """What each is by the names of its class, one after the other."""
        return ", ".join(digit_text(digit.answer, classes) for digit in self.digits)


def shares(answer: Answer) -> HostArray:
    """How sure the network is of each digit, and last that it is none: float64 (11,), which add up to 1.

    That of the guess is the answer's confidence. A network that was not calibrated gives nothing to "no digit".
    """
    probabilities = answer.probabilities.astype(np.float64)
    a_digit = min(answer.confidence / probabilities[answer.guess], 1.0)
    return np.append(probabilities * a_digit, 1.0 - a_digit)


def digit_text(answer: Answer | None, classes: Sequence[str] = DIGITS) -> str:
    """What this answer is called among `classes`, or "?"."""
    return "?" if answer is None or answer.digit is None else classes[answer.digit]
