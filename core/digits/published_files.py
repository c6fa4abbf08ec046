"""From files as they were published, or as somebody has kept them, to pictures and labels: found, checked, set upright.

They come under many names, packed or not, in folders and zip archives. None is trusted: archives are unpacked within
bounds and under names that hold no path, and what no checksum proves has to have the form and the counts of its set.
"""

import errno
import hashlib
import lzma
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

import numpy as np

from core.digits.dataset import Dataset, DatasetError, DigitSets
from core.digits.downloads import SETS, PublishedSet
from core.digits.idx import read_extended_labels, read_labels, read_pictures
from core.digits.mnist import CHECKSUMS as MNIST_CHECKSUMS

PARTS = ("train-images", "train-labels", "t10k-images", "t10k-labels")
MAX_MEMBER_BYTES = 256 * 2**20
"""What a file in an archive may unpack to: EMNIST's largest, itself unpacked, takes 188 million."""

_UNPACKING_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    UnicodeDecodeError,
)


@dataclass(frozen=True)
class FoundFiles:
    """Where each of PARTS is, and the archive they came out of, if they did."""

    parts: Mapping[str, Path]
    archive: Path | None = None


def find_files(published: PublishedSet, paths: Sequence[Path], scratch: Path) -> FoundFiles:
    """The set's four files among `paths`: files, folders (looked into two levels deep) and zip archives.

    All four come from one place. Members of an archive are unpacked to the folder `scratch`. Raises DatasetError.
    """
    for path in paths:
        if not os.path.exists(path):
            raise DatasetError(f"there is no {path}; name a folder, or the files themselves")
    places = list(_places(paths))
    found = [_by_part(published, place) for place in places]
    for place, parts in zip(places, found, strict=True):
        if len(parts) == len(PARTS):
            return FoundFiles({part: place[name] for part, name in parts.items()})
    for archive in (path for place in places for name, path in place.items() if name.lower().endswith(".zip")):
        unpacked = _unpack(published, archive, scratch)
        if unpacked:
            return FoundFiles(unpacked, archive)
    fullest = max(found, key=len, default={})
    missing = [part for part in PARTS if part not in fullest]
    raise DatasetError(
        f"{paths[0]}{' and the others' if len(paths) > 1 else ''}: no {' and no '.join(missing)} of {published.title} "
        f"there; name the folder that holds {', '.join(file.name for file in published.files)}"
    )


def are_as_published(published: PublishedSet, files: FoundFiles) -> bool:
    """Whether checksums prove them all; raises DatasetError for a file that they prove to be another set's."""
    if files.archive is not None and _owner(files.archive) is published:
        return True
    owners = {path: _owner(path) for path in files.parts.values()}
    for path, owner in owners.items():
        if owner is not None and owner is not published:
            raise DatasetError(f"{path} belongs to {owner.title}, not to {published.title}; open it as {owner.name}")
    return None not in owners.values()


def read_files(published: PublishedSet, files: FoundFiles) -> DigitSets:
    """What is in them; raises DatasetError for what has not the form or the counts of the set."""
    train = _read(published, files.parts["train-images"], files.parts["train-labels"], published.train_digits)
    test = _read(published, files.parts["t10k-images"], files.parts["t10k-labels"], published.test_digits)
    return DigitSets(published.title, train, test)


def _places(paths: Iterable[Path]) -> Iterator[dict[str, Path]]:
    """The files named, and those of each folder and of the folders in it, by their names: a place each."""
    yield {path.name: path for path in paths if os.path.isfile(path)}
    for path in paths:
        for folder in (path, *sorted(path.glob("*")), *sorted(path.glob("*/*"))):
            if os.path.isdir(folder):
                yield {file.name: file for file in sorted(folder.glob("*")) if os.path.isfile(file)}


def _by_part(published: PublishedSet, names: Iterable[str]) -> dict[str, str]:
    """Which of `names` is which part, under any naming in use."""
    usual = re.compile(
        rf"(?:{published.name}[-_.])?(train|t10k|test)[-_.](images|labels)([-_.]idx[123][-_.](ubyte|int))?(\.gz)?"
    )
    originals = {file.name for file in published.files}
    parts: dict[str, str] = {}
    # Where there are several, a packed one can be held against its checksum.
    for name in sorted(names, key=lambda name: (name not in originals, not name.endswith(".gz"), name)):
        if match := usual.fullmatch(name):
            parts.setdefault(f"{match[1].replace('test', 't10k')}-{match[2]}", name)
    return parts


def _unpack(published: PublishedSet, archive: Path, scratch: Path) -> dict[str, Path]:
    """The four files out of `archive`, now in `scratch`; none if they are not all there."""
    try:
        with zipfile.ZipFile(archive) as content:
            folders: dict[PurePosixPath, dict[str, zipfile.ZipInfo]] = {}
            for member in content.infolist():
                path = PurePosixPath(member.filename)
                folders.setdefault(path.parent, {})[path.name] = member
            for members in folders.values():
                parts = _by_part(published, members)
                if len(parts) == len(PARTS):
                    for name in parts.values():
                        with content.open(members[name]) as packed:
                            _copy(packed, scratch / name, archive)
                    return {part: scratch / name for part, name in parts.items()}
    except (*_UNPACKING_ERRORS, OSError) as error:
        # An invalid argument is how the system answers where an archive points to before its own beginning; all else
        # that it says is about the disk.
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        raise DatasetError(f"{archive} cannot be unpacked ({str(error)[:100]}); fetch it again") from None
    return {}


def _copy(packed: IO[bytes], target: Path, archive: Path) -> None:
    """Write what is in `packed` to `target`; raises DatasetError if it swells beyond measure."""
    with target.open("wb") as out:
        while chunk := packed.read(2**20):
            out.write(chunk)
            if out.tell() > MAX_MEMBER_BYTES:
                raise DatasetError(f"{archive} is not to be trusted: {target.name} in it is far too long")


def _owner(path: Path) -> PublishedSet | None:
    """The set that has this very file on record."""
    length = path.stat().st_size
    known = {file.sha256: one for one in SETS.values() for file in one.files if file.size == length}
    if not known:
        return None
    with path.open("rb") as content:
        return known.get(hashlib.file_digest(content, "sha256").hexdigest())


def _read(published: PublishedSet, images_path: Path, labels_path: Path, count: int) -> Dataset:
    images, data = read_pictures(images_path)
    if hashlib.sha256(data).hexdigest() in MNIST_CHECKSUMS.values():
        raise DatasetError(f"{images_path} belongs to MNIST, which is built in, not to {published.title}")
    labels = read_extended_labels(labels_path) if "idx2" in labels_path.name else read_labels(labels_path)[0]
    for path, found in ((images_path, len(images)), (labels_path, len(labels))):
        if found != count:
            raise DatasetError(f"{path} holds {found:,} where {published.title} has {count:,}; fetch the original file")
    return Dataset(np.ascontiguousarray(images.transpose(0, 2, 1)) if published.transposed else images, labels)
