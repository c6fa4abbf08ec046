"""A job of core in a thread of its own, on the digits that are loaded: what training and the search for a rate share.

It owns the thread. A new one starts only after the last one's has ended.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import QObject, Signal, Slot

from core.digits.dataset import DatasetError, DigitSets, Splits, split
from core.training.job import TrainingControl, TrainingJob
from core.training.training_digits import splits_of
from gui.worker_thread import WorkerThread

Work: TypeAlias = Callable[[TrainingJob, Splits, TrainingControl], Iterable[object]]


class JobController(QObject):
    """`failed` carries a sentence; what the job yields, and its end, are up to the two methods at the bottom."""

    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sets: DigitSets | None = None
        self._thread: WorkerThread | None = None
        self._control = TrainingControl()

    @Slot(object)
    def use_data(self, sets: DigitSets) -> None:
        """Take the next jobs' digits from `sets`; one that is going keeps its own."""
        self._sets = sets

    def _prepare(self, job: TrainingJob, work: Work) -> WorkerThread | None:
        """The thread that will do `work`, not started yet; None, and the reason told, if the digits do not suffice."""
        assert self._sets is not None
        try:
            split(self._sets, job.hyperparameters.validation_digits, job.hyperparameters.train_limit)
        except DatasetError as error:
            self.failed.emit(str(error))
            return None
        self._control = TrainingControl()
        self._thread = WorkerThread(partial(_work_on, self._sets, work, job, self._control), self)
        self._thread.produced.connect(self._on_produced)
        self._thread.failed.connect(self.failed)
        self._thread.finished.connect(self._on_finished)
        return self._thread

    @Slot()
    def _on_finished(self) -> None:
        if self._thread is not None:
            self._thread.discard()
            self._thread = None
        self._came_home()

    @Slot(object)
    def _on_produced(self, event: object) -> None:
        raise NotImplementedError

    def _came_home(self) -> None:
        raise NotImplementedError


def _work_on(sets: DigitSets, work: Work, job: TrainingJob, control: TrainingControl) -> Iterator[object]:
    """What `work` yields, on digits that the thread gathers: the user's own come from a file."""
    yield from work(job, splits_of(job, sets), control)
