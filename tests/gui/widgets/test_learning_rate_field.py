"""Numbers as they are typed in papers and in other languages, and steps that multiply."""

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QValidator
from pytestqt.qtbot import QtBot

from gui.widgets.learning_rate_field import DecimalField, LearningRateField


def field_in(qtbot: QtBot, language: str) -> LearningRateField:
    field = LearningRateField()
    field.setLocale(QLocale(language))
    field.setRange(1e-6, 100.0)
    qtbot.addWidget(field)
    field.show()
    return field


@pytest.fixture
def field(qtbot: QtBot) -> LearningRateField:
    return field_in(qtbot, "en_US")


def type_text(qtbot: QtBot, field: LearningRateField, text: str) -> None:
    field.selectAll()
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


@pytest.mark.parametrize(
    ("value", "text"), [(0.1, "0.1"), (1e-6, "0.000001"), (0.00035, "0.00035"), (100.0, "100"), (1.0, "1")]
)
def test_a_value_is_shown_with_the_digits_it_has(field: LearningRateField, value: float, text: str) -> None:
    field.setValue(value)
    assert field.text() == text
    assert field.value() == value


def test_steps_multiply(qtbot: QtBot, field: LearningRateField) -> None:
    field.setValue(0.01)
    seen = []
    for _ in range(4):
        qtbot.keyClick(field, Qt.Key.Key_Up)
        seen.append(field.value())
    assert seen == [0.02, 0.05, 0.1, 0.2]
    field.setValue(0.03)
    qtbot.keyClick(field, Qt.Key.Key_Down)
    assert field.value() == 0.02


def test_steps_end_at_the_limits(field: LearningRateField) -> None:
    field.setValue(50.0)
    field.stepBy(10)
    assert field.value() == 100.0
    field.stepBy(-100)
    assert field.value() == 1e-6


@pytest.mark.parametrize(("text", "value"), [("3e-4", 3e-4), ("0.25", 0.25), (".5", 0.5), ("1E-5", 1e-5)])
def test_numbers_may_be_typed_as_papers_write_them(
    qtbot: QtBot, field: LearningRateField, text: str, value: float
) -> None:
    type_text(qtbot, field, text)
    assert field.value() == value


@pytest.mark.parametrize(("text", "value"), [("0,25", 0.25), ("0.25", 0.25), ("3e-4", 3e-4)])
def test_a_german_comma_and_a_pasted_point(qtbot: QtBot, text: str, value: float) -> None:
    field = field_in(qtbot, "de_DE")
    type_text(qtbot, field, text)
    assert field.value() == value
    field.setValue(0.5)
    assert field.text() == "0,5"


@pytest.mark.parametrize(
    ("text", "value"), [("0", 1e-6), ("1e-9", 1e-6), ("5000", 100.0), ("2e", 2.0), ("2e-", 2.0), ("", 0.1)]
)
def test_what_is_out_of_range_or_unfinished_becomes_what_comes_nearest(
    qtbot: QtBot, field: LearningRateField, text: str, value: float
) -> None:
    field.setValue(0.1)
    type_text(qtbot, field, text)
    assert field.value() == value


@pytest.mark.parametrize("text", ["abc", "nan", "inf", "--1", "1;2"])
def test_what_is_no_number_cannot_be_typed(field: LearningRateField, text: str) -> None:
    assert field.validate(text, 0)[0] == QValidator.State.Invalid


def test_a_plain_decimal_field_shows_no_zeros_to_fill_up(qtbot: QtBot) -> None:
    field = DecimalField(decimals=3)
    qtbot.addWidget(field)
    field.setLocale(QLocale("en_US"))
    field.setValue(0.9)
    assert field.text() == "0.9"
