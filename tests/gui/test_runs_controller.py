"""The list of kept runs, from real folders: read, thinned, renamed, annotated and deleted off the GUI thread."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from core.training import ledger
from core.training.job import TrainingJob
from core.training.ledger import RunSummary, list_runs
from core.training.run_folder import EVENTS, RunFolder
from gui import runs_controller
from gui.runs_controller import RunsController


@pytest.fixture
def person() -> SimpleNamespace:
    return SimpleNamespace(ask_for_note=lambda note: f"{note}!", ask_before_deleting=lambda name: True)


@pytest.fixture
def controller(qtbot: QtBot, tmp_path: Path, person: SimpleNamespace) -> Iterator[RunsController]:
    controller = RunsController(tmp_path / "runs", person)  # type: ignore[arg-type]
    yield controller
    controller.cancel()


def make(root: Path, job: TrainingJob, name: str, accuracies: list[float], ended: bool = True) -> Path:
    folder = RunFolder(root / "runs" / name)
    folder.create(job)
    events: list[dict[str, object]] = [
        {
            "event": "Evaluated",
            "step": step,
            "samples": 100 * step,
            "epoch": step / 10,
            "split": "validation",
            "loss": 1.0,
            "accuracy": accuracy,
            "train_seconds": step / 100,
        }
        for step, accuracy in enumerate(accuracies, 1)
    ]
    if ended:
        events.append({"event": "TrainingEnded", "outcome": "completed", "steps": len(accuracies)})
    (folder.path / EVENTS).write_text("".join(json.dumps(event) + "\n" for event in events))
    return folder.path


def listed(qtbot: QtBot, controller: RunsController) -> list[RunSummary]:
    with qtbot.waitSignal(controller.listed) as signal:
        controller.refresh()
    runs: list[RunSummary] = signal.args[0]
    return runs


def test_without_a_folder_there_are_no_runs(qtbot: QtBot, controller: RunsController) -> None:
    assert listed(qtbot, controller) == []


def test_folders_are_read_in_a_thread_of_their_own(
    qtbot: QtBot, controller: RunsController, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def watched(folder: Path) -> list[RunSummary]:
        threads.append(threading.get_ident())
        return list_runs(folder)

    monkeypatch.setattr(runs_controller, "list_runs", watched)
    listed(qtbot, controller)
    assert threads != []
    assert threading.get_ident() not in threads


def test_a_long_curve_is_thinned_but_keeps_its_ends_its_peaks_and_its_valleys(
    qtbot: QtBot, controller: RunsController, small_job: TrainingJob, tmp_path: Path
) -> None:
    accuracies = [0.9] * 20_000
    accuracies[0], accuracies[7_777], accuracies[12_345], accuracies[-1] = 0.1, 0.95, 0.2, 0.91
    make(tmp_path, small_job, "long", accuracies)
    curve = listed(qtbot, controller)[0].curves["validation"]
    assert len(curve.accuracy) <= 2 * 300 + 2
    points = set(zip(curve.samples, curve.accuracy, strict=True))
    wanted = {(100.0, 0.1), (777_800.0, 0.95), (1_234_600.0, 0.2), (2_000_000.0, 0.91)}
    assert wanted <= points
    assert list(curve.samples) == sorted(curve.samples)


def test_a_short_curve_stays_as_it_is(
    qtbot: QtBot, controller: RunsController, small_job: TrainingJob, tmp_path: Path
) -> None:
    make(tmp_path, small_job, "short", [0.5, 0.7, 0.6])
    assert listed(qtbot, controller)[0].curves["validation"].accuracy == (0.5, 0.7, 0.6)


def test_a_new_name_and_a_note_are_written_and_listed(
    qtbot: QtBot, controller: RunsController, small_job: TrainingJob, tmp_path: Path
) -> None:
    make(tmp_path, small_job, "one", [0.5])
    (run,) = listed(qtbot, controller)
    with qtbot.waitSignal(controller.listed):
        controller.rename(run, "Wide")
    with qtbot.waitSignal(controller.listed) as signal:
        controller.ask_for_note(run)
    info = signal.args[0][0].info
    assert (info.name, info.note) == ("Wide", "!")


def test_a_run_that_is_being_written_is_not_deleted(
    qtbot: QtBot, controller: RunsController, small_job: TrainingJob, tmp_path: Path
) -> None:
    path = make(tmp_path, small_job, "one", [0.5])
    (run,) = listed(qtbot, controller)
    with RunFolder(path).locked(), qtbot.waitSignal(controller.failed) as failed:
        controller.ask_to_delete(run)
    assert "stop the run first" in failed.args[0]
    assert path.is_dir()


def test_without_a_trash_it_says_so_and_deletes_nothing(
    qtbot: QtBot,
    controller: RunsController,
    small_job: TrainingJob,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = make(tmp_path, small_job, "one", [0.5])
    (run,) = listed(qtbot, controller)
    monkeypatch.setattr(runs_controller, "QFile", lambda path: SimpleNamespace(moveToTrash=lambda: False))
    with qtbot.waitSignal(controller.failed) as failed:
        controller.ask_to_delete(run)
    assert str(path) in failed.args[0]
    assert path.is_dir()


def test_who_answers_no_keeps_the_run(
    qtbot: QtBot, controller: RunsController, person: SimpleNamespace, small_job: TrainingJob, tmp_path: Path
) -> None:
    path = make(tmp_path, small_job, "one", [0.5])
    person.ask_before_deleting = lambda name: False
    controller.ask_to_delete(listed(qtbot, controller)[0])
    controller.cancel()
    assert path.is_dir()


def test_the_run_that_was_broken_off_is_offered_until_it_is_left(
    qtbot: QtBot, controller: RunsController, small_job: TrainingJob, tmp_path: Path
) -> None:
    make(tmp_path, small_job, "2026-01-01 broken", [0.5], ended=False)
    make(tmp_path, small_job, "2026-01-02 ended", [0.5])
    with qtbot.waitSignal(controller.interrupted) as offered:
        controller.look_for_interrupted()
    run: RunSummary = offered.args[0]
    assert (run.path.name, run.state) == ("2026-01-01 broken", ledger.INTERRUPTED)
    controller.leave(run)
    with qtbot.assertNotEmitted(controller.interrupted), qtbot.waitSignal(controller._searching.done):
        controller.look_for_interrupted()
    QCoreApplication.processEvents()


def test_a_run_that_goes_on_elsewhere_is_not_offered(
    qtbot: QtBot, controller: RunsController, small_job: TrainingJob, tmp_path: Path
) -> None:
    path = make(tmp_path, small_job, "one", [0.5], ended=False)
    with (
        RunFolder(path).locked(),
        qtbot.assertNotEmitted(controller.interrupted),
        qtbot.waitSignal(controller._searching.done),
    ):
        controller.look_for_interrupted()
