"""The search for a learning rate in the window: one short run in a thread of its own, begun and ended here."""

from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from core.digits.dataset import DatasetError, DigitSets, split
from core.training.rate_finder import RatesTried, RateTried, find_rate
from core.training.trainer import TrainingControl, TrainingJob
from gui.worker_thread import WorkerThread


class RateFinderController(QObject):
    """Signals carry the search's events; `running_changed` says when one begins and when it has ended."""

    running_changed = Signal(bool)
    tried = Signal(RateTried)
    found = Signal(RatesTried)
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sets: DigitSets | None = None
        self._thread: WorkerThread | None = None
        self._control = TrainingControl()

    @property
    def is_running(self) -> bool:
        return self._thread is not None

    @Slot(object)
    def use_data(self, sets: DigitSets) -> None:
        """Search the next times on `sets`."""
        self._sets = sets

    def start(self, job: TrainingJob) -> None:
        """Search a rate for `job`, if none is being searched and the data is there."""
        if self._thread is not None or self._sets is None:
            return
        try:
            splits = split(self._sets, job.hyperparameters.validation_digits, job.hyperparameters.train_limit)
        except DatasetError as error:
            self.failed.emit(str(error))
            return
        self._control = TrainingControl()
        self._thread = WorkerThread(partial(find_rate, job, splits, self._control), self)
        self._thread.produced.connect(self._on_produced)
        self._thread.failed.connect(self.failed)
        self._thread.finished.connect(self._on_finished)
        self.running_changed.emit(True)
        self._thread.start()

    @Slot()
    def stop(self) -> None:
        """Ask the search to end after the step it is in."""
        self._control.stop()

    @Slot(object)
    def _on_produced(self, event: object) -> None:
        (self.tried if isinstance(event, RateTried) else self.found).emit(event)

    @Slot()
    def _on_finished(self) -> None:
        if self._thread is not None:
            self._thread.wait()
            self._thread.deleteLater()
            self._thread = None
        self.running_changed.emit(False)
