"""What `evaluate` says of a network as if it were saved at another precision, held against files that were."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.digits.dataset import Dataset
from core.training.model_file import SHIPPED_MODEL, load_model, save_model
from core.training.storage import STORAGE_PRECISIONS
from tests.core.commands import Run, answers, the_one_object, write_pictures

KEYS = ["n", "accuracy", "per_class", "confusion"]


def saved_as(model: Path, precision: str, folder: Path) -> Path:
    path = folder / f"{precision}.safetensors"
    save_model(path, load_model(model), precision)
    return path


def coarse(model: Path, folder: Path) -> Path:
    """A network whose rows each hold one large weight, so that int8 leaves little of the others."""
    network = load_model(model)
    first = network.weights["linear1.weight"].copy()
    first[:, 0] = 30.0  # a corner that is paper in every digit
    save_model(folder / "coarse", replace(network, weights={**network.weights, "linear1.weight": first}), "float32")
    return folder / "coarse"


@pytest.fixture
def pictures(tmp_path: Path, digits: Dataset) -> Path:
    write_pictures(tmp_path / "pictures", digits)
    return tmp_path / "pictures"


@pytest.mark.parametrize("precision", STORAGE_PRECISIONS)
def test_a_precision_gives_the_figures_of_a_file_that_was_saved_so(
    inkling: Run, model: Path, pictures: Path, tmp_path: Path, precision: str
) -> None:
    network = coarse(model, tmp_path)
    status, stdout, stderr = inkling(
        "evaluate", "--model", network, "--images", pictures, "--precision", precision, "--json"
    )
    assert (status, stderr) == (0, "")
    result = the_one_object(stdout)
    assert list(result) == [*KEYS, "precision", "bytes"]
    path = saved_as(network, precision, tmp_path)
    as_it_is = the_one_object(inkling("evaluate", "--model", path, "--images", pictures, "--json")[1])
    assert result == {**as_it_is, "precision": precision, "bytes": path.stat().st_size}


def test_all_precisions_stand_side_by_side_with_their_difference_in_points(
    inkling: Run, model: Path, pictures: Path, digits: Dataset, tmp_path: Path
) -> None:
    network = coarse(model, tmp_path)
    words = ("evaluate", "--model", network, "--images", pictures)
    result = the_one_object(inkling(*words, "--precision", "all", "--json")[1])
    assert list(result) == [*KEYS, "precisions"]
    assert {name: result[name] for name in KEYS} == the_one_object(inkling(*words, "--json")[1])
    images = np.stack([picture for label in range(10) for picture in digits.images[digits.labels == label]])
    labels = np.sort(digits.labels)
    rights = {}
    for precision, row in zip(STORAGE_PRECISIONS, result["precisions"], strict=True):
        path = saved_as(network, precision, tmp_path)
        rights[precision] = int((answers(path, images).argmax(axis=1) == labels).sum())
        assert row == {
            "precision": precision,
            "bytes": path.stat().st_size,
            "accuracy": rights[precision] / 50,
            "points": pytest.approx(2.0 * (rights[precision] - rights["float32"])),
        }
    assert rights["int8"] != rights["float32"]
    _, stdout, _ = inkling(*words, "--precision", "all")
    for row in result["precisions"]:
        line = next(line for line in stdout.splitlines() if row["precision"] in line)
        for figure in (f"{row['bytes']:,}", f"{row['accuracy']:.2%}", f"{row['points']:+.2f}"):
            assert figure in line


def test_people_are_told_the_size_too(inkling: Run, pictures: Path, tmp_path: Path) -> None:
    _, stdout, _ = inkling("evaluate", "--images", pictures, "--precision", "int8")
    size = saved_as(SHIPPED_MODEL, "int8", tmp_path).stat().st_size
    assert f"saved as int8: {size:,} bytes" in stdout


@pytest.fixture
def large(model: Path, tmp_path: Path) -> Path:
    """A network with a weight that float16 does not reach."""
    network = load_model(model)
    bias = network.weights["linear1.bias"].copy()
    bias[0] = -1e6
    path = tmp_path / "large.safetensors"
    save_model(path, replace(network, weights={**network.weights, "linear1.bias": bias}), "float32")
    return path


def test_weights_too_large_for_a_precision_are_told_in_one_line(inkling: Run, large: Path, pictures: Path) -> None:
    words = ("evaluate", "--model", large, "--images", pictures, "--json", "--precision")
    status, stdout, stderr = inkling(*words, "float16")
    assert (status, stdout, stderr) == (1, "", "inkling: some weights are too large for float16\n")
    status, stdout, stderr = inkling(*words, "all")
    assert (status, stderr) == (0, "inkling: some weights are too large for float16\n")
    rows = the_one_object(stdout)["precisions"]
    assert rows[1] == {"precision": "float16", "bytes": None, "accuracy": None, "points": None}
    assert [row["precision"] for row in rows if row["accuracy"] is not None] == ["float32", "int8"]
    assert "–" in inkling(*words[:-2], "--precision", "all")[1]


@pytest.mark.parametrize("precision", ["float64", "int4", "", "F16"])
def test_a_precision_that_is_none_is_wrong_use(inkling: Run, precision: str) -> None:
    status, stdout, stderr = inkling("evaluate", "--json", "--precision", precision)
    assert (status, stdout) == (2, "")
    assert stderr == f"inkling: precision is {precision!r}; choose float32 or float16 or int8 or all\n"
