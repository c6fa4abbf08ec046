"""How good a network is on a whole set: loss, accuracy, and who is taken for whom."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.device import Array, Device, HostArray
from core.digits.augmentation import BatchShift
from core.digits.dataset import Dataset, to_network_input
from core.nn.layers.layer import Shape
from core.nn.losses import Loss
from core.nn.network import Network
from core.workspace import Workspace

EVALUATION_BATCH = 500


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
    """A set on a device: `images` uint8 (N, 784), `labels` of the index type (N,).

    It fetches batches into arrays of its own: pictures uint8 (n, 784), labels (n,), and targets (classes, n), one-hot
    but for the share `smoothing` of them that is spread over all classes, as all of an outlier's is.
    """

    def __init__(
        self, dataset: Dataset, device: Device, dtype: np.dtype[np.generic], classes: int, smoothing: float = 0.0
    ) -> None:
        self._device = device
        # With room before and after, so that they can be fetched from a little beside where they lie.
        self._padded = device.to_device(np.pad(dataset.images.reshape(-1), BatchShift.MARGIN))
        self.labels = device.to_device(dataset.labels.astype(np.intp))
        self.images = self._moved(0)
        # A row for each class, and one for outliers, which are of none.
        table = (1.0 - smoothing) * np.eye(classes + 1, classes) + smoothing / classes
        table[classes] = 1.0 / classes
        self._targets_of = device.to_device(table.astype(dtype))
        self._workspace = Workspace(device, dtype)

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, rows: Array, moved_by: int = 0) -> tuple[Array, Array, Array]:
        """The digits at `rows` (index type, on the device), moved on by so many pixels, -BatchShift.MARGIN to MARGIN.

        What leaves one picture comes into the next in the set.
        """
        pictures = self._workspace.array("pictures", (len(rows), self.images.shape[1]), np.uint8)
        self._device.gather(self._moved(moved_by) if moved_by else self.images, rows, out=pictures)
        labels = self._workspace.array("labels", rows.shape, np.intp)
        self._device.gather(self.labels, rows, out=labels)
        return pictures, labels, self._targets(labels)

    def slice(self, start: int, stop: int) -> tuple[Array, Array, Array]:
        """The digits from `start` to before `stop`, in their own order."""
        labels = self.labels[start:stop]
        return self.images[start:stop], labels, self._targets(labels)

    def pixels(self, pictures: Array) -> Array:
        """`pictures` uint8 (n, 784) as floats, 0 to 1, in an array of this set's own."""
        return to_network_input(self._device.xp, pictures, out=self._workspace.array("pixels", pictures.shape))

    def _moved(self, by: int) -> Array:
        """The pictures uint8 (N, 784) from `by` pixels further back."""
        first = BatchShift.MARGIN - by
        return self._padded[first : first + len(self._padded) - 2 * BatchShift.MARGIN].reshape(len(self), -1)

    def _targets(self, labels: Array) -> Array:
        targets = self._workspace.array("targets", (len(labels), self._targets_of.shape[1]))
        return self._device.gather(self._targets_of, labels, out=targets).T


def samples_last(pixels: Array, input_shape: Shape) -> Array:
    """Pixels (n, 784) as a network takes them, (*input_shape, n), without copying."""
    return pixels.T.reshape(*input_shape, len(pixels))


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
            pictures, _, targets = data.slice(start, start + EVALUATION_BATCH)
            scores = network.forward(samples_last(data.pixels(pictures), network.input_shape))
            total_loss += float(loss.forward(scores, targets))
            answers.append(network.device.to_host(xp.argmax(scores, axis=0)))
    labels = network.device.to_host(data.labels)
    return Measured(total_loss / len(data), confusion_matrix(labels, np.concatenate(answers), len(scores)))


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
