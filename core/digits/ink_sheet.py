"""A sheet of synthetic ink for people to look at: whether what a network is shown as digits are digits.

Pictures are those a network gets, enlarged, ink black on white paper. Of each form the first one is as it stands in
core.digits.stroke_forms, unbent.
"""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from core.device import HostArray
from core.digits.outliers import outlier_pictures
from core.digits.rasterizer import PICTURE_SIZE, rasterize
from core.digits.stroke_forms import FORMS, Form
from core.digits.synthetic_ink import UNBENT, write_form

CELL = 2 * PICTURE_SIZE
"""Pixels of a picture's side, on the sheet."""

LABEL_WIDTH = 40
NAME_HEIGHT = 16
OUTLIER_ROWS = 5
BENDINGS_OF_ALL, BENDINGS_OF_ONE = 3, 15
"""How often a form is bent on the sheet of all digits and on that of one digit."""


def draw_sheet(seed: int, digit: int | None = None) -> HostArray:
    """The sheet, uint8 (height, width), 0 ink to 255 paper: of all digits, or of the forms of one digit (0 to 9).

    Of all digits: a row for each, its forms side by side, each above its bendings, and under them drawings that are no
    digit. Of one: a row for each form, under its name. The same seed draws alike.
    """
    rng = np.random.default_rng(seed)
    if digit is not None:
        return _stacked([_form_row(form, rng) for form in FORMS[digit]])
    rows = [_digit_row(forms, rng) for forms in FORMS]
    return _stacked([*rows, _outlier_row((max(row.shape[1] for row in rows) - LABEL_WIDTH) // CELL, rng)])


def _digit_row(forms: tuple[Form, ...], rng: np.random.Generator) -> HostArray:
    columns = [np.concatenate(_pictures(form, BENDINGS_OF_ALL, rng)) for form in forms]
    row = np.concatenate(columns, axis=1)
    label = _text(str(forms[0].digit), LABEL_WIDTH, len(row), 32)
    return np.concatenate([label, row, np.full((len(row), NAME_HEIGHT), 255, np.uint8)], axis=1)


def _outlier_row(columns: int, rng: np.random.Generator) -> HostArray:
    cells = [_enlarged(picture) for picture in outlier_pictures(OUTLIER_ROWS * columns, rng)]
    rows = [np.concatenate(cells[start : start + columns], axis=1) for start in range(0, len(cells), columns)]
    pictures = np.concatenate(rows)
    return np.concatenate([_text("–", LABEL_WIDTH, len(pictures), 32), pictures], axis=1)


def _form_row(form: Form, rng: np.random.Generator) -> HostArray:
    row = np.concatenate(_pictures(form, BENDINGS_OF_ONE, rng), axis=1)
    return np.concatenate([_text(f"{form.digit}  {form.name}", row.shape[1], NAME_HEIGHT, 12), row])


def _pictures(form: Form, bendings: int, rng: np.random.Generator) -> list[HostArray]:
    """The form unbent and so many bendings of it, (CELL, CELL) each."""
    inks = [*write_form(form, 1, rng, UNBENT), *write_form(form, bendings, rng)]
    return [_enlarged(rasterize(ink)) for ink in inks]


def _enlarged(picture: HostArray) -> HostArray:
    """Ink black on white paper, (CELL, CELL)."""
    return np.asarray(Image.fromarray(255 - picture).resize((CELL, CELL), Image.Resampling.BICUBIC))


def _stacked(rows: list[HostArray]) -> HostArray:
    """Rows one under the other, the shorter ones filled up with paper, and a thin line between them."""
    width = max(row.shape[1] for row in rows)
    sheet = []
    for row in rows:
        sheet.append(np.pad(row, ((0, 0), (0, width - row.shape[1])), constant_values=255))
        sheet.append(np.full((1, width), 200, np.uint8))
    return np.concatenate(sheet)


def _text(text: str, width: int, height: int, size: int) -> HostArray:
    paper = Image.new("L", (width, height), 255)
    font = ImageFont.load_default(size)
    ImageDraw.Draw(paper).text((4, height / 2), text, fill=0, font=font, anchor="lm")
    return np.asarray(paper)
