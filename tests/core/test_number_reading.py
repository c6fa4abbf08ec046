"""Numbers of several digits at the terminal."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.digits.dataset import Dataset
from tests.core.commands import Run, the_one_object


@pytest.fixture
def number(digits: Dataset, tmp_path: Path) -> tuple[Path, str]:
    """A sheet with three digits of MNIST on white paper, and the number."""
    sheet = np.hstack([np.pad(digits.images[i], 8) for i in range(3)]).repeat(4, axis=0).repeat(4, axis=1)
    path = tmp_path / "number.png"
    Image.fromarray(255 - sheet).save(path)
    return path, "".join(str(label) for label in digits.labels[:3])


def test_classify_says_the_number_and_each_of_its_digits(inkling: Run, number: tuple[Path, str]) -> None:
    path, label = number
    status, stdout, stderr = inkling("classify", path, "--json")
    assert (status, stderr) == (0, "")
    (entry,) = the_one_object(stdout)["files"]
    assert list(entry) == ["file", "number", "digits"]
    assert entry["number"] == label
    assert "".join(str(digit["digit"]) for digit in entry["digits"]) == label
    for i, digit in enumerate(entry["digits"]):
        assert len(digit["probabilities"]) == 10
        assert sum(digit["probabilities"]) == pytest.approx(1, rel=1e-5)
        left, top, right, bottom = digit["box"]
        # Each digit has 44 times 4 pixels of the sheet for itself.
        assert 176 * i <= left < right <= 176 * (i + 1)
        assert 0 <= top < bottom <= 176


def test_classify_without_json_prints_the_number_on_one_line(inkling: Run, number: tuple[Path, str]) -> None:
    path, label = number
    status, stdout, _ = inkling("classify", path)
    assert status == 0
    assert stdout.startswith(f"{path}: {label} (each digit at least ")
    assert stdout.count("\n") == 1


def test_what_no_answer_is_sure_of_is_a_question_mark(inkling: Run, number: tuple[Path, str]) -> None:
    path, _ = number
    status, stdout, _ = inkling("classify", path, "--threshold", "1", "--json")
    assert status == 0
    (entry,) = the_one_object(stdout)["files"]
    unsure = [digit["digit"] is None for digit in entry["digits"]]
    assert any(unsure)
    assert [sign == "?" for sign in entry["number"]] == unsure


def test_how_sure_it_is_of_a_number_is_told_of_the_digits_it_knows(inkling: Run, number: tuple[Path, str]) -> None:
    path, _ = number
    digits = the_one_object(inkling("classify", path, "--json")[1])["files"][0]["digits"]
    least, *_, most = sorted(digit["confidence"] for digit in digits)
    assert least < most < 1
    stdout = inkling("classify", path, "--threshold", most)[1]
    (sure,) = (max(digit["probabilities"]) for digit in digits if digit["confidence"] == most)
    assert stdout.count("?") == 2
    assert f" (the others at least {sure:.1%})" in stdout
    assert " ??? (I don't know any of them)" in inkling("classify", path, "--threshold", 1)[1]
