"""The few questions the window asks by dialog: where a file lies or goes and how exactly, and what becomes of work."""

import enum
from pathlib import Path

from platformdirs import user_documents_path, user_pictures_path
from PySide6.QtCore import QCoreApplication, QLocale, Qt, SignalInstance
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMessageBox, QWidget

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
        self._question: QMessageBox | None = None

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

    def ask_which_picture(self) -> Path | None:
        """The path of a picture of digits."""
        # Opening pictures takes a while to import, and only this needs it.
        from core.digits.picture_file import PICTURE_SUFFIXES

        kinds = _tr("Pictures (%1);;All files (*)").replace("%1", " ".join(f"*{suffix}" for suffix in PICTURE_SUFFIXES))
        name, _ = QFileDialog.getOpenFileName(self._window, _tr("Open picture"), str(user_pictures_path()), kinds)
        return Path(name) if name else None

    def ask_which_data_folder(self) -> Path | None:
        """A folder with IDX files."""
        title = _tr("Open a folder with the four IDX files of MNIST, Fashion-MNIST or a set of that form")
        name = QFileDialog.getExistingDirectory(self._window, title, str(user_documents_path()))
        return Path(name) if name else None

    def ask_which_data_files(self, title: str) -> list[Path]:
        """Where the set called `title` lies: its files, one of them for the folder they are in, or archives."""
        words = _tr("Open %1: its four files, one of them, or an archive").replace("%1", title)
        kinds = _tr("Sets (*ubyte* *idx* *.gz *.zip);;All files (*)")
        names, _ = QFileDialog.getOpenFileNames(self._window, words, str(user_documents_path()), kinds)
        return [Path(name) for name in names]

    def ask_for_note(self, note: str) -> str | None:
        """What to write beside a run in place of `note`."""
        title, words = _tr("Note"), _tr("What is worth remembering about this run:")
        text, accepted = QInputDialog.getMultiLineText(self._window, title, words, note)
        return text if accepted else None

    def ask_before_deleting(self, name: str) -> bool:
        """Whether the run called `name` may go to the trash."""
        question = QMessageBox(self._window)
        question.setIcon(QMessageBox.Icon.Question)
        question.setWindowTitle(_tr("Delete run"))
        question.setTextFormat(Qt.TextFormat.PlainText)
        question.setText(_tr("Move “%1” to the trash?").replace("%1", name))
        question.setInformativeText(_tr("Its curves, its checkpoint and its network go with it."))
        delete = question.addButton(_tr("Move to trash"), QMessageBox.ButtonRole.DestructiveRole)
        keep = question.addButton(_tr("Keep"), QMessageBox.ButtonRole.RejectRole)
        question.setDefaultButton(keep)
        question.setEscapeButton(keep)
        question.exec()
        return question.clickedButton() is delete

    def ask_before_deleting_digits(self, count: int) -> bool:
        """Whether so many of the user's own digits may go."""
        question = QMessageBox(self._window)
        question.setIcon(QMessageBox.Icon.Question)
        question.setWindowTitle(_tr("Delete digits"))
        many = _tr("Delete %1 of your digits?").replace("%1", QLocale().toString(count))
        question.setText(_tr("Delete this digit of yours?") if count == 1 else many)
        question.setInformativeText(_tr("What was deleted last can be brought back while the window is open."))
        delete = question.addButton(_tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        keep = question.addButton(_tr("Keep"), QMessageBox.ButtonRole.RejectRole)
        question.setDefaultButton(keep)
        question.setEscapeButton(keep)
        question.exec()
        return question.clickedButton() is delete

    def ask_which_ink(self) -> Path | None:
        """The path of a file of digits to take in."""
        kinds = _tr("Digits as ink (*.jsonl);;All files (*)")
        name, _ = QFileDialog.getOpenFileName(self._window, _tr("Import digits"), str(user_documents_path()), kinds)
        return Path(name) if name else None

    def ask_where_to_put_ink(self) -> Path | None:
        """The path of the file to write digits to."""
        dialog = QFileDialog(self._window, _tr("Export digits"), str(user_documents_path()))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(_tr("Digits as ink (*.jsonl)"))
        dialog.setDefaultSuffix("jsonl")
        dialog.selectFile("my-digits.jsonl")
        return Path(dialog.selectedFiles()[0]) if dialog.exec() else None

    def ask_which_runs_folder(self, folder: Path) -> Path | None:
        """Where runs are to be kept in place of `folder`."""
        name = QFileDialog.getExistingDirectory(self._window, _tr("Keep runs in another folder"), str(folder))
        return Path(name) if name else None

    def ask_before_replacing(self) -> Keep:
        """Whether to save, give up or keep at hand the trained network in no file that another would replace."""
        return self._ask(
            _tr("Open network"),
            _tr("The network you trained is not saved."),
            _tr("Opening another without saving loses it."),
            (_tr("Save…"), _tr("Open without saving"), _tr("Stay")),
        )

    def ask_before_closing(self, training: bool, kept: bool = False) -> Keep:
        """Whether to save, discard or stay, when a network is in training, or has just been trained.

        A run that is `kept` loses nothing: there DISCARD closes, and there is nothing to SAVE.
        """
        if training and kept:
            return self._ask(
                _tr("Close Inkling"),
                _tr("A network is still in training."),
                _tr("It is stopped and kept as it stands; in the tab Runs it can go on another time."),
                ("", _tr("Stop and close"), _tr("Go on training")),
            )
        if training:
            return self._ask(
                _tr("Close Inkling"),
                _tr("A network is still in training."),
                _tr("It can be stopped here and saved as it stands, or given up."),
                (_tr("Stop and save…"), _tr("Stop without saving"), _tr("Go on training")),
            )
        if kept:
            return self._ask(
                _tr("Close Inkling"),
                _tr("The training has ended by itself."),
                _tr("The run and its network are kept; in the tab Runs they are found again."),
                ("", _tr("Close"), _tr("Stay")),
            )
        return self._ask(
            _tr("Close Inkling"),
            _tr("The network you trained is not saved."),
            _tr("Closing without saving loses it."),
            (_tr("Save…"), _tr("Close without saving"), _tr("Stay")),
        )

    def withdraw(self) -> None:
        """Close the question that is open, if one is that STAY answers; STAY is its answer."""
        if self._question is not None:
            self._question.reject()

    def _ask(self, title: str, text: str, consequence: str, answers: tuple[str, str, str]) -> Keep:
        """One question with a button for SAVE, if it has a text, for DISCARD and for STAY; Escape stays."""
        question = QMessageBox(self._window)
        question.setIcon(QMessageBox.Icon.Question)
        question.setWindowTitle(title)
        question.setText(text)
        question.setInformativeText(consequence)
        save = question.addButton(answers[0], QMessageBox.ButtonRole.AcceptRole) if answers[0] else None
        discard = question.addButton(answers[1], QMessageBox.ButtonRole.DestructiveRole)
        stay = question.addButton(answers[2], QMessageBox.ButtonRole.RejectRole)
        question.setDefaultButton(save or stay)
        question.setEscapeButton(stay)
        self._question = question
        question.exec()
        self._question = None
        clicked = question.clickedButton()
        return Keep.SAVE if save is not None and clicked is save else Keep.DISCARD if clicked is discard else Keep.STAY
