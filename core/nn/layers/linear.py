"""The fully connected layer.

Its products are divided among threads in one of two ways, so that each thread has a part of W and dW to itself, lying
in one stretch, and finds it in its own cache step after step. A wide layer gives each some of the units, which read all
of x. A narrow one gives each some of the inputs, and so only a part of x, which is more than all of y would be: what
one core has just written costs another core time to read. Its y is the sum of what each thread makes of its part.
"""

from collections.abc import Sequence

import numpy as np

from core.device import Array, HostArray
from core.nn.initializers import Initializer, he_normal
from core.nn.layers.layer import Layer, Product, Shape, ShapeError, stretches

_WORTH_DIVIDING = 40_000
"""Weights from which on a batch of a hundred or so is worth dividing among threads."""


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

    def transposed(self, input_shape: Shape) -> Sequence[str]:
        return ("weight",) if self._is_narrow(*input_shape) else ()

    def _is_narrow(self, inputs: int) -> bool:
        return 2 * self.units < inputs and self.units * inputs >= _WORTH_DIVIDING

    def forward(self, x: Array, *, training: bool) -> Array:
        self._x = x
        narrow, shape = self._is_narrow(len(x)), (self.units, x.shape[1])
        parts = self._parts(len(x) if narrow else self.units, self.units * x.size)
        if narrow:
            sums = [self.workspace.array(f"y{part.start}", shape, like=x) for part in parts]
        else:
            sums = [self.workspace.array("y", shape)]
        y = sums[0]
        self.device.run_together(self.plan("y", x, y, lambda: self._forward_products(x, sums, parts)))
        for other in sums[1:]:
            self.xp.add(y, other, out=y)
        if self.bias:
            self.xp.add(y, self.parameters["bias"][:, None], out=y)
        return y

    def backward(self, dy: Array) -> Array:
        x, work = self._x, dy.size * len(self._x)
        inputs = self._parts(len(x), work)
        parts = inputs if self._is_narrow(len(x)) else self._parts(self.units, work)
        self.device.run_together(self.plan("dW", dy, x, lambda: self._gradient_products(dy, parts)))
        if not self.propagates:
            return dy
        dx, weight = self.workspace.array("dx", x.shape, like=x), self.parameters["weight"]
        self.device.run_together(
            self.plan("dx", dy, dx, lambda: self._prepared([(weight[:, part].T, dy, dx[part]) for part in inputs]))
        )
        return dx

    def _forward_products(self, x: Array, sums: Sequence[Array], parts: Sequence[slice]) -> list[list[Product]]:
        weight = self.parameters["weight"]
        if self._is_narrow(len(x)):
            return self._prepared([(weight[:, part], x[part], y) for part, y in zip(parts, sums, strict=True)])
        return self._prepared([(weight[part], x, sums[0][part]) for part in parts])

    def _gradient_products(self, dy: Array, parts: Sequence[slice]) -> list[list[Product]]:
        x, gradient = self._x, self.gradients["weight"]
        if self._is_narrow(len(x)):
            products = [(dy, x[part].T, gradient[:, part]) for part in parts]
        else:
            products = [(dy[part], x.T, gradient[part]) for part in parts]
        made = self._prepared(products, keep=self.carried)
        if self.bias:
            # Many times as fast as a sum over the short rows.
            ones = self.workspace.ones("ones", (dy.shape[1], 1))
            made[0].append(self.device.prepare_product(dy, ones, self.gradients["bias"][:, None], keep=self.carried))
        return made

    def _parts(self, count: int, work: int) -> list[slice]:
        """0 to `count` in as many stretches as there should be products, together of `work` multiplications."""
        return self.shares(count, work) if self.divides else stretches(count, self.device.product_shares(work))

    def _prepared(self, products: Sequence[tuple[Array, Array, Array]], *, keep: float = 0.0) -> list[list[Product]]:
        """The products (a, b, out), each as a share of its own; or as one share, which the library divides."""
        if self.divides:
            return [[self.device.prepare_product(*each, keep=keep)] for each in products]
        return [[self.device.prepare_products(products, keep=keep)]]
