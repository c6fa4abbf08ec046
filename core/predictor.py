"""The network that answers: a CPU copy of its own, never the one in training.

Layers hold state between forward and backward, so a network that trains must not be asked; this one only ever goes
forward, on weights that were handed to it. Where it was calibrated it may also say that it does not know.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from core.device import Device, HostArray
from core.digits.dataset import Dataset, to_network_input
from core.nn.network import Network
from core.training.calibration import Calibration, fit_calibration
from core.training.evaluation import EVALUATION_BATCH, confusion_matrix, samples_last
from core.training.events import Weights
from core.training.hyperparameters import CLASSES, INPUT_SHAPE, Hyperparameters
from core.training.model_file import Model
from core.training.presets import find_preset
from core.workspace import Workspace


@dataclass(frozen=True, eq=False)
class Answer:
    """What a network says of one picture.

    `probabilities`: float32 (10,), of each digit if it is one; `guess`: the likeliest; `confidence`: how likely that
    is if it may also be no digit, 0 to 1; `digit`: the guess, or None where the network does not know.
    """

    probabilities: HostArray
    guess: int
    confidence: float
    digit: int | None


class Predictor:
    """A network of `preset`'s kind with the layers of `hyperparameters`, ready to answer with `weights`.

    Without a `calibration` its probabilities are the recipe's own, and it always knows, unless there is no ink.
    `threshold` (0 to 1) is the least confidence that makes an answer; it starts as fitted and may be set.
    """

    def __init__(
        self,
        preset: str,
        hyperparameters: Hyperparameters,
        weights: Weights,
        device: Device | None = None,
        calibration: Calibration | None = None,
    ) -> None:
        recipe = find_preset(preset)
        device = device or Device()
        self._network = Network(recipe.build_layers(hyperparameters.network), INPUT_SHAPE, device)
        self._loss = recipe.loss(device, np.float32)
        self._workspace = Workspace(device, np.float32)
        self.load_weights(weights, calibration)

    @classmethod
    def from_model(cls, model: Model, device: Device | None = None) -> "Predictor":
        """A predictor for a model as it comes from a file, on this CPU device."""
        calibration = Calibration.from_facts(model.facts)
        return cls(model.preset, model.hyperparameters, model.weights, device, calibration)

    @property
    def calibration(self) -> Calibration | None:
        """What was fitted for the weights it answers with."""
        return self._calibration

    def load_weights(self, weights: Weights, calibration: Calibration | None = None) -> None:
        """Answer with `weights` from now on, and with what was fitted for these.

        Raises ValueError if they are of another network.
        """
        self._network.load_weights(weights)
        self.calibrate(calibration)

    def calibrate(self, calibration: Calibration | None) -> None:
        """Know by `calibration`, fitted for these weights, when not to know, from its threshold on."""
        self._calibration = calibration
        self.threshold = calibration.threshold if calibration else 0.0

    def answer(self, picture: HostArray) -> Answer:
        """What `picture` uint8 (28, 28), 0 paper to 255 ink, shows."""
        (probabilities,), (confidence,) = self.read(picture[np.newaxis])
        guess = int(probabilities.argmax())
        knows = confidence > 0 and confidence >= self.threshold
        return Answer(probabilities, guess, float(confidence), guess if knows else None)

    def read(self, pictures: HostArray) -> tuple[HostArray, HostArray]:
        """Probabilities float32 (N, 10) and confidences (N,), 0 without ink, for `pictures` uint8 (N, 28, 28)."""
        scores = self.scores(pictures)
        probabilities = self._probabilities(scores)
        if self._calibration is None:
            return probabilities, probabilities.max(axis=1) * pictures.any(axis=(1, 2))
        return probabilities, self._calibration.confidences(scores, pictures)

    def probabilities(self, pictures: HostArray) -> HostArray:
        """Probabilities float32 (N, 10) for `pictures` uint8 (N, 28, 28), 0 paper to 255 ink."""
        return self._probabilities(self.scores(pictures))

    def scores(self, pictures: HostArray) -> HostArray:
        """The network's scores, all finite, float32 (N, 10), for `pictures` uint8 (N, 28, 28)."""
        flat = pictures.reshape(len(pictures), math.prod(INPUT_SHAPE))
        scores = np.empty((len(pictures), CLASSES), np.float32)
        for start in range(0, len(flat), EVALUATION_BATCH):
            batch = flat[start : start + EVALUATION_BATCH]
            x = to_network_input(np, batch, out=self._workspace.array("x", batch.shape))
            with self._network.device.activate():
                found = self._network.forward(samples_last(x, INPUT_SHAPE)).T
            # Weights from a file may be finite and still too large to compute with.
            scores[start : start + len(batch)] = np.nan_to_num(found, copy=False)
        return scores

    def _probabilities(self, scores: HostArray) -> HostArray:
        if self._calibration is not None:
            return self._calibration.probabilities(scores)
        probabilities = np.empty_like(scores)
        for start in range(0, len(scores), EVALUATION_BATCH):
            batch = slice(start, start + EVALUATION_BATCH)
            with self._network.device.activate():
                probabilities[batch] = self._loss.probabilities(scores[batch].T).T
        return probabilities

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


def calibrated(model: Model, validation: Dataset) -> Model:
    """`model` with what makes it know when it does not know, fitted on digits it has not learned from, among its facts.

    A network of two dense layers takes 5,000 digits a quarter of a second, the largest of the presets two seconds.
    """
    predictor = Predictor.from_model(model)
    fitted = fit_calibration(predictor.scores(validation.images), validation.images, validation.labels)
    return replace(model, facts={**model.facts, **fitted.as_facts()})
