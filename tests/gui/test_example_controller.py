"""Test digits for the canvas, as they are in the set."""

import numpy as np
import pytest

from core.digits.dataset import DigitSets
from gui.example_controller import ExampleController
from gui.ink_history import PrintedDigit


@pytest.fixture
def controller(few_digits: DigitSets) -> ExampleController:
    controller = ExampleController()
    controller.on_data_loaded(few_digits)
    return controller


@pytest.fixture
def chosen(controller: ExampleController) -> list[PrintedDigit]:
    heard: list[PrintedDigit] = []
    controller.chosen.connect(heard.append)
    return heard


@pytest.mark.parametrize(("number", "place"), [(0, 0), (299, 299), (300, 0), (-1, 299)])
def test_a_digit_is_the_one_of_that_number_and_the_set_is_a_ring(
    controller: ExampleController, chosen: list[PrintedDigit], few_digits: DigitSets, number: int, place: int
) -> None:
    controller.choose(number)
    (digit,) = chosen
    assert digit.number == place
    assert digit.label == few_digits.test.labels[place]
    assert np.array_equal(digit.picture, few_digits.test.images[place])


def test_by_lot_any_digit_comes(controller: ExampleController, chosen: list[PrintedDigit]) -> None:
    for _ in range(60):
        controller.choose_by_lot()
    # Of 300 digits, 60 draws give about 54 different ones.
    assert len({digit.number for digit in chosen}) > 25


def test_without_data_there_is_nothing_to_choose(few_digits: DigitSets) -> None:
    controller = ExampleController()
    told: list[object] = []
    controller.chosen.connect(told.append)
    controller.choose_by_lot()
    controller.choose(3)
    assert told == []
    controller.ready.connect(lambda: told.append("ready"))
    controller.on_data_loaded(few_digits)
    assert told == ["ready"]
