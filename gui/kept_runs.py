"""The runs that are kept, in the window: the tab with their list, and the offer to go on with one broken off."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from core.digits.dataset_files import is_here
from core.digits.downloads import SETS
from core.training.job import TrainingJob
from core.training.ledger import RunSummary
from core.training.run_folder import LAST
from gui.dialogs import Dialogs
from gui.file_controller import FileController
from gui.job_setup import JobSetup
from gui.kept_run import RunGoesOn
from gui.main_window import MainWindow
from gui.runs_controller import RunsController
from gui.training_controller import TrainingController
from gui.training_state import TrainingState
from gui.widgets.run_texts import run_name


class KeptRuns(QObject):
    """`settings_changed` when the folder is another, or a run is not to be offered again; `failed` carries a sentence.

    `data_wanted` carries the name of the set that a run learned from, which is another than the one in use. Nothing
    begins unless `is_free` says so.
    """

    settings_changed = Signal()
    data_wanted = Signal(str)
    failed = Signal(str)

    def __init__(
        self,
        window: MainWindow,
        setup: JobSetup,
        training: TrainingController,
        files: FileController,
        dialogs: Dialogs,
        is_free: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._window, self._setup, self._training = window, setup, training
        self._files, self._dialogs, self._is_free = files, dialogs, is_free
        self.controller = RunsController(training.runs_folder, dialogs, self)
        self._offered: RunSummary | None = None
        self._waiting: tuple[RunSummary, Callable[[RunSummary], None]] | None = None
        self._connect()

    def use_folder(self, folder: Path) -> None:
        """Keep the next runs in `folder`, and list those that are there."""
        self._training.runs_folder = folder
        self.controller.use_folder(folder)
        self._refresh_if_seen()

    def _connect(self) -> None:
        runs, panel, bar = self.controller, self._window.runs_panel, self._window.recovery_bar
        status, training = self._window.run_status, self._training

        runs.listed.connect(panel.show_runs)
        runs.interrupted.connect(self._on_interrupted)
        runs.failed.connect(self.failed)

        panel.shown.connect(runs.refresh)
        panel.continue_requested.connect(self._on_continue_requested)
        panel.repeat_requested.connect(self._on_repeat_requested)
        panel.use_requested.connect(self._on_use_requested)
        panel.save_requested.connect(self._on_save_requested)
        panel.rename_requested.connect(runs.rename)
        panel.note_requested.connect(runs.ask_for_note)
        panel.delete_requested.connect(runs.ask_to_delete)
        panel.folder_requested.connect(self._on_folder_requested)
        panel.overlay.exported.connect(status.show_message)
        panel.overlay.export_failed.connect(status.show_problem)

        bar.continue_requested.connect(self._on_continue_requested)
        bar.left.connect(self._on_left)

        training.job_accepted.connect(self._on_job_accepted)
        training.kept.connect(self._refresh_if_seen)
        training.went_on.connect(self._on_went_on)
        training.state_changed.connect(self._on_state_changed)

    @Slot(RunSummary)
    def _on_interrupted(self, run: RunSummary) -> None:
        if not self._training.state.is_running:
            self._offered = run
            self._window.recovery_bar.offer(run)

    def on_data_loaded(self) -> None:
        """Another set is in use; a run that waited for just that begins."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None and waiting[0].info is not None and waiting[0].info.job.data == self._setup.data:
            run, begin = waiting
            begin(run)

    @Slot()
    def on_data_not_loaded(self) -> None:
        self._waiting = None

    @Slot(RunSummary)
    def _on_continue_requested(self, run: RunSummary) -> None:
        if (job := self._job_of(run, self._on_continue_requested)) is None:
            return
        if self._offered is not None and self._offered.path == run.path:
            self._offered = None
        self._training.go_on(run.path, self._setup.show(job))

    @Slot(RunSummary)
    def _on_repeat_requested(self, run: RunSummary) -> None:
        if (job := self._job_of(run, self._on_repeat_requested)) is not None:
            self._training.start(self._setup.show(job))

    def _job_of(self, run: RunSummary, begin: Callable[[RunSummary], None]) -> TrainingJob | None:
        """What `run` was to do, with its curves in sight; None, and the reason told, if it cannot be done now.

        If its set is here but not in use, it is asked for, and `begin` is called again once it is.
        """
        if run.info is None or not self._is_free():
            return None
        job = run.info.job
        if job.data != self._setup.data:
            self._ask_for(job.data, (run, begin))
            return None
        self._window.tabs.setCurrentIndex(0)
        return replace(job, device_key=run.device_key or job.device_key)

    def _ask_for(self, data: str, waiting: tuple[RunSummary, Callable[[RunSummary], None]]) -> None:
        if data not in SETS:
            words = self.tr("This run learned from %1, which is not open: open that first.")
            self.failed.emit(words.replace("%1", data))
            return
        here = is_here(data)
        self._waiting = waiting if here else None
        self.data_wanted.emit(data)
        if not here:
            words = self.tr(
                "This run learned from %1, which is not on this machine: get it under Data, then try again."
            )
            self.failed.emit(words.replace("%1", SETS[data].title))

    @Slot(RunSummary)
    def _on_use_requested(self, run: RunSummary) -> None:
        self._files.open_kept(run.path / LAST, self.tr("the network of the run “%1”").replace("%1", run_name(run)))

    @Slot(RunSummary)
    def _on_save_requested(self, run: RunSummary) -> None:
        self._files.save_kept(run.path / LAST)

    @Slot()
    def _on_folder_requested(self) -> None:
        folder = self._dialogs.ask_which_runs_folder(self.controller.folder)
        if folder is not None:
            self.use_folder(folder)
            self.settings_changed.emit()

    @Slot(RunSummary)
    def _on_left(self, run: RunSummary) -> None:
        self._offered = None
        self.controller.leave(run)
        self.settings_changed.emit()

    @Slot(TrainingJob)
    def _on_job_accepted(self, _job: TrainingJob) -> None:
        # Who begins another run has seen the offer, and has left it.
        if self._offered is not None:
            self._on_left(self._offered)
        self._window.recovery_bar.withdraw()
        self._waiting = None

    @Slot(RunGoesOn)
    def _on_went_on(self, event: RunGoesOn) -> None:
        self._setup.show_values(event.hyperparameters)

    @Slot(TrainingState)
    def _on_state_changed(self, state: TrainingState) -> None:
        if state is TrainingState.IDLE:
            self._refresh_if_seen()

    @Slot()
    def _refresh_if_seen(self) -> None:
        if self._window.runs_panel.isVisible():
            self.controller.refresh()
