"""What befalls the files of a run in the tests: pieces that break JSON, and a disk that is full."""

import contextlib
from collections.abc import Iterator

import pytest

PIECES = [b"", b"9" * 30, *b'0 - " \\" [ } , \\ud800 \x00 \xff 1e99 null NaN'.split(b" ")]
"""What is put into JSON somewhere; some leave it sound and its values impossible."""


@contextlib.contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """Let the system break off any write beyond `size` bytes, as a full disk would."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
