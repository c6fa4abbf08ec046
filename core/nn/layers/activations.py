"""Activation functions, applied to each element."""

from core.device import Array
from core.nn.layers.layer import Layer


class ReLU(Layer):
    """y = max(x, 0); backward: dx = dy where y > 0, else 0.

    Both are written where x and dy are, which halves the memory that is touched. A layer before, even one that needs
    its own y, cannot notice: where y differs from x, dx is 0. Only the network's own input is left as it is.
    """

    name = "relu"

    def forward(self, x: Array, *, training: bool) -> Array:
        self._y = x if self.propagates else self.workspace.array("y", x.shape, like=x)
        return _positive_part(self, x, out=self._y)

    def backward(self, dy: Array) -> Array:
        passed = self.workspace.array("passed", dy.shape, self.xp.bool_, like=dy)
        self.xp.greater(self._y, 0, out=passed)
        return self.xp.multiply(dy, passed, out=dy)


class StraightThroughReLU(Layer):
    """y = max(x, 0); backward: dx = dy, as if it were the identity.

    The output of the PyCUDA perceptron, whose rule leaves the derivative out so that an output of 0 can still learn.
    """

    name = "straight-relu"

    def forward(self, x: Array, *, training: bool) -> Array:
        return _positive_part(self, x, out=self.workspace.array("y", x.shape, like=x))

    def backward(self, dy: Array) -> Array:
        return dy


def _positive_part(layer: Layer, x: Array, out: Array) -> Array:
    """max(x, 0). NumPy takes a quarter of the time where the zero is an array, of one channel's size for pictures."""
    zero = 0 if layer.device.many_cores else layer.workspace.zeros("zeros", x.shape[-2:], like=x)
    return layer.xp.maximum(x, zero, out=out)


class LeakyReLU(Layer):
    """y = max(x, 0.01 x); backward: dx = dy where x > 0, else 0.01 dy. Maas et al., 2013."""

    name = "leaky-relu"
    SLOPE = 0.01

    def forward(self, x: Array, *, training: bool) -> Array:
        self._y = self.workspace.array("y", x.shape, like=x)
        self.xp.multiply(x, self.SLOPE, out=self._y)
        return self.xp.maximum(x, self._y, out=self._y)

    def backward(self, dy: Array) -> Array:
        passed = self.workspace.array("passed", dy.shape, self.xp.bool_, like=dy)
        self.xp.greater(self._y, 0, out=passed)
        dx = self.workspace.array("dx", dy.shape, like=dy)
        # The slope is 0.01, and 0.99 more where x is positive.
        self.xp.multiply(passed, 1.0 - self.SLOPE, out=dx, dtype=dx.dtype)
        self.xp.add(dx, self.SLOPE, out=dx)
        return self.xp.multiply(dx, dy, out=dx)


class Sigmoid(Layer):
    """y = 1 / (1 + exp(-x)); backward: dx = dy y (1 - y)."""

    name = "sigmoid"

    def forward(self, x: Array, *, training: bool) -> Array:
        xp = self.xp
        y = self._y = self.workspace.array("y", x.shape, like=x)
        # As ½ (1 + tanh(x/2)) it overflows nowhere.
        xp.multiply(x, 0.5, out=y)
        xp.tanh(y, out=y)
        xp.multiply(y, 0.5, out=y)
        return xp.add(y, 0.5, out=y)

    def backward(self, dy: Array) -> Array:
        dx = self.workspace.array("dx", dy.shape, like=dy)
        self.xp.subtract(1.0, self._y, out=dx)
        self.xp.multiply(dx, self._y, out=dx)
        return self.xp.multiply(dx, dy, out=dx)


class Tanh(Layer):
    """y = tanh(x); backward: dx = dy (1 - y²)."""

    name = "tanh"

    def forward(self, x: Array, *, training: bool) -> Array:
        self._y = self.workspace.array("y", x.shape, like=x)
        return self.xp.tanh(x, out=self._y)

    def backward(self, dy: Array) -> Array:
        dx = self.workspace.array("dx", dy.shape, like=dy)
        self.xp.multiply(self._y, self._y, out=dx)
        self.xp.subtract(1.0, dx, out=dx)
        return self.xp.multiply(dx, dy, out=dx)


class GELU(Layer):
    """y = ½ x (1 + t), t = tanh(c (x + a x³)), c = √(2/π), a = 0.044715.

    Backward: dx = dy (½ (1 + t) + ½ x (1 - t²) c (1 + 3 a x²)). Hendrycks and Gimpel, 2016, section 2.
    """

    name = "gelu"
    C, A = 0.7978845608028654, 0.044715

    def forward(self, x: Array, *, training: bool) -> Array:
        xp, own = self.xp, self.workspace.array
        self._x = x
        t = self._t = own("t", x.shape, like=x)
        xp.multiply(x, x, out=t)
        xp.multiply(t, self.C * self.A, out=t)
        xp.add(t, self.C, out=t)
        xp.multiply(t, x, out=t)
        xp.tanh(t, out=t)
        y = own("y", x.shape, like=x)
        xp.add(t, 1.0, out=y)
        xp.multiply(y, x, out=y)
        return xp.multiply(y, 0.5, out=y)

    def backward(self, dy: Array) -> Array:
        xp, own = self.xp, self.workspace.array
        x, t = self._x, self._t
        dx, inner = own("dx", dy.shape, like=dy), own("inner", dy.shape, like=dy)
        xp.multiply(x, x, out=inner)
        xp.multiply(inner, 3.0 * self.C * self.A, out=inner)
        xp.add(inner, self.C, out=inner)
        xp.multiply(inner, x, out=inner)
        xp.multiply(t, t, out=dx)
        xp.subtract(1.0, dx, out=dx)
        xp.multiply(dx, inner, out=dx)
        xp.add(dx, t, out=dx)
        xp.add(dx, 1.0, out=dx)
        xp.multiply(dx, dy, out=dx)
        return xp.multiply(dx, 0.5, out=dx)
