"""The numbers along an axis of a plot."""

import math

import pytest
from pytestqt.qtbot import QtBot

from gui.widgets.curve_axis import CurveAxis


@pytest.mark.usefixtures("qapp")
def test_along_a_logarithmic_axis_only_1_2_and_5_are_named_so_that_no_two_stand_on_each_other(qtbot: QtBot) -> None:
    axis = CurveAxis("left")
    axis.setLogMode(False, True)
    values = [math.log10(digit * 10.0**power) for power in (-2, -1, 0) for digit in range(1, 10)]
    named = [text for text in axis.tickStrings(values, 1.0, 1.0) if text]
    assert named == ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5"]


@pytest.mark.usefixtures("qapp")
def test_along_any_other_axis_all_are_named_with_as_many_decimals_as_tell_them_apart(qtbot: QtBot) -> None:
    assert CurveAxis("left").tickStrings([0.0, 0.05, 0.1], 1.0, 0.05) == ["0.00", "0.05", "0.10"]
    assert CurveAxis("bottom").tickStrings([10000.0, 20000.0], 1.0, 10000.0) == ["10000", "20000"]
