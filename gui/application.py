"""The window's engine room: builds every part once and connects all signals in one list that can be read.

The window is shown before anything slow begins: data is read and devices are looked for in threads, and CuPy is not
imported unless a GPU is trained on.
"""

import sys

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from core import VERSION
from core.device_list import list_devices
from core.digits.dataset import DigitSets
from core.digits.downloads import BUILT_IN, title_of
from core.digits.my_digits import default_file
from core.training.events import Evaluated, HyperparametersChanged, StepsCompleted
from core.training.job import TrainingJob
from core.training.run_folder import default_runs_folder
from gui.background_job import BackgroundJob
from gui.closing_controller import ClosingController
from gui.data_choice import DataChoice
from gui.dialogs import Dialogs
from gui.distortion_controller import DistortionController
from gui.drawing_side import DrawingSide
from gui.file_controller import FileController
from gui.garbage_collector import GarbageCollector
from gui.job_setup import JobSetup
from gui.kept_runs import KeptRuns
from gui.main_window import MainWindow
from gui.measuring import Measuring
from gui.my_digits_tab import MyDigitsTab
from gui.network_controller import NetworkController
from gui.progress_controller import ProgressController
from gui.settings import user_settings_file
from gui.settings_controller import SettingsController
from gui.storage_controller import StorageController
from gui.theme import apply_theme
from gui.training_controller import TrainingController
from gui.widgets.hyperparameter_texts import change_in_words

GIL_SWITCH_INTERVAL_SECONDS = 0.001


class Application(QObject):
    """One window with everything behind it; `left` when it is closed and nothing computes any more."""

    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.window = MainWindow()
        self.dialogs = Dialogs(self.window)
        self.data = DataChoice(self.window, self.dialogs, self)
        self.devices = BackgroundJob(self)
        self.setup = JobSetup(self.window, self)
        self.training = TrainingController(default_runs_folder(), self)
        self.progress = ProgressController(parent=self)
        self.network = NetworkController(self)
        self.drawing = DrawingSide(self.window, self.network, self.dialogs, self)
        self.distortion = DistortionController(self)
        self.measuring = Measuring(self.window, self.setup, self.training, self)
        self.storage = StorageController(self)
        self.files = FileController(self.network, self.storage, self.dialogs, self)
        window, setup, training, is_free = self.window, self.setup, self.training, self._is_free
        self.mine = MyDigitsTab(default_file(), window, setup, training, self.network, self.dialogs, is_free, self)
        self.closing = ClosingController(self.training, self.files, self.dialogs, self)
        self.runs = KeptRuns(window, setup, training, self.files, self.dialogs, is_free, self)
        self.settings = SettingsController(user_settings_file(), self.window, self.runs, default_runs_folder(), self)
        self._shipped_answers = True
        self._leaves = False
        self._connect()
        self.setup.show_preset()
        self.settings.restore()

    def start(self) -> None:
        """Show the window, then begin what takes time."""
        self.window.show()
        QTimer.singleShot(0, self._begin)

    @Slot()
    def _begin(self) -> None:
        self.window.run_status.show_message(self.tr("Reading the digits…"))
        self._shipped_answers = self.network.open_shipped()
        self.data.begin()
        self.devices.start(list_devices)
        self.runs.controller.look_for_interrupted()

    def _connect(self) -> None:
        window, training, progress = self.window, self.training, self.progress
        controls, status = window.run_controls, window.run_status

        controls.train_requested.connect(self._on_train_requested)
        controls.pause_requested.connect(training.pause)
        controls.resume_requested.connect(training.resume)
        controls.stop_requested.connect(training.stop)
        window.hyperparameter_form.validity_changed.connect(self._show_state)
        window.hyperparameter_form.values_changed.connect(self._on_values_changed)
        self.setup.values_chosen.connect(training.change)
        window.hyperparameter_form.distortion_preview.another_requested.connect(self.distortion.draw_another)
        self.distortion.previewed.connect(window.hyperparameter_form.distortion_preview.show_pictures)

        self.data.loaded.connect(self._on_data_loaded)
        self.data.not_loaded.connect(self.runs.on_data_not_loaded)
        self.data.changed.connect(self._show_state)
        self.data.changed.connect(self._on_measuring_changed)
        self.data.notified.connect(status.show_message)
        self.data.failed.connect(status.show_problem)
        self.runs.data_wanted.connect(self.data.choose)
        self.devices.done.connect(window.device_selector.show_devices)
        self.devices.done.connect(window.benchmark_panel.show_devices)
        self.devices.failed.connect(status.show_problem)

        training.state_changed.connect(self._show_state)
        training.state_changed.connect(progress.on_state_changed)
        training.job_accepted.connect(self._on_job_accepted)
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
        training.kept.connect(self.network.on_kept)
        training.not_kept.connect(self.network.on_not_kept)
        training.not_kept.connect(progress.on_not_kept)
        training.ended.connect(progress.on_ended)
        training.ended.connect(self.network.on_ended)
        training.ended.connect(self.mine.on_ended)
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

        self.measuring.running_changed.connect(self._show_state)
        self.measuring.running_changed.connect(self._on_measuring_changed)

        self.mine.notified.connect(status.show_message)
        self.mine.failed.connect(status.show_problem)
        self.drawing.notified.connect(status.show_message)
        self.drawing.failed.connect(status.show_problem)
        for side in (self.mine, self.drawing, self.data):
            side.notified.connect(progress.on_problem_told)
            side.failed.connect(progress.on_problem_told)

        self.runs.failed.connect(status.show_problem)
        self.runs.failed.connect(progress.on_problem_told)
        self.runs.settings_changed.connect(self.settings.keep)
        window.reset_action.triggered.connect(self.settings.reset)

        self.network.can_save_changed.connect(window.save_network_action.setEnabled)
        self.network.notified.connect(status.show_message)
        self.network.failed.connect(status.show_problem)
        self.storage.failed.connect(status.show_problem)

        window.open_data_action.triggered.connect(self.data.open_folder)
        window.open_network_action.triggered.connect(self.files.open)
        window.save_network_action.triggered.connect(self.files.save)
        window.quit_action.triggered.connect(window.close)
        window.close_requested.connect(self.closing.on_close_requested)
        self.closing.close_allowed.connect(self._on_close_allowed)

    @Slot()
    def _on_train_requested(self) -> None:
        if (job := self.setup.job()) is not None and self._is_free():
            self.training.start(job)

    @Slot(TrainingJob)
    def _on_job_accepted(self, job: TrainingJob) -> None:
        self.window.run_controls.show_data("" if job.data == BUILT_IN else title_of(job.data))

    @Slot()
    def _on_values_changed(self) -> None:
        values = self.window.hyperparameter_form.values()
        if values is not None:
            self.distortion.show(values)

    @Slot(HyperparametersChanged)
    def _on_changed(self, event: HyperparametersChanged) -> None:
        words = change_in_words(event.changes)
        self.window.learning_plot.add_mark(event.samples, event.epoch, event.train_seconds, words)

    def _is_free(self) -> bool:
        """Whether nothing computes, and the digits of the next run are settled."""
        return self.measuring.is_free() and not self.data.is_reading

    @Slot()
    def _show_state(self) -> None:
        state, is_free = self.training.state, self._is_free()
        can_train = is_free and self.setup.job() is not None
        self.window.find_rate_action.setEnabled(can_train)
        self.window.benchmark_panel.show_state(self.measuring.benchmark.is_running, is_free, can_train)
        self.window.my_digits_panel.allow(can_train and self.setup.can_mix)
        self.window.runs_panel.allow(is_free, not state.is_running)
        self.window.recovery_bar.allow(is_free)
        # A run learns from one set to its end, so another is not taken into use beside it.
        may_change = not (state.is_running or self.measuring.is_running or self._leaves)
        self.data.allow(may_change)
        self.window.open_data_action.setEnabled(may_change)
        # Whoever leaves has waited for what ran; nothing may begin after that.
        self.drawing.allow(self.measuring.is_free() and not self._leaves)
        self.window.run_controls.show_state(state, can_train)
        for chooser in (self.window.device_selector, self.window.preset_selector):
            chooser.setEnabled(not state.is_running)
        self.window.hyperparameter_form.set_running(state.is_running)
        # The next weights of the run would silently take the opened network's place.
        self.window.open_network_action.setEnabled(not state.is_running)

    @Slot(object)
    def _on_data_loaded(self, sets: DigitSets) -> None:
        for part in (self.setup, self.measuring, self.mine, self.network, self.storage, self.distortion, self.drawing):
            part.on_data_loaded(sets)
        self.data.show(self.setup.data)
        # The last of all: a run may begin at once.
        self.training.use_data(sets)
        self._show_state()
        self.runs.on_data_loaded()
        # A shipped network that cannot answer has just been told of; that must stay to be read.
        problem_stands, self._shipped_answers = not self._shipped_answers, True
        if not problem_stands and not self.training.state.is_running:
            locale = self.window.locale()
            words = self.tr("%1 is ready: %2 digits to learn from, %3 to be tested on. Press Train.")
            if not self.setup.can_mix:
                words = self.tr("%1 is ready: %2 pictures to learn from, %3 to be tested on. Press Train.")
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
    def _on_measuring_changed(self) -> None:
        if self._leaves and not (self.measuring.is_running or self.data.is_running):
            self._on_close_allowed()

    @Slot()
    def _on_close_allowed(self) -> None:
        self._leaves = True
        self.settings.keep()
        for job in (self.data, self.devices, self.runs.controller, self.drawing):
            job.cancel()
        self.mine.finish()
        if self.measuring.is_running or self.data.is_running:
            # It ends after the step it is in; the window goes at once, the program then.
            self.measuring.stop()
            self.data.stop()
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
    garbage_collector = GarbageCollector(qt)
    application = Application()
    # Closing a window that was hidden before ends no program.
    application.left.connect(qt.quit)
    application.start()
    status = qt.exec()
    garbage_collector.stop()
    return status
