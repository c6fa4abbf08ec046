"""The network that answers: a CPU copy of its own, never the one in training.

Layers hold state between forward and backward, so a network that trains must not be asked; this one only ever goes
forward, on weights that were handed to it.
"""

import math
from collections.abc import Callable

import numpy as np

from core.device import Device, HostArray
from core.digits.dataset import Dataset, to_network_input
from core.nn.network import Network
from core.training.evaluation import EVALUATION_BATCH, confusion_matrix, samples_last
from core.training.events import Weights
from core.training.hyperparameters import CLASSES, INPUT_SHAPE, Hyperparameters
from core.training.model_file import Model
from core.training.presets import find_preset
from core.workspace import Workspace


class Predictor:
    """A network of `preset`'s kind with the layers of `hyperparameters`, ready to answer with `weights`."""

    def __init__(
        self, preset: str, hyperparameters: Hyperparameters, weights: Weights, device: Device | None = None
    ) -> None:
        recipe = find_preset(preset)
        device = device or Device()
        self._network = Network(recipe.build_layers(hyperparameters.network), INPUT_SHAPE, device)
        self._loss = recipe.loss(device, np.float32)
        self._workspace = Workspace(device, np.float32)
        self.load_weights(weights)

    @classmethod
    def from_model(cls, model: Model, device: Device | None = None) -> "Predictor":
        """A predictor for a model as it comes from a file, on this CPU device."""
        return cls(model.preset, model.hyperparameters, model.weights, device)

    def load_weights(self, weights: Weights) -> None:
        """Answer with `weights` from now on; raises ValueError if they are of another network."""
        self._network.load_weights(weights)

    def probabilities(self, pictures: HostArray) -> HostArray:
        """Probabilities float32 (N, 10) for `pictures` uint8 (N, 28, 28), 0 paper to 255 ink."""
        flat = pictures.reshape(len(pictures), math.prod(INPUT_SHAPE))
        answers = np.empty((len(pictures), 10), np.float32)
        for start in range(0, len(flat), EVALUATION_BATCH):
            batch = flat[start : start + EVALUATION_BATCH]
            x = to_network_input(np, batch, out=self._workspace.array("x", batch.shape))
            with self._network.device.activate():
                # Weights from a file may be finite and still too large to compute with.
                scores = np.nan_to_num(self._network.forward(samples_last(x, INPUT_SHAPE)), copy=False)
                answers[start : start + len(batch)] = self._loss.probabilities(scores).T
        return answers

    def confusion(self, data: Dataset, interrupted: Callable[[], bool] = lambda: False) -> HostArray | None:
        """How often each digit of `data` was answered by each: int64 (10, 10), rows true, columns answered.

        None if `interrupted` answered True on the way.
        """
        answers = []
        for start in range(0, len(data), EVALUATION_BATCH):
            if interrupted():
                return None
            answers.append(self.probabilities(data.images[start : start + EVALUATION_BATCH]).argmax(axis=1))
        return confusion_matrix(data.labels, np.concatenate(answers), CLASSES)
