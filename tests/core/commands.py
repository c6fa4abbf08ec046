"""What the tests of the command line share: words that train quickly, and what an answer should hold."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from core.digits.dataset import Dataset
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
    "weights_sha256",
]
QUICKLY = ["--device", "cpu", "--hidden", "8", "--epochs", "1", "--train-limit", "1000"]
SURENESS = ["calibration_error", "threshold", "coverage", "accuracy_of_answered"]

Run = Callable[..., tuple[int, str, str]]


def the_one_object(stdout: str) -> dict[str, Any]:
    assert stdout.endswith("}\n")
    assert stdout.count("\n") == 1
    return json.loads(stdout)


def answers(model: Path, images: np.ndarray) -> np.ndarray:
    """What the network says when asked directly, (N, 10)."""
    return Predictor.from_model(load_model(model)).probabilities(images)


def sureness(model: Path, data: Dataset, threshold: float | None = None) -> dict[str, Any]:
    """What `evaluate` should say of how sure the network is, counted digit by digit; as fitted without a threshold."""
    predictor = Predictor.from_model(load_model(model))
    threshold = predictor.threshold if threshold is None else threshold
    bins, answered = [0.0] * 15, []
    p, confidences = predictor.read(data.images)
    for row, confidence, label in zip(p.tolist(), confidences.tolist(), data.labels.tolist(), strict=True):
        right = row.index(max(row)) == label
        bins[min(int(max(row) * 15), 14)] += max(row) - right
        if confidence >= threshold:
            answered.append(right)
    return {
        "calibration_error": pytest.approx(sum(abs(surplus) for surplus in bins) / len(data)),
        "threshold": threshold,
        "coverage": len(answered) / len(data),
        "accuracy_of_answered": sum(answered) / len(answered) if answered else None,
    }


def write_pictures(folder: Path, data: Dataset) -> list[Path]:
    """One PNG for each digit, in a folder for each label."""
    paths = []
    for number, (image, label) in enumerate(zip(data.images, data.labels, strict=True)):
        path = folder / str(label) / f"{number:03}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(path)
        paths.append(path)
    return paths


def make(path: Path, kind: str) -> Path:
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("hello\n")
    elif kind == "empty":
        path.write_bytes(b"")
    return path
