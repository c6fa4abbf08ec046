"""What `evaluate` says of a network as if it were saved at another precision, held against files that were."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.digits.dataset import Dataset, DigitSets
from core.predictor import Predictor
from core.training.calibration import fit_calibration
from core.training.model_file import SHIPPED_MODEL, load_model, save_model
from core.training.storage import STORAGE_PRECISIONS
from tests.core.commands import QUICKLY, SURENESS, Run, answers, sureness, the_one_object, write_pictures

KEYS = ["n", "accuracy", "per_class", "confusion", *SURENESS]


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
    assert stderr == f"inkling: --precision is {precision!r}; choose float32 or float16 or int8 or all\n"


def test_a_network_trained_here_was_fitted_on_the_digits_held_out(inkling: Run, model: Path, mnist: DigitSets) -> None:
    predictor, held_out = Predictor.from_model(load_model(model)), mnist.train.part(55_000, 60_000)
    fitted = fit_calibration(predictor.scores(held_out.images), held_out.images, held_out.labels)
    assert predictor.calibration is not None
    assert predictor.calibration.temperature == pytest.approx(fitted.temperature, rel=0.01)  # stored as float16
    assert predictor.calibration.threshold == pytest.approx(fitted.threshold, rel=0.01)
    assert predictor.calibration.most_ink == fitted.most_ink


def test_where_none_were_held_out_nothing_is_fitted(inkling: Run, digits: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "n.safetensors"
    assert inkling("train", *QUICKLY, "--validation-digits", 0, "--out", out)[0] == 0
    assert Predictor.from_model(load_model(out)).calibration is None
    write_pictures(tmp_path / "pictures", digits)
    words = ("evaluate", "--model", out, "--images", tmp_path / "pictures")
    result = the_one_object(inkling(*words, "--json")[1])
    assert list(result)[-2:] == ["confusion", "calibration_error"]
    assert "answered" not in inkling(*words)[1]


@pytest.mark.parametrize("threshold", [0.25, 0.9, 1])
def test_evaluate_tells_coverage_and_accuracy_at_any_threshold(
    inkling: Run, model: Path, pictures: Path, digits: Dataset, threshold: float
) -> None:
    words = ("evaluate", "--model", model, "--images", pictures, "--threshold", threshold)
    status, stdout, stderr = inkling(*words, "--json")
    assert (status, stderr) == (0, "")
    result = the_one_object(stdout)
    assert {name: result[name] for name in SURENESS} == sureness(model, digits, threshold)
    assert (result["accuracy_of_answered"] is None) == (threshold == 1)
    _, stdout, _ = inkling(*words)
    assert f"{result['coverage']:.2%} answered, with a confidence of at least {threshold:.2f}" in stdout
    assert f"{100 * result['calibration_error']:.2f} points" in stdout
    assert ("of these right" in stdout) == (threshold != 1)


def blot(path: Path) -> Path:
    """A spot with less ink than any digit has, which is no empty paper either."""
    picture = np.zeros((28, 28), np.uint8)
    picture[13:16, 13:16] = 255
    Image.fromarray(picture).save(path)
    return path


def test_classify_does_not_know_what_is_no_digit_and_says_what_is_nearest(
    inkling: Run, model: Path, digits: Dataset, tmp_path: Path
) -> None:
    path = blot(tmp_path / "blot.png")
    status, stdout, stderr = inkling("classify", path, "--model", model, "--json")
    assert (status, stderr) == (0, "")
    (entry,) = the_one_object(stdout)["files"]
    assert list(entry) == ["file", "digit", "probabilities", "confidence", "guess"]
    p = entry["probabilities"]
    assert (entry["digit"], entry["guess"]) == (None, p.index(max(p)))
    assert entry["confidence"] < Predictor.from_model(load_model(model)).threshold
    _, stdout, _ = inkling("classify", path, "--model", model)
    assert stdout == f"{path}: I don't know; if it is a digit, perhaps {entry['guess']} ({max(p):.1%})\n"


def test_the_threshold_decides_whether_classify_knows(
    inkling: Run, model: Path, digits: Dataset, tmp_path: Path
) -> None:
    (path,) = write_pictures(tmp_path, digits.part(0, 1))
    words = ("classify", path, "--model", model, "--json", "--threshold")
    confidence = the_one_object(inkling(*words, 0)[1])["files"][0]["confidence"]
    known, unknown = (the_one_object(inkling(*words, value)[1])["files"][0] for value in (confidence, 1))
    assert known["digit"] == unknown["guess"] == int(np.argmax(known["probabilities"]))
    assert unknown["digit"] is None


@pytest.mark.parametrize("command", ["evaluate", "classify"])
@pytest.mark.parametrize("threshold", ["-0.1", "1.5", "nan"])
def test_a_threshold_that_is_none_is_wrong_use(inkling: Run, tmp_path: Path, command: str, threshold: str) -> None:
    paths = [blot(tmp_path / "blot.png")] if command == "classify" else []
    status, stdout, stderr = inkling(command, *paths, "--threshold", threshold)
    assert (status, stdout) == (2, "")
    assert stderr == f"inkling: --threshold is {threshold}; it must be from 0 to 1, such as 0.5\n"


def test_hostile_numbers_in_a_file_are_as_good_as_none(
    inkling: Run, model: Path, digits: Dataset, tmp_path: Path
) -> None:
    network, path = load_model(model), tmp_path / "hostile.safetensors"
    (picture,) = write_pictures(tmp_path, digits.part(0, 1))
    for name, value in (("temperature", "0"), ("threshold", "nan"), ("no_digit_score", "1e999"), ("least_ink", "💥")):
        save_model(path, replace(network, facts={**network.facts, name: value}))
        status, stdout, stderr = inkling("classify", picture, "--model", path, "--json")
        assert (status, stderr) == (0, "")
        entry = the_one_object(stdout)["files"][0]
        assert entry["confidence"] == max(entry["probabilities"])
