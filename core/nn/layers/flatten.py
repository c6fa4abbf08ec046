"""From pictures to rows of numbers."""

from core.device import Array
from core.nn.layers.layer import Layer, Shape


class Flatten(Layer):
    """y = x with all axes but the batch's as one, in the order C, H, W; backward: dx = dy in the shape of x."""

    name = "flatten"

    def output_shape(self, input_shape: Shape) -> Shape:
        size = 1
        for length in input_shape:
            size *= length
        return (size,)

    _x: Array | None = None

    def forward(self, x: Array, *, training: bool) -> Array:
        # The very same y for the same x: the layer behind knows by it that its products are prepared.
        if x is not self._x:
            self._x, self._y = x, x.reshape(-1, x.shape[-1])
        return self._y

    def backward(self, dy: Array) -> Array:
        assert self._x is not None
        return dy.reshape(self._x.shape)
