"""Do a GPU and the CPU learn the same? One epoch of two presets on both, with one seed: the weights and the accuracy.

Prints one JSON list. Two devices add up in another order, and rounding grows from step to step; what is allowed is a
thousandth of the largest weight of each array, and 0.2 points of accuracy on MNIST's test digits.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.digits.dataset import Splits, split
from core.digits.mnist import load_mnist
from core.training.events import TrainingEnded
from core.training.job import TrainingJob
from core.training.presets import find_preset
from core.training.trainer import train

WEIGHTS, ACCURACY = 1e-3, 0.002
CHOICES: dict[str, dict[str, Any]] = {
    "quick-mlp": {"epochs": 1},
    "quick-cnn": {"epochs": 1, "train_limit": 10_000},
}


def end_of(preset: str, device: str, splits: Splits, **choices: Any) -> TrainingEnded:
    hyperparameters = replace(find_preset(preset).hyperparameters, **choices)
    *_, end = train(TrainingJob(preset, hyperparameters, device), splits)
    assert isinstance(end, TrainingEnded)
    return end


def compare(preset: str, device: str) -> dict[str, Any]:
    choices = CHOICES[preset]
    splits = split(load_mnist(), 5000, choices.get("train_limit"))
    there, here = (end_of(preset, key, splits, **choices) for key in (device, "cpu"))
    difference = max(
        float(np.abs(there.weights[name] - here.weights[name]).max() / np.abs(here.weights[name]).max())
        for name in here.weights
    )
    apart = abs(there.test_accuracy - here.test_accuracy)
    return {
        "preset": preset,
        "outcomes": [there.outcome, here.outcome],
        "largest_relative_difference": difference,
        "test_accuracy": [there.test_accuracy, here.test_accuracy],
        "train_seconds": [there.train_seconds, here.train_seconds],
        "agrees": difference <= WEIGHTS and apart <= ACCURACY,
    }


if __name__ == "__main__":
    print(json.dumps([compare(preset, sys.argv[1] if len(sys.argv) > 1 else "cuda:0") for preset in CHOICES]))
