"""Ordered layers over one flat parameter array.

All parameters lie in `parameters`, all gradients in `gradients`, each layer's as views; an optimizer needs to know
nothing else, and copying a network is one copy. Weights leave as read-only host copies by name ("linear1.weight").
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from core.device import Array, Device, DTypeLike, HostArray
from core.nn.layers.layer import Layer, Shape


def weight_shapes(layers: Sequence[Layer], input_shape: Shape) -> dict[str, Shape]:
    """The names and shapes of all weights such a network has, found without allocating any."""
    return {
        f"{prefix}.{name}": shape
        for prefix, layer, inputs in _walk(layers, input_shape)
        for name, shape in layer.parameter_shapes(inputs).items()
    }


def _walk(layers: Sequence[Layer], shape: Shape) -> Iterator[tuple[str, Layer, Shape]]:
    """Each layer with its prefix ("linear1", "relu1", "linear2") and the shape of one sample that enters it."""
    counts: dict[str, int] = {}
    for layer in layers:
        counts[layer.name] = counts.get(layer.name, 0) + 1
        yield f"{layer.name}{counts[layer.name]}", layer, shape
        shape = layer.output_shape(shape)


class Network:
    """`layers` in a row for samples of `input_shape`, living on `device` in `dtype`; weights start as zeros."""

    def __init__(
        self, layers: Sequence[Layer], input_shape: Shape, device: Device, dtype: DTypeLike = np.float32
    ) -> None:
        self.layers = tuple(layers)
        self.input_shape = input_shape
        self.device = device
        self.dtype = np.dtype(dtype)
        shapes = weight_shapes(layers, input_shape)
        size = sum(math.prod(shape) for shape in shapes.values())
        self.parameters = device.xp.zeros(size, self.dtype)
        self.gradients = device.xp.zeros(size, self.dtype)
        self._weights = _views(self.parameters, shapes)
        gradients = _views(self.gradients, shapes)
        for index, (prefix, layer, inputs) in enumerate(_walk(layers, input_shape)):
            names = layer.parameter_shapes(inputs)
            layer.bind(
                device,
                self.dtype,
                {name: self._weights[f"{prefix}.{name}"] for name in names},
                {name: gradients[f"{prefix}.{name}"] for name in names},
                propagates=index > 0,
            )

    def initialize(self, rng: np.random.Generator) -> None:
        """Start weights, drawn from `rng` on the host, layer by layer."""
        start = {
            f"{prefix}.{name}": values
            for prefix, layer, inputs in _walk(self.layers, self.input_shape)
            for name, values in layer.initial_parameters(inputs, rng).items()
        }
        self.load_weights(start)

    def forward(self, x: Array, *, training: bool = False) -> Array:
        """Scores (N, outputs) for the batch x (N, *input_shape)."""
        for layer in self.layers:
            x = layer.forward(x, training=training)
        return x

    def backward(self, dscores: Array) -> None:
        """Write every parameter's gradient, given that of the scores of the last forward."""
        for layer in reversed(self.layers):
            dscores = layer.backward(dscores)

    def export_weights(self) -> dict[str, HostArray]:
        """All weights by name, read-only copies in the host's memory."""
        return _views(self.device.to_host(self.parameters), {n: w.shape for n, w in self._weights.items()})

    def load_weights(self, weights: Mapping[str, HostArray]) -> None:
        """Take over `weights`, cast to this network's dtype; raises ValueError if names or shapes differ."""
        wanted = {name: view.shape for name, view in self._weights.items()}
        given = {name: values.shape for name, values in weights.items()}
        if given != wanted:
            raise ValueError(f"the weights have the shapes {given}; this network wants {wanted}")
        for name, view in self._weights.items():
            view[...] = self.device.to_device(np.asarray(weights[name], self.dtype))


def _views(flat: Array, shapes: Mapping[str, Shape]) -> dict[str, Array]:
    views, start = {}, 0
    for name, shape in shapes.items():
        end = start + math.prod(shape)
        views[name] = flat[start:end].reshape(shape)
        start = end
    return views
