"""What is painted on the sheet, looked at pixel by pixel."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from gui import theme
from gui.ink_history import OpenedPicture
from gui.widgets.sheet_painting import paint_digit, paint_picture

SHEET = QRectF(0, 0, 212, 212)
INSIDE = 200


def painted(paint) -> QImage:
    image = QImage(212, 212, QImage.Format.Format_RGB32)
    image.fill(QColor(0, 255, 0))
    painter = QPainter(image)
    paint(painter)
    painter.end()
    return image


def test_a_picture_is_shown_whole_in_its_own_colours_and_proportions() -> None:
    pixels = np.zeros((2, 4, 3), np.uint8)
    pixels[:, :2, 0], pixels[:, 2:, 2] = 255, 255
    opened = OpenedPicture(pixels, (), np.empty((0, 4)))
    image = painted(lambda painter: paint_picture(painter, SHEET, opened, 0, theme.LIGHT))
    names = [image.pixelColor(x, y).name() for x, y in ((10, 60), (104, 150), (108, 60), (200, 150), (106, 50))]
    assert names == ["#ff0000", "#ff0000", "#0000ff", "#0000ff", "#00ff00"]


@pytest.mark.parametrize("selected", [0, 1])
def test_boxes_lie_around_the_digits_and_the_selected_one_is_the_strongest(selected: int) -> None:
    boxes = np.array([[0.1, 0.2, 0.3, 0.6], [0.5, 0.2, 0.7, 0.6]])
    opened = OpenedPicture(np.full((100, 100, 3), 255, np.uint8), (), boxes)
    image = painted(lambda painter: paint_picture(painter, SHEET, opened, selected, theme.LIGHT))
    accent = QColor(theme.LIGHT.accent).name()
    widths = []
    for left, right in ((0.1, 0.3), (0.5, 0.7)):
        names = [image.pixelColor(x, 6 + int(0.4 * INSIDE)).name() for x in range(212)]
        inked = [x for x, name in enumerate(names) if name == accent]
        near = [x for x in inked if abs(x - 6 - left * INSIDE) < 6]
        widths.append(len(near))
        assert near
        assert max(near) < 6 + left * INSIDE
        assert [x for x in inked if abs(x - 6 - right * INSIDE) < 6]
    assert widths.index(max(widths)) == selected
    assert widths[0] != widths[1]


@pytest.mark.parametrize(("scheme", "paper"), [(theme.LIGHT, 255), (theme.DARK, 0)])
def test_a_digit_has_the_colours_of_paper(scheme: theme.Colours, paper: int) -> None:
    picture = np.zeros((28, 28), np.uint8)
    picture[14, 14] = 200
    image = painted(lambda painter: paint_digit(painter, SHEET, picture, scheme))
    assert image.pixelColor(60, 60).red() == paper
    assert image.pixelColor(109, 109).red() == abs(paper - 200)
