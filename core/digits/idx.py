"""The IDX file format, in which MNIST and its kin are published; plain or gzip-compressed.

A file is untrusted: what its header promises is checked against a bound before memory is taken, and its contents
against the header. Format: http://yann.lecun.com/exdb/mnist/, at the end of the page.
"""

import gzip
import math
import zlib
from pathlib import Path

import numpy as np

from core.device import HostArray
from core.digits.dataset import DatasetError

MAX_DIGITS = 2_000_000
_PICTURES, _LABELS, _EXTENDED_LABELS = 0x00000803, 0x00000801, 0x00000C02
_KINDS = {_PICTURES: "pictures", _LABELS: "labels", _EXTENDED_LABELS: "extended labels"}
_HEADER_LENGTHS = {_PICTURES: 16, _LABELS: 8, _EXTENDED_LABELS: 12}
_ITEM_BYTES = {_PICTURES: 1, _LABELS: 1, _EXTENDED_LABELS: 4}
_EXTENDED_COLUMNS = 8
_MOST_UNPACKED = 1032
"""The bytes that one byte of gzip's can stand for at most; see zlib.net/zlib_tech.html."""


def read_pictures(path: Path) -> tuple[HostArray, bytes]:
    """Pictures uint8 (N, 28, 28) and the unpacked bytes of the file; raises DatasetError."""
    data = _unpacked(path, _PICTURES)
    return np.frombuffer(data, np.uint8, offset=_HEADER_LENGTHS[_PICTURES]).reshape(-1, 28, 28), data


def read_labels(path: Path) -> tuple[HostArray, bytes]:
    """Labels uint8 (N,), 0 to 9, and the unpacked bytes of the file; raises DatasetError."""
    data = _unpacked(path, _LABELS)
    labels = np.frombuffer(data, np.uint8, offset=_HEADER_LENGTHS[_LABELS])
    _check_labels(path, labels)
    return labels, data


def read_extended_labels(path: Path) -> HostArray:
    """Labels uint8 (N,), 0 to 9, from a file of QMNIST's form; raises DatasetError.

    It has a row of eight 32-bit integers for each digit; the label comes first, then who wrote it and where.
    Format: https://github.com/facebookresearch/qmnist, section 2.2.
    """
    data = _unpacked(path, _EXTENDED_LABELS)
    rows = np.frombuffer(data, ">i4", offset=_HEADER_LENGTHS[_EXTENDED_LABELS]).reshape(-1, _EXTENDED_COLUMNS)
    _check_labels(path, rows[:, 0])
    return rows[:, 0].astype(np.uint8)


def write_idx(path: Path, content: HostArray) -> None:
    """Pictures uint8 (N, 28, 28) or labels uint8 (N,) as a gzip-compressed file; raises OSError."""
    with gzip.open(path, "wb", compresslevel=1) as file:  # Four times as fast as the usual level, a tenth larger.
        file.write(np.array([0x0800 + content.ndim, *content.shape], ">u4").tobytes())
        file.write(np.ascontiguousarray(content).reshape(-1).data)


def _check_labels(path: Path, labels: HostArray) -> None:
    wrong = np.flatnonzero((labels < 0) | (labels > 9))
    if wrong.size:
        raise DatasetError(
            f"{path} is mislabelled: label {labels[wrong[0]]} at position {wrong[0]:,}, "
            "where 0 to 9 are allowed; use a set of ten classes, or fetch the file again"
        )


def _unpacked(path: Path, wanted: int) -> bytes:
    """The whole file, header included; never more of it in memory than its checked header promises."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            header = file.read(_HEADER_LENGTHS[wanted])
            promised = _promised_length(path, header, wanted)
            _check_can_hold(path, promised)
            file.seek(0)  # Put together, header and rest would for a moment be in memory twice.
            data = file.read(promised + 1)
    except gzip.BadGzipFile:
        raise DatasetError(f"{path} is not a gzip file, or is damaged; fetch it again") from None
    except (EOFError, zlib.error):
        raise DatasetError(f"{path} is cut short or damaged; fetch it again") from None
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}; check that it is there") from None
    if len(data) < promised:
        raise DatasetError(
            f"{path} is cut short: {len(data):,} bytes, where its header promises {promised:,}; fetch it again"
        )
    if len(data) > promised:
        raise DatasetError(f"{path} is damaged: it has bytes too many, {promised:,} were promised; fetch it again")
    return data


def _check_can_hold(path: Path, promised: int) -> None:
    """Raise DatasetError if the file is too short for that, before memory is taken for it."""
    length = path.stat().st_size
    most, packed = (_MOST_UNPACKED * length, " packed") if path.suffix == ".gz" else (length, "")
    if promised > most:
        raise DatasetError(
            f"{path} is cut short: {length:,}{packed} bytes, where its header promises {promised:,}; fetch it again"
        )


def _promised_length(path: Path, header: bytes, wanted: int) -> int:
    """How long the file must be by its header; raises DatasetError for a header that is not to be believed."""
    numbers = [int.from_bytes(header[i : i + 4], "big") for i in range(0, len(header), 4)]
    if len(header) < 8 or numbers[0] not in _KINDS:
        raise DatasetError(f"{path} is not an IDX file of pictures or labels; fetch it again")
    if numbers[0] != wanted:
        raise DatasetError(
            f"{path} holds {_KINDS[numbers[0]]} where {_KINDS[wanted]} belong; "
            "were two files swapped? Rename or fetch them"
        )
    if len(header) < _HEADER_LENGTHS[wanted]:
        raise DatasetError(f"{path} is cut short: it ends within its header; fetch it again")
    count, *size = numbers[1:]
    if wanted == _EXTENDED_LABELS and size != [_EXTENDED_COLUMNS]:
        raise DatasetError(f"{path} is damaged: extended labels have {_EXTENDED_COLUMNS} columns; fetch it again")
    if wanted == _PICTURES and size != [28, 28]:
        raise DatasetError(f"{path} holds pictures of {size[0]}x{size[1]} pixels; Inkling reads sets of 28x28 pictures")
    if count == 0:
        raise DatasetError(f"{path} is empty: it holds no {_KINDS[wanted]}; fetch it again")
    if count > MAX_DIGITS:
        raise DatasetError(f"{path} holds more than {MAX_DIGITS:,} digits; use a smaller set")
    return len(header) + count * math.prod(size) * _ITEM_BYTES[wanted]
