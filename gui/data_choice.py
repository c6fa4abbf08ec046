"""The choice of a set in the window: the field that shows it, the offer to get another, and what both ask for."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from gui.data_controller import DataController
from gui.dialogs import Dialogs
from gui.main_window import MainWindow

_ALL_FILES = 4


class DataChoice(QObject):
    """`loaded(DigitSets)`: another set is in use; `changed` when reading or getting one begins or ends.

    `not_loaded`: the set that was asked for is not. `notified` and `failed` carry a sentence.
    """

    loaded = Signal(object)
    not_loaded = Signal()
    changed = Signal()
    notified = Signal(str)
    failed = Signal(str)

    def __init__(self, window: MainWindow, dialogs: Dialogs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._field, self._offer = window.hyperparameter_form.data_field, window.hyperparameter_form.data_offer
        self._dialogs = dialogs
        self.controller = DataController(parent=self)
        self._connect()

    @property
    def is_reading(self) -> bool:
        """Whether another set is about to be in use."""
        return self.controller.is_reading

    @property
    def is_running(self) -> bool:
        """Whether a set is being got, from the network or from files."""
        return self.controller.is_running

    def begin(self) -> None:
        """Read the built-in set, and see which others are here."""
        self.controller.begin()
        self.controller.look()

    def allow(self, free: bool) -> None:
        """Whether another set may be taken into use now."""
        self.controller.allow(free)
        self._field.setEnabled(free)

    @Slot(str)
    def choose(self, name: str) -> None:
        """Use the set called `name`, or offer to get it."""
        self.controller.choose(name)

    @Slot()
    def open_folder(self) -> None:
        """Ask for a folder with a set that Inkling need not know, and use that."""
        if (folder := self._dialogs.ask_which_data_folder()) is not None:
            self.controller.open_folder(folder)

    def show(self, name: str) -> None:
        """Let the field say that this set is in use."""
        self._field.show_in_use(name)

    def stop(self) -> None:
        """Ask what is being got for an end."""
        self.controller.stop()

    def cancel(self) -> None:
        """Give up what is being read, and wait for its end."""
        self.controller.cancel()

    def _connect(self) -> None:
        field, offer, data = self._field, self._offer, self.controller

        field.chosen.connect(data.choose)
        field.opened.connect(data.look)
        offer.download_requested.connect(data.fetch)
        offer.open_requested.connect(self._on_open_requested)
        offer.cancel_requested.connect(data.stop)
        offer.declined.connect(data.decline)

        data.listed.connect(field.show_here)
        data.offered.connect(offer.show_offer)
        data.progressed.connect(offer.show_progress)
        data.reading_files.connect(offer.show_reading)
        data.cancelling.connect(offer.show_cancelling)
        data.loaded.connect(self.loaded)
        data.not_loaded.connect(self.not_loaded)
        for happening in (data.not_loaded, data.reading_began, data.running_changed):
            happening.connect(self.changed)
        data.notified.connect(self.notified)
        data.failed.connect(self.failed)

    @Slot()
    def _on_open_requested(self) -> None:
        published = self.controller.offered_set
        if published is None or not (paths := self._dialogs.ask_which_data_files(published.title)):
            return
        self.controller.open_files(_with_the_others(paths))


def _with_the_others(paths: list[Path]) -> list[Path]:
    """`paths`, and where they are some of the four files, the folder in which the others will be."""
    is_all = len(paths) >= _ALL_FILES or any(path.suffix.lower() == ".zip" for path in paths)
    return paths if is_all else [*paths, paths[0].parent]
