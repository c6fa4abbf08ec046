"""The user's own digits between file and window: with a real file and real threads, and answers that can be checked."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.digits.dataset import DigitSets, split
from core.digits.ink import Ink
from core.digits.my_digits import MyDigits
from core.digits.synthetic_ink import write_digits
from core.predictor import Predictor
from core.training.events import TrainingEnded
from core.training.job import TrainingJob
from core.training.model_file import Model
from core.training.trainer import train
from gui.my_digits_controller import MyDigitsController
from gui.widgets.own_digits_model import OwnDigits

BROKEN = b"no digit\n"


class Person:
    """Answers the questions."""

    def __init__(self) -> None:
        self.deletes = True
        self.asked: list[int] = []
        self.path: Path | None = None

    def ask_before_deleting_digits(self, count: int) -> bool:
        self.asked.append(count)
        return self.deletes

    def ask_which_ink(self) -> Path | None:
        return self.path

    def ask_where_to_put_ink(self) -> Path | None:
        return self.path


class Heard:
    """What the controller told."""

    def __init__(self, controller: MyDigitsController) -> None:
        self.listed: list[OwnDigits] = []
        self.sentences: list[str] = []
        self.undo: list[bool] = []
        controller.listed.connect(self.listed.append)
        controller.notified.connect(self.sentences.append)
        controller.failed.connect(self.sentences.append)
        controller.undo_changed.connect(self.undo.append)


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def mine(tmp_path: Path) -> MyDigits:
    return MyDigits(tmp_path / "mine.jsonl")


@pytest.fixture
def models() -> list[Model | None]:
    """The network in use comes last."""
    return [None]


@pytest.fixture
def controller(
    qtbot: QtBot, mine: MyDigits, models: list[Model | None], person: Person
) -> Iterator[MyDigitsController]:
    controller = MyDigitsController(mine.path, lambda: models[-1], person)
    yield controller
    controller.finish()


@pytest.fixture
def heard(controller: MyDigitsController) -> Heard:
    return Heard(controller)


def write(mine: MyDigits, labels: list[int], seed: int = 1) -> None:
    mine.add(write_digits(np.array(labels, np.uint8), np.random.default_rng(seed)))


def network(small_job: TrainingJob, digits: DigitSets) -> Model:
    *_, end = train(small_job, split(digits, 200))
    assert isinstance(end, TrainingEnded)
    return Model(small_job.preset, small_job.hyperparameters, end.weights)


def labels(mine: MyDigits) -> list[int]:
    return [sample.digit.label for sample in mine.samples()]


def test_a_drawing_is_kept_once_and_named_anew(
    qtbot: QtBot, controller: MyDigitsController, heard: Heard, mine: MyDigits, seven: Ink
) -> None:
    for digit in (7, 7, 1):
        controller.keep(digit, seven)
    qtbot.waitUntil(lambda: len(heard.sentences) == 3, timeout=20_000)
    assert heard.sentences == [
        "Kept as a 7: your first.",
        "This drawing is kept already, as a 7: 1 digits of yours.",
        "This drawing is a 1 now: 1 digits of yours.",
    ]
    assert labels(mine) == [1]


def test_the_confirmation_counts_all(
    qtbot: QtBot, controller: MyDigitsController, heard: Heard, mine: MyDigits, seven: Ink
) -> None:
    write(mine, [1] * 12)
    controller.keep(7, seven)
    qtbot.waitUntil(lambda: bool(heard.sentences), timeout=20_000)
    assert heard.sentences == ["Kept as a 7: 13 digits of yours."]


def test_they_are_listed_with_what_the_network_in_use_reads(
    qtbot: QtBot,
    controller: MyDigitsController,
    heard: Heard,
    mine: MyDigits,
    models: list[Model | None],
    small_job: TrainingJob,
    few_digits: DigitSets,
) -> None:
    write(mine, [*range(10)] * 3)
    with mine.path.open("ab") as file:
        file.write(BROKEN)
    controller.refresh()
    qtbot.waitUntil(lambda: len(heard.listed) == 1, timeout=20_000)
    first = heard.listed[0]
    assert [digit.label for digit in first.digits] == [*range(10)] * 3
    assert {digit.answer for digit in first.digits} == {None}
    assert [problem.line for problem in first.problems] == [31]
    own = mine.dataset()
    assert own is not None
    for digit, picture in zip(first.digits, own.images, strict=True):
        np.testing.assert_array_equal(digit.picture, picture)

    models.append(network(small_job, few_digits))
    controller.ask_network()
    qtbot.waitUntil(lambda: len(heard.listed) == 2, timeout=20_000)
    wanted = Predictor.from_model(models[-1]).probabilities(own.images).argmax(axis=1)
    assert [digit.answer for digit in heard.listed[1].digits] == wanted.tolist()
    assert 0 < sum(digit.is_wrong for digit in heard.listed[1].digits) < 30
    # Asked again, the same network has nothing to add; another has.
    controller.ask_network()
    models.append(Model(models[-1].preset, models[-1].hyperparameters, {k: -w for k, w in models[-1].weights.items()}))
    controller.ask_network()
    qtbot.waitUntil(lambda: len(heard.listed) == 3, timeout=20_000)
    wanted = Predictor.from_model(models[-1]).probabilities(own.images).argmax(axis=1)
    assert [digit.answer for digit in heard.listed[2].digits] == wanted.tolist()


def test_labels_are_changed_and_digits_deleted_after_a_question_and_brought_back_once(
    qtbot: QtBot, controller: MyDigitsController, heard: Heard, mine: MyDigits, person: Person
) -> None:
    write(mine, [1, 2, 3, 4])
    keys = [sample.key for sample in mine.samples()]
    controller.relabel(keys[1:3], 9)
    controller.ask_to_delete([keys[0], keys[2]])
    qtbot.waitUntil(lambda: heard.undo == [True], timeout=20_000)
    assert (labels(mine), person.asked) == ([9, 4], [2])
    controller.undo()
    qtbot.waitUntil(lambda: bool(heard.sentences), timeout=20_000)
    assert (labels(mine), heard.undo, heard.sentences) == ([9, 4, 1, 9], [True, False], ["2 digits are back."])
    controller.undo()
    person.deletes = False
    controller.ask_to_delete(keys)
    controller.finish()
    assert labels(mine) == [9, 4, 1, 9]


def test_another_file_is_taken_in_with_its_broken_lines_told(
    qtbot: QtBot, controller: MyDigitsController, heard: Heard, mine: MyDigits, person: Person, tmp_path: Path
) -> None:
    other = MyDigits(tmp_path / "other.jsonl")
    write(other, [1, 2, 3])
    with other.path.open("ab") as file:
        file.write(BROKEN * 2)
    write(mine, [1, 2, 3])
    write(other, [5], seed=2)
    controller.import_file()
    person.path = other.path
    controller.import_file()
    qtbot.waitUntil(lambda: bool(heard.sentences), timeout=20_000)
    assert heard.sentences == [
        "1 digits added, 3 were there already. Lines that are no digits were left out: 4, 5.",
    ]
    assert labels(mine) == [1, 2, 3, 5]


def test_all_are_written_out_and_what_goes_wrong_is_a_sentence(
    qtbot: QtBot, controller: MyDigitsController, heard: Heard, mine: MyDigits, person: Person, tmp_path: Path
) -> None:
    write(mine, [1, 2, 3])
    person.path = tmp_path / "out.jsonl"
    controller.export_file()
    person.path = tmp_path / "absent" / "out.jsonl"
    controller.export_file()
    controller.import_file()
    controller.relabel([mine.samples()[0].key], 8)
    qtbot.waitUntil(lambda: len(heard.sentences) == 3, timeout=20_000)
    assert heard.sentences[0] == f"3 digits saved to {tmp_path / 'out.jsonl'}."
    assert all(str(tmp_path / "absent") in sentence for sentence in heard.sentences[1:])
    assert labels(MyDigits(tmp_path / "out.jsonl")) == [1, 2, 3]
    # One that failed holds up none that follows.
    qtbot.waitUntil(lambda: labels(mine) == [8, 2, 3], timeout=20_000)


def test_what_was_asked_for_is_still_done_when_the_window_closes(
    controller: MyDigitsController, mine: MyDigits, seven: Ink
) -> None:
    write(mine, [1, 2])
    keys = [sample.key for sample in mine.samples()]
    controller.keep(7, seven)
    controller.relabel(keys[:1], 5)
    controller.relabel(keys[1:], 6)
    controller.finish()
    assert labels(mine) == [5, 6, 7]


def test_changes_follow_one_another_whatever_their_number(
    qtbot: QtBot, controller: MyDigitsController, heard: Heard, mine: MyDigits
) -> None:
    digits = write_digits(np.arange(20, dtype=np.uint8) % 10, np.random.default_rng(4))
    write(mine, [0])
    key = mine.samples()[0].key
    for number, digit in enumerate(digits):
        controller.keep(digit.label, digit.ink)
        controller.relabel([key], number % 10)
    qtbot.waitUntil(lambda: len(heard.sentences) == 20, timeout=20_000)
    controller.finish()
    assert labels(mine) == [9, *(digit.label for digit in digits)]


def test_the_file_is_only_touched_off_the_gui_thread(
    qtbot: QtBot, controller: MyDigitsController, heard: Heard, seven: Ink, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[bool] = []
    for name in ("samples", "problems", "add"):
        whole = getattr(MyDigits, name)

        def watched(*arguments: object, whole: Callable[..., object] = whole) -> object:
            threads.append(threading.current_thread() is threading.main_thread())
            return whole(*arguments)

        monkeypatch.setattr(MyDigits, name, watched)
    controller.keep(7, seven)
    controller.refresh()
    qtbot.waitUntil(lambda: len(heard.listed) == 1, timeout=20_000)
    assert threads
    assert not any(threads)
