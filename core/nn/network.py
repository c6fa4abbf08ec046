"""Ordered layers over one flat parameter array.

All parameters lie in `parameters`, all gradients in `gradients`, each layer's as views, a matrix row by row or, where
the layer prefers it, column by column; what layers remember besides
(the running means of batch normalization) in `state`. An optimizer needs to know nothing else, and copying a network is
one copy. Weights, which are parameters and state, leave as read-only host copies by name ("linear1.weight").
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from core.device import Array, Device, DTypeLike, HostArray
from core.nn.layers.dropout import Dropout
from core.nn.layers.layer import Layer, Shape


def weight_shapes(layers: Sequence[Layer], input_shape: Shape) -> dict[str, Shape]:
    """The names and shapes of all weights such a network has, found without allocating any but its small state.

    Raises ShapeError where a layer cannot follow the one before.
    """
    return {**parameter_shapes(layers, input_shape), **_shapes_of(_initial_state(layers, input_shape))}


def parameter_shapes(layers: Sequence[Layer], input_shape: Shape) -> dict[str, Shape]:
    """The names and shapes of what is trained; raises ShapeError where a layer cannot follow the one before."""
    return {
        f"{prefix}.{name}": shape
        for prefix, layer, inputs in _walk(layers, input_shape)
        for name, shape in layer.parameter_shapes(inputs).items()
    }


def _column_major(layers: Sequence[Layer], input_shape: Shape) -> set[str]:
    return {
        f"{prefix}.{name}"
        for prefix, layer, inputs in _walk(layers, input_shape)
        for name in layer.column_major(inputs)
    }


def _initial_state(layers: Sequence[Layer], input_shape: Shape) -> dict[str, HostArray]:
    return {
        f"{prefix}.{name}": values
        for prefix, layer, inputs in _walk(layers, input_shape)
        for name, values in layer.initial_state(inputs).items()
    }


def _walk(layers: Sequence[Layer], shape: Shape) -> Iterator[tuple[str, Layer, Shape]]:
    """Each layer with its prefix ("linear1", "relu1", "linear2") and the shape of one sample that enters it."""
    counts: dict[str, int] = {}
    for layer in layers:
        counts[layer.name] = counts.get(layer.name, 0) + 1
        outputs = layer.output_shape(shape)
        yield f"{layer.name}{counts[layer.name]}", layer, shape
        shape = outputs


class Network:
    """`layers` in a row for samples of `input_shape`, living on `device` in `dtype`; parameters start as zeros."""

    def __init__(
        self, layers: Sequence[Layer], input_shape: Shape, device: Device, dtype: DTypeLike = np.float32
    ) -> None:
        self.layers = tuple(layers)
        self.input_shape = input_shape
        self.device = device
        self.dtype = np.dtype(dtype)
        shapes = parameter_shapes(layers, input_shape)
        state = _initial_state(layers, input_shape)
        self.parameters = device.xp.zeros(_size(shapes), self.dtype)
        self.gradients = device.xp.zeros(_size(shapes), self.dtype)
        self.state = device.xp.zeros(_size(_shapes_of(state)), self.dtype)
        self._column_major = _column_major(layers, input_shape)
        gradients = _views(self.gradients, shapes, self._column_major)
        self._weights = _views(self.parameters, shapes, self._column_major) | _views(self.state, _shapes_of(state))
        for name, values in state.items():
            self._weights[name][...] = device.to_device(values.astype(self.dtype))
        self._first_learning = len(self.layers)
        walk = list(_walk(layers, input_shape))
        self._dropouts = [(layer, inputs) for _, layer, inputs in walk if isinstance(layer, Dropout)]
        self._uncarried: list[tuple[Array, Array]] = []
        self._carried = 0.0
        self.divides = any(layer.divides for layer in self.layers)
        for index, (prefix, layer, inputs) in enumerate(walk):
            names = layer.parameter_shapes(inputs)
            layer.bind(
                device,
                self.dtype,
                {name: self._weights[f"{prefix}.{name}"] for name in names},
                {name: gradients[f"{prefix}.{name}"] for name in names},
                {name: self._weights[f"{prefix}.{name}"] for name in layer.initial_state(inputs)},
                propagates=index > self._first_learning,
                divides=self.divides,
            )
            if names:
                self._first_learning = min(self._first_learning, index)

    def initialize(self, rng: np.random.Generator) -> None:
        """Start parameters, drawn from `rng` on the host, layer by layer."""
        for prefix, layer, inputs in _walk(self.layers, self.input_shape):
            for name, values in layer.initial_parameters(inputs, rng).items():
                self._weights[f"{prefix}.{name}"][...] = self.device.to_device(np.asarray(values, self.dtype))

    def seed_dropout(self, seed: int) -> None:
        """From here on, `draw` what this seed makes drop: two networks of one seed drop the same."""
        for layer, _ in self._dropouts:
            layer.rng = np.random.default_rng((seed, self.layers.index(layer)))

    def dropout_generators(self) -> list[np.random.Generator]:
        """What `draw` draws from, in the order of the layers."""
        return [layer.rng for layer, _ in self._dropouts]

    def draw(self, samples: int) -> None:
        """Draw what is random in the next forward in training, for so many samples: to be called before each."""
        for layer, inputs in self._dropouts:
            layer.draw((*inputs, samples))

    def carry(self, share: float) -> None:
        """From the next `backward` on, each gradient becomes `share` (0 to under 1) of what it was, plus the new one.

        That is the velocity of Momentum, and costs no pass over memory where a product adds to what is there already.
        """
        self._carried = share
        for layer in self.layers:
            layer.carry(share)
        others = [layer.gradients.values() for layer in self.layers if share and not layer.carries]
        self._uncarried = [(array, self.device.xp.empty_like(array)) for arrays in others for array in arrays]

    def forward(self, x: Array, *, training: bool = False) -> Array:
        """Scores (outputs, N) for the batch x (*input_shape, N)."""
        with self.device.dividing(self.divides):
            for layer in self.layers:
                x = layer.forward(x, training=training)
        return x

    def backward(self, dscores: Array) -> None:
        """Write every parameter's gradient, given that of the scores of the last forward; see `carry`.

        It goes back no further than the first layer that learns: nobody asks for the gradient of the pixels.
        """
        for gradient, before in self._uncarried:
            before[...] = gradient
        with self.device.dividing(self.divides):
            for layer in reversed(self.layers[self._first_learning :]):
                dscores = layer.backward(dscores)
        for gradient, before in self._uncarried:
            self.device.add_scaled(before, self._carried, out=gradient)

    def named_layers(self) -> list[tuple[str, Layer]]:
        """The layers by the names their weights begin with: "conv1", "relu1", "linear1" ..."""
        return [(prefix, layer) for prefix, layer, _ in _walk(self.layers, self.input_shape)]

    def export_weights(self) -> dict[str, HostArray]:
        """All weights by name, read-only copies in the host's memory."""
        host = [self.device.to_host(array) for array in (self.parameters, self.state)]
        shapes = _shapes_of(self._weights)
        parameters = {n: s for n, s in shapes.items() if n in parameter_shapes(self.layers, self.input_shape)}
        return _views(host[0], parameters, self._column_major) | _views(
            host[1], {n: s for n, s in shapes.items() if n not in parameters}
        )

    def load_weights(self, weights: Mapping[str, HostArray]) -> None:
        """Take over `weights`, cast to this network's dtype; raises ValueError if names or shapes differ."""
        wanted, given = _shapes_of(self._weights), _shapes_of(weights)
        if given != wanted:
            raise ValueError(f"the weights have the shapes {given}; this network wants {wanted}")
        for name, view in self._weights.items():
            view[...] = self.device.to_device(np.asarray(weights[name], self.dtype))


def _shapes_of(arrays: Mapping[str, Array]) -> dict[str, Shape]:
    return {name: array.shape for name, array in arrays.items()}


def _size(shapes: Mapping[str, Shape]) -> int:
    return sum(math.prod(shape) for shape in shapes.values())


def _views(flat: Array, shapes: Mapping[str, Shape], column_major: Collection[str] = ()) -> dict[str, Array]:
    views, start = {}, 0
    for name, shape in shapes.items():
        end = start + math.prod(shape)
        part = flat[start:end]
        views[name] = part.reshape(shape[::-1]).T if name in column_major else part.reshape(shape)
        start = end
    return views
