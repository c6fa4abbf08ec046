"""A run in its folder, as the training thread drives it: begun, broken off, gone on with, and kept where it can be."""

import dataclasses
import json
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest

from core.digits.dataset import DigitSets, Splits, split
from core.training.events import Event, HyperparametersChanged, RunNotKept, StepsCompleted, TrainingEnded
from core.training.hyperparameters import Hyperparameters
from core.training.job import TrainingControl, TrainingJob
from core.training.ledger import list_runs
from core.training.model_file import load_model
from core.training.run_folder import CHECKPOINT, EVENTS, LAST, RunError, RunFolder
from core.training.trainer import train
from gui import kept_run
from gui.kept_run import Retold, RunGoesOn, RunKept, begin, go_on


@pytest.fixture
def splits(few_digits: DigitSets, small_job: TrainingJob) -> Splits:
    return split(few_digits, small_job.hyperparameters.validation_digits)


def broken_off(runs: Path, job: TrainingJob, splits: Splits, at_step: int) -> Path:
    """The folder of a run that ended without a word after `at_step`, its last state kept at that step."""
    control = TrainingControl()
    events = begin(runs, job, splits, control)
    kept = next(events)
    assert isinstance(kept, RunKept)
    for event in events:
        if isinstance(event, StepsCompleted) and event.step >= at_step:
            control.ask_for_checkpoint()
        if (kept.path / CHECKPOINT).exists():
            break
    events.close()  # type: ignore[attr-defined]
    return kept.path


def told(events: Iterator[object]) -> list[Event]:
    """Everything, what is retold included, apart from what concerns the folder."""
    all_events: list[Event] = []
    for event in events:
        if isinstance(event, Retold):
            all_events += event.events
        elif not isinstance(event, RunKept | RunGoesOn):
            all_events.append(event)  # type: ignore[arg-type]
    return all_events


def test_a_run_says_where_it_is_kept_and_leaves_its_network_there(
    tmp_path: Path, small_job: TrainingJob, splits: Splits
) -> None:
    events = list(begin(tmp_path / "runs", small_job, splits, TrainingControl()))
    kept, end = events[0], events[-1]
    assert isinstance(kept, RunKept)
    assert isinstance(end, TrainingEnded)
    assert kept.path.parent == tmp_path / "runs"
    saved = load_model(kept.path / LAST).weights
    assert all(np.array_equal(saved[name], end.weights[name]) for name in end.weights)


def test_two_runs_of_the_same_second_get_a_folder_each(tmp_path: Path, small_job: TrainingJob, splits: Splits) -> None:
    for _ in range(2):
        assert len(list(begin(tmp_path, small_job, splits, TrainingControl()))) > 3
    assert len(list_runs(tmp_path)) == 2


def test_where_nothing_can_be_written_the_run_says_so_and_goes_on(
    tmp_path: Path, small_job: TrainingJob, splits: Splits
) -> None:
    (tmp_path / "runs").write_text("in the way")
    events = list(begin(tmp_path / "runs", small_job, splits, TrainingControl()))
    assert isinstance(events[0], RunNotKept)
    assert "runs" in events[0].reason
    assert [type(event) for event in events[1:]] == [type(event) for event in train(small_job, splits)]


def test_going_on_tells_the_curves_from_the_start_and_ends_like_an_unbroken_run(
    tmp_path: Path, small_job: TrainingJob, splits: Splits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_run, "TOLD_AT_ONCE", 3)
    path = broken_off(tmp_path, small_job, splits, at_step=12)
    events = list(go_on(path, small_job, splits, TrainingControl()))
    parts = list(takewhile(lambda event: not isinstance(event, RunGoesOn), events))
    assert max(len(part.events) for part in parts if isinstance(part, Retold)) == 3
    unbroken = list(train(small_job, splits))
    figures = ("step", "samples", "epoch", "split", "loss", "accuracy")
    curves = [
        [
            [getattr(event, figure, None) for figure in figures]
            for event in run
            if type(event).__name__ in ("StepsCompleted", "Evaluated")
        ]
        for run in (told(iter(events)), unbroken)
    ]
    assert curves[0] == curves[1]
    end, other = events[-1], unbroken[-1]
    assert isinstance(end, TrainingEnded)
    assert isinstance(other, TrainingEnded)
    assert all(np.array_equal(end.weights[name], other.weights[name]) for name in other.weights)


def test_a_change_on_the_way_is_retold_and_goes_on(tmp_path: Path, small_job: TrainingJob, splits: Splits) -> None:
    control = TrainingControl()
    control.change(dataclasses.replace(small_job.hyperparameters, learning_rate=0.03))
    events = begin(tmp_path, small_job, splits, control)
    path = next(events).path  # type: ignore[attr-defined]
    for event in events:
        if isinstance(event, StepsCompleted):
            control.stop()
    later = list(go_on(path, small_job, splits, TrainingControl()))
    retold = [event for part in later if isinstance(part, Retold) for event in part.events]
    change = next(event for event in retold if isinstance(event, HyperparametersChanged))
    assert change.changes == {"learning_rate": 0.03}
    goes_on = next(event for event in later if isinstance(event, RunGoesOn))
    assert goes_on.hyperparameters.learning_rate == 0.03


def test_a_run_begun_with_a_network_begins_with_it_again_repeated_or_broken_off_before_its_first_state_was_kept(
    tmp_path: Path, small_job: TrainingJob, splits: Splits
) -> None:
    stopped = TrainingControl()
    stopped.stop()
    start = list(train(dataclasses.replace(small_job, hyperparameters=other_seed(small_job)), splits, stopped))[-1]
    assert isinstance(start, TrainingEnded)
    begun = dataclasses.replace(small_job, start=start.weights)
    wanted = list(train(begun, splits))[-1]
    assert isinstance(wanted, TrainingEnded)
    broken_off_at_once = begin(tmp_path, begun, splits, TrainingControl())
    next(broken_off_at_once)
    broken_off_at_once.close()  # type: ignore[attr-defined]
    (run,) = list_runs(tmp_path)
    assert run.info is not None
    assert RunFolder(run.path).checkpoint() is None
    repeated = list(begin(tmp_path / "repeated", run.info.job, splits, TrainingControl()))[-1]
    gone_on = list(go_on(run.path, run.info.job, splits, TrainingControl()))[-1]
    for end in (repeated, gone_on):
        assert isinstance(end, TrainingEnded)
        assert end.test_accuracy_before == wanted.test_accuracy_before
        assert all(np.array_equal(end.weights[name], wanted.weights[name]) for name in wanted.weights)


def other_seed(job: TrainingJob) -> Hyperparameters:
    return dataclasses.replace(job.hyperparameters, seed=job.hyperparameters.seed + 1)


def test_a_run_that_somebody_else_writes_is_left_alone(tmp_path: Path, small_job: TrainingJob, splits: Splits) -> None:
    path = broken_off(tmp_path, small_job, splits, at_step=5)
    with RunFolder(path).locked(), pytest.raises(RunError, match="another window"):
        list(go_on(path, small_job, splits, TrainingControl()))


@pytest.mark.parametrize(
    "damage",
    [
        {"accuracy": "high"},
        {"step": -1},
        {"train_seconds": 0},
        {"loss": float("nan")},
        {"split": "all"},
        {"epoch": None},
    ],
)
def test_figures_that_cannot_be_are_not_drawn(
    tmp_path: Path, small_job: TrainingJob, splits: Splits, damage: dict[str, object]
) -> None:
    path = broken_off(tmp_path, small_job, splits, at_step=12)
    lines = [json.loads(line) for line in (path / EVENTS).read_text().splitlines()]
    chosen = next(line for line in lines if line["event"] == "Evaluated")
    chosen |= damage
    (path / EVENTS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    events = list(go_on(path, small_job, splits, TrainingControl()))
    retold = [event for part in events if isinstance(part, Retold) for event in part.events]
    assert [event for event in retold if (event.step, type(event).__name__) == (chosen["step"], "Evaluated")] == []
    assert any(isinstance(event, StepsCompleted) for event in retold)
    assert isinstance(events[-1], TrainingEnded)
