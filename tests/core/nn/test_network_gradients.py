"""A network's gradients, held against central differences of the loss, for networks of every kind of layer.

Central differences know nothing of the layers: each parameter is moved a little to either side, in float64. The one
layer they must disagree with is the straight-through ReLU, which leaves a derivative out on purpose; what it does
instead is held against the rule it stands for.
"""

import numpy as np
import pytest

from core.device import Array, Device, HostArray
from core.nn.architecture import build_layers
from core.nn.layers.activations import ReLU, StraightThroughReLU
from core.nn.layers.linear import Linear
from core.nn.losses import Loss, SoftmaxCrossEntropy, SquaredError
from core.nn.network import Network
from tests.core.nn.networks import (
    BATCH,
    CLASSES,
    INPUTS,
    PICTURE,
    TEXTS,
    as_pixels,
    gradients_of,
    make_narrow,
    mean_loss,
    started,
)


def central_differences(network: Network, loss: Loss, x: Array, targets: Array) -> HostArray:
    """The derivative of the mean loss by each parameter."""
    slopes = []
    for i in range(len(network.parameters)):
        value, losses = float(network.parameters[i]), []
        for moved in (value + 1e-6, value - 1e-6):
            network.parameters[i] = moved
            losses.append(mean_loss(network, loss, x, targets))
        network.parameters[i] = value
        slopes.append((losses[0] - losses[1]) / 2e-6)
    return np.array(slopes)


@pytest.mark.parametrize(
    ("loss_of", "narrow"),
    [(SoftmaxCrossEntropy, True), (SquaredError, False)],
    ids=["softmax, narrow", "squares, wide"],
)
@pytest.mark.parametrize("text", TEXTS)
def test_every_parameter_s_gradient_is_the_slope_of_the_mean_loss(
    text: str,
    loss_of: type[Loss],
    narrow: bool,
    device: Device,
    rng: np.random.Generator,
    pictures: HostArray,
    targets: HostArray,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if narrow:
        make_narrow(monkeypatch)
    network = started(build_layers(text, PICTURE), device, rng, input_shape=PICTURE)
    loss, x, targets = loss_of(device, np.float64), as_pixels(device, pictures), device.to_device(targets)
    gradients = gradients_of(network, loss, x, targets)
    assert np.count_nonzero(gradients) > 0.5 * gradients.size
    blur = 2e-8 + 1e-9 * np.abs(gradients).max()  # what rounding leaves of the difference of two losses
    np.testing.assert_allclose(gradients, central_differences(network, loss, x, targets), rtol=2e-6, atol=blur)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("text", TEXTS)
def test_carried_gradients_are_the_new_ones_and_a_share_of_what_they_were(
    text: str, device: Device, rng: np.random.Generator, pictures: HostArray, targets: HostArray
) -> None:
    plain, carrying = (
        started(build_layers(text, PICTURE), device, np.random.default_rng(3), input_shape=PICTURE) for _ in range(2)
    )
    loss, wanted = SoftmaxCrossEntropy(device, np.float64), np.zeros(len(plain.parameters))
    for share in (0.9, 0.9, 0.5, 0.0, 0.7):
        carrying.carry(share)
        x, t = as_pixels(device, pictures + rng.normal(0, 0.1, pictures.shape)), device.to_device(targets)
        wanted = share * wanted + gradients_of(plain, loss, x, t)
        np.testing.assert_allclose(gradients_of(carrying, loss, x, t), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("text", TEXTS[5:11])
@pytest.mark.parametrize("shares", [1, 2, 3])
def test_dividing_the_work_among_threads_changes_neither_scores_nor_gradients(
    text: str,
    shares: int,
    rng: np.random.Generator,
    pictures: HostArray,
    targets: HostArray,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device, answers = Device(), []
    for parts, worth in ((1, 1e9), (shares, 1)):
        device.shares = parts
        monkeypatch.setattr("core.nn.layers.layer._WORTH_SHARING", worth)
        network = started(build_layers(text, PICTURE), device, np.random.default_rng(4), input_shape=PICTURE)
        x = as_pixels(device, pictures)
        gradients = gradients_of(network, SoftmaxCrossEntropy(device, np.float64), x, targets)
        answers.append((device.to_host(network.forward(x)), gradients))
    np.testing.assert_allclose(answers[1][0], answers[0][0], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(answers[1][1], answers[0][1], rtol=1e-11, atol=1e-12)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("text", TEXTS)
def test_numpy_alone_computes_what_the_blas_computes(
    text: str, rng: np.random.Generator, pictures: HostArray, targets: HostArray
) -> None:
    answers = []
    for alone in (False, True):
        device = Device()
        if alone:
            device._blas = None
        network = started(build_layers(text, PICTURE), device, np.random.default_rng(4), np.float32, PICTURE)
        loss = SoftmaxCrossEntropy(device, np.float32)
        x = as_pixels(device, pictures.astype(np.float32))
        gradients = gradients_of(network, loss, x, targets.astype(np.float32))
        answers.append((device.to_host(network.forward(x)), gradients))
    np.testing.assert_allclose(answers[1][0], answers[0][0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(answers[1][1], answers[0][1], rtol=1e-5, atol=1e-5)


def test_gradients_reach_the_first_layer_through_layers_that_follow_it_directly(
    device: Device, rng: np.random.Generator, x: HostArray, targets: HostArray
) -> None:
    network, loss = started([Linear(3), Linear(CLASSES)], device, rng), SquaredError(device, np.float64)
    x, targets = device.to_device(x), device.to_device(targets)
    gradients = gradients_of(network, loss, x, targets)
    np.testing.assert_allclose(gradients, central_differences(network, loss, x, targets), rtol=1e-6, atol=1e-8)


def test_backward_goes_back_to_the_first_layer_that_learns_and_no_further(
    device: Device, rng: np.random.Generator, x: HostArray, targets: HostArray
) -> None:
    class Early(ReLU):
        def backward(self, dy: Array) -> Array:
            raise AssertionError("nobody asked for this gradient")

    network = started([Early(), Linear(CLASSES)], device, rng)
    loss, x, targets = SquaredError(device, np.float64), device.to_device(x), device.to_device(targets)
    gradients = gradients_of(network, loss, x, targets)
    np.testing.assert_allclose(gradients, central_differences(network, loss, x, targets), rtol=1e-6, atol=1e-8)


def test_behind_a_straight_through_relu_an_output_of_0_learns_as_if_it_had_been_a_linear_output_of_0(
    device: Device, rng: np.random.Generator, x: HostArray, targets: HostArray
) -> None:
    network = started([Linear(CLASSES, bias=False), StraightThroughReLU()], device, rng)
    loss = SquaredError(device, np.float64)
    scores = network.forward(device.to_device(x), training=True)
    output = np.maximum(device.to_host(network.parameters).reshape(CLASSES, INPUTS) @ x, 0)
    assert (output == 0).any()
    np.testing.assert_allclose(device.to_host(scores), output, rtol=1e-13)
    loss.forward(scores, device.to_device(targets))
    network.backward(loss.backward())
    error = output - targets
    wanted = sum(np.outer(e, sample) for e, sample in zip(error.T, x.T, strict=True)) / BATCH
    np.testing.assert_allclose(device.to_host(network.gradients).reshape(wanted.shape), wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("text", TEXTS)
def test_gradients_are_written_anew_by_each_backward_whatever_the_batch_size_before(
    text: str, device: Device, rng: np.random.Generator, pictures: HostArray, targets: HostArray
) -> None:
    network = started(build_layers(text, PICTURE), device, rng, input_shape=PICTURE)
    loss, seen = SoftmaxCrossEntropy(device, np.float64), []
    for count in (BATCH, 3, BATCH):
        part = np.ascontiguousarray(pictures[..., :count]), np.ascontiguousarray(targets[:, :count])
        seen.append(gradients_of(network, loss, *map(device.to_device, part)))
    np.testing.assert_array_equal(seen[2], seen[0])
    assert not np.allclose(seen[1], seen[0])
