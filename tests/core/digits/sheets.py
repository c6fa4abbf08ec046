"""A digit of our own drawing and the sheets it is on, for the tests of pictures."""

import numpy as np
from PIL import Image


def seven(side=120, pen=9, left=0.3, top=0.15):
    """A seven, ink 0..1 float32 (side, side), its box 0.4 wide and 0.7 high."""
    y, x = (np.indices((side, side)) + 0.5) / side
    bar = (abs(y - top - pen / side / 2) <= pen / side / 2) & (x >= left) & (x <= left + 0.4)
    stem_x = left + 0.4 - pen / side / 2 - (y - top) * 0.35
    stem = (abs(x - stem_x) <= pen / side / 2) & (y >= top) & (y <= top + 0.7)
    return (bar | stem).astype(np.float32)


def on_paper(ink, paper=255, pen=0):
    return np.round(paper + (pen - paper) * ink).clip(0, 255).astype(np.uint8)


def saved(path, levels, mode=None, **options):
    image = Image.fromarray(levels)
    (image.convert(mode) if mode else image).save(path, **options)
    return path


def mean_difference(one, other):
    return np.abs(one.astype(int) - other).mean()
