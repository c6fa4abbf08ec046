"""The commands by which networks leave Inkling and come in, and that tell what is in a file: export, import, inspect.

core.command_line puts them beside its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from core.atomic_file import write_atomically
from core.device import HostArray
from core.digits.mnist import load_mnist_test
from core.exchange.file_contents import file_contents
from core.exchange.foreign_file import import_network
from core.exchange.model_card import model_card
from core.exchange.numpy_script import numpy_script
from core.exchange.onnx_writer import onnx_file
from core.predictor import Predictor
from core.terminal import Json, WrongUseError, complain, print_json, stdout
from core.training.evaluation import accuracy_of
from core.training.model_file import SHIPPED_MODEL, SUFFIX, Model, check_can_save, load_model, save_model

_SUFFIXES: Mapping[str, str] = {".onnx": "onnx", ".py": "numpy", ".md": "card"}
FORMATS = tuple(_SUFFIXES.values())
_LOW_ACCURACY = 0.5
"""Below this a network that was good elsewhere is surely given pictures of another form than it learned from."""


def export_command(
    out: Annotated[Path, typer.Option(help="The file to write.")],
    model: Annotated[Path | None, typer.Option(help="A saved network; the shipped one without it.")] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", help="onnx, numpy (a program) or card (Markdown); guessed from .onnx, .py or .md."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a network as ONNX, as a Python program that needs only NumPy, or as a model card."""
    form = form or _SUFFIXES.get(out.suffix.lower())
    if form is None:
        raise WrongUseError(f"--out is {str(out)!r:.80}, which says no format; add --format onnx, numpy or card")
    if form not in FORMATS:
        raise WrongUseError(f"--format is {form!r:.60}; choose {' or '.join(FORMATS)}")
    path = model or SHIPPED_MODEL
    content = _content(form, load_model(path), path, out)
    write_atomically(out, content)
    if as_json:
        print_json({"out": str(out), "format": form, "bytes": len(content)})
    else:
        stdout.print(f"{escape(str(out))}: {len(content):,} bytes", soft_wrap=True)


def import_command(
    file: Annotated[Path, typer.Argument(help="An ONNX file, or a PyTorch state dict saved as safetensors.")],
    out: Annotated[Path, typer.Option(help="The network to write (safetensors, float32).")],
    network: Annotated[
        str | None, typer.Option(help="Its layers; needed for a state dict, which does not name them.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Take over a network that another program made, and measure it on the built-in test set."""
    if out.suffix.lower() != SUFFIX:
        raise WrongUseError(f"--out is {str(out)!r:.80}; it wants a file name that ends in {SUFFIX}")
    check_can_save(out)
    found = import_network(file, network)
    accuracy = accuracy_of(_confusion(found))
    save_model(out, replace(found, facts={**found.facts, "test_accuracy": f"{accuracy:.4f}"}), "float32")
    if as_json:
        print_json({"model": str(out), "network": found.hyperparameters.network, "test_accuracy": accuracy})
    else:
        text = escape(found.hyperparameters.network)
        stdout.print(f"{escape(str(out))}: {text}\n{accuracy:.2%} of the test digits read right", soft_wrap=True)
    if accuracy < _LOW_ACCURACY:
        complain(
            "it reads few digits right: Inkling's pictures are 0 (paper) to 1 (ink), not shifted or scaled further"
        )


def inspect_command(
    file: Annotated[Path, typer.Argument(help="A network, a run's folder, an ONNX file, ink, or other safetensors.")],
    as_json: Json = False,
) -> None:
    """Tell what is in a file. Nothing in it is executed."""
    contents = {"file": str(file), **file_contents(file)}
    if as_json:
        print_json(contents)
        return
    lists = {name: value for name, value in contents.items() if isinstance(value, list)}
    short = {name: value for name, value in contents.items() if not isinstance(value, list | dict)}
    table = Table(show_header=False)
    for name, value in short.items():
        table.add_row(_plain(name.replace("_", " ")), _plain(value))
    stdout.print(table)
    for name, rows in lists.items():
        stdout.print(_listing(name, rows))


COMMANDS: Mapping[str, Callable[..., None]] = {
    "export": export_command,
    "import": import_command,
    "inspect": inspect_command,
}


def _content(form: str, network: Model, path: Path, out: Path) -> bytes:
    if form == "onnx":
        return onnx_file(network)
    if form == "numpy":
        return numpy_script(network, out.name).encode()
    return model_card(network, _confusion(network), path.name).encode()


def _confusion(network: Model) -> HostArray:
    confusion = Predictor.from_model(network).confusion(load_mnist_test())
    assert confusion is not None
    return confusion


def _listing(name: str, rows: list[dict[str, Any]]) -> Table:
    table = Table(*(rows[0] if rows else ()), title=name)
    for row in rows:
        table.add_row(*map(_plain, row.values()))
    return table


def _plain(value: Any) -> str:
    """A value for people: what a file says must not colour the terminal or move its cursor."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = {None: "–", True: "yes", False: "no"}.get(value) if value is None or isinstance(value, bool) else None
    if text is None:
        text = "x".join(map(str, value)) if isinstance(value, list) else str(value)
    return escape("".join(c if c.isprintable() else "?" for c in text))
