"""What measures instead of training: the search for a learning rate, the benchmark and the race, with their windows.

A room of its own because each of them wants the whole machine, or would spoil what another measures.
"""

from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from core.digits.dataset import DigitSets
from core.training.rate_finder import HIGHEST, LOWEST, RatesTried, RateTried
from gui.benchmark_controller import BenchmarkController
from gui.job_setup import JobSetup
from gui.main_window import MainWindow
from gui.rate_finder_controller import RateFinderController
from gui.training_controller import TrainingController
from gui.training_state import TrainingState
from gui.widgets.rate_finder_window import RateFinderWindow


class Measuring(QObject):
    """`running_changed` when something begins or has ended; nothing begins unless `is_free()`."""

    running_changed = Signal(bool)

    def __init__(
        self, window: MainWindow, setup: JobSetup, training: TrainingController, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._window, self._setup, self._training = window, setup, training
        self.rates = RateFinderController(self)
        self.rate_window = RateFinderWindow(window)
        self.benchmark = BenchmarkController(self)
        self._connect()

    @property
    def is_running(self) -> bool:
        return self.rates.is_running or self.benchmark.is_running

    def is_free(self) -> bool:
        """Whether nothing computes, training included."""
        return self._training.state is TrainingState.IDLE and not self.is_running

    @Slot(object)
    def on_data_loaded(self, sets: DigitSets) -> None:
        self.rates.use_data(sets)
        self.benchmark.use_data(sets)

    def stop(self) -> None:
        """Ask for an end after the step that is going on."""
        self.rates.stop()
        self.benchmark.stop()

    def _connect(self) -> None:
        bench, status = self._window.benchmark_panel, self._window.run_status

        self.rates.running_changed.connect(self.running_changed)
        self.rates.tried.connect(self._on_rate_tried)
        self.rates.found.connect(self._on_rates_tried)
        self.rates.failed.connect(self.rate_window.show_problem)
        self.rate_window.closed.connect(self.rates.stop)
        self.rate_window.rate_chosen.connect(self._on_rate_chosen)
        self._window.find_rate_action.triggered.connect(self._on_find_rate)

        bench.benchmark_requested.connect(self.benchmark.measure)
        bench.race_requested.connect(self._on_race_requested)
        bench.cancel_requested.connect(self.benchmark.stop)
        bench.exported.connect(status.show_message)
        bench.export_failed.connect(status.show_problem)
        self.benchmark.running_changed.connect(self.running_changed)
        self.benchmark.told.connect(bench.show_event)
        self.benchmark.failed.connect(bench.show_problem)

    @Slot()
    def _on_find_rate(self) -> None:
        if (job := self._setup.job()) is not None and self.is_free():
            self.rate_window.begin(LOWEST, HIGHEST)
            self.rates.start(job)

    @Slot(RateTried)
    def _on_rate_tried(self, event: RateTried) -> None:
        self.rate_window.add_point(event.learning_rate, event.loss)

    @Slot(RatesTried)
    def _on_rates_tried(self, event: RatesTried) -> None:
        self.rate_window.show_result(event.suggested)

    @Slot(float)
    def _on_rate_chosen(self, rate: float) -> None:
        form = self._window.hyperparameter_form
        if (values := form.values()) is not None:
            form.show_values(replace(values, learning_rate=rate))

    @Slot(tuple)
    def _on_race_requested(self, device_keys: tuple[str, ...]) -> None:
        if (job := self._setup.job()) is not None and self.is_free():
            self.benchmark.race(job, device_keys)
