"""Help on the width of the oldest terminals: every command and every option is there, and its description whole."""

import pytest
import typer

from core.command_line import app
from tests.core.commands import Run

COMMANDS = typer.main.get_command(app).commands


def in_one_line(text: str) -> str:
    """Without the breaks of lines, and without those that a hyphen allows."""
    return "".join(text.split())


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_help_lists_every_command_with_its_whole_first_sentence(inkling: Run) -> None:
    status, stdout, _ = inkling("--help")
    assert status == 0
    assert max(map(len, stdout.splitlines())) <= 80
    for name, command in COMMANDS.items():
        sentence = command.callback.__doc__.split(". ")[0].rstrip(".")
        assert in_one_line(f"{name}{sentence}.") in in_one_line(stdout)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_has_every_word_of_it_and_of_its_options(inkling: Run, name: str) -> None:
    status, stdout, _ = inkling(name, "--help")
    assert status == 0
    assert max(map(len, stdout.splitlines())) <= 80
    command = COMMANDS[name]
    assert in_one_line(command.callback.__doc__) in in_one_line(stdout)
    for parameter in command.params:
        assert in_one_line(parameter.help) in in_one_line(stdout)
