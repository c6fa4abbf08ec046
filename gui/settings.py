"""What the window remembers from one start to the next: an INI file in the user's own configuration folder.

People edit such files and disks damage them. One that says anything impossible is set aside under another name and
the window opens as it did the first time.
"""

import base64
import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from platformdirs import user_config_path
from PySide6.QtCore import QSettings

DAMAGED_SUFFIX = ".damaged"
_VERSION = "1"
_MAX_BYTES = 2**20


@dataclass(frozen=True)
class Settings:
    """`geometry`: as Qt keeps it; `splitter`: widths in pixels; `axis` and `logarithmic`: how curves are drawn.

    `runs_folder`: where runs are kept, empty for the usual place; `left_run`: the broken-off run not to be offered.
    """

    geometry: bytes = b""
    splitter: tuple[int, ...] = ()
    tab: int = 0
    device: str = ""
    preset: str = ""
    axis: str = ""
    logarithmic: bool = False
    runs_folder: str = ""
    left_run: str = ""


def user_settings_file() -> Path:
    """Where the settings are kept unless said otherwise."""
    return user_config_path("inkling", appauthor=False) / "settings.ini"


class SettingsFile:
    """The file at `path`, which need not exist."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Settings:
        """What it says; if that cannot be, it is set aside and all is as at the first start. Never raises."""
        if not os.path.lexists(self._path):
            return Settings()
        try:
            return self._parsed()
        except (ValueError, OSError):
            self._set_aside()
            return Settings()

    def write(self, settings: Settings) -> None:
        """Replace what it says; where nothing can be written, nothing is."""
        file = QSettings(os.fspath(self._path), QSettings.Format.IniFormat)
        file.clear()
        file.setValue("version", _VERSION)
        for name, value in asdict(settings).items():
            file.setValue(name, _as_text(value))
        file.sync()

    def _set_aside(self) -> None:
        """Keep it under another name for whoever wants to see what was wrong."""
        with contextlib.suppress(OSError):
            os.replace(self._path, self._path.with_name(self._path.name + DAMAGED_SUFFIX))

    def _parsed(self) -> Settings:
        """Raises ValueError or OSError."""
        if os.path.getsize(self._path) > _MAX_BYTES:
            raise ValueError("it is too long")
        with self._path.open("rb"):
            pass  # QSettings would take a file that cannot be read for an empty one.
        file = QSettings(os.fspath(self._path), QSettings.Format.IniFormat)
        if file.status() != QSettings.Status.NoError or file.value("version") != _VERSION:
            raise ValueError("it is no file of settings")
        texts = {field.name: file.value(field.name) for field in fields(Settings) if file.contains(field.name)}
        if not all(isinstance(text, str) for text in texts.values()):
            raise ValueError("a setting is no text")
        return Settings(**{name: _READERS.get(name, str)(text) for name, text in texts.items()})


def _as_text(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _widths(text: str) -> tuple[int, ...]:
    widths = tuple(map(int, text.split()))
    if not all(0 <= width < 100_000 for width in widths):
        raise ValueError("a width is none")
    return widths


def _truth(text: str) -> bool:
    if text not in ("True", "False"):
        raise ValueError("it is neither true nor false")
    return text == "True"


_READERS: Mapping[str, Callable[[str], Any]] = {
    "geometry": partial(base64.b64decode, validate=True),
    "splitter": _widths,
    "tab": int,
    "logarithmic": _truth,
}
