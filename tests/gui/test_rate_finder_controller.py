"""The search for a learning rate in its thread: real steps on real digits, begun, stopped, and never two at once."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from core.digits.dataset import DigitSets
from core.training.job import TrainingJob
from core.training.rate_finder import RatesTried, RateTried
from gui.rate_finder_controller import RateFinderController


@pytest.fixture
def finder(qtbot: QtBot, few_digits: DigitSets) -> Iterator[RateFinderController]:
    finder = RateFinderController()
    finder.use_data(few_digits)
    yield finder
    finder.stop()
    qtbot.waitUntil(lambda: not finder.is_running)


def test_a_search_tells_each_rate_and_ends_with_one_to_begin_with(
    qtbot: QtBot, finder: RateFinderController, small_job: TrainingJob
) -> None:
    tried: list[RateTried] = []
    running: list[bool] = []
    finder.tried.connect(tried.append)
    finder.running_changed.connect(running.append)
    with qtbot.waitSignal(finder.found, timeout=20_000) as found:
        finder.start(small_job)
    qtbot.waitUntil(lambda: not finder.is_running)
    rates = [event.learning_rate for event in tried]
    assert rates == sorted(rates)
    assert len(rates) > 20
    assert isinstance(found.args[0], RatesTried)
    assert rates[0] < found.args[0].suggested < rates[-1]
    assert running == [True, False]


def test_a_second_search_does_not_begin_while_one_runs(
    qtbot: QtBot, finder: RateFinderController, small_job: TrainingJob
) -> None:
    running: list[bool] = []
    finder.running_changed.connect(running.append)
    finder.start(small_job)
    finder.start(small_job)
    finder.stop()
    qtbot.waitUntil(lambda: not finder.is_running)
    assert running == [True, False]


def test_a_stopped_search_suggests_nothing(qtbot: QtBot, finder: RateFinderController, small_job: TrainingJob) -> None:
    with qtbot.waitSignal(finder.found, timeout=20_000) as found:
        finder.tried.connect(finder.stop)
        finder.start(small_job)
    assert found.args[0].suggested is None


def test_a_search_without_data_does_not_begin(qtbot: QtBot, small_job: TrainingJob) -> None:
    finder = RateFinderController()
    finder.start(small_job)
    assert not finder.is_running
