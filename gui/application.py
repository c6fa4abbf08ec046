"""The window's engine room: builds every part once and connects all signals in one list that can be read.

The window is shown before anything slow begins: data is read and devices are looked for in threads, and CuPy is not
imported unless a GPU is trained on.
"""

import sys
from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from core import VERSION
from core.device_list import list_devices
from core.digits.dataset import DigitSets
from core.digits.mnist import load_mnist
from core.training.events import Evaluated, HyperparametersChanged, StepsCompleted
from core.training.presets import find_preset
from core.training.rate_finder import HIGHEST, LOWEST, RatesTried, RateTried
from core.training.trainer import TrainingJob
from gui.background_job import BackgroundJob
from gui.benchmark_controller import BenchmarkController
from gui.closing_controller import ClosingController
from gui.dialogs import Dialogs
from gui.distortion_controller import DistortionController
from gui.drawing_controller import DrawingController
from gui.example_controller import ExampleController
from gui.file_controller import FileController
from gui.main_window import MainWindow
from gui.nearest_controller import NearestController
from gui.network_controller import NetworkController
from gui.progress_controller import ProgressController
from gui.rate_finder_controller import RateFinderController
from gui.storage_controller import StorageController
from gui.theme import apply_theme
from gui.training_controller import TrainingController
from gui.training_state import TrainingState
from gui.widgets.hyperparameter_texts import change_in_words
from gui.widgets.rate_finder_window import RateFinderWindow

GIL_SWITCH_INTERVAL_SECONDS = 0.001


class Application(QObject):
    """One window with everything behind it; `left` when it is closed and nothing computes any more."""

    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.window = MainWindow()
        self.dialogs = Dialogs(self.window)
        self.data = BackgroundJob(self)
        self.devices = BackgroundJob(self)
        self.training = TrainingController(self)
        self.progress = ProgressController(parent=self)
        self.drawing = DrawingController(self)
        self.examples = ExampleController(self)
        self.nearest = NearestController(self)
        self.network = NetworkController(self)
        self.distortion = DistortionController(self)
        self.rates = RateFinderController(self)
        self.rate_window = RateFinderWindow(self.window)
        self.benchmark = BenchmarkController(self)
        self.storage = StorageController(self)
        self.files = FileController(self.network, self.storage, self.dialogs, self)
        self.closing = ClosingController(self.training, self.files, self.dialogs, self)
        self._shipped_answers = True
        self._leaves = False
        self._connect()
        self._on_preset_selected(self.window.preset_selector.selected_name())

    def start(self) -> None:
        """Show the window, then begin what takes time."""
        self.window.show()
        QTimer.singleShot(0, self._begin)

    @Slot()
    def _begin(self) -> None:
        self.window.run_status.show_message(self.tr("Reading the digits…"))
        self._shipped_answers = self.network.open_shipped()
        self.data.start(lambda cancelled: load_mnist())
        self.devices.start(list_devices)

    def _connect(self) -> None:
        window, training, progress = self.window, self.training, self.progress
        controls, status, panel = window.run_controls, window.run_status, window.drawing_panel
        bench = window.benchmark_panel

        controls.train_requested.connect(self._on_train_requested)
        controls.pause_requested.connect(training.pause)
        controls.resume_requested.connect(training.resume)
        controls.stop_requested.connect(training.stop)
        window.preset_selector.preset_selected.connect(self._on_preset_selected)
        window.hyperparameter_form.validity_changed.connect(self._show_state)
        window.hyperparameter_form.values_changed.connect(self._on_values_changed)
        window.hyperparameter_form.distortion_preview.another_requested.connect(self.distortion.draw_another)
        self.distortion.previewed.connect(window.hyperparameter_form.distortion_preview.show_pictures)

        self.data.done.connect(self._on_data_loaded)
        self.data.failed.connect(status.show_problem)
        self.devices.done.connect(window.device_selector.show_devices)
        self.devices.done.connect(window.benchmark_panel.show_devices)
        self.devices.failed.connect(status.show_problem)

        training.state_changed.connect(self._show_state)
        training.state_changed.connect(progress.on_state_changed)
        training.job_accepted.connect(progress.on_job_accepted)
        training.job_accepted.connect(self.network.on_job_accepted)
        training.started.connect(progress.on_started)
        training.steps_completed.connect(progress.on_steps_completed)
        training.evaluated.connect(progress.on_evaluated)
        training.evaluated.connect(self.network.on_evaluated)
        training.weights_published.connect(self.network.on_weights_published)
        training.changed.connect(progress.on_changed)
        training.changed.connect(self._on_changed)
        training.changed.connect(self.network.on_changed)
        training.ended.connect(progress.on_ended)
        training.ended.connect(self.network.on_ended)
        training.failed.connect(status.show_problem)

        for problem in (training.failed, self.network.failed, window.learning_plot.export_failed):
            problem.connect(progress.on_problem_told)
        progress.message_changed.connect(status.show_message)
        progress.problem_found.connect(status.show_problem)
        progress.progress_changed.connect(status.show_progress)
        progress.accuracy_changed.connect(controls.show_accuracy)
        progress.point_added.connect(self._on_point_added)
        progress.curves_reset.connect(window.learning_plot.reset)
        window.learning_plot.exported.connect(status.show_message)
        window.learning_plot.export_failed.connect(status.show_problem)

        self.rates.running_changed.connect(self._show_state)
        self.rates.tried.connect(self._on_rate_tried)
        self.rates.found.connect(self._on_rates_tried)
        self.rates.failed.connect(self.rate_window.show_problem)
        self.rates.running_changed.connect(self._on_measuring_changed)
        self.rate_window.closed.connect(self.rates.stop)
        self.rate_window.rate_chosen.connect(self._on_rate_chosen)
        window.find_rate_action.triggered.connect(self._on_find_rate)

        bench.benchmark_requested.connect(self.benchmark.measure)
        bench.race_requested.connect(self._on_race_requested)
        bench.cancel_requested.connect(self.benchmark.stop)
        bench.exported.connect(status.show_message)
        bench.export_failed.connect(status.show_problem)
        self.benchmark.running_changed.connect(self._show_state)
        self.benchmark.running_changed.connect(self._on_measuring_changed)
        self.benchmark.told.connect(bench.show_event)
        self.benchmark.failed.connect(bench.show_problem)

        panel.ink_changed.connect(self.drawing.on_ink_changed)
        panel.digit_put.connect(self.drawing.on_digit_put)
        panel.moved.connect(self.drawing.on_moved)
        panel.recipe_changed.connect(self.drawing.on_recipe_changed)
        self.drawing.answered.connect(panel.show_answer)
        self.drawing.traced.connect(panel.show_way)
        self.drawing.answered.connect(self.nearest.on_answered)
        panel.steps_shown.connect(self.nearest.set_wanted)
        self.nearest.found.connect(panel.show_nearest)
        self.nearest.failed.connect(status.show_problem)
        panel.random_example_requested.connect(self.examples.choose_by_lot)
        panel.example_requested.connect(self.examples.choose)
        self.examples.ready.connect(panel.allow_examples)
        self.examples.chosen.connect(panel.canvas.put)
        self.network.predictor_changed.connect(self.drawing.use_predictor)
        self.network.weights_changed.connect(self.drawing.use_weights)
        self.network.named.connect(panel.show_network_name)
        self.network.can_save_changed.connect(window.save_network_action.setEnabled)
        self.network.notified.connect(status.show_message)
        self.network.failed.connect(status.show_problem)
        self.storage.failed.connect(status.show_problem)

        window.open_data_action.triggered.connect(self._on_open_data)
        window.open_network_action.triggered.connect(self.files.open)
        window.save_network_action.triggered.connect(self.files.save)
        window.quit_action.triggered.connect(window.close)
        window.close_requested.connect(self.closing.on_close_requested)
        self.closing.close_allowed.connect(self._on_close_allowed)

    @Slot(str)
    def _on_preset_selected(self, name: str) -> None:
        preset = find_preset(name)
        measured = self.tr("Measured on two cores: %1.").replace("%1", preset.figure)
        lesson = QCoreApplication.translate("presets", preset.lesson)
        self.window.hyperparameter_form.show_lesson(f"{lesson} {measured}")
        self.window.hyperparameter_form.show_values(preset.hyperparameters)

    def _chosen_job(self) -> TrainingJob | None:
        values = self.window.hyperparameter_form.values()
        if values is None:
            return None
        preset = self.window.preset_selector.selected_name()
        return TrainingJob(preset, values, self.window.device_selector.selected_key())

    @Slot()
    def _on_train_requested(self) -> None:
        if (job := self._chosen_job()) is not None and self._is_free():
            self.training.start(job)

    @Slot()
    def _on_find_rate(self) -> None:
        if (job := self._chosen_job()) is not None and self._is_free():
            self.rate_window.begin(LOWEST, HIGHEST)
            self.rates.start(job)

    @Slot(tuple)
    def _on_race_requested(self, device_keys: tuple[str, ...]) -> None:
        if (job := self._chosen_job()) is not None and self._is_free():
            self.benchmark.race(job, device_keys)

    def _is_free(self) -> bool:
        """Whether nothing computes: each of these wants the whole machine, or would spoil what another measures."""
        measures = self.rates.is_running or self.benchmark.is_running
        return self.training.state is TrainingState.IDLE and not measures

    @Slot(RateTried)
    def _on_rate_tried(self, event: RateTried) -> None:
        self.rate_window.add_point(event.learning_rate, event.loss)

    @Slot(RatesTried)
    def _on_rates_tried(self, event: RatesTried) -> None:
        self.rate_window.show_result(event.suggested)

    @Slot(float)
    def _on_rate_chosen(self, rate: float) -> None:
        form = self.window.hyperparameter_form
        if (values := form.values()) is not None:
            form.show_values(replace(values, learning_rate=rate))

    @Slot()
    def _on_values_changed(self) -> None:
        values = self.window.hyperparameter_form.values()
        if values is not None:
            self.distortion.show(values)
            self.training.change(values)

    @Slot(HyperparametersChanged)
    def _on_changed(self, event: HyperparametersChanged) -> None:
        words = change_in_words(event.changes)
        self.window.learning_plot.add_mark(event.samples, event.epoch, event.train_seconds, words)

    @Slot()
    def _show_state(self) -> None:
        state = self.training.state
        can_train = self._is_free() and self.window.hyperparameter_form.values() is not None
        self.window.find_rate_action.setEnabled(can_train)
        self.window.benchmark_panel.show_state(self.benchmark.is_running, self._is_free(), can_train)
        self.window.run_controls.show_state(state, can_train)
        for chooser in (self.window.device_selector, self.window.preset_selector):
            chooser.setEnabled(not state.is_running)
        self.window.hyperparameter_form.set_running(state.is_running)
        # The next weights of the run would silently take the opened network's place.
        self.window.open_network_action.setEnabled(not state.is_running)

    @Slot(object)
    def _on_data_loaded(self, sets: DigitSets) -> None:
        self.training.use_data(sets)
        self.rates.use_data(sets)
        self.benchmark.use_data(sets)
        self._show_state()
        self.network.on_data_loaded(sets)
        self.storage.on_data_loaded(sets)
        self.distortion.on_data_loaded(sets)
        self.examples.on_data_loaded(sets)
        self.nearest.on_data_loaded(sets)
        # A shipped network that cannot answer has just been told of; that must stay to be read.
        problem_stands, self._shipped_answers = not self._shipped_answers, True
        if not problem_stands and not self.training.state.is_running:
            locale = self.window.locale()
            words = self.tr("%1 is ready: %2 digits to learn from, %3 to be tested on. Press Train.")
            self.window.run_status.show_message(
                words.replace("%1", sets.name)
                .replace("%2", locale.toString(len(sets.train)))
                .replace("%3", locale.toString(len(sets.test)))
            )

    @Slot(str, object)
    def _on_point_added(self, series: str, event: StepsCompleted | Evaluated) -> None:
        self.window.learning_plot.add_point(
            series, event.samples, event.epoch, event.train_seconds, event.accuracy, event.loss
        )

    @Slot()
    def _on_open_data(self) -> None:
        folder = self.dialogs.ask_which_data_folder()
        if folder is not None:
            self.data.start(lambda cancelled, folder=folder: load_mnist(folder))  # type: ignore[misc]

    @Slot(bool)
    def _on_measuring_changed(self, running: bool) -> None:
        if not running and self._leaves:
            self._on_close_allowed()

    @Slot()
    def _on_close_allowed(self) -> None:
        self._leaves = True
        self.data.cancel()
        self.devices.cancel()
        self.nearest.cancel()
        if self.rates.is_running or self.benchmark.is_running:
            # It ends after the step it is in; the window goes at once, the program then.
            self.rates.stop()
            self.benchmark.stop()
            self.window.hide()
            return
        self.window.allow_close()
        self.window.close()
        self.left.emit()


def run_window() -> int:
    """Open the window and stay until it is closed; returns the exit status."""
    # The GUI thread gets the interpreter back sooner from a training thread that would keep it 5 ms.
    sys.setswitchinterval(GIL_SWITCH_INTERVAL_SECONDS)
    qt = QApplication(sys.argv)
    qt.setApplicationName("Inkling")
    qt.setApplicationVersion(VERSION)
    apply_theme(qt)
    application = Application()
    # Closing a window that was hidden before ends no program.
    application.left.connect(qt.quit)
    application.start()
    return qt.exec()
