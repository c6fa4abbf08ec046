"""Ten bars, measured in pixels and read out in words."""

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QColor, QHelpEvent, QImage
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from gui import theme
from gui.widgets.probability_chart import ProbabilityChart


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
    row = image.height() * (2 * digit + 1) // 20
    return sum(image.pixelColor(x, row) == QColor(colour) for x in range(image.width()))


def test_bars_are_as_long_as_the_probabilities(chart: ProbabilityChart) -> None:
    scheme = theme.colours(chart.palette())
    chart.show_probabilities(one_hot(7, 1.0))
    full = bar_length(chart.grab().toImage(), 7, scheme.accent)
    chart.show_probabilities(np.array([0.3, 0.0, 0, 0, 0, 0, 0, 0.5, 0.2, 0]))
    image = chart.grab().toImage()
    assert bar_length(image, 7, scheme.accent) == pytest.approx(full / 2, abs=3)
    assert bar_length(image, 0, scheme.bar) == pytest.approx(full * 0.3, abs=3)
    assert bar_length(image, 1, scheme.bar) == 0


def test_the_highest_is_marked_by_more_than_colour(chart: ProbabilityChart) -> None:
    chart.show_probabilities(one_hot(3, 0.9))
    image = chart.grab().toImage()
    paper = image.pixelColor(0, 0)

    def is_marked(digit: int) -> bool:
        rows = range(image.height() * digit // 10 + 1, image.height() * (digit + 1) // 10 - 1)
        return any(image.pixelColor(x, y) != paper for x in range(8) for y in rows)

    assert [digit for digit in range(10) if is_marked(digit)] == [3]


def test_nothing_drawn_is_no_answer(chart: ProbabilityChart) -> None:
    scheme = theme.colours(chart.palette())
    chart.show_probabilities(one_hot(2, 0.9))
    chart.show_probabilities(None)
    image = chart.grab().toImage()
    assert (
        sum(bar_length(image, digit, scheme.accent) + bar_length(image, digit, scheme.bar) for digit in range(10)) == 0
    )
    assert chart.accessibleDescription() == "Nothing is drawn."


def test_a_reader_hears_the_three_likeliest(chart: ProbabilityChart) -> None:
    chart.show_probabilities(np.array([0.0, 0.0, 0, 0.25, 0, 0, 0, 0.7, 0.05, 0]))
    assert [part.split(":")[0] for part in chart.accessibleDescription().split(", ")] == ["7", "3", "8"]


def test_numbers_that_are_none_do_no_harm(chart: ProbabilityChart) -> None:
    chart.show_probabilities(np.array([np.nan, np.inf, -1, 2, 0, 0, 0, 0, 0, 0], dtype=np.float32))
    assert not chart.grab().isNull()


@pytest.mark.parametrize("shape", [(9,), (10, 1), ()])
def test_anything_but_ten_numbers_is_refused(chart: ProbabilityChart, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="shape \\(10,\\)"):
        chart.show_probabilities(np.zeros(shape))


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_tooltip_names_the_digit_under_the_mouse(qtbot: QtBot, chart: ProbabilityChart) -> None:
    chart.show_probabilities(one_hot(4, 0.8))
    place = QPoint(100, 4 * 20 + 10)
    QApplication.sendEvent(chart, QHelpEvent(QEvent.Type.ToolTip, place, chart.mapToGlobal(place)))
    assert "digit 4" in QToolTip.text()
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())
