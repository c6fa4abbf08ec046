"""The fully connected layer."""

import numpy as np

from core.device import Array, HostArray
from core.nn.initializers import Initializer, he_normal
from core.nn.layers.layer import Layer, Product, Shape, ShapeError


class Linear(Layer):
    """y = W x + b, with W (out, in) and b (out,); backward: dW = dy xᵀ, db = Σ dy over the batch, dx = Wᵀ dy."""

    name = "linear"
    carries = True

    def __init__(self, units: int, *, bias: bool = True, initializer: Initializer = he_normal) -> None:
        self.units = units
        self.bias = bias
        self.initializer = initializer

    def output_shape(self, input_shape: Shape) -> Shape:
        if len(input_shape) != 1:
            raise ShapeError("linear wants a row of numbers, not a picture; put flatten before it")
        return (self.units,)

    def parameter_shapes(self, input_shape: Shape) -> dict[str, Shape]:
        (inputs,) = input_shape
        shapes: dict[str, Shape] = {"weight": (self.units, inputs)}
        if self.bias:
            shapes["bias"] = (self.units,)
        return shapes

    def initial_parameters(self, input_shape: Shape, rng: np.random.Generator) -> dict[str, HostArray]:
        (inputs,) = input_shape
        start = {"weight": self.initializer(rng, (self.units, inputs))}
        if self.bias:
            start["bias"] = np.zeros(self.units)
        return start

    def forward(self, x: Array, *, training: bool) -> Array:
        self._x = x
        y = self.workspace.array("y", (self.units, x.shape[1]))
        shares, weight = self.shares(self.units, y.size * len(x)), self.parameters["weight"]
        self.device.run_together(
            self.plan("y", x, y, lambda: [[self._product(weight[units], x, y[units])] for units in shares])
        )
        if self.bias:
            self.xp.add(y, self.parameters["bias"][:, None], out=y)
        return y

    def backward(self, dy: Array) -> Array:
        work = dy.size * len(self._x)
        shares = self.shares(self.units, work)
        self.device.run_together(
            self.plan("dW", dy, self._x, lambda: [self._gradient_products(dy, units) for units in shares])
        )
        if not self.propagates:
            return dy
        dx, weight = self.workspace.array("dx", self._x.shape), self.parameters["weight"]
        parts = self.shares(len(dx), work)
        self.device.run_together(
            self.plan("dx", dy, dx, lambda: [[self._product(weight[:, part].T, dy, dx[part])] for part in parts])
        )
        return dx

    def _gradient_products(self, dy: Array, units: slice) -> list[Product]:
        prepare, keep = self.device.prepare_product, self.carried
        products = [self._product(dy[units], self._x.T, self.gradients["weight"][units], keep=keep)]
        if self.bias:
            # Many times as fast as a sum over the short rows.
            ones = self.workspace.ones("ones", (dy.shape[1], 1))
            products.append(prepare(dy[units], ones, self.gradients["bias"][units, None], keep=keep))
        return products

    def _product(self, a: Array, b: Array, out: Array, keep: float = 0.0) -> Product:
        """out = keep out + a b, where each thread always has the same rows: those of its units, or of its inputs."""
        return self.device.prepare_product(a, b, out, keep=keep, fixed_rows=not self.divides)
