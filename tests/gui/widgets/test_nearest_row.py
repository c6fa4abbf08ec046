"""The nearest training digits: each above its label, byte for byte."""

import numpy as np
import pytest
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gui import theme
from gui.widgets.nearest_row import DIGITS, NearestRow


@pytest.fixture
def row(qtbot: QtBot) -> NearestRow:
    row = NearestRow()
    qtbot.addWidget(row)
    row.resize(row.sizeHint())
    row.show()
    return row


def test_the_pictures_stand_side_by_side_in_their_order(row: NearestRow) -> None:
    pictures = np.stack([np.full((28, 28), 40 * n, np.uint8) for n in range(1, DIGITS + 1)])
    row.show_digits(pictures, np.array([3, 1, 4, 1, 5], np.uint8))
    image = row.grab().toImage()
    greys = [image.pixelColor(22 + round(52 * n), 22).red() for n in range(DIGITS)]
    assert greys == [40, 80, 120, 160, 200]
    assert row.accessibleDescription() == "3, 1, 4, 1, 5"
    below = {image.pixelColor(x, y).name() for x in range(44) for y in range(46, image.height())}
    assert len(below) > 2


def test_fewer_digits_leave_frames_empty(row: NearestRow) -> None:
    row.show_digits(np.full((2, 28, 28), 90, np.uint8), np.array([3, 1], np.uint8))
    row.show_digits(np.full((1, 28, 28), 90, np.uint8), np.array([3], np.uint8))
    track = QColor(theme.colours(row.palette()).track)
    image = row.grab().toImage()
    assert image.pixelColor(22, 22).red() == 90
    assert image.pixelColor(22 + 52, 22) == track
    row.show_digits(None, None)
    assert row.grab().toImage().pixelColor(22, 22) == track


def test_labels_are_called_what_they_stand_for(row: NearestRow) -> None:
    row.show_classes(("T-shirt", "trousers"))
    row.show_digits(np.full((2, 28, 28), 90, np.uint8), np.array([1, 0], np.uint8))
    assert row.accessibleDescription() == "trousers, T-shirt"
    assert not row.grab().isNull()
