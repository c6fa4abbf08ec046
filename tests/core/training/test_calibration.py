"""Calibration, held against sums written out digit by digit and against searches that try everything."""

import math
from collections.abc import Mapping

import numpy as np
import pytest

from core.device import HostArray
from core.training.calibration import (
    COVERAGE,
    HIGHEST_TEMPERATURE,
    LOWEST_TEMPERATURE,
    Calibration,
    calibration_error,
    coverage_at,
    fit_calibration,
    fit_temperature,
)

SOUND = Calibration(0.8, 3.5, 0.4, 0.03, 0.35, 0.01)


def softmax(scores: HostArray, temperature: float) -> list[list[float]]:
    terms = [[math.exp(score / temperature) for score in row] for row in scores.tolist()]
    return [[term / sum(row) for term in row] for row in terms]


def surprise(scores: HostArray, labels: HostArray, temperature: float) -> float:
    p = softmax(scores, temperature)
    return -sum(math.log(row[label]) for row, label in zip(p, labels.tolist(), strict=True)) / len(labels)


def drawn(rng: np.random.Generator, count: int, temperature: float) -> tuple[HostArray, HostArray]:
    """Scores of a network whose probabilities are true at `temperature`, and the labels drawn by these."""
    scores = rng.normal(0, 2, (count, 10))
    labels = np.array([rng.choice(10, p=p) for p in softmax(scores, 1.0)], np.uint8)
    return scores * temperature, labels


def some_pictures(rng: np.random.Generator, count: int) -> HostArray:
    return rng.integers(0, 256, (count, 28, 28), np.uint8) // rng.integers(3, 9, (count, 1, 1), np.uint8)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_the_temperature_is_the_best_of_a_fine_grid(rng: np.random.Generator, temperature: float) -> None:
    scores, labels = drawn(rng, 300, temperature)
    found = fit_temperature(scores.astype(np.float32), labels)
    grid = temperature * np.linspace(0.7, 1.4, 71)
    best = min(grid, key=lambda tried: surprise(scores, labels, tried))
    assert found == pytest.approx(best, abs=grid[1] - grid[0])
    assert surprise(scores, labels, found) <= surprise(scores, labels, best) + 1e-8
    assert found == pytest.approx(temperature, rel=0.2)


def test_a_network_that_is_always_right_or_never_gets_a_temperature_that_can_be_stored() -> None:
    labels = np.arange(10, dtype=np.uint8)
    always, never = np.eye(10, dtype=np.float32) * 50, np.eye(10, dtype=np.float32)[::-1] * 50
    lowest = fit_temperature(always, labels)
    assert surprise(always, labels, lowest) == pytest.approx(0, abs=1e-14)
    assert surprise(always, labels, 1.1 * lowest) > 1e-14
    assert fit_temperature(always / 5000, labels) == pytest.approx(LOWEST_TEMPERATURE, rel=1e-3)
    assert fit_temperature(never, labels) == pytest.approx(HIGHEST_TEMPERATURE, rel=1e-3)
    for scores in (always, never):
        facts = fit_calibration(scores, some_pictures(np.random.default_rng(1), 10), labels).as_facts()
        assert Calibration.from_facts(facts) is not None


def test_the_calibration_error_is_that_of_fifteen_bins_counted_one_by_one(rng: np.random.Generator) -> None:
    scores, labels = drawn(rng, 300, 3.0)
    p = np.array(softmax(scores, 1.0))
    bins: dict[int, list[tuple[float, bool]]] = {}
    for row, label in zip(p.tolist(), labels.tolist(), strict=True):
        bins.setdefault(int(max(row) * 15), []).append((max(row), row.index(max(row)) == label))
    gaps = [abs(sum(sure for sure, _ in told) - sum(right for _, right in told)) for told in bins.values()]
    assert len(gaps) > 5
    assert calibration_error(p, labels) == pytest.approx(sum(gaps) / 300)


def test_certain_and_right_is_no_error_and_certain_and_wrong_the_whole() -> None:
    certain = np.eye(10, dtype=np.float32)
    assert calibration_error(certain, np.arange(10)) == 0
    assert calibration_error(certain, (np.arange(10) + 1) % 10) == 1
    # Nine right and one wrong at 80 %: one bin, 0.9 - 0.8.
    eighty = np.full((10, 10), 0.2 / 9)
    eighty[:, 3] = 0.8
    assert calibration_error(eighty, np.array([3] * 9 + [4])) == pytest.approx(0.1)
    # Certain and wrong, 0.96 and right: both lie in the last bin, 1.96 for one that is right.
    last = np.full((2, 10), 0.04 / 9)
    last[:, 0] = (1.0, 0.96)
    assert calibration_error(last, np.array([5, 0])) == pytest.approx((1.0 + 0.96 - 1) / 2)


def test_no_digit_is_an_eleventh_answer_whose_score_is_always_the_same(rng: np.random.Generator) -> None:
    scores = rng.normal(2, 3, (50, 10)).astype(np.float32)
    pictures = np.full((50, 28, 28), 40, np.uint8)
    found = SOUND.confidences(scores, pictures)
    for row, confidence in zip(scores.tolist(), found.tolist(), strict=True):
        terms = [math.exp(score / 0.8) for score in (*row, 3.5)]
        assert confidence == pytest.approx(max(terms[:10]) / sum(terms), rel=1e-6)
    np.testing.assert_allclose(SOUND.probabilities(scores), softmax(scores, 0.8), rtol=1e-5)
    assert SOUND.probabilities(scores).dtype == np.float32


def test_more_or_less_ink_than_any_digit_has_leaves_no_confidence() -> None:
    pictures = np.zeros((5, 28, 28), np.uint8)
    for picture, level in zip(pictures, (0, 7, 8, 89, 90), strict=True):
        picture[...] = level
    scores = np.tile(np.eye(10, dtype=np.float32)[3] * 50, (5, 1))
    assert (SOUND.confidences(scores, pictures) > 0.99).tolist() == [False, False, True, True, False]
    assert SOUND.confidences(scores, pictures)[[0, 1, 4]].tolist() == [0, 0, 0]


def test_the_largest_scores_there_are_still_give_probabilities() -> None:
    largest = float(np.finfo(np.float32).max)
    scores = np.array([[largest] + [-largest] * 9, [0.0] * 10, [-largest] * 10], np.float32)
    fitted = fit_calibration(scores, np.full((3, 28, 28), 9, np.uint8), np.array([0, 1, 2], np.uint8))
    for values in (fitted.probabilities(scores), fitted.confidences(scores, np.full((3, 28, 28), 9, np.uint8))):
        assert np.isfinite(values).all()
    assert Calibration.from_facts(fitted.as_facts()) == fitted


def test_as_many_digits_are_answered_as_was_promised_and_hardly_more(rng: np.random.Generator) -> None:
    scores, labels = drawn(rng, 1000, 2.0)
    pictures = some_pictures(rng, 1000)
    fitted = fit_calibration(scores, pictures, labels)
    confidences = fitted.confidences(scores, pictures)
    assert sum(confidence >= fitted.threshold for confidence in confidences) / 1000 >= COVERAGE
    assert sum(confidence > fitted.threshold for confidence in confidences) / 1000 < COVERAGE
    assert fitted.temperature == fit_temperature(scores, labels)
    assert fitted.calibration_error == pytest.approx(calibration_error(np.array(fitted.probabilities(scores)), labels))
    ink = [int(picture.sum()) / 255 / 784 for picture in pictures]
    assert (fitted.least_ink, fitted.most_ink) == pytest.approx((min(ink), max(ink)))


def test_low_scores_are_trusted_less_than_high_ones_of_the_same_probabilities(rng: np.random.Generator) -> None:
    scores, labels = drawn(rng, 1000, 1.0)
    pictures = some_pictures(rng, 1000)
    fitted = fit_calibration(scores + 8, pictures, labels)
    np.testing.assert_allclose(fitted.probabilities(scores), fitted.probabilities(scores + 8), rtol=1e-5)
    assert (fitted.confidences(scores + 8, pictures) >= fitted.threshold).mean() >= COVERAGE
    assert (fitted.confidences(scores - 8, pictures) >= fitted.threshold).mean() < 0.01


def test_coverage_and_accuracy_are_those_counted_for_each_threshold(rng: np.random.Generator) -> None:
    confidences = rng.integers(0, 20, 200) / 20  # many are equal
    right = rng.random(200) < confidences
    thresholds = np.linspace(0, 1, 41)
    coverage, accuracy = coverage_at(thresholds, confidences, right)
    for threshold, covered, correct in zip(thresholds, coverage, accuracy, strict=True):
        answered = [hit for sure, hit in zip(confidences, right, strict=True) if sure >= threshold]
        assert covered == len(answered) / 200
        assert correct == pytest.approx(sum(answered) / len(answered) if answered else math.nan, nan_ok=True)
    assert coverage[0] == 1
    assert math.isnan(accuracy[-1])


def test_facts_give_every_number_back_to_the_last_bit(rng: np.random.Generator) -> None:
    scores, labels = drawn(rng, 200, 0.7)
    fitted = fit_calibration(scores, some_pictures(rng, 200), labels)
    facts = fitted.as_facts()
    assert all(type(value) is str for value in facts.values())
    assert Calibration.from_facts({"trained_on": "MNIST", **facts}) == fitted


def without(name: str) -> Mapping[str, str]:
    return {other: value for other, value in SOUND.as_facts().items() if other != name}


@pytest.mark.parametrize("name", list(SOUND.as_facts()))
def test_a_file_that_lacks_a_number_or_has_nonsense_in_its_place_calibrates_nothing(name: str) -> None:
    assert Calibration.from_facts(SOUND.as_facts()) == SOUND
    assert Calibration.from_facts(without(name)) is None
    for value in ("nan", "inf", "-inf", "1e400", "-1e300", "", "0x1", "[0.5]", "half", "1" * 5000):
        assert Calibration.from_facts({**SOUND.as_facts(), name: value}) is None


@pytest.mark.parametrize("name", ["threshold", "least_ink", "most_ink", "calibration_error"])
@pytest.mark.parametrize("value", ["-0.01", "1.01"])
def test_a_share_beyond_0_and_1_calibrates_nothing(name: str, value: str) -> None:
    assert Calibration.from_facts({**SOUND.as_facts(), name: value}) is None


@pytest.mark.parametrize("value", ["0", "-1", "0.009", "101"])
def test_a_temperature_that_nothing_can_be_divided_by_calibrates_nothing(value: str) -> None:
    assert Calibration.from_facts({**SOUND.as_facts(), "temperature": value}) is None
