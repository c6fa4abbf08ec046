"""Settings in their file: read back as written, and never a reason not to open."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from gui.settings import Settings, SettingsFile

CHOSEN = Settings(b"\x00\xffgeometry,;=", (292, 688, 300), 2, "cuda:0", "quick-mlp", "epoch", True, "/a, b/ü", "run 1")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.ini"


def test_what_is_written_is_read_back(path: Path) -> None:
    SettingsFile(path).write(CHOSEN)
    assert SettingsFile(path).read() == CHOSEN
    SettingsFile(path).write(Settings())
    assert SettingsFile(path).read() == Settings()


def test_without_a_file_all_is_as_at_the_first_start(path: Path) -> None:
    assert SettingsFile(path).read() == Settings()
    assert list(path.parent.iterdir()) == []


def test_a_setting_that_is_missing_has_its_first_value(path: Path) -> None:
    SettingsFile(path).write(CHOSEN)
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("device")))
    assert SettingsFile(path).read() == replace(CHOSEN, device="")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff\x13rubbish" * 100,
        b"[General]\n",
        b"[General]\nversion=2\n",
        b"[General]\nversion=1\ntab=first\n",
        b"[General]\nversion=1\nlogarithmic=perhaps\n",
        b"[General]\nversion=1\nsplitter=1 -5 3\n",
        b"[General]\nversion=1\nsplitter=1, 2, 3\n",
        b"[General]\nversion=1\ngeometry=%%%\n",
        b"[General]\nversion=1\ngeometry=@ByteArray(abc)\n",
        b"[General]\nversion=1\ndevice=@Variant(\\0\\0\\0\\x8)\n",
        b"x" * (2**20 + 1),
    ],
)
def test_a_damaged_file_is_set_aside_and_changes_nothing(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert SettingsFile(path).read() == Settings()
    assert not path.exists()
    assert path.with_name("settings.ini.damaged").read_bytes() == content
    SettingsFile(path).write(CHOSEN)
    assert SettingsFile(path).read() == CHOSEN


def test_a_folder_in_its_place_is_set_aside(path: Path) -> None:
    path.mkdir()
    assert SettingsFile(path).read() == Settings()
    assert path.with_name("settings.ini.damaged").is_dir()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_set_aside(path: Path) -> None:
    SettingsFile(path).write(CHOSEN)
    path.chmod(0)
    assert SettingsFile(path).read() == Settings()


def test_where_nothing_can_be_written_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    SettingsFile(tmp_path / "file" / "settings.ini").write(CHOSEN)
    assert (tmp_path / "file").read_text() == "in the way"
