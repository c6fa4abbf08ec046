"""The life of a training run in the window: start or go on, pause, resume, stop, and home again.

It owns the state; the thread is the job controller's. Every run is kept in a folder as it goes.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from core.digits.dataset import DigitSets, Splits
from core.training.events import (
    Evaluated,
    HyperparametersChanged,
    RunNotKept,
    StepsCompleted,
    TrainingEnded,
    TrainingStarted,
    WeightsPublished,
)
from core.training.hyperparameters import HyperparameterError, Hyperparameters
from core.training.job import TrainingControl, TrainingJob, check_change
from gui.job_controller import JobController
from gui.kept_run import Retold, RunGoesOn, RunKept, begin, go_on
from gui.training_state import TrainingState


class TrainingController(JobController):
    """Signals carry the trainer's events one kind each; `failed` carries a sentence.

    New runs get a folder below `runs_folder`. A run that goes on tells again what it told before it was broken off.
    """

    state_changed = Signal(TrainingState)
    job_accepted = Signal(TrainingJob)
    started = Signal(TrainingStarted)
    steps_completed = Signal(StepsCompleted)
    evaluated = Signal(Evaluated)
    weights_published = Signal(WeightsPublished)
    changed = Signal(HyperparametersChanged)
    ended = Signal(TrainingEnded)
    kept = Signal(RunKept)
    not_kept = Signal(RunNotKept)
    went_on = Signal(RunGoesOn)

    def __init__(self, runs_folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.runs_folder = runs_folder
        self._state = TrainingState.LOADING
        self._job: TrainingJob | None = None
        self._network = self._refused = ""
        self._is_kept = False
        self._signals = {
            TrainingStarted: self.started,
            StepsCompleted: self.steps_completed,
            Evaluated: self.evaluated,
            WeightsPublished: self.weights_published,
            HyperparametersChanged: self.changed,
            TrainingEnded: self.ended,
            RunKept: self.kept,
            RunNotKept: self.not_kept,
            RunGoesOn: self.went_on,
        }
        self.kept.connect(self._on_kept)
        self.not_kept.connect(self._on_kept)
        self.went_on.connect(self._on_went_on)

    @property
    def state(self) -> TrainingState:
        return self._state

    @property
    def is_kept(self) -> bool:
        """Whether the run, or the last one, is written to its folder as it goes."""
        return self._is_kept

    @Slot(object)
    def use_data(self, sets: DigitSets) -> None:
        """Train the next runs on `sets`; a run that is going keeps its own."""
        super().use_data(sets)
        if self._state is TrainingState.LOADING:
            self._move_to(TrainingState.IDLE)

    def start(self, job: TrainingJob) -> None:
        """Begin `job`, if nothing runs and the data is there."""
        self._start(job, partial(begin, self.runs_folder))

    def go_on(self, path: Path, job: TrainingJob) -> None:
        """Go on with the run of `job` that is kept at `path`, if nothing runs and the data is there."""
        self._start(job, partial(go_on, path))

    def _start(
        self, job: TrainingJob, work: Callable[[TrainingJob, Splits, TrainingControl], Iterable[object]]
    ) -> None:
        if self._state is not TrainingState.IDLE or self._sets is None:
            return
        if (thread := self._prepare(job, work)) is None:
            return
        self._job, self._network, self._refused, self._is_kept = job, job.hyperparameters.network, "", False
        self.job_accepted.emit(job)
        self._move_to(TrainingState.TRAINING)
        thread.start()

    @Slot()
    def pause(self) -> None:
        if self._state is TrainingState.TRAINING:
            self._control.pause()
            self._move_to(TrainingState.PAUSED)

    @Slot()
    def resume(self) -> None:
        if self._state is TrainingState.PAUSED:
            self._control.resume()
            self._move_to(TrainingState.TRAINING)

    def change(self, hyperparameters: Hyperparameters) -> None:
        """Let the run go on with these from its next step; what cannot be is told and changes nothing."""
        if self._job is None or self._state not in (TrainingState.TRAINING, TrainingState.PAUSED):
            return
        problem = self._problem_with(hyperparameters)
        if problem:
            # Another network may stand in the form for the next run; that is told once, and the rest counts.
            if hyperparameters.network != self._refused or self._network == hyperparameters.network:
                self._refused = hyperparameters.network
                self.failed.emit(problem)
            hyperparameters = replace(hyperparameters, network=self._network)
            if self._problem_with(hyperparameters):
                return
        self._network = hyperparameters.network
        self._control.change(hyperparameters)

    def _problem_with(self, hyperparameters: Hyperparameters) -> str:
        """Why the run cannot go on with these; empty if it can."""
        assert self._job is not None
        try:
            check_change(self._job.preset, self._job.hyperparameters, hyperparameters)
        except HyperparameterError as error:
            return str(error)
        return ""

    @Slot()
    def stop(self) -> None:
        """Ask the run to end; `ended` and the state IDLE follow when it has."""
        if self._state in (TrainingState.TRAINING, TrainingState.PAUSED):
            self._move_to(TrainingState.STOPPING)
            self._control.stop()

    def _move_to(self, state: TrainingState) -> None:
        self._state = state
        self.state_changed.emit(state)

    @Slot(object)
    def _on_kept(self, event: RunKept | RunNotKept) -> None:
        self._is_kept = isinstance(event, RunKept)

    @Slot(RunGoesOn)
    def _on_went_on(self, event: RunGoesOn) -> None:
        self._network = event.hyperparameters.network

    @Slot(object)
    def _on_produced(self, event: object) -> None:
        for told in event.events if isinstance(event, Retold) else (event,):
            self._signals[type(told)].emit(told)

    def _came_home(self) -> None:
        self._move_to(TrainingState.IDLE)
