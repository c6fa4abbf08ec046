"""A run is paused, resumed and stopped from outside, in its own thread and from another."""

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator

import pytest

from core.digits.dataset import Splits
from core.training.events import (
    Event,
    StepsCompleted,
    TrainingEnded,
    TrainingStarted,
)
from core.training.job import TrainingControl, TrainingJob
from core.training.trainer import train
from tests.core.training.runs import (
    RARELY,
    JobMaker,
    SoftmaxRegression,
    StopsItself,
    assert_close,
    batches_of,
    end_of,
    start_weights,
    story,
)


@pytest.mark.parametrize("steps", [0, 1, 7, 10, 13])
def test_stop_ends_the_run_after_the_step_it_is_in_and_keeps_what_was_learned(
    job: JobMaker, splits: Splits, steps: int
) -> None:
    run = job("quick-mlp", hidden=(), shift_px=0, epochs=2, evaluate_every=RARELY, schedule="constant")
    oracle = SoftmaxRegression(start_weights(run, splits), momentum=0.9)
    for rows in batches_of(run, 1000)[:steps]:
        oracle.step(splits.train, rows, 0.1)
    # The validation set after the first epoch takes one more question.
    events = list(train(run, splits, StopsItself(steps + 1 + (steps > 10))))
    end = end_of(events)
    assert (end.outcome, end.steps, end.samples, end.epochs) == ("stopped", steps, 100 * steps, steps // 10)
    assert_close(end.weights, "linear1.weight", oracle.weight, 1e-5)
    assert end.test_accuracy is not None
    assert end.validation_accuracy is not None
    assert (end.train_loss is None) == (steps < 10)
    assert end.seconds_to_target is None


def test_stop_between_two_events_is_obeyed_before_the_next_step(job: JobMaker, splits: Splits) -> None:
    control = TrainingControl()
    events = []
    for event in train(job("quick-mlp", hidden=(4,), epochs=50, evaluate_every=RARELY), splits, control):
        events.append(event)
        if isinstance(event, StepsCompleted) and event.step == 30:
            control.stop()
    assert end_of(events).steps == 30
    assert end_of(events).outcome == "stopped"


def test_stop_during_an_evaluation_breaks_it_off(job: JobMaker, splits: Splits) -> None:
    control = TrainingControl()
    events = []
    for event in train(job("quick-mlp", hidden=(4,), epochs=50, evaluate_every=500), splits, control):
        events.append(event)
        if isinstance(event, StepsCompleted):
            control.stop()
    assert story(events) == [("StepsCompleted", 5), ("WeightsPublished", 5)]
    assert end_of(events).outcome == "stopped"
    assert end_of(events).steps == 5


class BackgroundRun:
    """A run in a thread of its own that stays at most two events ahead of who takes them."""

    def __init__(self, run: TrainingJob, splits: Splits, control: TrainingControl) -> None:
        self.control = control
        self._events: queue.Queue[Event] = queue.Queue(maxsize=1)
        self._thread = threading.Thread(target=self._work, args=(run, splits))
        self._thread.start()

    def _work(self, run: TrainingJob, splits: Splits) -> None:
        for event in train(run, splits, self.control):
            self._events.put(event)

    def next(self) -> Event:
        return self._events.get(timeout=30)

    def next_step(self) -> int:
        while not isinstance(event := self.next(), StepsCompleted):
            assert not isinstance(event, TrainingEnded)
        return event.step

    def is_held(self) -> bool:
        """Whether the events stop coming; takes those that were on their way."""
        for _ in range(6):
            try:
                self._events.get(timeout=0.3)
            except queue.Empty:
                return True
        return False

    def finish(self) -> TrainingEnded:
        """Stop the run and take its last event."""
        self.control.stop()
        while not isinstance(event := self.next(), TrainingEnded):
            pass
        self._thread.join(timeout=30)
        return event

    def abandon(self) -> None:
        """Bring the thread to its end whatever became of the test."""
        while self._thread.is_alive():
            self.control.stop()
            self.control.resume()
            with contextlib.suppress(queue.Empty):
                self._events.get(timeout=0.1)


@pytest.fixture
def begin(job: JobMaker, splits: Splits) -> Iterator[Callable[[TrainingControl], BackgroundRun]]:
    """Begins a run that would go on for 10,000 steps, each of which is reported."""
    begun = []

    def begin(control: TrainingControl) -> BackgroundRun:
        run = job("quick-mlp", hidden=(4,), batch_size=1000, epochs=10_000, evaluate_every=RARELY)
        begun.append(BackgroundRun(run, splits, control))
        return begun[-1]

    yield begin
    for run in begun:
        run.abandon()


def test_a_run_in_another_thread_is_held_goes_on_and_stops_as_told(begin) -> None:
    run = begin(TrainingControl())
    run.next_step()
    run.control.pause()
    assert run.is_held()
    run.control.resume()
    first = run.next_step()
    assert run.next_step() == first + 1
    run.control.pause()
    assert run.is_held()
    run.control.resume()
    seen = run.next_step()
    end = run.finish()
    assert end.outcome == "stopped"
    assert seen <= end.steps <= seen + 4


def test_stop_ends_a_run_that_is_held(begin) -> None:
    run = begin(TrainingControl())
    run.next_step()
    run.control.pause()
    assert run.is_held()
    assert run.finish().outcome == "stopped"


def test_a_run_that_was_held_before_it_began_announces_itself_and_takes_no_step(begin) -> None:
    control = TrainingControl()
    control.pause()
    run = begin(control)
    assert isinstance(run.next(), TrainingStarted)
    assert run.is_held()
    end = run.finish()
    assert (end.outcome, end.steps) == ("stopped", 0)


def test_a_run_told_to_stop_is_not_held_by_a_pause_that_comes_too_late() -> None:
    control, answers = TrainingControl(), []
    control.stop()
    control.pause()
    thread = threading.Thread(target=lambda: answers.append(control.should_stop()))
    thread.start()
    thread.join(timeout=2)
    held = thread.is_alive()
    control.resume()
    thread.join()
    assert not held
    assert answers == [True]


def test_resume_and_stop_may_be_said_more_than_once() -> None:
    control = TrainingControl()
    assert not control.should_stop()
    control.resume()
    control.pause()
    control.pause()
    control.resume()
    assert not control.should_stop()
    control.stop()
    control.stop()
    assert control.should_stop()
