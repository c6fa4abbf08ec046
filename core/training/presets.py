"""The named recipes, and the only place where a name becomes layers and a loss."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.nn.initializers import uniform_over_fan_in
from core.nn.layers.activations import ReLU, StraightThroughReLU
from core.nn.layers.layer import Layer, Shape
from core.nn.layers.linear import Linear
from core.nn.losses import Loss, SoftmaxCrossEntropy, SquaredError
from core.training.hyperparameters import Hyperparameters

INPUT_SHAPE: Shape = (28 * 28,)
CLASSES = 10


@dataclass(frozen=True)
class Preset:
    """A recipe: what kind of network, which loss, and the hyperparameters to start from.

    `lesson` says in a sentence or two what it teaches.
    """

    name: str
    title: str
    lesson: str
    hyperparameters: Hyperparameters
    build_layers: Callable[[Sequence[int]], list[Layer]]
    loss: type[Loss]


class UnknownPresetError(ValueError):
    """A name that is no preset's; the message lists those there are."""


def find_preset(name: str) -> Preset:
    """The preset called `name`; raises UnknownPresetError."""
    if name not in PRESETS:
        raise UnknownPresetError(f"there is no preset {name!r:.60}; choose {' or '.join(PRESETS)}")
    return PRESETS[name]


def _multilayer_perceptron(hidden: Sequence[int]) -> list[Layer]:
    layers: list[Layer] = []
    for units in hidden:
        layers += [Linear(units), ReLU()]
    return [*layers, Linear(CLASSES)]


def _pycuda_perceptron(hidden: Sequence[int]) -> list[Layer]:
    layers: list[Layer] = []
    for units in hidden:
        layers += [Linear(units, bias=False, initializer=uniform_over_fan_in), ReLU()]
    return [*layers, Linear(CLASSES, bias=False, initializer=uniform_over_fan_in), StraightThroughReLU()]


_QUICK_MLP = Preset(
    name="quick-mlp",
    title="Quick MLP",
    lesson=(
        "One hidden layer, softmax and cross-entropy: all it takes to read more than 98 of 100 digits. "
        "Watch the learning rate fall towards the end and the last mistakes go."
    ),
    hyperparameters=Hyperparameters(
        hidden=(256,), learning_rate=0.1, momentum=0.9, schedule="cosine", batch_size=100, epochs=10, shift_px=1
    ),
    build_layers=_multilayer_perceptron,
    loss=SoftmaxCrossEntropy,
)

_PYCUDA_SEED = Preset(
    name="pycuda-seed",
    title="PyCUDA perceptron",
    lesson=(
        "The plainest network that works: no biases, no softmax, squared error, every weight positive at the start. "
        "It learns from all 60,000 training digits, so its live curve is the test set."
    ),
    hyperparameters=Hyperparameters(
        hidden=(1024,),
        learning_rate=0.01,
        momentum=0.9,
        batch_size=100,
        epochs=10,
        validation_digits=0,
        evaluate_every=1000,
    ),
    build_layers=_pycuda_perceptron,
    loss=SquaredError,
)

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in (_QUICK_MLP, _PYCUDA_SEED)}
