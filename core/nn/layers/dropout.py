"""Dropout: while training, silence a random part of the network at each step."""

import math

import numpy as np

from core.device import Array
from core.nn.layers.layer import Layer, Shape


class Dropout(Layer):
    """Training: y = x m, dx = dy m, where m is 1 / (1 - rate) with probability 1 - rate and 0 otherwise; else y = x.

    "Inverted": what is left is scaled up while training, so that nothing has to be scaled when it is over. `rate` is 0
    to under 1, counts in steps of 1/256, and may be changed between steps. What is silenced is drawn by `draw`, and
    stays the same until the next. Srivastava et al., 2014.
    """

    name = "dropout"

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.rng = np.random.default_rng(0)

    def draw(self, shape: Shape) -> None:
        # Drawn on the host, so that every device drops the same; bytes are quick to draw, and fine enough.
        drawn = np.frombuffer(self.rng.bytes(math.prod(shape)), np.uint8).reshape(shape)
        self.device.upload(drawn, out=self.workspace.array("drawn", shape, np.uint8))

    def forward(self, x: Array, *, training: bool) -> Array:
        if not training:
            return x
        own = self.workspace.array
        kept = own("kept", x.shape, self.xp.bool_, like=x)
        silent = min(round(self.rate * 256.0), 255)
        self.xp.greater_equal(own("drawn", x.shape, np.uint8), silent, out=kept)
        self._mask = own("mask", x.shape, like=x)
        self.xp.multiply(kept, 256.0 / (256.0 - silent), out=self._mask, dtype=self._mask.dtype)
        return self.xp.multiply(x, self._mask, out=own("y", x.shape, like=x))

    def backward(self, dy: Array) -> Array:
        return self.xp.multiply(dy, self._mask, out=self.workspace.array("dx", dy.shape, like=dy))
