"""The tab of the user's own digits: seen, counted, put right, taken in and written out, and learned from.

A room of its own because here it is decided what can be done with which of them, once for buttons and keys.
"""

from collections.abc import Sequence

from PySide6.QtCore import QLocale, Qt, Signal, Slot
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QMenu, QPushButton, QTabBar, QVBoxLayout, QWidget

from core.digits.my_digits import Problem
from core.training.hyperparameters import CLASSES
from gui import theme
from gui.digit_words import with_article
from gui.widgets.control_names import ControlNames, name_controls
from gui.widgets.own_digits_grid import OwnDigitsGrid
from gui.widgets.own_digits_model import OwnDigits, OwnDigitsModel
from gui.widgets.own_training import OwnTraining

_LINES_NAMED = 8


class MyDigitsPanel(QWidget):
    """Shows the user's digits; wishes carry the keys of those they are about. `shown` when they should be read anew.

    `train_requested(share 0.1..0.9, with the network in use)`.
    """

    shown = Signal()
    relabel_requested = Signal(list, int)
    delete_requested = Signal(list)
    undo_requested = Signal()
    import_requested = Signal()
    export_requested = Signal()
    train_requested = Signal(float, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._own = OwnDigits("")
        self._is_read = False
        self._can_train = False
        self._model = OwnDigitsModel(self)
        self._grid = OwnDigitsGrid(self._model)
        self._labels = QTabBar()
        self._wrong = QCheckBox()
        self._hint = QLabel(wordWrap=True)
        self._problems = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._relabel = QPushButton(self.tr("Change label"))
        self._delete = QPushButton(self.tr("Delete…"))
        self._undo = QPushButton(self.tr("Undo"))
        self._import = QPushButton(self.tr("Import…"))
        self._export = QPushButton(self.tr("Export…"))
        self._training = OwnTraining()
        self._result = QLabel(wordWrap=True)
        self._undo.setEnabled(False)
        self._fill()
        self._name_controls()
        self._arrange()
        self._connect()
        self._show_reading()
        self.show_result("")

    def show_digits(self, own: OwnDigits) -> None:
        """Show these; filters and what is chosen stay."""
        self._own, self._is_read = own, True
        number = QLocale().toString
        labels = [digit.label for digit in own.digits]
        self._labels.setTabText(0, self.tr("All %1").replace("%1", number(len(labels))))
        for label in range(CLASSES):
            self._labels.setTabText(1 + label, f"{label}: {number(labels.count(label))}")
        wrong = sum(digit.is_wrong for digit in own.digits)
        self._wrong.setText(self.tr("Only wrong ones: %1").replace("%1", number(wrong)))
        self._show_problems(own.problems)
        self._model.show_digits(own.digits)
        self._show_hint()
        self._show_state()

    @Slot()
    def show_failure(self) -> None:
        """Something about the file went wrong, which is told elsewhere; nothing is waited for any more."""
        if not self._is_read:
            self._hint.setText(self.tr("Your digits could not be read."))

    def allow(self, can_train: bool) -> None:
        """Whether a training could begin now."""
        self._can_train = can_train
        self._show_state()

    def show_data(self, title: str, can_mix: bool) -> None:
        """Which set these digits would be mixed into, and whether it shows digits at all."""
        self._training.show_data(title, can_mix)

    @Slot(bool)
    def allow_undo(self, can_undo: bool) -> None:
        """Whether there is a deletion to be undone."""
        self._undo.setEnabled(can_undo)

    @Slot(str)
    def show_result(self, sentence: str) -> None:
        """Say what the last training on these digits came to."""
        self._result.setText(sentence)
        self._result.setVisible(bool(sentence))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit()

    def _show_reading(self) -> None:
        """Until the file has been read nobody knows how many there are."""
        self._labels.setTabText(0, self.tr("All"))
        for label in range(CLASSES):
            self._labels.setTabText(1 + label, str(label))
        self._wrong.setText(self.tr("Only wrong ones"))
        self._show_problems(())
        self._show_hint()
        self._show_state()

    def _show_problems(self, problems: Sequence[Problem]) -> None:
        lines = ", ".join(QLocale().toString(problem.line) for problem in problems[:_LINES_NAMED])
        lines += "…" if len(problems) > _LINES_NAMED else ""
        one = self.tr("Line %1 of %2 is no digit and is passed over; it stays in the file as it is.")
        many = self.tr("%3 lines of %2 are no digits and are passed over: %1. They stay in the file as they are.")
        words = (one if len(problems) == 1 else many).replace("%1", lines).replace("%2", self._own.file_name)
        self._problems.setText(words.replace("%3", QLocale().toString(len(problems))))
        reasons = "\n".join(f"{problem.line}: {problem.reason}" for problem in problems[:_LINES_NAMED])
        self._problems.setToolTip(theme.tooltip(reasons))
        self._problems.setVisible(bool(problems))

    def _fill(self) -> None:
        for _ in range(1 + CLASSES):
            self._labels.addTab("")
        self._labels.setDrawBase(False)
        self._labels.setExpanding(False)
        self._labels.setUsesScrollButtons(True)
        menu = QMenu(self)
        for label in range(CLASSES):
            action = QAction(self.tr("This is %1").replace("%1", with_article(label)), menu)
            action.setData(label)
            action.triggered.connect(self._on_label_triggered)
            menu.addAction(action)
        self._relabel.setMenu(menu)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        for label_widget in (self._hint, self._problems):
            label_widget.setProperty("muted", True)

    def _name_controls(self) -> None:
        self._grid.setAccessibleName(self.tr("Your digits"))
        self._grid.setAccessibleDescription(
            self.tr("The keys 0 to 9 change the label of those chosen, Delete deletes them, Ctrl+A chooses all.")
        )
        name_controls([*self._filter_texts(), *self._button_texts()])
        for widget, name in ((self._hint, "ownHint"), (self._problems, "ownProblems"), (self._result, "ownResult")):
            widget.setObjectName(name)

    def _filter_texts(self) -> Sequence[ControlNames]:
        return (
            (
                self._labels,
                "ownLabels",
                self.tr("Label"),
                self.tr("How many digits of each label you have; choose one to see only those."),
            ),
            (
                self._wrong,
                "onlyWrong",
                self.tr("Only wrong ones"),
                self.tr("Show only those that the network in use reads as something else than you say."),
            ),
        )

    def _button_texts(self) -> Sequence[ControlNames]:
        return (
            (
                self._relabel,
                "relabelOwn",
                self.tr("Change label"),
                self.tr("Say what the chosen digits are; the keys 0 to 9 do the same."),
            ),
            (
                self._delete,
                "deleteOwn",
                self.tr("Delete"),
                self.tr("Take the chosen digits out of your collection, after a question; so does the key Delete."),
            ),
            (self._undo, "undoDeleteOwn", self.tr("Undo"), self.tr("Bring back what was deleted last.")),
            (
                self._import,
                "importOwn",
                self.tr("Import"),
                self.tr("Add the digits of another file, one a line (.jsonl). Those you have already are left out."),
            ),
            (
                self._export,
                "exportOwn",
                self.tr("Export"),
                self.tr("Write all your digits to a file, as ink: every point of every stroke."),
            ),
        )

    def _arrange(self) -> None:
        head, tools = QHBoxLayout(), QHBoxLayout()
        for row in (head, tools):
            row.setSpacing(theme.SPACING)
        head.addWidget(self._wrong)
        head.addStretch(1)
        for button in (self._import, self._export):
            head.addWidget(button)
        for button in (self._relabel, self._delete, self._undo):
            tools.addWidget(button)
        tools.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MARGIN, theme.SPACING, theme.MARGIN, theme.SPACING)
        layout.setSpacing(theme.SPACING)
        layout.addWidget(self._labels)
        layout.addLayout(head)
        layout.addWidget(self._grid, 1)
        layout.addWidget(self._hint, 1)
        layout.addWidget(self._problems)
        layout.addLayout(tools)
        layout.addWidget(self._training)
        layout.addWidget(self._result)

    def _connect(self) -> None:
        self._labels.currentChanged.connect(self._on_filter_changed)
        self._wrong.toggled.connect(self._on_filter_changed)
        self._grid.chosen_changed.connect(self._show_state)
        self._grid.label_chosen.connect(self._on_label_chosen)
        self._grid.delete_requested.connect(self._on_delete)
        self._delete.clicked.connect(self._on_delete)
        self._undo.clicked.connect(self.undo_requested)
        self._import.clicked.connect(self.import_requested)
        self._export.clicked.connect(self.export_requested)
        self._training.train_requested.connect(self.train_requested)

    @Slot()
    def _on_filter_changed(self) -> None:
        tab = self._labels.currentIndex()
        self._model.show_only(None if tab <= 0 else tab - 1, self._wrong.isChecked())
        self._show_hint()
        self._show_state()

    @Slot()
    def _show_state(self) -> None:
        has_any, has_chosen = bool(self._own.digits), bool(self._grid.chosen())
        self._relabel.setEnabled(has_chosen)
        self._delete.setEnabled(has_chosen)
        self._export.setEnabled(has_any)
        self._training.allow(self._can_train and has_any)

    def _show_hint(self) -> None:
        shows_some = self._model.rowCount() > 0
        self._grid.setVisible(shows_some)
        self._hint.setVisible(not shows_some)
        if not self._is_read:
            self._hint.setText(self.tr("Reading your digits…"))
            return
        self._hint.setText(
            self.tr("None of your digits is like that.")
            if self._own.digits
            else self.tr(
                "Draw a digit and press the key of what it is, 0 to 9.\n"
                "It is kept here, in a file of your own, and a network can learn from it."
            )
        )

    @Slot()
    def _on_label_triggered(self) -> None:
        action = self.sender()
        assert isinstance(action, QAction)
        self._on_label_chosen(int(action.data()))

    @Slot(int)
    def _on_label_chosen(self, label: int) -> None:
        if keys := [digit.key for digit in self._grid.chosen() if digit.label != label]:
            self.relabel_requested.emit(keys, label)

    @Slot()
    def _on_delete(self) -> None:
        if keys := [digit.key for digit in self._grid.chosen()]:
            self.delete_requested.emit(keys)
