"""The few questions the window asks by dialog: where a file lies or goes and how exactly, and what becomes of work."""

import enum
from pathlib import Path

from platformdirs import user_documents_path
from PySide6.QtCore import QCoreApplication, SignalInstance
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from core.training.model_file import SUFFIX
from gui.widgets.save_dialog import SaveDialog


class Keep(enum.Enum):
    """What to do with a network that is in no file when the window is to close."""

    SAVE = enum.auto()
    DISCARD = enum.auto()
    STAY = enum.auto()


def _tr(text: str) -> str:
    return QCoreApplication.translate("Dialogs", text)


class Dialogs:
    """Asks over `window`; every answer may be None or STAY, which means: nothing is to happen."""

    def __init__(self, window: QWidget) -> None:
        self._window = window

    def ask_how_to_store(self, measured: SignalInstance, measured_on: str) -> str | None:
        """One of STORAGE_PRECISIONS; `measured` brings StorageFigures, from the digits that `measured_on` names."""
        dialog = SaveDialog(measured_on, self._window)
        measured.connect(dialog.show_figures)
        accepted = dialog.exec()
        measured.disconnect(dialog.show_figures)
        dialog.deleteLater()
        return dialog.precision() if accepted else None

    def ask_where_to_save(self, suggested_name: str) -> Path | None:
        """The path of the file to write."""
        dialog = QFileDialog(self._window, _tr("Save network"), str(user_documents_path()))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(_tr("Networks (*.safetensors)"))
        dialog.selectFile(suggested_name)
        while dialog.exec():
            path = Path(dialog.selectedFiles()[0])
            complete = path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
            # The dialog asks before it replaces a file, but only one of the very name that was typed.
            if complete == path or not complete.exists():
                return complete
            dialog.selectFile(complete.name)
        return None

    def ask_which_network(self) -> Path | None:
        """The path of a network to open."""
        kinds = _tr("Networks (*.safetensors);;All files (*)")
        name, _ = QFileDialog.getOpenFileName(self._window, _tr("Open network"), str(user_documents_path()), kinds)
        return Path(name) if name else None

    def ask_which_data_folder(self) -> Path | None:
        """A folder with IDX files."""
        title = _tr("Open a folder with the four IDX files of MNIST, Fashion-MNIST or a set of that form")
        name = QFileDialog.getExistingDirectory(self._window, title, str(user_documents_path()))
        return Path(name) if name else None

    def ask_before_replacing(self) -> Keep:
        """Whether to save, give up or keep at hand the trained network in no file that another would replace."""
        return self._ask(
            _tr("Open network"),
            _tr("The network you trained is not saved."),
            _tr("Opening another without saving loses it."),
            (_tr("Save…"), _tr("Open without saving"), _tr("Stay")),
        )

    def ask_before_closing(self, training: bool) -> Keep:
        """Whether to save, discard or stay, when a network is in training, or trained and not saved."""
        if training:
            return self._ask(
                _tr("Close Inkling"),
                _tr("A network is still in training."),
                _tr("It can be stopped here and saved as it stands, or given up."),
                (_tr("Stop and save…"), _tr("Stop without saving"), _tr("Go on training")),
            )
        return self._ask(
            _tr("Close Inkling"),
            _tr("The network you trained is not saved."),
            _tr("Closing without saving loses it."),
            (_tr("Save…"), _tr("Close without saving"), _tr("Stay")),
        )

    def _ask(self, title: str, text: str, consequence: str, answers: tuple[str, str, str]) -> Keep:
        """One question with three buttons, for SAVE, DISCARD and STAY; Escape stays."""
        question = QMessageBox(self._window)
        question.setIcon(QMessageBox.Icon.Question)
        question.setWindowTitle(title)
        question.setText(text)
        question.setInformativeText(consequence)
        save = question.addButton(answers[0], QMessageBox.ButtonRole.AcceptRole)
        discard = question.addButton(answers[1], QMessageBox.ButtonRole.DestructiveRole)
        stay = question.addButton(answers[2], QMessageBox.ButtonRole.RejectRole)
        question.setDefaultButton(save)
        question.setEscapeButton(stay)
        question.exec()
        clicked = question.clickedButton()
        return Keep.SAVE if clicked is save else Keep.DISCARD if clicked is discard else Keep.STAY
