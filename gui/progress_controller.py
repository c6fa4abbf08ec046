"""What a run tells the eye: points for the curves as they come, words and numbers a few times a second.

Events arrive many times faster than anyone reads; curves are given each of them (they redraw by time themselves), the
status line only the latest when its timer comes round.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QLocale, QObject, QTimer, Signal, Slot

from core.training.events import (
    Evaluated,
    HyperparametersChanged,
    RunNotKept,
    StepsCompleted,
    TrainingEnded,
    TrainingStarted,
)
from core.training.job import TrainingJob
from gui.training_state import TrainingState

STATUS_INTERVAL_MS = 300
BARELY_LEARNED = 0.2
"""Test accuracy; guessing among ten classes reaches 0.1."""
READING_SECONDS = 8.0
"""How long a problem told during a run is left to be read."""


class ProgressController(QObject):
    """Emits texts for the status line, the share that is done, the accuracy to show, and points for the curves."""

    message_changed = Signal(str)
    problem_found = Signal(str)
    progress_changed = Signal(object)
    accuracy_changed = Signal(str, object)
    point_added = Signal(str, object)
    curves_reset = Signal()

    def __init__(self, clock: Callable[[], float] = time.monotonic, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._state = TrainingState.LOADING
        self._job: TrainingJob | None = None
        self._plan: TrainingStarted | None = None
        self._latest: StepsCompleted | None = None
        self._busy_seconds = 0.0
        self._busy_since = 0.0
        self._before: StepsCompleted | None = None
        self._quiet_until = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(STATUS_INTERVAL_MS)
        self._timer.timeout.connect(self._show_progress)

    @Slot(TrainingJob)
    def on_job_accepted(self, job: TrainingJob) -> None:
        self._job, self._plan, self._latest = job, None, None
        self._busy_seconds = 0.0
        self.curves_reset.emit()
        self.accuracy_changed.emit("", None)
        self.progress_changed.emit(0.0)
        self.message_changed.emit(self.tr("Preparing the device…"))

    @Slot(TrainingState)
    def on_state_changed(self, state: TrainingState) -> None:
        """Count the time spent training, pauses apart, and say what goes on."""
        if self._state is TrainingState.TRAINING:
            self._busy_seconds += self._clock() - self._busy_since
        self._state, self._busy_since = state, self._clock()
        self._quiet_until = 0.0
        if state is TrainingState.TRAINING:
            self._timer.start()
        else:
            self._timer.stop()
            self._show_progress()

    @Slot(TrainingStarted)
    def on_started(self, event: TrainingStarted) -> None:
        self._plan = event
        # A run that goes on has told by now what it did before, maybe on another day and device: only what follows
        # says how fast it is.
        self._before = self._latest
        self._busy_seconds, self._busy_since = 0.0, self._clock()

    @Slot(RunNotKept)
    def on_not_kept(self, event: RunNotKept) -> None:
        words = self.tr("Training goes on, but the run is not kept: %1. Save the network once it has learned.")
        self.problem_found.emit(words.replace("%1", event.reason))
        self.on_problem_told()

    @Slot(HyperparametersChanged)
    def on_changed(self, event: HyperparametersChanged) -> None:
        if self._plan is not None and self._job is not None:
            self._plan = replace(self._plan, total_steps=event.total_steps)
            self._job = replace(self._job, hyperparameters=event.hyperparameters)

    @Slot()
    def on_problem_told(self) -> None:
        """Leave it in the status line for a while: the next figures would wipe it away before anyone could read it."""
        self._quiet_until = self._clock() + READING_SECONDS

    @Slot(StepsCompleted)
    def on_steps_completed(self, event: StepsCompleted) -> None:
        self._latest = event
        self.point_added.emit("train", event)

    @Slot(Evaluated)
    def on_evaluated(self, event: Evaluated) -> None:
        self.point_added.emit(event.split, event)
        # The user's own digits are too few for the figure that stands for a run.
        if event.split != "mine":
            self.accuracy_changed.emit(event.split, event.accuracy)

    @Slot(TrainingEnded)
    def on_ended(self, event: TrainingEnded) -> None:
        self._latest = None
        if self._plan is not None:
            self.progress_changed.emit(event.steps / self._plan.total_steps)
        if event.learned:
            self.accuracy_changed.emit("test", event.test_accuracy)
        if problem := self._problem(event):
            self.problem_found.emit(problem)
        else:
            self.message_changed.emit(self._summary(event))

    def _problem(self, event: TrainingEnded) -> str:
        """What went wrong with the run and what to do, or nothing."""
        if event.outcome == "failed":
            kept = self.tr("What was learned before is kept.") if event.learned else self.tr("Nothing was learned.")
            return self.tr("The device could not go on: %1.").replace("%1", event.reason) + f" {kept}"
        if event.outcome == "diverged":
            kept = self.tr("The loss became infinite, so the run was ended and the last good weights kept.")
            nothing = self.tr("The loss became infinite before anything was learned, so the run was ended.")
            advice = self.tr("Choose a smaller learning rate and train again.")
            return f"{kept if event.learned else nothing} {advice}"
        if event.outcome == "completed" and event.test_accuracy < BARELY_LEARNED:
            return self.tr(
                "The network learned next to nothing: it answers little better than by chance. "
                "Try a smaller learning rate, or more epochs."
            )
        return ""

    def _summary(self, event: TrainingEnded) -> str:
        """How a run ended that went well, and how fast it was."""
        if not event.learned:
            return self.tr("Stopped before the first step: nothing was learned.")
        words = {
            "completed": self.tr("Finished: %1 digits in %2 of training steps, %3 digits/s."),
            "early": self.tr("Ended early, since it got no better: %1 digits in %2 of training steps, %3 digits/s."),
            "stopped": self.tr("Stopped: %1 digits in %2 of training steps, %3 digits/s. What was learned is kept."),
        }
        planned = self._job.hyperparameters.epochs if self._job is not None else event.epochs
        ending = "early" if event.outcome == "completed" and event.epochs < planned else event.outcome
        speed = event.samples / event.train_seconds if event.train_seconds else 0.0
        return (
            words.get(ending, words["completed"])
            .replace("%1", _whole(event.samples))
            .replace("%2", _duration(event.train_seconds))
            .replace("%3", _whole(speed))
        )

    @Slot()
    def _show_progress(self) -> None:
        if not self._state.is_running or self._latest is None or self._plan is None or self._job is None:
            return
        doing = {
            TrainingState.TRAINING: self.tr("Training on %1"),
            TrainingState.PAUSED: self.tr("Paused on %1"),
            TrainingState.STOPPING: self.tr("Stopping on %1"),
        }[self._state]
        # With fewer epochs than are done, a run still goes on to the end of the one it is in.
        done = min(self._latest.step / self._plan.total_steps, 1.0)
        epochs = self._job.hyperparameters.epochs
        parts = [
            doing.replace("%1", self._plan.device_name),
            self.tr("%1 digits/s").replace("%1", self._speed()),
            self.tr("epoch %1 of %2")
            .replace("%1", _whole(min(int(self._latest.epoch) + 1, epochs)))
            .replace("%2", _whole(epochs)),
            self.tr("%1 left").replace("%1", self._time_left()),
        ]
        if self._clock() >= self._quiet_until:
            self.message_changed.emit(" · ".join(parts))
        self.progress_changed.emit(done)

    def _speed(self) -> str:
        """Digits a second of the steps of this session."""
        assert self._latest is not None
        samples, seconds = self._latest.samples, self._latest.train_seconds
        if self._before is not None:
            samples, seconds = samples - self._before.samples, seconds - self._before.train_seconds
        return _whole(samples / seconds) if samples > 0 and seconds > 0 else "…"

    def _time_left(self) -> str:
        """As long as the steps of this session took, for those still to come."""
        assert self._latest is not None
        assert self._plan is not None
        done, left = self._latest.step, self._plan.total_steps - self._latest.step
        if self._before is not None:
            done -= self._before.step
        return _duration(self._busy_now() * max(left, 0) / done) if done > 0 else "…"

    def _busy_now(self) -> float:
        running = self._clock() - self._busy_since if self._state is TrainingState.TRAINING else 0.0
        return self._busy_seconds + running


def _whole(number: float) -> str:
    return QLocale().toString(round(number))


def _duration(seconds: float) -> str:
    """Minutes and seconds, with hours where there are any: 0:04, 12:30, 1:02:05."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
