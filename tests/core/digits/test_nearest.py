"""The training digits most alike, against the definition of likeness."""

import numpy as np
import pytest

from core.digits import nearest
from core.digits.dataset import Dataset
from core.digits.nearest import nearest_digits


def as_the_definition_says(data, picture, count):
    distances = [((image.astype(int) - picture) ** 2).sum() for image in data.images]
    return sorted(range(len(data)), key=lambda place: distances[place])[:count]


@pytest.mark.parametrize("block", [7, 100, 4096])
def test_agrees_with_the_definition(few_digits, monkeypatch, block):
    monkeypatch.setattr(nearest, "BLOCK", block)
    data = few_digits.train.part(0, 200)
    for picture in few_digits.test.images[:10]:
        assert nearest_digits(data, picture, 5).tolist() == as_the_definition_says(data, picture, 5)


def test_a_set_with_fewer_digits_gives_them_all(few_digits):
    data = few_digits.train.part(0, 3)
    assert sorted(nearest_digits(data, few_digits.test.images[0], 5)) == [0, 1, 2]


def test_bytes_are_not_taken_for_small_numbers():
    # As bytes 255 - 0 and 0 - 255 would be 255 and 1.
    images = np.zeros((2, 28, 28), np.uint8)
    images[0, 0, 0], images[1, 0, 0] = 255, 100
    data = Dataset(images, np.array([0, 1], np.uint8))
    assert nearest_digits(data, np.zeros((28, 28), np.uint8), 1).tolist() == [1]


def test_it_gives_up_when_asked(few_digits, monkeypatch):
    monkeypatch.setattr(nearest, "BLOCK", 100)
    asked = []

    def interrupted():
        asked.append(None)
        return len(asked) == 3

    assert nearest_digits(few_digits.train, few_digits.test.images[0], 5, interrupted) is None
    assert len(asked) == 3
