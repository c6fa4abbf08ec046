"""The command that draws the sheet of synthetic ink: the file it leaves, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.digits.ink_sheet import draw_sheet
from core.digits.stroke_forms import FORMS
from tests.core.commands import Run, make, the_one_object


def test_the_sheet_is_a_png_of_every_form(inkling: Run, tmp_path: Path) -> None:
    path = tmp_path / "sheet.png"
    status, stdout, stderr = inkling("ink", "--sheet", path)
    assert (status, stderr) == (0, "")
    assert stdout == f"{path}: {sum(map(len, FORMS))} forms\n"
    with Image.open(path) as image:
        assert (image.format, image.mode) == ("PNG", "L")
        np.testing.assert_array_equal(np.asarray(image), draw_sheet(0))


def test_seed_and_digit_are_obeyed_and_json_tells_what_was_drawn(inkling: Run, tmp_path: Path) -> None:
    path = tmp_path / "four.PNG"
    status, stdout, _ = inkling("ink", "--sheet", path, "--seed", 5, "--digit", 4, "--json")
    expected = draw_sheet(5, 4)
    height, width = expected.shape
    assert status == 0
    assert the_one_object(stdout) == {"sheet": str(path), "forms": len(FORMS[4]), "width": width, "height": height}
    with Image.open(path) as image:
        np.testing.assert_array_equal(np.asarray(image), expected)


def test_an_older_sheet_is_replaced(inkling: Run, tmp_path: Path) -> None:
    path = tmp_path / "sheet.png"
    path.write_text("old")
    assert inkling("ink", "--sheet", path, "--digit", 0)[0] == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--sheet", "sheet.jpg"], "--sheet is 'sheet.jpg'; it wants a file name that ends in .png"),
        (["--sheet", "sheet"], "it wants a file name that ends in .png"),
        (["--sheet", "a.png", "--digit", "10"], "--digit"),
        (["--sheet", "a.png", "--seed", "-1"], "--seed"),
        ([], "--sheet"),
    ],
)
def test_wrong_use_ends_with_status_2(
    inkling: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    status, stdout, stderr = inkling("ink", *options)
    assert (status, stdout) == (2, "")
    assert complaint in stderr
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_written_ends_with_status_1_and_one_sentence(inkling: Run, tmp_path: Path) -> None:
    folder = make(tmp_path / "folder.png", "folder")
    for path, complaint in (
        (folder, f"{folder} is a folder; name a file in it"),
        (tmp_path / "absent" / "a.png", "does not exist; make it first"),
    ):
        status, stdout, stderr = inkling("ink", "--sheet", path, "--digit", 1, "--json")
        assert (status, stdout) == (1, "")
        assert stderr.count("\n") == 1
        assert complaint in stderr
