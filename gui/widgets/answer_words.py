"""The network's answer in words: which digit, how sure, and what else it might be."""

import numpy as np
from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from core.device import HostArray
from gui import theme

_UNSURE_BELOW = 0.5


class AnswerWords(QWidget):
    """Shows one answer, or asks for a drawing."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answer = QLabel(wordWrap=True)
        self._certainty = QLabel(wordWrap=True)
        self._answer.setObjectName("answerLabel")
        self._answer.setAccessibleName(self.tr("Answer"))
        explanation = self.tr(
            "The digit with the highest probability. Drawing teaches the network nothing; it only answers."
        )
        self._answer.setAccessibleDescription(explanation)
        self._answer.setToolTip(theme.tooltip(explanation))
        self._answer.setFont(theme.answer_font(self.font()))
        self._certainty.setProperty("muted", True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        for label in (self._answer, self._certainty):
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            layout.addWidget(label)
        self.show_probabilities(None)

    def show_probabilities(self, probabilities: HostArray | None) -> None:
        """Say what `probabilities`, (10,), 0..1, come to; None asks for a drawing."""
        if probabilities is None:
            self._answer.setText(self.tr("Draw a digit"))
            self._certainty.setText(self.tr("The network answers while you draw."))
            return
        order = np.argsort(-probabilities)
        self._answer.setText(_answer(int(order[0]), float(probabilities[order[0]])))
        self._certainty.setText(_certainty(probabilities, order))


def _answer(digit: int, probability: float) -> str:
    translate = QCoreApplication.translate
    if probability < _UNSURE_BELOW:
        return translate("AnswerWords", "Perhaps a %1").replace("%1", str(digit))
    # English says "an 8"; other languages need no second sentence.
    article = translate("AnswerWords", "It is an %1") if digit == 8 else translate("AnswerWords", "It is a %1")
    return article.replace("%1", str(digit))


def _certainty(probabilities: HostArray, order: HostArray) -> str:
    number = QLocale().toString
    best, second = (float(probabilities[place]) * 100 for place in order[:2])
    if second < 1.0:
        return QCoreApplication.translate("AnswerWords", "%1 % sure").replace("%1", number(best, "f", 1))
    text = QCoreApplication.translate("AnswerWords", "%1 % sure; %2 % for a %3")
    for place, value in (("%1", number(best, "f", 1)), ("%2", number(second, "f", 1)), ("%3", str(int(order[1])))):
        text = text.replace(place, value)
    return text
