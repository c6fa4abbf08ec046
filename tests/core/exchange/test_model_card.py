"""Model cards, held against figures worked out here."""

import re

import numpy as np
import pytest

from core.exchange.model_card import model_card
from core.training.model_file import file_size
from tests.core.exchange.foreign import CALIBRATED, random_model

FACTS = {"trained_on": "MNIST", "epochs_completed": "3", "command": "uv run main.py train | tee <log>"}


@pytest.fixture
def confusion() -> np.ndarray:
    """A hundred of each digit: twelve 4 read as 9, five 7 as 1, one 0 as 6."""
    counts = np.diag([99, 100, 100, 100, 88, 100, 100, 95, 100, 100])
    counts[0, 6], counts[4, 9], counts[7, 1] = 1, 12, 5
    return counts


def section(card: str, name: str) -> str:
    return card.split(f"\n## {name}\n")[1].split("\n## ")[0]


def rows(text: str) -> dict[str, list[str]]:
    """The lines of its tables by their first cell."""
    cells = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines() if line[:1] == "|"
    ]
    return {line[0]: line[1:] for line in cells}


def test_it_says_how_good_the_network_is_overall_by_class_and_at_what_it_errs(confusion: np.ndarray) -> None:
    card = model_card(random_model("linear 8 relu, linear 10"), confusion)
    assert card.startswith("# Quick MLP: a network that reads 98.20% of MNIST's test digits right\n")
    quality = section(card, "How good it is")
    assert "982 of 1,000 test digits are read right: 98.20%." in quality
    table = rows(quality)
    assert table["4"] == ["88.0%", "·", "·", "·", "·", "88", "·", "·", "·", "·", "12"]
    assert table["1"] == ["100.0%", "·", "100", *["·"] * 8]
    assert "Most often confused: 4 read as 9 (12 times), 7 read as 1 (5 times), 0 read as 6 (1 times)." in quality


def test_without_a_mistake_none_is_named() -> None:
    assert "It made no mistake there." in model_card(random_model("linear 10"), np.diag([5] * 10))
    absent = np.diag([5] * 9 + [0])
    assert rows(section(model_card(random_model("linear 10"), absent), "How good it is"))["9"][0] == "–"


def test_it_says_what_the_network_is_and_how_large(confusion: np.ndarray) -> None:
    model = random_model("conv 4x3 bn relu, pool 2, linear 10")
    card = model_card(model, confusion)
    what = section(card, "What it is")
    assert "    conv 4x3 bn relu, pool 2, linear 10\n" in what
    assert "It has 6,814 weights" in what  # 4 * 9 + 2 * 4, and 676 * 10 + 10
    assert rows(what)["pool 2"] == ["4x13x13", ""]
    assert rows(what)["linear 10"] == ["10", "6,770"]
    size = section(card, "Size")
    assert "6,822 numbers in all" in size
    for precision in ("float32", "float16", "int8"):
        assert rows(size)[precision] == [f"{file_size(model, precision):,} bytes"]


def test_it_says_what_the_network_was_trained_on(confusion: np.ndarray) -> None:
    table = rows(section(model_card(random_model("linear 10", facts=FACTS), confusion), "Trained on"))
    assert table["recipe"] == ["Quick MLP"]
    assert (table["trained on"], table["epochs completed"]) == (["MNIST"], ["3"])
    assert table["optimizer"] == ["momentum"]
    assert "patience" not in table  # as it is without being chosen
    assert table["command"] == [r"uv run main.py train \| tee &lt;log>"]


def test_it_says_how_far_calibrated_probabilities_can_be_trusted(confusion: np.ndarray) -> None:
    card = model_card(random_model("linear 10", facts={**FACTS, **CALIBRATED}), confusion)
    quality = section(card, "How good it is")
    assert "by 1.23 points in the mean" in quality
    assert "Where its confidence is below 25.0%, Inkling answers that it does not know" in quality
    assert "temperature" not in card
    assert "calibrated" not in model_card(random_model("linear 10", facts=FACTS), confusion)


def test_a_foreign_network_s_training_is_not_made_up(confusion: np.ndarray) -> None:
    model = random_model("linear 10", facts={"imported_from": "their.onnx"})
    trained = section(model_card(model, confusion), "Trained on")
    assert "made by another program; how it was trained is not known" in trained
    assert rows(trained)["imported from"] == ["their.onnx"]
    assert "optimizer" not in trained


def test_its_commands_name_the_file(confusion: np.ndarray) -> None:
    use = section(model_card(random_model("linear 10"), confusion, "my net.safetensors"), "How to use it")
    assert '    uv run main.py classify picture.png --model "my net.safetensors"\n' in use


def test_limits_and_licence_are_there(confusion: np.ndarray) -> None:
    card = model_card(random_model("linear 10"), confusion)
    assert "which digit it would be, not whether it is one" in " ".join(section(card, "Limits").split())
    assert "Attribution-ShareAlike 3.0" in section(card, "Licence")


def test_the_same_model_has_the_same_card(confusion: np.ndarray) -> None:
    facts = [FACTS, dict(reversed(FACTS.items()))]  # a file's metadata come in any order
    first, second = (model_card(random_model("linear 10", facts=f), confusion) for f in facts)
    assert first == second
