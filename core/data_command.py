"""The command for other sets than the built-in one: data. core.command_line puts it beside its own.

Without a word it lists them; fetch is the one word in all of Inkling that uses the network.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.table import Table

from core.digits.dataset_files import fetch_set, is_here, open_set, remove_set
from core.digits.downloads import SETS, PublishedSet, find_set
from core.terminal import Json, WrongUseError, complain, print_json, stderr, stdout


class Action(StrEnum):
    """What can be done with a set."""

    FETCH = "fetch"
    OPEN = "open"
    REMOVE = "remove"


def data_command(
    action: Annotated[
        Action | None, typer.Argument(help="What to do; without it, the sets are listed.", show_default=False)
    ] = None,
    name: Annotated[str | None, typer.Argument(help="The set, such as fashion-mnist.", show_default=False)] = None,
    paths: Annotated[
        list[Path] | None, typer.Argument(help="For open: its folder, files or zip archive.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """List the sets of digits, fetch one from the network, open files you already have, or remove one."""
    if action is None:
        _list(as_json)
        return
    if name is None:
        raise WrongUseError(f"{action} wants the name of a set: {', '.join(SETS)}")
    published = find_set(name)
    if bool(paths) != (action is Action.OPEN):
        raise WrongUseError("open wants a folder or files after the name" if not paths else f"{action} takes no files")
    if action is Action.FETCH:
        _fetch(published, as_json)
    elif action is Action.OPEN:
        _open(published, paths or [], as_json)
    else:
        _remove(published, as_json)


COMMANDS: Mapping[str, Callable[..., None]] = {"data": data_command}


def _list(as_json: bool) -> None:
    rows = [_row(published) for published in SETS.values()]
    if as_json:
        print_json({"sets": rows})
        return
    table = Table("Set", "Shows", "State", "To fetch", "Licence")
    for published, row in zip(SETS.values(), rows, strict=True):
        size = "" if published.is_built_in else f"{published.size / 1e6:,.0f} MB"
        shows = "digits" if published.shows_digits else ", ".join(published.classes)
        table.add_row(published.name, shows, row["state"], size, published.licence)
    stdout.print(table)


def _row(published: PublishedSet) -> dict[str, Any]:
    state = "built in" if published.is_built_in else "here" if is_here(published.name) else "not here"
    return {
        "name": published.name,
        "title": published.title,
        "state": state,
        "bytes_to_fetch": published.size,
        "train_digits": published.train_digits,
        "test_digits": published.test_digits,
        "classes": list(published.classes),
        "licence": published.licence,
        "credit": published.credit,
        "source": published.source,
    }


def _fetch(published: PublishedSet, as_json: bool) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=stderr, transient=True, disable=not stderr.is_terminal
    ) as progress:
        task = progress.add_task(published.name, total=published.size)
        try:
            fetch_set(published.name, lambda done, total: progress.update(task, completed=done, total=total))
        except KeyboardInterrupt:
            complain("stopped; the same command goes on from here")
            raise
    sentence = f"{published.title} is here; {published.licence}: {published.credit}"
    _answer({"set": published.name, "state": _row(published)["state"]}, sentence, as_json)


def _open(published: PublishedSet, paths: list[Path], as_json: bool) -> None:
    proved = open_set(published.name, paths)
    sentence = f"{published.title} is here, " + (
        "proved by its checksums"
        if proved
        else "but its checksums are not those on record (unpacked or packed anew?); form and counts are right"
    )
    _answer({"set": published.name, "state": "here", "checksums_proved": proved}, sentence, as_json)


def _remove(published: PublishedSet, as_json: bool) -> None:
    removed = remove_set(published.name)
    sentence = f"{published.title} is removed" if removed else f"{published.title} was not here"
    _answer({"set": published.name, "state": "not here", "removed": removed}, sentence, as_json)


def _answer(result: dict[str, Any], sentence: str, as_json: bool) -> None:
    if as_json:
        print_json(result)
    else:
        stdout.print(sentence, soft_wrap=True, markup=False)
