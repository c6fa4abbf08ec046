"""Which set is in use: read when it is here, got from a server that can fail or from files; nothing unasked."""

import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from pytestqt.qtbot import QtBot

from core.digits.dataset import DigitSets
from core.digits.dataset_files import fetch_set, is_here
from core.digits.mnist import BUILT_IN_FOLDER
from gui.data_controller import DataController
from gui.widgets.data_offer import Offer
from tests.core.mirrors import MANNERS, Mirror, as_archive

STALL_SECONDS = 0.3


class Heard:
    """What the controller says."""

    def __init__(self, controller: DataController) -> None:
        self.loaded: list[DigitSets] = []
        self.offers: list[Offer | None] = []
        self.progress: list[tuple[int, int]] = []
        self.sentences: list[str] = []
        self.problems: list[str] = []
        self.running: list[bool] = []
        self.here: frozenset[str] = frozenset()
        self.not_loaded = 0
        controller.loaded.connect(self.loaded.append)
        controller.not_loaded.connect(self._on_not_loaded)
        controller.offered.connect(self.offers.append)
        controller.progressed.connect(lambda done, total: self.progress.append((done, total)))
        controller.notified.connect(self.sentences.append)
        controller.failed.connect(self.problems.append)
        controller.running_changed.connect(self.running.append)
        controller.listed.connect(self._on_listed)

    def _on_not_loaded(self) -> None:
        self.not_loaded += 1

    def _on_listed(self, here: frozenset[str]) -> None:
        self.here = here


@pytest.fixture
def controllers(qtbot: QtBot, mirror: Mirror) -> Iterator[Callable[..., DataController]]:
    """Makes controllers, as each start of the window does one."""
    made: list[DataController] = []

    def make(stall_seconds: float = STALL_SECONDS) -> DataController:
        made.append(DataController(stall_seconds))
        made[-1].allow(True)
        return made[-1]

    yield make
    for controller in made:
        controller.stop()
        qtbot.waitUntil(lambda controller=controller: not controller.is_running, timeout=20_000)  # type: ignore[misc]
        controller.cancel()


@pytest.fixture
def controller(controllers: Callable[..., DataController]) -> DataController:
    return controllers()


@pytest.fixture
def heard(controller: DataController) -> Heard:
    return Heard(controller)


def until(qtbot: QtBot, happened: Callable[[], object]) -> None:
    qtbot.waitUntil(lambda: bool(happened()), timeout=20_000)


def fetch(qtbot: QtBot, controller: DataController, heard: Heard) -> None:
    """Choose the set, ask for it and wait until that has ended."""
    controller.choose("tiny")
    controller.fetch()
    until(qtbot, lambda: heard.running[-1:] == [False])


def test_at_the_start_the_built_in_set_is_read_and_nobody_is_asked(
    qtbot: QtBot, controller: DataController, heard: Heard, mirror: Mirror, mnist: DigitSets
) -> None:
    controller.begin()
    assert controller.is_reading
    until(qtbot, lambda: heard.loaded)
    assert not controller.is_reading
    np.testing.assert_array_equal(heard.loaded[0].test.images, mnist.test.images)
    assert "mnist" in heard.here
    assert "tiny" not in heard.here
    assert mirror.requests == []


def test_a_set_that_is_not_here_is_offered_and_nobody_is_asked(
    qtbot: QtBot, controller: DataController, heard: Heard, mirror: Mirror
) -> None:
    controller.choose("tiny")
    (offer,) = heard.offers
    assert offer is not None
    assert (offer.published.name, offer.arrived, offer.is_damaged) == ("tiny", 0, False)
    controller.decline()
    assert heard.offers[-1] is None
    controller.fetch()
    assert not controller.is_running
    assert mirror.requests == heard.loaded == []


def test_an_offered_set_is_fetched_with_progress_and_then_in_use(
    qtbot: QtBot, controller: DataController, heard: Heard, mirror: Mirror
) -> None:
    fetch(qtbot, controller, heard)
    until(qtbot, lambda: heard.loaded)
    assert (heard.loaded[0].name, len(heard.loaded[0].train), len(heard.loaded[0].test)) == ("Tiny", 300, 100)
    assert heard.offers[-1] is None
    assert heard.progress[0] == (0, sum(map(len, mirror.files.values())))
    assert heard.running == [True, False]
    assert "tiny" in heard.here
    asked = len(mirror.requests)
    controller.choose("tiny")
    assert not controller.is_reading  # It is in use already.
    for name, count in (("mnist", 2), ("tiny", 3)):
        controller.choose(name)
        until(qtbot, lambda count=count: len(heard.loaded) == count)
    assert heard.loaded[2].name == "Tiny"
    assert len(mirror.requests) == asked


@pytest.mark.parametrize(
    ("manner", "words"),
    [
        ("not found", "answers 404"),
        ("truncating", "ended after"),
        ("stalling", "does not answer"),
        ("other bytes", "other bytes than were published"),
        ("a page instead", "announces"),
        ("endless", "other bytes than were published"),
        ("slamming the door", "127.0.0.1"),
        ("redirecting to a file", "127.0.0.1"),
    ],
)
def test_a_bad_server_is_told_in_one_sentence_and_changes_nothing(
    qtbot: QtBot, controller: DataController, heard: Heard, mirror: Mirror, manner: str, words: str
) -> None:
    mirror.manners = [manner]
    fetch(qtbot, controller, heard)
    (problem,) = heard.problems
    assert problem.startswith("Tiny: train-images-idx3-ubyte.gz could not be fetched (127.0.0.1")
    assert words in problem
    assert problem.endswith("; try again later, which goes on from here")
    assert "main.py" not in problem
    assert heard.loaded == []
    assert not is_here("tiny")
    assert heard.offers[-1] is not None
    mirror.manners = ["well"]
    controller.fetch()
    until(qtbot, lambda: heard.loaded)
    assert len(heard.loaded[0].train) == 300


def test_a_download_that_was_cut_goes_on_from_there_in_the_next_start(
    qtbot: QtBot,
    controllers: Callable[..., DataController],
    controller: DataController,
    heard: Heard,
    mirror: Mirror,
) -> None:
    mirror.manners = ["truncating"]
    fetch(qtbot, controller, heard)
    half = len(mirror.files["train-images-idx3-ubyte.gz"]) // 2
    assert heard.offers[-1] is not None
    assert heard.offers[-1].arrived == half
    mirror.manners = ["well"]
    mirror.requests.clear()
    again = controllers()
    heard_again = Heard(again)
    fetch(qtbot, again, heard_again)
    assert mirror.requests[0] == ("train-images-idx3-ubyte.gz", f"bytes={half}-")
    assert heard_again.progress[0][0] == half
    until(qtbot, lambda: heard_again.loaded)


def test_a_download_can_be_cancelled_even_while_the_server_says_nothing(
    qtbot: QtBot, controller: DataController, heard: Heard, mirror: Mirror
) -> None:
    mirror.manners = ["stalling"]
    controller.choose("tiny")
    controller.fetch()
    until(qtbot, lambda: heard.progress[-1][0] > 0)
    with qtbot.waitSignal(controller.cancelling):
        controller.stop()
    until(qtbot, lambda: heard.running == [True, False])
    assert heard.problems == heard.loaded == []
    assert heard.sentences[-1] == "Cancelled; what has come of Tiny is kept."
    assert heard.offers[-1] is not None
    assert heard.offers[-1].arrived > 0


@pytest.fixture
def waiting(
    controllers: Callable[..., DataController], mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> tuple[DataController, Heard, threading.Event]:
    """A controller that fetches "tiny" from a server which sends nothing before the event is set."""
    may_go_on, well = threading.Event(), MANNERS["well"]
    monkeypatch.setitem(MANNERS, "waiting", lambda *request: may_go_on.wait(20) and well(*request))
    mirror.manners = ["waiting"]
    controller = controllers(20.0)
    heard = Heard(controller)
    controller.choose("tiny")
    controller.fetch()
    return controller, heard, may_go_on


def test_while_one_is_on_its_way_another_that_is_here_can_be_used_and_no_second_one_is_fetched(
    qtbot: QtBot, waiting: tuple[DataController, Heard, threading.Event]
) -> None:
    controller, heard, may_go_on = waiting
    controller.choose("kmnist")
    assert heard.sentences[-1] == "Tiny is still on its way; one set at a time."
    controller.choose("mnist")
    until(qtbot, lambda: heard.loaded)
    assert controller.is_running
    may_go_on.set()
    until(qtbot, lambda: heard.running == [True, False])
    assert heard.sentences[-1] == "Tiny is here now, to be chosen under Data."
    assert [sets.name for sets in heard.loaded] == ["MNIST"]
    assert not controller.is_reading


def test_a_folder_that_is_opened_meanwhile_stays_in_use_when_the_download_ends(
    qtbot: QtBot, waiting: tuple[DataController, Heard, threading.Event]
) -> None:
    controller, heard, may_go_on = waiting
    controller.open_folder(BUILT_IN_FOLDER)
    until(qtbot, lambda: heard.loaded)
    assert controller.is_running
    may_go_on.set()
    until(qtbot, lambda: heard.running == [True, False])
    assert heard.sentences[-1] == "Tiny is here now, to be chosen under Data."
    assert len(heard.loaded) == 1
    assert not controller.is_reading


def test_what_comes_while_something_trains_is_not_taken_into_use(
    qtbot: QtBot, controller: DataController, heard: Heard
) -> None:
    controller.choose("tiny")
    controller.allow(False)
    controller.fetch()
    until(qtbot, lambda: heard.running == [True, False])
    assert heard.sentences[-1] == "Tiny is here now, to be chosen under Data."
    assert not controller.is_reading
    assert heard.loaded == []


def test_files_at_hand_are_taken_and_it_is_said_if_no_checksum_proves_them(
    qtbot: QtBot, controller: DataController, heard: Heard, mirror: Mirror, tmp_path: Path
) -> None:
    archive = tmp_path / "theirs.zip"
    files = {name: content[:4] + b"\1" + content[5:] for name, content in mirror.files.items()}  # packed another time
    archive.write_bytes(as_archive(files))
    controller.choose("tiny")
    with qtbot.waitSignal(controller.reading_files):
        controller.open_files([archive])
    until(qtbot, lambda: heard.loaded)
    assert len(heard.loaded[0].train) == 300
    assert "its checksums are not those on record" in heard.sentences[-1]
    assert mirror.requests == []


def test_files_that_are_no_set_are_told_and_the_offer_stands(
    qtbot: QtBot, controller: DataController, heard: Heard, tmp_path: Path
) -> None:
    bomb = tmp_path / "theirs.zip"
    with zipfile.ZipFile(bomb, "w") as archive:
        archive.writestr("readme", "nothing")
    for paths, words in (([bomb], "no train-images"), ([BUILT_IN_FOLDER], "belongs to MNIST")):
        controller.choose("tiny")
        controller.open_files(paths)
        until(qtbot, lambda: heard.running[-1:] == [False])
        assert words in heard.problems[-1]
        assert heard.offers[-1] is not None
        assert heard.loaded == []
        heard.running.clear()


def test_a_damaged_set_is_told_offered_again_and_fetched_anew(
    qtbot: QtBot, controller: DataController, heard: Heard, tmp_path: Path
) -> None:
    fetch_set("tiny")
    (tmp_path / "datasets" / "tiny" / "t10k-labels-idx1-ubyte.gz").write_bytes(b"rotten")
    controller.choose("tiny")
    until(qtbot, lambda: heard.not_loaded)
    assert "t10k-labels" in heard.problems[0]
    assert heard.offers[-1] is not None
    assert heard.offers[-1].is_damaged
    controller.fetch()
    until(qtbot, lambda: heard.loaded)
    assert len(heard.loaded[0].test) == 100


def test_a_set_that_another_process_writes_is_told(
    qtbot: QtBot, controller: DataController, heard: Heard, tmp_path: Path
) -> None:
    (tmp_path / "datasets").mkdir()
    with FileLock(tmp_path / "datasets" / "tiny.lock"):
        fetch(qtbot, controller, heard)
    assert heard.problems == ["another window or command is busy with tiny; wait for it"]


def test_a_folder_is_used_under_its_own_name_but_never_under_that_of_a_set(
    qtbot: QtBot, controller: DataController, heard: Heard, mirror: Mirror, tmp_path: Path
) -> None:
    for name in ("letters", "KMNIST"):
        (tmp_path / name).mkdir()
        for file, content in mirror.files.items():
            (tmp_path / name / file).write_bytes(content)
        controller.open_folder(tmp_path / name)
        until(qtbot, lambda: not controller.is_reading)
    assert [sets.name for sets in heard.loaded] == ["letters", "KMNIST (folder)"]
    controller.open_folder(tmp_path)
    until(qtbot, lambda: heard.not_loaded)
    assert "train-images" in heard.problems[-1]
    assert heard.offers == []
