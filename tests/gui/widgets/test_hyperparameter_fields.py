"""The fields by themselves: their limits are core's, and a choice's data are what core calls it."""

import pytest
from pytestqt.qtbot import QtBot

from core.nn.schedules import SCHEDULES
from core.training.hyperparameters import RANGES
from gui.widgets.hyperparameter_fields import choice_field, number_fields


@pytest.mark.parametrize("name", RANGES)
def test_a_number_can_be_anything_core_allows_and_nothing_else(qtbot: QtBot, name: str) -> None:
    field = number_fields()[name]
    qtbot.addWidget(field)
    for wanted in (RANGES[name].minimum, RANGES[name].maximum):
        field.setValue(wanted)
        assert field.value() == wanted
    field.setValue(RANGES[name].maximum * 2)
    assert field.value() == RANGES[name].maximum
    field.setValue(RANGES[name].minimum - 1)
    assert field.value() == RANGES[name].minimum


def test_no_limit_reads_as_all_the_digits(qtbot: QtBot) -> None:
    field = number_fields()["train_limit"]
    qtbot.addWidget(field)
    assert (field.value(), field.text()) == (0, "all")
    field.setValue(1000)
    assert field.text().replace(field.locale().groupSeparator(), "") == "1000"


def test_a_choice_shows_titles_and_holds_names(qtbot: QtBot) -> None:
    field = choice_field(SCHEDULES)
    qtbot.addWidget(field)
    assert [field.itemData(row) for row in range(field.count())] == list(SCHEDULES)
    assert "One cycle" in [field.itemText(row) for row in range(field.count())]
