"""The network's answer in words: which digit, how sure, and what else it might be; or which number."""

import numpy as np
from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from core.predictor import Answer
from gui import theme

_UNSURE_BELOW = 0.5
_LARGE_DIGITS = 6
"""A number of more digits is written smaller."""
_MAY_BREAK = "\u200b"


class AnswerWords(QWidget):
    """Shows one answer, or a number, or asks for a drawing."""

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
        self.show_answer(None)

    def show_answer(self, answer: Answer | None) -> None:
        """Say what `answer` comes to; None asks for a drawing."""
        self._answer.setFont(theme.answer_font(self.font()))
        self._certainty.show()
        if answer is None:
            self._answer.setText(self.tr("Draw a digit"))
            self._certainty.setText(self.tr("The network answers while you draw."))
        elif answer.digit is None:
            self._answer.setText(self.tr("I don't know"))
            self._certainty.setText(_guess(answer))
        else:
            self._answer.setText(_answer(answer.digit, answer.confidence))
            self._certainty.setText(_certainty(answer))

    def show_number(self, text: str) -> None:
        """Say which number it is: digits, and "?" for those that are not known."""
        is_long = len(text) > _LARGE_DIGITS
        self._answer.setFont((theme.title_font if is_long else theme.answer_font)(self.font()))
        self._answer.setText(self.tr("It is %1").replace("%1", _MAY_BREAK.join(text) if is_long else text))
        self._certainty.hide()


def _answer(digit: int, probability: float) -> str:
    translate = QCoreApplication.translate
    if probability < _UNSURE_BELOW:
        return translate("AnswerWords", "Perhaps a %1").replace("%1", str(digit))
    # English says "an 8"; other languages need no second sentence.
    article = translate("AnswerWords", "It is an %1") if digit == 8 else translate("AnswerWords", "It is a %1")
    return article.replace("%1", str(digit))


def _guess(answer: Answer) -> str:
    words = QCoreApplication.translate("AnswerWords", "If it is a digit, most likely a %1 (%2 % sure)")
    sure = QLocale().toString(answer.confidence * 100, "f", 0)
    return words.replace("%1", str(answer.guess)).replace("%2", sure)


def _certainty(answer: Answer) -> str:
    number = QLocale().toString
    order = np.argsort(-answer.probabilities)
    best, second = answer.confidence * 100, float(answer.probabilities[order[1]]) * 100
    if second < 1.0:
        return QCoreApplication.translate("AnswerWords", "%1 % sure").replace("%1", number(best, "f", 1))
    text = QCoreApplication.translate("AnswerWords", "%1 % sure; %2 % for a %3")
    for place, value in (("%1", number(best, "f", 1)), ("%2", number(second, "f", 1)), ("%3", str(int(order[1])))):
        text = text.replace(place, value)
    return text
