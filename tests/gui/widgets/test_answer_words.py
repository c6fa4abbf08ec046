"""The answer in words: the words follow the numbers."""

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from core.predictor import Answer
from gui.widgets.answer_words import AnswerWords
from tests.gui.answers import sure


@pytest.fixture
def answer(qtbot: QtBot) -> AnswerWords:
    answer = AnswerWords()
    qtbot.addWidget(answer)
    return answer


def probabilities(**digits: float) -> np.ndarray:
    values = np.zeros(10, np.float32)
    for name, value in digits.items():
        values[int(name[1])] = value
    return values


def words(answer: AnswerWords) -> list[str]:
    return [label.text() for label in answer.findChildren(QLabel)]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (probabilities(d7=0.93, d1=0.07), "It is a 7"),
        (probabilities(d8=0.999, d3=0.001), "It is an 8"),
        (probabilities(d4=0.4, d9=0.35, d1=0.25), "Perhaps a 4"),
    ],
)
def test_the_answer_in_words(answer: AnswerWords, values: np.ndarray, sentence: str) -> None:
    answer.show_answer(sure(values))
    assert sentence in words(answer)


def test_how_sure_and_what_else_it_might_be(answer: AnswerWords) -> None:
    answer.show_answer(sure(probabilities(d7=0.93, d1=0.07)))
    assert "93.0 % sure; 7.0 % for a 1" in words(answer)
    answer.show_answer(sure(probabilities(d7=0.998, d1=0.002)))
    assert "99.8 % sure" in words(answer)


def test_without_an_answer_it_asks_for_a_digit(answer: AnswerWords) -> None:
    asks = words(answer)
    assert "Draw a digit" in asks
    answer.show_answer(sure(probabilities(d7=1.0)))
    answer.show_answer(None)
    assert words(answer) == asks


def test_where_the_network_does_not_know_it_says_so_and_what_it_would_guess(answer: AnswerWords) -> None:
    answer.show_answer(Answer(probabilities(d4=0.9, d9=0.1), 4, 0.36, None))
    assert words(answer) == ["I don't know", "Most likely no digit (60.0 %), or else a 4 (36.0 %)"]
    answer.show_answer(Answer(probabilities(d8=0.5, d9=0.3, d1=0.2), 8, 0.48, None))
    assert words(answer) == ["I don't know", "Perhaps an 8 (48.0 %), but too unsure to say so"]
    answer.show_answer(Answer(probabilities(d4=1.0), 4, 0.0, None))
    assert words(answer) == ["I don't know", "Most likely no digit (100.0 %)"]


def test_what_speaks_for_no_digit_is_told_like_any_other_answer(answer: AnswerWords) -> None:
    answer.show_answer(Answer(probabilities(d7=0.98, d1=0.02), 7, 0.62, 7))
    assert words(answer) == ["It is a 7", "62.0 % sure; 36.7 % for no digit"]
    answer.show_meanings("Fashion-MNIST", tuple(f"garment {place}" for place in range(10)))
    answer.show_answer(Answer(probabilities(d7=0.98, d1=0.02), 7, 0.62, 7))
    assert words(answer) == ["garment 7", "62.0 % sure; 36.7 % for none of these"]


def test_a_number_stands_alone_and_an_answer_takes_its_place(answer: AnswerWords) -> None:
    answer.show()
    answer.show_number("4?7")
    assert [label.text() for label in answer.findChildren(QLabel) if label.isVisible()] == ["It is 4?7"]
    answer.show_answer(sure(probabilities(d7=1.0)))
    assert [label.text() for label in answer.findChildren(QLabel) if label.isVisible()] == ["It is a 7", "100.0 % sure"]


def test_a_long_number_is_wrapped_and_makes_nothing_wider(answer: AnswerWords) -> None:
    answer.show_number("407")
    width, font = answer.minimumSizeHint().width(), answer.findChildren(QLabel)[0].font()
    answer.show_number("0123456789" * 4)
    label = answer.findChildren(QLabel)[0]
    assert label.text().replace("\u200b", "") == "It is " + "0123456789" * 4
    assert answer.minimumSizeHint().width() <= width
    assert label.font().pointSizeF() < font.pointSizeF()
    answer.show_answer(None)
    assert label.font() == font


CLOTHES = ("T-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")


def test_a_network_that_reads_no_digits_answers_with_the_names_of_its_classes(answer: AnswerWords) -> None:
    answer.show_meanings("Fashion-MNIST", CLOTHES)
    answer.show_answer(None)
    assert words(answer) == ["No digits", "This network reads Fashion-MNIST: T-shirt, trousers, pullover and so on."]
    answer.show_answer(sure(probabilities(d1=0.93, d3=0.07)))
    assert words(answer) == ["trousers", "93.0 % sure; 7.0 % for dress"]
    answer.show_answer(sure(probabilities(d0=0.4, d6=0.35, d3=0.25)))
    assert words(answer)[0] == "Perhaps T\u2011shirt"
    answer.show_answer(Answer(probabilities(d4=0.9, d9=0.1), 4, 0.36, None))
    assert words(answer)[0] == "I don't know"
    assert "coat" in words(answer)[1]
