"""The benchmark and the race in their thread: real steps on real digits, begun, stopped, and never two at once."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from core.digits.dataset import DigitSets
from core.training.benchmark import BenchmarkEnded, BenchmarkJob, BenchmarkProgress, WidthMeasured
from core.training.job import TrainingJob
from core.training.race import LapStarted, RaceEnded, RacePoint
from gui.benchmark_controller import BenchmarkController

QUICK = BenchmarkJob("quick-mlp", (4, 8), ("cpu",))


@pytest.fixture
def controller(qtbot: QtBot, few_digits: DigitSets, monkeypatch: pytest.MonkeyPatch) -> Iterator[BenchmarkController]:
    monkeypatch.setattr("core.training.benchmark.measure_peak", lambda device: 1e12)
    monkeypatch.setattr("core.training.benchmark.WARM_UP_STEPS", 1)
    controller = BenchmarkController()
    controller.use_data(few_digits)
    yield controller
    controller.stop()
    qtbot.waitUntil(lambda: not controller.is_running, timeout=20_000)


@pytest.fixture
def told(controller: BenchmarkController) -> list[object]:
    told: list[object] = []
    controller.told.connect(told.append)
    return told


@pytest.fixture
def running(controller: BenchmarkController) -> list[bool]:
    running: list[bool] = []
    controller.running_changed.connect(running.append)
    return running


def test_a_benchmark_tells_each_width_and_comes_home(
    qtbot: QtBot, controller: BenchmarkController, told: list[object], running: list[bool]
) -> None:
    controller.measure(QUICK)
    assert controller.is_running
    qtbot.waitUntil(lambda: running == [True, False], timeout=20_000)
    measured = [event for event in told if isinstance(event, WidthMeasured)]
    assert [event.hidden for event in measured] == [4, 8]
    # Nothing is held out: all 1,200 digits are learned from.
    assert [event.digits_per_second * event.seconds for event in measured] == pytest.approx([1200, 1200])
    assert told[-1] == BenchmarkEnded("completed")


def test_a_race_runs_the_job_on_the_devices_given(
    qtbot: QtBot, controller: BenchmarkController, told: list[object], running: list[bool], small_job: TrainingJob
) -> None:
    controller.race(replace(small_job, device_key="never asked for"), ["cpu"])
    qtbot.waitUntil(lambda: running == [True, False], timeout=20_000)
    assert [event.device_key for event in told if isinstance(event, LapStarted)] == ["cpu"]
    assert [event.device_key for event in told if isinstance(event, RacePoint)] == ["cpu"] * 6
    assert told[-1] == RaceEnded("completed")


def test_stopping_ends_a_benchmark_that_would_take_minutes(
    qtbot: QtBot, controller: BenchmarkController, told: list[object], running: list[bool]
) -> None:
    def stop_at_the_large_one(event: object) -> None:
        if isinstance(event, BenchmarkProgress) and event.hidden == 16384:
            controller.stop()

    controller.told.connect(stop_at_the_large_one)
    controller.measure(replace(QUICK, hidden=(4, 16384)))
    qtbot.waitUntil(lambda: running == [True, False], timeout=20_000)
    assert [event.hidden for event in told if isinstance(event, WidthMeasured)] == [4]
    assert told[-1] == BenchmarkEnded("stopped")


def test_only_one_of_both_runs_at_a_time(
    qtbot: QtBot, controller: BenchmarkController, told: list[object], running: list[bool], small_job: TrainingJob
) -> None:
    controller.measure(QUICK)
    controller.measure(QUICK)
    controller.race(small_job, ["cpu"])
    qtbot.waitUntil(lambda: running == [True, False], timeout=20_000)
    assert [event for event in told if isinstance(event, LapStarted | RacePoint)] == []
    assert len([event for event in told if isinstance(event, WidthMeasured)]) == 2


def test_without_data_nothing_begins(qtbot: QtBot, small_job: TrainingJob) -> None:
    controller = BenchmarkController()
    controller.measure(QUICK)
    controller.race(small_job, ["cpu"])
    assert not controller.is_running


def test_digits_that_do_not_suffice_are_told_of_and_nothing_begins(
    qtbot: QtBot, controller: BenchmarkController, running: list[bool], small_job: TrainingJob
) -> None:
    too_many = replace(small_job, hyperparameters=replace(small_job.hyperparameters, validation_digits=1200))
    with qtbot.waitSignal(controller.failed) as failed:
        controller.race(too_many, ["cpu"])
    assert "hold out fewer" in failed.args[0]
    assert running == []
