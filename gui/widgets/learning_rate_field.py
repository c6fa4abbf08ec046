"""Fields for numbers that are written with the digits they have, and one whose steps multiply: the learning rate.

A room of its own because a spin box thinks in fixed decimals and sums, while a learning rate lives anywhere between a
millionth and a hundred: it may be typed as 3e-4, and steps 1, 2, 5, 10 times over.
"""

import re

from PySide6.QtCore import QLocale
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QDoubleSpinBox, QWidget

_STORED_DECIMALS = 12
_BEGINNING_OF_A_NUMBER = re.compile(r"\d*([.,]\d*)?([eE][+-]?\d*)?")
_UNFINISHED_EXPONENT = re.compile(r"[eE][+-]?$")


class DecimalField(QDoubleSpinBox):
    """A spin box that shows 0.9 as 0.9, not as 0.900."""

    def textFromValue(self, value: float) -> str:
        locale = QLocale(self.locale())
        locale.setNumberOptions(QLocale.NumberOption.OmitGroupSeparator)
        return locale.toString(value, "f", QLocale.FloatingPointPrecisionOption.FloatingPointShortest.value)


class LearningRateField(DecimalField):
    """A spin box whose steps multiply."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDecimals(_STORED_DECIMALS)

    def valueFromText(self, text: str) -> float:
        value = self._parse(text)
        return self.value() if value is None else value

    def validate(self, text: str, pos: int) -> tuple[QValidator.State, str, int]:
        value = self._parse(text)
        if value is not None and self.minimum() <= value <= self.maximum():
            state = QValidator.State.Acceptable
        elif _BEGINNING_OF_A_NUMBER.fullmatch(text.strip()):
            state = QValidator.State.Intermediate
        else:
            state = QValidator.State.Invalid
        return state, text, pos

    def fixup(self, text: str) -> str:
        # Qt would go back to the last number that stood there while typing: to 1 after 1e-9, which nobody asked for.
        value = self._parse(_UNFINISHED_EXPONENT.sub("", text.strip()))
        return text if value is None else self.textFromValue(min(max(value, self.minimum()), self.maximum()))

    def stepBy(self, steps: int) -> None:
        value = self.value()
        for _ in range(abs(steps)):
            value = _next_step(value, up=steps > 0)
        self.setValue(value)
        self.selectAll()

    def _parse(self, text: str) -> float | None:
        locale = QLocale(self.locale())
        locale.setNumberOptions(QLocale.NumberOption.RejectGroupSeparator)
        # Numbers are copied from papers and programs as well as typed: a point is understood in every language.
        for reader in (locale, QLocale.c()):
            value, understood = reader.toDouble(text.strip())
            if understood:
                return value
        return None


def _next_step(value: float, *, up: bool) -> float:
    exponent = int(f"{value:e}".partition("e")[2])
    steps = [float(f"{digit}e{power}") for power in range(exponent - 1, exponent + 2) for digit in (1, 2, 5)]
    if up:
        return next(step for step in steps if step > value * (1 + 1e-9))
    return next(step for step in reversed(steps) if step < value * (1 - 1e-9))
