"""The jobs without a window: keys of the JSON, what goes to which stream, and that every word reaches its job.

Numbers are held against the same network asked directly.
"""

import gzip
import json
import re
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.digits.dataset import Dataset, DigitSets
from core.digits.ink import Ink, Stroke
from core.digits.rasterizer import rasterize
from core.training.model_file import load_model
from core.training.presets import find_preset
from tests.core.commands import (
    QUICKLY,
    SURENESS,
    TRAIN_KEYS,
    Run,
    answers,
    sureness,
    the_one_object,
    write_pictures,
)


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


EVERYTHING: dict[str, tuple[str, object]] = {
    "network": ("linear 6 tanh, dropout 0.1, linear 10", "linear 6 tanh, dropout 0.1, linear 10"),
    "optimizer": ("adamw", "adamw"),
    "epochs": ("2", 2),
    "batch-size": ("30", 30),
    "learning-rate": ("0.02", 0.02),
    "momentum": ("0.5", 0.5),
    "weight-decay": ("0.001", 0.001),
    "clip-norm": ("2.5", 2.5),
    "schedule": ("one-cycle", "one-cycle"),
    "warmup": ("0.25", 0.25),
    "augment": ("0.75", 0.75),
    "augment-fade": ("0.4", 0.4),
    "synthetic": ("0.5", 0.5),
    "shift-px": ("2", 2),
    "label-smoothing": ("0.05", 0.05),
    "averaging": ("0.9", 0.9),
    "patience": ("3", 3),
    "validation-digits": ("500", 500),
    "precision": ("float64", "float64"),
    "seed": ("7", 7),
    "train-limit": ("100", 100),
}


def test_every_choice_on_the_command_line_reaches_the_run(inkling: Run, tmp_path: Path) -> None:
    out = tmp_path / "n.safetensors"
    words = [word for name, (text, _) in EVERYTHING.items() for word in (f"--{name}", text)]
    status, stdout, _ = inkling("train", "--device", "cpu", *words, "--keep-best", "--out", out, "--json")
    result, chosen = the_one_object(stdout), load_model(out).hyperparameters.as_dict()
    assert status == 0
    assert (result["preset"], result["epochs"], result["steps"], result["samples"]) == ("quick-mlp", 2, 14, 400)
    wanted = {name.replace("-", "_"): value for name, (_, value) in EVERYTHING.items()}
    assert chosen.items() >= wanted.items()
    usual = find_preset("quick-mlp").hyperparameters.as_dict()
    assert {name for name in usual if chosen[name] == usual[name]} == {"evaluate_every"}
    assert chosen["keep_best"] is True


def test_what_is_not_chosen_is_the_recipe_s(inkling: Run, tmp_path: Path) -> None:
    out = tmp_path / "n.safetensors"
    words = "train --preset pycuda-seed --device cpu --epochs 1 --hidden 8,4 --train-limit 100 --keep-last"
    status, stdout, _ = inkling(*words.split(), "--out", out, "--json")
    assert status == 0
    assert the_one_object(stdout)["validation_accuracy"] is None
    assert load_model(out).hyperparameters == replace(
        find_preset("pycuda-seed").hyperparameters,
        network="linear 8 nobias relu, linear 4 nobias relu, linear 10 nobias straight-relu",
        epochs=1,
        train_limit=100,
    )


def test_hidden_layers_may_be_given_for_a_network_given_too(inkling: Run, tmp_path: Path) -> None:
    out = tmp_path / "n.safetensors"
    words = ["--device", "cpu", "--epochs", 1, "--train-limit", 100, "--hidden", "6,5"]
    status, _, _ = inkling("train", *words, "--network", "linear 9 tanh, linear 10", "--out", out)
    assert status == 0
    assert load_model(out).hyperparameters.network == "linear 6 tanh, linear 5 tanh, linear 10"


def test_a_convolutional_network_is_trained_saved_and_measured_like_any_other(
    inkling: Run, tmp_path: Path, digits: Dataset
) -> None:
    out = tmp_path / "n.safetensors"
    words = ["--preset", "quick-cnn", "--device", "cpu", "--epochs", 1, "--train-limit", 200]
    network = "conv 4x5 bn relu, pool 2, dropout 0.2, linear 10"
    status, stdout, stderr = inkling("train", *words, "--network", network, "--out", out, "--json")
    assert (status, stderr) == (0, "")
    assert the_one_object(stdout)["outcome"] == "completed"
    write_pictures(tmp_path / "pictures", digits)
    status, stdout, _ = inkling("evaluate", "--model", out, "--images", tmp_path / "pictures", "--json")
    assert status == 0
    assert the_one_object(stdout) == as_counted(out, digits)


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
    words += ["--seed", 1]  # Far from the ends of float16 and float32 alike.
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
        **sureness(model, data),
    }


def test_evaluate_measures_on_the_built_in_test_set(inkling: Run, model: Path, mnist: DigitSets) -> None:
    status, stdout, stderr = inkling("evaluate", "--model", model, "--json")
    result = the_one_object(stdout)
    assert (status, stderr) == (0, "")
    assert list(result) == ["n", "accuracy", "per_class", "confusion", *SURENESS]
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
    assert [list(entry) for entry in files] == [["file", "digit", "probabilities", "confidence"]] * 3
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
    assert [list(entry) for entry in devices] == [
        ["key", "name", "available", "reason", "remedy", "memory_bytes"]
    ] * len(devices)
    assert devices[0].items() >= {"key": "cpu", "available": True, "reason": "", "remedy": ""}.items()
    for entry in devices:
        assert bool(entry["reason"]) == bool(entry["remedy"]) == (not entry["available"])
    _, text, _ = inkling("devices")
    for entry in devices:
        assert f"{entry['key']}: {entry['name']}" in text
        assert entry["reason"] in text


def test_without_a_model_the_shipped_one_answers(inkling: Run, digits: Dataset, tmp_path: Path) -> None:
    status, stdout, _ = inkling("evaluate", "--json")
    assert status == 0
    assert the_one_object(stdout)["accuracy"] > 0.99
    (path,) = write_pictures(tmp_path, digits.part(0, 1))
    _, stdout, _ = inkling("classify", path, "--json")
    assert the_one_object(stdout)["files"][0]["digit"] == digits.labels[0]
