"""The fully connected layer.

Its products are divided among threads by the units: each thread has some rows of W, dW and y, finds them in its cache
step after step, and reads all of x. But what one core has just written costs another time to read. A narrow layer, of
less than half as many units as inputs, is divided by the inputs instead: each thread reads a part of x alone, has some
columns of W and dW, and makes a y of its own, of which the sum is y. Its W therefore lies column by column, in which
BLAS computes a dW of few rows in half the time, too.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.device import Array, HostArray
from core.nn.initializers import Initializer, he_normal
from core.nn.layers.layer import Layer, Product, Shape, ShapeError, stretches

_WORTH_TURNING, _WORTH_DIVIDING = 4_000, 40_000
"""Weights from which on W is worth turning, and a batch of a hundred or so worth dividing among threads. How W lies
depends on the first, and so does what a checkpoint holds: see `Layer.column_major`."""


class Linear(Layer):
    """y = W x + b, with W (out, in) and b (out,); backward: dW = dy xᵀ, db = Σ dy over the batch, dx = Wᵀ dy."""

    name = "linear"
    carries = True

    def __init__(self, units: int, *, bias: bool = True, initializer: Initializer = he_normal) -> None:
        self.units = units
        self.bias = bias
        self.initializer = initializer
        self._known_parts: dict[int, tuple[list[slice], list[slice]]] = {}

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

    def column_major(self, input_shape: Shape) -> Sequence[str]:
        return ("weight",) if self._is_narrow(*input_shape) else ()

    def _is_narrow(self, inputs: int) -> bool:
        return 2 * self.units < inputs and self.units * inputs >= _WORTH_TURNING

    def bind(self, *place: Any, **how: Any) -> None:
        super().bind(*place, **how)
        self._known_parts.clear()

    def forward(self, x: Array, *, training: bool) -> Array:
        self._x = x
        shape, like = (self.units, x.shape[1]), self._like(x)
        rows, columns = self._parts(x)
        sums = [self.workspace.array(f"y{part.start}", shape, like=like) for part in columns]
        y = sums[0]
        self.device.run_together(self.plan("y", x, y, lambda: self._forward_products(x, sums, rows, columns)))
        for other in sums[1:]:
            self.xp.add(y, other, out=y)
        if self.bias:
            self.xp.add(y, self.parameters["bias"][:, None], out=y)
        return y

    def backward(self, dy: Array) -> Array:
        x = self._x
        self.device.run_together(self.plan("dW", dy, x, lambda: self._gradient_products(dy, *self._parts(x))))
        if not self.propagates:
            return dy
        # A ReLU before reads x beside it.
        dx = self.workspace.array("dx", x.shape, like=None if self.device.many_cores else x)
        self.device.run_together(self.plan("dx", dy, dx, lambda: self._input_products(dy, dx)))
        return dx

    def _like(self, x: Array) -> Array | None:
        """What y lies like in memory; None for the samples last, which is best for few units, and for losses."""
        follows = self._is_narrow(len(x)) and self.units * len(x) >= _WORTH_DIVIDING and not self.device.many_cores
        return x if follows else None

    def _parts(self, x: Array) -> tuple[list[slice], list[slice]]:
        """The rows and the columns of W as the threads have them, one of the two in one piece."""
        known = self._known_parts.get(x.shape[1])
        if known is None:
            known = self._known_parts[x.shape[1]] = self._divide(x)
        return known

    def _divide(self, x: Array) -> tuple[list[slice], list[slice]]:
        work = self.units * x.size
        if self._is_narrow(len(x)):
            columns = self._stretches(len(x), work)
            # One thread adds up the y of all.
            if len(columns) * self.units <= len(x):
                return [slice(0, self.units)], columns
        return self._stretches(self.units, work), [slice(0, len(x))]

    def _stretches(self, count: int, work: int) -> list[slice]:
        """0 to `count` in as many stretches as there should be products, together of `work` multiplications."""
        return self.shares(count, work) if self.divides else stretches(count, self.device.product_shares(work))

    def _forward_products(
        self, x: Array, sums: Sequence[Array], rows: Sequence[slice], columns: Sequence[slice]
    ) -> list[list[Product]]:
        weight, each = self.parameters["weight"], list(zip(columns, sums, strict=True))
        return self._prepared([(weight[r, c], x[c], y[r]) for r in rows for c, y in each])

    def _gradient_products(self, dy: Array, rows: Sequence[slice], columns: Sequence[slice]) -> list[list[Product]]:
        x, gradient = self._x, self.gradients["weight"]
        made = self._prepared([(dy[r], x[c].T, gradient[r, c]) for r in rows for c in columns], keep=self.carried)
        if self.bias:
            # Many times as fast as a sum over the short rows.
            ones = self.workspace.ones("ones", (dy.shape[1], 1))
            bias = self.gradients["bias"][:, None]
            made[0].append(self.device.prepare_products([(dy, ones, bias)], keep=self.carried))
        return made

    def _input_products(self, dy: Array, dx: Array) -> list[list[Product]]:
        weight = self.parameters["weight"]
        parts = self._stretches(len(dx), dy.size * len(dx))
        return self._prepared([(weight[:, part].T, dy, dx[part]) for part in parts])

    def _prepared(self, products: Sequence[tuple[Array, Array, Array]], *, keep: float = 0.0) -> list[list[Product]]:
        """The products (a, b, out), each as a share of its own; or as one share, which the library divides."""
        if self.divides:
            return [[self.device.prepare_product(*each, keep=keep)] for each in products]
        return [[self.device.prepare_products(products, keep=keep)]]
