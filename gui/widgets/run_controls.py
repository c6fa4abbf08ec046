"""The buttons of a run: Train, Pause or Resume, Stop; and beside them the accuracy it came to.

A room of its own because which button may be pressed in which state is decided once, here, for mouse and keyboard.
"""

from PySide6.QtCore import QEvent, QLocale, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from gui import theme
from gui.training_state import TrainingState

_ICON_SIZE_PX = 14


class RunControls(QWidget):
    """Shows where training stands and asks for the next thing to happen."""

    train_requested = Signal()
    pause_requested = Signal()
    resume_requested = Signal()
    stop_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = TrainingState.LOADING
        self._data = ""
        self._train = self._button("trainButton")
        self._train.setProperty("primary", True)
        self._pause = self._button("pauseButton")
        self._stop = self._button("stopButton")
        self._accuracy = QLabel()
        self._split = QLabel()
        self._arrange()
        self._train.clicked.connect(self.train_requested)
        self._pause.clicked.connect(self._on_pause_clicked)
        self._stop.clicked.connect(self.stop_requested)
        self.show_state(TrainingState.LOADING, can_train=False)
        self.show_accuracy("", None)
        self._keep_widths()

    def show_state(self, state: TrainingState, can_train: bool) -> None:
        """Enable what `state` allows; `can_train` says whether the values to train with are valid."""
        self._state = state
        paused = state is TrainingState.PAUSED
        had_focus = self.hasFocus() or any(button.hasFocus() for button in (self._train, self._pause, self._stop))
        if had_focus:
            # From a button that is switched off, it would go on to the next field, where the next key is typed.
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._train.setEnabled(state is TrainingState.IDLE and can_train)
        self._pause.setEnabled(state in (TrainingState.TRAINING, TrainingState.PAUSED))
        self._stop.setEnabled(state in (TrainingState.TRAINING, TrainingState.PAUSED))
        usable = next((button for button in (self._pause, self._train) if button.isEnabled()), None)
        if had_focus and usable is not None:
            usable.setFocus(Qt.FocusReason.OtherFocusReason)
        self._label(
            self._train,
            self.tr("Train"),
            "Ctrl+Return",
            self.tr("Build a new network with these hyperparameters and let it learn from the training digits."),
        )
        explanation = (
            self.tr("Go on learning from exactly where the run paused.")
            if paused
            else self.tr("Hold the run at its next step. Nothing is lost, and the time does not count.")
        )
        self._label(self._pause, self.tr("Resume") if paused else self.tr("Pause"), "Ctrl+P", explanation)
        self._label(
            self._stop,
            self.tr("Stop"),
            "Ctrl+.",
            self.tr("End the run at its next step. The network keeps what it has learned so far and is measured."),
        )
        self._draw_icons()

    def show_data(self, title: str) -> None:
        """The accuracy is that on the set of this title from now on; "" where that needs no saying."""
        self._data = title

    def show_accuracy(self, split: str, accuracy: float | None) -> None:
        """Show the headline: `accuracy` (0..1) on `split` ("validation", "test"); None shows nothing."""
        if accuracy is None:
            self._accuracy.clear()
            self._split.clear()
            return
        names = {"test": self.tr("test"), "validation": self.tr("validation"), "train": self.tr("train")}
        # One decimal would round 99.96 % to a perfect score.
        decimals = 2 if accuracy >= 0.99 else 1
        self._accuracy.setText(f"{QLocale().toString(accuracy * 100, 'f', decimals)} %")
        name = names.get(split, split)
        self._split.setText(f"{name}, {self._data}" if self._data else name)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._draw_icons()

    def _button(self, name: str) -> QPushButton:
        button = QPushButton()
        button.setObjectName(name)
        button.setIconSize(QSize(_ICON_SIZE_PX, _ICON_SIZE_PX))
        button.setAutoDefault(False)
        return button

    def _label(self, button: QPushButton, text: str, keys: str, explanation: str) -> None:
        button.setText(text)
        # Setting the text takes the shortcut away.
        button.setShortcut(keys)
        button.setAccessibleName(text)
        button.setAccessibleDescription(explanation)
        native = button.shortcut().toString(button.shortcut().SequenceFormat.NativeText)
        button.setToolTip(theme.tooltip(f"{explanation} ({native})"))

    def _arrange(self) -> None:
        self._accuracy.setObjectName("accuracyLabel")
        self._accuracy.setFont(theme.headline_font(self.font()))
        self._split.setProperty("muted", True)
        explanation = self.tr("Of 100 digits the network has never learned from, so many does it read correctly.")
        for label in (self._accuracy, self._split):
            label.setAccessibleName(self.tr("Accuracy"))
            label.setToolTip(theme.tooltip(explanation))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACING)
        for button in (self._train, self._pause, self._stop):
            layout.addWidget(button)
        layout.addStretch(1)
        layout.addWidget(self._accuracy, 0, Qt.AlignmentFlag.AlignBaseline)
        layout.addWidget(self._split, 0, Qt.AlignmentFlag.AlignBaseline)

    def _keep_widths(self) -> None:
        """Let neither Resume in place of Pause nor a further decimal move the row."""
        resume = QPushButton(self._pause.icon(), self.tr("Resume"), self)
        resume.setIconSize(self._pause.iconSize())
        resume.ensurePolished()
        self._pause.setMinimumWidth(resume.sizeHint().width())
        resume.hide()
        resume.deleteLater()

    def _draw_icons(self) -> None:
        scheme = theme.colours(self.palette())
        paused = self._state is TrainingState.PAUSED
        self._train.setIcon(_icon("play", scheme.on_accent, scheme.disabled))
        self._pause.setIcon(_icon("play" if paused else "pause", scheme.text, scheme.disabled))
        self._stop.setIcon(_icon("stop", scheme.text, scheme.disabled))

    @Slot()
    def _on_pause_clicked(self) -> None:
        if self._state is TrainingState.PAUSED:
            self.resume_requested.emit()
        else:
            self.pause_requested.emit()


def _icon(shape: str, colour: str, disabled: str) -> QIcon:
    icon = QIcon()
    for mode, mode_colour in ((QIcon.Mode.Normal, colour), (QIcon.Mode.Disabled, disabled)):
        for ratio in (1, 2, 3):
            icon.addPixmap(_picture(shape, QColor(mode_colour), ratio), mode)
    return icon


def _picture(shape: str, colour: QColor, ratio: int) -> QPixmap:
    size = _ICON_SIZE_PX
    pixmap = QPixmap(size * ratio, size * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    if shape == "play":
        painter.drawPolygon(QPolygonF([QPointF(1.5, 1.5), QPointF(11, 7), QPointF(1.5, 12.5)]))
    elif shape == "pause":
        painter.drawRoundedRect(QRectF(1.5, 2, 3.2, 10), 1, 1)
        painter.drawRoundedRect(QRectF(7.0, 2, 3.2, 10), 1, 1)
    else:
        painter.drawRoundedRect(QRectF(1.5, 2.5, 9, 9), 1.5, 1.5)
    painter.end()
    return pixmap
