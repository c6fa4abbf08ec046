"""The questions, answered by pressing the buttons of the real dialogs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QInputDialog,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from core.training.storage import STORAGE_PRECISIONS
from gui.dialogs import Dialogs, Keep
from gui.widgets.save_dialog import StorageFigures

ON_THE_WORDS = QPoint(24, 8)


@pytest.fixture
def dialogs(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Dialogs:
    window = QWidget()
    qtbot.addWidget(window)
    # The system's own file dialogs cannot be pressed by a test; Qt's look and answer the same.
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    return Dialogs(window)


def when_open(act: Callable[[QWidget], None]) -> None:
    """Run `act` on the dialog that opens next."""

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        if dialog is None:
            QTimer.singleShot(20, look)
        else:
            act(dialog)

    QTimer.singleShot(20, look)


def type_name(dialog: QWidget, name: str) -> None:
    edit = dialog.findChild(QLineEdit)
    assert edit is not None
    edit.setText(name)


def press(words: str) -> Callable[[QWidget], None]:
    def act(dialog: QWidget) -> None:
        assert isinstance(dialog, QMessageBox)
        next(button for button in dialog.buttons() if words in button.text()).click()

    return act


@pytest.mark.parametrize(
    ("training", "words", "answer"),
    [
        (True, "Stop and save", Keep.SAVE),
        (True, "Stop without saving", Keep.DISCARD),
        (True, "Go on training", Keep.STAY),
        (False, "Save", Keep.SAVE),
        (False, "Close without saving", Keep.DISCARD),
        (False, "Stay", Keep.STAY),
    ],
)
def test_each_button_means_what_it_says(dialogs: Dialogs, training: bool, words: str, answer: Keep) -> None:
    when_open(press(words))
    assert dialogs.ask_before_closing(training) is answer


@pytest.mark.parametrize(("words", "answer"), [("Close", Keep.DISCARD), ("Stay", Keep.STAY)])
def test_after_a_run_that_is_kept_there_is_nothing_to_save(dialogs: Dialogs, words: str, answer: Keep) -> None:
    def look(dialog: QWidget) -> None:
        assert isinstance(dialog, QMessageBox)
        assert {button.text() for button in dialog.buttons()} == {"Close", "Stay"}
        press(words)(dialog)

    when_open(look)
    assert dialogs.ask_before_closing(training=False, kept=True) is answer


def test_a_question_that_is_withdrawn_closes_and_changes_nothing(dialogs: Dialogs) -> None:
    when_open(lambda dialog: dialogs.withdraw())
    assert dialogs.ask_before_closing(training=True) is Keep.STAY
    assert QApplication.activeModalWidget() is None
    dialogs.withdraw()


def test_escape_stays(qtbot: QtBot, dialogs: Dialogs) -> None:
    when_open(lambda dialog: qtbot.keyClick(dialog, Qt.Key.Key_Escape))
    assert dialogs.ask_before_closing(training=True) is Keep.STAY


class Measurements(QObject):
    """Tells what is measured, as the storage controller does."""

    measured = Signal(StorageFigures)


def choice(dialog: QWidget, precision: str) -> QRadioButton:
    found = dialog.findChild(QRadioButton, f"{precision}Choice")
    assert isinstance(found, QRadioButton)
    return found


@pytest.mark.parametrize("precision", STORAGE_PRECISIONS)
def test_saving_asks_for_a_precision_and_shows_what_is_measured_meanwhile(
    qtbot: QtBot, dialogs: Dialogs, precision: str
) -> None:
    measurements, texts = Measurements(), []

    def choose(dialog: QWidget) -> None:
        measurements.measured.emit(StorageFigures(precision, 420_000, 0.9871))
        texts.append(choice(dialog, precision).text())
        qtbot.mouseClick(choice(dialog, precision), Qt.MouseButton.LeftButton, pos=ON_THE_WORDS)
        qtbot.mouseClick(dialog.findChild(QPushButton, "saveButton"), Qt.MouseButton.LeftButton)

    when_open(choose)
    assert dialogs.ask_how_to_store(measurements.measured, "Measured on ten digits.") == precision
    assert texts == [f"{precision} – 0.42 MB – 98.71 %"]
    # What comes too late reaches no dialog that is gone.
    measurements.measured.emit(StorageFigures(precision, 1, 1.0))


def test_escape_saves_nothing(qtbot: QtBot, dialogs: Dialogs) -> None:
    when_open(lambda dialog: qtbot.keyClick(dialog, Qt.Key.Key_Escape))
    assert dialogs.ask_how_to_store(Measurements().measured, "") is None


def test_saving_asks_for_a_place(dialogs: Dialogs, tmp_path: Path) -> None:
    def choose(dialog: QWidget) -> None:
        assert isinstance(dialog, QFileDialog)
        dialog.setDirectory(str(tmp_path))
        type_name(dialog, "mine-98.24")
        dialog.accept()

    when_open(choose)
    assert dialogs.ask_where_to_save("x.safetensors") == tmp_path / "mine-98.24.safetensors"


def test_the_suggested_name_stands_in_the_field(dialogs: Dialogs) -> None:
    names: list[str] = []

    def look(dialog: QWidget) -> None:
        edit = dialog.findChild(QLineEdit)
        assert edit is not None
        names.append(edit.text())
        dialog.reject()  # type: ignore[attr-defined]

    when_open(look)
    dialogs.ask_where_to_save("quick-mlp-98.71.safetensors")
    assert names == ["quick-mlp-98.71.safetensors"]


def test_a_file_dialog_that_is_cancelled_asks_for_nothing(dialogs: Dialogs) -> None:
    for ask in (
        lambda: dialogs.ask_where_to_save("x.safetensors"),
        dialogs.ask_which_network,
        dialogs.ask_which_data_folder,
    ):
        when_open(lambda dialog: dialog.reject())  # type: ignore[attr-defined]
        assert ask() is None


def test_a_network_to_open_is_a_path(dialogs: Dialogs, tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(b"")

    def choose(dialog: QWidget) -> None:
        assert isinstance(dialog, QFileDialog)
        type_name(dialog, str(tmp_path / "a.safetensors"))
        dialog.accept()

    when_open(choose)
    assert dialogs.ask_which_network() == tmp_path / "a.safetensors"


def test_a_file_of_the_completed_name_is_not_replaced_without_a_question(dialogs: Dialogs, tmp_path: Path) -> None:
    """Typing "mine" means mine.safetensors; if that exists, the dialog comes back with the whole name."""
    (tmp_path / "mine.safetensors").write_bytes(b"precious")
    names: list[str] = []

    def choose(dialog: QWidget) -> None:
        assert isinstance(dialog, QFileDialog)
        dialog.setDirectory(str(tmp_path))
        type_name(dialog, "mine")
        when_open(look_and_cancel)
        dialog.accept()

    def look_and_cancel(dialog: QWidget) -> None:
        edit = dialog.findChild(QLineEdit)
        assert edit is not None
        names.append(edit.text())
        dialog.reject()  # type: ignore[attr-defined]

    when_open(choose)
    assert dialogs.ask_where_to_save("x.safetensors") is None
    assert names == ["mine.safetensors"]


@pytest.mark.parametrize(("words", "answer"), [("Stop and close", Keep.DISCARD), ("Go on training", Keep.STAY)])
def test_a_run_that_is_kept_needs_no_saving(dialogs: Dialogs, words: str, answer: Keep) -> None:
    buttons: list[str] = []

    def act(dialog: QWidget) -> None:
        assert isinstance(dialog, QMessageBox)
        buttons.extend(button.text() for button in dialog.buttons())
        press(words)(dialog)

    when_open(act)
    assert dialogs.ask_before_closing(training=True, kept=True) is answer
    assert sorted(buttons) == ["Go on training", "Stop and close"]


@pytest.mark.parametrize(("words", "answer"), [("Move to trash", True), ("Keep", False)])
def test_a_run_goes_to_the_trash_only_if_that_is_said(dialogs: Dialogs, words: str, answer: bool) -> None:
    def act(dialog: QWidget) -> None:
        assert isinstance(dialog, QMessageBox)
        assert "<b>Wide</b>" in dialog.text()
        assert dialog.textFormat() == Qt.TextFormat.PlainText
        press(words)(dialog)

    when_open(act)
    assert dialogs.ask_before_deleting("<b>Wide</b>") is answer


def test_escape_deletes_nothing(qtbot: QtBot, dialogs: Dialogs) -> None:
    when_open(lambda dialog: qtbot.keyClick(dialog, Qt.Key.Key_Escape))
    assert not dialogs.ask_before_deleting("Wide")


@pytest.mark.parametrize(("accept", "answer"), [(True, "wide, not deep"), (False, None)])
def test_a_note_is_written_or_left_as_it_was(qtbot: QtBot, dialogs: Dialogs, accept: bool, answer: str | None) -> None:
    def act(dialog: QWidget) -> None:
        assert isinstance(dialog, QInputDialog)
        text = dialog.findChild(QPlainTextEdit)
        assert text is not None
        assert text.toPlainText() == "wide"
        text.moveCursor(QTextCursor.MoveOperation.End)
        qtbot.keyClicks(text, ", not deep")
        dialog.accept() if accept else dialog.reject()

    when_open(act)
    assert dialogs.ask_for_note("wide") == answer


@pytest.mark.parametrize("accept", [True, False])
def test_another_folder_for_runs_is_chosen_or_not(dialogs: Dialogs, tmp_path: Path, accept: bool) -> None:
    def act(dialog: QWidget) -> None:
        assert isinstance(dialog, QFileDialog)
        dialog.accept() if accept else dialog.reject()

    when_open(act)
    assert dialogs.ask_which_runs_folder(tmp_path) == (tmp_path if accept else None)


@pytest.mark.parametrize(("count", "question"), [(1, "Delete this digit of yours?"), (12, "Delete 12 of your digits?")])
@pytest.mark.parametrize(("words", "answer"), [("Delete", True), ("Keep", False)])
def test_own_digits_go_only_if_that_is_said(
    dialogs: Dialogs, count: int, question: str, words: str, answer: bool
) -> None:
    def act(dialog: QWidget) -> None:
        assert isinstance(dialog, QMessageBox)
        assert dialog.text() == question
        press(words)(dialog)

    when_open(act)
    assert dialogs.ask_before_deleting_digits(count) is answer


def test_escape_deletes_no_digits(qtbot: QtBot, dialogs: Dialogs) -> None:
    when_open(lambda dialog: qtbot.keyClick(dialog, Qt.Key.Key_Escape))
    assert not dialogs.ask_before_deleting_digits(3)


@pytest.mark.parametrize(("name", "file"), [("out", "out.jsonl"), ("out.jsonl", "out.jsonl")])
def test_own_digits_are_written_to_a_file_that_can_be_known_again(
    dialogs: Dialogs, tmp_path: Path, name: str, file: str
) -> None:
    def choose(dialog: QWidget) -> None:
        assert isinstance(dialog, QFileDialog)
        dialog.setDirectory(str(tmp_path))
        type_name(dialog, name)
        dialog.accept()

    when_open(choose)
    assert dialogs.ask_where_to_put_ink() == tmp_path / file


def test_a_file_of_digits_is_chosen_or_not(dialogs: Dialogs, tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text("")

    def choose(dialog: QWidget) -> None:
        assert isinstance(dialog, QFileDialog)
        dialog.setDirectory(str(tmp_path))
        type_name(dialog, "other.jsonl")
        dialog.accept()

    when_open(choose)
    assert dialogs.ask_which_ink() == tmp_path / "other.jsonl"
    when_open(lambda dialog: dialog.reject())  # type: ignore[attr-defined]
    assert dialogs.ask_which_ink() is None


def test_a_picture_is_chosen_or_not(dialogs: Dialogs, tmp_path: Path) -> None:
    (tmp_path / "number.webp").write_text("")

    def choose(dialog: QWidget) -> None:
        assert isinstance(dialog, QFileDialog)
        assert "*.heic" in dialog.nameFilters()[0]
        dialog.setDirectory(str(tmp_path))
        type_name(dialog, "number.webp")
        dialog.accept()

    when_open(choose)
    assert dialogs.ask_which_picture() == tmp_path / "number.webp"
    when_open(lambda dialog: dialog.reject())  # type: ignore[attr-defined]
    assert dialogs.ask_which_picture() is None


def test_the_files_of_a_set_are_chosen_one_or_several_or_not(dialogs: Dialogs, tmp_path: Path) -> None:
    names = ["t10k-labels-idx1-ubyte.gz", "train-labels-idx1-ubyte.gz"]
    for name in names:
        (tmp_path / name).write_text("")

    def choose(dialog: QWidget) -> None:
        assert isinstance(dialog, QFileDialog)
        assert "KMNIST" in dialog.windowTitle()
        dialog.setDirectory(str(tmp_path))
        type_name(dialog, " ".join(f'"{name}"' for name in names))
        dialog.accept()

    when_open(choose)
    assert sorted(dialogs.ask_which_data_files("KMNIST")) == [tmp_path / name for name in names]
    when_open(lambda dialog: dialog.reject())  # type: ignore[attr-defined]
    assert dialogs.ask_which_data_files("KMNIST") == []
