"""The user's own digits at the terminal: counted, taken in, written out; and a training that learns from them."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.digits.my_digits import MyDigits
from core.digits.synthetic_ink import write_digits
from tests.core.commands import QUICKLY, Run, the_one_object

BROKEN = b"no digit\n"


def write(path: Path, labels: list[int], seed: int = 1) -> MyDigits:
    mine = MyDigits(path)
    mine.add(write_digits(np.array(labels, np.uint8), np.random.default_rng(seed)))
    return mine


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MyDigits:
    """The window's own collection: seven digits, and a line that is none."""
    monkeypatch.setattr("core.digits.my_digits.user_data_path", lambda *_, **__: tmp_path / "home")
    mine = write(tmp_path / "home" / "my-digits.jsonl", [3, 3, 7, 1, 7, 7, 0])
    with mine.path.open("ab") as file:
        file.write(BROKEN)
    return mine


def test_the_digits_are_counted_and_what_is_none_is_told_by_its_line(inkling: Run, mine: MyDigits) -> None:
    status, stdout, stderr = inkling("mine", "--json")
    result = the_one_object(stdout)
    assert (status, result["digits"]) == (0, [1, 1, 0, 2, 0, 0, 0, 3, 0, 0])
    assert result["problems"] == [{"line": 8, "reason": "this is not JSON"}]
    assert result["file"] == str(mine.path)
    assert stderr == f"inkling: {mine.path}, line 8 is no digit and was passed over: this is not JSON\n"
    status, stdout, _ = inkling("mine")
    assert status == 0
    rows = [line.strip("│| ").split() for line in stdout.replace("│", " ").splitlines()]
    assert ["7", "3"] in rows
    assert ["all", "7"] in rows


def test_without_any_there_is_no_file_and_no_complaint(inkling: Run, tmp_path: Path) -> None:
    status, stdout, stderr = inkling("mine", "--my-digits", tmp_path / "none.jsonl", "--json")
    assert (status, the_one_object(stdout)["digits"], stderr) == (0, [0] * 10, "")
    assert not (tmp_path / "none.jsonl").exists()


def test_others_are_taken_in_once_and_all_are_written_out(inkling: Run, mine: MyDigits, tmp_path: Path) -> None:
    other = write(tmp_path / "other.jsonl", [3, 3, 7, 1, 7, 7, 0])
    other.add(write_digits(np.array([9], np.uint8), np.random.default_rng(2)))
    with other.path.open("ab") as file:
        file.write(BROKEN)
    out = tmp_path / "out.jsonl"
    result = the_one_object(inkling("mine", "--import", other.path, "--export", out, "--json")[1])
    assert (result["added"], result["known"], result["exported"]) == (1, 7, 8)
    assert [problem["line"] for problem in result["refused"]] == [9]
    assert sorted(json.loads(line)["label"] for line in out.read_text().splitlines()) == [0, 1, 3, 3, 7, 7, 7, 9]
    assert BROKEN in mine.path.read_bytes()


def test_what_cannot_be_taken_in_is_one_sentence(inkling: Run, mine: MyDigits, tmp_path: Path) -> None:
    status, stdout, stderr = inkling("mine", "--import", tmp_path / "absent.jsonl", "--json")
    assert (status, stdout) == (1, "")
    assert stderr.startswith(f"inkling: {tmp_path / 'absent.jsonl'} does not exist")


def test_training_on_them_tells_the_accuracy_apart_and_the_broken_line(
    inkling: Run, mine: MyDigits, tmp_path: Path
) -> None:
    status, stdout, stderr = inkling("train", *QUICKLY, "--mine", 0.3, "--json")
    result = the_one_object(stdout)
    assert status == 0
    assert result["mine_accuracy"] in (0.0, 1.0)  # One is held out.
    assert result["samples"] == 1000 + 429
    assert "mine_accuracy_before" not in result
    assert stderr == f"inkling: {mine.path}, line 8 is no digit and was passed over: this is not JSON\n"


def test_of_four_none_is_held_out_and_that_is_said(inkling: Run, tmp_path: Path) -> None:
    few = write(tmp_path / "few.jsonl", [3, 1, 4, 1])
    status, stdout, stderr = inkling("train", *QUICKLY, "--mine", 0.5, "--my-digits", few.path, "--json")
    result = the_one_object(stdout)
    assert status == 0
    assert result["samples"] == 1000 + 1000
    assert result["mine_accuracy"] in (0.0, 0.25, 0.5, 0.75, 1.0)  # of the four that it learned from
    assert "only 4 digits of your own, so all are learned from and none is held out" in stderr


def test_a_network_that_learns_on_says_what_it_was_worth_before(inkling: Run, mine: MyDigits, tmp_path: Path) -> None:
    first = tmp_path / "first.safetensors"
    before = the_one_object(inkling("train", *QUICKLY, "--out", first, "--json")[1])
    assert "mine_accuracy" not in before
    result = the_one_object(inkling("train", *QUICKLY, "--start", first, "--mine", 0.3, "--json")[1])
    # The file holds float16, which may read one digit in a thousand differently.
    assert result["test_accuracy_before"] == pytest.approx(before["test_accuracy"], abs=0.002)
    assert result["test_accuracy"] > before["test_accuracy"]
    assert result["mine_accuracy_before"] in (0.0, 1.0)


def test_of_a_file_of_another_kind_a_few_lines_are_complained_of_and_all_are_counted(
    inkling: Run, mine: MyDigits, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("word\n" * 40)
    _, stdout, stderr = inkling("mine", "--import", tmp_path / "text", "--json")
    # One line of the user's own is none either.
    assert (stderr.count("is no digit"), stderr.count("\n")) == (6, 7)
    assert "has 35 more lines that are no digits" in stderr
    assert len(json.loads(stdout)["refused"]) == 40


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (["--mine", "0.95"], 2, "--mine is 0.95; it must be from 0 to 0.9"),
        (["--mine", "-0.1"], 2, "--mine is -0.1; it must be from 0 to 0.9"),
        (["--mine", "0.3", "--data", "fashion-mnist"], 1, "fashion-mnist"),
        (["--mine", "0.3", "--my-digits", "none.jsonl"], 1, "none.jsonl holds no digits yet"),
        (["--start", "none.safetensors"], 1, "none.safetensors is not there"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_one_sentence(
    inkling: Run, mine: MyDigits, words: list[str], status: int, sentence: str
) -> None:
    found, stdout, stderr = inkling("train", *QUICKLY, *words)
    assert (found, stdout, stderr.count("\n")) == (status, "", 1)
    assert sentence in stderr


def test_another_network_cannot_be_begun_with(inkling: Run, model: Path) -> None:
    status, _, stderr = inkling("train", "--device", "cpu", "--hidden", "9", "--start", model)
    assert (status, stderr.count("\n")) == (2, 1)
    assert "--start has other layers than the network to train; add --network 'linear 32 relu, linear 10'" in stderr
