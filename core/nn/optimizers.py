"""How a gradient becomes a step: a few vector lines over the network's flat parameter array.

The arrays are worked through in pieces that stay in the cache from one line to the next (`Device.piece_size`); on a
GPU there is one piece. An optimizer owns its state, made once; `update` allocates nothing.
"""

from core.device import Array, Device


class Optimizer:
    """Changes `parameters` by `gradients`, two flat arrays of one size; see the subclasses for the rules."""

    def __init__(self, parameters: Array, gradients: Array, device: Device) -> None:
        self.xp = device.xp
        self._flat = (parameters, gradients)
        self._piece_size = min(device.piece_size, len(parameters))
        self._scratch = self.xp.empty(self._piece_size, parameters.dtype)

    def update(self, learning_rate: float) -> None:
        """One step; `learning_rate` is positive."""
        raise NotImplementedError

    def _state(self) -> Array:
        return self.xp.zeros_like(self._flat[0])

    def _pieces(self, *state: Array) -> list[tuple[Array, ...]]:
        """Views of matching pieces: (parameters, gradients, scratch, *state) each, made once."""
        size = self._piece_size
        starts = range(0, len(self._flat[0]), size)
        pieces = []
        for start in starts:
            parameters, gradients, *rest = (a[start : start + size] for a in (*self._flat, *state))
            pieces.append((parameters, gradients, self._scratch[: len(parameters)], *rest))
        return pieces


class SGD(Optimizer):
    """v <- momentum v + g;  w <- w - learning_rate v. `momentum` is 0 (plain descent) to under 1. Polyak, 1964."""

    def __init__(self, parameters: Array, gradients: Array, device: Device, *, momentum: float) -> None:
        super().__init__(parameters, gradients, device)
        self.momentum = momentum
        self._work = self._pieces(self._state())

    def update(self, learning_rate: float) -> None:
        xp = self.xp
        for w, g, scratch, v in self._work:
            xp.multiply(v, self.momentum, out=v)
            xp.add(v, g, out=v)
            xp.multiply(v, learning_rate, out=scratch)
            xp.subtract(w, scratch, out=w)


class Adam(Optimizer):
    """Steps of about `learning_rate` in every direction, scaled by running moments of the gradient.

    m <- b1 m + (1-b1) g;  v <- b2 v + (1-b2) g²;  w <- w - rate m̂ / (√v̂ + 1e-8), with m̂ and v̂ freed of their start at
    0; b1 = 0.9, b2 = 0.999. Kingma and Ba, 2015, algorithm 1.
    """

    BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8

    def __init__(self, parameters: Array, gradients: Array, device: Device) -> None:
        super().__init__(parameters, gradients, device)
        self._steps = 0
        self._work = self._pieces(self._state(), self._state())

    def update(self, learning_rate: float) -> None:
        xp, b1, b2 = self.xp, self.BETA1, self.BETA2
        self._steps += 1
        second_correction = (1 - b2**self._steps) ** 0.5
        rate = learning_rate * second_correction / (1 - b1**self._steps)
        for w, g, scratch, m, v in self._work:
            xp.multiply(g, 1 - b1, out=scratch)
            xp.multiply(m, b1, out=m)
            xp.add(m, scratch, out=m)
            xp.multiply(scratch, g, out=scratch)
            xp.multiply(scratch, (1 - b2) / (1 - b1), out=scratch)
            xp.multiply(v, b2, out=v)
            xp.add(v, scratch, out=v)
            xp.sqrt(v, out=scratch)
            xp.add(scratch, self.EPSILON * second_correction, out=scratch)
            xp.divide(m, scratch, out=scratch)
            xp.multiply(scratch, rate, out=scratch)
            xp.subtract(w, scratch, out=w)
