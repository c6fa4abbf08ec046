"""The IDX file format, in which MNIST and its kin are published; plain or gzip-compressed.

A file is untrusted: what its header promises is checked against a bound before memory is taken, and its contents
against the header. Format: http://yann.lecun.com/exdb/mnist/, at the end of the page.
"""

import gzip
import zlib
from pathlib import Path

import numpy as np

from core.device import HostArray
from core.digits.dataset import DatasetError

MAX_DIGITS = 2_000_000
_PICTURES, _LABELS = 0x00000803, 0x00000801
_KINDS = {_PICTURES: "pictures", _LABELS: "labels"}


def read_pictures(path: Path) -> tuple[HostArray, bytes]:
    """Pictures uint8 (N, 28, 28) and the unpacked bytes of the file; raises DatasetError."""
    data = _unpacked(path)
    count, offset = _check_header(path, data, _PICTURES)
    rows, columns = (int.from_bytes(data[i : i + 4], "big") for i in (8, 12))
    if (rows, columns) != (28, 28):
        raise DatasetError(f"{path} holds pictures of {rows}x{columns} pixels; Inkling reads sets of 28x28 pictures")
    _check_length(path, data, offset + count * 28 * 28)
    return np.frombuffer(data, np.uint8, offset=offset).reshape(count, 28, 28), data


def read_labels(path: Path) -> tuple[HostArray, bytes]:
    """Labels uint8 (N,), 0 to 9, and the unpacked bytes of the file; raises DatasetError."""
    data = _unpacked(path)
    count, offset = _check_header(path, data, _LABELS)
    _check_length(path, data, offset + count)
    labels = np.frombuffer(data, np.uint8, offset=offset)
    wrong = np.flatnonzero(labels > 9)
    if wrong.size:
        raise DatasetError(
            f"{path} is mislabelled: label {labels[wrong[0]]} at position {wrong[0]:,}, "
            "where 0 to 9 are allowed; use a set of ten classes, or fetch the file again"
        )
    return labels, data


def _unpacked(path: Path) -> bytes:
    limit = 16 + MAX_DIGITS * 28 * 28
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            data = file.read(limit + 1)
    except gzip.BadGzipFile:
        raise DatasetError(f"{path} is not a gzip file, or is damaged; fetch it again") from None
    except (EOFError, zlib.error):
        raise DatasetError(f"{path} is cut short or damaged; fetch it again") from None
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}; check that it is there") from None
    if len(data) > limit:
        raise DatasetError(f"{path} holds more than {MAX_DIGITS:,} digits; use a smaller set")
    return data


def _check_header(path: Path, data: bytes, wanted: int) -> tuple[int, int]:
    """The count of items and the offset of the first; raises DatasetError."""
    magic = int.from_bytes(data[:4], "big")
    if len(data) < 8 or magic not in _KINDS:
        raise DatasetError(f"{path} is not an IDX file of pictures or labels; fetch it again")
    if magic != wanted:
        raise DatasetError(
            f"{path} holds {_KINDS[magic]} where {_KINDS[wanted]} belong; were two files swapped? Rename or fetch them"
        )
    count = int.from_bytes(data[4:8], "big")
    if count == 0:
        raise DatasetError(f"{path} is empty: it holds no {_KINDS[wanted]}; fetch it again")
    return count, 16 if wanted == _PICTURES else 8


def _check_length(path: Path, data: bytes, wanted: int) -> None:
    if len(data) < wanted:
        raise DatasetError(
            f"{path} is cut short: {len(data):,} bytes, where its header promises {wanted:,}; fetch it again"
        )
    if len(data) > wanted:
        raise DatasetError(f"{path} is damaged: {len(data) - wanted:,} bytes too many at its end; fetch it again")
