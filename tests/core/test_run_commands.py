"""Runs are kept, killed, gone on with and listed as a user does it, real processes included.

The oracle is the same run never broken off: its JSON, but for the seconds, and what its folder tells.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.command_line import run
from core.training import run_folder
from core.training.model_file import load_model
from core.training.run_folder import RunFolder
from tests.core.commands import ROOT, TRAIN_KEYS, Run, the_one_object
from tests.core.training.kept_runs import lines, spoiled, with_header

WORDS = ["--device", "cpu", "--hidden", "8", "--epochs", "2", "--train-limit", "1000", "--validation-digits", "200"]
LONG = ["--device", "cpu", "--hidden", "16", "--optimizer", "adam", "--averaging", "0.9", "--shift-px", "1"]
TIMED = ("train_seconds", "total_seconds", "samples_per_second", "seconds_to_target", "model")


def figures(result: dict[str, Any]) -> dict[str, Any]:
    assert list(result) == TRAIN_KEYS
    return {name: value for name, value in result.items() if name not in TIMED}


def story(folder: Path) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in told.items() if name not in TIMED}
        for told in lines(RunFolder(folder))
        if told["event"] != "TrainingStarted"
    ]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that completed; to be looked at only."""
    folder = tmp_path_factory.mktemp("runs") / "ended"
    assert run(["train", *WORDS, "--run", str(folder)]) == 0
    return folder


@pytest.fixture
def copied(ended: Path, tmp_path: Path) -> Path:
    """The same, to be spoiled."""
    folder = tmp_path / "copied"
    folder.mkdir()
    for path in ended.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def break_off(folder: Path, after_step: int) -> None:
    """As if it had been killed then, without a checkpoint."""
    (folder / "checkpoint.safetensors").unlink()
    kept = [told for told in lines(RunFolder(folder)) if told.get("step", 0) <= after_step and "outcome" not in told]
    (folder / "events.jsonl").write_text("".join(json.dumps(told) + "\n" for told in kept))


def test_a_run_is_kept_where_it_was_told_to_be(inkling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    status, stdout, stderr = inkling("train", *WORDS, "--run", folder, "--json")
    result = the_one_object(stdout)
    assert (status, stderr) == (0, "")
    assert list(result) == TRAIN_KEYS
    weights = load_model(folder / "last.safetensors").weights
    assert RunFolder(folder).info().job.hyperparameters.network == "linear 8 relu, linear 10"
    assert {"linear1.weight", "linear2.bias"} < set(weights)
    _, plain, _ = inkling("train", *WORDS, "--json")
    assert figures(the_one_object(plain)) == figures(result)


def test_a_run_that_ended_says_again_what_it_came_to(inkling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    _, first, _ = inkling("train", *WORDS, "--run", folder, "--json")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    status, again, stderr = inkling("resume", folder, "--json")
    assert (status, stderr) == (0, "")
    assert figures(the_one_object(again)) == figures(the_one_object(first))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert "completed" in inkling("resume", folder)[1]


@pytest.mark.parametrize("after_step", [0, 5])
def test_a_run_broken_off_before_its_first_checkpoint_begins_again(
    inkling: Run, ended: Path, copied: Path, after_step: int
) -> None:
    break_off(copied, after_step)
    status, stdout, stderr = inkling("resume", copied, "--json")
    assert (status, stderr) == (0, "")
    assert story(copied) == story(ended)
    assert figures(the_one_object(stdout)) == figures(the_one_object(inkling("resume", ended, "--json")[1]))


def test_a_run_begun_with_a_network_and_broken_off_before_its_first_checkpoint_begins_with_it_again(
    inkling: Run, ended: Path, tmp_path: Path
) -> None:
    network, folder = tmp_path / "network", tmp_path / "run"
    network.write_bytes((ended / "last.safetensors").read_bytes())
    first = the_one_object(inkling("train", *WORDS, "--start", network, "--run", folder, "--json")[1])
    told = story(folder)
    break_off(folder, 0)
    network.unlink()
    status, stdout, stderr = inkling("resume", folder, "--json")
    assert (status, stderr) == (0, "")
    again = the_one_object(stdout)
    assert story(folder) == told
    for name in ("weights_sha256", "test_accuracy", "test_accuracy_before", "train_loss"):
        assert again[name] == first[name]
    break_off(folder, 0)
    (folder / "start.safetensors").unlink()
    assert "the network that the run began with, is missing or damaged" in refused(inkling, folder)


def test_a_run_killed_between_its_last_checkpoint_and_its_last_word_ends_as_it_would_have(
    inkling: Run, ended: Path, copied: Path
) -> None:
    told = (copied / "events.jsonl").read_bytes().splitlines(keepends=True)
    (copied / "events.jsonl").write_bytes(b"".join(told[:-1]) + told[-1][:40])
    (copied / "last.safetensors").unlink()
    assert inkling("resume", copied)[0] == 0
    assert story(copied) == story(ended)
    mine, other = (load_model(folder / "last.safetensors") for folder in (copied, ended))
    assert (mine.hyperparameters, mine.facts) == (other.hyperparameters, other.facts)
    assert all(np.array_equal(mine.weights[name], other.weights[name]) for name in other.weights)


def test_a_diverged_run_says_so_again(inkling: Run, tmp_path: Path) -> None:
    words = [*WORDS, "--hidden", ",".join(["32"] * 8), "--learning-rate", 100, "--run", tmp_path / "run", "--json"]
    first, again = inkling("train", *words), inkling("resume", tmp_path / "run", "--json")
    assert first[0] == again[0] == 1
    assert first[2].splitlines()[-1] == again[2].splitlines()[-1]
    assert figures(the_one_object(first[1])) == figures(the_one_object(again[1]))


def test_a_folder_in_use_is_refused_whoever_asks(inkling: Run, ended: Path, copied: Path) -> None:
    break_off(copied, 0)
    before = (copied / "events.jsonl").read_bytes()
    with RunFolder(copied).locked():
        for words in (["resume", copied], ["train", *WORDS, "--run", copied]):
            status, stdout, stderr = inkling(*words, "--json")
            assert (status, stdout) == (1, "")
            assert stderr == f"inkling: another window or command is writing to {copied}; end that first\n"
        assert (copied / "events.jsonl").read_bytes() == before
        (listed,) = the_one_object(inkling("runs", "--folder", copied.parent, "--json")[1])["runs"]
        assert listed["state"] == "running"
    assert inkling("resume", copied)[0] == 0
    assert story(copied) == story(ended)


def test_a_folder_that_is_no_new_one_is_refused(inkling: Run, ended: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    for path, complaint in ((ended, "is not empty; name a new folder for the run, or resume"), (file, "not a folder")):
        status, stdout, stderr = inkling("train", *WORDS, "--run", path, "--json")
        assert (status, stdout) == (1, "")
        assert complaint in stderr


@pytest.mark.parametrize("kind", ["absent", "empty folder", "file"])
def test_where_there_is_no_run_none_goes_on_and_nothing_is_made(inkling: Run, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "run"
    if kind == "empty folder":
        path.mkdir()
    elif kind == "file":
        path.write_bytes(b"")
    status, stdout, stderr = inkling("resume", path, "--json")
    assert (status, stdout) == (1, "")
    assert stderr == f"inkling: {path} holds no run; name the folder of one\n"
    assert kind == "file" or not path.exists() or list(path.iterdir()) == []


def refused(inkling: Run, folder: Path) -> str:
    status, stdout, stderr = inkling("resume", folder, "--json")
    assert status in (1, 2)
    assert stdout == ""
    assert stderr.startswith("inkling: ")
    assert stderr.count("\n") == 1
    assert "unexpected" not in stderr
    return stderr


@pytest.mark.parametrize("name", ["run.json", "checkpoint.safetensors"])
def test_a_run_whose_files_are_damaged_is_refused_and_left_as_it_is(inkling: Run, copied: Path, name: str) -> None:
    told = (copied / "events.jsonl").read_bytes().splitlines(keepends=True)
    (copied / "events.jsonl").write_bytes(b"".join(told[:-1]))
    for content in spoiled(copied / name).values():
        (copied / name).write_bytes(content)
        before = {path.name: path.read_bytes() for path in copied.iterdir()}
        assert name in refused(inkling, copied)
        assert {path.name: path.read_bytes() for path in copied.iterdir()} == before


def test_the_checkpoint_of_another_run_is_refused_and_its_events_are_left(
    inkling: Run, copied: Path, tmp_path: Path
) -> None:
    told = (copied / "events.jsonl").read_bytes().splitlines(keepends=True)
    (copied / "events.jsonl").write_bytes(b"".join(told[:-1]))
    before = (copied / "events.jsonl").read_bytes()
    assert inkling("train", *WORDS, "--seed", 3, "--run", tmp_path / "other")[0] == 0
    (copied / "checkpoint.safetensors").write_bytes((tmp_path / "other" / "checkpoint.safetensors").read_bytes())
    assert "does not belong to this run (seed cannot be changed" in refused(inkling, copied)
    assert (copied / "events.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "odd",
    [None, "7", [7], -7, 10**400, float("nan"), float("inf"), 1e-320],
    ids=str,
)
@pytest.mark.parametrize("name", ["samples", "train_seconds", "test_accuracy", "seconds_to_target", "steps"])
def test_the_odd_end_of_a_run_is_refused_or_said_in_sound_json(
    inkling: Run, copied: Path, name: str, odd: object
) -> None:
    *told, end = lines(RunFolder(copied))
    (copied / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (*told, {**end, name: odd})))
    status, stdout, stderr = inkling("resume", copied, "--json")
    if status == 0:
        json.loads(stdout, parse_constant=lambda constant: pytest.fail(constant))
    else:
        assert stderr.startswith(f"inkling: {copied} is damaged (")


def test_an_ended_run_without_its_network_or_with_a_word_too_many_is_refused(inkling: Run, copied: Path) -> None:
    network = (copied / "last.safetensors").read_bytes()
    for content in (b"", with_header(network, format="inkling-checkpoint")):
        (copied / "last.safetensors").write_bytes(content)
        assert f"{copied} is damaged (" in refused(inkling, copied)
    (copied / "last.safetensors").write_bytes(network)
    *told, end = lines(RunFolder(copied))
    for odd in ({**end, "surprise": 1}, {"event": "TrainingEnded", "outcome": "completed"}):
        (copied / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (*told, odd)))
        assert f"{copied} is damaged (" in refused(inkling, copied)


def test_the_device_a_run_began_on_is_the_one_it_goes_on_with(inkling: Run, copied: Path) -> None:
    break_off(copied, 5)
    first, *others = lines(RunFolder(copied))
    told = [{**first, "device_key": "cuda:77"}, *others]
    (copied / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in told))
    assert "cuda:77" in refused(inkling, copied)


RUN_KEYS = [
    "run",
    "state",
    "name",
    "note",
    "created",
    "preset",
    "device",
    "seed",
    "steps",
    "total_steps",
    "train_seconds",
    "validation_accuracy",
    "test_accuracy",
]


def test_runs_lists_what_is_kept_and_what_each_came_to(inkling: Run, ended: Path, copied: Path) -> None:
    damaged = copied.with_name("damaged")
    damaged.mkdir()
    (damaged / "run.json").write_bytes(b"{")
    RunFolder(copied).rename("mine", "a note")
    status, stdout, stderr = inkling("runs", "--folder", copied.parent, "--json")
    mine, broken = the_one_object(stdout)["runs"]
    assert (status, stderr) == (0, "")
    assert list(mine) == RUN_KEYS
    assert list(broken) == ["run", "state", "problem"]
    end = lines(RunFolder(ended))[-1]
    assert (mine["run"], mine["state"], mine["name"], mine["note"]) == (str(copied), "completed", "mine", "a note")
    assert (mine["preset"], mine["device"], mine["seed"]) == ("quick-mlp", "cpu", 0)
    assert (mine["steps"], mine["total_steps"], mine["test_accuracy"]) == (20, 20, end["test_accuracy"])
    assert (broken["run"], broken["state"]) == (str(damaged), "damaged")
    assert "run.json cannot be read" in broken["problem"]


def test_runs_shows_people_a_table_whatever_a_run_is_called(inkling: Run, copied: Path) -> None:
    RunFolder(copied).rename("[/] [red]\x1b[2Jname", "")
    status, stdout, stderr = inkling("runs", "--folder", copied.parent)
    assert (status, stderr) == (0, "")
    assert "completed" in stdout
    assert "\x1b" not in stdout
    assert "[/]" in stdout


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system that takes names of any bytes")
def test_runs_shows_folders_whose_names_are_no_text(inkling: Run, copied: Path) -> None:
    copied.rename(os.fsdecode(os.fsencode(copied.parent) + b"/\xff"))
    for words in ((), ("--json",)):
        status, stdout, _ = inkling("runs", "--folder", copied.parent, *words)
        assert status == 0
        assert "completed" in stdout


def test_without_a_folder_the_window_s_own_runs_are_listed(
    inkling: Run, copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "user_data_path", lambda *_, **__: copied.parent.parent / "none")
    assert the_one_object(inkling("runs", "--json")[1]) == {"runs": []}
    assert inkling("runs")[:2] == (0, f"no runs are kept in {copied.parent.parent / 'none' / 'runs'}\n")
    monkeypatch.setattr(run_folder, "user_data_path", lambda *_, **__: copied.parent)
    copied.parent.joinpath("runs").mkdir()
    copied.rename(copied.parent / "runs" / "run")
    assert len(the_one_object(inkling("runs", "--json")[1])["runs"]) == 1


def test_a_run_that_cannot_be_kept_any_more_goes_on_and_is_saved_elsewhere(
    inkling: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    out, folder = tmp_path / "n.safetensors", tmp_path / "run"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))  # enough for the network in float16
    try:
        status, stdout, stderr = inkling("train", *WORDS, "--run", folder, "--out", out, "--json")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert status == 0
    assert stderr.count("\n") == 1
    assert stderr.startswith("inkling: the run goes on, but is not kept any more: ")
    assert the_one_object(stdout)["outcome"] == "completed"
    assert load_model(out).test_accuracy == pytest.approx(the_one_object(stdout)["test_accuracy"], abs=5e-5)
    monkeypatch.chdir(tmp_path)
    assert sorted(os.listdir(folder)) == ["events.jsonl", "lock", "run.json"]


def start(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(ROOT / "main.py"), *map(str, words)]
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
def test_a_run_killed_at_random_moments_comes_to_the_same_bits(tmp_path: Path) -> None:
    words = [*LONG, "--epochs", "30", "--train-limit", "6000", "--validation-digits", "1000", "--json", "--run"]
    whole, folder, rng = tmp_path / "whole", tmp_path / "run", random.Random(3)
    expected = finished(start("train", *words, whole))
    for _ in range(4):
        process = (
            start("resume", folder, "--json") if (folder / "run.json").exists() else start("train", *words, folder)
        )
        kill_after(process, folder / "events.jsonl", rng.uniform(0.0, 1.5))
        if (folder / "run.json").exists():
            assert RunFolder(folder).info().job == RunFolder(whole).info().job
            RunFolder(folder).checkpoint()
            assert not RunFolder(folder).is_locked()
    assert figures(finished(start("resume", folder, "--json"))) == figures(expected)
    assert story(folder) == story(whole)
    assert not list(folder.glob(".inkling-*"))


def finished(process: subprocess.Popen[str]) -> dict[str, Any]:
    stdout, stderr = process.communicate(timeout=240)
    assert (process.returncode, stderr) == (0, "")
    return the_one_object(stdout)


def kill_after(process: subprocess.Popen[str], events: Path, seconds: float) -> None:
    """Kill it so long after its events were written to, or after an idle minute."""
    begun = time.time()
    while process.poll() is None and time.time() < begun + 60:
        if events.exists() and events.stat().st_mtime > begun:
            break
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    _, stderr = process.communicate()
    assert stderr == ""
