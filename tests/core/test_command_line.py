"""The jobs without a window, held against issue 2's words: keys of the JSON, exit statuses, what goes to which stream.

Numbers are held against the same network asked directly. A few real processes show what only they can: that stdout
carries nothing else, that Ctrl-C keeps what was trained, that the program runs from any folder.
"""

import contextlib
import gzip
import json
import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from core import train_command
from core.command_line import run
from core.digits.dataset import Dataset, DigitSets
from core.digits.ink import Ink, Stroke
from core.digits.rasterizer import rasterize
from core.predictor import Predictor
from core.training.model_file import load_model

ROOT = Path(__file__).resolve().parents[2]
TRAIN_KEYS = [
    "preset",
    "device",
    "seed",
    "epochs",
    "steps",
    "samples",
    "train_seconds",
    "total_seconds",
    "samples_per_second",
    "train_loss",
    "validation_accuracy",
    "test_accuracy",
    "outcome",
    "seconds_to_target",
    "model",
]
QUICKLY = ["--device", "cpu", "--hidden", "8", "--epochs", "1", "--train-limit", "1000"]

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def inkling(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process; gives exit status, stdout and stderr."""

    def inkling(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = run([str(word) for word in words])
        return status, *capsys.readouterr()

    return inkling


def the_one_object(stdout: str) -> dict[str, Any]:
    assert stdout.endswith("}\n")
    assert stdout.count("\n") == 1
    return json.loads(stdout)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network that reads about nine digits in ten."""
    path = tmp_path_factory.mktemp("models") / "small.safetensors"
    words = ["--device", "cpu", "--hidden", "32", "--epochs", "1", "--train-limit", "20000"]
    assert run(["train", *words, "--out", str(path)]) == 0
    return path


@pytest.fixture
def digits(mnist: DigitSets) -> Dataset:
    return mnist.test.part(100, 150)


def answers(model: Path, images: np.ndarray) -> np.ndarray:
    """What the network says when asked directly, (N, 10)."""
    return Predictor.from_model(load_model(model)).probabilities(images)


def test_train_tells_its_results_in_one_json_object_with_the_keys_agreed_on(inkling: Run, tmp_path: Path) -> None:
    out = tmp_path / "n.safetensors"
    status, stdout, stderr = inkling("train", *QUICKLY, "--seed", 5, "--out", out, "--json")
    result = the_one_object(stdout)
    assert (status, stderr) == (0, "")
    assert list(result) == TRAIN_KEYS
    expected = {"preset": "quick-mlp", "device": "cpu", "seed": 5, "epochs": 1, "steps": 10, "samples": 1000}
    assert result.items() >= {**expected, "outcome": "completed", "seconds_to_target": None, "model": str(out)}.items()
    assert 0 < result["train_seconds"] < result["total_seconds"]
    assert result["samples_per_second"] == pytest.approx(1000 / result["train_seconds"], rel=0.2)
    assert result["train_loss"] > 0
    assert 0 < result["validation_accuracy"] < 1
    assert 0 < result["test_accuracy"] < 1


def test_what_train_saves_is_the_network_it_measured_and_says_how_it_was_made(
    inkling: Run, tmp_path: Path, mnist: DigitSets
) -> None:
    out = tmp_path / "n.safetensors"
    _, stdout, _ = inkling("train", *QUICKLY, "--out", out, "--json")
    result, saved = the_one_object(stdout), load_model(out)
    right = answers(out, mnist.test.images).argmax(axis=1) == mnist.test.labels
    assert right.mean() == pytest.approx(result["test_accuracy"], abs=0.002)  # saved as float16
    assert saved.test_accuracy == pytest.approx(result["test_accuracy"], abs=5e-5)
    assert saved.facts["validation_accuracy"] == f"{result['validation_accuracy']:.4f}"
    assert saved.facts["trained_on"] == "MNIST"
    assert saved.facts["command"].startswith("uv run main.py")


def test_every_choice_on_the_command_line_reaches_the_run(inkling: Run, tmp_path: Path) -> None:
    out = tmp_path / "n.safetensors"
    words = "train --preset pycuda-seed --device cpu --epochs 2 --hidden 8,4 --batch-size 30 --learning-rate 0.02"
    status, stdout, _ = inkling(
        *words.split(), "--seed", 7, "--train-limit", 100, "--augment", 0.25, "--out", out, "--json"
    )
    result, chosen = the_one_object(stdout), load_model(out).hyperparameters
    assert status == 0
    assert (result["preset"], result["epochs"], result["steps"], result["samples"]) == ("pycuda-seed", 2, 8, 200)
    assert result["validation_accuracy"] is None
    assert chosen.hidden == (8, 4)
    assert (chosen.epochs, chosen.batch_size, chosen.learning_rate) == (2, 30, 0.02)
    assert (chosen.seed, chosen.train_limit, chosen.augment) == (7, 100, 0.25)


def test_the_same_seed_gives_the_same_results(inkling: Run) -> None:
    results = []
    for seed in (1, 1, 2):
        result = the_one_object(inkling("train", *QUICKLY, "--seed", seed, "--json")[1])
        results.append([result[name] for name in ("train_loss", "validation_accuracy", "test_accuracy")])
    assert results[0] == results[1]
    assert results[0] != results[2]


def test_train_ends_at_the_target_and_says_after_how_many_seconds(inkling: Run) -> None:
    words = ["--device", "cpu", "--hidden", "16", "--epochs", "50", "--train-limit", "5000"]
    status, stdout, _ = inkling("train", *words, "--until-accuracy", 0.7, "--json")
    result = the_one_object(stdout)
    assert (status, result["outcome"]) == (0, "target")
    assert result["test_accuracy"] >= 0.7
    assert 0 < result["seconds_to_target"] <= result["train_seconds"]
    assert result["samples"] < 250_000


def test_a_run_that_diverged_before_it_learned_is_a_failed_job_and_overwrites_no_network(
    inkling: Run, tmp_path: Path
) -> None:
    out = tmp_path / "good.safetensors"
    out.write_bytes(b"a good network")
    words = ["--device", "cpu", "--hidden", ",".join(["32"] * 8), "--learning-rate", 100, "--train-limit", 1000]
    status, stdout, stderr = inkling("train", *words, "--out", out, "--json")
    result = the_one_object(stdout)
    assert (status, result["outcome"], result["model"]) == (1, "diverged", None)
    assert "choose a smaller learning rate" in stderr
    assert "good.safetensors was not written" in stderr
    assert out.read_bytes() == b"a good network"


def test_a_network_whose_weights_do_not_fit_float16_is_not_lost_after_its_training(
    inkling: Run, tmp_path: Path
) -> None:
    out = tmp_path / "n.safetensors"
    words = ["--device", "cpu", "--hidden", "64,64", "--learning-rate", 100, "--train-limit", 2000, "--epochs", 3]
    _, stdout, _ = inkling("train", *words, "--out", out, "--json")
    assert the_one_object(stdout)["outcome"] == "completed"
    assert max(np.abs(w).max() for w in load_model(out).weights.values()) > np.finfo(np.float16).max


def test_train_without_json_shows_people_a_table(inkling: Run) -> None:
    status, stdout, _ = inkling("train", *QUICKLY)
    assert status == 0
    assert re.search(r"test accuracy .* 0\.\d", stdout)
    assert re.search(r"outcome .* completed", stdout)
    assert re.search(r"model .* –", stdout)


def as_counted(model: Path, data: Dataset) -> dict[str, Any]:
    """What `evaluate` should say, counted digit by digit."""
    confusion = [[0] * 10 for _ in range(10)]
    for label, answer in zip(data.labels, answers(model, data.images).argmax(axis=1), strict=True):
        confusion[label][answer] += 1
    right = [confusion[c][c] for c in range(10)]
    return {
        "n": len(data),
        "accuracy": sum(right) / len(data),
        "per_class": [right[c] / sum(confusion[c]) if sum(confusion[c]) else None for c in range(10)],
        "confusion": confusion,
    }


def test_evaluate_measures_on_the_built_in_test_set(inkling: Run, model: Path, mnist: DigitSets) -> None:
    status, stdout, stderr = inkling("evaluate", "--model", model, "--json")
    result = the_one_object(stdout)
    assert (status, stderr) == (0, "")
    assert list(result) == ["n", "accuracy", "per_class", "confusion"]
    assert result == as_counted(model, mnist.test)
    assert result["accuracy"] > 0.88


def test_evaluate_measures_on_the_test_set_of_another_folder(
    inkling: Run, model: Path, digits: Dataset, tmp_path: Path
) -> None:
    head = struct.pack(">4I", 2051, len(digits), 28, 28)
    (tmp_path / "t10k-images.idx3-ubyte").write_bytes(head + digits.images.tobytes())
    packed = gzip.compress(struct.pack(">2I", 2049, len(digits)) + digits.labels.tobytes())
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(packed)
    status, stdout, _ = inkling("evaluate", "--model", model, "--mnist-folder", tmp_path, "--json")
    assert status == 0
    assert the_one_object(stdout) == as_counted(model, digits)


def write_pictures(folder: Path, data: Dataset) -> list[Path]:
    """One PNG for each digit, in a folder for each label."""
    paths = []
    for number, (image, label) in enumerate(zip(data.images, data.labels, strict=True)):
        path = folder / str(label) / f"{number:03}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(path)
        paths.append(path)
    return paths


def test_evaluate_measures_on_folders_of_pictures_and_names_those_it_cannot_read(
    inkling: Run, model: Path, digits: Dataset, tmp_path: Path
) -> None:
    few = digits.part(0, 12)  # not every digit occurs in it
    write_pictures(tmp_path, few)
    (tmp_path / str(few.labels[0]) / "notes.txt").write_text("not a picture")
    status, stdout, stderr = inkling("evaluate", "--model", model, "--images", tmp_path, "--json")
    assert status == 0
    assert the_one_object(stdout) == as_counted(model, few)
    assert "notes.txt" in stderr
    assert stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["pen.jsonl", "pen.jsonl.gz"])
def test_evaluate_measures_on_pen_strokes(inkling: Run, model: Path, tmp_path: Path, name: str) -> None:
    turn = np.linspace(0, 2 * np.pi, 40)
    circle = np.stack([30 * np.sin(turn), 50 * np.cos(turn)], axis=1).round(2).tolist()
    drawn = [(1, [[[5, 0], [6, 90]]]), (0, [circle]), (7, [[[0, 0], [40, 0]], [[40, 0], [10, 80]]])]
    lines = "".join(json.dumps({"label": label, "strokes": strokes}) + "\n" for label, strokes in drawn)
    (tmp_path / name).write_bytes(gzip.compress(lines.encode()) if name.endswith(".gz") else lines.encode())
    pictures = [rasterize(Ink(tuple(Stroke(points) for points in strokes))) for _, strokes in drawn]
    data = Dataset(np.stack(pictures), np.array([1, 0, 7], np.uint8))
    status, stdout, _ = inkling("evaluate", "--model", model, "--ink", tmp_path / name, "--json")
    assert status == 0
    assert the_one_object(stdout) == as_counted(model, data)


def test_evaluate_without_json_shows_people_the_accuracy_and_who_is_taken_for_whom(
    inkling: Run, model: Path, digits: Dataset, tmp_path: Path
) -> None:
    write_pictures(tmp_path, digits)
    status, stdout, _ = inkling("evaluate", "--model", model, "--images", tmp_path)
    assert status == 0
    assert f"{as_counted(model, digits)['accuracy']:.2%} of 50 digits read right" in stdout
    assert "Who is taken for whom" in stdout


def test_classify_says_of_each_file_which_digit_it_shows_and_how_likely_each_is(
    inkling: Run, model: Path, digits: Dataset, tmp_path: Path
) -> None:
    paths = write_pictures(tmp_path, digits.part(0, 3))
    status, stdout, stderr = inkling("classify", *paths, "--model", model, "--json")
    assert (status, stderr) == (0, "")
    files = the_one_object(stdout)["files"]
    assert [list(entry) for entry in files] == [["file", "digit", "probabilities"]] * 3
    for entry, path, p in zip(files, paths, answers(model, digits.images[:3]), strict=True):
        assert entry["file"] == str(path)
        assert entry["digit"] == int(p.argmax())
        assert entry["probabilities"] == pytest.approx(p.tolist(), rel=1e-4, abs=1e-7)
        assert sum(entry["probabilities"]) == pytest.approx(1, rel=1e-5)


def test_classify_answers_for_the_good_files_and_names_the_bad_ones_with_exit_status_1(
    inkling: Run, model: Path, digits: Dataset, tmp_path: Path
) -> None:
    (good,) = write_pictures(tmp_path, digits.part(0, 1))
    absent = tmp_path / "absent.png"
    status, stdout, stderr = inkling("classify", absent, good, "--model", model, "--json")
    assert status == 1
    first, second = the_one_object(stdout)["files"]
    assert (first["file"], second["file"]) == (str(absent), str(good))
    assert str(absent) in first["error"]
    assert "digit" in second
    assert stderr == f"inkling: {first['error']}\n"


def test_classify_without_json_prints_a_line_for_each_file_whatever_its_name(
    inkling: Run, model: Path, digits: Dataset, tmp_path: Path
) -> None:
    (good,) = write_pictures(tmp_path, digits.part(0, 1))
    path = good.rename(tmp_path / f"[red]a very long name {'x' * 150}[bold].png")
    status, stdout, _ = inkling("classify", path, "--model", model)
    p = answers(model, digits.images[:1])[0]
    assert status == 0
    assert stdout == f"{path}: {p.argmax()} ({p.max():.1%})\n"


def test_devices_lists_what_can_compute_and_why_the_rest_cannot(inkling: Run) -> None:
    status, stdout, stderr = inkling("devices", "--json")
    assert (status, stderr) == (0, "")
    devices = the_one_object(stdout)["devices"]
    assert [list(entry) for entry in devices] == [["key", "name", "available", "reason", "remedy"]] * len(devices)
    assert devices[0].items() >= {"key": "cpu", "available": True, "reason": "", "remedy": ""}.items()
    for entry in devices:
        assert bool(entry["reason"]) == bool(entry["remedy"]) == (not entry["available"])
    _, text, _ = inkling("devices")
    for entry in devices:
        assert f"{entry['key']}: {entry['name']}" in text
        assert entry["reason"] in text


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("train --preset alexnet", "no preset 'alexnet'; choose quick-mlp or"),
        ("train --hidden 0", "hidden is 0; it must be a whole number from 1 to 16,384"),
        ("train --hidden=", "hidden is ''; it wants layer sizes"),
        ("train --hidden 8,x", "hidden is '8,x'; it wants layer sizes"),
        ("train --hidden 8.5", "hidden is '8.5'; it wants layer sizes"),
        ("train --hidden 1,1,1,1,1,1,1,1,1", "it wants up to 8 layer sizes"),
        (f"train --hidden {'9' * 400}", "hidden is 999"),
        ("train --epochs 0", "epochs is 0; it must be a whole number from 1"),
        ("train --epochs two", "--epochs"),
        ("train --device cuda:99", "there is no device 'cuda:99'; this machine knows auto, cpu"),
        ("train --batch-size 0", "batch size is 0; it must be"),
        ("train --learning-rate 0", "learning rate is 0.0; it must be a number from 1e-06 to 100"),
        ("train --learning-rate nan", "learning rate is nan; it must be a number"),
        ("train --learning-rate inf", "learning rate is inf; it must be a number"),
        ("train --augment 2", "augment is 2.0; it must be a number from 0 to 1"),
        ("train --seed -1", "seed is -1; it must be"),
        (f"train --seed {'9' * 400}", "seed is 999"),
        ("train --train-limit 0", "train limit is 0; it must be"),
        ("train --until-accuracy 0", "until-accuracy is 0.0; it must be above 0"),
        ("train --until-accuracy 97", "until-accuracy is 97.0; it must be above 0 and at most 1, such as 0.97"),
        ("train --until-accuracy nan", "until-accuracy is nan; it must be"),
        ("train --out /absent/folder/n.safetensors", "the folder of /absent/folder/n.safetensors does not exist"),
        ("train --momentum 1", "--momentum"),
        ("train now", "now"),
        ("evaluate --images a --ink b", "choose one of --mnist-folder, --images and --ink"),
        ("evaluate --images a --mnist-folder b", "choose one of --mnist-folder, --images and --ink"),
        ("evaluate --model", "--model"),
        ("classify", "paths"),
        ("learn", "learn"),
        ("--version", "--version"),
    ],
    ids=lambda value: value[:60],
)
def test_wrong_use_ends_with_status_2_and_a_word_on_what_is_wrong(inkling: Run, words: str, complaint: str) -> None:
    command, *others = words.split(" ")
    status, stdout, stderr = inkling(command, *(["--json"] if others else []), *others)
    assert (status, stdout) == (2, "")
    assert complaint in stderr
    assert "Traceback" not in stderr


def make(path: Path, kind: str) -> Path:
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("hello\n")
    elif kind == "empty":
        path.write_bytes(b"")
    return path


@pytest.mark.parametrize("kind", ["absent", "folder", "text", "empty"])
@pytest.mark.parametrize("option", ["--model", "--mnist-folder", "--images", "--ink"])
def test_evaluate_refuses_what_it_cannot_read_with_one_line_that_names_it(
    inkling: Run, model: Path, tmp_path: Path, option: str, kind: str
) -> None:
    path = make(tmp_path / "given.gz", kind)
    words = [] if option == "--model" else ["--model", model]
    status, stdout, stderr = inkling("evaluate", *words, option, path, "--json")
    assert (status, stdout) == (1, "")
    assert str(path) in stderr
    assert stderr.count("\n") == 1
    assert "unexpected" not in stderr


@pytest.mark.parametrize("kind", ["absent", "folder", "text", "empty"])
def test_classify_refuses_what_is_no_picture_with_one_line_that_names_it(
    inkling: Run, model: Path, tmp_path: Path, kind: str
) -> None:
    path = make(tmp_path / "given.png", kind)
    status, stdout, stderr = inkling("classify", path, "--model", model)
    assert (status, stdout) == (1, "")
    assert str(path) in stderr
    assert stderr.count("\n") == 1
    assert "unexpected" not in stderr


def test_a_job_that_cannot_be_done_ends_with_status_1_and_one_line(inkling: Run, tmp_path: Path) -> None:
    for words, complaint in (
        ("train --device cpu --batch-size 200 --train-limit 100", "batch size is 200 but there are only 100"),
        (f"evaluate --images {tmp_path / 'nowhere'}", "there is no folder"),
        (f"evaluate --images {tmp_path}", "holds no pictures"),
    ):
        status, stdout, stderr = inkling(*words.split(), "--json")
        assert (status, stdout) == (1, "")
        assert complaint in stderr
        assert stderr.count("\n") == 1


@pytest.mark.parametrize("kind", ["a folder", "in a folder where nobody may write, not even root"])
def test_a_place_where_nothing_can_be_saved_is_found_out_before_the_training(
    inkling: Run, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("the training began, and would have been lost")

    if kind != "a folder" and sys.platform != "linux":
        pytest.skip("only Linux has such a folder")
    path = tmp_path if kind == "a folder" else Path("/sys/n.safetensors")
    monkeypatch.setattr(train_command, "train", never)
    status, stdout, stderr = inkling("train", *QUICKLY, "--out", path)
    assert stdout == ""
    assert str(path) in stderr
    assert "unexpected" not in stderr
    assert status in (1, 2)


def test_an_interrupt_before_the_training_ends_the_program_without_a_traceback(
    inkling: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_command, "load_mnist", lambda: os.kill(os.getpid(), signal.SIGINT) or time.sleep(10))
    status, stdout, stderr = inkling("train", *QUICKLY, "--json")
    assert (status, stdout) == (130, "")
    assert "Traceback" not in stderr


class SurpriseError(Exception):
    """An error that no line of the program knows of."""


def test_what_nobody_thought_of_is_one_line_too(inkling: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for error, words in (
        (SurpriseError("by accident"), "SurpriseError: by accident"),
        (MemoryError(), "not enough memory"),
    ):

        def fail(error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(train_command, "load_mnist", fail)
        status, stdout, stderr = inkling("train", *QUICKLY)
        assert (status, stdout) == (1, "")
        assert words in stderr
        assert stderr.count("\n") == 1


def test_help_is_help_and_no_failure(inkling: Run) -> None:
    status, stdout, _ = inkling("--help")
    assert status == 0
    assert all(command in stdout for command in ("train", "evaluate", "classify", "devices"))


def test_without_a_model_the_shipped_one_answers(inkling: Run, digits: Dataset, tmp_path: Path) -> None:
    status, stdout, _ = inkling("evaluate", "--json")
    assert status == 0
    assert the_one_object(stdout)["accuracy"] > 0.98
    (path,) = write_pictures(tmp_path, digits.part(0, 1))
    _, stdout, _ = inkling("classify", path, "--json")
    assert the_one_object(stdout)["files"][0]["digit"] == digits.labels[0]


def program(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A real process, as a user starts it."""
    command = [sys.executable, str(ROOT / "main.py"), *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


def test_the_program_trains_from_any_folder_and_prints_nothing_but_the_object(tmp_path: Path) -> None:
    process = program("train", *QUICKLY, "--out", "here.safetensors", "--json", cwd=tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
    assert list(the_one_object(process.stdout)) == TRAIN_KEYS
    command = load_model(tmp_path / "here.safetensors").facts["command"]
    assert command == f"uv run main.py train {' '.join(QUICKLY)} --out here.safetensors --json"


def test_the_program_refuses_a_bad_model_with_one_line_and_status_1(tmp_path: Path) -> None:
    path = make(tmp_path / "bad.safetensors", "text")
    process = program("evaluate", "--model", path, cwd=tmp_path)
    assert (process.returncode, process.stdout) == (1, "")
    assert re.fullmatch(rf"inkling: {re.escape(str(path))} is not a safetensors file.*\n", process.stderr)


def test_the_program_used_wrongly_ends_with_status_2(tmp_path: Path) -> None:
    process = program("train", "--epochs", "many", cwd=tmp_path)
    assert (process.returncode, process.stdout) == (2, "")
    assert "--epochs" in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal and signals as POSIX has them")
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "a polite kill"])
def test_an_interrupt_while_training_stops_it_and_keeps_what_was_learned(
    tmp_path: Path, signal_number: signal.Signals
) -> None:
    terminal, end_of_program = os.openpty()
    out, stdout = tmp_path / "n.safetensors", tmp_path / "stdout"
    words = ["--device", "cpu", "--hidden", "32", "--epochs", "5000", "--out", str(out), "--json"]
    with stdout.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "main.py"), "train", *words],
            stdout=file,
            stderr=end_of_program,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
        )
    os.close(end_of_program)
    shown = b""
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    try:
        while b"digits/s" not in shown:
            shown += os.read(terminal, 65536)
        process.send_signal(signal_number)
        with contextlib.suppress(OSError):  # the program has closed its end
            while part := os.read(terminal, 65536):
                shown += part
        status = process.wait()
    finally:
        watchdog.cancel()
        watchdog.join()
        process.kill()
        process.wait()
        os.close(terminal)
    assert status == 0
    assert b"Traceback" not in shown
    result = the_one_object(stdout.read_text())
    assert (result["outcome"], result["model"]) == ("stopped", str(out))
    assert 0 < result["samples"] < 5000 * 55_000
    assert load_model(out).test_accuracy == pytest.approx(result["test_accuracy"], abs=5e-5)
    assert load_model(out).facts["outcome"] == "stopped"
