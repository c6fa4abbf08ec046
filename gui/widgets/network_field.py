"""The network as text, answered while it is typed: the mistake at its word, or a picture and the number of weights.

A room of its own because it is the one field whose value is a small language; what the words mean is known in
core.nn.architecture alone.
"""

from PySide6.QtCore import QLocale, Qt, Signal, Slot
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QSizePolicy, QTextEdit, QVBoxLayout, QWidget

from core.nn.architecture import MAX_TEXT, NetworkTextError, describe
from core.training.hyperparameters import INPUT_SHAPE, HyperparameterError, check_network
from gui import theme
from gui.widgets.network_picture import NetworkPicture

_LINES = 4


class NetworkField(QWidget):
    """Emits `changed` at every edit; `network` is None while the text describes no network for ten digits."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.editor = QPlainTextEdit()
        self._message = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._picture = NetworkPicture()
        self._network: str | None = None
        self.editor.setObjectName("networkField")
        self.editor.setTabChangesFocus(True)
        self.editor.setFixedHeight(_LINES * self.editor.fontMetrics().lineSpacing() + 2 * theme.SPACING)
        self._message.setObjectName("networkMessage")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACING // 2)
        title = QLabel(self.tr("Network"))
        title.setBuddy(self.editor)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        for widget in (title, self.editor, self._message, self._picture):
            layout.addWidget(widget)
        self.editor.textChanged.connect(self._on_text_changed)
        self._on_text_changed()

    def network(self) -> str | None:
        """The text, on one line; None if it is not right."""
        return self._network

    def show_network(self, text: str) -> None:
        """Put `text` into the field."""
        if self.editor.toPlainText() != text:
            self.editor.setPlainText(text)

    @Slot()
    def _on_text_changed(self) -> None:
        typed = self.editor.toPlainText()[: MAX_TEXT + 1]
        text = typed.replace("\n", " ")
        try:
            stages = describe(text, INPUT_SHAPE)
            check_network(text)
        except (NetworkTextError, HyperparameterError) as error:
            self._network = None
            start, stop = (error.start, error.stop) if isinstance(error, NetworkTextError) else (0, 0)
            self._show_message(_sentence(str(error)), problem=True)
            self._underline(start, stop)
            self._picture.show_stages(INPUT_SHAPE, [])
        else:
            self._network = text.strip()
            weights = QLocale().toString(sum(stage.parameters for stage in stages))
            self._show_message(self.tr("%1 weights").replace("%1", weights), problem=False)
            self._underline(0, 0)
            self._picture.show_stages(INPUT_SHAPE, stages)
        self.changed.emit()

    def _show_message(self, text: str, *, problem: bool) -> None:
        self._message.setText(text)
        self._message.setProperty("problem", problem)
        self._message.setProperty("muted", not problem)
        self._message.style().polish(self._message)

    def _underline(self, start: int, stop: int) -> None:
        """Mark this stretch of the text as the place of the mistake."""
        mark = QTextEdit.ExtraSelection()
        wavy = QTextCharFormat()
        wavy.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        wavy.setUnderlineColor(QColor(theme.colours(self.palette()).problem))
        cursor = QTextCursor(self.editor.document())
        length = len(self.editor.toPlainText())
        cursor.setPosition(min(start, length))
        cursor.setPosition(min(stop, length), QTextCursor.MoveMode.KeepAnchor)
        mark.cursor, mark.format = cursor, wavy
        self.editor.setExtraSelections([mark] if stop > start else [])


def _sentence(problem: str) -> str:
    problem = problem.removeprefix("network: ")
    return problem[:1].upper() + problem[1:] + "."
