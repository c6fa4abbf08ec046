"""Measuring a network, held against a plain loop over the digits in float64."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.device import Array, Device, HostArray
from core.digits.dataset import OUTLIER, Dataset, DigitSets
from core.nn.architecture import build_layers
from core.nn.layers.flatten import Flatten
from core.nn.layers.layer import Layer
from core.nn.layers.linear import Linear
from core.nn.losses import Loss, SoftmaxCrossEntropy
from core.nn.network import Network
from core.training.evaluation import (
    EVALUATION_BATCH,
    DeviceDataset,
    accuracy_of,
    accuracy_per_class,
    confusion_matrix,
    evaluate,
    samples_last,
)
from core.training.hyperparameters import INPUT_SHAPE


@pytest.fixture
def digits(few_digits: DigitSets) -> Dataset:
    """Two full evaluation batches and a smaller one."""
    digits = few_digits.train.part(0, 1150)
    assert 2 * EVALUATION_BATCH < len(digits) < 3 * EVALUATION_BATCH
    return digits


@pytest.fixture
def network(device: Device) -> Network:
    network = Network(build_layers("linear 16 relu, linear 10", INPUT_SHAPE), INPUT_SHAPE, device)
    network.initialize(np.random.default_rng(2))
    return network


@pytest.fixture
def loss(device: Device) -> Loss:
    return SoftmaxCrossEntropy(device, np.float32)


def on_device(digits: Dataset, network: Network, smoothing: float = 0.0) -> DeviceDataset:
    return DeviceDataset(digits, network.device, network.dtype, 10, smoothing)


def scores_one_by_one(network: Network, digits: Dataset) -> list[HostArray]:
    w = {name: values.astype(np.float64) for name, values in network.export_weights().items()}
    scores = []
    for picture in digits.images:
        hidden = np.maximum(w["linear1.weight"] @ (picture.ravel() / 255) + w["linear1.bias"], 0)
        scores.append(w["linear2.weight"] @ hidden + w["linear2.bias"])
    return scores


def test_loss_and_confusion_are_those_of_a_plain_loop_whatever_is_left_for_the_last_batch(
    network: Network, loss: Loss, digits: Dataset
) -> None:
    total, confusion = 0.0, [[0] * 10 for _ in range(10)]
    for scores, label in zip(scores_one_by_one(network, digits), digits.labels.tolist(), strict=True):
        total += math.log(sum(math.exp(s) for s in scores)) - scores[label]
        confusion[label][int(scores.argmax())] += 1
    measured = evaluate(network, loss, on_device(digits, network))
    assert measured is not None
    assert measured.loss == pytest.approx(total / len(digits), rel=1e-5)
    assert measured.confusion.tolist() == confusion
    assert measured.accuracy == sum(confusion[c][c] for c in range(10)) / len(digits)


def test_measuring_twice_gives_the_same_and_leaves_network_and_digits_as_they_were(
    network: Network, loss: Loss, digits: Dataset
) -> None:
    before, images = network.device.to_host(network.parameters), digits.images.copy()
    data = on_device(digits, network)
    first, second = evaluate(network, loss, data), evaluate(network, loss, data)
    assert first is not None
    assert second is not None
    assert first.loss == second.loss
    np.testing.assert_array_equal(first.confusion, second.confusion)
    np.testing.assert_array_equal(network.device.to_host(network.parameters), before)
    np.testing.assert_array_equal(digits.images, images)


class Notes(Layer):
    """Lets everything through and notes whether it was for training."""

    name = "notes"

    def __init__(self) -> None:
        self.noted: list[bool] = []

    def forward(self, x: Array, *, training: bool) -> Array:
        self.noted.append(training)
        return x


def test_measuring_is_no_training(device: Device, loss: Loss, digits: Dataset) -> None:
    notes = Notes()
    network = Network([notes, Flatten(), Linear(10)], INPUT_SHAPE, device)
    evaluate(network, loss, on_device(digits, network))
    assert notes.noted == [False, False, False]


@pytest.mark.parametrize("answers", [[True], [False, True]], ids=["at once", "after the first batch"])
def test_an_interrupted_measurement_gives_nothing(
    network: Network, loss: Loss, digits: Dataset, answers: list[bool]
) -> None:
    asked = iter(answers)
    assert evaluate(network, loss, on_device(digits, network), interrupted=lambda: next(asked)) is None
    assert next(asked, None) is None


def test_a_batch_holds_the_digits_asked_for_as_bytes_labels_and_one_hot_targets(
    network: Network, digits: Dataset, device: Device
) -> None:
    data, rows = on_device(digits, network), np.array([1149, 0, 7, 7])
    pictures, labels, targets = data.batch(device.to_device(rows))
    assert (len(data), pictures.dtype, targets.dtype) == (1150, np.uint8, np.float32)
    np.testing.assert_array_equal(device.to_host(pictures), digits.images[rows].reshape(4, 784))
    assert device.to_host(labels).tolist() == digits.labels[rows].tolist()
    one_hot = [[float(label == c) for label in digits.labels[rows]] for c in range(10)]
    assert device.to_host(targets).tolist() == one_hot


@pytest.mark.parametrize("smoothing", [0.1, 0.5])
def test_smoothed_targets_spread_a_share_of_certainty_over_all_classes(
    network: Network, digits: Dataset, device: Device, smoothing: float
) -> None:
    data, rows = on_device(digits, network, smoothing), np.array([5, 900, 5])
    for targets in (data.batch(device.to_device(rows))[2], data.slice(20, 23)[2]):
        assert targets.shape == (10, 3)
        np.testing.assert_allclose(device.to_host(targets).sum(axis=0), 1, rtol=1e-6)
    targets = device.to_host(data.batch(device.to_device(rows))[2])
    for column, label in enumerate(digits.labels[rows]):
        for c in range(10):
            wanted = 1 - smoothing * 9 / 10 if c == label else smoothing / 10
            assert targets[c, column] == pytest.approx(wanted, rel=1e-6)


def test_of_an_outlier_all_classes_are_wanted_alike(network: Network, digits: Dataset, device: Device) -> None:
    labels = digits.labels.copy()
    labels[[5, 9]] = OUTLIER
    data = on_device(Dataset(digits.images, labels), network, smoothing=0.1)
    for targets in (data.batch(device.to_device(np.array([9, 4, 5])))[2], data.slice(9, 12)[2]):
        np.testing.assert_allclose(device.to_host(targets)[:, 0], 0.1, rtol=1e-6)
        assert device.to_host(targets)[:, 1].max() == pytest.approx(0.91)


def test_bytes_become_shares_of_full_ink_and_lie_with_the_samples_last(
    network: Network, digits: Dataset, device: Device
) -> None:
    data, rows = on_device(digits, network), np.array([3, 1000])
    pixels = data.pixels(data.batch(device.to_device(rows))[0])
    assert (pixels.shape, pixels.dtype) == ((2, 784), np.float32)
    x = samples_last(pixels, INPUT_SHAPE)
    assert x.shape == (1, 28, 28, 2)
    assert device.address(x) == device.address(pixels)
    for sample, row in enumerate(rows):
        np.testing.assert_allclose(device.to_host(x[0, :, :, sample]), digits.images[row] / 255, rtol=1e-6)


def test_a_slice_holds_the_same_as_a_batch_of_its_rows(network: Network, digits: Dataset, device: Device) -> None:
    data = on_device(digits, network)
    sliced = [device.to_host(array) for array in data.slice(1100, 2100)]
    batch = [device.to_host(array) for array in data.batch(device.to_device(np.arange(1100, 1150)))]
    for one, other in zip(sliced, batch, strict=True):
        np.testing.assert_array_equal(one, other)


def test_batches_of_one_size_are_written_into_the_same_arrays(
    network: Network, digits: Dataset, device: Device
) -> None:
    data = on_device(digits, network)
    first = data.batch(device.to_device(np.arange(100)))
    data.batch(device.to_device(np.arange(30)))
    second = data.batch(device.to_device(np.arange(100, 200)))
    for one, other in zip(first, second, strict=True):
        assert device.address(one) == device.address(other)


@settings(deadline=None)
@given(st.data(), st.integers(1, 60))
def test_the_confusion_matrix_counts_each_pair_of_label_and_answer(data: st.DataObject, classes: int) -> None:
    pairs = data.draw(st.lists(st.tuples(st.integers(0, classes - 1), st.integers(0, classes - 1)), max_size=50))
    labels = np.array([label for label, _ in pairs], np.uint8)
    answers = np.array([answer for _, answer in pairs], np.intp)
    wanted = [[0] * classes for _ in range(classes)]
    for label, answer in pairs:
        wanted[label][answer] += 1
    confusion = confusion_matrix(labels, answers, classes)
    assert confusion.dtype == np.int64
    assert confusion.tolist() == wanted


def test_accuracies_are_shares_of_the_rows_and_a_class_without_digits_has_none() -> None:
    confusion = np.array([[3, 1, 0], [0, 0, 0], [2, 2, 0]])
    assert accuracy_of(confusion) == 3 / 8
    assert accuracy_per_class(confusion) == [0.75, None, 0.0]
