"""One published file from its mirrors to this machine: resumed where it broke off, in place only once it is proved.

It stands on urllib and not on pooch, which can neither resume a broken download nor be cancelled nor turn to another
mirror, and brings requests with it. What comes from a server is doubted until its SHA-256 is right: its status, its
length, its idea of where a part begins; and no more bytes are taken than the file has.
"""

import hashlib
import os
import re
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from core import VERSION
from core.digits.dataset import DatasetError
from core.digits.downloads import PublishedFile

if TYPE_CHECKING:
    from http.client import HTTPResponse

CHUNK_BYTES = 64 * 1024
STALL_SECONDS = 15.0
"""How long a server may say nothing. A cancel waits as long in the worst case."""
WORTH_GOING_ON_BYTES = 2**20
"""A mirror that broke off is asked again if it brought at least so much."""


class DownloadError(DatasetError):
    """A file that no mirror gave; `problem` names it, and each mirror with what was wrong there.

    The message also says what to do, at a terminal.
    """

    def __init__(self, problem: str) -> None:
        advice = "try again later, which goes on from here, or get it another way and use: uv run main.py data open"
        super().__init__(f"{problem}; {advice}")
        self.problem = problem


class _MirrorError(Exception):
    """What is wrong with one mirror, in a few words."""


def fetch_file(
    file: PublishedFile,
    folder: Path,
    progress: Callable[[int], None],
    cancelled: Callable[[], bool],
    stall_seconds: float = STALL_SECONDS,
) -> bool:
    """Have `file` in `folder`, complete and checked; False if it was cancelled.

    What has come so far lies in a file of that name and ".part", and the next call goes on from there. `progress` is
    told how many bytes of the file are here. Raises DownloadError, and OSError if the folder cannot be written.
    """
    target, part = folder / file.name, folder / f"{file.name}.part"
    if target.exists():
        os.replace(target, part)  # An earlier call's: checked again like one that broke off just before its check.
    complaints = []
    for url in file.urls:
        try:
            if not _complete(file, url, part, progress, cancelled, stall_seconds):
                return False
            os.replace(part, target)
            return True
        except _MirrorError as error:
            complaints.append(f"{url.split('/')[2]}: {error}")
    raise DownloadError(f"{file.name} could not be fetched ({'; '.join(complaints)})")


def _complete(
    file: PublishedFile,
    url: str,
    part: Path,
    progress: Callable[[int], None],
    cancelled: Callable[[], bool],
    stall_seconds: float,
) -> bool:
    """Bring `part` to its full length from `url` and check it; False if cancelled."""
    # What was there before may be another server's rubbish; this one is blamed only for what is all its own.
    for _ in range(2 if part.exists() else 1):
        while (before := _length(part, file.size)) < file.size:
            try:
                if not _receive(file, url, part, progress, cancelled, stall_seconds):
                    return False
            except _MirrorError:
                if _length(part, file.size) - before < WORTH_GOING_ON_BYTES:
                    raise
        with part.open("rb") as content:
            if hashlib.file_digest(content, "sha256").hexdigest() == file.sha256:
                progress(file.size)
                return True
        part.unlink()
    raise _MirrorError("other bytes than were published")


def _length(part: Path, size: int) -> int:
    """How much of the file is here; what is longer than the whole is none of it and goes."""
    if not part.exists():
        return 0
    length = part.stat().st_size
    if length > size:
        part.unlink()
        return 0
    return length


def _receive(
    file: PublishedFile,
    url: str,
    part: Path,
    progress: Callable[[int], None],
    cancelled: Callable[[], bool],
    stall_seconds: float,
) -> bool:
    """Append to `part` what is missing; False if cancelled. Raises _MirrorError where the server is to blame."""
    with part.open("ab") as out:
        if cancelled():
            return False
        with closing(_missing(url, out.tell(), file.size, stall_seconds)) as chunks:
            for chunk in chunks:
                out.write(chunk)
                progress(out.tell())
                if cancelled():
                    return False
    return True


def _missing(url: str, start: int, size: int, stall_seconds: float) -> Generator[bytes, None, None]:
    """The bytes from `start` to `size` of what lies at `url`; empty ones while what is here already passes by."""
    # Imported on demand: it takes as long as NumPy, and most who start Inkling fetch nothing.
    from http.client import HTTPException
    from urllib.request import Request, urlopen

    headers = {"User-Agent": f"inkling/{VERSION}"} | ({"Range": f"bytes={start}-"} if start else {})
    try:
        with urlopen(Request(url, headers=headers), timeout=stall_seconds) as response:
            here = _first_byte(response, start, size)
            while here < size and (chunk := response.read1(CHUNK_BYTES)):
                yield chunk[max(0, start - here) : size - here]
                here += len(chunk)
    except (OSError, HTTPException, ValueError) as error:
        raise _MirrorError(_in_words(error)) from None
    if here < size:
        raise _MirrorError(f"ended after {here:,} of {size:,} bytes")


def _first_byte(response: "HTTPResponse", start: int, size: int) -> int:
    """Where in the file the answer begins; raises _MirrorError for the answer of another file."""
    first = 0
    if response.status == 206:
        first = start
        if not re.fullmatch(rf"bytes {start}-{size - 1}/({size}|\*)", response.headers.get("Content-Range", "")):
            raise _MirrorError("sends another part than was asked for")
    elif response.status != 200:
        raise _MirrorError(f"answers {response.status}")
    announced = response.headers.get("Content-Length")
    if announced is not None and announced != str(size - first):
        raise _MirrorError(f"announces {announced[:20]} bytes where {size - first} are missing")
    return first


def _in_words(error: Exception) -> str:
    from urllib.error import HTTPError

    if isinstance(error, HTTPError):
        error.close()
        return f"answers {error.code}"
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return "does not answer"
    return " ".join(str(getattr(reason, "strerror", None) or reason or type(error).__name__).split())[:160]
