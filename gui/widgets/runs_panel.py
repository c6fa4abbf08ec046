"""The tab of the runs that are kept: their list, what can be done with them, and the curves of those that are ticked.

A room of its own because here it is decided what may be done with which run, once for buttons, menu and keys.
"""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QAction, QDesktopServices, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QSplitter, QVBoxLayout, QWidget

from core.training.events import OUTCOMES
from core.training.ledger import RUNNING, RunSummary
from gui import theme
from gui.widgets.runs_model import RunsModel
from gui.widgets.runs_overlay import RunsOverlay
from gui.widgets.runs_table import RunsTable


class RunsPanel(QWidget):
    """Shows runs; every wish carries the RunSummary it is about. `shown` when the list should be read anew."""

    shown = Signal()
    continue_requested = Signal(RunSummary)
    repeat_requested = Signal(RunSummary)
    use_requested = Signal(RunSummary)
    save_requested = Signal(RunSummary)
    rename_requested = Signal(RunSummary, str)
    note_requested = Signal(RunSummary)
    delete_requested = Signal(RunSummary)
    folder_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._can_train = self._can_use = False
        self._model = RunsModel(self)
        self._table = RunsTable(self._model)
        self.overlay = RunsOverlay()
        self._hint = QLabel(wordWrap=True)
        self._buttons: dict[str, QPushButton] = {}
        self._more = QPushButton(self.tr("More"))
        self._actions = self._make_actions()
        self._arrange()
        self._connect()
        self._show_state()

    def show_runs(self, runs: Sequence[RunSummary]) -> None:
        """Show these, the latest first; ticks and the chosen run stay."""
        self._model.show_runs(runs)
        self._hint.setVisible(not runs)
        self._table.setVisible(bool(runs))

    def allow(self, can_train: bool, can_use: bool) -> None:
        """Whether a run could begin or go on now, and whether the network that answers may be another."""
        self._can_train, self._can_use = can_train, can_use
        self._show_state()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit()

    def _make_actions(self) -> dict[str, QAction]:
        texts = {
            "continue": (
                self.tr("Continue"),
                self.tr("Go on with this run exactly where it was stopped or broken off."),
            ),
            "repeat": (
                self.tr("Repeat"),
                self.tr(
                    "Train once more from the same start with the same seed: on the CPU bit for bit, but for what was "
                    "changed on the way."
                ),
            ),
            "use": (self.tr("Use network"), self.tr("Let the network of this run read what you draw.")),
            "save": (self.tr("Save as…"), self.tr("Keep a copy of the network of this run in a file.")),
            "rename": (self.tr("Rename"), self.tr("Give this run a name (F2).")),
            "note": (self.tr("Note…"), self.tr("Write down what is worth remembering about this run.")),
            "folder": (self.tr("Open folder"), self.tr("Show the files of this run.")),
            "delete": (self.tr("Delete…"), self.tr("Move this run to the trash, after a question.")),
            "elsewhere": (
                self.tr("Keep runs in another folder…"),
                self.tr("Choose where runs are kept from now on; those that are kept stay where they are."),
            ),
        }
        actions = {}
        for name, (text, explanation) in texts.items():
            actions[name] = QAction(text, self)
            actions[name].setToolTip(theme.tooltip(explanation))
            actions[name].setProperty("explanation", explanation)
        return actions

    def _arrange(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(theme.SPACING)
        for name in ("continue", "repeat", "use", "save", "delete"):
            action = self._actions[name]
            button = self._buttons[name] = QPushButton(action.text())
            button.setObjectName(f"{name}Run")
            button.setToolTip(action.toolTip())
            button.setAccessibleDescription(str(action.property("explanation")))
            button.clicked.connect(action.trigger)
            head.addWidget(button)
        self._more.setObjectName("moreRun")
        self._more.setToolTip(theme.tooltip(self.tr("What else can be done with this run, and with all of them.")))
        self._more.setMenu(self._menu(("rename", "note", "folder", "elsewhere")))
        head.addWidget(self._more)
        head.addStretch(1)
        self._hint.setText(
            self.tr("Every run is kept here as it goes: what it was, its curves, its network, and where to go on from.")
        )
        self._hint.setProperty("muted", True)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._table.setAccessibleName(self.tr("Kept runs"))
        self._table.setAccessibleDescription(
            self.tr("Space ticks a run to see its curve, Enter uses its network, F2 renames it, Delete deletes it.")
        )
        self._table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        listed = QWidget()
        inside = QVBoxLayout(listed)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self._hint, 1)
        inside.addWidget(self._table, 1)
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.setChildrenCollapsible(False)
        for part in (listed, self.overlay):
            parts.addWidget(part)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MARGIN, theme.SPACING, theme.MARGIN, theme.SPACING)
        layout.setSpacing(theme.SPACING)
        layout.addLayout(head)
        layout.addWidget(parts, 1)

    def _menu(self, names: Sequence[str]) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        menu.addActions([self._actions[name] for name in names])
        return menu

    def _connect(self) -> None:
        self._table.current_changed.connect(self._show_state)
        self._table.run_opened.connect(self._actions["use"].trigger)
        self._table.delete_requested.connect(self._actions["delete"].trigger)
        self._table.customContextMenuRequested.connect(self._on_context_menu_requested)
        self._model.renamed.connect(self.rename_requested)
        self._model.ticks_changed.connect(self._on_ticks_changed)
        self._actions["rename"].triggered.connect(self._table.rename_current)
        self._actions["elsewhere"].triggered.connect(self.folder_requested)
        self._actions["folder"].triggered.connect(self._on_open_folder)
        for name in ("continue", "repeat", "use", "save", "note", "delete"):
            self._actions[name].triggered.connect(self._on_wish)

    @Slot()
    def _show_state(self) -> None:
        run = self._table.current_run()
        sound = run is not None and run.info is not None
        at_rest = run is not None and run.state != RUNNING
        ended = run is not None and run.state in OUTCOMES
        allowed = {
            "continue": self._can_train and run is not None and run.can_go_on,
            "repeat": self._can_train and sound,
            "use": self._can_use and ended,
            "save": ended,
            "rename": sound,
            "note": sound,
            "folder": run is not None,
            "delete": at_rest,
        }
        for name, allow in allowed.items():
            self._actions[name].setEnabled(allow)
            if name in self._buttons:
                self._buttons[name].setEnabled(allow)

    @Slot()
    def _on_wish(self) -> None:
        wishes = {
            "continue": self.continue_requested,
            "repeat": self.repeat_requested,
            "use": self.use_requested,
            "save": self.save_requested,
            "note": self.note_requested,
            "delete": self.delete_requested,
        }
        name = next(name for name, action in self._actions.items() if action is self.sender())
        if (run := self._table.current_run()) is not None:
            wishes[name].emit(run)

    @Slot()
    def _on_open_folder(self) -> None:
        if (run := self._table.current_run()) is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(run.path)))

    @Slot()
    def _on_ticks_changed(self) -> None:
        self.overlay.show_runs(self._model.ticked())

    @Slot(QPoint)
    def _on_context_menu_requested(self, place: QPoint) -> None:
        menu = self._menu(("continue", "repeat", "use", "save", "rename", "note", "folder", "delete", "elsewhere"))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self._table.viewport().mapToGlobal(place))
