"""Pictures of core as Qt's images: every pixel where it was, in memory of their own."""

import numpy as np

from gui.widgets.grey_image import to_qimage


def test_every_pixel_keeps_its_place_and_value(rng: np.random.Generator) -> None:
    picture = rng.integers(0, 256, (5, 7), dtype=np.uint8)
    image = to_qimage(picture)
    assert (image.width(), image.height()) == (7, 5)
    assert [[image.pixelColor(x, y).red() for x in range(7)] for y in range(5)] == picture.tolist()


def test_a_view_that_is_not_contiguous_is_read_in_its_own_order(rng: np.random.Generator) -> None:
    picture = rng.integers(0, 256, (7, 5), dtype=np.uint8).T
    assert [[to_qimage(picture).pixelColor(x, y).red() for x in range(7)] for y in range(5)] == picture.tolist()


def test_the_image_stays_when_the_picture_changes() -> None:
    picture = np.full((2, 2), 9, np.uint8)
    image = to_qimage(picture)
    picture[...] = 200
    assert image.pixelColor(0, 0).red() == 9
