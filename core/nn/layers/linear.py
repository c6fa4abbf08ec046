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

        def compute(units: slice) -> None:
            mine = y[units]
            self.device.product(self.parameters["weight"][units], x, out=mine)
            if self.bias:
                self.xp.add(mine, self.parameters["bias"][units, None], out=mine)

        self.run_shares(self.shares(self.units, y.size * len(x)), compute)
        return y

    def backward(self, dy: Array) -> Array:
        work = dy.size * len(self._x)
        shares = self.shares(self.units, work)
        self.run_plan(self.plan("dW", dy, self._x, lambda: [self._gradient_products(dy, units) for units in shares]))
        if not self.propagates:
            return dy
        dx = self.workspace.array("dx", self._x.shape)

        def spread(inputs: slice) -> None:
            self.device.product(self.parameters["weight"][:, inputs].T, dy, out=dx[inputs])

        self.run_shares(self.shares(len(dx), work), spread)
        return dx

    def _gradient_products(self, dy: Array, units: slice) -> list[Product]:
        prepare, keep = self.device.prepare_product, self.carried
        products = [prepare(dy[units], self._x.T, self.gradients["weight"][units], keep=keep)]
        if self.bias:
            # Many times as fast as a sum over the short rows.
            ones = self.workspace.ones("ones", (dy.shape[1], 1))
            products.append(prepare(dy[units], ones, self.gradients["bias"][units, None], keep=keep))
        return products
