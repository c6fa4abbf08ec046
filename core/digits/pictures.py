"""From a picture of one digit or more to the 28x28 pictures a network knows: any format, size, polarity and paper.

A picture that has MNIST's form already, 28x28 with a dark border, passes unchanged, bit for bit. Every other one takes
the road MNIST's own scans took: find the ink on its paper (core.digits.paper), tell the digits apart
(core.digits.segmentation), fit the box of each to 20x20 pixels, put its centre of mass on pixel (14, 14). The road is
another than core.digits.rasterizer's because a picture, unlike ink, has paper, light and noise in it, and its pen is
as thick as it is: one too thin to survive the shrinking is thickened, no other is changed.

Finding the ink stands on OpenCV, a library of 150 MB on disk and 40 ms to load, which nobody should wait for who opens
no picture. So what uses it is imported only where a picture is read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageFilter, ImageOps

from core.device import HostArray
from core.digits.cutting import cut_touching
from core.digits.picture_file import PictureError, Source, name_of, open_picture, to_grey
from core.digits.rasterizer import BOX_SIZE, CENTRE_PIXEL, PICTURE_SIZE, centre_of_mass
from core.digits.segmentation import Part

Sureness = Callable[[HostArray], HostArray]
"""Of pictures uint8 (N, 28, 28), how sure a network is that each shows the digit it reads: float (N,), 0 to 1."""

_INK_SIDE = 160  # of the ink's box, before the last step: eight times what becomes of it
_FINEST_PEN_PX = 2.0  # in the finished picture; one MNIST picture in six has a finer one


@dataclass(frozen=True, eq=False)
class FoundDigit:
    """One digit of a picture: as the network sees it, uint8 (28, 28), and where it is.

    `box`: left, top, right, bottom in pixels of the upright picture, the last two just beyond the ink.
    """

    picture: HostArray
    box: tuple[int, int, int, int]


def read_picture(source: Source) -> HostArray:
    """The one digit in the picture: uint8 (28, 28), ink bright (255) on 0.

    Of a file with several frames the first counts; transparent places are paper.

    Raises PictureError if the file is missing, damaged, no picture, larger than 50 megapixels, or shows no ink.
    """
    image, _ = open_picture(source)
    grey = to_grey(image)
    if _is_mnist_s(grey):
        return grey.astype(np.uint8)
    from core.digits.connected_parts import without_dirt

    return _fit(without_dirt(_ink(image, source)))


def find_digits(source: Source, sureness: Sureness | None = None) -> list[FoundDigit]:
    """The digits in the picture, at least one: row by row, each from left to right.

    Digits that touch are cut apart where that makes pieces as wide as digits are; with `sureness`, only where a network
    is surer of the pieces than of the whole.

    Raises PictureError as read_picture does.
    """
    image, full_size = open_picture(source)
    grey = to_grey(image)
    if _is_mnist_s(grey):
        return [FoundDigit(grey.astype(np.uint8), (0, 0, PICTURE_SIZE, PICTURE_SIZE))]

    def sure(parts: Sequence[Part]) -> HostArray:
        return np.ones(len(parts)) if sureness is None else sureness(np.stack([_fit(part.ink) for part in parts]))

    from core.digits.connected_parts import split_picture

    parts = [piece for part in split_picture(_ink(image, source)) for piece in cut_touching(part, sure)]
    scale = full_size[0] / image.width
    return [FoundDigit(_fit(part.ink), _scaled(part.box, scale, full_size)) for part in parts]


def _ink(image: Image.Image, source: Source) -> HostArray:
    """The ink of the picture, uint8 (height, width), ink bright on 0; raises PictureError if there is none."""
    from core.digits.paper import find_ink

    ink = find_ink(image)
    if ink is None:
        raise PictureError(
            f"{name_of(source)} is blank: no ink stands out from its background; choose a picture of a digit."
        )
    return (ink * 255).astype(np.uint8)


def _scaled(box: tuple[int, int, int, int], scale: float, full_size: tuple[int, int]) -> tuple[int, int, int, int]:
    left, top, right, bottom = (round(edge * scale) for edge in box)
    return left, top, min(right, full_size[0]), min(bottom, full_size[1])


def _is_mnist_s(grey: HostArray) -> bool:
    if grey.shape != (PICTURE_SIZE, PICTURE_SIZE):
        return False
    dark = float(np.median(np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])))
    return dark < 64 and float(grey.max()) - dark >= 20


def _fit(ink: HostArray) -> HostArray:
    """The finished picture, uint8 (28, 28), of `ink` uint8 (height, width)."""
    marked = ink > ink.max() / 2
    rows, columns = np.flatnonzero(marked.any(axis=1)), np.flatnonzero(marked.any(axis=0))
    box = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = _INK_SIDE / max(box.shape)
    size = max(1, round(box.shape[1] * scale)), max(1, round(box.shape[0] * scale))
    enlarged = Image.fromarray(box).resize(size, Image.Resampling.BILINEAR)
    missing = (_FINEST_PEN_PX - _pen_width(enlarged)) * _INK_SIDE / BOX_SIZE
    if missing > 1:
        reach = round(missing / 2)
        enlarged = ImageOps.expand(enlarged, border=reach).filter(ImageFilter.MaxFilter(2 * reach + 1))
    enlarged = ImageOps.expand(enlarged, border=_INK_SIDE)
    left, top, right, bottom = enlarged.getbbox() or (0, 0, 1, 1)
    pixel = max(right - left, bottom - top) / BOX_SIZE
    # The window's corner, such that the centre of mass comes to the middle of the centre pixel.
    corner = centre_of_mass(np.asarray(enlarged)) + 0.5 - (CENTRE_PIXEL + 0.5) * pixel
    window = (*corner, *(corner + PICTURE_SIZE * pixel))
    return np.asarray(enlarged.resize((PICTURE_SIZE, PICTURE_SIZE), Image.Resampling.HAMMING, box=window))


def _pen_width(ink: Image.Image) -> float:
    """The mean width of the strokes in the finished picture: twice their area by their perimeter."""
    levels = np.pad(np.asarray(ink, dtype=np.float32) / 255, 2)
    return float(2 * levels.sum() / np.hypot(*np.gradient(levels)).sum()) * BOX_SIZE / _INK_SIDE
