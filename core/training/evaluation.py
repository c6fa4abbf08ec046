"""How good a network is on a whole set: loss, accuracy, and who is taken for whom."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.device import Array, Device, HostArray
from core.digits.dataset import Dataset, to_network_input
from core.nn.losses import Loss
from core.nn.network import Network
from core.workspace import Workspace

EVALUATION_BATCH = 1000


@dataclass(frozen=True)
class Measured:
    """A network on a set of N digits: mean `loss`, and `confusion` int64 (10, 10), rows true, columns answered."""

    loss: float
    confusion: HostArray

    @property
    def accuracy(self) -> float:
        """Share of digits answered right, 0 to 1."""
        return accuracy_of(self.confusion)


class DeviceDataset:
    """A set on a device: `images` uint8 (N, 784), `labels` of the index type (N,), `classes` the ten one-hot rows.

    It fetches batches into arrays of its own and returns (network input, labels, one-hot targets).
    """

    def __init__(self, dataset: Dataset, network: Network, classes: int) -> None:
        self._device: Device = network.device
        self._inputs = network.input_shape
        self.images = self._device.to_device(dataset.images.reshape(len(dataset), -1))
        self.labels = self._device.to_device(dataset.labels.astype(np.intp))
        self._one_hot = self._device.to_device(np.eye(classes, dtype=network.dtype))
        self._workspace = Workspace(self._device, network.dtype)

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, rows: Array) -> tuple[Array, Array, Array]:
        """The digits at `rows` (index type, on the device)."""
        pictures = self._workspace.array("pictures", (len(rows), self.images.shape[1]), np.uint8)
        self._device.gather(self.images, rows, out=pictures)
        labels = self._workspace.array("labels", rows.shape, np.intp)
        self._device.gather(self.labels, rows, out=labels)
        return self._as_input(pictures), labels, self._targets(labels)

    def slice(self, start: int, stop: int) -> tuple[Array, Array, Array]:
        """The digits from `start` to before `stop`, in their own order."""
        labels = self.labels[start:stop]
        return self._as_input(self.images[start:stop]), labels, self._targets(labels)

    def _as_input(self, pictures: Array) -> Array:
        x = self._workspace.array("x", (len(pictures), *self._inputs))
        to_network_input(self._device.xp, pictures, out=x.reshape(pictures.shape))
        return x

    def _targets(self, labels: Array) -> Array:
        targets = self._workspace.array("targets", (len(labels), len(self._one_hot)))
        return self._device.gather(self._one_hot, labels, out=targets)


def evaluate(
    network: Network, loss: Loss, data: DeviceDataset, interrupted: Callable[[], bool] = lambda: False
) -> Measured | None:
    """Measure `network` on all of `data`, in its own order; None if `interrupted` answered True on the way."""
    xp = network.device.xp
    total_loss, answers = 0.0, []
    for start in range(0, len(data), EVALUATION_BATCH):
        if interrupted():
            return None
        with network.device.activate():
            x, _, targets = data.slice(start, start + EVALUATION_BATCH)
            scores = network.forward(x)
            total_loss += float(loss.forward(scores, targets))
            answers.append(network.device.to_host(xp.argmax(scores, axis=1)))
    labels = network.device.to_host(data.labels)
    return Measured(total_loss / len(data), confusion_matrix(labels, np.concatenate(answers), scores.shape[1]))


def confusion_matrix(labels: HostArray, answers: HostArray, classes: int) -> HostArray:
    """How often each class was answered by each: int64 (classes, classes), rows true, columns answered."""
    pairs = labels.astype(np.intp) * classes + answers
    return np.bincount(pairs, minlength=classes * classes).reshape(classes, classes)


def accuracy_of(confusion: HostArray) -> float:
    """Share answered right, 0 to 1."""
    return float(np.trace(confusion) / confusion.sum())


def accuracy_per_class(confusion: HostArray) -> list[float | None]:
    """For each class the share answered right, 0 to 1; None for one that does not occur."""
    totals = confusion.sum(axis=1)
    return [float(confusion[c, c] / totals[c]) if totals[c] else None for c in range(len(totals))]
