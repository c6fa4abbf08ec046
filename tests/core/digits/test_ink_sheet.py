"""The sheet of synthetic ink: a place for every form, first unbent and then bent, and nothing else on the paper."""

import numpy as np
import pytest

from core.digits.ink_sheet import (
    BENDINGS_OF_ALL,
    BENDINGS_OF_ONE,
    CELL,
    LABEL_WIDTH,
    NAME_HEIGHT,
    OUTLIER_ROWS,
    draw_sheet,
)
from core.digits.stroke_forms import FORMS

ROW = CELL * (1 + BENDINGS_OF_ALL) + 1  # of a digit, with the line under it


@pytest.fixture(scope="module")
def sheet():
    return draw_sheet(0)


def cells(part, across, down):
    return part[: down * CELL, : across * CELL].reshape(down, CELL, across, CELL).swapaxes(1, 2)


def test_all_digits_have_a_row_each_with_every_form_and_its_bendings(sheet):
    assert sheet.dtype == np.uint8
    assert sheet.shape[0] == 10 * ROW + OUTLIER_ROWS * CELL + 1
    assert sheet.shape[1] >= LABEL_WIDTH + max(map(len, FORMS)) * CELL
    for digit, forms in enumerate(FORMS):
        row = sheet[digit * ROW : (digit + 1) * ROW - 1, LABEL_WIDTH:]
        pictures = cells(row, len(forms), 1 + BENDINGS_OF_ALL)
        # Ink black on white paper, in the middle of each cell.
        assert pictures.min(axis=(2, 3)).max() < 60
        assert np.median(pictures) == 255
        assert row[:, len(forms) * CELL :].min() == 255


def test_under_them_are_drawings_that_are_no_digit(sheet):
    pictures = cells(sheet[10 * ROW :, LABEL_WIDTH:], max(map(len, FORMS)), OUTLIER_ROWS)
    assert pictures.min(axis=(2, 3)).max() < 60
    assert np.median(pictures) == 255


def test_every_row_is_labelled(sheet):
    labels = [sheet[digit * ROW : (digit + 1) * ROW - 1, :LABEL_WIDTH] for digit in range(10)]
    assert all(label.min() < 60 for label in labels)
    assert len({label.tobytes() for label in labels}) == 10


def test_a_seed_bends_alike_and_another_one_otherwise_but_leaves_the_unbent_form(sheet):
    np.testing.assert_array_equal(draw_sheet(0, 4), draw_sheet(0, 4))
    one, other = (
        cells(draw_sheet(seed, 4)[NAME_HEIGHT : NAME_HEIGHT + CELL], 1 + BENDINGS_OF_ONE, 1)[0] for seed in (0, 1)
    )
    np.testing.assert_array_equal(one[0], other[0])
    assert all((a != b).any() for a, b in zip(one[1:], other[1:], strict=True))


def test_one_digit_has_a_row_for_each_form_under_its_name():
    sheet = draw_sheet(3, 7)
    height = NAME_HEIGHT + CELL + 1
    assert sheet.shape == (len(FORMS[7]) * height, (1 + BENDINGS_OF_ONE) * CELL)
    names = [sheet[top : top + NAME_HEIGHT] for top in range(0, len(sheet), height)]
    assert len({name.tobytes() for name in names}) == len(FORMS[7])
