"""The ledger tells of every kept run what it came to, and is never brought down by a folder."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.digits.dataset import Splits
from core.training.events import Evaluated, StepsCompleted
from core.training.ledger import Curve, list_runs, number, summarize
from core.training.run_folder import RunFolder
from tests.core.training.kept_runs import keep, lines, small_job, spoiled
from tests.core.training.runs import StopsItself, end_of, of_kind


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "run")


def tell(folder: RunFolder, *events: dict[str, Any]) -> None:
    with (folder.path / "events.jsonl").open("a") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)


def test_a_run_that_completed(folder: RunFolder, splits: Splits) -> None:
    run = small_job(seed=4)
    events = keep(folder, run, splits)
    summary, end = summarize(folder), end_of(events)
    assert (summary.path, summary.info.job, summary.state) == (folder.path, run, "completed")
    assert (summary.device_key, summary.steps, summary.total_steps) == ("cpu", 20, 20)
    assert summary.train_seconds == end.train_seconds
    assert (summary.test_accuracy, summary.validation_accuracy) == (end.test_accuracy, end.validation_accuracy)
    assert not summary.can_go_on
    assert summary.ended == lines(folder)[-1]
    for split, told in (("train", of_kind(StepsCompleted, events)), ("validation", of_kind(Evaluated, events))):
        assert summary.curves[split] == Curve(
            tuple(event.samples for event in told),
            tuple(event.train_seconds for event in told),
            tuple(event.accuracy for event in told),
        )
    assert "test" not in summary.curves


@pytest.mark.parametrize(
    ("outcome", "can_go_on"),
    [("completed", False), ("target", False), ("diverged", False), ("stopped", True), ("failed", True)],
)
def test_the_state_is_the_outcome(folder: RunFolder, outcome: str, can_go_on: bool) -> None:
    folder.create(small_job())
    tell(folder, {"event": "TrainingEnded", "outcome": outcome, "steps": 12})
    assert (summarize(folder).state, summarize(folder).steps) == (outcome, 12)
    assert summarize(folder).can_go_on == can_go_on


def test_a_run_that_broke_off_without_a_word(folder: RunFolder, splits: Splits) -> None:
    events = keep(folder, small_job(), splits)
    told = (folder.path / "events.jsonl").read_bytes().splitlines(keepends=True)
    (folder.path / "events.jsonl").write_bytes(b"".join(told[:-1]) + told[-1][:30])
    summary = summarize(folder)
    assert (summary.state, summary.can_go_on, summary.ended) == ("interrupted", True, None)
    assert summary.steps == 20
    assert summary.validation_accuracy == of_kind(Evaluated, events)[-1].accuracy
    assert summary.test_accuracy is None


def test_a_run_that_has_not_begun(folder: RunFolder) -> None:
    folder.create(small_job(device="cuda:1"))
    summary = summarize(folder)
    assert (summary.state, summary.can_go_on, summary.device_key) == ("interrupted", True, "cuda:1")
    assert (summary.steps, summary.total_steps, summary.train_seconds, summary.curves) == (0, 0, 0.0, {})


def test_a_run_that_somebody_is_writing(folder: RunFolder, splits: Splits) -> None:
    keep(folder, small_job(), splits, StopsItself(12))
    assert summarize(folder).state == "stopped"
    with RunFolder(folder.path).locked():
        assert (summarize(folder).state, summarize(folder).can_go_on) == ("running", False)
    assert summarize(folder).can_go_on


def test_a_run_made_longer_on_the_way_has_more_steps_to_do(folder: RunFolder) -> None:
    folder.create(small_job())
    tell(folder, {"event": "TrainingStarted", "device_key": "cpu", "total_steps": 30})
    tell(folder, {"event": "HyperparametersChanged", "step": 4, "total_steps": 50})
    assert (summarize(folder).steps, summarize(folder).total_steps) == (4, 50)


ODD: list[Any] = [None, True, "7", [7], {"a": 7}, -1, 10**400, float("nan"), float("inf"), 1e300, [[]] * 100, "\ud800"]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:20])
def test_odd_values_in_events_are_passed_over(folder: RunFolder, odd: Any) -> None:
    folder.create(small_job())
    tell(folder, {"event": "TrainingStarted", "device_key": odd, "total_steps": odd})
    good = {"event": "Evaluated", "step": 5, "samples": 500, "train_seconds": 1.5, "accuracy": 0.5, "split": "test"}
    tell(folder, good)
    for name in ("samples", "train_seconds", "accuracy", "split"):
        if name == "accuracy" or odd not in (-1, 1e300):
            tell(folder, {**good, name: odd})
    tell(folder, {"event": "TrainingEnded", "outcome": odd, "test_accuracy": odd})
    summary = summarize(folder)
    assert (summary.state, summary.device_key) == ("interrupted", "cpu")
    assert summary.curves == {"test": Curve((500.0,), (1.5,), (0.5,))}
    assert summary.test_accuracy == 0.5
    json.dumps([summary.steps, summary.total_steps, summary.train_seconds], allow_nan=False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, 3.0), (-0.5, -0.5), (True, None), ("3", None), (10**400, None), (float("inf"), None), (None, None)],
)
def test_a_number_is_a_finite_number(value: object, expected: float | None) -> None:
    assert number(value) == expected


def test_a_damaged_folder_says_how_it_is_damaged(folder: RunFolder) -> None:
    folder.create(small_job())
    path = folder.path / "run.json"
    for content in spoiled(path).values():
        path.write_bytes(content)
        summary = summarize(folder)
        assert (summary.state, summary.info, summary.can_go_on) == ("damaged", None, False)
        assert str(path) in summary.problem


def test_the_latest_comes_first_whatever_its_name_and_what_is_no_run_is_passed_over(tmp_path: Path) -> None:
    for name, created in (("b", "2026-01-02T00:00:00+00:00"), ("a", "2026-01-03T00:00:00+00:00"), ("c", "2025")):
        folder = RunFolder(tmp_path / name)
        folder.create(small_job())
        values = json.loads((folder.path / "run.json").read_text())
        (folder.path / "run.json").write_text(json.dumps({**values, "created": created}))
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.json").write_bytes(b"")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "link")
    assert [run.path.name for run in list_runs(tmp_path)] == ["a", "b", "c", "damaged"]


@pytest.mark.parametrize("kind", ["absent", "file", "link to itself"])
def test_where_there_is_no_folder_there_are_no_runs(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "runs"
    if kind == "file":
        path.write_bytes(b"")
    elif kind == "link to itself":
        path.symlink_to(path)
    assert list_runs(path) == []


def test_looking_at_a_run_changes_nothing_in_its_folder(folder: RunFolder, splits: Splits) -> None:
    keep(folder, small_job(), splits)
    before = {name: (folder.path / name).read_bytes() for name in os.listdir(folder.path)}
    list_runs(folder.path.parent)
    assert {name: (folder.path / name).read_bytes() for name in os.listdir(folder.path)} == before
