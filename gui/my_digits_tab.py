"""The user's own digits in the window: kept from the canvas, shown in their tab, and trained on."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QLocale, QObject, QTimer, Signal, Slot

from core.digits.dataset import DigitSets
from core.digits.downloads import shows_digits
from core.digits.mixture import can_hold_out
from core.training.events import TrainingEnded
from core.training.hyperparameters import RANGES
from core.training.job import TrainingJob
from core.training.model_file import Model
from gui.dialogs import Dialogs
from gui.job_setup import JobSetup
from gui.main_window import MainWindow
from gui.my_digits_controller import MyDigitsController
from gui.network_controller import NetworkController
from gui.training_controller import TrainingController
from gui.widgets.own_digits_model import OwnDigits

ANSWER_INTERVAL_MS = 1500
"""Between two times that a network in training is asked about all of them."""
_GENTLE = 0.1
"""Of the rate a network was made with, where it learns on: more would undo what it knows."""


class MyDigitsTab(QObject):
    """`notified` and `failed` carry a sentence. Nothing begins unless `is_free` says so."""

    notified = Signal(str)
    failed = Signal(str)

    def __init__(
        self,
        path: Path,
        window: MainWindow,
        setup: JobSetup,
        training: TrainingController,
        network: NetworkController,
        dialogs: Dialogs,
        is_free: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._window, self._setup, self._training, self._network = window, setup, training, network
        self._is_free = is_free
        self._panel = window.my_digits_panel
        self.controller = MyDigitsController(path, network.model_of_digits, dialogs, self)
        self._count = 0
        self._learns_all = False
        self._data_name = self._trained_on = ""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(ANSWER_INTERVAL_MS)
        self._connect()

    @Slot(object)
    def on_data_loaded(self, sets: DigitSets) -> None:
        self._data_name = sets.name
        self._panel.show_data(sets.name, shows_digits(sets.name))

    def finish(self) -> None:
        """Do what still has to be done to the file, and nothing else."""
        self._timer.stop()
        self.controller.finish()

    def _connect(self) -> None:
        panel, mine, training = self._panel, self.controller, self._training

        self._window.drawing_panel.labelled.connect(mine.keep)
        mine.listed.connect(panel.show_digits)
        mine.listed.connect(self._on_listed)
        mine.changed.connect(self._refresh_if_seen)
        mine.undo_changed.connect(panel.allow_undo)
        mine.notified.connect(self.notified)
        mine.failed.connect(self.failed)
        mine.failed.connect(panel.show_failure)

        panel.shown.connect(mine.refresh)
        panel.relabel_requested.connect(mine.relabel)
        panel.delete_requested.connect(mine.ask_to_delete)
        panel.undo_requested.connect(mine.undo)
        panel.import_requested.connect(mine.import_file)
        panel.export_requested.connect(mine.export_file)
        panel.train_requested.connect(self._on_train_requested)

        self._timer.timeout.connect(self.controller.ask_network)
        self._network.predictor_changed.connect(self._answer_soon)
        self._network.weights_changed.connect(self._answer_soon)

        training.job_accepted.connect(self._on_job_accepted)

    @Slot(OwnDigits)
    def _on_listed(self, own: OwnDigits) -> None:
        self._count = len(own.digits)

    @Slot()
    def _refresh_if_seen(self) -> None:
        if self._panel.isVisible():
            self.controller.refresh()

    @Slot()
    def _answer_soon(self) -> None:
        if self._panel.isVisible() and not self._timer.isActive():
            self._timer.start()

    @Slot(float, bool)
    def _on_train_requested(self, share: float, from_network: bool) -> None:
        job = self._setup.job()
        if job is None or not self._is_free():
            return
        if from_network and (model := self._network.model) is not None:
            job = self._learning_on(job, model)
        self._window.tabs.setCurrentIndex(0)
        self._training.start(replace(job, mine=share, my_digits=self.controller.path))

    def _learning_on(self, job: TrainingJob, model: Model) -> TrainingJob:
        """`job` for the network in use; where the form is about another, gently, and the form then shows it."""
        own = model.hyperparameters
        if (job.preset, job.hyperparameters.network) != (model.preset, own.network):
            rate = max(own.learning_rate * _GENTLE, RANGES["learning_rate"].minimum)
            gently = replace(own, epochs=1, learning_rate=rate)
            job = self._setup.show(replace(job, preset=model.preset, hyperparameters=gently))
        return replace(job, start=model.weights)

    @Slot(TrainingJob)
    def _on_job_accepted(self, job: TrainingJob) -> None:
        self._trained_on = self._data_name
        self._learns_all = self._count > 0 and not can_hold_out(self._count)
        if job.mine:
            self._panel.show_result("")

    @Slot(TrainingEnded)
    def on_ended(self, event: TrainingEnded) -> None:
        """Say what was won on the user's digits, and what forgotten of the others; the last word on a run."""
        if event.mine_accuracy is None or not event.learned or event.outcome in ("diverged", "failed"):
            return
        mine = _change(event.mine_accuracy_before, event.mine_accuracy, 1)
        others = _change(event.test_accuracy_before, event.test_accuracy, 2)
        words = self.tr("On yours %1, on %2 %3.")
        words = words.replace("%1", mine).replace("%3", others).replace("%2", self._trained_on)
        if self._learns_all:
            words += " " + self.tr("Fewer than five are yours, so all of them were learned from.")
        self._panel.show_result(words)
        self.notified.emit(words)


def _change(before: float | None, after: float, decimals: int) -> str:
    """An accuracy (0..1) in percent, and what it was before, if that is known."""
    shown = [f"{QLocale().toString(share * 100, 'f', decimals)} %" for share in (before, after) if share is not None]
    return " → ".join(shown)
