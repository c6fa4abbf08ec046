"""A run's folder tells what it was told, one writer at a time, and nothing in it is trusted."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import VERSION
from core.training import run_folder
from core.training.checkpoint import CheckpointError
from core.training.job import TrainingJob
from core.training.run_folder import RunError, RunFolder, default_runs_folder, new_folder_name
from tests.core.commands import ROOT
from tests.core.training.damage import PIECES
from tests.core.training.kept_runs import lines, small_job, spoiled

JOB = small_job(seed=7, keep_best=True)
TOLD = [
    {"event": "TrainingStarted", "device_key": "cpu"},
    {"event": "StepsCompleted", "step": 5},
    {"event": "HyperparametersChanged", "step": 5},
    {"event": "StepsCompleted", "step": 10},
    {"event": "Evaluated", "step": 10},
    {"event": "HyperparametersChanged", "step": 10},
    {"event": "StepsCompleted", "step": 15},
    {"event": "TrainingEnded", "steps": 15},
]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    folder.create(JOB)
    return folder


def refusal(act: Callable[[], object], path: Path) -> str:
    with pytest.raises(RunError) as caught:
        act()
    sentence = str(caught.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    assert len(sentence) < len(str(path)) + 400
    return sentence


def test_runs_are_kept_where_the_user_s_data_are_and_sorted_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/elsewhere")
    if sys.platform == "linux":
        assert default_runs_folder() == Path("/elsewhere/inkling/runs")
    monkeypatch.setenv("TZ", "UTC")
    now = datetime(2026, 11, 30, 10, 45, 16).astimezone()
    assert new_folder_name(JOB, now) == "2026-11-30 10-45-16 quick-mlp"


def test_a_new_folder_says_what_is_to_be_done_when_and_with_what(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "of" / "runs")
    assert not folder.path.exists()
    job = TrainingJob("quick-mlp", JOB.hyperparameters, "cuda:1", 0.97)
    before = datetime.now(UTC).replace(microsecond=0)
    folder.create(job)
    values = json.loads((folder.path / "run.json").read_text("utf-8"))
    created = datetime.fromisoformat(values.pop("created"))
    assert before <= created <= datetime.now(UTC)
    versions = values.pop("versions")
    assert versions["inkling"] == VERSION
    assert sys.version.startswith(versions["python"])
    assert values == {
        "format": "inkling-run",
        "format_version": 1,
        "preset": "quick-mlp",
        "hyperparameters": JOB.hyperparameters.as_dict(),
        "device": "cuda:1",
        "until_accuracy": 0.97,
        "data": "mnist",
        "mine": 0.0,
        "my_digits": None,
        "start": False,
        "seed": 7,
        "name": "",
        "note": "",
    }
    assert folder.info().job == job
    assert folder.checkpoint() is None
    assert list(folder.events()) == []


def test_a_folder_with_something_in_it_is_left_as_it_is(tmp_path: Path, folder: RunFolder) -> None:
    before = (folder.path / "run.json").read_bytes()
    assert "is not empty; name a new folder" in refusal(lambda: folder.create(small_job()), folder.path)
    assert (folder.path / "run.json").read_bytes() == before
    file = tmp_path / "file"
    file.write_bytes(b"content")
    assert "is not a folder" in refusal(lambda: RunFolder(file).create(JOB), file)
    assert "cannot be made: Not a directory" in refusal(lambda: RunFolder(file / "run").create(JOB), file)
    assert file.read_bytes() == b"content"
    (tmp_path / "empty").mkdir()
    RunFolder(tmp_path / "empty").create(JOB)
    assert RunFolder(tmp_path / "empty").info().job == JOB


def test_a_name_and_a_note_are_kept_with_all_the_rest(folder: RunFolder) -> None:
    before = folder.info()
    folder.rename("Größe ✎", "first line\nsecond")
    after = folder.info()
    assert (after.name, after.note) == ("Größe ✎", "first line\nsecond")
    assert (after.job, after.created, after.versions) == (before.job, before.created, before.versions)
    folder.rename("x" * 1000 + "\ud800", "y" * 100_000)
    assert (folder.info().name, len(folder.info().note)) == ("x" * 200, 20_000)
    folder.rename("\ud800", "")
    assert folder.info().name == "?"


def described(**changes: Any) -> Callable[[dict[str, Any]], object]:
    return lambda values: {name: value for name, value in {**values, **changes}.items() if value != "absent"}


def chosen(**changes: Any) -> Callable[[dict[str, Any]], object]:
    return lambda values: {**values, "hyperparameters": {**values["hyperparameters"], **changes}}


WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "a list": lambda values: [values],
    "null": lambda _: None,
    "of another kind": described(format="inkling-network"),
    "of another version": described(format_version=2),
    "no version": described(format_version="absent"),
    "no preset": described(preset="absent"),
    "a preset that is none": described(preset="x" * 9999),
    "a preset in a list": described(preset=["quick-mlp"]),
    "no hyperparameters": described(hyperparameters="absent"),
    "hyperparameters a text": described(hyperparameters="linear 10"),
    "hyperparameters beyond their range": chosen(epochs=10**300),
    "hyperparameters that are no numbers": chosen(learning_rate=float("nan")),
    "an unknown hyperparameter": chosen(colour="red"),
    "a network that is none": chosen(network="linear 10, " * 100_000),
    "no device": described(device="absent"),
    "a device with a path in it": described(device="../../etc"),
    "a device in a table": described(device={"cpu": 1}),
    "a device of many words": described(device="cpu" * 100),
    "a target above all": described(until_accuracy=1.5),
    "a target of nothing": described(until_accuracy=0),
    "a target that is no number": described(until_accuracy=float("nan")),
    "a target in a text": described(until_accuracy="0.97"),
    "no name": described(name="absent"),
    "a name that is no text": described(name=7),
    "a name that cannot be written": described(name="\ud800"),
    "a note that is no text": described(note=["line"]),
    "created at a number": described(created=1_700_000_000),
    "versions a text": described(versions="1"),
    "versions of numbers": described(versions={"inkling": 1}),
    "no versions": described(versions="absent"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_folder_that_describes_no_run_is_refused(folder: RunFolder, kind: str) -> None:
    path = folder.path / "run.json"
    values = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(WRONG[kind](values)))
    sentence = refusal(folder.info, path)
    assert "cannot be read (" in sentence
    assert sentence.endswith("the run in it cannot go on")


def test_every_damaged_description_is_refused(folder: RunFolder) -> None:
    path = folder.path / "run.json"
    for content in (*spoiled(path).values(), b" " * 2_000_000):
        path.write_bytes(content)
        assert "cannot be read (" in refusal(folder.info, path)


@pytest.mark.parametrize("kind", ["absent", "folder", "pipe", "device"])
def test_a_folder_without_a_description_holds_no_run(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "run.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    assert refusal(RunFolder(tmp_path).info, tmp_path).endswith("holds no run; name the folder of one")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, bytes]:
    """A folder whose description the examples below write over and over, and the good one."""
    folder = RunFolder(tmp_path_factory.mktemp("fuzz") / "run")
    folder.create(JOB)
    return folder, (folder.path / "run.json").read_bytes()


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    position=st.floats(0, 1),
    removed=st.integers(0, 12),
    inserted=st.sampled_from(PIECES),
)
def test_a_rewritten_description_is_refused_or_a_run(
    scratch: tuple[RunFolder, bytes], position: float, removed: int, inserted: bytes
) -> None:
    folder, good = scratch
    at = int(position * len(good))
    (folder.path / "run.json").write_bytes(good[:at] + inserted + good[at + removed :])
    with contextlib.suppress(RunError):
        info = folder.info()
        folder.rename(info.name, info.note)
        assert folder.info() == info


def write_events(folder: RunFolder, content: bytes) -> None:
    (folder.path / "events.jsonl").write_bytes(content)


def as_lines(*told: object) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in told)


@pytest.mark.parametrize(
    "damage",
    [
        b'{"event": "Evaluated", "st',
        b'{"event": "Evaluated", "step": 7}',
        b"\n",
        b"\0\0\0\0\n",
        b"\xff\n",
        b"null\n",
        b"[]\n",
        b'{"step": 7}\n',
        b'{"event": 7}\n',
        b"[" * 50_000 + b"\n",
        b'{"event": "Evaluated", "step": ' + b"9" * 5000 + b"}\n",
        b'{"event": "' + b"x" * 100_000 + b'"}\n',
    ],
    ids=lambda damage: repr(damage[:20]),
)
def test_events_are_read_up_to_where_they_are_damaged(folder: RunFolder, damage: bytes) -> None:
    write_events(folder, as_lines(*TOLD[:3]) + damage)
    assert list(folder.events()) == TOLD[:3]
    write_events(folder, as_lines(*TOLD[:3]) + damage + b"\n" + as_lines(*TOLD[3:]))
    assert list(folder.events())[:3] == TOLD[:3]
    folder.go_back_to(100)
    assert lines(folder)[:3] == TOLD[:3]


def test_of_a_file_of_events_without_end_only_the_beginning_is_read(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_events(folder, as_lines(*TOLD))
    monkeypatch.setattr(run_folder, "MAX_EVENTS_BYTES", len(as_lines(*TOLD[:4])) + 5)
    assert list(folder.events()) == TOLD[:4]


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_is_no_file_of_events_tells_nothing_and_is_not_waited_for(folder: RunFolder, kind: str) -> None:
    path = folder.path / "events.jsonl"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    assert list(folder.events()) == []


@pytest.mark.parametrize(
    ("step", "kept"),
    [(0, []), (5, TOLD[:2]), (9, TOLD[:3]), (10, TOLD[:5]), (14, TOLD[:6]), (15, TOLD[:7]), (99, TOLD[:7])],
)
def test_what_is_about_to_be_done_again_is_forgotten(folder: RunFolder, step: int, kept: list[Any]) -> None:
    """A change that was told at the very step of the checkpoint came after it: it counts from the next step on."""
    write_events(folder, as_lines(*TOLD))
    folder.go_back_to(step)
    assert lines(folder) == kept


def test_what_a_crash_left_half_written_is_cleared_away(folder: RunFolder) -> None:
    (folder.path / ".inkling-0123456789abcdef").write_bytes(b"half a checkpoint")
    (folder.path / "mine.txt").write_bytes(b"not yours")
    folder.go_back_to(0)
    assert sorted(os.listdir(folder.path)) == ["events.jsonl", "lock", "mine.txt", "run.json"]


def test_a_checkpoint_that_cannot_be_read_is_no_missing_one(folder: RunFolder) -> None:
    (folder.path / "checkpoint.safetensors").write_bytes(b"")
    with pytest.raises(CheckpointError):
        folder.checkpoint()


def test_only_one_writes_at_a_time(folder: RunFolder) -> None:
    other = RunFolder(folder.path)
    assert not other.is_locked()
    with folder.locked():
        with folder.locked():  # who holds it may take it again
            pass
        assert other.is_locked()
        assert "another window or command is writing to" in refusal(other.locked().__enter__, folder.path)
    assert not other.is_locked()
    with other.locked():
        assert folder.is_locked()


def test_who_only_asks_does_not_turn_a_writer_away(folder: RunFolder) -> None:
    held, done = threading.Event(), threading.Event()

    def ask() -> None:
        with RunFolder(folder.path).locked():  # as is_locked does, for a moment
            held.set()
            done.wait(0.2)

    thread = threading.Thread(target=ask)
    thread.start()
    held.wait()
    with folder.locked():
        done.set()
    thread.join()


@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
def test_the_lock_of_another_process_counts_and_goes_when_it_is_killed(folder: RunFolder) -> None:
    program = (
        "import sys, time; from pathlib import Path; from core.training.run_folder import RunFolder\n"
        "with RunFolder(Path(sys.argv[1])).locked(): print('held', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, folder.path], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert folder.is_locked()
        refusal(folder.locked().__enter__, folder.path)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not folder.is_locked()
        with folder.locked():
            pass
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("kind", ["folder", "link to itself"])
def test_a_lock_that_cannot_be_taken_is_refused(folder: RunFolder, kind: str) -> None:
    lock = folder.path / "lock"
    lock.unlink(missing_ok=True)
    if kind == "folder":
        lock.mkdir()
    else:
        lock.symlink_to(lock)
    assert "cannot be written" in refusal(folder.locked().__enter__, folder.path)
    assert not folder.is_locked()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder where nobody may write, not even root")
def test_a_folder_that_may_not_be_written_is_refused_with_the_system_s_reason() -> None:
    path = Path("/sys/kernel/run")
    assert "cannot be made: " in refusal(lambda: RunFolder(path).create(JOB), path)
    held = RunFolder(Path("/sys/kernel"))
    assert "cannot be written: " in refusal(held.locked().__enter__, held.path)
    assert not held.is_locked()


def test_the_set_and_the_share_of_own_digits_are_kept_and_older_folders_have_mnist_alone(tmp_path: Path) -> None:
    wanted = replace(JOB, data="a folder of mine", mine=0.25, my_digits=tmp_path / "mine.jsonl")
    folder = RunFolder(tmp_path / "run")
    folder.create(wanted)
    assert folder.info().job == wanted
    values = json.loads((folder.path / "run.json").read_text("utf-8"))
    for name in ("data", "mine", "my_digits"):
        del values[name]
    (folder.path / "run.json").write_text(json.dumps(values))
    assert folder.info().job == JOB


@pytest.mark.parametrize("change", [{"data": 3}, {"mine": 0.95}, {"mine": True}, {"my_digits": 3}])
def test_a_set_or_a_share_that_cannot_be_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.create(JOB)
    values = json.loads((folder.path / "run.json").read_text("utf-8"))
    (folder.path / "run.json").write_text(json.dumps({**values, **change}))
    with pytest.raises(RunError, match="cannot be read"):
        folder.info()
