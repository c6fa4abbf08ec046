"""The place to try a network: a canvas, what the network sees of it, and what it answers.

A room of its own because a drawing and its answer belong together; it is the one widget that is made of others.
"""

import numpy as np
from PySide6.QtCore import QCoreApplication, QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from core.device import HostArray
from gui import theme
from gui.widgets.drawing_canvas import DrawingCanvas
from gui.widgets.input_preview import InputPreview
from gui.widgets.probability_chart import ProbabilityChart

_UNSURE_BELOW = 0.5


class DrawingPanel(QWidget):
    """`ink_changed` carries the drawing as it grows; the answer to it is shown with `show_answer`."""

    ink_changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.canvas = DrawingCanvas()
        self._clear = QPushButton(self.tr("Clear"))
        self._undo = QPushButton(self.tr("Undo"))
        self._preview = InputPreview()
        self._answer = QLabel(wordWrap=True)
        self._certainty = QLabel(wordWrap=True)
        self._chart = ProbabilityChart()
        self._network_name = QLabel(wordWrap=True)
        self._name_controls()
        self._arrange()
        self.canvas.ink_changed.connect(self._on_ink_changed)
        self.canvas.undo_available_changed.connect(self._undo.setEnabled)
        self._clear.clicked.connect(self.canvas.clear)
        self._undo.clicked.connect(self.canvas.undo)
        self._undo.setEnabled(False)
        self._clear.setEnabled(False)
        self.show_answer(None, None)
        self.show_network_name("")

    def show_answer(self, probabilities: HostArray | None, image: HostArray | None) -> None:
        """Show what the network makes of the drawing.

        `probabilities`: (10,), 0..1; `image`: uint8 (28, 28), what it was given. None where there is nothing to show.
        """
        self._preview.show_image(image)
        self._chart.show_probabilities(probabilities)
        if probabilities is None:
            self._answer.setText(self.tr("Draw a digit"))
            self._certainty.setText(self.tr("The network answers while you draw."))
            return
        order = np.argsort(-probabilities)
        self._answer.setText(_answer(int(order[0]), float(probabilities[order[0]])))
        self._certainty.setText(_certainty(probabilities, order))

    def show_network_name(self, name: str) -> None:
        """Say which network is answering, such as "the network in training"; "" says nothing."""
        self._network_name.setText(self.tr("Answered by %1").replace("%1", name) if name else "")
        self._network_name.setVisible(bool(name))

    @Slot(object)
    def _on_ink_changed(self, ink: object) -> None:
        self._clear.setEnabled(not self.canvas.ink().is_empty)
        self.ink_changed.emit(ink)

    def _name_controls(self) -> None:
        for control, name, title, explanation in (
            (
                self._clear,
                "clearButton",
                self.tr("Clear"),
                self.tr("Take a fresh sheet (Delete). Undo brings it back."),
            ),
            (
                self._undo,
                "undoButton",
                self.tr("Undo"),
                self.tr("Take back the last stroke, or Clear (Ctrl+Z): see which stroke changes the answer."),
            ),
            (
                self._answer,
                "answerLabel",
                self.tr("Answer"),
                self.tr(
                    "The digit with the highest probability. Drawing teaches the network nothing; it only answers."
                ),
            ),
            (
                self._network_name,
                "networkLabel",
                self.tr("Answering network"),
                self.tr(
                    "Whose weights are used. During training the drawing is read again with each new set of weights."
                ),
            ),
        ):
            control.setObjectName(name)
            control.setAccessibleName(title)
            control.setAccessibleDescription(explanation)
            control.setToolTip(theme.tooltip(explanation))
        for button in (self._clear, self._undo):
            button.setAutoDefault(False)
        self._answer.setFont(theme.answer_font(self.font()))
        for label in (self._certainty, self._network_name):
            label.setProperty("muted", True)
        self._network_name.setFont(theme.small_font(self.font()))

    def _arrange(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACING)
        buttons.addWidget(self._clear)
        buttons.addWidget(self._undo)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addStretch(1)
        words.addWidget(self._answer)
        words.addWidget(self._certainty)
        words.addStretch(1)
        answer = QHBoxLayout()
        answer.setSpacing(theme.MARGIN)
        answer.addWidget(self._preview, 0, Qt.AlignmentFlag.AlignTop)
        answer.addLayout(words, 1)
        for label in (self._answer, self._certainty):
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MARGIN, theme.MARGIN, theme.MARGIN, theme.MARGIN)
        layout.setSpacing(theme.SPACING)
        layout.addWidget(self.canvas, 3)
        layout.addLayout(buttons)
        layout.addLayout(answer)
        layout.addWidget(self._chart, 2)
        layout.addWidget(self._network_name)
        layout.addStretch(0)


def _answer(digit: int, probability: float) -> str:
    translate = QCoreApplication.translate
    if probability < _UNSURE_BELOW:
        return translate("DrawingPanel", "Perhaps a %1").replace("%1", str(digit))
    # English says "an 8"; other languages need no second sentence.
    article = translate("DrawingPanel", "It is an %1") if digit == 8 else translate("DrawingPanel", "It is a %1")
    return article.replace("%1", str(digit))


def _certainty(probabilities: HostArray, order: HostArray) -> str:
    number = QLocale().toString
    best, second = (float(probabilities[place]) * 100 for place in order[:2])
    if second < 1.0:
        return QCoreApplication.translate("DrawingPanel", "%1 % sure").replace("%1", number(best, "f", 1))
    text = QCoreApplication.translate("DrawingPanel", "%1 % sure; %2 % for a %3")
    for place, value in (("%1", number(best, "f", 1)), ("%2", number(second, "f", 1)), ("%3", str(int(order[1])))):
        text = text.replace(place, value)
    return text
