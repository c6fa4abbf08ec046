"""The IDX reader, held against files written byte by byte as the format's page describes them.

Every way for a file to be bad ends in one line that names the file and says what to do, in memory no larger than what
the file's own header promises.
"""

import gzip
import re
import struct
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from core.digits import idx
from core.digits.dataset import DatasetError
from core.digits.idx import read_extended_labels, read_labels, read_pictures, write_idx

IMAGES = np.random.default_rng(4).integers(0, 256, (3, 28, 28), dtype=np.uint8)
PICTURES = struct.pack(">4I", 2051, 3, 28, 28) + IMAGES.tobytes()
LABELS = struct.pack(">2I", 2049, 4) + bytes([7, 0, 9, 3])
PACKED = gzip.compress(PICTURES)


def zeros_bomb(header: bytes, megabytes: int) -> bytes:
    """A file of about a thousandth of what it unpacks to: `header`, then zeros."""
    return gzip.compress(header) + gzip.compress(bytes(1 << 20)) * megabytes


def refusal(path: Path, read=read_pictures) -> str:
    """The one line with which `path` is refused."""
    with pytest.raises(DatasetError) as caught:
        read(path)
    sentence = str(caught.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    assert len(sentence) < len(str(path)) + 200
    assert re.search("fetch|use|choose|check|Rename|reads sets of", sentence)
    return sentence


@pytest.mark.parametrize("name", ["p.idx3-ubyte", "p-idx3-ubyte.gz", "p.gz"])
def test_pictures_are_read_plain_and_packed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(PACKED if name.endswith(".gz") else PICTURES)
    images, unpacked = read_pictures(path)
    assert images.dtype == np.uint8
    np.testing.assert_array_equal(images, IMAGES)
    assert unpacked == PICTURES


@pytest.mark.parametrize("name", ["l-idx1-ubyte", "l.idx1-ubyte.gz"])
def test_labels_are_read_plain_and_packed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(LABELS) if name.endswith(".gz") else LABELS)
    labels, unpacked = read_labels(path)
    assert labels.dtype == np.uint8
    assert labels.tolist() == [7, 0, 9, 3]
    assert unpacked == LABELS


def test_a_file_packed_in_several_pieces_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "p.gz"
    path.write_bytes(gzip.compress(PICTURES[:1000]) + gzip.compress(PICTURES[1000:]))
    np.testing.assert_array_equal(read_pictures(path)[0], IMAGES)


BAD_PICTURES = {
    "empty": (b"", "is not an IDX file"),
    "empty.gz": (b"", "is not an IDX file|is cut short"),
    "empty-packed.gz": (gzip.compress(b""), "is not an IDX file"),
    "text": (b"these are not pictures but words\n", "is not an IDX file"),
    "page": (b"<!DOCTYPE html><title>404</title>" * 9, "is not an IDX file"),
    "plain-named.gz": (PICTURES, "is not a gzip file"),
    "packed-named-plain": (PACKED, "is not an IDX file"),
    "cut-in-magic": (PICTURES[:3], "is not an IDX file|is cut short"),
    "cut-before-size": (PICTURES[:8], "is cut short"),
    "cut-in-header": (PICTURES[:13], "is cut short"),
    "no-pictures-follow": (PICTURES[:16], "is cut short: 16 bytes, where its header promises 2,368"),
    "one-byte-short": (PICTURES[:-1], "is cut short: 2,367 bytes, where its header promises 2,368"),
    "cut-packed.gz": (PACKED[:-20], "is cut short or damaged"),
    "cut-in-packed-header.gz": (PACKED[:5], "is cut short or damaged"),
    "cut-checksum.gz": (PACKED[:-1], "is cut short or damaged"),
    "wrong-checksum.gz": (PACKED[:-8] + b"0000" + PACKED[-4:], "is damaged"),
    "wrong-bits.gz": (PACKED[:12] + b"\xff" * 40 + PACKED[52:], "damaged"),
    "trailing-bytes": (PICTURES + b"ab", "is damaged: .* too many"),
    "trailing-packed.gz": (gzip.compress(PICTURES + b"a"), "is damaged: .* too many"),
    "rubbish-behind.gz": (PACKED + b"rubbish", "damaged"),
    "labels": (LABELS, "holds labels where pictures belong"),
    "labels.gz": (gzip.compress(LABELS), "holds labels where pictures belong"),
    "large-pictures": (struct.pack(">4I", 2051, 1, 32, 32) + bytes(1024), "pictures of 32x32 pixels"),
    "turned": (struct.pack(">4I", 2051, 1, 784, 1) + bytes(784), "pictures of 784x1 pixels"),
    "nothing": (struct.pack(">4I", 2051, 0, 28, 28), "is empty"),
    "four-billion": (
        struct.pack(">4I", 2051, 4_000_000_000, 28, 28) + bytes(784),
        "promises 3,136,000,000,016|4,000,000,000|more than 2,000,000",
    ),
    "other-type": (struct.pack(">4I", 0x0D03, 3, 28, 28) + bytes(3 * 784 * 4), "is not an IDX file"),
}


@pytest.mark.parametrize("name", BAD_PICTURES)
def test_a_bad_file_of_pictures_is_refused_with_one_line_that_names_it(tmp_path: Path, name: str) -> None:
    content, complaint = BAD_PICTURES[name]
    path = tmp_path / name
    path.write_bytes(content)
    assert re.search(complaint, refusal(path))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (struct.pack(">2I", 2049, 3) + bytes([0, 9, 10]), "is mislabelled: label 10 at position 2,"),
        (struct.pack(">2I", 2049, 2) + bytes([255, 9]), "is mislabelled: label 255 at position 0,"),
        (PICTURES, "holds pictures where labels belong"),
        (LABELS[:-1], "is cut short: 11 bytes, where its header promises 12"),
        (LABELS[:8], "is cut short: 8 bytes, where its header promises 12"),
        (LABELS + b"\0", "is damaged: .* too many"),
        (struct.pack(">2I", 2049, 0), "is empty"),
        (b"", "is not an IDX file"),
    ],
    ids=["label 10", "label 255", "pictures", "one short", "no labels follow", "trailing", "nothing", "empty"],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_a_bad_file_of_labels_is_refused_with_one_line_that_names_it(
    tmp_path: Path, content: bytes, complaint: str, packed: bool
) -> None:
    path = tmp_path / ("l.gz" if packed else "l")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert re.search(complaint, refusal(path, read_labels))


@pytest.mark.parametrize("name", ["absent", "absent.gz"])
def test_a_missing_file_is_refused(tmp_path: Path, name: str) -> None:
    assert "cannot be read: No such file" in refusal(tmp_path / name)


@pytest.mark.parametrize("name", ["folder", "folder.gz"])
def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert "cannot be read" in refusal(tmp_path / name)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file that opens and cannot be read, even by root")
@pytest.mark.parametrize("name", ["unreadable", "unreadable.gz"])
def test_a_file_that_cannot_be_read_is_refused_with_the_system_s_reason(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("/proc/self/mem")
    assert "cannot be read: Input/output error" in refusal(tmp_path / name)


def test_more_digits_than_any_set_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idx, "MAX_DIGITS", 2)
    path = tmp_path / "many"
    path.write_bytes(PICTURES)
    assert "more than 2 digits; use a smaller set" in refusal(path)


@pytest.mark.parametrize("promised", [3, 4_000_000_000], ids=["a few", "4e9"])
def test_a_small_file_that_unpacks_to_very_much_is_refused_before_it_fills_the_memory(
    tmp_path: Path, promised: int
) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(zeros_bomb(struct.pack(">4I", 2051, promised, 28, 28), megabytes=64))
    tracemalloc.start()
    try:
        refusal(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20


@pytest.mark.parametrize("name", ["short", "short.gz"])
def test_no_memory_is_taken_for_what_a_short_file_promises_and_cannot_hold(tmp_path: Path, name: str) -> None:
    path, content = tmp_path / name, struct.pack(">4I", 2051, 2_000_000, 28, 28) + bytes(784)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    tracemalloc.start()
    try:
        assert "is cut short" in refusal(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_the_smallest_set_of_one_picture_is_read(tmp_path: Path) -> None:
    path = tmp_path / "one"
    path.write_bytes(struct.pack(">4I", 2051, 1, 28, 28) + IMAGES[2].tobytes())
    np.testing.assert_array_equal(read_pictures(path)[0], IMAGES[2:])


EXTENDED = struct.pack(">3I", 0x0C02, 3, 8) + b"".join(
    struct.pack(">8i", label, 4, 2100, 1, 30, 281_769, 0, 0) for label in (7, 0, 9)
)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_of_extended_labels_the_first_column_is_read(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("l.gz" if packed else "l")
    path.write_bytes(gzip.compress(EXTENDED) if packed else EXTENDED)
    labels = read_extended_labels(path)
    assert labels.dtype == np.uint8
    assert labels.tolist() == [7, 0, 9]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (EXTENDED[:-1], "is cut short: 107 bytes, where its header promises 108"),
        (EXTENDED + b"\0", "is damaged: .* too many"),
        (EXTENDED[:12] + struct.pack(">i", 256 + 7) + EXTENDED[16:], "label 263 at position 0,"),
        (EXTENDED[:12] + struct.pack(">i", -1) + EXTENDED[16:], "label -1 at position 0,"),
        (struct.pack(">3I", 0x0C02, 3, 1) + bytes(12), "extended labels have 8 columns"),
        (struct.pack(">3I", 0x0C02, 4_000_000_000, 8), "more than 2,000,000"),
        (EXTENDED[:10], "ends within its header"),
        (LABELS, "holds labels where extended labels belong"),
    ],
)
def test_a_bad_file_of_extended_labels_is_refused_with_one_line_that_names_it(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    path = tmp_path / "l"
    path.write_bytes(content)
    assert re.search(complaint, refusal(path, read_extended_labels))


def test_what_is_written_is_read_again_and_is_the_format_s_own(tmp_path: Path) -> None:
    labels = np.array([7, 0, 9, 3], np.uint8)
    write_idx(tmp_path / "p.gz", IMAGES.transpose(0, 2, 1))
    write_idx(tmp_path / "l.gz", labels)
    assert gzip.decompress((tmp_path / "l.gz").read_bytes()) == LABELS
    np.testing.assert_array_equal(read_pictures(tmp_path / "p.gz")[0], IMAGES.transpose(0, 2, 1))
