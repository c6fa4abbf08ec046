"""The sheet on a table: where it is, what is put around it, and what is none."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from core.digits.pictures import read_picture
from core.digits.sheet import covered, table_around
from tests.core.digits.sheets import mean_difference, on_paper, saved, seven

SIZE = (300, 240)


def photograph(corners, paper=220, table=50, ink=True):
    """Grey levels (240, 300), with noise, of a sheet between `corners` and a seven on it; and where the sheet is."""
    picture, mask = Image.new("L", SIZE, table), Image.new("L", SIZE, 0)
    ImageDraw.Draw(picture).polygon(corners, fill=paper)
    ImageDraw.Draw(mask).polygon(corners, fill=1)
    if ink:
        x, y = np.mean(corners, axis=0).astype(int) - 45
        levels = on_paper(seven(90, pen=7), paper=paper, pen=30)
        picture.paste(
            Image.fromarray(levels), (int(x), int(y)), Image.fromarray(levels).point(lambda p: 255 * (p < 128))
        )
    noise = np.random.default_rng(4).normal(0, 4, SIZE[::-1])
    return (np.asarray(picture, np.float32) + noise).clip(0, 255).astype(np.float32), np.asarray(mask, bool)


STRAIGHT = [(60, 40), (240, 40), (240, 200), (60, 200)]
ASKEW = [(70, 30), (250, 60), (225, 215), (45, 185)]
IN_PERSPECTIVE = [(80, 50), (220, 50), (240, 200), (60, 200)]
ACROSS_THE_EDGE = [(-1, -1), (200, -1), (200, 190), (-1, 190)]
SHEETS = {
    "straight": STRAIGHT,
    "askew": ASKEW,
    "in perspective": IN_PERSPECTIVE,
    "across the edge": ACROSS_THE_EDGE,
}


@pytest.mark.parametrize("corners", SHEETS.values(), ids=SHEETS)
def test_the_table_is_what_is_not_the_sheet_or_its_rim(corners):
    grey, sheet = photograph(corners)
    table = table_around(grey)
    assert table[~sheet].all()
    assert (~table).sum() > 0.8 * sheet.sum()


@pytest.mark.parametrize("corners", SHEETS.values(), ids=SHEETS)
@pytest.mark.parametrize("enlarged", [1, 4])
def test_a_digit_on_a_sheet_on_a_table_is_that_of_the_sheet_alone(tmp_path, corners, enlarged):
    grey, _ = photograph(corners)
    alone, _ = photograph([(-1, -1), (301, -1), (301, 241), (-1, 241)])
    pictures = []
    for levels in (grey, alone):
        image = Image.fromarray(levels.astype(np.uint8))
        image = image.resize((enlarged * SIZE[0], enlarged * SIZE[1]), Image.Resampling.BICUBIC)
        pictures.append(read_picture(saved(tmp_path / "photo.png", np.asarray(image))))
    assert mean_difference(*pictures) < 6


def test_two_sheets_on_one_table_are_both_kept():
    levels, first = photograph([(20, 40), (140, 40), (140, 200), (20, 200)])
    more, second = photograph([(170, 50), (280, 50), (280, 190), (170, 190)])
    table = table_around(np.maximum(np.where(first, levels, 0), np.where(second, more, 50)))
    assert (~table & first).sum() > 0.8 * first.sum()
    assert (~table & second).sum() > 0.8 * second.sum()


def test_what_covers_the_table_goes_on_from_the_paper_nearby():
    light = np.linspace(120, 230, SIZE[0], dtype=np.float32) * np.ones((SIZE[1], 1), np.float32)
    table = np.ones(light.shape, bool)
    table[40:200, 60:240] = False
    result = covered(np.where(table, 20, light).astype(np.float32), table)
    assert result.dtype == np.float32
    assert np.array_equal(result[~table], light[~table])
    assert np.abs(result - light)[38:202, 58:242].max() < 12
    assert result.min() > 110
    assert result.max() < 240


def half_in_the_shadow():
    ink = np.concatenate([seven(240, pen=16)[:, 40:190]] * 2, axis=1)
    shadow = np.where(np.arange(SIZE[0]) < 150, 1, 0.45)
    return 220 * shadow * (1 - 0.8 * ink)


def blocks(pen, middle=False):
    """A bright digit of bars, `pen` thick from side to side and from top to bottom."""
    levels = np.full((280, 280), 20, np.uint8)
    levels[40:240, 80:200] = 230
    wide, high = pen
    levels[40 + high : 240 - high, 80 + wide : 200 - wide] = 20
    if middle:
        levels[140 - high // 2 : 140 + high // 2, 80:200] = 230
    return levels


def marked_table():
    """What is around the sheet is as dark as a table, and written on."""
    levels, _ = photograph(STRAIGHT, table=110)
    levels[100:140, 10:16] = 20
    return levels


NO_SHEETS = {
    "paper alone": on_paper(seven(200)),
    "bright on dark": on_paper(seven(200), paper=20, pen=230),
    "a blank sheet": photograph(STRAIGHT, ink=False)[0],
    "a sheet hardly brighter": photograph(STRAIGHT, paper=85)[0],
    "a sheet half in the shadow": half_in_the_shadow(),
    "a 0 of blocks": blocks((40, 30)),
    "an 8 of blocks": blocks((40, 30), middle=True),
    "two sheets' worth of marks": marked_table(),
    "one grey": np.full((30, 40), 128, np.uint8),
    "black": np.zeros((30, 40), np.uint8),
    "one pixel": np.full((1, 1), 200, np.uint8),
    "a row": np.arange(200, dtype=np.uint8)[np.newaxis],
}


@pytest.mark.parametrize("levels", NO_SHEETS.values(), ids=NO_SHEETS)
def test_what_is_no_sheet_on_a_table_is_left_alone(levels):
    assert table_around(levels.astype(np.float32)) is None


def test_hardly_a_bright_digit_is_taken_for_a_sheet(mnist):
    taken = 0
    for digit in mnist.test.images[:2000]:
        large = Image.fromarray(np.array(digit)).resize((140, 140), Image.Resampling.BICUBIC)
        taken += table_around(np.asarray(large, np.float32)) is not None
    assert taken <= 3
