"""What the window remembers: put back at the start, kept at the end, and forgotten when that is asked for."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, Slot
from PySide6.QtGui import QGuiApplication

from core.training.presets import PRESETS
from gui.kept_runs import KeptRuns
from gui.main_window import MainWindow
from gui.settings import Settings, SettingsFile


class SettingsController(QObject):
    """Keeps in the file at `path` how `window` stands and where runs are kept; `runs_folder` is the usual place."""

    def __init__(
        self, path: Path, window: MainWindow, runs: KeptRuns, runs_folder: Path, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._file, self._window, self._runs, self._runs_folder = SettingsFile(path), window, runs, runs_folder
        self._widths: tuple[int, ...] = ()

    def restore(self) -> None:
        """Put the window as it was left; before it is shown."""
        settings = self._file.read()
        # Qt refuses a place on a screen that is another now, and what is no place at all; the rest holds.
        placed = not settings.geometry or self._window.restoreGeometry(QByteArray(settings.geometry))
        if not placed or QGuiApplication.screenAt(self._window.geometry().center()) is None:
            self._window.arrange_anew()
        self._show(settings)

    @Slot()
    def keep(self) -> None:
        """Write down how the window stands."""
        window, runs = self._window, self._runs.controller
        widths = tuple(window.splitter.sizes())
        # Out of sight nothing need be laid out, and then these say nothing.
        if window.isVisible() and all(widths):
            self._widths = widths
        self._file.write(
            Settings(
                geometry=bytes(window.saveGeometry().data()),
                splitter=self._widths,
                tab=window.tabs.currentIndex(),
                device=window.device_selector.selected_key(),
                preset=window.preset_selector.selected_name(),
                axis=window.learning_plot.axis(),
                logarithmic=window.learning_plot.is_logarithmic(),
                runs_folder="" if runs.folder == self._runs_folder else str(runs.folder),
                left_run=runs.left_run,
            )
        )

    @Slot()
    def reset(self) -> None:
        """Forget all of it: the window stands as at the first start. Runs and networks stay."""
        self._window.arrange_anew()
        fresh = Settings(left_run=self._runs.controller.left_run)
        # While a run goes on, what it was started from must not be put away under it.
        if self._window.preset_selector.isEnabled():
            fresh = replace(fresh, preset=next(iter(PRESETS)), device="cpu")
        self._show(fresh)
        self.keep()

    def _show(self, settings: Settings) -> None:
        window = self._window
        # A pane of no width could not be brought back by hand.
        if len(settings.splitter) == window.splitter.count() and all(settings.splitter):
            window.splitter.setSizes(list(settings.splitter))
            self._widths = settings.splitter
        if 0 <= settings.tab < window.tabs.count():
            window.tabs.setCurrentIndex(settings.tab)
        if settings.preset in PRESETS:
            window.preset_selector.select(settings.preset)
        if settings.device:
            window.device_selector.select(settings.device)
        window.learning_plot.show_as(settings.axis or "samples", settings.logarithmic)
        self._runs.controller.left_run = settings.left_run
        self._runs.use_folder(Path(settings.runs_folder) if settings.runs_folder else self._runs_folder)
