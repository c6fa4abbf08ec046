"""The digits a user has drawn and labelled: kept as ink, one a line, in a file of the user's own.

A new digit is appended; correcting and deleting write the whole file anew beside the old one and then take its place.
A line that cannot be read is told with its number and passed over, and stays in the file as it is: it may be the only
copy of somebody's work. The same drawing is kept once, whatever label it is given later.
"""

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from platformdirs import user_data_path

from core.atomic_file import UnwritableFileError, write_atomically
from core.digits.dataset import Dataset
from core.digits.ink import MAX_DIGITS, MAX_LINE_BYTES, Ink, LabelledInk, ink_line, parse_ink_line
from core.digits.rasterizer import rasterize

MAX_FILE_BYTES = 512 * 1024 * 1024
LOCK_SECONDS = 10.0
"""So long another window is waited for."""


class MyDigitsError(ValueError):
    """A collection that cannot be read or written; the message names the file and says what to do."""


@dataclass(frozen=True)
class Sample:
    """One digit of a collection: `key` tells the drawing from all others, whatever its label."""

    key: str
    digit: LabelledInk


@dataclass(frozen=True)
class Problem:
    """A line that is no digit: its number, from 1, and what is wrong with it."""

    line: int
    reason: str


@dataclass(frozen=True)
class Added:
    """What became of digits that were to be added: how many are new, how many were there already, and what was none."""

    new: int
    known: int
    problems: tuple[Problem, ...] = ()


def default_file() -> Path:
    """Where the collection lies unless said otherwise."""
    return user_data_path("inkling", appauthor=False) / "my-digits.jsonl"


class MyDigits:
    """The collection in the file at `path`, which need not exist yet.

    Every method reads the file anew, so that two windows see each other's digits; each raises MyDigitsError if it
    cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def samples(self) -> list[Sample]:
        """All digits, in the order in which they were added."""
        return [sample for sample in _read(self.path)[0] if sample is not None]

    def problems(self) -> list[Problem]:
        """The lines that are no digits."""
        return _read(self.path)[2]

    def add(self, digits: Iterable[LabelledInk]) -> Added:
        """Append those of `digits` whose drawing is not there yet."""
        with self._locked():
            keys = {sample.key for sample in self.samples()}
            lines, known = [], 0
            for digit in digits:
                if digit.ink.is_empty:
                    continue
                key = key_of(digit.ink)
                known += key in keys
                if key not in keys:
                    keys.add(key)
                    lines.append(ink_line(digit).encode() + b"\n")
            if lines:
                self._append(lines)
        return Added(len(lines), known)

    def import_file(self, path: Path) -> Added:
        """Add the digits of another ink file; lines that are none are told, and the rest is added."""
        samples, _, problems = _read(path)
        if not os.path.exists(path):
            raise MyDigitsError(f"{path} does not exist; check the name and the folder")
        added = self.add(sample.digit for sample in samples if sample is not None)
        return Added(added.new, added.known, tuple(problems))

    def export_file(self, path: Path) -> int:
        """Write all digits to another file, in place of what is there; returns how many."""
        lines = [ink_line(sample.digit).encode() + b"\n" for sample in self.samples()]
        _write(path, lines)
        return len(lines)

    def relabel(self, labels: Mapping[str, int]) -> None:
        """Give the digits with these keys other labels (0 to 9)."""
        self._rewrite(labels, set())

    def delete(self, keys: Iterable[str]) -> None:
        """Take the digits with these keys out."""
        self._rewrite({}, set(keys))

    def dataset(self) -> Dataset | None:
        """The pictures of all digits and their labels, as training wants them; None while there are none."""
        samples = self.samples()
        if not samples:
            return None
        pictures = np.stack([rasterize(sample.digit.ink) for sample in samples])
        return Dataset(pictures, np.array([sample.digit.label for sample in samples], np.uint8))

    def _append(self, lines: list[bytes]) -> None:
        try:
            with self.path.open("ab+", buffering=0) as file:
                before = file.seek(0, os.SEEK_END)
                # A last line that a crash cut off must not swallow the first new one.
                gap = b"\n" if before and _last_byte(file.fileno()) != b"\n" else b""
                content = gap + b"".join(lines)
                if file.write(content) != len(content):
                    # The disk is full; half a digit would be none.
                    file.truncate(before)
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(file.fileno())
        except OSError as error:
            raise MyDigitsError(f"{self.path} cannot be written: {error.strerror or error}") from None

    def _rewrite(self, labels: Mapping[str, int], deleted: set[str]) -> None:
        with self._locked():
            samples, raw, _ = _read(self.path)
            lines = []
            for sample, line in zip(samples, raw, strict=True):
                if sample is None or (sample.key not in labels and sample.key not in deleted):
                    lines.append(line)
                elif sample.key not in deleted:
                    lines.append(ink_line(LabelledInk(labels[sample.key], sample.digit.ink)).encode() + b"\n")
            _write(self.path, lines)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """To be held from reading to writing: what another window adds in between would be lost."""
        from filelock import FileLock, Timeout  # 0.1 s that no start should wait for

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path.with_name(self.path.name + ".lock"), timeout=LOCK_SECONDS):
                yield
        except Timeout:
            raise MyDigitsError(f"{self.path} is being written by another window or command; try again") from None
        except OSError as error:
            raise MyDigitsError(f"{self.path} cannot be written: {error.strerror or error}") from None


def key_of(ink: Ink) -> str:
    """What tells a drawing from all others: its strokes' points, to the bit."""
    digest = hashlib.sha256()
    for stroke in ink.strokes:
        digest.update(len(stroke.points).to_bytes(4, "little"))
        digest.update(stroke.points.astype("<f4").tobytes())
    return digest.hexdigest()


def _read(path: Path) -> tuple[list[Sample | None], list[bytes], list[Problem]]:
    """For each line the digit in it or None, the line as it is, and what is wrong with those that are none."""
    # Not Path.exists, which raises where a name is too long for the system.
    if not os.path.exists(path):
        return [], [], []
    if not os.path.isfile(path):
        raise MyDigitsError(f"{path} cannot be read: it is no file")
    try:
        with path.open("rb") as file:
            # No further than it was long: for what may be read, memory is taken at once.
            content = file.read(min(os.fstat(file.fileno()).st_size, MAX_FILE_BYTES) + 1)
        if len(content) > MAX_FILE_BYTES:
            raise MyDigitsError(f"{path} has more than {MAX_FILE_BYTES // 2**20} MB; split it into smaller files")
        raw = content.splitlines(keepends=True)
    except OSError as error:
        raise MyDigitsError(f"{path} cannot be read: {error.strerror or error}") from None
    if len(raw) > MAX_DIGITS:
        raise MyDigitsError(f"{path} has more than {MAX_DIGITS:,} lines; split it into smaller files")
    samples: list[Sample | None] = []
    problems, seen = [], set()
    for number, line in enumerate(raw, start=1):
        sample = None
        if not line.isspace():
            try:
                if len(line) > MAX_LINE_BYTES:
                    raise ValueError(f"it is longer than {MAX_LINE_BYTES:,} bytes")
                digit = parse_ink_line(line)
                sample = Sample(key_of(digit.ink), digit)
            except ValueError as error:
                problems.append(Problem(number, str(error)))
        if sample is not None and sample.key in seen:
            sample = None
        if sample is not None:
            seen.add(sample.key)
        samples.append(sample)
    return samples, raw, problems


def _last_byte(descriptor: int) -> bytes:
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1)


def _write(path: Path, lines: list[bytes]) -> None:
    try:
        write_atomically(path, b"".join(lines))
    except UnwritableFileError as error:
        raise MyDigitsError(str(error)) from None
