"""A checkpoint comes back from its file bit for bit, and a file that is none is refused in one sentence."""

import contextlib
import json
import os
import struct
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from core.atomic_file import UnwritableFileError
from core.training import checkpoint as checkpoint_file
from core.training.checkpoint import (
    Checkpoint,
    CheckpointError,
    LearnerState,
    Progress,
    load_checkpoint,
    save_checkpoint,
)
from core.training.hyperparameters import Hyperparameters
from tests.core.training.damage import PIECES
from tests.core.training.kept_runs import spoiled, with_header

PROGRESS = Progress(7, 20, 700, 0.125, 2.25, True, (0.875, 5), True)
RNG = np.random.default_rng(4)
STATE = LearnerState(
    {
        "parameters": RNG.normal(0, 1, 30).astype(np.float32),
        "state": np.zeros(0, np.float64),
        "loss_sum": np.array(-0.0),
        "right_sum": np.array(3),
        "odd numbers": np.array([np.nan, np.inf, -np.inf, 5e-324]),
    },
    {"optimizer_steps": 7, "generators": [np.random.default_rng(2**70).bit_generator.state]},
)
WEIGHTS = {"linear1.weight": RNG.normal(0, 1, (5, 6)).astype(np.float32), "linear1.bias": np.zeros(5, np.float32)}
CHOSEN = Hyperparameters("linear 3 relu, linear 10", seed=9, learning_rate=1 / 3)
CHECKPOINT = Checkpoint(CHOSEN, PROGRESS, STATE, WEIGHTS, {"linear1.weight": WEIGHTS["linear1.weight"].T})


def written(folder: Path) -> bytes:
    path = folder / "good"
    save_checkpoint(path, CHECKPOINT)
    return path.read_bytes()


def refusal_of(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(path)
    sentence = str(caught.value)
    assert str(path) in sentence
    assert sentence.endswith("start the run anew")
    assert "\n" not in sentence
    assert len(sentence) < len(str(path)) + 400
    return sentence


def bits(arrays: Any) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}


@pytest.mark.parametrize(
    "progress", [PROGRESS, Progress(0, 5, 0, 0.0, None, False, None), replace(PROGRESS, train_loss=-1e300)], ids=str
)
def test_it_comes_back_bit_for_bit(tmp_path: Path, progress: Progress) -> None:
    path = tmp_path / "c"
    save_checkpoint(path, replace(CHECKPOINT, progress=progress))
    back = load_checkpoint(path)
    assert (back.hyperparameters, back.progress) == (CHOSEN, progress)
    assert bits(back.learner.arrays) == bits(STATE.arrays)
    assert back.learner.counters == STATE.counters
    assert (bits(back.published), bits(back.best)) == (bits(WEIGHTS), bits(CHECKPOINT.best))
    for arrays in (back.learner.arrays, back.published, back.best):
        assert not any(array.flags.writeable for array in arrays.values())


def test_a_write_that_fails_leaves_the_checkpoint_before_it(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "c"
    save_checkpoint(path, CHECKPOINT)
    before = path.read_bytes()
    larger = replace(CHECKPOINT, best={"w": np.zeros(100_000)})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(UnwritableFileError, match=r"c cannot be written: .+; choose another place"):
            save_checkpoint(path, larger)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["c"]


@pytest.mark.parametrize(
    "change",
    [
        {"step": -1},
        {"step": 21},
        {"step": True},
        {"step": 1.0},
        {"total_steps": 2**53},
        {"samples": "700"},
        {"train_seconds": float("nan")},
        {"train_seconds": None},
        {"train_loss": float("inf")},
        {"train_loss": 10**400},
        {"published": 1},
        {"evaluation_due": None},
        {"best": (float("nan"), 5)},
        {"best": (0.5, -5)},
        {"best": (0.5, "5")},
    ],
    ids=str,
)
def test_progress_that_cannot_be_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^(its|what was) "):
        replace(PROGRESS, **change)


def described(**changes: Any) -> Callable[[bytes], bytes]:
    return lambda content: with_header(content, **changes)


def progress(**changes: Any) -> Callable[[bytes], bytes]:
    values = {name: value for name, value in {**asdict(PROGRESS), **changes}.items() if value != "absent"}
    return described(progress=json.dumps(values))


WRONG: dict[str, Callable[[bytes], bytes]] = {
    "of another kind": described(format="inkling-network"),
    "of another version": described(format_version="1"),
    "without a version": described(format_version=None),
    "no progress": described(progress=None),
    "progress no JSON": described(progress="{"),
    "progress a list": described(progress="[]"),
    "progress nested": described(progress="[" * 100_000),
    "progress with a word too many": progress(surprise=1),
    "progress with a word that is no text": progress(**{"\ud800": 1}),
    "progress with a word too few": progress(samples="absent"),
    "progress without a best": progress(best="absent"),
    "steps infinite": progress(step=float("inf")),
    "steps of 400 digits": progress(step=10**400),
    "steps below 0": progress(step=-1),
    "best of three": progress(best=[1, 2, 3]),
    "best a number": progress(best=0.5),
    "best a text": progress(best="ab"),
    "no counters": described(counters=None),
    "counters null": described(counters="null"),
    "no hyperparameters": described(hyperparameters=None),
    "hyperparameters that cannot be": described(hyperparameters=json.dumps({**CHOSEN.as_dict(), "epochs": 0})),
    "hyperparameters a number": described(hyperparameters="7"),
    "a number of 5,000 digits": described(counters='{"optimizer_steps": ' + "9" * 5000 + "}"),
    "no metadata": lambda _: save({"a": np.zeros(3)}),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_describes_no_checkpoint_is_refused(tmp_path: Path, kind: str) -> None:
    refusal_of(tmp_path / "bad", WRONG[kind](written(tmp_path)))


def test_every_damaged_file_is_refused(tmp_path: Path) -> None:
    written(tmp_path)
    for content in spoiled(tmp_path / "good").values():
        refusal_of(tmp_path / "bad", content)


@pytest.mark.parametrize(
    ("dtype", "count"),
    [("BF16", 4), ("F16", 4), ("F8_E4M3", 8), ("F8_E5M2", 8), ("F4", 16), ("C64", 1), ("BOOL", 8), ("U64", 1)],
)
def test_arrays_of_dtypes_that_no_run_has_are_refused(tmp_path: Path, dtype: str, count: int) -> None:
    good = written(tmp_path)
    length = struct.unpack("<Q", good[:8])[0]
    header = json.loads(good[8 : 8 + length])
    header["learner/x"] = {
        "dtype": dtype,
        "shape": [count],
        "data_offsets": [len(good) - length - 8, len(good) - length],
    }
    head = json.dumps(header).encode()
    content = struct.pack("<Q", len(head)) + head + good[8 + length :] + bytes(8)
    assert "numbers of a type that no run has" in refusal_of(tmp_path / "bad", content)


@pytest.mark.parametrize("dtype", ["X", ""])
def test_arrays_of_dtypes_that_do_not_exist_are_refused(tmp_path: Path, dtype: str) -> None:
    tensors = {"learner/parameters": {"dtype": dtype, "shape": [4], "data_offsets": [0, 8]}}
    head = json.dumps({**tensors, "__metadata__": {"format": "inkling-checkpoint", "format_version": "1"}}).encode()
    refusal_of(tmp_path / "bad", struct.pack("<Q", len(head)) + head + bytes(8))


def test_a_generator_that_could_draw_for_ever_is_refused(tmp_path: Path) -> None:
    # 64 ones, and after them ever again the same: no row of a shuffle is as large as that.
    ones, factor = 2**64 - 1, 0x2360ED051FC65DA44385DF649FCCF645
    stuck = np.random.default_rng(0)
    stuck.bit_generator.state = {
        **stuck.bit_generator.state,
        "state": {"state": ones, "inc": ones * (1 - factor) % 2**128},
    }
    assert stuck.bit_generator.random_raw(3).tolist() == [ones] * 3
    state = stuck.bit_generator.state
    content = described(counters=json.dumps({"generators": [state]}))(written(tmp_path))
    assert "generators of random numbers would not go on" in refusal_of(tmp_path / "bad", content)


@pytest.mark.parametrize("kind", ["absent", "folder", "pipe", "device"])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "c"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    with pytest.raises(CheckpointError, match="is not a file"):
        load_checkpoint(path)


def test_a_file_too_large_to_be_one_is_not_even_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path)
    monkeypatch.setattr(checkpoint_file, "MAX_BYTES", 100)
    monkeypatch.setattr(checkpoint_file, "safe_open", None)
    with pytest.raises(CheckpointError, match="it is too large"):
        load_checkpoint(tmp_path / "good")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good checkpoint, and a file beside it that the examples below write over and over."""
    folder = tmp_path_factory.mktemp("fuzz")
    written(folder)
    return folder


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    position=st.floats(0, 1),
    removed=st.integers(0, 12),
    inserted=st.sampled_from(PIECES),
    keep_length=st.booleans(),
)
def test_a_file_with_a_rewritten_header_is_refused_or_a_checkpoint(
    scratch: Path, position: float, removed: int, inserted: bytes, keep_length: bool
) -> None:
    good = (scratch / "good").read_bytes()
    end = 8 + struct.unpack("<Q", good[:8])[0]
    at = 8 + int(position * (end - 8))
    header = good[8:at] + inserted + good[at + removed : end]
    length = good[:8] if keep_length else struct.pack("<Q", len(header))
    (scratch / "bad").write_bytes(length + header + good[end:])
    with contextlib.suppress(CheckpointError):
        back = load_checkpoint(scratch / "bad")
        assert 0 <= back.progress.step <= back.progress.total_steps
