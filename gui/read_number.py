"""What the network reads where more than one digit lies on the canvas."""

from dataclasses import dataclass

from core.device import HostArray
from core.predictor import Answer


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


def digit_text(answer: Answer | None) -> str:
    """The digit of this answer, or "?"."""
    return "?" if answer is None or answer.digit is None else str(answer.digit)
