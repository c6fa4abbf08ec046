"""What a run tells is in its folder before anyone hears of it, and what cannot be written never ends the run."""

import json
import math
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import replace
from io import FileIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from core.digits.dataset import Splits
from core.training import run_recorder
from core.training.checkpoint import Checkpoint, load_checkpoint
from core.training.events import (
    Checkpointed,
    Evaluated,
    Event,
    HyperparametersChanged,
    RunNotKept,
    StepsCompleted,
    TrainingEnded,
    TrainingStarted,
    WeightsPublished,
)
from core.training.job import TrainingControl, TrainingJob
from core.training.model_file import load_model
from core.training.run_folder import RunError, RunFolder
from core.training.run_recorder import RunRecorder
from core.training.trainer import train
from tests.core.training.damage import files_limited_to
from tests.core.training.kept_runs import keep, lines, small_job
from tests.core.training.runs import StopsItself, end_of, of_kind, without_seconds


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "run")


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint after every step."""
    for name, value in {"CHECKPOINT_SECONDS": 0.0, "CPU_SHARE": math.inf, "DISK_SHARE": math.inf}.items():
        monkeypatch.setattr(run_recorder, name, value)


def as_told(event: Event) -> dict[str, object]:
    """By hand, for each kind of event that tells numbers alone."""
    return {"event": type(event).__name__, **{k: v for k, v in vars(event).items() if k != "weights"}}


def test_all_that_a_run_tells_is_in_its_folder_and_handed_on(folder: RunFolder, splits: Splits) -> None:
    events = keep(folder, small_job(), splits)
    plain = list(train(small_job(), splits))
    assert [without_seconds(event) for event in events] == [without_seconds(event) for event in plain]
    assert lines(folder) == [as_told(event) for event in events if not isinstance(event, WeightsPublished)]
    assert sorted(os.listdir(folder.path)) == [
        "best.safetensors",
        "checkpoint.safetensors",
        "events.jsonl",
        "last.safetensors",
        "lock",
        "run.json",
    ]


def test_every_event_is_written_before_it_is_handed_on(folder: RunFolder, splits: Splits) -> None:
    folder.create(small_job())
    control, told = TrainingControl(), 0
    for event in RunRecorder(folder, small_job(), control).record(train(small_job(), splits, control)):
        told += not isinstance(event, WeightsPublished)
        assert len(lines(folder)) == told
        assert RunFolder(folder.path).is_locked()
    assert not RunFolder(folder.path).is_locked()
    assert told == 10


def test_the_last_and_the_best_weights_are_networks_for_others_to_use(folder: RunFolder, splits: Splits) -> None:
    run = small_job(learning_rate=3.0, epochs=4)
    events = keep(folder, run, splits)
    measured = {event.step: event.accuracy for event in of_kind(Evaluated, events)}
    best_step = max(measured, key=lambda step: (measured[step], -step))
    assert best_step != max(measured), "the case to be tested: the last is not the best"
    (best,) = (event.weights for event in of_kind(WeightsPublished, events) if event.step == best_step)
    for name, weights in (("last", end_of(events).weights), ("best", best)):
        model = load_model(folder.path / f"{name}.safetensors")
        assert (model.preset, model.hyperparameters) == (run.preset, run.hyperparameters)
        assert {k: w.tobytes() for k, w in model.weights.items()} == {k: w.tobytes() for k, w in weights.items()}
    last = load_model(folder.path / "last.safetensors")
    assert last.test_accuracy == pytest.approx(end_of(events).test_accuracy, abs=5e-5)


def test_without_anything_held_out_there_is_no_best_one(folder: RunFolder, splits: Splits) -> None:
    keep(folder, small_job(), Splits(splits.train, None, splits.test))
    assert not (folder.path / "best.safetensors").exists()


@pytest.mark.parametrize("steps", [1, 14])
def test_a_run_that_was_stopped_goes_on_in_the_same_folder(
    tmp_path: Path, splits: Splits, always: None, steps: int
) -> None:
    run, whole, folder = small_job(keep_best=True), RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "run")
    keep(whole, run, splits)
    first = keep(folder, run, splits, StopsItself(steps))
    assert lines(folder)[-1]["outcome"] == end_of(first).outcome == "stopped"
    assert folder.checkpoint() is not None
    keep(folder, run, splits)
    assert curves(folder) == curves(whole)
    for name in ("last.safetensors", "best.safetensors"):
        mine, other = load_model(folder.path / name), load_model(whole.path / name)
        assert all(np.array_equal(mine.weights[key], other.weights[key]) for key in other.weights)


def curves(folder: RunFolder) -> list[dict[str, object]]:
    """What its folder tells of a run, but for the seconds, and for when it was started."""
    return [
        {name: value for name, value in told.items() if "seconds" not in name}
        for told in lines(folder)
        if told["event"] != "TrainingStarted"
    ]


@pytest.mark.parametrize("after", [1, 9, 16])
def test_a_run_whose_window_was_gone_goes_on_in_the_same_folder(
    tmp_path: Path, splits: Splits, always: None, after: int
) -> None:
    run, whole, folder = small_job(), RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "run")
    keep(whole, run, splits)
    folder.create(run)
    control = TrainingControl()
    events = RunRecorder(folder, run, control).record(train(run, splits, control))
    for _, _ in zip(range(after), events, strict=False):
        pass
    events.close()
    assert not folder.is_locked()
    keep(folder, run, splits)
    assert curves(folder) == curves(whole)


def test_a_change_is_kept_at_once_and_the_networks_are_described_by_it(folder: RunFolder, splits: Splits) -> None:
    run, control = small_job(network="linear 4 relu, dropout 0.2, linear 10", hidden=None), TrainingControl()
    wanted = replace(run.hyperparameters, network="linear 4 relu, dropout 0.4, linear 10", learning_rate=0.05)
    folder.create(run)
    seen = []
    for event in RunRecorder(folder, run, control).record(train(run, splits, control)):
        if isinstance(event, StepsCompleted) and event.step == 5:
            control.change(wanted)
        if isinstance(event, StepsCompleted) and event.step == 10:
            seen.append(waited_for(folder.path / "checkpoint.safetensors"))
        if isinstance(event, HyperparametersChanged):
            assert lines(folder)[-1]["hyperparameters"] == wanted.as_dict()
            assert lines(folder)[-1]["changes"] == {"network": wanted.network, "learning_rate": 0.05}
    assert [(at.progress.step, at.hyperparameters) for at in seen] == [(6, wanted)]
    assert load_model(folder.path / "last.safetensors").hyperparameters == wanted
    assert load_model(folder.path / "best.safetensors").hyperparameters == wanted
    assert folder.info().job == run


def waited_for(path: Path) -> Checkpoint:
    """The checkpoint at `path`, which another thread may still be writing."""
    for _ in range(200):
        if path.exists():
            return load_checkpoint(path)
        time.sleep(0.01)
    raise AssertionError(f"{path} was not written")


class Asked(TrainingControl):
    """A control by which a recorder asks for checkpoints at times to be set; `asked`: when, and in how many seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.asked: list[tuple[float, float]] = []

    def ask_for_checkpoint(self, in_seconds: float = 0.0) -> None:
        self.asked.append((self.now, pytest.approx(in_seconds)))


@pytest.fixture
def control(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> Asked:
    control = Asked()
    folder.create(small_job())
    monkeypatch.setattr(run_recorder, "time", SimpleNamespace(monotonic=lambda: control.now))
    return control


def reported(epoch: float) -> StepsCompleted:
    return StepsCompleted(int(10 * epoch), int(1000 * epoch), epoch, 1.0, 0.5, 0.1)


def test_checkpoints_are_asked_for_every_few_seconds_and_where_an_epoch_ends(folder: RunFolder, control: Asked) -> None:
    def events() -> Iterator[Event]:
        yield TrainingStarted("cpu", "CPU", 1, 1000, 10, 30)
        for at, epoch in ((100.5, 0.5), (100.9, 1.0), (101.5, 1.5), (101.6, 2.0), (101.7, 2.0), (101.8, 2.5)):
            control.now = at
            yield reported(epoch)

    list(RunRecorder(folder, small_job(), control).record(events()))
    assert control.asked == [(100.0, 2.5), (101.6, 0.0)]


@pytest.mark.parametrize(
    ("made", "written", "on_disk", "intervals"),
    [
        (0.004, 0.006, 0.02, [2.5, 2.5]),  # cheap
        (0.02, 0.06, 0.3, [0.04 / 0.006, 0.08 / 0.006]),  # dear: before the first is written, it counts twice
        (0.001, 0.002, 8.0, [2.5, 16.0]),  # on a slow disk
    ],
)
def test_where_checkpoints_are_dear_they_are_so_rare_that_they_take_less_than_a_hundredth_of_the_time(
    folder: RunFolder,
    control: Asked,
    halfway: Checkpoint,
    monkeypatch: pytest.MonkeyPatch,
    made: float,
    written: float,
    on_disk: float,
    intervals: list[float],
) -> None:
    monkeypatch.setattr(run_recorder, "_write_checkpoint", lambda *_: (written, on_disk))

    def events() -> Iterator[Event]:
        for at in (103.0, 120.0):
            control.now = at
            yield Checkpointed(halfway, made)

    list(RunRecorder(folder, small_job(), control).record(events()))
    assert control.asked == [(103.0, intervals[0]), (120.0, intervals[1])]


def test_the_end_of_an_epoch_asks_for_no_dear_checkpoint_before_its_time(
    folder: RunFolder, control: Asked, halfway: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_recorder, "_write_checkpoint", lambda *_: (0.02, 0.1))

    def events() -> Iterator[Event]:
        yield Checkpointed(halfway, 0.02)
        for at, epoch in ((101.5, 1.0), (106.6, 2.0), (106.7, 3.0)):
            control.now = at
            yield reported(epoch)

    list(RunRecorder(folder, small_job(), control).record(events()))
    assert control.asked == [(100.0, 0.04 / 0.006), (106.7, 0.0)]


@pytest.fixture
def halfway(splits: Splits) -> Checkpoint:
    """The state of a run between two of its steps."""
    control = TrainingControl()
    control.ask_for_checkpoint()
    return next(event.checkpoint for event in train(small_job(), splits, control) if isinstance(event, Checkpointed))


def test_what_a_checkpoint_costs_is_measured_where_it_is_made_and_where_it_is_written(
    folder: RunFolder, splits: Splits
) -> None:
    control = TrainingControl()
    control.ask_for_checkpoint()
    wide = small_job(hidden=(1000,), optimizer="adam")
    told = next(event for event in train(wide, splits, control) if isinstance(event, Checkpointed))
    assert told.cpu_seconds > 0.0
    folder.create(wide)
    with FileIO(folder.path / "events.jsonl", "ab") as file:
        written, on_disk = run_recorder._write_checkpoint(folder, told.checkpoint, file)
    assert folder.checkpoint() is not None
    assert written > 0.0
    assert on_disk > 0.0


def test_another_recorder_is_refused_before_the_run_begins_and_changes_nothing(
    folder: RunFolder, splits: Splits
) -> None:
    run, control = small_job(), TrainingControl()
    folder.create(run)
    events = RunRecorder(folder, run, control).record(train(run, splits, control))
    for _ in range(5):
        next(events)
    before = (folder.path / "events.jsonl").read_bytes()
    other = RunFolder(folder.path)
    with pytest.raises(RunError, match="another window or command is writing to"):
        next(RunRecorder(other, run, control).record(train(run, splits, control)))
    assert (folder.path / "events.jsonl").read_bytes() == before
    assert end_of(list(events)).outcome == "completed"
    assert lines(folder)[-1]["event"] == "TrainingEnded"


def assert_went_on_unkept(events: list[Event], run: TrainingJob, splits: Splits) -> RunNotKept:
    """It said once that it is not kept any more, and told all else as ever."""
    (told,) = of_kind(RunNotKept, events)
    assert "\n" not in told.reason
    rest = [without_seconds(event) for event in events if event is not told]
    assert rest == [without_seconds(event) for event in train(run, splits)]
    return told


@pytest.mark.parametrize("size", [150, 700])
def test_where_its_events_cannot_be_written_any_more_the_run_goes_on(
    folder: RunFolder, splits: Splits, size: int
) -> None:
    run = small_job()
    folder.create(run)
    with files_limited_to(size):
        events = keep(folder, run, splits)
    told = assert_went_on_unkept(events, run, splits)
    assert told.reason.startswith(f"{folder.path} cannot be written: ")
    assert (folder.path / "events.jsonl").stat().st_size <= size
    assert list(folder.events()) == [as_told(event) for event in before(told, events)]
    assert not folder.is_locked()


def before(told: Event, events: list[Event]) -> list[Event]:
    return [event for event in events[: events.index(told)] if not isinstance(event, WeightsPublished)]


def test_where_its_state_cannot_be_written_any_more_the_run_goes_on(
    folder: RunFolder, splits: Splits, always: None
) -> None:
    run = small_job(hidden=(40,))
    folder.create(run)
    with files_limited_to(50_000):
        events = keep(folder, run, splits)
    told = assert_went_on_unkept(events, run, splits)
    assert told.reason.startswith(f"{folder.path}/checkpoint.safetensors cannot be written: ")
    assert sorted(os.listdir(folder.path)) == ["events.jsonl", "lock", "run.json"]


def test_what_was_kept_until_then_goes_on_once_there_is_room_again(
    tmp_path: Path, splits: Splits, always: None
) -> None:
    run, whole, folder = small_job(), RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "run")
    keep(whole, run, splits)
    keep(folder, run, splits, StopsItself(8))
    with files_limited_to(2500):
        assert of_kind(RunNotKept, keep(folder, run, splits))
    keep(folder, run, splits)
    assert curves(folder) == curves(whole)


def test_a_folder_that_is_taken_away_does_not_end_the_run(folder: RunFolder, splits: Splits, always: None) -> None:
    run, control = small_job(), TrainingControl()
    folder.create(run)
    events = []
    for event in RunRecorder(folder, run, control).record(train(run, splits, control)):
        events.append(event)
        if isinstance(event, StepsCompleted) and event.step == 10:
            folder.path.rename(folder.path.with_name("moved"))
    assert_went_on_unkept(events, run, splits)


def test_where_there_is_no_memory_for_its_state_the_run_goes_on(
    folder: RunFolder, splits: Splits, always: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(run_recorder, "save_checkpoint", save)
    run = small_job()
    told = assert_went_on_unkept(keep(folder, run, splits), run, splits)
    assert "not enough memory" in told.reason


def test_a_folder_that_nobody_can_write_is_refused_before_the_run_begins(folder: RunFolder, splits: Splits) -> None:
    run, control = small_job(), TrainingControl()
    folder.create(run)
    (folder.path / "events.jsonl").mkdir()
    with pytest.raises(RunError, match=r"events\.jsonl is a folder"):
        next(RunRecorder(folder, run, control).record(train(run, splits, control)))
    assert not folder.is_locked()


def test_a_diverged_run_keeps_its_finite_weights_and_its_end(folder: RunFolder, splits: Splits) -> None:
    events = keep(folder, small_job(hidden=(32,) * 8, learning_rate=100.0), splits)
    assert end_of(events).outcome == lines(folder)[-1]["outcome"] == "diverged"
    assert of_kind(RunNotKept, events) == []
    last = load_model(folder.path / "last.safetensors")
    assert all(np.isfinite(weights).all() for weights in last.weights.values())


@pytest.mark.skipif(os.name != "posix", reason="permissions of files as POSIX has them")
def test_files_may_be_read_by_whom_the_user_s_mask_allows(folder: RunFolder, splits: Splits) -> None:
    mask = os.umask(0o027)
    try:
        keep(folder, small_job(epochs=1), splits)
    finally:
        os.umask(mask)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.path.iterdir() if path.name != "lock"}
    assert set(modes.values()) == {0o640}
    json.loads((folder.path / "run.json").read_text("utf-8"))


def test_what_is_only_for_the_folder_is_not_handed_on(folder: RunFolder, splits: Splits, always: None) -> None:
    events = keep(folder, small_job(), splits)
    assert of_kind(Checkpointed, events) == []
    assert isinstance(events[-1], TrainingEnded)
