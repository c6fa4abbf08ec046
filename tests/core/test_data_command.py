"""The command for other sets: what it lists, fetches, opens and removes; train and evaluate take a set by its name."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.digits import dataset_files
from core.digits.dataset import DigitSets
from core.digits.downloads import SETS
from core.training.model_file import load_model
from tests.core import mirrors
from tests.core.commands import ROOT, Run, answers, the_one_object
from tests.core.mirrors import Mirror, as_files, made_up, published

CLOTHES = tuple(f"garment {number}" for number in range(10))


@pytest.fixture
def digits(few_digits: DigitSets) -> DigitSets:
    return made_up(few_digits, 300, 100)


@pytest.fixture
def mirror(tmp_path: Path, digits: DigitSets, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A server with the set "tiny", which shows clothes; what is fetched is kept in the test's own folder."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(dataset_files, "datasets_folder", lambda: tmp_path / "datasets")
    mirror = Mirror(as_files(digits))
    listed = published("tiny", mirror.files, mirror.url, classes=CLOTHES, train_digits=300, test_digits=100)
    monkeypatch.setitem(SETS, "tiny", listed)
    yield mirror
    mirror.close()


def states(inkling: Run) -> dict[str, str]:
    status, stdout, stderr = inkling("data", "--json")
    assert (status, stderr) == (0, "")
    return {row["name"]: row["state"] for row in the_one_object(stdout)["sets"]}


def test_the_list_tells_what_is_here_how_large_it_is_and_whose(inkling: Run, mirror: Mirror) -> None:
    status, stdout, stderr = inkling("data")
    assert (status, stderr) == (0, "")
    for words in ("mnist", "built in", "fashion-mnist", "not here", "562 MB", "ankle boot", "MIT"):
        assert words in stdout
    status, stdout, _ = inkling("data", "--json")
    rows = {row["name"]: row for row in the_one_object(stdout)["sets"]}
    assert list(rows) == list(SETS)
    assert rows["mnist"]["state"] == "built in"
    assert rows["kmnist"]["bytes_to_fetch"] == 18_165_135 + 29_497 + 3_041_136 + 5_120
    assert rows["kmnist"]["classes"][2] == "su"
    assert "created by CODH" in rows["kmnist"]["credit"]
    assert mirror.requests == []


def test_a_set_is_fetched_listed_as_here_and_removed(inkling: Run, mirror: Mirror) -> None:
    assert states(inkling)["tiny"] == "not here"
    status, stdout, stderr = inkling("data", "fetch", "tiny")
    assert (status, stderr) == (0, "")
    assert stdout == "Tiny is here; free: nobody\n"
    assert states(inkling)["tiny"] == "here"
    asked = len(mirror.requests)
    assert the_one_object(inkling("data", "fetch", "tiny", "--json")[1]) == {"set": "tiny", "state": "here"}
    assert len(mirror.requests) == asked
    assert inkling("data", "remove", "tiny")[:2] == (0, "Tiny is removed\n")
    assert states(inkling)["tiny"] == "not here"
    assert the_one_object(inkling("data", "remove", "tiny", "--json")[1])["removed"] is False


def test_a_failed_download_is_one_sentence_and_status_1(inkling: Run, mirror: Mirror) -> None:
    mirror.manners = ["not found"]
    status, stdout, stderr = inkling("data", "fetch", "tiny", "--json")
    assert (status, stdout) == (1, "")
    assert stderr.count("\n") == 1
    assert "answers 404" in stderr


@pytest.mark.skipif(os.name != "posix", reason="needs signals as POSIX has them")
def test_ctrl_c_ends_a_download_which_goes_on_next_time(
    inkling: Run, mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(to, content: bytes, mirror: Mirror) -> None:
        mirrors._send(to, content, upto=0.5)
        os.kill(os.getpid(), signal.SIGINT)
        mirror.going_down.wait(10)

    monkeypatch.setitem(mirrors.MANNERS, "interrupting", interrupt)
    mirror.manners = ["interrupting", "well"]
    status, stdout, stderr = inkling("data", "fetch", "tiny")
    assert (status, stdout) == (130, "")
    assert stderr == "inkling: stopped; the same command goes on from here\n"
    assert list((tmp_path / "datasets" / "tiny.parts").iterdir())
    assert inkling("data", "fetch", "tiny")[0] == 0


def test_files_at_hand_are_opened_with_a_word_on_what_proves_them(
    inkling: Run, mirror: Mirror, digits: DigitSets, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, content in mirror.files.items():
        (folder / name).write_bytes(content)
    status, stdout, stderr = inkling("data", "open", "tiny", folder)
    assert (status, stdout, stderr) == (0, "Tiny is here, proved by its checksums\n", "")
    path = folder / "train-labels-idx1-ubyte.gz"
    path.write_bytes(path.read_bytes()[:4] + b"\1" + path.read_bytes()[5:])  # packed at another time
    status, stdout, _ = inkling("data", "open", "tiny", *sorted(folder.iterdir()), "--json")
    assert the_one_object(stdout) == {"set": "tiny", "state": "here", "checksums_proved": False}
    assert "form and counts are right" in inkling("data", "open", "tiny", folder)[1]
    assert mirror.requests == []


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        ("fetch", 2, "fetch wants the name of a set: mnist, fashion-mnist"),
        ("fetch fashion", 2, "there is no set 'fashion'; choose mnist"),
        ("fetch tiny folder", 2, "fetch takes no files"),
        ("open tiny", 2, "open wants a folder or files after the name"),
        ("get tiny", 2, "'get' is not one of"),
        ("open tiny nowhere", 1, "there is no nowhere"),
        ("open mnist .", 1, "MNIST is built in"),
        ("remove mnist", 1, "MNIST is built in"),
    ],
)
def test_wrong_use_is_refused(inkling: Run, mirror: Mirror, words: str, status: int, complaint: str) -> None:
    assert inkling("data", *words.split(), "--json")[:2] == (status, "")
    assert complaint in inkling("data", *words.split(), "--json")[2]
    assert mirror.requests == []


TINY = ["--data", "tiny", "--device", "cpu", "--hidden", "8", "--epochs", "3", "--validation-digits", "50"]


def test_train_and_evaluate_take_a_set_by_its_name(
    inkling: Run, mirror: Mirror, digits: DigitSets, tmp_path: Path
) -> None:
    inkling("data", "fetch", "tiny")
    out = tmp_path / "tiny.safetensors"
    status, stdout, stderr = inkling("train", *TINY, "--out", out, "--json")
    assert (status, stderr) == (0, "")
    result = the_one_object(stdout)
    right = answers(out, digits.test.images).argmax(axis=1) == digits.test.labels
    assert result["samples"] == 3 * 250
    assert result["test_accuracy"] == pytest.approx(right.mean(), abs=0.03)
    assert load_model(out).facts["trained_on"] == "Tiny"
    status, stdout, stderr = inkling("evaluate", "--model", out, "--data", "tiny", "--json")
    assert (status, stderr) == (0, "")
    assert the_one_object(stdout)["n"] == 100
    assert the_one_object(stdout)["accuracy"] == pytest.approx(right.mean())


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        ("train --data tiny", 1, "tiny is not on this machine yet; fetch it with: uv run main.py data fetch tiny"),
        ("evaluate --data tiny", 1, "tiny is not on this machine yet"),
        ("train --data fashion", 2, "there is no set 'fashion'; choose mnist, fashion-mnist"),
        ("evaluate --data fashion", 2, "there is no set 'fashion'"),
        ("evaluate --data mnist --images .", 2, "choose one of --data, --mnist-folder, --images and --ink"),
    ],
)
def test_a_set_that_cannot_be_had_is_refused_before_anything_is_made(
    inkling: Run, mirror: Mirror, tmp_path: Path, words: str, status: int, complaint: str
) -> None:
    kept = ["--run", tmp_path / "run"] if words.startswith("train") else []
    outcome = inkling(*words.split(), *kept, "--json")
    assert outcome[:2] == (status, "")
    assert complaint in outcome[2]
    assert not (tmp_path / "run").exists()
    assert mirror.requests == []


def test_synthetic_digits_are_not_mixed_among_clothes(inkling: Run, mirror: Mirror) -> None:
    inkling("data", "fetch", "tiny")
    status, stdout, stderr = inkling("train", *TINY, "--synthetic", "0.2")
    assert (status, stdout) == (2, "")
    assert "tiny shows no digits, so synthetic ink cannot be mixed in; use --synthetic 0" in stderr


ALONE = """
import json, sys
asked = []
def refuse(event, arguments):
    if event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        asked.append(event)
        raise PermissionError("no network here")
sys.addaudithook(refuse)
from importlib import import_module
from pathlib import Path
from core.digits import dataset_files
dataset_files.datasets_folder = lambda: Path(sys.argv[2])
from core.command_line import run
for words in json.loads(sys.argv[1]):
    print(words[0], run(words), len(asked), "urllib.request" in sys.modules)
import_module("gui.application")
print("window", len(asked), "urllib.request" in sys.modules)
print("fetch", run(["data", "fetch", "kmnist"]), len(asked) > 0)
"""


def test_without_a_network_all_goes_its_way_and_nothing_but_fetch_ever_asks_for_it(tmp_path: Path) -> None:
    train = ["train", "--device", "cpu", "--hidden", "8", "--epochs", "1", "--train-limit", "1000", "--json"]
    out = str(tmp_path / "small.safetensors")
    evaluate = ["evaluate", "--model", out, "--data", "mnist"]
    commands = [["data"], ["devices"], [*train, "--out", out], evaluate]
    process = subprocess.run(
        [sys.executable, "-c", ALONE, json.dumps(commands), str(tmp_path / "datasets")],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "no_proxy": "*"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    told = process.stdout.splitlines()
    for line in ("data 0 0 False", "devices 0 0 False", "train 0 0 False", "evaluate 0 0 False", "window 0 False"):
        assert line in told
    assert told[-1] == "fetch 1 True"
    assert "train-images-idx3-ubyte.gz could not be fetched (codh.rois.ac.jp: no network here" in process.stderr
