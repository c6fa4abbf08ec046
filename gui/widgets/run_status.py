"""The line at the foot of the window: what is happening, how far it is, and what went wrong.

A room of its own because a problem must be read, copied and told apart from a notice; a status bar's fleeting text
allows none of it.
"""

from PySide6.QtCore import QEvent, QLocale, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QSizePolicy, QStyle, QWidget

from gui import theme

_ICON_PX = 16
_PROGRESS_WIDTH_PX = 200
_FINENESS = 1000


class RunStatus(QWidget):
    """Shows one sentence, notice or problem, and how far the run is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon = QLabel()
        self._text = QLabel(wordWrap=True)
        self._percent = QLabel()
        self._progress = QProgressBar(textVisible=False)
        self._arrange()
        self._has_problem = False
        self.show_message("")
        self.show_progress(None)

    def show_message(self, text: str) -> None:
        """Show `text` as a notice."""
        self._show(text, problem=False)

    def show_problem(self, text: str) -> None:
        """Show `text` as something that went wrong: with a warning sign as well as a colour."""
        self._show(text, problem=True)

    def show_progress(self, done: float | None) -> None:
        """Show how much of the run is `done`, 0..1; None hides the bar."""
        self._progress.setVisible(done is not None)
        self._percent.setVisible(done is not None)
        if done is not None:
            done = min(max(done, 0.0), 1.0)
            self._progress.setValue(round(done * _FINENESS))
            # Rounded down: 100 % is shown when it is done, not before.
            self._percent.setText(f"{QLocale().toString(int(done * 100 + 1e-9))} %")

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._show_icon()

    def _arrange(self) -> None:
        self._text.setObjectName("statusLabel")
        self._text.setToolTip(theme.tooltip(self.tr("What is happening now. The text can be selected and copied.")))
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._progress.setObjectName("progressBar")
        self._progress.setAccessibleName(self.tr("Progress of the run"))
        self._progress.setToolTip(theme.tooltip(self.tr("How many of the run's training steps are done.")))
        self._progress.setRange(0, _FINENESS)
        self._progress.setFixedWidth(_PROGRESS_WIDTH_PX)
        self._percent.setProperty("muted", True)
        self._percent.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._percent.setMinimumWidth(self._percent.fontMetrics().horizontalAdvance("100 %"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.MARGIN, theme.SPACING, theme.MARGIN, theme.SPACING)
        layout.setSpacing(theme.SPACING)
        layout.addWidget(self._icon, 0)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._progress, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addWidget(self._percent, 0, Qt.AlignmentFlag.AlignVCenter)

    def _show(self, text: str, *, problem: bool) -> None:
        self._has_problem = problem
        self._text.setText(text)
        self._text.setAccessibleName(self.tr("Problem") if problem else self.tr("Status"))
        self._text.setProperty("problem", problem)
        self._text.style().polish(self._text)
        self._show_icon()

    def _show_icon(self) -> None:
        self._icon.setVisible(self._has_problem)
        icon = self.style().standardIcon(QStyle.StandardPixmap.SP_MessageBoxWarning)
        self._icon.setPixmap(icon.pixmap(_ICON_PX, _ICON_PX))
        self._icon.setAccessibleName(self.tr("Problem"))
