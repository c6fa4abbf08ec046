"""The network's answer in words: which digit, how sure, and what else it might be; or which number."""

from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from core.digits.downloads import DIGITS
from core.predictor import Answer
from gui import theme
from gui.digit_words import with_article
from gui.read_number import NO_DIGIT, shares

_UNSURE_BELOW = 0.5
_WORTH_A_WORD = 0.01
_LARGE_DIGITS = 6
"""A number of more digits is written smaller."""
_MAY_BREAK = "\u200b"
_HYPHEN = "\u2011"
"""One that no line is broken at."""


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
        self._title, self._classes = "", DIGITS
        self.show_answer(None)

    def show_meanings(self, title: str, classes: tuple[str, ...]) -> None:
        """The network answers with these `classes`, which are those of the set of this `title`."""
        self._title, self._classes = title, classes

    def show_answer(self, answer: Answer | None) -> None:
        """Say what `answer` comes to; None asks for a drawing."""
        self._answer.setFont(theme.answer_font(self.font()))
        self._certainty.show()
        if self._classes != DIGITS:
            self._show_class(answer)
        elif answer is None:
            self._answer.setText(self.tr("Draw a digit"))
            self._certainty.setText(self.tr("The network answers while you draw."))
        elif answer.digit is None:
            self._answer.setText(self.tr("I don't know"))
            self._certainty.setText(_guess(answer, DIGITS))
        else:
            self._answer.setText(_answer(answer.digit, answer.confidence))
            self._certainty.setText(_certainty(answer, DIGITS))

    def _show_class(self, answer: Answer | None) -> None:
        """An answer that is no digit; without one, say that digits would be drawn in vain."""
        names = self._classes
        if answer is None:
            self._answer.setText(self.tr("No digits"))
            words = self.tr("This network reads %1: %2 and so on.").replace("%1", self._title)
            self._certainty.setText(words.replace("%2", ", ".join(names[:3])))
        elif answer.digit is None:
            self._answer.setText(self.tr("I don't know"))
            self._certainty.setText(_guess(answer, names))
        else:
            name = names[answer.digit].replace("-", _HYPHEN)
            perhaps = self.tr("Perhaps %1").replace("%1", name)
            self._answer.setText(perhaps if answer.confidence < _UNSURE_BELOW else name)
            self._certainty.setText(_certainty(answer, names))

    def show_number(self, text: str) -> None:
        """Say which number it is: digits, and "?" for those that are not known."""
        is_long = len(text) > _LARGE_DIGITS
        self._answer.setFont((theme.title_font if is_long else theme.answer_font)(self.font()))
        self._answer.setText(self.tr("It is %1").replace("%1", _MAY_BREAK.join(text) if is_long else text))
        self._certainty.hide()


def _answer(digit: int, probability: float) -> str:
    translate = QCoreApplication.translate
    words = (
        translate("AnswerWords", "Perhaps %1") if probability < _UNSURE_BELOW else translate("AnswerWords", "It is %1")
    )
    return words.replace("%1", with_article(digit))


def _guess(answer: Answer, names: tuple[str, ...]) -> str:
    """What it would say if it had to, and why it does not."""
    translate, no_digit = QCoreApplication.translate, float(shares(answer)[NO_DIGIT])
    guess, sure = _called(answer.guess, names), _percent(answer.confidence)
    if no_digit < answer.confidence:
        words = translate("AnswerWords", "Perhaps %1 (%2 %), but too unsure to say so")
        return words.replace("%1", guess).replace("%2", sure)
    words = translate("AnswerWords", "Most likely %1 (%2 %)")
    if answer.confidence >= _WORTH_A_WORD:
        words = translate("AnswerWords", "Most likely %1 (%2 %), or else %3 (%4 %)")
    for place, value in (("%1", _called(NO_DIGIT, names)), ("%2", _percent(no_digit)), ("%3", guess), ("%4", sure)):
        words = words.replace(place, value)
    return words


def _certainty(answer: Answer, names: tuple[str, ...]) -> str:
    """How sure it is of its answer, and of what else, if of anything."""
    others = shares(answer)
    others[answer.guess] = 0.0
    second = int(others.argmax())
    text = QCoreApplication.translate("AnswerWords", "%1 % sure")
    if others[second] >= _WORTH_A_WORD:
        text = QCoreApplication.translate("AnswerWords", "%1 % sure; %2 % for %3")
    for place, value in (
        ("%1", _percent(answer.confidence)),
        ("%2", _percent(float(others[second]))),
        ("%3", _called(second, names)),
    ):
        text = text.replace(place, value)
    return text


def _called(place: int, names: tuple[str, ...]) -> str:
    """What one of eleven answers is called within a sentence."""
    translate = QCoreApplication.translate
    if place == NO_DIGIT:
        is_digit = names == DIGITS
        return translate("AnswerWords", "no digit") if is_digit else translate("AnswerWords", "none of these")
    if names != DIGITS:
        return names[place]
    return with_article(place)


def _percent(share: float) -> str:
    return QLocale().toString(share * 100, "f", 1)
