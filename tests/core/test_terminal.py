"""How the commands answer programs, and how they are interrupted."""

import json
import os
import signal

import pytest

from core.terminal import complain, print_json, stop_on_interrupt


def test_an_object_is_one_line_of_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"n": 3, "words": "a\nb", "none": None})
    stdout, stderr = capsys.readouterr()
    assert (stdout.count("\n"), stderr) == (1, "")
    assert json.loads(stdout) == {"n": 3, "words": "a\nb", "none": None}


def test_a_complaint_is_one_line_that_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    complain("é\x1b[2J\n\ud800 – ✎")
    assert capsys.readouterr().err == "inkling: é�[2J�� – ✎\n"


def test_what_json_cannot_hold_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="JSON"):
        print_json({"loss": float("nan")})
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "a polite kill"])
def test_the_first_interrupt_stops_and_the_second_ends_the_program(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    heard: list[str] = []
    with stop_on_interrupt(lambda: heard.append("stop"), "what was learned"):
        os.kill(os.getpid(), number)
        assert heard == ["stop"]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert heard == ["stop"]
    assert capsys.readouterr().err == "inkling: stopping, and keeping what was learned; once more gives it up\n"
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
