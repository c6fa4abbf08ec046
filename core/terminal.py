"""What the commands say their answers with: a table for people, one JSON object for programs; how they complain, and
how Ctrl-C ends those that last.
"""

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Annotated, Any

import typer
from rich.console import Console

stdout = Console(highlight=False)
stderr = Console(stderr=True, highlight=False)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout.")]


class WrongUseError(ValueError):
    """An option that cannot be meant; the message says which and why."""


def complain(sentence: str) -> None:
    """Say on stderr what went wrong; what comes from a file cannot command the terminal."""
    sys.stderr.write(f"inkling: {''.join(sign if sign.isprintable() else '�' for sign in sentence)}\n")


def in_option_words(sentence: str, name: str, option: str = "") -> str:
    """A refusal that begins with the words for what is called `name`, begun with `option`, or else the option's name.

    "batch size is 0" becomes "--batch-size is 0"; a `name` of "" changes nothing.
    """
    words = name.replace("_", " ")
    if not name or not sentence.startswith(words):
        return sentence
    return (option or f"--{name.replace('_', '-')}") + sentence.removeprefix(words)


def print_json(result: dict[str, Any]) -> None:
    """`result` as the one line of stdout; raises ValueError for a number that JSON cannot hold."""
    sys.stdout.write(json.dumps(result, allow_nan=False) + "\n")


@contextmanager
def stop_on_interrupt(stop: Callable[[], object], kept: str) -> Iterator[None]:
    """Let Ctrl-C (and a polite kill) call `stop`, promising to keep `kept`; a second one ends the program."""

    def on_signal(signal_number: int, frame: FrameType | None) -> None:
        stop()
        complain(f"stopping, and keeping {kept}; once more gives it up")
        signal.signal(signal_number, signal.default_int_handler)

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, on_signal) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
