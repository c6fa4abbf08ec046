"""What the network sees, pixel by pixel."""

import numpy as np
import pytest
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gui.widgets.input_preview import InputPreview


@pytest.fixture
def preview(qtbot: QtBot) -> InputPreview:
    preview = InputPreview()
    qtbot.addWidget(preview)
    preview.resize(84, 84)
    preview.show()
    return preview


def test_every_pixel_is_shown_sharp_and_in_its_place(preview: InputPreview, rng: np.random.Generator) -> None:
    image = rng.integers(0, 256, (28, 28), dtype=np.uint8)
    preview.show_image(image)
    shown = preview.grab().toImage()
    # The corners are rounded.
    for row in range(2, 26):
        for column in range(2, 26):
            grey = int(image[row, column])
            block = {shown.pixelColor(3 * column + x, 3 * row + y).name() for x in range(3) for y in range(3)}
            assert block == {QColor(grey, grey, grey).name()}


def test_it_keeps_what_it_was_shown(preview: InputPreview) -> None:
    image = np.full((28, 28), 200, np.uint8)
    preview.show_image(image)
    image[:] = 0
    assert preview.grab().toImage().pixelColor(42, 42).red() == 200


def test_none_empties_it(preview: InputPreview) -> None:
    preview.show_image(np.zeros((28, 28), np.uint8))
    assert preview.grab().toImage().pixelColor(42, 42) == QColor("black")
    preview.show_image(None)
    assert preview.grab().toImage().pixelColor(42, 42) != QColor("black")


@pytest.mark.parametrize("image", [np.zeros((28, 27), np.uint8), np.zeros((28, 28)), np.zeros(784, np.uint8)])
def test_anything_else_is_refused(preview: InputPreview, image: np.ndarray) -> None:
    with pytest.raises(ValueError, match="uint8 of shape"):
        preview.show_image(image)


def test_views_that_are_not_contiguous_are_shown_rightly(preview: InputPreview) -> None:
    image = np.zeros((28, 56), np.uint8)
    image[:, ::2] = np.arange(28, dtype=np.uint8)[:, None] * 9
    preview.show_image(image[:, ::2])
    assert preview.grab().toImage().pixelColor(42, 3 * 20 + 1).red() == 180


def test_it_explains_itself(preview: InputPreview) -> None:
    assert preview.objectName() == "inputPreview"
    assert "network sees" in preview.toolTip()
    assert preview.accessibleName()
