"""The table of sets: complete and well-formed, and its addresses nowhere else in the program."""

import re
import subprocess
from urllib.parse import urlsplit

import pytest

from core.digits.downloads import (
    DIGITS,
    SETS,
    UnknownSetError,
    classes_of,
    find_set,
    find_titled,
    shows_digits,
    title_of,
)
from tests.core.commands import ROOT

TO_FETCH = [name for name in SETS if name != "mnist"]


def test_the_sets_of_the_table_are_those_that_are_promised() -> None:
    assert list(SETS) == ["mnist", "fashion-mnist", "kmnist", "emnist-digits", "qmnist"]
    assert [name for name, published in SETS.items() if published.is_built_in] == ["mnist"]
    assert [name for name, published in SETS.items() if published.shows_digits] == ["mnist", "emnist-digits", "qmnist"]
    assert [name for name, published in SETS.items() if published.transposed] == ["emnist-digits"]
    assert SETS["emnist-digits"].size == 561_753_746
    assert SETS["qmnist"].size == 9_704_059 + 463_024 + 9_742_279 + 526_800


@pytest.mark.parametrize("name", SETS)
def test_a_set_has_ten_classes_and_says_whose_it_is(name: str) -> None:
    published = find_set(name)
    assert published.name == name
    assert len(published.classes) == len(set(published.classes)) == len(DIGITS)
    assert published.title
    assert published.licence
    assert published.credit
    assert urlsplit(published.source).scheme in ("http", "https")


@pytest.mark.parametrize("name", TO_FETCH)
def test_every_file_has_a_size_a_checksum_and_two_mirrors(name: str) -> None:
    files = find_set(name).files
    assert len({file.name for file in files}) == len({file.sha256 for file in files}) == len(files) in (1, 4)
    for file in files:
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert file.size > 5000
        assert len(set(file.urls)) >= 2
        for url in file.urls:
            assert urlsplit(url).scheme in ("http", "https")
            assert url.endswith(f"/{file.name}")


def test_a_set_is_called_by_its_title_and_one_that_is_not_in_the_table_by_its_own_name() -> None:
    assert [title_of(name) for name in ("mnist", "fashion-mnist", "a folder")] == ["MNIST", "Fashion-MNIST", "a folder"]


def test_a_name_that_is_none_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownSetError, match=r"no set 'fashion'; choose mnist, fashion-mnist, kmnist"):
        find_set("fashion")


def test_no_other_file_of_the_program_opens_an_address() -> None:
    words = "urlopen|http[.]client|QtNetwork|import (requests|httpx|aiohttp|ftplib)"
    found = subprocess.run(
        ["git", "grep", "--untracked", "-l", "-E", words, "--", "core", "gui", "main.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == ["core/digits/fetching.py"]


def test_a_set_is_found_by_its_title_and_what_nobody_knows_is_taken_for_digits() -> None:
    known = find_titled("Fashion-MNIST")
    assert known is SETS["fashion-mnist"]
    assert classes_of("Fashion-MNIST")[1] == "trousers"
    assert not shows_digits("Fashion-MNIST")
    assert find_titled("") is None
    assert classes_of("my letters") == DIGITS
    assert shows_digits("QMNIST")
