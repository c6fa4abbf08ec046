"""Saving a network: a file is the old one or the new one, and whether it can be written is known beforehand.

Failing writes are real ones: folders that are missing or none, names taken by a folder, a limit on the size of files
set by the system.
"""

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.training.model_file import Model, ModelFileError, check_can_save, load_model, save_model
from tests.core.training.damage import files_limited_to
from tests.core.training.saved_models import CHOSEN, MODEL, WEIGHTS


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("value", [65520.0, -1e6, 3e38])
def test_weights_too_large_for_float16_are_refused_with_the_way_out_and_nothing_is_written(
    tmp_path: Path, value: float
) -> None:
    weights = {**WEIGHTS, "linear1.bias": np.array([1, value], np.float32)}
    model = Model("quick-mlp", CHOSEN, weights)
    with pytest.raises(ModelFileError, match=r"too large for float16; save n\.safetensors as float32 instead"):
        save_model(tmp_path / "n.safetensors", model)
    assert files_in(tmp_path) == []
    save_model(tmp_path / "n.safetensors", model, "float32")
    assert load_model(tmp_path / "n.safetensors").weights["linear1.bias"].tolist() == [1, np.float32(value)]


def test_the_largest_float16_is_saved_as_it_is(tmp_path: Path) -> None:
    weights = {**WEIGHTS, "linear1.bias": np.array([65504, -65504], np.float32)}
    save_model(tmp_path / "n.safetensors", Model("quick-mlp", CHOSEN, weights))
    assert load_model(tmp_path / "n.safetensors").weights["linear1.bias"].tolist() == [65504, -65504]


@pytest.mark.parametrize("stored_as", ["float16", "float32"])
def test_weights_that_are_not_finite_are_not_saved(tmp_path: Path, stored_as: str) -> None:
    weights = {**WEIGHTS, "linear1.bias": np.array([1, np.nan], np.float32)}
    with pytest.raises(ModelFileError):
        save_model(tmp_path / "n.safetensors", Model("quick-mlp", CHOSEN, weights), stored_as)
    assert files_in(tmp_path) == []


def test_saving_replaces_the_file_that_was_there_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "n.safetensors"
    path.write_bytes(b"something old")
    save_model(path, MODEL)
    assert load_model(path).preset == "quick-mlp"
    assert files_in(tmp_path) == ["n.safetensors"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of files as POSIX has them")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_saved_file_may_be_read_by_whom_the_user_s_mask_allows(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        save_model(tmp_path / "n.safetensors", MODEL)
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "n.safetensors").stat().st_mode) == mode


def test_a_write_that_breaks_off_leaves_the_old_file_as_it_was_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "n.safetensors"
    save_model(path, MODEL)
    before = path.read_bytes()
    with files_limited_to(1000), pytest.raises(ModelFileError, match=r"cannot be written: .*; choose another place"):
        save_model(path, Model("quick-mlp", CHOSEN, {name: 2 * w for name, w in WEIGHTS.items()}))
    assert path.read_bytes() == before
    assert files_in(tmp_path) == ["n.safetensors"]


def test_saving_in_place_of_a_folder_is_refused_and_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "n.safetensors").mkdir()
    with pytest.raises(ModelFileError, match=r"n\.safetensors is a folder; name a file in it"):
        save_model(tmp_path / "n.safetensors", MODEL)
    assert files_in(tmp_path) == ["n.safetensors"]


@pytest.mark.skipif(os.name != "posix", reason="asks the system as POSIX does")
def test_the_longest_name_the_system_allows_can_be_saved_to(tmp_path: Path) -> None:
    path = tmp_path / ("n" * os.pathconf(tmp_path, "PC_NAME_MAX"))
    check_can_save(path)
    save_model(path, MODEL)
    assert load_model(path).preset == "quick-mlp"


def test_finding_out_whether_a_file_can_be_saved_leaves_all_as_it_is(tmp_path: Path) -> None:
    check_can_save(tmp_path / "new.safetensors")
    (tmp_path / "old.safetensors").write_bytes(b"old")
    check_can_save(tmp_path / "old.safetensors")
    assert (tmp_path / "old.safetensors").read_bytes() == b"old"
    assert files_in(tmp_path) == ["old.safetensors"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("folder", "is a folder; name a file in it"),
        ("absent/n.safetensors", "does not exist; make it first"),
        ("file/n.safetensors", "does not exist; make it first"),
        ("n" * 300, "cannot be written"),
    ],
    ids=["a folder", "in an absent folder", "in a file", "too long a name"],
)
def test_a_place_where_nothing_can_be_saved_is_known_beforehand(tmp_path: Path, name: str, complaint: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ModelFileError, match=complaint) as caught:
        check_can_save(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize("kind", ["missing", "a file"])
def test_saving_into_a_folder_that_is_none_is_refused(tmp_path: Path, kind: str) -> None:
    if kind == "a file":
        (tmp_path / "sub").write_bytes(b"x")
    path = tmp_path / "sub" / "n.safetensors"
    with pytest.raises(ModelFileError, match="does not exist; make it first") as caught:
        save_model(path, MODEL)
    assert str(path) in str(caught.value)
    assert files_in(tmp_path) == (["sub"] if kind == "a file" else [])


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder where nobody may write, not even root")
def test_saving_into_a_folder_that_may_not_be_written_is_refused_with_the_system_s_reason() -> None:
    for attempt in (check_can_save, lambda path: save_model(path, MODEL)):
        with pytest.raises(ModelFileError, match=r"cannot be written: (Permission denied|Read-only|Operation not)"):
            attempt(Path("/sys/n.safetensors"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("act", [check_can_save, lambda path: save_model(path, MODEL)])
def test_a_pipe_is_not_replaced_by_a_file(tmp_path: Path, act: Callable[[Path], None]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ModelFileError, match="not a file that can be replaced; choose another name"):
        act(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_and_the_file_it_points_at_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    save_model(link, MODEL)
    assert link.is_symlink()
    assert load_model(target).preset == "quick-mlp"


def test_a_link_into_a_folder_that_is_missing_is_found_out_beforehand(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "absent" / "n.safetensors")
    with pytest.raises(ModelFileError, match=r"the folder of .* does not exist; make it first"):
        check_can_save(tmp_path / "link")
