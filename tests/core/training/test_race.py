"""The race: the same run on the CPU under two names, and verdicts on points made up to be judged by eye."""

from dataclasses import replace

import numpy as np
import pytest

from core.device import Device, DeviceError
from core.digits.dataset import DatasetError, Splits
from core.training.events import Evaluated
from core.training.job import TrainingControl, TrainingJob
from core.training.learner import Learner
from core.training.race import (
    LapFailed,
    LapStarted,
    RaceEnded,
    RaceEvent,
    RacePoint,
    RaceProgress,
    finish_line,
    finishes,
    race,
    verdict,
)
from core.training.trainer import train
from tests.core.training.runs import StopsItself, job

NAMES = {"cpu": "CPU – 2 threads", "cuda:0": "NVIDIA H200", "cuda:1": "Other card"}


@pytest.fixture
def small() -> TrainingJob:
    return job("quick-mlp", hidden=(16,), epochs=2, evaluate_every=500, device="never asked for")


@pytest.fixture(autouse=True)
def devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU under any name but "broken"; a warm-up is a single step."""

    def open_device(key: str, **_: object) -> Device:
        if key == "broken":
            raise DeviceError("broken cannot be used: it is.")
        device = Device()
        device.key, device.name = key, f"the {key}"
        return device

    monkeypatch.setattr("core.training.learner.open_device", open_device)
    monkeypatch.setattr("core.training.benchmark.WARM_UP_STEPS", 1)


def points(events: list[RaceEvent], key: str) -> list[RacePoint]:
    return [event for event in events if isinstance(event, RacePoint) and event.device_key == key]


def test_every_device_runs_the_very_run_that_training_alone_would(small: TrainingJob, splits: Splits) -> None:
    events = list(race(small, ["cpu", "cuda:0"], splits))
    alone = train(replace(small, device_key="cpu"), splits)
    wanted = [event.accuracy for event in alone if isinstance(event, Evaluated)]
    assert len(wanted) == 4
    for key in ("cpu", "cuda:0"):
        assert [point.accuracy for point in points(events, key)] == wanted
        seconds = [point.seconds for point in points(events, key)]
        assert seconds == sorted(seconds)
        assert seconds[0] > 0
    assert [event for event in events if isinstance(event, LapStarted)] == [
        LapStarted("cpu", "the cpu"),
        LapStarted("cuda:0", "the cuda:0"),
    ]
    assert events[-1] == RaceEnded("completed")


def test_progress_goes_from_lap_to_lap(small: TrainingJob, splits: Splits) -> None:
    progress = [event for event in race(small, ["cpu", "cuda:0"], splits) if isinstance(event, RaceProgress)]
    assert [event.done for event in progress] == [0.12, 0.25, 0.37, 0.5, 0.62, 0.75, 0.87, 1.0]
    assert [event.device_key for event in progress] == ["cpu"] * 4 + ["cuda:0"] * 4


def test_a_device_that_fails_is_told_of_and_the_others_run(small: TrainingJob, splits: Splits) -> None:
    events = list(race(small, ["broken", "cpu"], splits))
    assert events[0] == LapFailed("broken", "broken cannot be used: it is.")
    assert len(points(events, "cpu")) == 4
    assert events[-1] == RaceEnded("completed")


def test_a_device_that_fails_on_the_way_keeps_its_points(
    small: TrainingJob, splits: Splits, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, taken = Learner.step, []

    def fails_late(self: Learner, rows: np.ndarray, *chosen: float) -> None:
        taken.append(rows)
        # A warm-up and a whole lap; another warm-up, and what it takes for two measurements.
        if self.device.key == "cuda:0" and len(taken) > 1 + 20 + 1 + 12:
            raise DeviceError("cuda:0 fell over.")
        step(self, rows, *chosen)

    monkeypatch.setattr(Learner, "step", fails_late)
    events = list(race(small, ["cpu", "cuda:0"], splits))
    assert len(points(events, "cpu")) == 4
    assert len(points(events, "cuda:0")) == 2
    assert events[-2:] == [LapFailed("cuda:0", "cuda:0 fell over."), RaceEnded("completed")]


@pytest.mark.parametrize("asked", [1, 2, 40])
def test_it_stops_at_the_next_step(small: TrainingJob, splits: Splits, asked: int) -> None:
    endless = replace(small, hyperparameters=replace(small.hyperparameters, epochs=10_000))
    events = list(race(endless, ["cpu", "cuda:0"], splits, StopsItself(asked)))
    assert events[-1] == RaceEnded("stopped")
    assert points(events, "cuda:0") == []


def test_what_was_run_before_it_was_stopped_is_told(small: TrainingJob, splits: Splits) -> None:
    control = TrainingControl()
    events = []
    for event in race(small, ["cpu", "cuda:0"], splits, control):
        events.append(event)
        if isinstance(event, LapStarted) and event.device_key == "cuda:0":
            control.stop()
    assert len(points(events, "cpu")) == 4
    assert events[-1] == RaceEnded("stopped")


def test_too_few_digits_for_a_batch_are_refused(splits: Splits) -> None:
    with pytest.raises(DatasetError, match="smaller batch"):
        list(race(job("quick-mlp", batch_size=1001), ["cpu"], splits))


def curve(key: str, *accuracies: float, every: float = 1.0) -> list[RacePoint]:
    return [RacePoint(key, every * number, accuracy) for number, accuracy in enumerate(accuracies, start=1)]


def test_the_finish_is_97_percent_where_all_reach_it() -> None:
    both = curve("cpu", 0.9, 0.975, 0.96, 0.98) + curve("cuda:0", 0.9, 0.97, every=0.1)
    assert finish_line(both) == 0.97
    assert finishes(both) == {"cpu": 2.0, "cuda:0": pytest.approx(0.2)}


def test_where_one_stays_below_its_best_is_the_finish_of_all() -> None:
    both = curve("cpu", 0.5, 0.9, 0.8) + curve("cuda:0", 0.85, 0.91, 0.99, every=0.1)
    assert finish_line(both) == 0.9
    assert finishes(both) == {"cpu": 2.0, "cuda:0": pytest.approx(0.2)}


def test_without_points_there_is_no_finish_and_no_verdict() -> None:
    assert finish_line([]) is None
    assert finishes([]) == {}
    assert verdict([], NAMES) == []


def said(points: list[RacePoint]) -> list[str]:
    return [finding.say() for finding in verdict(points, NAMES)]


def test_the_first_is_named_first_and_by_how_much() -> None:
    both = curve("cpu", 0.9, 0.975, every=1.3) + curve("cuda:0", 0.9, 0.97, every=0.2)
    assert said(both) == [
        "NVIDIA H200 reached 97 % after 0.4 s of training.",
        "CPU – 2 threads took 2.6 s: NVIDIA H200 was 6.5 times as fast.",
    ]


def test_three_are_told_in_the_order_they_came_in() -> None:
    three = curve("cpu", 0.98, every=4.0) + curve("cuda:0", 0.98, every=2.0) + curve("cuda:1", 0.98)
    assert [sentence.split(" ")[0] for sentence in said(three)] == ["Other", "NVIDIA", "CPU"]


def test_a_lower_finish_is_told_exactly() -> None:
    assert "reached 91.26 % after" in said(curve("cpu", 0.9126) + curve("cuda:0", 0.98))[0]


def test_a_dead_heat_is_no_lead() -> None:
    assert (
        said(curve("cpu", 0.98) + curve("cuda:0", 0.98, every=1.001))[1] == "NVIDIA H200 took 1 s, as good as the same."
    )


def test_one_alone_is_told_that_a_race_wants_two() -> None:
    assert said(curve("cpu", 0.98)) == [
        "CPU – 2 threads reached 97 % after 1 s of training.",
        "A race wants two devices.",
    ]
