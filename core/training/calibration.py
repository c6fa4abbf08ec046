"""How far an answer can be trusted: probabilities that are right as often as they say, and pictures that are no digit.

A network's scores become probabilities by softmax, most often too sure or not sure enough of themselves; dividing the
scores by one number, the temperature, mends that (Guo et al., 2017, On Calibration of Modern Neural Networks). But ten
probabilities add up to 1 for a scribble, too. What tells digits apart from the rest is how high the scores are
altogether (the free energy of Liu et al., 2020, Energy-based Out-of-distribution Detection). So beside the ten digits
stands an eleventh answer, "no digit", whose score is always the same: a drawing has to do better than that.

All of it is fitted in a moment on digits the network has not learned from, and knows nothing of what is no digit; a
network that was shown outliers while it learned (core.digits.outliers) gives those low scores by itself.
Hidden layers tell more about some networks and less than nothing about others, so they are not asked.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

import numpy as np

from core.device import HostArray

COVERAGE = 0.99
"""The share of real digits that are to be answered."""

BINS = 15
LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE = 0.01, 100.0
LARGEST_SCORE = 1e39
"""Beyond all that float32 can hold."""


@dataclass(frozen=True)
class Calibration:
    """What was fitted for one network, numbers all.

    temperature: by what its scores are divided, 0.01 to 100; no_digit_score: the score of "no digit", as undivided as
    the others; threshold: the confidence from which an answer counts, 0 to 1; least_ink, most_ink: between what the
    mean of a digit's pixels lies, 0 to 1; calibration_error: of the digits it was fitted on, 0 to 1.

    Raises ValueError for a number that is not finite or out of range.
    """

    temperature: float
    no_digit_score: float
    threshold: float
    least_ink: float
    most_ink: float
    calibration_error: float

    def __post_init__(self) -> None:
        shares = (self.threshold, self.least_ink, self.most_ink, self.calibration_error)
        sound = LOWEST_TEMPERATURE <= self.temperature <= HIGHEST_TEMPERATURE
        if not (sound and abs(self.no_digit_score) <= LARGEST_SCORE and all(0.0 <= share <= 1.0 for share in shares)):
            raise ValueError(f"these numbers calibrate nothing: {self}")

    def probabilities(self, scores: HostArray) -> HostArray:
        """How likely each digit is, if it is one: float32 (N, 10) for `scores` (N, 10)."""
        return _softmax(scores, self.temperature).astype(np.float32)

    def confidences(self, scores: HostArray, pictures: HostArray) -> HostArray:
        """How likely the likeliest digit is among eleven answers, float64 (N,), 0 to 1.

        `scores`: (N, 10); `pictures`: uint8 (N, 28, 28). Where there is less or more ink than any digit has, it is 0.
        """
        eleven = np.column_stack([scores, np.full(len(scores), self.no_digit_score)])
        likeliest = _softmax(eleven, self.temperature)[:, :-1].max(axis=1)
        ink = _mean_ink(pictures)
        return np.where((self.least_ink <= ink) & (ink <= self.most_ink), likeliest, 0.0)

    def as_facts(self) -> dict[str, str]:
        """The numbers as a model file keeps them; `from_facts` reads them back to the last bit."""
        return {name: str(value) for name, value in asdict(self).items()}

    @classmethod
    def from_facts(cls, facts: Mapping[str, str]) -> "Calibration | None":
        """What an untrusted file says; None unless every number is there and sound."""
        try:
            return cls(**{field.name: float(facts[field.name]) for field in fields(cls)})
        except (KeyError, ValueError):
            return None


def fit_calibration(scores: HostArray, pictures: HostArray, labels: HostArray) -> Calibration:
    """The calibration of a network that gave `scores` (N, 10) to `pictures` uint8 (N, 28, 28) of `labels` (N,).

    N is at least 1, and the network must not have learned from these digits.
    """
    temperature = fit_temperature(scores, labels)
    ink = _mean_ink(pictures)
    error = calibration_error(_softmax(scores, temperature), labels)
    no_digit_score = _reached_by_most(_energy(scores, temperature))
    lenient = Calibration(temperature, no_digit_score, 0.0, float(ink.min()), float(ink.max()), error)
    return replace(lenient, threshold=_reached_by_most(lenient.confidences(scores, pictures)))


def fit_temperature(scores: HostArray, labels: HostArray) -> float:
    """The temperature at which the probabilities of `labels` (N,) are highest: least mean of -log p.

    Golden-section search: of 1 / temperature that mean is convex, so there is one valley. Where its floor is flat,
    because a network is right beyond what floats can tell, the temperature is the highest, and least sure, on it.
    """
    low, high = math.log(LOWEST_TEMPERATURE), math.log(HIGHEST_TEMPERATURE)
    golden = (math.sqrt(5) - 1) / 2
    while high - low > 1e-5:
        left, right = high - golden * (high - low), low + golden * (high - low)
        if _surprise(scores, labels, math.exp(left)) < _surprise(scores, labels, math.exp(right)):
            high = right
        else:
            low = left
    return math.exp((low + high) / 2)


def calibration_error(probabilities: HostArray, labels: HostArray) -> float:
    """Expected calibration error, 0 to 1, of `probabilities` (N, 10), N at least 1.

    Answers are sorted by their probability into fifteen bins of equal width; it is the mean distance of a bin's
    accuracy from its mean probability, by the number of answers in it (Guo et al., 2017).
    """
    likeliest = probabilities.max(axis=1).astype(np.float64)
    right = probabilities.argmax(axis=1) == labels
    bins = np.minimum((likeliest * BINS).astype(np.intp), BINS - 1)
    surplus = np.bincount(bins, likeliest - right, minlength=BINS)
    return float(np.abs(surplus).sum() / len(labels))


def coverage_at(thresholds: HostArray, confidences: HostArray, right: HostArray) -> tuple[HostArray, HostArray]:
    """For each of `thresholds` (T,): the share of digits answered, and of these the share answered right.

    `confidences` (N,) and `right` bool (N,), N at least 1, are of all digits. Both answers are float64 (T,), 0 to 1;
    the second is NaN where nothing is answered.
    """
    surest_first = np.argsort(-confidences)
    answered = np.searchsorted(-confidences[surest_first], -np.asarray(thresholds), side="right")
    hits = np.concatenate([[0], np.cumsum(right[surest_first])])[answered]
    accuracy = np.where(answered > 0, hits / np.maximum(answered, 1), np.nan)
    return answered / len(confidences), accuracy


def _softmax(scores: HostArray, temperature: float) -> HostArray:
    """Shares (N, classes) that add up to 1, float64."""
    # In float32 the largest scores would overflow.
    shifted = scores - scores.max(axis=1, keepdims=True).astype(np.float64)
    shares = np.exp(shifted / temperature)
    return shares / shares.sum(axis=1, keepdims=True)


def _energy(scores: HostArray, temperature: float) -> HostArray:
    """How high all scores are together, (N,): the score of one answer that is as likely as the ten."""
    largest = scores.max(axis=1).astype(np.float64)
    return largest + temperature * np.log(np.exp((scores - largest[:, None]) / temperature).sum(axis=1))


def _surprise(scores: HostArray, labels: HostArray, temperature: float) -> float:
    """The mean of -log p of what is true."""
    true = np.take_along_axis(scores, labels.astype(np.intp)[:, None], axis=1)[:, 0]
    return float(((_energy(scores, temperature) - true) / temperature).mean())


def _mean_ink(pictures: HostArray) -> HostArray:
    """The mean of each picture's pixels, float64 (N,), 0 to 1."""
    return pictures.mean(axis=(1, 2)) / 255.0


def _reached_by_most(values: HostArray) -> float:
    """The largest of `values` that at least `COVERAGE` of them reach."""
    return float(np.sort(values)[int(len(values) * (1.0 - COVERAGE))])
