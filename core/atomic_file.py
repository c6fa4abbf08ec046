"""Writing a file whole or not at all: whatever happens on the way, there is either the old file or the new one."""

import contextlib
import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

TEMPORARY = ".inkling-"
"""How the names of files begin that are being written; who is killed while writing leaves one behind."""


class UnwritableFileError(ValueError):
    """A file that cannot be written; the message names it and says why and what to do."""


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path`, in place of the file there if there is one.

    Raises UnwritableFileError, and leaves no trace then. Only files are replaced: never a folder, a device or a pipe.
    """
    replace_atomically(path, lambda file: file.write(content))


def replace_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """As write_atomically, for content that is written piece by piece: `write` is given the file, still empty."""
    path = _checked(path)
    try:
        _replace(path, write)
    except OSError as error:
        raise _cannot_write(path, error) from None


def check_writable(path: Path) -> None:
    """Find out before long work whether `path` can be written; raises UnwritableFileError if not."""
    path = _checked(path)
    try:
        with contextlib.suppress(FileNotFoundError):
            path.lstat()  # A name too long for the system shows here.
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise _cannot_write(path, error) from None


def _checked(path: Path) -> Path:
    """The file that is to be written, which for a link is what it points at: the link stays."""
    if os.path.isdir(path):
        raise UnwritableFileError(f"{path} is a folder; name a file in it")
    if os.path.exists(path) and not os.path.isfile(path):
        raise UnwritableFileError(f"{path} is not a file that can be replaced; choose another name")
    path = Path(os.path.realpath(path))
    if not os.path.isdir(path.parent):
        raise UnwritableFileError(f"the folder of {path} does not exist; make it first")
    return path


def _cannot_write(path: Path, error: OSError) -> UnwritableFileError:
    return UnwritableFileError(f"{path} cannot be written: {error.strerror or error}; choose another place")


def _replace(path: Path, write: Callable[[BinaryIO], object]) -> None:
    temporary = path.parent / f"{TEMPORARY}{secrets.token_hex(8)}"
    try:
        with temporary.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_names(path.parent)


def _sync_names(folder: Path) -> None:
    """Have the names in `folder` outlast a power cut, where a folder can be opened."""
    if os.name == "posix":
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
