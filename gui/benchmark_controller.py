"""The benchmark and the race in the window: one of them at a time, in a thread of its own, begun and ended here."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from PySide6.QtCore import Signal, Slot

from core.digits.dataset import Splits
from core.training.benchmark import BenchmarkJob, benchmark
from core.training.job import TrainingControl, TrainingJob
from core.training.race import race
from gui.job_controller import JobController

Work: TypeAlias = Callable[[TrainingJob, Splits, TrainingControl], Iterable[object]]


class BenchmarkController(JobController):
    """`told` carries each event of the benchmark or the race; `running_changed` says when one begins and has ended."""

    running_changed = Signal(bool)
    told = Signal(object)

    @property
    def is_running(self) -> bool:
        return self._thread is not None

    @Slot(BenchmarkJob)
    def measure(self, job: BenchmarkJob) -> None:
        """Benchmark `job`, if nothing is being measured and the data is there."""

        def work(_job: TrainingJob, splits: Splits, control: TrainingControl) -> Iterable[object]:
            return benchmark(job, splits.train, control)

        # Any width will do: only which digits it is trained on is asked for.
        self._start(TrainingJob(job.preset, job.hyperparameters(job.hidden[0])), work)

    def race(self, job: TrainingJob, device_keys: Sequence[str]) -> None:
        """Run `job` on each of these devices in turn, if nothing is being measured and the data is there."""

        def work(job: TrainingJob, splits: Splits, control: TrainingControl) -> Iterable[object]:
            return race(job, device_keys, splits, control)

        self._start(job, work)

    @Slot()
    def stop(self) -> None:
        """Ask for an end after the step that is going on; what was measured stays."""
        self._control.stop()

    def _start(self, job: TrainingJob, work: Work) -> None:
        if self._thread is not None or self._sets is None:
            return
        if (thread := self._prepare(job, work)) is not None:
            self.running_changed.emit(True)
            thread.start()

    @Slot(object)
    def _on_produced(self, event: object) -> None:
        self.told.emit(event)

    def _came_home(self) -> None:
        self.running_changed.emit(False)
