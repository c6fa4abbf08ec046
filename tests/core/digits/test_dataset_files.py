"""Sets fetched from a server on this machine and opened from files: loaded is what was published, or nothing.

The sets are made up from a few of MNIST's digits; what they should load as is known without any file.
"""

import gzip
import io
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from core.digits import dataset_files, published_files
from core.digits.dataset import DatasetError, DigitSets
from core.digits.dataset_files import (
    arrived_bytes,
    fetch_set,
    is_here,
    load_digit_sets,
    load_test_digits,
    open_set,
    remove_set,
)
from core.digits.downloads import SETS
from core.digits.fetching import DownloadError
from core.digits.mnist import BUILT_IN_FOLDER
from core.digits.published_files import PARTS, find_files
from tests.core.mirrors import Mirror, as_archive, as_files, extended, idx, made_up, published


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where sets are kept while the test runs; it is not there at first."""
    monkeypatch.setattr(dataset_files, "datasets_folder", lambda: tmp_path / "kept" / "datasets")
    return tmp_path / "kept" / "datasets"


@pytest.fixture
def digits(few_digits: DigitSets) -> DigitSets:
    return made_up(few_digits)


@pytest.fixture
def files(digits: DigitSets) -> dict[str, bytes]:
    return as_files(digits)


@pytest.fixture
def mirror(kept: Path, files: dict[str, bytes], digits: DigitSets, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A server with the sets "tiny" (four files), "packed" (an archive, transposed) and "long" (extended labels)."""
    monkeypatch.setenv("no_proxy", "*")
    mirror = Mirror()
    turned = [np.ascontiguousarray(part.images.transpose(0, 2, 1)) for part in (digits.train, digits.test)]
    in_archive = {
        "packed-train-images-idx3-ubyte.gz": packed(turned[0]),
        "packed-train-labels-idx1-ubyte.gz": packed(digits.train.labels),
        "packed-test-images-idx3-ubyte.gz": packed(turned[1]),
        "packed-test-labels-idx1-ubyte.gz": packed(digits.test.labels),
        "packed-mapping.txt": b"0 48",
        "letters-train-images-idx3-ubyte.gz": b"not looked at",
    }
    long = {
        "long-train-images-idx3-ubyte.gz": packed(digits.train.images),
        "long-train-labels-idx2-int.gz": gzip.compress(extended(digits.train.labels)),
        "long-test-images-idx3-ubyte.gz": packed(digits.test.images),
        "long-test-labels-idx2-int.gz": gzip.compress(extended(digits.test.labels)),
    }
    for name, listed, choices in (
        ("tiny", files, {}),
        ("packed", {"gzip.zip": as_archive(in_archive)}, {"transposed": True}),
        ("long", long, {}),
    ):
        monkeypatch.setitem(SETS, name, published(name, listed, mirror.url, **choices))
        mirror.files |= listed
    yield mirror
    mirror.close()


def packed(content: np.ndarray) -> bytes:
    """An IDX file of bytes, unlike `as_files` in how it is packed."""
    return gzip.compress(idx(content.astype(np.uint8)), 1, mtime=0)


def write(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def assert_loads(name: str, digits: DigitSets) -> None:
    sets = load_digit_sets(name)
    assert sets.name == name.title()
    for loaded, wanted in ((sets.train, digits.train), (sets.test, digits.test), (load_test_digits(name), digits.test)):
        np.testing.assert_array_equal(loaded.images, wanted.images)
        np.testing.assert_array_equal(loaded.labels, wanted.labels)
        assert not loaded.images.flags.writeable
        assert loaded.labels.dtype == np.uint8


def refusal(name: str, *paths: Path) -> str:
    with pytest.raises(DatasetError) as caught:
        open_set(name, paths)
    assert "\n" not in str(caught.value)
    assert not is_here(name)
    return str(caught.value)


@pytest.mark.parametrize("name", ["tiny", "packed", "long"])
def test_a_set_is_fetched_by_name_and_loads_from_then_on_without_the_network(
    mirror: Mirror, kept: Path, digits: DigitSets, name: str
) -> None:
    told: list[tuple[int, int]] = []
    assert not is_here(name)
    assert fetch_set(name, lambda *figures: told.append(figures)) is True
    assert told == sorted(told)
    assert told[-1] == (SETS[name].size, SETS[name].size)
    asked = len(mirror.requests)
    assert is_here(name)
    assert_loads(name, digits)
    assert fetch_set(name) is True
    assert len(mirror.requests) == asked == len(SETS[name].files)
    assert sorted(path.name for path in kept.iterdir() if path.is_dir()) == [name]


def test_a_set_that_is_not_here_says_how_to_get_it(mirror: Mirror, kept: Path) -> None:
    for load in (load_digit_sets, load_test_digits):
        with pytest.raises(DatasetError) as caught:
            load("tiny")
        assert str(caught.value) == (
            "tiny is not on this machine yet; fetch it with: uv run main.py data fetch tiny, "
            "or open its files with: uv run main.py data open tiny FOLDER"
        )
    assert not kept.exists()
    assert mirror.requests == []


def test_the_built_in_set_is_always_here_and_stays(kept: Path, mnist: DigitSets) -> None:
    assert is_here("mnist")
    assert load_digit_sets("mnist").name == "MNIST"
    np.testing.assert_array_equal(load_test_digits("mnist").labels, mnist.test.labels)
    assert fetch_set("mnist") is True
    for change in (lambda: open_set("mnist", [Path()]), lambda: remove_set("mnist")):
        with pytest.raises(DatasetError, match="MNIST is built in"):
            change()
    assert not kept.exists()


def test_a_damaged_set_is_fetched_anew_and_stays_as_it_is_until_the_new_one_is_here(
    mirror: Mirror, kept: Path, digits: DigitSets
) -> None:
    assert fetch_set("tiny")
    (kept / "tiny" / "t10k-labels-idx1-ubyte.gz").write_bytes(b"rotten")
    left = {path.name: path.read_bytes() for path in (kept / "tiny").iterdir()}
    assert not fetch_set("tiny", cancelled=lambda: True)
    assert {path.name: path.read_bytes() for path in (kept / "tiny").iterdir()} == left
    assert fetch_set("tiny")
    np.testing.assert_array_equal(load_digit_sets("tiny").test.labels, digits.test.labels)


def test_a_cancelled_fetch_keeps_what_came_and_goes_on_from_there(
    mirror: Mirror, kept: Path, digits: DigitSets, files: dict[str, bytes]
) -> None:
    first = len(files["train-images-idx3-ubyte.gz"])
    here = [0]
    assert fetch_set("tiny", lambda done, total: here.append(done), lambda: here[-1] >= first + 10) is False
    assert not is_here("tiny")
    mirror.requests.clear()
    told: list[int] = []
    assert fetch_set("tiny", lambda done, total: told.append(done)) is True
    assert told[0] == first
    assert "train-images-idx3-ubyte.gz" not in [name for name, _ in mirror.requests]
    assert_loads("tiny", digits)


def test_nothing_is_there_while_one_file_cannot_be_had(mirror: Mirror, kept: Path) -> None:
    mirror.manners = ["well", "well", "other bytes"]
    with pytest.raises(DownloadError, match=r"t10k-images-idx3-ubyte\.gz could not be fetched"):
        fetch_set("tiny")
    assert not is_here("tiny")
    assert not (kept / "tiny.new").exists()


def test_a_silent_server_is_given_up(mirror: Mirror) -> None:
    mirror.manners = ["silent"]
    with pytest.raises(DownloadError, match="does not answer"):
        fetch_set("tiny", stall_seconds=0.2)


def test_two_do_not_write_at_once(mirror: Mirror, kept: Path, tmp_path: Path, files: dict[str, bytes]) -> None:
    kept.mkdir(parents=True)
    folder = write(tmp_path / "mine", files)
    with FileLock(kept / "tiny.lock"):
        for change in (lambda: fetch_set("tiny"), lambda: open_set("tiny", [folder])):
            with pytest.raises(DatasetError, match="another window or command is busy with tiny"):
                change()
    assert fetch_set("tiny") is True


def test_a_place_that_cannot_be_written_is_named(mirror: Mirror, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file where a folder should be")
    with pytest.raises(DatasetError, match=r"kept.*check the place"):
        fetch_set("tiny")


def test_what_a_killed_process_left_half_made_is_swept_away(mirror: Mirror, kept: Path, digits: DigitSets) -> None:
    write(kept / "tiny.new" / "made", {"train-images-idx3-ubyte.gz": b"half"})
    assert not is_here("tiny")
    assert fetch_set("tiny") is True
    assert_loads("tiny", digits)


NAMINGS: dict[str, Callable[[dict[str, bytes]], dict[str, bytes]]] = {
    "as published": lambda files: files,
    "unpacked": lambda files: {name.removesuffix(".gz"): gzip.decompress(data) for name, data in files.items()},
    "a dot before idx": lambda files: {name.replace("-idx", ".idx"): data for name, data in files.items()},
    "test for t10k": lambda files: {name.replace("t10k", "test"): data for name, data in files.items()},
    "the set's name before": lambda files: {f"tiny-{name}": data for name, data in files.items()},
    "both, packed and not": lambda files: files | {name.removesuffix(".gz"): b"rubbish" for name in files},
    "an archive": lambda files: {"download.zip": as_archive(files, "")},
    "an archive of unpacked files": lambda files: {
        "archive.ZIP": as_archive({name.removesuffix(".gz"): gzip.decompress(data) for name, data in files.items()})
    },
}


@pytest.mark.parametrize("below", ["", "raw", "Tiny/raw"])
@pytest.mark.parametrize("naming", NAMINGS)
def test_files_that_the_user_has_are_found_under_any_usual_naming(
    mirror: Mirror, tmp_path: Path, files: dict[str, bytes], digits: DigitSets, naming: str, below: str
) -> None:
    write(tmp_path / "mine" / below, {"notes.txt": b"mine"} | NAMINGS[naming](files))
    proved = open_set("tiny", [tmp_path / "mine"])
    assert proved is ("unpacked" not in naming)
    assert_loads("tiny", digits)
    assert mirror.requests == []


@pytest.mark.parametrize("name", ["packed", "long"])
def test_the_files_of_every_form_can_be_opened_by_their_own_names(
    mirror: Mirror, tmp_path: Path, digits: DigitSets, name: str
) -> None:
    folder = write(tmp_path / "mine", {file.name: mirror.files[file.name] for file in SETS[name].files})
    assert open_set(name, sorted(folder.iterdir())) is True
    assert_loads(name, digits)


def test_members_taken_out_of_the_archive_by_hand_are_set_upright_too(
    mirror: Mirror, tmp_path: Path, digits: DigitSets
) -> None:
    with zipfile.ZipFile(io.BytesIO(mirror.files["gzip.zip"])) as archive:
        archive.extractall(tmp_path / "mine")
    assert open_set("packed", [tmp_path / "mine"]) is False
    assert_loads("packed", digits)


def test_opening_takes_the_place_of_what_is_here_and_of_what_a_download_brought(
    mirror: Mirror, tmp_path: Path, kept: Path, files: dict[str, bytes], few_digits: DigitSets, digits: DigitSets
) -> None:
    other = DigitSets("other", few_digits.train.part(100, 130), few_digits.test.part(100, 120))
    assert open_set("tiny", [write(tmp_path / "other", as_files(other))]) is False
    assert_loads("tiny", other)
    write(kept / "tiny.parts", {"train-images-idx3-ubyte.gz.part": b"half"})
    assert open_set("tiny", [write(tmp_path / "mine", files)]) is True
    assert_loads("tiny", digits)
    assert sorted(path.name for path in kept.iterdir() if path.is_dir()) == ["tiny"]


def test_a_failed_opening_leaves_what_was_here(
    mirror: Mirror, tmp_path: Path, files: dict[str, bytes], digits: DigitSets
) -> None:
    open_set("tiny", [write(tmp_path / "mine", files)])
    files["t10k-labels-idx1-ubyte.gz"] = b"rubbish"
    with pytest.raises(DatasetError):
        open_set("tiny", [write(tmp_path / "bad", files)])
    assert_loads("tiny", digits)


def test_missing_files_are_named(mirror: Mirror, tmp_path: Path, files: dict[str, bytes]) -> None:
    del files["t10k-labels-idx1-ubyte.gz"], files["train-images-idx3-ubyte.gz"]
    sentence = refusal("tiny", write(tmp_path / "mine", files))
    assert sentence.startswith(f"{tmp_path / 'mine'}: no train-images and no t10k-labels of Tiny there")
    assert "name the folder that holds train-images-idx3-ubyte.gz, train-labels" in sentence
    assert "there is no" in refusal("tiny", tmp_path / "absent")


@pytest.mark.parametrize("name", ["fashion-mnist", "kmnist", "emnist-digits", "qmnist"])
def test_the_real_sets_files_are_told_apart_by_their_real_names(tmp_path: Path, name: str) -> None:
    names = [file.name for file in SETS[name].files]
    contents = dict.fromkeys(names, b"")
    if name == "emnist-digits":
        kinds = ("images-idx3", "labels-idx1")
        names = [f"emnist-digits-{part}-{kind}-ubyte.gz" for part in ("train", "test") for kind in kinds]
        others = [name.replace("digits", other) for name in names for other in ("mnist", "letters", "byclass")]
        contents = {"gzip.zip": as_archive(dict.fromkeys([*others, *names], b""))}
    scratch = write(tmp_path / "scratch", {})
    found = find_files(SETS[name], [write(tmp_path / "mine", contents)], scratch)
    assert [found.parts[part].name for part in PARTS] == names
    assert found.archive == (tmp_path / "mine" / "gzip.zip" if name == "emnist-digits" else None)
    assert len(list(scratch.iterdir())) == (4 if name == "emnist-digits" else 0)


def test_parts_of_two_folders_are_not_mixed(mirror: Mirror, tmp_path: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        write(tmp_path / "mine" / ("a" if "train" in name else "b"), {name: content})
    assert "no t10k-images and no t10k-labels" in refusal("tiny", tmp_path / "mine")


def test_another_set_s_files_are_recognised(mirror: Mirror, tmp_path: Path, files: dict[str, bytes]) -> None:
    names = dict(zip(files, (file.name for file in SETS["long"].files), strict=True))
    mine = write(tmp_path / "mine", {name: mirror.files[theirs] for name, theirs in names.items()})
    sentence = refusal("tiny", mine)
    assert "belongs to Long, not to Tiny; open it as long" in sentence


def test_mnist_s_own_files_are_not_taken_for_another_set(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "belongs to MNIST, which is built in, not to KMNIST" in refusal("kmnist", BUILT_IN_FOLDER)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "train-images-idx3-ubyte.gz",
            packed(np.zeros((31, 28, 28))),
            "holds 31 where .* has 30",
        ),
        ("t10k-labels-idx1-ubyte.gz", packed(np.zeros(19)), "holds 19 where .* has 20"),
        ("t10k-labels-idx1-ubyte.gz", packed(np.full(20, 10)), "is mislabelled"),
        ("train-images-idx3-ubyte.gz", packed(np.zeros((30, 32, 32))), "32x32"),
        ("train-labels-idx1-ubyte.gz", b"\x1f\x8b but no gzip", "gzip|damaged"),
        (
            "train-images-idx3-ubyte.gz",
            gzip.compress(struct.pack(">4I", 2051, 4_000_000_000, 28, 28), mtime=0),
            "more than 2,000,000",
        ),
    ],
)
def test_files_that_have_not_the_form_of_the_set_are_refused(
    mirror: Mirror, tmp_path: Path, files: dict[str, bytes], name: str, content: bytes, words: str
) -> None:
    folder = write(tmp_path / "mine", files | {name: content})
    with pytest.raises(DatasetError, match=words) as caught:
        open_set("tiny", [folder])
    assert str(folder / name) in str(caught.value)
    assert not is_here("tiny")


def test_an_archive_cannot_write_outside_its_place(
    mirror: Mirror, tmp_path: Path, kept: Path, files: dict[str, bytes], digits: DigitSets
) -> None:
    tricky = write(tmp_path / "mine", {"tricky.zip": as_archive(files, "../../../")})
    assert open_set("tiny", [tricky]) is True
    assert_loads("tiny", digits)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "mine"]
    assert sorted(path.name for path in kept.iterdir() if path.is_dir()) == ["tiny"]


def test_an_archive_that_swells_beyond_measure_is_refused_before_it_fills_the_disk(
    mirror: Mirror, tmp_path: Path, kept: Path, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published_files, "MAX_MEMBER_BYTES", 2**20)
    bomb = as_archive(files | {"train-images-idx3-ubyte.gz": bytes(64 * 2**20)})
    assert len(bomb) < 2**20
    sentence = refusal("tiny", write(tmp_path / "mine", {"bomb.zip": bomb}))
    assert "is not to be trusted: train-images-idx3-ubyte.gz in it is far too long" in sentence
    assert not (kept / "tiny.new").exists()


@pytest.mark.parametrize("damage", ["no archive", "cut", "flipped", "encrypted", "shifted"])
def test_an_archive_that_cannot_be_unpacked_is_refused(
    mirror: Mirror, tmp_path: Path, files: dict[str, bytes], damage: str
) -> None:
    content = bytearray(as_archive(files))
    if damage == "no archive":
        content = bytearray(b"PK is all there is")
    elif damage == "cut":
        del content[-30:]
    elif damage == "flipped":
        content[200:300] = bytes(byte ^ 255 for byte in content[200:300])
    elif damage == "shifted":
        # What the end says of the directory's place puts the first member before the file's beginning.
        content[-6:-2] = (int.from_bytes(content[-6:-2], "little") + 50).to_bytes(4, "little")
    else:
        for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            start = content.find(signature)
            content[start + offset] |= 1
    folder = write(tmp_path / "mine", {"bad.zip": bytes(content)})
    assert f"{folder / 'bad.zip'} cannot be unpacked" in refusal("tiny", folder)


def test_a_removed_set_is_gone_with_all_that_was_fetched_of_it(mirror: Mirror, kept: Path) -> None:
    assert remove_set("tiny") is False
    assert not kept.exists()
    fetch_set("tiny")
    write(kept / "tiny.parts", {"train-images-idx3-ubyte.gz.part": b"half"})
    assert remove_set("tiny") is True
    assert not is_here("tiny")
    assert not [path for path in kept.iterdir() if path.is_dir()]


@pytest.mark.parametrize("damage", ["cut", "missing"])
def test_a_set_that_went_bad_on_the_disk_is_not_loaded(mirror: Mirror, kept: Path, damage: str) -> None:
    fetch_set("tiny")
    path = kept / "tiny" / "train-images-idx3-ubyte.gz"
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-5])
    else:
        path.unlink()
    with pytest.raises(DatasetError, match="train-images-idx3-ubyte"):
        load_digit_sets("tiny")


def test_what_a_download_has_brought_so_far_is_counted(mirror: Mirror, kept: Path) -> None:
    assert arrived_bytes("tiny") == 0
    mirror.manners = ["well", "truncating"]
    with pytest.raises(DownloadError) as failed:
        fetch_set("tiny")
    assert failed.value.problem.startswith("train-labels-idx1-ubyte.gz could not be fetched (")
    first, second, *_ = mirror.files.values()
    assert arrived_bytes("tiny") >= len(first) + len(second) // 2
    mirror.manners = ["well"]
    fetch_set("tiny")
    assert arrived_bytes("tiny") == arrived_bytes("mnist") == 0
