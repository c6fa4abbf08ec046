"""A file is written whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from core.atomic_file import UnwritableFileError, write_atomically


def test_a_new_file_holds_the_content_and_has_the_usual_permissions(tmp_path: Path) -> None:
    path, usual = tmp_path / "new", tmp_path / "usual"
    write_atomically(path, b"content")
    usual.touch()
    assert path.read_bytes() == b"content"
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    assert set(tmp_path.iterdir()) == {path, usual}


def test_an_old_file_is_replaced_and_who_has_it_open_still_reads_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old content")
    with path.open("rb") as reader:
        write_atomically(path, b"new")
        assert reader.read() == b"old content"
    assert path.read_bytes() == b"new"


def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_write_that_fails_leaves_the_old_file_and_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UnwritableFileError, match="file cannot be written: No space left on device; choose another"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_only_files_are_replaced_and_no_folder_is_made(tmp_path: Path) -> None:
    folder, pipe = tmp_path / "folder", tmp_path / "pipe"
    folder.mkdir()
    os.mkfifo(pipe)
    for path, complaint in (
        (folder, "is a folder; name a file in it"),
        (pipe, "is not a file that can be replaced; choose another name"),
        (tmp_path / "absent" / "file", "does not exist; make it first"),
        (tmp_path / ("x" * 300), "cannot be written"),
    ):
        with pytest.raises(UnwritableFileError, match=complaint):
            write_atomically(path, b"new")
    assert set(tmp_path.iterdir()) == {folder, pipe}
