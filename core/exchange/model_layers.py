"""A model's layers by the names of its weights: what every way out of Inkling walks along."""

from core.device import Device
from core.nn.layers.layer import Layer
from core.nn.network import Network
from core.training.hyperparameters import INPUT_SHAPE
from core.training.model_file import Model
from core.training.presets import find_preset

TINY = 1e-9
"""What core.nn.losses.SquaredError adds to each score before it takes its share of their sum."""


def model_layers(model: Model) -> list[tuple[str, Layer]]:
    """The layers in the order in which they compute, each with what its weights' names begin with ("linear1")."""
    layers = find_preset(model.preset).build_layers(model.hyperparameters.network)
    return Network(layers, INPUT_SHAPE, Device()).named_layers()
