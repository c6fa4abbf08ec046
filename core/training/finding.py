"""A sentence that numbers just measured have written, kept apart from the language it is said in.

A room of its own because the terminal and the window say the same thing: one in English, the other in the user's
language and with the user's commas.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

Value: TypeAlias = str | int | float


@dataclass(frozen=True)
class Finding:
    """An English `text` with %1, %2 ... where `values` belong: names as they are, numbers rounded already."""

    text: str
    values: tuple[Value, ...]

    def say(self, translate: Callable[[str], str] = str, number: Callable[[int | float], str] | None = None) -> str:
        """The sentence, its text put through `translate` and its numbers written by `number`; in English without."""
        write = number or english_number
        words = [value if isinstance(value, str) else write(value) for value in self.values]
        return re.sub(r"%([1-9])", lambda place: words[int(place[1]) - 1], translate(self.text))


def english_number(value: int | float) -> str:
    """`value` with commas between thousands and no more decimals than it has."""
    return f"{value:,.{decimals_of(value)}f}"


def decimals_of(value: int | float) -> int:
    """How many decimals it takes to write `value`, a finite number: 0 for 97.0, 1 for 6.5."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    assert isinstance(exponent, int)  # Infinity and NaN have letters there.
    return max(0, -exponent)


def rounded(value: float, digits: int = 2) -> float:
    """`value`, above 0, to so many significant digits, but whole numbers of any length stay: 0.29, 6.5, 257."""
    return round(value, max(0, digits - 1 - math.floor(math.log10(value))))
