"""The offer to go on with a run that was broken off: a quiet line above the curves, which holds up nothing."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from core.training.ledger import RunSummary
from gui import theme
from gui.widgets.run_texts import data_title, place_in_words, run_name


class RecoveryBar(QWidget):
    """Hidden until there is something to offer; gone again once it is answered."""

    continue_requested = Signal(RunSummary)
    left = Signal(RunSummary)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run: RunSummary | None = None
        self._words = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._continue = QPushButton(self.tr("Continue"))
        self._leave = QPushButton(self.tr("Leave it"))
        self._name_controls()
        self._arrange()
        self._continue.clicked.connect(self._on_continue_clicked)
        self._leave.clicked.connect(self._on_leave_clicked)
        self.hide()

    def offer(self, run: RunSummary) -> None:
        """Offer to go on with `run`."""
        self._run = run
        words = self.tr("The run of %1 on %3 was broken off at %2.")
        words = words.replace("%2", place_in_words(run)).replace("%3", data_title(run))
        self._words.setText(words.replace("%1", run_name(run)))
        self.show()

    def allow(self, can_train: bool) -> None:
        """Whether a run could begin now."""
        self._continue.setEnabled(can_train)

    def withdraw(self) -> None:
        """Offer nothing any more."""
        self._run = None
        self.hide()

    def _name_controls(self) -> None:
        self.setObjectName("recoveryBar")
        self._words.setObjectName("recoveryWords")
        for button, name, explanation in (
            (
                self._continue,
                "recoveryContinue",
                self.tr("Go on from the last state that was kept, a few seconds before the end, as if nothing was."),
            ),
            (
                self._leave,
                "recoveryLeave",
                self.tr("Do not offer this run again. It stays in the tab Runs, and can go on from there."),
            ),
        ):
            button.setObjectName(name)
            button.setAccessibleDescription(explanation)
            button.setToolTip(theme.tooltip(explanation))
        self._continue.setProperty("primary", True)

    def _arrange(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACING)
        layout.addWidget(self._words, 1)
        layout.addWidget(self._continue)
        layout.addWidget(self._leave)

    @Slot()
    def _on_continue_clicked(self) -> None:
        if self._run is not None:
            self.continue_requested.emit(self._run)

    @Slot()
    def _on_leave_clicked(self) -> None:
        if self._run is not None:
            self.left.emit(self._run)
        self.withdraw()
