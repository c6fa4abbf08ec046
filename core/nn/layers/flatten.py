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

    def forward(self, x: Array, *, training: bool) -> Array:
        self._shape = x.shape
        return x.reshape(-1, x.shape[-1])

    def backward(self, dy: Array) -> Array:
        return dy.reshape(self._shape)
