"""Which distorted digits are shown: the same draw for every strength, and another one when it is asked for."""

from dataclasses import replace

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.digits.dataset import DigitSets
from core.training.hyperparameters import Hyperparameters
from gui.distortion_controller import DIGITS, DistortionController

PLAIN = Hyperparameters(network="linear 10")


@pytest.fixture
def controller(qtbot: QtBot) -> DistortionController:
    return DistortionController()


@pytest.fixture
def shown(controller: DistortionController) -> list[np.ndarray]:
    """All that the controller showed."""
    shown: list[np.ndarray] = []
    controller.previewed.connect(shown.append)
    return shown


def distance(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one.astype(float) - other.astype(float)).mean())


def test_the_first_digits_are_shown_as_they_are_once_the_data_is_there(
    controller: DistortionController, shown: list[np.ndarray], few_digits: DigitSets
) -> None:
    controller.show(PLAIN)
    assert shown == []
    controller.on_data_loaded(few_digits)
    assert len(shown) == 1
    assert (shown[0].dtype, shown[0].shape) == (np.uint8, (DIGITS, 28, 28))
    assert np.array_equal(shown[0], few_digits.train.images[:DIGITS])


def test_what_was_chosen_before_the_data_came_is_shown_when_it_comes(
    controller: DistortionController, shown: list[np.ndarray], few_digits: DigitSets
) -> None:
    controller.show(replace(PLAIN, augment=0.5))
    controller.on_data_loaded(few_digits)
    assert distance(shown[0], few_digits.train.images[:DIGITS]) > 1


def test_the_same_draw_grows_with_its_strength(
    controller: DistortionController, shown: list[np.ndarray], few_digits: DigitSets
) -> None:
    controller.on_data_loaded(few_digits)
    for strength in (0.1, 0.3, 0.6, 1.0):
        controller.show(replace(PLAIN, augment=strength))
    moved = [distance(picture, shown[0]) for picture in shown]
    assert moved == sorted(moved)
    assert len(set(moved)) == 5
    # A little more of the same is nearly the same: the dice are not thrown again.
    controller.show(replace(PLAIN, augment=0.62))
    close = distance(shown[-1], shown[3])
    controller.draw_another()
    assert close < distance(shown[-1], shown[-2]) / 5
    controller.show(replace(PLAIN, augment=0.6))
    assert distance(shown[-1], shown[-2]) < distance(shown[-1], shown[3]) / 5


def test_another_draw_differs_from_all_before_and_stays_for_every_strength(
    controller: DistortionController, shown: list[np.ndarray], few_digits: DigitSets
) -> None:
    controller.on_data_loaded(few_digits)
    strong, weak = replace(PLAIN, augment=0.5), replace(PLAIN, augment=0.1)
    controller.show(strong)
    controller.draw_another()
    controller.draw_another()
    assert all(distance(shown[-1], earlier) > 1 for earlier in shown[:-1])
    controller.show(weak)
    controller.show(strong)
    assert np.array_equal(shown[-1], shown[-3])


def test_digits_are_moved_by_the_shift_that_is_chosen(
    controller: DistortionController, shown: list[np.ndarray], few_digits: DigitSets
) -> None:
    controller.on_data_loaded(few_digits)
    controller.show(replace(PLAIN, shift_px=4))
    for _ in range(5):
        controller.draw_another()
    assert any(distance(moved, shown[0]) > 1 for moved in shown[1:])
    assert all(set(np.unique(moved)) <= set(np.unique(shown[0])) for moved in shown)


def test_what_does_not_change_the_pictures_shows_nothing_anew(
    controller: DistortionController, shown: list[np.ndarray], few_digits: DigitSets
) -> None:
    controller.on_data_loaded(few_digits)
    controller.show(replace(PLAIN, augment=0.5))
    controller.show(replace(PLAIN, augment=0.5, learning_rate=0.5, network="linear 32 relu, linear 10"))
    assert len(shown) == 2


def test_other_data_is_shown_with_the_strength_that_is_chosen(
    controller: DistortionController, shown: list[np.ndarray], few_digits: DigitSets
) -> None:
    controller.on_data_loaded(few_digits)
    controller.show(replace(PLAIN, augment=0.5))
    others = DigitSets("others", few_digits.train.part(8, 100), few_digits.test)
    controller.on_data_loaded(others)
    assert shown[-1].shape == shown[-2].shape
    assert distance(shown[-1], shown[-2]) > 1
    assert distance(shown[-1], others.train.images[:DIGITS]) > 1
