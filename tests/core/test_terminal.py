"""How the commands answer programs."""

import json

import pytest

from core.terminal import print_json


def test_an_object_is_one_line_of_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"n": 3, "words": "a\nb", "none": None})
    stdout, stderr = capsys.readouterr()
    assert (stdout.count("\n"), stderr) == (1, "")
    assert json.loads(stdout) == {"n": 3, "words": "a\nb", "none": None}


def test_what_json_cannot_hold_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="JSON"):
        print_json({"loss": float("nan")})
    assert capsys.readouterr().out == ""
