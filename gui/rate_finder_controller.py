"""The search for a learning rate in the window: one short run in a thread of its own, begun and ended here."""

from PySide6.QtCore import Signal, Slot

from core.training.job import TrainingJob
from core.training.rate_finder import RatesTried, RateTried, find_rate
from gui.job_controller import JobController


class RateFinderController(JobController):
    """Signals carry the search's events; `running_changed` says when one begins and when it has ended."""

    running_changed = Signal(bool)
    tried = Signal(RateTried)
    found = Signal(RatesTried)

    @property
    def is_running(self) -> bool:
        return self._thread is not None

    def start(self, job: TrainingJob) -> None:
        """Search a rate for `job`, if none is being searched and the data is there."""
        if self._thread is not None or self._sets is None:
            return
        if (thread := self._prepare(job, find_rate)) is not None:
            self.running_changed.emit(True)
            thread.start()

    @Slot()
    def stop(self) -> None:
        """Ask the search to end after the step it is in."""
        self._control.stop()

    @Slot(object)
    def _on_produced(self, event: object) -> None:
        (self.tried if isinstance(event, RateTried) else self.found).emit(event)

    def _came_home(self) -> None:
        self.running_changed.emit(False)
