"""From pictures to rows of numbers."""

from core.device import Array
from core.nn.layers.layer import Layer, Shape


class Flatten(Layer):
    """y = x with all axes but the batch's as one, in the order C, H, W; backward: dx = dy in the shape of x."""

    name = "flatten"

    def __init__(self) -> None:
        self._seen: tuple[Array, Array] | None = None

    def output_shape(self, input_shape: Shape) -> Shape:
        size = 1
        for length in input_shape:
            size *= length
        return (size,)

    def forward(self, x: Array, *, training: bool) -> Array:
        self._shape = x.shape
        # The very same y for the same x: the layer behind knows by it that its products are prepared.
        if self._seen is not None and self._seen[0] is x:
            return self._seen[1]
        y = x.reshape(-1, x.shape[-1])
        is_view = self.device.address(y) == self.device.address(x)
        self._seen = (x, y) if is_view else None
        return y

    def backward(self, dy: Array) -> Array:
        return dy.reshape(self._shape)
