"""The way out, with a real run in a real thread: every answer to every question ends as it says."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.digits.dataset import DigitSets
from core.training.job import TrainingJob
from core.training.ledger import list_runs
from core.training.model_file import load_model
from gui.closing_controller import ClosingController
from gui.dialogs import Keep
from gui.file_controller import FileController
from gui.network_controller import NetworkController
from gui.storage_controller import StorageController
from gui.training_controller import TrainingController
from gui.training_state import TrainingState


class Person:
    """Answers the questions in place of the dialogs, and remembers which were asked."""

    def __init__(self) -> None:
        self.keep = Keep.STAY
        self.where: tuple[Path, str] | None = None
        self.asked: list[str] = []

    def ask_before_closing(self, training: bool, kept: bool) -> Keep:
        self.asked.append(("training" if training else "trained") + (", kept" if kept else ""))
        return self.keep

    def withdraw(self) -> None:
        self.asked.append("withdrawn")

    def ask_how_to_store(self, measured: object, measured_on: str) -> str | None:
        return self.where and self.where[1]

    def ask_where_to_save(self, suggested_name: str) -> Path | None:
        return self.where and self.where[0]


class House:
    """The three controllers and a person, connected as in the application."""

    def __init__(self, sets: DigitSets, runs_folder: Path) -> None:
        self.training, self.network, self.person = TrainingController(runs_folder), NetworkController(), Person()
        self.training.kept.connect(self.network.on_kept)
        self.training.not_kept.connect(self.network.on_not_kept)
        self.training.job_accepted.connect(self.network.on_job_accepted)
        self.training.weights_published.connect(self.network.on_weights_published)
        self.training.ended.connect(self.network.on_ended)
        files = FileController(self.network, StorageController(), self.person)  # type: ignore[arg-type]
        self.closing = ClosingController(self.training, files, self.person)  # type: ignore[arg-type]
        self.closed = 0
        self.closing.close_allowed.connect(self._close)
        self.training.use_data(sets)

    def _close(self) -> None:
        self.closed += 1


@pytest.fixture
def house(qtbot: QtBot, few_digits: DigitSets, tmp_path: Path) -> Iterator[House]:
    """Where no run can be kept: a file is in the way of their folder."""
    (tmp_path / "blocked").write_text("")
    house = House(few_digits, tmp_path / "blocked")
    yield house
    house.training.stop()
    qtbot.waitUntil(lambda: not house.training.state.is_running)


@pytest.fixture
def keeping_house(qtbot: QtBot, few_digits: DigitSets, tmp_path: Path) -> Iterator[House]:
    house = House(few_digits, tmp_path / "runs")
    yield house
    house.training.stop()
    qtbot.waitUntil(lambda: not house.training.state.is_running)


def start(qtbot: QtBot, house: House, job: TrainingJob) -> None:
    with qtbot.waitSignal(house.training.weights_published):
        house.training.start(job)


def train_to_end(qtbot: QtBot, house: House, job: TrainingJob) -> None:
    start(qtbot, house, job)
    qtbot.waitUntil(lambda: house.training.state is TrainingState.IDLE)


def test_with_nothing_at_stake_it_closes_without_a_question(house: House) -> None:
    house.closing.on_close_requested()
    assert (house.closed, house.person.asked) == (1, [])


def test_during_training_staying_goes_on_training(qtbot: QtBot, house: House, long_job: TrainingJob) -> None:
    start(qtbot, house, long_job)
    house.closing.on_close_requested()
    assert (house.closed, house.person.asked) == (0, ["training"])
    assert house.training.state is TrainingState.TRAINING


def test_during_training_it_can_be_given_up(qtbot: QtBot, house: House, long_job: TrainingJob) -> None:
    start(qtbot, house, long_job)
    house.person.keep = Keep.DISCARD
    house.closing.on_close_requested()
    qtbot.waitUntil(lambda: house.closed == 1)
    assert not house.training.state.is_running


@pytest.mark.parametrize("paused", [False, True])
def test_during_training_it_can_be_stopped_and_saved(
    qtbot: QtBot, house: House, long_job: TrainingJob, tmp_path: Path, paused: bool
) -> None:
    start(qtbot, house, long_job)
    if paused:
        house.training.pause()
    house.person.keep, house.person.where = Keep.SAVE, (tmp_path / "kept.safetensors", "float16")
    house.closing.on_close_requested()
    qtbot.waitUntil(lambda: house.closed == 1)
    assert load_model(tmp_path / "kept.safetensors").hyperparameters == long_job.hyperparameters


@pytest.mark.parametrize("where", [None, "absent/x.safetensors"])
def test_without_a_file_it_does_not_close(
    qtbot: QtBot, house: House, long_job: TrainingJob, tmp_path: Path, where: str | None
) -> None:
    start(qtbot, house, long_job)
    house.person.keep = Keep.SAVE
    house.person.where = None if where is None else (tmp_path / where, "float16")
    house.closing.on_close_requested()
    qtbot.waitUntil(lambda: house.training.state is TrainingState.IDLE)
    qtbot.wait(20)
    assert house.closed == 0
    assert house.network.has_unsaved


def test_asking_again_while_the_run_stops_asks_nothing_more(qtbot: QtBot, house: House, long_job: TrainingJob) -> None:
    start(qtbot, house, long_job)
    house.person.keep = Keep.DISCARD
    house.closing.on_close_requested()
    house.closing.on_close_requested()
    qtbot.waitUntil(lambda: house.closed == 1)
    assert house.person.asked == ["training"]


def test_a_trained_network_in_no_file_is_asked_about(qtbot: QtBot, house: House, small_job: TrainingJob) -> None:
    train_to_end(qtbot, house, small_job)
    house.closing.on_close_requested()
    assert (house.closed, house.person.asked) == (0, ["trained"])
    house.person.keep = Keep.DISCARD
    house.closing.on_close_requested()
    assert house.closed == 1


def test_a_run_that_ends_while_the_question_is_open_is_saved_all_the_same(
    qtbot: QtBot, house: House, small_job: TrainingJob, tmp_path: Path
) -> None:
    start(qtbot, house, small_job)
    person, keeping = house.person, tmp_path / "kept.safetensors"

    def think_for_long(training: bool, kept: bool) -> Keep:
        qtbot.waitUntil(lambda: house.training.state is TrainingState.IDLE)
        return Keep.SAVE

    person.ask_before_closing = think_for_long  # type: ignore[method-assign]
    person.where = (keeping, "float16")
    house.closing.on_close_requested()
    assert house.closed == 1
    assert load_model(keeping).preset == "quick-mlp"


@pytest.mark.parametrize(("kept", "asked_then"), [(False, (False, False)), (True, (False, True))])
def test_a_question_about_a_run_that_ends_meanwhile_gives_way_to_another(
    qtbot: QtBot,
    house: House,
    keeping_house: House,
    small_job: TrainingJob,
    kept: bool,
    asked_then: tuple[bool, bool],
) -> None:
    house = keeping_house if kept else house
    start(qtbot, house, small_job)
    asked: list[tuple[bool, bool]] = []

    def think_for_long(training: bool, kept: bool) -> Keep:
        asked.append((training, kept))
        if not training:
            return Keep.DISCARD
        # A question that is withdrawn is answered so.
        qtbot.waitUntil(lambda: "withdrawn" in house.person.asked)
        return Keep.STAY

    house.person.ask_before_closing = think_for_long  # type: ignore[method-assign]
    house.closing.on_close_requested()
    assert asked == [(True, kept), asked_then]
    assert house.closed == 1


def test_where_a_run_ends_meanwhile_and_has_left_nothing_it_closes_without_another_question(
    qtbot: QtBot, house: House, long_job: TrainingJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one without a folder does whose first step goes astray."""

    asked: list[tuple[bool, bool]] = []
    is_asked = threading.Event()

    def no_steps(*_: object) -> Iterator[object]:
        is_asked.wait(20)
        yield from ()

    def think_for_long(training: bool, kept: bool) -> Keep:
        asked.append((training, kept))
        is_asked.set()
        qtbot.waitUntil(lambda: "withdrawn" in house.person.asked)
        return Keep.STAY

    house.person.ask_before_closing = think_for_long  # type: ignore[method-assign]
    monkeypatch.setattr("gui.training_controller.begin", no_steps)
    house.training.start(long_job)
    house.closing.on_close_requested()
    assert asked == [(True, False)]
    assert house.closed == 1


def test_a_run_that_is_kept_is_stopped_and_can_go_on_another_time(
    qtbot: QtBot, keeping_house: House, long_job: TrainingJob, tmp_path: Path
) -> None:
    house = keeping_house
    start(qtbot, house, long_job)
    house.closing.on_close_requested()
    assert (house.closed, house.person.asked) == (0, ["training, kept"])
    house.person.keep = Keep.DISCARD
    house.closing.on_close_requested()
    qtbot.waitUntil(lambda: house.closed == 1)
    (run,) = list_runs(tmp_path / "runs")
    assert (run.state, run.can_go_on) == ("stopped", True)
    assert (run.path / "checkpoint.safetensors").exists()


def test_a_network_that_is_kept_is_not_asked_about(qtbot: QtBot, keeping_house: House, small_job: TrainingJob) -> None:
    train_to_end(qtbot, keeping_house, small_job)
    keeping_house.closing.on_close_requested()
    assert (keeping_house.closed, keeping_house.person.asked) == (1, [])


def test_if_the_end_of_a_kept_run_cannot_be_written_it_is_asked_again(
    qtbot: QtBot, keeping_house: House, long_job: TrainingJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = keeping_house
    start(qtbot, house, long_job)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.training.run_recorder.save_model", full)
    house.person.keep, house.person.where = Keep.SAVE, (tmp_path / "kept.safetensors", "float16")
    house.closing.on_close_requested()
    qtbot.waitUntil(lambda: house.closed == 1)
    assert house.person.asked == ["training, kept", "trained"]
    assert load_model(tmp_path / "kept.safetensors").preset == "quick-mlp"
