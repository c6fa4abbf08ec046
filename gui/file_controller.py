"""Networks to and from files, as the menu asks for it; none that was trained here is dropped without a question."""

from pathlib import Path

from PySide6.QtCore import QObject, Slot

from core.training.model_file import Model
from gui.dialogs import Dialogs, Keep
from gui.network_controller import NetworkController
from gui.storage_controller import StorageController


class FileController(QObject):
    """Asks by `dialogs` and acts on `network`; `storage` says what each way to save costs."""

    def __init__(
        self,
        network: NetworkController,
        storage: StorageController,
        dialogs: Dialogs,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._network, self._storage, self._dialogs = network, storage, dialogs

    @property
    def has_unsaved(self) -> bool:
        """Whether a network that was trained here is in no file."""
        return self._network.has_unsaved

    @Slot()
    def save(self) -> None:
        """Ask for a precision and a place, and keep the network there as it stood when it was asked for."""
        if self._network.model is not None:
            self.save_model(self._network.model)

    def save_model(self, model: Model) -> None:
        """Ask for a precision and a place, and keep `model` there."""
        self._storage.start(model)
        precision = self._dialogs.ask_how_to_store(self._storage.measured, self._storage.measured_on)
        self._storage.stop()
        path = None if precision is None else self._dialogs.ask_where_to_save(self._network.suggested_file_name(model))
        if precision is not None and path is not None:
            self._network.save_file(path, precision, model)

    @Slot()
    def open(self) -> None:
        """Ask for a file, and let the network in it answer."""
        if self._may_replace() and (path := self._dialogs.ask_which_network()) is not None:
            self._network.open_file(path)

    def open_kept(self, path: Path, words: str) -> None:
        """Let the network of a kept run answer, named by `words`."""
        if self._may_replace():
            self._network.open_file(path, words)

    def save_kept(self, path: Path) -> None:
        """Ask where to, and keep a copy of the network of a kept run there."""
        if (model := self._network.read_file(path)) is not None:
            self.save_model(model)

    def _may_replace(self) -> bool:
        return not self.has_unsaved or self.settle(self._dialogs.ask_before_replacing())

    def settle(self, answer: Keep) -> bool:
        """Do what was answered about a network in no file; returns whether it may be dropped now."""
        if answer is Keep.SAVE and self.has_unsaved:
            self.save()
        return answer is Keep.DISCARD or (answer is Keep.SAVE and not self.has_unsaved)
