"""Writing a file whole or not at all: whatever happens on the way, there is either the old file or the new one."""

import contextlib
import os
import tempfile
from pathlib import Path


class UnwritableFileError(ValueError):
    """A file that cannot be written; the message names it and says why and what to do."""


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path`, in place of the file there if there is one.

    Raises UnwritableFileError, and leaves no trace then. Only files are replaced: never a folder, a device or a pipe.
    """
    if os.path.isdir(path):
        raise UnwritableFileError(f"{path} is a folder; name a file in it")
    if os.path.exists(path) and not os.path.isfile(path):
        raise UnwritableFileError(f"{path} is not a file that can be replaced; choose another name")
    path = Path(os.path.realpath(path))  # A link stays, and what it points at is replaced.
    if not os.path.isdir(path.parent):
        raise UnwritableFileError(f"the folder of {path} does not exist; make it first")
    try:
        _replace(path, content)
    except OSError as error:
        raise UnwritableFileError(
            f"{path} cannot be written: {error.strerror or error}; choose another place"
        ) from None


def _replace(path: Path, content: bytes) -> None:
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".inkling-", delete=False) as file:
            temporary = Path(file.name)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
        raise


def _umask() -> int:
    """The process's mask of file permissions, which a temporary file does not follow by itself."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
