"""The life of a run, with real threads on real digits: every state is left again, whatever happens in it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.digits.dataset import DigitSets
from core.training.events import HyperparametersChanged, RunNotKept, TrainingEnded
from core.training.job import TrainingJob
from core.training.ledger import list_runs
from core.training.run_folder import RunFolder
from gui.training_controller import TrainingController
from gui.training_state import TrainingState


@pytest.fixture
def controller(qtbot: QtBot, few_digits: DigitSets, tmp_path: Path) -> Iterator[TrainingController]:
    controller = TrainingController(tmp_path / "runs")
    controller.use_data(few_digits)
    yield controller
    controller.stop()
    qtbot.waitUntil(lambda: not controller.state.is_running)


def states_of(controller: TrainingController) -> list[TrainingState]:
    states: list[TrainingState] = []
    controller.state_changed.connect(states.append)
    return states


def test_nothing_starts_before_the_data_is_there(small_job: TrainingJob, tmp_path: Path) -> None:
    controller = TrainingController(tmp_path)
    controller.start(small_job)
    assert controller.state is TrainingState.LOADING


def test_a_run_goes_from_start_to_end_and_home(
    qtbot: QtBot, controller: TrainingController, small_job: TrainingJob
) -> None:
    states = states_of(controller)
    order: list[str] = []
    for name in ("job_accepted", "started", "steps_completed", "evaluated", "weights_published", "ended"):
        getattr(controller, name).connect(lambda _, name=name: order.append(name))
    with qtbot.waitSignal(controller.ended) as ended:
        controller.start(small_job)
    qtbot.waitUntil(lambda: controller.state is TrainingState.IDLE)
    assert states == [TrainingState.TRAINING, TrainingState.IDLE]
    assert order[:2] == ["job_accepted", "started"]
    assert order[-1] == "ended"
    assert {"steps_completed", "evaluated", "weights_published"} <= set(order)
    end: TrainingEnded = ended.args[0]
    assert (end.outcome, end.epochs, end.samples) == ("completed", 3, 3000)


def test_a_paused_run_makes_no_step_until_it_is_resumed(
    qtbot: QtBot, controller: TrainingController, long_job: TrainingJob
) -> None:
    steps: list[int] = []
    controller.steps_completed.connect(lambda event: steps.append(event.step))
    with qtbot.waitSignal(controller.steps_completed):
        controller.start(long_job)
    controller.pause()
    qtbot.wait(100)
    seen = len(steps)
    qtbot.wait(200)
    assert len(steps) == seen
    assert controller.state is TrainingState.PAUSED
    with qtbot.waitSignal(controller.steps_completed):
        controller.resume()
    assert controller.state is TrainingState.TRAINING


@pytest.mark.parametrize("paused", [False, True])
def test_a_stopped_run_keeps_what_it_learned(
    qtbot: QtBot, controller: TrainingController, long_job: TrainingJob, paused: bool
) -> None:
    with qtbot.waitSignal(controller.evaluated):
        controller.start(long_job)
    if paused:
        controller.pause()
    states = states_of(controller)
    with qtbot.waitSignal(controller.ended) as ended:
        controller.stop()
    qtbot.waitUntil(lambda: controller.state is TrainingState.IDLE)
    assert states == [TrainingState.STOPPING, TrainingState.IDLE]
    assert ended.args[0].outcome == "stopped"
    assert all(np.isfinite(weights).all() for weights in ended.args[0].weights.values())


def test_a_second_start_while_a_run_goes_changes_nothing(
    qtbot: QtBot, controller: TrainingController, long_job: TrainingJob
) -> None:
    accepted: list[object] = []
    controller.job_accepted.connect(accepted.append)
    controller.start(long_job)
    controller.start(replace(long_job, preset="pycuda-seed"))
    assert accepted == [long_job]


def test_a_change_reaches_the_run_at_its_next_step(
    qtbot: QtBot, controller: TrainingController, long_job: TrainingJob
) -> None:
    with qtbot.waitSignal(controller.evaluated) as evaluated:
        controller.start(long_job)
    wanted = replace(long_job.hyperparameters, learning_rate=0.03, shift_px=2)
    with qtbot.waitSignal(controller.changed) as changed:
        controller.change(wanted)
    event: HyperparametersChanged = changed.args[0]
    assert event.changes == {"learning_rate": 0.03, "shift_px": 2}
    assert event.hyperparameters == wanted
    assert event.step >= evaluated.args[0].step


def test_with_fewer_epochs_the_run_ends_earlier(
    qtbot: QtBot, controller: TrainingController, long_job: TrainingJob
) -> None:
    with qtbot.waitSignal(controller.evaluated):
        controller.start(long_job)
    with qtbot.waitSignal(controller.ended) as ended:
        controller.change(replace(long_job.hyperparameters, epochs=2))
    assert ended.args[0].outcome == "completed"
    assert ended.args[0].epochs < 10_000


def test_a_change_made_while_paused_waits_for_the_next_step(
    qtbot: QtBot, controller: TrainingController, long_job: TrainingJob
) -> None:
    with qtbot.waitSignal(controller.evaluated):
        controller.start(long_job)
    changes: list[HyperparametersChanged] = []
    controller.changed.connect(changes.append)
    controller.pause()
    qtbot.wait(100)
    controller.change(replace(long_job.hyperparameters, learning_rate=0.05))
    controller.change(replace(long_job.hyperparameters, learning_rate=0.03))
    qtbot.wait(100)
    before = [change.changes for change in changes]
    with qtbot.waitSignal(controller.steps_completed):
        controller.resume()
    assert before == [] or before == [{"learning_rate": 0.05}]
    assert changes[-1].hyperparameters.learning_rate == 0.03


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"network": "linear 33 relu, linear 10"}, "only dropout can be changed while training"),
        ({"network": "linear 32 tanh, linear 10"}, "only dropout can be changed while training"),
        ({"seed": 5}, "seed cannot be changed while training"),
        ({"batch_size": 50, "learning_rate": 0.03}, "batch size cannot be changed while training"),
    ],
)
def test_a_change_that_cannot_be_is_told_and_changes_nothing(
    qtbot: QtBot, controller: TrainingController, long_job: TrainingJob, change: dict[str, object], words: str
) -> None:
    with qtbot.waitSignal(controller.evaluated):
        controller.start(long_job)
    with (
        qtbot.assertNotEmitted(controller.changed),
        qtbot.waitSignal(controller.failed) as failed,
    ):
        controller.change(replace(long_job.hyperparameters, **change))
        with qtbot.waitSignals([controller.evaluated] * 2):
            pass
    assert words in failed.args[0]
    assert controller.state is TrainingState.TRAINING


def test_another_network_in_the_form_is_told_once_and_does_not_hold_back_other_changes(
    qtbot: QtBot, controller: TrainingController, long_job: TrainingJob
) -> None:
    told: list[str] = []
    controller.failed.connect(told.append)
    with qtbot.waitSignal(controller.evaluated):
        controller.start(long_job)
    edited = replace(long_job.hyperparameters, network="linear 33 relu, linear 10")
    controller.change(edited)
    with qtbot.waitSignal(controller.changed) as changed:
        controller.change(replace(edited, learning_rate=0.03))
    assert changed.args[0].changes == {"learning_rate": 0.03}
    assert len(told) == 1


def test_the_share_of_dropout_can_be_changed(
    qtbot: QtBot, controller: TrainingController, long_job: TrainingJob
) -> None:
    def with_dropout(rate: str) -> TrainingJob:
        network = f"linear 32 relu, dropout {rate}, linear 10"
        return replace(long_job, hyperparameters=replace(long_job.hyperparameters, network=network))

    with qtbot.waitSignal(controller.evaluated):
        controller.start(with_dropout("0.2"))
    with qtbot.waitSignal(controller.changed) as changed:
        controller.change(with_dropout("0.5").hyperparameters)
    assert changed.args[0].changes == {"network": "linear 32 relu, dropout 0.5, linear 10"}


def test_without_a_run_a_change_is_nobodys_affair(
    qtbot: QtBot, controller: TrainingController, small_job: TrainingJob
) -> None:
    impossible = replace(small_job.hyperparameters, seed=9)
    with qtbot.assertNotEmitted(controller.failed):
        controller.change(impossible)
        with qtbot.waitSignal(controller.ended):
            controller.start(small_job)
        qtbot.waitUntil(lambda: controller.state is TrainingState.IDLE)
        controller.change(impossible)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"validation_digits": 1200}, "held out"),
        ({"batch_size": 5000}, "batch"),
    ],
)
def test_what_cannot_run_fails_with_a_sentence_and_can_be_tried_again(
    qtbot: QtBot, controller: TrainingController, small_job: TrainingJob, change: dict[str, int], words: str
) -> None:
    wrong = replace(small_job, hyperparameters=replace(small_job.hyperparameters, **change))
    with qtbot.waitSignal(controller.failed) as failed:
        controller.start(wrong)
    assert words in failed.args[0]
    qtbot.waitUntil(lambda: controller.state is TrainingState.IDLE)
    with qtbot.waitSignal(controller.ended):
        controller.start(small_job)


def test_a_device_that_is_not_there_fails_with_a_sentence(
    qtbot: QtBot, controller: TrainingController, small_job: TrainingJob
) -> None:
    with qtbot.waitSignal(controller.failed) as failed:
        controller.start(replace(small_job, device_key="cuda:7"))
    assert "cuda:7" in failed.args[0]


def test_a_run_is_kept_in_a_folder_and_goes_on_there_from_where_it_was_stopped(
    qtbot: QtBot, controller: TrainingController, long_job: TrainingJob, tmp_path: Path
) -> None:
    with qtbot.waitSignal(controller.evaluated):
        controller.start(long_job)
    assert controller.is_kept
    with qtbot.waitSignal(controller.ended) as ended:
        controller.stop()
    qtbot.waitUntil(lambda: controller.state is TrainingState.IDLE)
    (run,) = list_runs(tmp_path / "runs")
    assert (run.state, run.steps, run.can_go_on) == ("stopped", ended.args[0].steps, True)
    assert run.info is not None
    steps: list[int] = []
    controller.steps_completed.connect(lambda event: steps.append(event.step))
    with qtbot.waitSignal(controller.went_on) as went_on:
        controller.go_on(run.path, run.info.job)
    assert went_on.args[0].hyperparameters == long_job.hyperparameters
    before = len(steps)
    assert before > 0
    assert steps[-1] <= run.steps
    qtbot.waitUntil(lambda: len(steps) > before)
    assert sorted(set(steps)) == steps
    assert steps[before] > run.steps - 1
    controller.stop()
    qtbot.waitUntil(lambda: controller.state is TrainingState.IDLE)
    assert len(list_runs(tmp_path / "runs")) == 1


def test_where_runs_cannot_be_kept_that_is_told_and_training_goes_on(
    qtbot: QtBot, controller: TrainingController, small_job: TrainingJob, tmp_path: Path
) -> None:
    (tmp_path / "runs").write_text("in the way")
    told: list[RunNotKept] = []
    controller.not_kept.connect(told.append)
    with qtbot.waitSignal(controller.ended) as ended:
        controller.start(small_job)
    assert ended.args[0].outcome == "completed"
    assert len(told) == 1
    assert not controller.is_kept


def test_a_run_that_another_window_writes_cannot_go_on_here(
    qtbot: QtBot, controller: TrainingController, small_job: TrainingJob, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / "runs" / "theirs")
    folder.create(small_job)
    with folder.locked(), qtbot.waitSignal(controller.failed) as failed:
        controller.go_on(folder.path, small_job)
    assert "another window" in failed.args[0]
    qtbot.waitUntil(lambda: controller.state is TrainingState.IDLE)
