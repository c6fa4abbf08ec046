"""Eleven bars, measured in pixels and read out in words."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QColor, QHelpEvent, QImage
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from core.predictor import Answer
from gui import theme
from gui.widgets.probability_chart import ProbabilityChart
from tests.gui.answers import sure


@pytest.fixture
def chart(qtbot: QtBot) -> ProbabilityChart:
    chart = ProbabilityChart()
    qtbot.addWidget(chart)
    chart.resize(260, 200)
    chart.show()
    return chart


def one_hot(digit: int, probability: float) -> np.ndarray:
    probabilities = np.full(10, (1 - probability) / 9)
    probabilities[digit] = probability
    return probabilities


def bar_length(image: QImage, digit: int, colour: str) -> int:
    row = image.height() * (2 * digit + 1) // 22
    return sum(image.pixelColor(x, row) == QColor(colour) for x in range(image.width()))


def test_bars_are_as_long_as_the_probabilities(chart: ProbabilityChart) -> None:
    scheme = theme.colours(chart.palette())
    chart.show_answer(sure(one_hot(7, 1.0)))
    full = bar_length(chart.grab().toImage(), 7, scheme.accent)
    chart.show_answer(sure(np.array([0.3, 0.0, 0, 0, 0, 0, 0, 0.5, 0.2, 0])))
    image = chart.grab().toImage()
    assert bar_length(image, 7, scheme.accent) == pytest.approx(full / 2, abs=3)
    assert bar_length(image, 0, scheme.bar) == pytest.approx(full * 0.3, abs=3)
    assert bar_length(image, 1, scheme.bar) == 0


def test_the_highest_is_marked_by_more_than_colour(chart: ProbabilityChart) -> None:
    chart.show_answer(sure(one_hot(3, 0.9)))
    image = chart.grab().toImage()
    paper = image.pixelColor(0, 0)

    def first_ink(digit: int) -> int:
        rows = range(image.height() * digit // 11 + 1, image.height() * (digit + 1) // 11 - 1)
        return next(x for x in range(image.width()) if any(image.pixelColor(x, y) != paper for y in rows))

    starts = [first_ink(digit) for digit in range(10)]
    assert all(start > starts[3] + 5 for digit, start in enumerate(starts) if digit != 3)


def test_nothing_drawn_is_no_answer(chart: ProbabilityChart) -> None:
    scheme = theme.colours(chart.palette())
    chart.show_answer(sure(one_hot(2, 0.9)))
    chart.show_answer(None)
    image = chart.grab().toImage()
    assert (
        sum(bar_length(image, digit, scheme.accent) + bar_length(image, digit, scheme.bar) for digit in range(11)) == 0
    )
    assert chart.accessibleDescription() == "Nothing is drawn."


def test_a_reader_hears_the_three_likeliest(chart: ProbabilityChart) -> None:
    chart.show_answer(sure(np.array([0.0, 0.0, 0, 0.25, 0, 0, 0, 0.7, 0.05, 0])))
    assert [part.split(":")[0] for part in chart.accessibleDescription().split(", ")] == ["7", "3", "8"]


def test_numbers_that_are_none_do_no_harm(chart: ProbabilityChart) -> None:
    chart.show_answer(Answer(np.array([np.nan, np.inf, -1, 2, 0, 0, 0, 0, 0, 0], np.float32), 0, 0.5, 0))
    assert not chart.grab().isNull()


def test_what_is_no_digit_takes_its_share_from_the_digits(chart: ProbabilityChart) -> None:
    scheme = theme.colours(chart.palette())
    chart.show_answer(sure(one_hot(7, 1.0)))
    full = bar_length(chart.grab().toImage(), 7, scheme.accent)
    chart.show_answer(Answer(one_hot(7, 1.0), 7, 0.6, 7))
    image = chart.grab().toImage()
    assert bar_length(image, 7, scheme.accent) == pytest.approx(0.6 * full, abs=3)
    assert bar_length(image, 10, scheme.disabled) == pytest.approx(0.4 * full, abs=3)
    assert [part.split(": ")[0] for part in chart.accessibleDescription().split(", ")][:2] == ["7", "no digit"]
    # Where it does not know, the marked bar is the highest, and never one that stands for an answer.
    chart.show_answer(Answer(one_hot(7, 1.0), 7, 0.1, None))
    image = chart.grab().toImage()
    assert bar_length(image, 7, scheme.bar) == pytest.approx(0.1 * full, abs=3)
    assert bar_length(image, 10, scheme.accent) == 0


def test_a_line_shows_how_far_a_bar_must_reach(chart: ProbabilityChart) -> None:
    def differs(threshold: float) -> set[int]:
        chart.show_threshold(0.0)
        bare = chart.grab().toImage()
        chart.show_threshold(threshold)
        lined = chart.grab().toImage()
        places = [(x, y) for x in range(bare.width()) for y in range(bare.height())]
        return {x for x, y in places if bare.pixelColor(x, y) != lined.pixelColor(x, y)}

    assert differs(0.0) == set()
    near, far = differs(0.2), differs(0.8)
    assert 1 <= len(near) <= 3
    assert min(far) - max(near) > 50


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_tooltip_names_the_digit_under_the_mouse(qtbot: QtBot, chart: ProbabilityChart) -> None:
    chart.show_answer(sure(one_hot(4, 0.8)))
    place = QPoint(100, 200 * 9 // 22)
    QApplication.sendEvent(chart, QHelpEvent(QEvent.Type.ToolTip, place, chart.mapToGlobal(place)))
    assert "digit 4" in QToolTip.text()
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())
