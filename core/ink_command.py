"""The command that shows synthetic ink: ink. core.command_line puts it beside its own."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer
from PIL import Image
from rich.markup import escape

from core.atomic_file import write_atomically
from core.digits.ink_sheet import draw_sheet
from core.digits.stroke_forms import FORMS
from core.terminal import Json, WrongUseError, print_json, stdout


def ink_command(
    sheet: Annotated[Path, typer.Option(help="The picture to write, a PNG file.")],
    seed: Annotated[int, typer.Option(min=0, help="Another one bends the digits another way.")] = 0,
    digit: Annotated[int | None, typer.Option(min=0, max=9, help="Only this one, more of it.")] = None,
    as_json: Json = False,
) -> None:
    """Draw a sheet of the digits that training mixes in: every form, as it is and bent at random."""
    if sheet.suffix.lower() != ".png":
        raise WrongUseError(f"--sheet is {str(sheet)!r:.80}; it wants a file name that ends in .png")
    picture = draw_sheet(seed, digit)
    content = io.BytesIO()
    Image.fromarray(picture).save(content, "PNG")
    write_atomically(sheet, content.getvalue())
    forms = sum(map(len, FORMS)) if digit is None else len(FORMS[digit])
    if as_json:
        print_json({"sheet": str(sheet), "forms": forms, "width": picture.shape[1], "height": picture.shape[0]})
    else:
        stdout.print(f"{escape(str(sheet))}: {forms} forms", soft_wrap=True)


COMMANDS: Mapping[str, Callable[..., None]] = {"ink": ink_command}
