"""What the commands say their answers with: a table for people, one JSON object for programs; and how they complain."""

import json
import sys
from typing import Annotated, Any

import typer
from rich.console import Console

stdout = Console(highlight=False)
stderr = Console(stderr=True, highlight=False)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout.")]


class WrongUseError(ValueError):
    """An option that cannot be meant; the message says which and why."""


def complain(sentence: str) -> None:
    """Say on stderr what went wrong."""
    sys.stderr.write(f"inkling: {sentence}\n")


def print_json(result: dict[str, Any]) -> None:
    """`result` as the one line of stdout; raises ValueError for a number that JSON cannot hold."""
    sys.stdout.write(json.dumps(result, allow_nan=False) + "\n")
