"""The contract of a layer.

Notation, in every kernel: x is what comes in, y what goes out, dx and dy the gradients of the loss by them; N samples,
C channels, H rows, W columns. x and y have the samples along their first axis.

A layer is made from its settings alone and knows neither sizes nor device. `bind` tells it both once, and gives it its
parameters and their gradients as views into the network's two flat arrays. From then on `forward` and `backward` write
only into arrays the layer owns (`self.workspace`), so that a step allocates nothing. What `forward` returned stays
valid until its next call with the same number of samples; `backward` belongs to the last `forward`.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import TypeAlias

import numpy as np

from core.device import Array, Device, DTypeLike, HostArray
from core.workspace import Workspace

Shape: TypeAlias = tuple[int, ...]
"""The shape of one sample, without the batch axis."""


class Layer:
    """A layer without parameters; those with some say so in the three methods on top."""

    name = "layer"
    xp: ModuleType
    workspace: Workspace
    parameters: Mapping[str, Array]
    gradients: Mapping[str, Array]
    propagates: bool
    """False in the network's first layer: nobody asks for its dx."""

    def output_shape(self, input_shape: Shape) -> Shape:
        """The shape of one sample of y for this shape of one sample of x."""
        return input_shape

    def parameter_shapes(self, input_shape: Shape) -> dict[str, Shape]:
        """The parameters by name, in the order they lie in the flat array."""
        return {}

    def initial_parameters(self, input_shape: Shape, rng: np.random.Generator) -> dict[str, HostArray]:
        """Start values for every parameter, drawn on the host."""
        return {}

    def bind(
        self,
        device: Device,
        dtype: DTypeLike,
        parameters: Mapping[str, Array],
        gradients: Mapping[str, Array],
        *,
        propagates: bool,
    ) -> None:
        """Take a place in a network."""
        self.xp = device.xp
        self.workspace = Workspace(device, dtype)
        self.parameters, self.gradients = parameters, gradients
        self.propagates = propagates

    def forward(self, x: Array, *, training: bool) -> Array:
        """y for the batch x."""
        raise NotImplementedError

    def backward(self, dy: Array) -> Array:
        """dx for dy; writes the parameters' gradients on the way."""
        raise NotImplementedError
