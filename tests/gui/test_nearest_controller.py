"""Neighbours of a drawing: looked for once it rests, elsewhere than in the window's thread, and only when wanted."""

import threading
from collections.abc import Iterator

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.device import HostArray
from core.digits import nearest
from core.digits.dataset import Dataset, DigitSets
from gui import nearest_controller
from gui.nearest_controller import NearestController

Found = list[tuple[HostArray | None, HostArray | None]]


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """In which threads was looked, once for every search."""
    seen: list[int] = []

    def look(*args: object) -> HostArray | None:
        seen.append(threading.get_ident())
        return nearest.nearest_digits(*args)

    monkeypatch.setattr(nearest_controller, "nearest_digits", look)
    return seen


@pytest.fixture
def controller(threads: list[int], few_digits: DigitSets) -> Iterator[NearestController]:
    controller = NearestController()
    controller._timer.setInterval(20)
    controller.on_data_loaded(few_digits)
    yield controller
    controller.cancel()


@pytest.fixture
def found(controller: NearestController) -> Found:
    heard: Found = []
    controller.found.connect(lambda pictures, labels: heard.append((pictures, labels)))
    return heard


def test_a_training_digit_is_its_own_nearest(
    qtbot: QtBot, controller: NearestController, found: Found, few_digits: DigitSets, threads: list[int]
) -> None:
    controller.set_wanted(True)
    controller.on_answered(None, few_digits.train.images[77])
    qtbot.waitUntil(lambda: bool(found))
    pictures, labels = found[0]
    assert pictures is not None
    assert labels is not None
    assert pictures.shape == (5, 28, 28)
    assert np.array_equal(pictures[0], few_digits.train.images[77])
    assert labels[0] == few_digits.train.labels[77]
    assert threads != [threading.get_ident()]


def test_while_the_pen_moves_nothing_is_looked_for(
    qtbot: QtBot, controller: NearestController, found: Found, few_digits: DigitSets, threads: list[int]
) -> None:
    controller.set_wanted(True)
    for picture in few_digits.test.images[:10]:
        controller.on_answered(None, picture)
    qtbot.waitUntil(lambda: bool(found))
    assert len(threads) == 1


def test_new_answers_to_the_same_picture_are_no_reason_to_look_again(
    qtbot: QtBot, controller: NearestController, found: Found, few_digits: DigitSets, threads: list[int]
) -> None:
    controller.set_wanted(True)
    controller.on_answered(None, few_digits.test.images[0])
    qtbot.waitUntil(lambda: len(found) == 1)
    controller.on_answered(None, few_digits.test.images[0].copy())
    assert not controller._timer.isActive()
    controller.on_answered(None, few_digits.test.images[1])
    qtbot.waitUntil(lambda: len(found) == 2)
    assert len(threads) == 2


def test_nothing_is_looked_for_that_nobody_sees(
    qtbot: QtBot, controller: NearestController, found: Found, few_digits: DigitSets, threads: list[int]
) -> None:
    controller.on_answered(None, few_digits.test.images[0])
    assert not controller._timer.isActive()
    controller.set_wanted(True)
    qtbot.waitUntil(lambda: len(found) == 1)
    controller.set_wanted(False)
    controller.on_answered(None, few_digits.test.images[1])
    assert not controller._timer.isActive()
    assert len(threads) == 1


def test_what_was_cleared_has_no_neighbours(
    qtbot: QtBot, controller: NearestController, found: Found, few_digits: DigitSets, threads: list[int]
) -> None:
    controller.set_wanted(True)
    controller.on_answered(None, few_digits.test.images[0])
    qtbot.waitUntil(lambda: bool(threads))
    controller.on_answered(None, None)
    controller.cancel()
    qtbot.wait(50)
    assert found[-1] == (None, None)


def test_other_data_has_other_neighbours(
    qtbot: QtBot, controller: NearestController, found: Found, few_digits: DigitSets
) -> None:
    controller.set_wanted(True)
    controller.on_answered(None, few_digits.test.images[0])
    qtbot.waitUntil(lambda: len(found) == 1)
    black = Dataset(np.zeros((2, 28, 28), np.uint8), np.array([8, 9], np.uint8))
    controller.on_data_loaded(DigitSets("black", black, black))
    assert found[1] == (None, None)  # at once: these neighbours are those of other data
    qtbot.waitUntil(lambda: len(found) == 3)
    labels = found[2][1]
    assert labels is not None
    assert sorted(labels.tolist()) == [8, 9]
