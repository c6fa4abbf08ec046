"""MNIST's own files and folders of other sets, held against what is published of MNIST: counts, first digits, mean ink.

The checksums are tested by damaging a copy of the built-in files and telling the reader that it is the built-in one.
"""

import gzip
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

from core.digits import mnist as mnist_module
from core.digits.dataset import Dataset, DatasetError, DigitSets
from core.digits.mnist import BUILT_IN_FOLDER, load_mnist, load_mnist_test

NAMES = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]


@pytest.fixture
def contents(few_digits: DigitSets) -> dict[str, bytes]:
    """The four files of a small set: 30 training and 20 test digits."""

    def images(dataset: Dataset) -> bytes:
        return struct.pack(">4I", 2051, len(dataset), 28, 28) + dataset.images.tobytes()

    def labels(dataset: Dataset) -> bytes:
        return struct.pack(">2I", 2049, len(dataset)) + dataset.labels.tobytes()

    train, test = few_digits.train.part(0, 30), few_digits.test.part(0, 20)
    return dict(zip(NAMES, (images(train), labels(train), images(test), labels(test)), strict=True))


@pytest.fixture
def folder(tmp_path: Path, contents: dict[str, bytes]) -> Path:
    """The small set as a folder of plain files."""
    folder = tmp_path / "my digits"
    folder.mkdir()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return folder


def refusal(folder: Path) -> str:
    """The one line with which `folder` is refused."""
    with pytest.raises(DatasetError) as caught:
        load_mnist(folder)
    sentence = str(caught.value)
    assert str(folder) in sentence
    assert "\n" not in sentence
    return sentence


def test_the_built_in_set_has_the_digits_that_are_published(mnist: DigitSets) -> None:
    assert mnist.name == "MNIST"
    assert mnist.train.images.shape == (60_000, 28, 28)
    assert mnist.test.images.shape == (10_000, 28, 28)
    assert mnist.train.labels[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert mnist.test.labels[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    assert np.bincount(mnist.test.labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert mnist.train.images.mean() / 255 == pytest.approx(0.1307, abs=5e-5)
    assert mnist.test.images.mean() / 255 == pytest.approx(0.1325, abs=5e-5)
    assert not mnist.train.images.flags.writeable


def test_the_test_set_is_found_without_the_training_set(folder: Path, few_digits: DigitSets) -> None:
    for name in NAMES[:2]:
        (folder / name).unlink()
    np.testing.assert_array_equal(load_mnist_test(folder).images, few_digits.test.images[:20])
    assert "holds no train-images-idx3-ubyte" in refusal(folder)


@pytest.mark.parametrize("mark", ["-", "."])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_files_are_found_with_either_mark_in_their_names_plain_and_packed(
    tmp_path: Path, contents: dict[str, bytes], few_digits: DigitSets, mark: str, packed: bool
) -> None:
    for name, content in contents.items():
        name = name.replace("-idx", f"{mark}idx")
        (tmp_path / (name + packed * ".gz")).write_bytes(gzip.compress(content) if packed else content)
    sets = load_mnist(tmp_path)
    assert sets.name == tmp_path.name
    np.testing.assert_array_equal(sets.train.images, few_digits.train.images[:30])
    np.testing.assert_array_equal(sets.train.labels, few_digits.train.labels[:30])
    np.testing.assert_array_equal(sets.test.images, few_digits.test.images[:20])
    np.testing.assert_array_equal(sets.test.labels, few_digits.test.labels[:20])


def test_a_folder_is_called_by_its_own_name_however_it_is_reached(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert load_mnist(Path()).name == "my digits"


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    sentence = refusal(folder)
    assert f"holds no {name} or {name}.gz" in sentence
    assert "choose a folder" in sentence


def test_a_folder_in_place_of_one_of_the_files_counts_as_missing(folder: Path) -> None:
    (folder / NAMES[1]).unlink()
    (folder / NAMES[1]).mkdir()
    assert f"holds no {NAMES[1]}" in refusal(folder)


@pytest.mark.parametrize("kind", ["missing", "empty", "a file", "a name too long for the system"])
def test_a_folder_that_is_none_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("n" * 300 if "long" in kind else "set")
    if kind == "empty":
        path.mkdir()
    elif kind == "a file":
        path.write_bytes(b"not a folder")
    assert "choose a folder" in refusal(path)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (2, 3)], ids=["train", "t10k"])
def test_swapped_pictures_and_labels_are_noticed(folder: Path, first: int, second: int) -> None:
    one, other = folder / NAMES[first], folder / NAMES[second]
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    sentence = refusal(folder)
    assert f"{NAMES[first]} holds labels where pictures belong" in sentence
    assert "swapped" in sentence


def test_pictures_and_labels_of_different_counts_are_refused_with_both_files_and_numbers(
    folder: Path, contents: dict[str, bytes]
) -> None:
    (folder / NAMES[1]).write_bytes(contents[NAMES[3]])
    sentence = refusal(folder)
    assert f"{NAMES[0]} holds 30 pictures but {NAMES[1]} 20 labels" in sentence
    assert "fetch both again" in sentence


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("damage", [lambda data: data[:-3], lambda data: data + b"\0"], ids=["cut", "trailing byte"])
def test_the_damaged_one_of_the_four_files_is_named(folder: Path, name: str, damage) -> None:
    (folder / name).write_bytes(damage((folder / name).read_bytes()))
    assert str(folder / name) in refusal(folder)


@pytest.fixture
def own_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the built-in test set that passes for the built-in folder."""
    for path in BUILT_IN_FOLDER.glob("t10k*"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(mnist_module, "BUILT_IN_FOLDER", tmp_path)
    return tmp_path


def change_byte(path: Path, position: int, value: int) -> None:
    data = bytearray(gzip.decompress(path.read_bytes()))
    assert data[position] != value
    data[position] = value
    path.write_bytes(gzip.compress(data, compresslevel=1))


def test_the_built_in_files_may_be_packed_anew_or_unpacked(own_copy: Path, mnist: DigitSets) -> None:
    packed = own_copy / "t10k-images-idx3-ubyte.gz"
    (own_copy / "t10k-images-idx3-ubyte").write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    np.testing.assert_array_equal(load_mnist_test(own_copy).images, mnist.test.images)


@pytest.mark.parametrize(
    ("name", "position", "value"),
    [("t10k-images-idx3-ubyte.gz", 5_000_000, 1), ("t10k-labels-idx1-ubyte.gz", 5000, 9)],
    ids=["a pixel", "a label"],
)
def test_one_changed_byte_in_the_built_in_set_is_noticed(
    own_copy: Path, name: str, position: int, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_byte(own_copy / name, position, value)
    with pytest.raises(DatasetError, match=r"is not the original MNIST file.*install Inkling again") as caught:
        load_mnist_test(own_copy)
    assert str(own_copy / name) in str(caught.value)
    monkeypatch.undo()
    assert len(load_mnist_test(own_copy)) == 10_000  # anybody else's folder may hold what it likes


def test_the_built_in_training_set_has_checksums_too(
    folder: Path, contents: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mnist_module, "BUILT_IN_FOLDER", folder)
    assert "train-images-idx3-ubyte is not the original MNIST file" in refusal(folder)
