"""What a run tells the eye, with a clock that the test moves."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from core.training.events import (
    Evaluated,
    HyperparametersChanged,
    RunNotKept,
    StepsCompleted,
    TrainingEnded,
    TrainingStarted,
)
from core.training.job import TrainingJob
from gui.progress_controller import READING_SECONDS, ProgressController
from gui.training_state import TrainingState


class Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


class Watched:
    """A progress controller, its clock, and all it said."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.controller = ProgressController(self.clock)
        self.messages: list[str] = []
        self.problems: list[str] = []
        self.shares: list[float | None] = []
        self.accuracies: list[tuple[str, float | None]] = []
        self.controller.message_changed.connect(self.messages.append)
        self.controller.problem_found.connect(self.problems.append)
        self.controller.progress_changed.connect(self.shares.append)
        self.controller.accuracy_changed.connect(lambda split, accuracy: self.accuracies.append((split, accuracy)))


@pytest.fixture
def watched(qtbot: QtBot, small_job: TrainingJob) -> Iterator[Watched]:
    watched = Watched()
    watched.controller.on_job_accepted(small_job)
    watched.controller.on_state_changed(TrainingState.TRAINING)
    watched.controller.on_started(TrainingStarted("cpu", "CPU – 2 threads", 1000, 1000, 10, 30))
    yield watched
    watched.controller.on_state_changed(TrainingState.IDLE)


def end(outcome: str, test_accuracy: float = 0.97, *, learned: bool = True) -> TrainingEnded:
    return TrainingEnded(outcome, 1, 10, 1000, 65.0, 0.1, None, test_accuracy, None, learned, {})


def test_time_left_counts_training_but_not_pauses(watched: Watched) -> None:
    controller, clock = watched.controller, watched.clock
    clock.seconds += 10
    controller.on_steps_completed(StepsCompleted(10, 1000, 1.0, 0.5, 0.9, 4.0))
    controller.on_state_changed(TrainingState.PAUSED)
    assert watched.messages[-1].startswith("Paused on CPU – 2 threads · 250 digits/s · epoch 2 of 3 · 0:20 left")
    clock.seconds += 1000
    controller.on_state_changed(TrainingState.TRAINING)
    clock.seconds += 10
    controller.on_steps_completed(StepsCompleted(20, 2000, 2.0, 0.5, 0.9, 8.0))
    controller.on_state_changed(TrainingState.STOPPING)
    assert watched.messages[-1].startswith("Stopping on")
    assert watched.messages[-1].endswith("0:10 left")
    assert watched.shares[-1] == pytest.approx(2 / 3)


def changed_to(job: TrainingJob, epochs: int, total_steps: int) -> HyperparametersChanged:
    chosen = replace(job.hyperparameters, epochs=epochs)
    return HyperparametersChanged(10, 1000, 1.0, 4.0, {"epochs": epochs}, chosen, total_steps)


def test_with_another_number_of_epochs_everything_is_counted_anew(watched: Watched, small_job: TrainingJob) -> None:
    watched.clock.seconds += 10
    watched.controller.on_steps_completed(StepsCompleted(10, 1000, 1.0, 0.5, 0.9, 4.0))
    watched.controller.on_changed(changed_to(small_job, 5, 50))
    watched.controller.on_state_changed(TrainingState.PAUSED)
    assert watched.messages[-1].endswith("epoch 2 of 5 · 0:40 left")
    assert watched.shares[-1] == pytest.approx(10 / 50)
    watched.controller.on_ended(TrainingEnded("completed", 5, 50, 5000, 65.0, 0.1, None, 0.97, None, True, {}))
    assert watched.shares[-1] == pytest.approx(1.0)
    assert watched.messages[-1].startswith("Finished")


def test_with_fewer_epochs_than_are_done_nothing_is_left(watched: Watched, small_job: TrainingJob) -> None:
    watched.clock.seconds += 10
    watched.controller.on_changed(changed_to(small_job, 1, 12))
    watched.controller.on_steps_completed(StepsCompleted(18, 1800, 1.8, 0.5, 0.9, 4.0))
    watched.controller.on_state_changed(TrainingState.PAUSED)
    assert watched.messages[-1].endswith("epoch 1 of 1 · 0:00 left")
    assert watched.shares[-1] == 1.0


def test_a_problem_told_during_a_run_is_left_to_be_read(qtbot: QtBot, watched: Watched) -> None:
    watched.controller.on_steps_completed(StepsCompleted(10, 1000, 1.0, 0.5, 0.9, 4.0))
    watched.controller.on_problem_told()
    said = len(watched.messages)
    for _ in range(2):
        with qtbot.waitSignal(watched.controller.progress_changed):
            pass
    assert len(watched.messages) == said
    watched.clock.seconds += READING_SECONDS
    with qtbot.waitSignal(watched.controller.message_changed):
        pass
    watched.controller.on_problem_told()
    watched.controller.on_state_changed(TrainingState.PAUSED)
    assert watched.messages[-1].startswith("Paused")


def test_a_run_that_lost_its_patience_says_so(watched: Watched) -> None:
    watched.controller.on_ended(end("completed"))
    assert watched.messages[-1].startswith("Ended early, since it got no better")


def test_many_events_make_few_messages(qtbot: QtBot, watched: Watched) -> None:
    said = len(watched.messages)
    points: list[object] = []
    watched.controller.point_added.connect(lambda series, event: points.append(event))
    for step in range(1, 29):
        watched.controller.on_steps_completed(StepsCompleted(step, step * 100, step / 10, 0.5, 0.9, 1.0))
    assert len(points) == 28
    assert len(watched.messages) == said
    qtbot.waitUntil(lambda: len(watched.messages) == said + 1)
    assert "epoch 3 of 3" in watched.messages[-1]


def test_the_headline_is_the_last_measurement_and_at_the_end_the_test(watched: Watched) -> None:
    watched.controller.on_evaluated(Evaluated(10, 1000, 1.0, "validation", 0.2, 0.95, 1.0))
    assert watched.accuracies[-1] == ("validation", 0.95)
    watched.controller.on_ended(end("completed"))
    assert watched.accuracies[-1] == ("test", 0.97)


@pytest.mark.parametrize(("outcome", "words"), [("completed", "Ended"), ("stopped", "kept"), ("target", "Finished")])
def test_the_end_is_told_with_its_figures(watched: Watched, outcome: str, words: str) -> None:
    watched.controller.on_ended(end(outcome))
    watched.controller.on_state_changed(TrainingState.IDLE)
    assert words in watched.messages[-1]
    assert "1:05" in watched.messages[-1]
    assert not watched.problems


def test_a_diverged_run_says_what_to_change(watched: Watched) -> None:
    watched.controller.on_ended(end("diverged"))
    assert "last good weights kept" in watched.problems[-1]
    assert "smaller learning rate" in watched.problems[-1]
    watched.controller.on_ended(end("diverged", 0.1, learned=False))
    assert "kept" not in watched.problems[-1]
    assert "smaller learning rate" in watched.problems[-1]


@pytest.mark.parametrize("outcome", ["completed", "stopped", "target"])
def test_the_bar_ends_where_the_run_ended(watched: Watched, outcome: str) -> None:
    watched.controller.on_ended(end(outcome))
    assert watched.shares[-1] == pytest.approx(10 / 30)


def test_a_run_that_goes_on_counts_the_time_left_from_its_own_steps(watched: Watched, small_job: TrainingJob) -> None:
    controller, clock = watched.controller, watched.clock
    controller.on_job_accepted(small_job)
    controller.on_steps_completed(StepsCompleted(10, 1000, 1.0, 0.5, 0.9, 4.0))
    controller.on_started(TrainingStarted("cpu", "CPU – 2 threads", 1000, 1000, 10, 30))
    controller.on_state_changed(TrainingState.PAUSED)
    assert watched.messages[-1].endswith("… left")
    controller.on_state_changed(TrainingState.TRAINING)
    clock.seconds += 10
    controller.on_steps_completed(StepsCompleted(15, 1500, 1.5, 0.5, 0.9, 6.0))
    controller.on_state_changed(TrainingState.PAUSED)
    assert watched.messages[-1].endswith("0:30 left")


def test_how_fast_a_run_that_goes_on_was_before_says_nothing_now(watched: Watched, small_job: TrainingJob) -> None:
    controller, clock = watched.controller, watched.clock
    controller.on_job_accepted(small_job)
    clock.seconds += 500  # Its digits and curves are read.
    controller.on_steps_completed(StepsCompleted(10, 1000, 1.0, 0.5, 0.9, 4000.0))
    controller.on_started(TrainingStarted("cuda:0", "GPU", 1000, 1000, 10, 30))
    controller.on_state_changed(TrainingState.PAUSED)
    assert "… digits/s" in watched.messages[-1]
    controller.on_state_changed(TrainingState.TRAINING)
    clock.seconds += 2
    controller.on_steps_completed(StepsCompleted(20, 2000, 2.0, 0.5, 0.9, 4001.0))
    controller.on_state_changed(TrainingState.PAUSED)
    assert "1000 digits/s" in watched.messages[-1]
    assert watched.messages[-1].endswith("0:02 left")


def test_a_run_that_is_not_kept_is_told_with_the_reason(watched: Watched) -> None:
    watched.controller.on_not_kept(RunNotKept("the disk is full"))
    assert "the run is not kept: the disk is full." in watched.problems[-1]


def test_the_users_own_digits_get_a_curve_and_not_the_headline(watched: Watched) -> None:
    points: list[str] = []
    headlines: list[str] = []
    watched.controller.point_added.connect(lambda series, _event: points.append(series))
    watched.controller.accuracy_changed.connect(lambda split, _accuracy: headlines.append(split))
    for split in ("validation", "mine"):
        watched.controller.on_evaluated(Evaluated(10, 1000, 1.0, split, 0.5, 0.9, 4.0))
    assert (points, headlines) == (["validation", "mine"], ["validation"])
