"""How a gradient becomes a step: a few vector lines over the network's flat parameter array.

Rules of many lines work through the arrays in pieces that stay in the cache from one line to the next
(`Device.piece_size`); on a GPU there is one piece. An optimizer owns its state, made once; `update` allocates nothing.
Each step is `prepare`, on the host, which sets the numbers that differ from step to step, and `update`, on the device.
"""

from collections.abc import Mapping

from core.device import Array, Device


class Optimizer:
    """Changes `parameters` by `gradients`, two flat arrays of one size; see the subclasses for the rules.

    `weight_decay` (0: none) pulls every parameter towards 0 by adding that much of it to its gradient; `clip_norm`
    (0: never) shortens a longer gradient to that Euclidean length first. `momentum` is read by those that have one. All
    three may be changed between steps; who has recorded `update` must then record it anew.
    """

    _count = 1
    """How many numbers `_numbers` gives."""

    def __init__(self, parameters: Array, gradients: Array, device: Device) -> None:
        self.device, self.xp = device, device.xp
        self.steps = 0
        """Updates prepared so far."""
        self.memory: list[Array] = []
        """What the rule remembers from step to step, arrays beside the parameters; with `steps`, all of its state."""
        self.momentum, self.weight_decay, self.clip_norm = 0.9, 0.0, 0.0
        self._parameters, self._gradients = parameters, gradients
        self._scratch = self.xp.empty(min(device.piece_size, len(parameters)), parameters.dtype)
        self._norm = self.xp.empty((), parameters.dtype)
        self._now = device.scalars(self._count, parameters.dtype)

    def prepare(self, learning_rate: float) -> None:
        """Let the next `update` use `learning_rate`, not negative."""
        self.steps += 1
        self._now.set(*self._numbers(learning_rate))

    def _numbers(self, learning_rate: float) -> tuple[float, ...]:
        """What `_step` and `_decay` read from `_now`; the first is -learning_rate unless said otherwise."""
        return (-learning_rate,)

    def update(self) -> None:
        """One step, with what `prepare` has set."""
        if self.clip_norm:
            self._clip()
        if self.weight_decay:
            self._decay()
        self._step()

    def _step(self) -> None:
        raise NotImplementedError

    def _clip(self) -> None:
        """g <- g min(1, clip_norm / |g|), on the device: nothing is read back. Pascanu et al., 2013."""
        xp, norm = self.xp, self._norm
        xp.dot(self._gradients, self._gradients, out=norm)
        xp.sqrt(norm, out=norm)
        xp.maximum(norm, self.clip_norm, out=norm)
        xp.divide(self.clip_norm, norm, out=norm)
        xp.multiply(self._gradients, norm, out=self._gradients)

    def _decay(self) -> None:
        self.device.add_scaled(self._parameters, self.weight_decay, out=self._gradients)

    def _state(self) -> Array:
        """One more array of `memory`, zeros at the start."""
        self.memory.append(self.xp.zeros_like(self._parameters))
        return self.memory[-1]

    def _pieces(self, *state: Array) -> list[tuple[Array, ...]]:
        """Views of matching pieces: (parameters, gradients, scratch, *state) each, made once."""
        size = max(len(self._scratch), 1)
        pieces = []
        for start in range(0, len(self._parameters), size):
            flat = (self._parameters, self._gradients, *state)
            parameters, gradients, *rest = (array[start : start + size] for array in flat)
            pieces.append((parameters, gradients, self._scratch[: len(parameters)], *rest))
        return pieces


class SGD(Optimizer):
    """w <- w - rate g. Robbins and Monro, 1951."""

    def _step(self) -> None:
        self.device.add_scaled(self._gradients, self._now[0], out=self._parameters)


class Momentum(Optimizer):
    """v <- momentum v + g;  w <- w - rate v. `momentum` is 0 to under 1. Polyak, 1964."""

    def __init__(self, parameters: Array, gradients: Array, device: Device) -> None:
        super().__init__(parameters, gradients, device)
        self._velocity = self._state()

    def _step(self) -> None:
        self.device.scale(self.momentum, out=self._velocity)
        self.device.add_scaled(self._gradients, 1.0, out=self._velocity)
        self.device.add_scaled(self._velocity, self._now[0], out=self._parameters)


class CarriedMomentum(SGD):
    """Momentum again, but v is added up by the network while it computes the gradient (`Network.carry`).

    What comes in as gradients are velocities, so that the rule that is left is SGD's; weight decay joins them as it
    joins a gradient. A gradient by itself is never seen, and cannot be clipped.
    """

    def __init__(self, parameters: Array, gradients: Array, device: Device) -> None:
        super().__init__(parameters, gradients, device)
        self.memory.append(gradients)


class Nesterov(Momentum):
    """v <- momentum v + g;  w <- w - rate (g + momentum v): the gradient of where momentum leads. Nesterov, 1983."""

    _count = 2

    def _numbers(self, learning_rate: float) -> tuple[float, ...]:
        return -learning_rate, -learning_rate * self.momentum

    def _step(self) -> None:
        self.device.scale(self.momentum, out=self._velocity)
        self.device.add_scaled(self._gradients, 1.0, out=self._velocity)
        self.device.add_scaled(self._gradients, self._now[0], out=self._parameters)
        self.device.add_scaled(self._velocity, self._now[1], out=self._parameters)


class AdaGrad(Optimizer):
    """s <- s + g²;  w <- w - rate g / (√s + 1e-8). Duchi et al., 2011."""

    EPSILON = 1e-8

    def __init__(self, parameters: Array, gradients: Array, device: Device) -> None:
        super().__init__(parameters, gradients, device)
        self._work = self._pieces(self._state())

    def _step(self) -> None:
        xp, minus_rate = self.xp, self._now[0]
        for w, g, scratch, s in self._work:
            xp.multiply(g, g, out=scratch)
            self._take_in(scratch, s)
            xp.sqrt(s, out=scratch)
            xp.add(scratch, self.EPSILON, out=scratch)
            xp.divide(g, scratch, out=scratch)
            xp.multiply(scratch, minus_rate, out=scratch)
            xp.add(w, scratch, out=w)

    def _take_in(self, squares: Array, s: Array) -> None:
        self.xp.add(s, squares, out=s)


class RMSprop(AdaGrad):
    """s <- 0.99 s + 0.01 g²;  w <- w - rate g / (√s + 1e-8). Hinton, 2012, lecture 6e (there with 0.9)."""

    KEPT = 0.99

    def _take_in(self, squares: Array, s: Array) -> None:
        self.xp.multiply(s, self.KEPT, out=s)
        self.xp.multiply(squares, 1.0 - self.KEPT, out=squares)
        self.xp.add(s, squares, out=s)


class Adam(Optimizer):
    """Steps of about `learning_rate` in every direction, scaled by running moments of the gradient.

    m <- b1 m + (1-b1) g;  v <- b2 v + (1-b2) g²;  w <- w - rate m̂ / (√v̂ + 1e-8), with m̂ and v̂ freed of their start at
    0; b1 = 0.9, b2 = 0.999. Kingma and Ba, 2015, algorithm 1.
    """

    BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
    _count = 3

    def __init__(self, parameters: Array, gradients: Array, device: Device) -> None:
        super().__init__(parameters, gradients, device)
        self._work = self._pieces(self._state(), self._state())

    def _numbers(self, learning_rate: float) -> tuple[float, ...]:
        """The step and epsilon, both freed of the start at 0, and what is left of a parameter that decays by itself."""
        second_correction = (1 - self.BETA2**self.steps) ** 0.5
        rate = learning_rate * second_correction / (1 - self.BETA1**self.steps)
        return -rate, self.EPSILON * second_correction, 1.0 - learning_rate * self.weight_decay

    def _step(self) -> None:
        xp, b1, b2 = self.xp, self.BETA1, self.BETA2
        minus_rate, epsilon = self._now[0], self._now[1]
        for w, g, scratch, m, v in self._work:
            xp.multiply(g, 1 - b1, out=scratch)
            xp.multiply(m, b1, out=m)
            xp.add(m, scratch, out=m)
            xp.multiply(scratch, g, out=scratch)
            xp.multiply(scratch, (1 - b2) / (1 - b1), out=scratch)
            xp.multiply(v, b2, out=v)
            xp.add(v, scratch, out=v)
            xp.sqrt(v, out=scratch)
            xp.add(scratch, epsilon, out=scratch)
            xp.divide(m, scratch, out=scratch)
            xp.multiply(scratch, minus_rate, out=scratch)
            xp.add(w, scratch, out=w)


class AdamW(Adam):
    """Adam, with weight decay beside the gradient instead of in it: w <- w - rate weight_decay w, and then Adam's step.

    Loshchilov and Hutter, 2019, algorithm 2.
    """

    def _decay(self) -> None:
        self.xp.multiply(self._parameters, self._now[2], out=self._parameters)


OPTIMIZERS: Mapping[str, type[Optimizer]] = {
    "sgd": SGD,
    "momentum": Momentum,
    "nesterov": Nesterov,
    "adagrad": AdaGrad,
    "rmsprop": RMSprop,
    "adam": Adam,
    "adamw": AdamW,
}
