"""Activation functions, applied to each element."""

from core.device import Array
from core.nn.layers.layer import Layer


class ReLU(Layer):
    """y = max(x, 0); backward: dx = dy where y > 0, else 0."""

    name = "relu"

    def forward(self, x: Array, *, training: bool) -> Array:
        self._y = self.workspace.array("y", x.shape)
        return self.xp.maximum(x, 0, out=self._y)

    def backward(self, dy: Array) -> Array:
        passed = self.workspace.array("passed", dy.shape, self.xp.bool_)
        self.xp.greater(self._y, 0, out=passed)
        dx = self.workspace.array("dx", dy.shape)
        return self.xp.multiply(dy, passed, out=dx)


class StraightThroughReLU(ReLU):
    """y = max(x, 0); backward: dx = dy, as if it were the identity.

    The output of the PyCUDA perceptron, whose rule leaves the derivative out so that an output of 0 can still learn.
    """

    name = "straight-through relu"

    def backward(self, dy: Array) -> Array:
        return dy
