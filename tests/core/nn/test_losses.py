"""Losses, held against sums written out with the math module, and their gradients against central differences."""

import math

import numpy as np
import pytest

from core.device import Device, HostArray
from core.nn.losses import Loss, SoftmaxCrossEntropy, SquaredError

TARGETS = np.array([[0.0, 1.0, 0.0, 0.1], [1.0, 0.0, 0.0, 0.8], [0.0, 0.0, 1.0, 0.1]])
"""Three classes, four samples, the last one's target smoothed."""


@pytest.fixture(params=[SoftmaxCrossEntropy, SquaredError])
def either(request: pytest.FixtureRequest, device: Device) -> Loss:
    return request.param(device, np.float64)


@pytest.fixture
def scores(rng: np.random.Generator) -> HostArray:
    return rng.normal(0, 3, (3, 4))


def softmax(scores: HostArray) -> list[float]:
    exponentials = [math.exp(float(score)) for score in scores]
    return [e / math.fsum(exponentials) for e in exponentials]


def test_cross_entropy_is_minus_the_logarithm_of_the_shares_weighted_by_the_targets_summed_over_the_batch(
    device: Device, scores: HostArray
) -> None:
    loss = SoftmaxCrossEntropy(device, np.float64).forward(device.to_device(scores), device.to_device(TARGETS))
    wanted = -math.fsum(
        float(t) * math.log(p)
        for sample, targets in zip(scores.T, TARGETS.T, strict=True)
        for p, t in zip(softmax(sample), targets, strict=True)
    )
    assert loss.shape == ()
    assert float(loss) == pytest.approx(wanted, rel=1e-13)


def test_squared_error_is_half_the_squared_distance_to_the_target_summed_over_the_batch(device: Device) -> None:
    scores = np.array([[0.5, 1.0], [1.0, 0.5], [-1.0, 0.0]])
    loss = SquaredError(device, np.float64).forward(device.to_device(scores), device.to_device(TARGETS[:, :2]))
    assert loss.shape == ()
    assert float(loss) == 0.5 * (0.25 + 0 + 1.0 + 0 + 0.25 + 0)


def test_backward_is_the_derivative_of_the_mean_loss_by_each_score(
    either: Loss, device: Device, scores: HostArray
) -> None:
    def mean_loss(at: HostArray) -> float:
        return float(either.forward(device.to_device(at), device.to_device(TARGETS))) / 4

    wanted = np.empty_like(scores)
    for place in np.ndindex(scores.shape):
        step = np.zeros_like(scores)
        step[place] = 1e-5
        wanted[place] = (mean_loss(scores + step) - mean_loss(scores - step)) / 2e-5
    mean_loss(scores)
    np.testing.assert_allclose(device.to_host(either.backward()), wanted, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("size", [1e3, 1e38])
def test_cross_entropy_of_huge_scores_in_float32_is_their_difference_and_not_infinite(
    device: Device, size: float
) -> None:
    loss = SoftmaxCrossEntropy(device, np.float32)
    scores = device.to_device(np.array([[size], [0.0], [-size]], np.float32))
    certain = loss.forward(scores, device.to_device(np.array([[1], [0], [0]], np.float32)))
    assert float(certain) == 0.0
    wrong = loss.forward(scores, device.to_device(np.array([[0], [1], [0]], np.float32)))
    assert float(wrong) == pytest.approx(size, rel=1e-6)
    np.testing.assert_allclose(device.to_host(loss.backward()), [[1.0], [-1.0], [0.0]], atol=1e-6)


def test_a_score_that_is_not_a_number_makes_the_loss_not_a_number(either: Loss, device: Device) -> None:
    scores = np.zeros((3, 2))
    scores[2, 1] = np.nan
    with device.activate():
        assert math.isnan(float(either.forward(device.to_device(scores), device.to_device(TARGETS[:, :2]))))


def test_softmax_probabilities_are_those_of_the_definition_and_the_same_for_shifted_scores(
    device: Device, scores: HostArray
) -> None:
    loss = SoftmaxCrossEntropy(device, np.float64)
    p = device.to_host(loss.probabilities(device.to_device(scores)))
    np.testing.assert_allclose(p.T, [softmax(sample) for sample in scores.T], rtol=1e-13)
    shifted = device.to_host(loss.probabilities(device.to_device(scores + 700)))
    np.testing.assert_allclose(shifted, p, rtol=1e-9)


def test_squared_error_s_probabilities_are_shares_of_the_positive_scores(device: Device) -> None:
    scores = np.array([[1.0, -5.0, 0.0], [3.0, 2.0, -1.0], [0.0, 2.0, -2.0]])
    p = device.to_host(SquaredError(device, np.float64).probabilities(device.to_device(scores)))
    np.testing.assert_allclose(p, [[0.25, 0.0, 1 / 3], [0.75, 0.5, 1 / 3], [0.0, 0.5, 1 / 3]], atol=1e-8)


def test_probabilities_of_float32_scores_add_up_to_one(either: Loss, device: Device, rng: np.random.Generator) -> None:
    narrow = type(either)(device, np.float32)
    p = device.to_host(narrow.probabilities(device.to_device(rng.normal(0, 30, (10, 50)).astype(np.float32))))
    assert p.dtype == np.float32
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=0), 1.0, rtol=1e-6)


def test_a_loss_writes_only_arrays_of_its_own_and_the_same_ones_each_time(
    either: Loss, device: Device, scores: HostArray
) -> None:
    on_device, targets = device.to_device(scores), device.to_device(TARGETS)
    first = either.forward(on_device, targets), either.backward(), either.probabilities(on_device)
    second = either.forward(on_device, targets), either.backward(), either.probabilities(on_device)
    assert [id(array) for array in first] == [id(array) for array in second]
    np.testing.assert_array_equal(device.to_host(on_device), scores)
    np.testing.assert_array_equal(device.to_host(targets), TARGETS)
