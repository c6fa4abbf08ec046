"""The window: where each widget sits, and the menus.

It arranges and decides nothing. What a button does, whether the window may close, what a menu entry opens: all of
that is connected in gui.application and decided by the controllers.
"""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QScrollArea,
    QSplitter,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from gui import theme
from gui.widgets.about_box import AboutBox
from gui.widgets.benchmark_panel import BenchmarkPanel
from gui.widgets.device_selector import DeviceSelector
from gui.widgets.drawing_panel import DrawingPanel
from gui.widgets.hyperparameter_form import HyperparameterForm
from gui.widgets.learning_plot import LearningPlot
from gui.widgets.my_digits_panel import MyDigitsPanel
from gui.widgets.preset_selector import PresetSelector
from gui.widgets.recovery_bar import RecoveryBar
from gui.widgets.run_controls import RunControls
from gui.widgets.run_status import RunStatus
from gui.widgets.runs_panel import RunsPanel

_OPENING_SIZE = (1280, 760)
_SMALLEST_SIZE = (1160, 600)
_FORM_WIDTH_PX = 292
_PANEL_WIDTH_PX = 300
_SMALLEST_CENTRE_PX = 575
_SMALLEST_SIDE_PX = 264


class MainWindow(QMainWindow):
    """Holds the widgets as public attributes; `close_requested` asks whether the window may go."""

    close_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.device_selector = DeviceSelector()
        self.preset_selector = PresetSelector()
        self.run_controls = RunControls()
        self.hyperparameter_form = HyperparameterForm()
        self.learning_plot = LearningPlot()
        self.recovery_bar = RecoveryBar()
        self.runs_panel = RunsPanel()
        self.my_digits_panel = MyDigitsPanel()
        self.benchmark_panel = BenchmarkPanel()
        self.drawing_panel = DrawingPanel()
        self.run_status = RunStatus()
        self.tabs = QTabWidget()
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self._may_close = False
        self.setWindowTitle("Inkling")
        self._arrange()
        self._build_menus()
        self.setMinimumSize(*_SMALLEST_SIZE)
        self.arrange_anew()

    def arrange_anew(self) -> None:
        """Take the size and the widths of the first start."""
        self.setWindowState(Qt.WindowState.WindowNoState)
        self.resize(*_OPENING_SIZE)
        self.splitter.setSizes([_FORM_WIDTH_PX, _OPENING_SIZE[0] - _FORM_WIDTH_PX - _PANEL_WIDTH_PX, _PANEL_WIDTH_PX])

    def allow_close(self) -> None:
        """From now on the window closes when it is asked to."""
        self._may_close = True

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._may_close:
            # Whoever answers may allow it at once, or later and close again.
            self.close_requested.emit()
        event.setAccepted(self._may_close)

    def _arrange(self) -> None:
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._top_row())
        layout.addWidget(self._middle(), 1)
        layout.addWidget(self.run_status)
        self.setCentralWidget(content)

    def _top_row(self) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(theme.MARGIN, theme.SPACING, theme.MARGIN, theme.SPACING)
        layout.setSpacing(theme.SPACING)
        for title, selector in (
            (self.tr("&Device"), self.device_selector),
            (self.tr("P&reset"), self.preset_selector),
        ):
            label = QLabel(title)
            label.setBuddy(selector)
            layout.addWidget(label)
            layout.addWidget(selector)
            layout.addSpacing(theme.SPACING)
        layout.addWidget(self.run_controls, 1)
        return row

    def _middle(self) -> QWidget:
        learn = QWidget()
        learn_layout = QVBoxLayout(learn)
        learn_layout.setContentsMargins(theme.MARGIN, theme.MARGIN, theme.MARGIN, theme.MARGIN)
        learn_layout.addWidget(self.recovery_bar)
        learn_layout.addWidget(self.learning_plot, 1)
        self.tabs.addTab(learn, self.tr("Learn"))
        self.tabs.addTab(_scrolling(self.my_digits_panel), self.tr("My digits"))
        self.tabs.addTab(_scrolling(self.runs_panel), self.tr("Runs"))
        self.tabs.addTab(_scrolling(self.benchmark_panel), self.tr("Benchmark"))
        self.tabs.setMinimumWidth(_SMALLEST_CENTRE_PX)
        splitter = self.splitter
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(theme.SPACING)
        left, right = _card(self.hyperparameter_form), _card(_scrolling(self.drawing_panel))
        for side in (left, right):
            side.setMinimumWidth(_SMALLEST_SIDE_PX)
        for widget in (left, _card(self.tabs), right):
            splitter.addWidget(widget)
        splitter.setStretchFactor(1, 1)
        around = QWidget()
        layout = QHBoxLayout(around)
        layout.setContentsMargins(theme.MARGIN, 0, theme.MARGIN, 0)
        layout.addWidget(splitter)
        return around

    def _build_menus(self) -> None:
        shortcut = QKeySequence.StandardKey
        self.open_data_action = self._action(self.tr("Open &data folder…"))
        self.open_picture_action = self._action(self.tr("Open &picture…"))
        self.open_picture_action.setShortcut(QKeySequence("Ctrl+Shift+O"))
        self.paste_picture_action = self._action(self.tr("Past&e picture"), shortcut.Paste)
        self.open_network_action = self._action(self.tr("&Open network…"), shortcut.Open)
        self.save_network_action = self._action(self.tr("&Save network…"), shortcut.Save)
        self.quit_action = self._action(self.tr("&Quit"), shortcut.Quit)
        self.quit_action.setMenuRole(QAction.MenuRole.QuitRole)
        self.about_action = self._action(self.tr("&About Inkling"))
        self.about_action.setMenuRole(QAction.MenuRole.AboutRole)
        self.about_action.triggered.connect(self._on_about_triggered)
        files = self.menuBar().addMenu(self.tr("&File"))
        files.addActions([self.open_data_action, self.open_network_action, self.save_network_action])
        files.addSeparator()
        files.addActions([self.open_picture_action, self.paste_picture_action])
        files.addSeparator()
        files.addAction(self.quit_action)
        self.find_rate_action = self._action(self.tr("&Find a learning rate…"))
        self.find_rate_action.setEnabled(False)
        self.menuBar().addMenu(self.tr("&Training")).addAction(self.find_rate_action)
        self.reset_action = self._action(self.tr("&Reset window and settings"))
        self.menuBar().addMenu(self.tr("&Help")).addActions([self.reset_action, self.about_action])

    def _action(self, text: str, keys: QKeySequence.StandardKey | None = None) -> QAction:
        action = QAction(text, self)
        if keys is not None:
            action.setShortcuts(keys)
        return action

    @Slot()
    def _on_about_triggered(self) -> None:
        AboutBox(self).show()


def _card(content: QWidget) -> QFrame:
    card = QFrame()
    card.setProperty("card", True)
    layout = QVBoxLayout(card)
    layout.setContentsMargins(1, 1, 1, 1)
    layout.addWidget(content)
    return card


def _scrolling(content: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    content.setObjectName("scrolled")
    area.setWidget(content)
    return area
