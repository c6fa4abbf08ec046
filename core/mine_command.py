"""The command for the user's own digits: mine. core.command_line puts it beside its own.

Without an option it counts them. Drawing, correcting and deleting is left to the window.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from core.digits.my_digits import MyDigits, Problem, default_file
from core.terminal import Json, complain, print_json, stdout
from core.training.hyperparameters import CLASSES

_MOST_COMPLAINTS = 5
"""A file of another kind has nothing but lines that are no digits."""


def mine_command(
    import_from: Annotated[
        Path | None, typer.Option("--import", help="Add the digits of this ink file (.jsonl).")
    ] = None,
    export_to: Annotated[Path | None, typer.Option("--export", help="Write all digits to this ink file.")] = None,
    my_digits: Annotated[
        Path | None, typer.Option(help="The file of your digits; without it, the window's own.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Count the digits you drew and labelled, take in those of another file, or write them to one."""
    mine = MyDigits(my_digits or default_file())
    result: dict[str, Any] = {"file": str(mine.path)}
    if import_from is not None:
        added = mine.import_file(import_from)
        _complain_of(added.problems, import_from)
        result |= {"added": added.new, "known": added.known, "refused": _as_json(added.problems)}
    if export_to is not None:
        result |= {"exported": mine.export_file(export_to)}
    problems = mine.problems()
    labels = [sample.digit.label for sample in mine.samples()]
    result |= {"digits": [labels.count(label) for label in range(CLASSES)], "problems": _as_json(problems)}
    _complain_of(problems, mine.path)
    if as_json:
        print_json(result)
    else:
        _print(result)


COMMANDS: Mapping[str, Callable[..., None]] = {"mine": mine_command}


def _print(result: Mapping[str, Any]) -> None:
    if "added" in result:
        stdout.print(f"{result['added']} added, {result['known']} were there already")
    if "exported" in result:
        stdout.print(f"{result['exported']} written")
    table = Table("Digit", "Yours")
    for label, count in enumerate(result["digits"]):
        table.add_row(str(label), str(count))
    table.add_row("all", str(sum(result["digits"])))
    stdout.print(table)
    stdout.print(Text(result["file"]), soft_wrap=True)


def _complain_of(problems: tuple[Problem, ...] | list[Problem], path: Path) -> None:
    for problem in problems[:_MOST_COMPLAINTS]:
        complain(f"{path}, line {problem.line} is no digit and was passed over: {problem.reason}")
    if len(problems) > _MOST_COMPLAINTS:
        complain(f"{path} has {len(problems) - _MOST_COMPLAINTS:,} more lines that are no digits; --json tells all")


def _as_json(problems: tuple[Problem, ...] | list[Problem]) -> list[dict[str, Any]]:
    return [{"line": problem.line, "reason": problem.reason} for problem in problems]
