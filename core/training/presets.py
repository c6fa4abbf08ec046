"""The named recipes, and the only place where a name becomes layers and a loss."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.nn.architecture import build_layers
from core.nn.initializers import Initializer, he_normal, uniform_over_fan_in
from core.nn.layers.layer import Layer
from core.nn.losses import Loss, SoftmaxCrossEntropy, SquaredError
from core.training.hyperparameters import INPUT_SHAPE, Hyperparameters


@dataclass(frozen=True)
class Preset:
    """A recipe: the hyperparameters to start from, the loss, and how weights start.

    `lesson` says in a sentence or two what it teaches; `figure` is the accuracy on the test set and the time it was
    measured at, seed 0, on two cores with AVX-512.
    """

    name: str
    title: str
    lesson: str
    figure: str
    hyperparameters: Hyperparameters
    loss: type[Loss] = SoftmaxCrossEntropy
    initializer: Initializer = he_normal

    def choose(self, given: Mapping[str, Any]) -> Hyperparameters:
        """The recipe's own choices but for those in `given` that are not None; raises HyperparameterError."""
        return replace(self.hyperparameters, **{name: value for name, value in given.items() if value is not None})

    def build_layers(self, network: str) -> list[Layer]:
        """The layers of a network's text, with this recipe's start; raises NetworkTextError."""
        return build_layers(network, INPUT_SHAPE, self.initializer)


class UnknownPresetError(ValueError):
    """A name that is no preset's; the message lists those there are."""


def find_preset(name: str) -> Preset:
    """The preset called `name`; raises UnknownPresetError."""
    if name not in PRESETS:
        raise UnknownPresetError(f"there is no preset {name!r:.60}; choose {' or '.join(PRESETS)}")
    return PRESETS[name]


_ALL = (
    Preset(
        name="quick-mlp",
        title="Quick MLP",
        lesson=(
            "One hidden layer, softmax and cross-entropy: all it takes to read more than 98 of 100 digits. "
            "Watch the learning rate fall towards the end and the last mistakes go."
        ),
        figure="98.8 %, 5 s",
        hyperparameters=Hyperparameters(
            network="linear 256 relu, linear 10", learning_rate=0.1, schedule="cosine", epochs=10, shift_px=1
        ),
    ),
    Preset(
        name="quick-cnn",
        title="Quick CNN",
        lesson=(
            "Two convolutions look at small patches, wherever they are, before two dense layers decide: "
            "with far fewer weights it makes half the mistakes of the dense network."
        ),
        figure="99.3 %, 45 s",
        hyperparameters=Hyperparameters(
            network="conv 16x3 relu, pool 2, conv 32x3 relu, pool 2, linear 128 relu, linear 10",
            optimizer="adam",
            learning_rate=0.003,
            schedule="one-cycle",
            epochs=8,
            augment=0.25,
            averaging=0.99,
            evaluate_every=20000,
        ),
    ),
    Preset(
        name="best-mlp",
        title="Best MLP",
        lesson=(
            "How far a network goes without convolutions: wide layers, batch normalization, dropout, and digits that "
            "are distorted anew each time they are seen."
        ),
        figure="99.35 %, 6 min",
        hyperparameters=Hyperparameters(
            network="linear 1024 bn relu, dropout 0.2, linear 512 bn relu, dropout 0.2, linear 10",
            optimizer="adam",
            learning_rate=0.002,
            schedule="one-cycle",
            epochs=60,
            augment=0.6,
            averaging=0.999,
            label_smoothing=0.05,
            evaluate_every=55000,
        ),
    ),
    Preset(
        name="best-cnn",
        title="Best CNN",
        lesson=(
            "Four convolutions with batch normalization, trained long on distorted digits and synthetic ink, the "
            "distortion fading at the end: what is left are digits that people disagree about."
        ),
        figure="99.69 %, 40 min",
        hyperparameters=Hyperparameters(
            network=(
                "conv 32x3 bn relu, conv 32x3 bn relu, pool 2, conv 64x3 bn relu, conv 64x3 bn relu, pool 2, "
                "dropout 0.3, linear 256 bn relu, dropout 0.3, linear 10"
            ),
            optimizer="adamw",
            learning_rate=0.004,
            weight_decay=0.01,
            schedule="one-cycle",
            epochs=32,
            augment=0.5,
            augment_fade=0.2,
            synthetic=0.3,
            averaging=0.999,
            label_smoothing=0.05,
            evaluate_every=55000,
        ),
    ),
    Preset(
        name="linear-softmax",
        title="Linear softmax",
        lesson=(
            "No hidden layer at all: one weighted sum of the pixels for each digit. It shows how far that goes, and "
            "what the hidden layers of the others are for."
        ),
        figure="92.3 %, 1 s",
        hyperparameters=Hyperparameters(network="linear 10", learning_rate=0.1, schedule="cosine", epochs=10),
    ),
    Preset(
        name="two-layer-net",
        title="Two-layer net",
        lesson=(
            "Fifty sigmoid units and plain gradient descent, as textbooks begin. It learns slowly; change the "
            "activation to relu, or the optimizer to adam, and watch what that is worth."
        ),
        figure="97.0 %, 4 s",
        hyperparameters=Hyperparameters(
            network="linear 50 sigmoid, linear 10", optimizer="sgd", learning_rate=0.5, epochs=17
        ),
    ),
    Preset(
        name="deep-dense-net",
        title="Deep dense net",
        lesson=(
            "Five hidden layers of a hundred units: depth alone brings a dense network little here. Remove bn from the "
            "text and watch how much harder it is to train."
        ),
        figure="98.3 %, 11 s",
        hyperparameters=Hyperparameters(
            network=(
                "linear 100 bn relu, linear 100 bn relu, linear 100 bn relu, linear 100 bn relu, linear 100 bn relu, "
                "linear 10"
            ),
            optimizer="adam",
            learning_rate=0.002,
            schedule="cosine",
            epochs=12,
        ),
    ),
    Preset(
        name="simple-conv-net",
        title="Simple conv net",
        lesson=(
            "One convolution of 5x5 and one pooling before the dense layers: the smallest network that uses that "
            "pixels have neighbours."
        ),
        figure="98.75 %, 50 s",
        hyperparameters=Hyperparameters(
            network="conv 30x5 relu, pool 2, linear 100 relu, linear 10",
            optimizer="adam",
            learning_rate=0.001,
            epochs=8,
            evaluate_every=20000,
        ),
    ),
    Preset(
        name="deep-conv-net",
        title="Deep conv net",
        lesson=(
            "Six convolutions of 3x3 with dropout: two small kernels in a row see as much as a large one, with fewer "
            "weights and one more bend between them."
        ),
        figure="99.2 %, 5 min",
        hyperparameters=Hyperparameters(
            network=(
                "conv 16x3 same relu, conv 16x3 same relu, pool 2, conv 32x3 same relu, conv 32x3 same relu, pool 2, "
                "conv 64x3 same relu, conv 64x3 same relu, pool 2, linear 50 relu, dropout 0.5, linear 10"
            ),
            optimizer="adam",
            learning_rate=0.001,
            epochs=10,
            evaluate_every=20000,
        ),
    ),
    Preset(
        name="pycuda-seed",
        title="PyCUDA perceptron",
        lesson=(
            "The plainest network that works: no biases, no softmax, squared error, every weight positive at the "
            "start. It learns from all 60,000 training digits, so its live curve is the test set."
        ),
        figure="97.7 %, 20 s",
        hyperparameters=Hyperparameters(
            network="linear 1024 nobias relu, linear 10 nobias straight-relu",
            learning_rate=0.01,
            epochs=10,
            validation_digits=0,
            evaluate_every=1000,
        ),
        loss=SquaredError,
        initializer=uniform_over_fan_in,
    ),
)

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _ALL}
