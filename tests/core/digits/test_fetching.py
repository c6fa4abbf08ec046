"""The downloader against a server on this machine with every bad manner: what arrives is right, or nothing does."""

import hashlib
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.digits import fetching
from core.digits.downloads import PublishedFile
from core.digits.fetching import DownloadError, fetch_file
from tests.core.commands import ROOT
from tests.core.mirrors import MANNERS, Mirror

CONTENT = random.Random(5).randbytes(100_000)
NAME = "digits.gz"
GOOD = {"well", "without ranges", "without length"}
BAD = sorted(set(MANNERS) - GOOD)
SLOW = {"stalling", "silent"}


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(fetching, "CHUNK_BYTES", 10_000)
    mirror = Mirror({NAME: CONTENT})
    yield mirror
    mirror.close()


@pytest.fixture
def second(mirror: Mirror) -> Iterator[Mirror]:
    second = Mirror({NAME: CONTENT})
    yield second
    second.close()


def file_at(*mirrors: Mirror) -> PublishedFile:
    return PublishedFile(
        NAME, len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), tuple(mirror.url + NAME for mirror in mirrors)
    )


def fetch(folder: Path, *mirrors: Mirror, enough: int = 10**9) -> tuple[bool, list[int]]:
    """Fetch, cancelling once `enough` bytes are here; the outcome, and what progress was told."""
    told: list[int] = [0]
    patience = 0.5 if any(SLOW & set(mirror.manners) for mirror in mirrors) else 30
    outcome = fetch_file(file_at(*mirrors), folder, told.append, lambda: told[-1] >= enough, patience)
    return outcome, told


def assert_arrived(folder: Path) -> None:
    assert [path.name for path in folder.iterdir()] == [NAME]
    assert (folder / NAME).read_bytes() == CONTENT


def half(folder: Path, mirror: Mirror) -> int:
    """Have a download that was cancelled midway; returns how much of it there is."""
    outcome, _ = fetch(folder, mirror, enough=50_000)
    assert outcome is False
    (part,) = folder.iterdir()
    assert part.name == f"{NAME}.part"
    assert part.read_bytes() == CONTENT[: part.stat().st_size]
    mirror.requests.clear()
    return part.stat().st_size


@pytest.mark.parametrize("manner", sorted(GOOD))
def test_a_file_arrives_whole_with_one_request_and_progress_that_only_grows(
    tmp_path: Path, mirror: Mirror, manner: str
) -> None:
    mirror.manners = [manner]
    outcome, told = fetch(tmp_path, mirror)
    assert outcome is True
    assert_arrived(tmp_path)
    assert mirror.requests == [(NAME, None)]
    assert told == sorted(told)
    assert told[-1] == len(CONTENT)
    assert len(told) > 9


@pytest.mark.parametrize("manner", BAD)
def test_a_bad_mirror_is_named_with_what_is_wrong_and_nothing_is_taken_from_it(
    tmp_path: Path, mirror: Mirror, manner: str
) -> None:
    mirror.manners = [manner]
    with pytest.raises(DownloadError) as caught:
        fetch(tmp_path, mirror)
    sentence = str(caught.value)
    assert re.match(rf"{NAME} could not be fetched \(127\.0\.0\.1:\d+: .+\); try again later", sentence)
    assert "\n" not in sentence
    assert len(sentence) < 300
    assert not (tmp_path / NAME).exists()
    for part in tmp_path.iterdir():
        assert part.read_bytes() == CONTENT[: part.stat().st_size]


@pytest.mark.parametrize(
    ("manner", "words"),
    [
        ("truncating", "ended after 50,000 of 100,000 bytes"),
        ("stalling", "does not answer"),
        ("silent", "does not answer"),
        ("announcing too much", "announces 101000 bytes where 100000 are missing"),
        ("a page instead", "announces 65 bytes"),
        ("other bytes", "other bytes than were published"),
        ("not found", "answers 404"),
        ("redirecting to nowhere", "refused"),
    ],
)
def test_the_sentence_says_what_the_mirror_did(tmp_path: Path, mirror: Mirror, manner: str, words: str) -> None:
    mirror.manners = [manner]
    with pytest.raises(DownloadError, match=words):
        fetch(tmp_path, mirror)


@pytest.mark.parametrize("manner", BAD)
def test_after_a_bad_mirror_the_next_one_is_asked(tmp_path: Path, mirror: Mirror, second: Mirror, manner: str) -> None:
    mirror.manners = [manner]
    assert fetch(tmp_path, mirror, second)[0] is True
    assert_arrived(tmp_path)
    assert second.requests


def test_all_mirrors_are_named_when_none_helps(tmp_path: Path, mirror: Mirror, second: Mirror) -> None:
    mirror.manners, second.manners = ["not found"], ["other bytes"]
    hosts = [url.removeprefix("http://").removesuffix("/") for url in (mirror.url, second.url)]
    words = f"{hosts[0]}: answers 404; {hosts[1]}: other bytes than were published"
    with pytest.raises(DownloadError, match=re.escape(words)):
        fetch(tmp_path, mirror, second)


def test_the_next_mirror_goes_on_where_the_first_broke_off(tmp_path: Path, mirror: Mirror, second: Mirror) -> None:
    mirror.manners = ["truncating"]
    assert fetch(tmp_path, mirror, second)[0] is True
    assert_arrived(tmp_path)
    assert second.requests == [(NAME, "bytes=50000-")]


def test_a_mirror_that_breaks_off_again_and_again_is_asked_on_while_it_brings_something(
    tmp_path: Path, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "WORTH_GOING_ON_BYTES", 10_000)
    mirror.manners = ["truncating", "stalling", "truncating", "well"]
    assert fetch(tmp_path, mirror)[0] is True
    assert_arrived(tmp_path)
    assert [asked for _, asked in mirror.requests] == [None, "bytes=50000-", "bytes=75000-", "bytes=87500-"]


def test_a_cancelled_download_goes_on_from_where_it_was(tmp_path: Path, mirror: Mirror) -> None:
    here = half(tmp_path, mirror)
    assert 50_000 <= here < 75_000
    outcome, told = fetch(tmp_path, mirror)
    assert outcome is True
    assert_arrived(tmp_path)
    assert mirror.requests == [(NAME, f"bytes={here}-")]
    assert min(told[1:]) > here


@pytest.mark.parametrize("manner", ["without ranges", "without length"])
def test_a_mirror_without_ranges_is_read_from_its_beginning(tmp_path: Path, mirror: Mirror, manner: str) -> None:
    half(tmp_path, mirror)
    mirror.manners = [manner]
    assert fetch(tmp_path, mirror)[0] is True
    assert_arrived(tmp_path)


def test_what_is_here_is_not_lost_to_a_mirror_without_ranges_that_breaks_off(tmp_path: Path, mirror: Mirror) -> None:
    here = half(tmp_path, mirror)
    mirror.manners = ["truncating, without length"]
    with pytest.raises(DownloadError):
        fetch(tmp_path, mirror)
    assert (tmp_path / f"{NAME}.part").stat().st_size >= here


def test_a_cancel_is_obeyed_before_the_first_request_and_while_known_bytes_pass_by(
    tmp_path: Path, mirror: Mirror
) -> None:
    assert fetch(tmp_path, mirror, enough=0)[0] is False
    assert mirror.requests == []
    here = half(tmp_path, mirror)
    mirror.manners = ["without ranges"]
    asked: list[int] = []
    outcome = fetch_file(file_at(mirror), tmp_path, asked.append, lambda: len(asked) >= 2)
    assert outcome is False
    assert asked == [here, here]


def test_a_killed_process_leaves_what_the_next_one_goes_on_from(tmp_path: Path, mirror: Mirror) -> None:
    mirror.manners = ["stalling", "well"]
    file = file_at(mirror)
    script = f"""
from pathlib import Path
from core.digits.fetching import PublishedFile, fetch_file
fetch_file({file!r}, Path({str(tmp_path)!r}), lambda here: print(here, flush=True), lambda: False, 60)
"""
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for told in process.stdout:
            if int(told) == 50_000:
                break
        process.kill()
    here = (tmp_path / f"{NAME}.part").stat().st_size
    assert fetch(tmp_path, mirror)[0] is True
    assert_arrived(tmp_path)
    assert mirror.requests[-1] == (NAME, f"bytes={here}-" if here else None)


def test_rubbish_from_an_earlier_time_is_thrown_away_and_not_held_against_the_mirror(
    tmp_path: Path, mirror: Mirror
) -> None:
    (tmp_path / f"{NAME}.part").write_bytes(bytes(40_000))
    assert fetch(tmp_path, mirror)[0] is True
    assert_arrived(tmp_path)
    assert mirror.requests == [(NAME, "bytes=40000-"), (NAME, None)]


def test_more_than_the_whole_file_is_none_of_it(tmp_path: Path, mirror: Mirror) -> None:
    (tmp_path / f"{NAME}.part").write_bytes(CONTENT + b"more")
    assert fetch(tmp_path, mirror)[0] is True
    assert_arrived(tmp_path)
    assert mirror.requests == [(NAME, None)]


@pytest.mark.parametrize("name", [NAME, f"{NAME}.part"])
def test_a_file_that_is_here_already_is_checked_and_not_fetched(tmp_path: Path, mirror: Mirror, name: str) -> None:
    (tmp_path / name).write_bytes(CONTENT)
    outcome, told = fetch(tmp_path, mirror)
    assert outcome is True
    assert_arrived(tmp_path)
    assert mirror.requests == []
    assert told[-1] == len(CONTENT)


def test_a_file_that_went_bad_since_it_came_is_fetched_anew(tmp_path: Path, mirror: Mirror) -> None:
    (tmp_path / NAME).write_bytes(bytes(len(CONTENT)))
    assert fetch(tmp_path, mirror)[0] is True
    assert_arrived(tmp_path)


def test_no_more_is_taken_from_an_endless_answer_than_the_file_has(tmp_path: Path, mirror: Mirror) -> None:
    mirror.manners = ["endless"]
    told: list[int] = []
    with pytest.raises(DownloadError, match="other bytes"):
        fetch_file(file_at(mirror), tmp_path, told.append, lambda: False)
    assert max(told) == len(CONTENT)


def test_a_folder_that_cannot_be_written_is_no_mirror_s_fault(tmp_path: Path, mirror: Mirror) -> None:
    with pytest.raises(FileNotFoundError):
        fetch(tmp_path / "absent", mirror)
    assert mirror.requests == []
