"""The convolution, as matrix products over shifted pictures.

With the samples along the last axis, the part of a picture that a kernel's tap (i, j) meets, for one row of the output,
is one contiguous run of numbers for each channel: shifting costs nothing. So nothing is copied and laid out anew; each
row of y is a sum of k² small products, read where they lie and added up where they belong,

    y[:, h] = b + Σ W[i, j] x[:, h+i, j:j+W'],

and backward the same products run the other way. They are prepared once for each pair of arrays. Only a first layer,
whose one channel would leave nothing to multiply, has its k² shifts laid side by side as channels (`_unfold`), and a
channel of ones for the bias; and so has every layer on a device with so many cores that only one large product keeps
them busy (Chellapilla et al., 2006). Its dx is then added up from k² shifted pictures (`_fold`).
"""

from collections.abc import Callable, Sequence

import numpy as np

from core.device import Array, HostArray
from core.nn.initializers import Initializer, he_normal
from core.nn.layers.layer import Layer, Product, Shape, ShapeError

_FEW_CHANNELS = 4


class Conv2d(Layer):
    """y = b + W * x (cross-correlation, stride 1), with W (k, k, out, in) and b (out,).

    Backward: dW[i, j] = Σ dy[:, h] x[:, h+i, j:j+W']ᵀ over the rows h, db = Σ dy, and dx is the sum of W[i, j]ᵀ dy
    over the places each x was met. Pictures shrink by k - 1, or stay as they are with `same`: then they get a border of
    zeros.
    """

    name = "conv"
    divides = True

    def __init__(
        self, channels: int, size: int, *, same: bool = False, bias: bool = True, initializer: Initializer = he_normal
    ) -> None:
        self.channels, self.size, self.same, self.bias = channels, size, same, bias
        self.initializer = initializer
        self._border = (size - 1) // 2 if same else 0

    def output_shape(self, input_shape: Shape) -> Shape:
        if len(input_shape) != 3:
            raise ShapeError("there is no picture to convolve")
        if self.same and self.size % 2 == 0:
            raise ShapeError(f"same wants a kernel of odd size, not {self.size}")
        _, rows, columns = input_shape
        lost = self.size - 1 - 2 * self._border
        if min(rows, columns) <= lost:
            raise ShapeError(f"a picture of {rows}x{columns} is too small for a kernel of {self.size}x{self.size}")
        return self.channels, rows - lost, columns - lost

    def parameter_shapes(self, input_shape: Shape) -> dict[str, Shape]:
        shapes: dict[str, Shape] = {"weight": (self.size, self.size, self.channels, input_shape[0])}
        if self.bias:
            shapes["bias"] = (self.channels,)
        return shapes

    def initial_parameters(self, input_shape: Shape, rng: np.random.Generator) -> dict[str, HostArray]:
        drawn = self.initializer(rng, (self.channels, input_shape[0], self.size, self.size))
        start = {"weight": drawn.transpose(2, 3, 0, 1)}
        if self.bias:
            start["bias"] = np.zeros(self.channels)
        return start

    def forward(self, x: Array, *, training: bool) -> Array:
        y = self.workspace.array("y", (*self.output_shape(x.shape[:-1]), x.shape[-1]))
        self._unfolds = self.device.many_cores or (not self.propagates and x.shape[0] <= _FEW_CHANNELS)
        source = self._pad(x) if self._border else x if self.propagates else self._contiguous(x, "source")
        self._source_shape = source.shape
        self._x = self._unfolded(y.shape) if self._unfolds else source
        self._load_weight()
        rows = self.shares(y.shape[1], y.size * self._weight.size / self.channels)
        plan = self.plan("forward", self._x, y, lambda: [self._forward_products(self._x, y, part) for part in rows])

        def compute(part: slice, products: Product) -> None:
            if self._unfolds:
                self._unfold(source, part)
            else:
                y[:, part] = self.parameters["bias"][:, None, None, None] if self.bias else 0
            products()

        self._together(compute, rows, plan)
        return y

    def backward(self, dy: Array) -> Array:
        x = self._x
        if self.device.many_cores:
            dy = self._contiguous(dy, "dy")
        work = dy.size * self._weight.size / self.channels
        rows = self.shares(dy.shape[1], work)
        # Each share of the rows sums up a gradient of its own.
        parts = self.workspace.array("dweight", (len(rows), *self._weight.shape))
        plan = self.plan(
            "dW", x, dy, lambda: [self._weight_products(x, dy, *pair) for pair in zip(parts, rows, strict=True)]
        )
        dx = self.workspace.array("dx", self._source_shape)
        if self.propagates and self._unfolds:
            self._fold(dy, dx)
        elif self.propagates:
            source_rows = self.shares(x.shape[1], work)
            input_plan = self.plan("dx", dy, dx, lambda: [self._input_products(dy, dx, part) for part in source_rows])

            def spread(part: slice, products: Product) -> None:
                dx[:, part] = 0
                products()

            self._together(spread, source_rows, input_plan)
        self.device.run_together(plan)
        self._store_gradient(parts, dy)
        if not self.propagates:
            return dy
        inside = slice(self._border, -self._border or None)
        return dx[:, inside, inside]

    def _together(
        self,
        task: Callable[[slice, Product], None],
        parts: Sequence[slice],
        plan: Sequence[Product],
    ) -> None:
        pairs = zip(parts, plan, strict=True)
        self.device.run_together([lambda p=part, made=products: task(p, made) for part, products in pairs])  # type: ignore[misc]

    def _load_weight(self) -> None:
        """W as (k, k, out, in); where x is unfolded, with the bias as one more input, as (1, 1, out, k k in + 1)."""
        weight = self.parameters["weight"]
        if not self._unfolds:
            self._weight = weight
            return
        inputs = weight.size // self.channels
        self._weight = self.workspace.array("unfolded weight", (1, 1, self.channels, inputs + self.bias))
        kernels = self._weight[0, 0, :, :inputs].reshape(self.channels, self.size, self.size, -1)
        kernels[...] = weight.transpose(2, 0, 1, 3)
        if self.bias:
            self._weight[0, 0, :, inputs] = self.parameters["bias"]

    def _store_gradient(self, parts: Array, dy: Array) -> None:
        if not self._unfolds:
            self.xp.sum(parts, axis=0, out=self.gradients["weight"])
            if self.bias:
                self.xp.sum(dy, axis=(1, 2, 3), out=self.gradients["bias"])
            return
        total = self.xp.sum(parts, axis=0, out=self.workspace.array("dweight sum", parts.shape[1:]))[0, 0]
        inputs = self.gradients["weight"].size // self.channels
        kernels = total[:, :inputs].reshape(self.channels, self.size, self.size, -1)
        self.gradients["weight"][...] = kernels.transpose(1, 2, 0, 3)
        if self.bias:
            self.gradients["bias"][...] = total[:, inputs]

    def _forward_products(self, x: Array, y: Array, rows: slice) -> list[Product]:
        weight, wide, high = self._weight, y.shape[2], self._rows_at_once(rows)
        return [
            self.device.prepare_product(
                weight[i, j],
                _flat(x[:, row + i : row + i + high, j : j + wide]),
                _flat(y[:, row : row + high]),
                keep=float(not self._unfolds),
            )
            for row in range(rows.start, rows.stop, high)
            for i in range(weight.shape[0])
            for j in range(weight.shape[1])
        ]

    def _rows_at_once(self, rows: slice) -> int:
        """How many rows of the output one product computes: one, which stays in the cache, or all of them."""
        return rows.stop - rows.start if self.device.many_cores else 1

    def _weight_products(self, x: Array, dy: Array, dweight: Array, rows: slice) -> list[Product]:
        wide, high = dy.shape[2], self._rows_at_once(rows)
        return [
            self.device.prepare_product(
                _flat(dy[:, row : row + high]),
                _flat(x[:, row + i : row + i + high, j : j + wide]).T,
                dweight[i, j],
                keep=float(row > rows.start),
            )
            for row in range(rows.start, rows.stop, high)
            for i in range(dweight.shape[0])
            for j in range(dweight.shape[1])
        ]

    def _input_products(self, dy: Array, dx: Array, rows: slice) -> list[Product]:
        weight, (high, wide) = self.parameters["weight"], dy.shape[1:3]
        return [
            self.device.prepare_product(
                weight[i, j].T, _flat(dy[:, row - i]), _flat(dx[:, row, j : j + wide]), keep=1.0
            )
            for row in range(rows.start, rows.stop)
            for i in range(self.size)
            if 0 <= row - i < high
            for j in range(self.size)
        ]

    def _pad(self, x: Array) -> Array:
        channels, rows, columns, samples = x.shape
        inside = slice(self._border, -self._border)
        padded = self.workspace.zeros(
            "padded", (channels, rows + 2 * self._border, columns + 2 * self._border, samples)
        )
        padded[:, inside, inside] = x
        return padded

    def _contiguous(self, x: Array, name: str) -> Array:
        if x.flags.c_contiguous:
            return x
        copy = self.workspace.array(name, x.shape)
        copy[...] = x
        return copy

    def _unfolded(self, output: Shape) -> Array:
        """(k k C, H', W', N) for what each tap meets, as a channel of its own; with a bias, a channel of ones below."""
        inputs = self.parameters["weight"].size // self.channels
        return self.workspace.ones("unfolded", (inputs + self.bias, *output[1:]))

    def _unfold(self, source: Array, rows: slice) -> None:
        channels, wide = len(source), self._x.shape[2]
        for tap in range(self.size**2):
            i, j = divmod(tap, self.size)
            shifted = self._x[tap * channels : (tap + 1) * channels]
            shifted[:, rows] = source[:, rows.start + i : rows.stop + i, j : j + wide]

    def _fold(self, dy: Array, dx: Array) -> None:
        channels, (high, wide) = len(dx), dy.shape[1:3]
        taps = self._weight[0, 0, :, : self.size**2 * channels].T
        unfolded = self.workspace.array("dunfolded", (self.size**2 * channels, *dy.shape[1:]))
        self.device.product(taps, _flat(dy), out=_flat(unfolded))
        dx[...] = 0
        for tap in range(self.size**2):
            i, j = divmod(tap, self.size)
            met = dx[:, i : i + high, j : j + wide]
            self.xp.add(met, unfolded[tap * channels : (tap + 1) * channels], out=met)


def _flat(rows: Array) -> Array:
    """(C, H, W, N) as (C, H W N), in place: of a part of W, there must be one row."""
    return rows.reshape(len(rows), -1)
