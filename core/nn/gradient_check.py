"""Are the gradients right? Each layer's own, held against what the loss does when a number is moved a little.

For a few numbers of every array of parameters, and of what enters every layer a gradient goes back through, the slope
(loss(w + h) - loss(w - h)) / 2h is compared with what `backward` says, in float64. A wrong `backward` shows in its own
layer's row and in all before it, so the last wrong row is the one to look at.

Some functions have kinks (relu, pooling), and where one lies between w - h and w + h the slopes to the left and to the
right differ: it is enough there that one of them agrees, and a number at which neither does is passed over.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.device import Array, Device, HostArray
from core.nn.architecture import build_layers
from core.nn.initializers import Initializer, he_normal
from core.nn.layers.activations import StraightThroughReLU
from core.nn.layers.layer import Layer, Shape
from core.nn.losses import Loss, SoftmaxCrossEntropy
from core.nn.network import Network

TOLERANCE = 1e-5
MOST_CHECKED = 25
"""Numbers drawn from each array."""
_STEP = 1e-6
_DIGITS = 6
_SMALLEST = 1e-4
"""Slopes below this share of the loss are compared with that share: the rounding of the loss itself hides the rest."""


@dataclass(frozen=True)
class CheckedLayer:
    """One layer of a checked network, by the name its weights begin with.

    `checked` is how many numbers were compared, `error` the largest |numeric - analytic| / max of both, `ok` whether
    it is below 1e-5; `note` says what there is to know about how they were compared, "" if nothing.
    """

    name: str
    checked: int
    error: float
    ok: bool
    note: str = ""


def check_network(
    text: str,
    input_shape: Shape,
    initializer: Initializer = he_normal,
    loss: type[Loss] = SoftmaxCrossEntropy,
    seed: int = 0,
) -> list[CheckedLayer]:
    """Check the network that `text` describes, from its first layer that learns to its last.

    Raises NetworkTextError for a text that describes none.
    """
    return check_layers(build_layers(text, input_shape, initializer), input_shape, loss, seed)


def check_layers(
    layers: Sequence[Layer], input_shape: Shape, loss: type[Loss] = SoftmaxCrossEntropy, seed: int = 0
) -> list[CheckedLayer]:
    """As `check_network`, for layers that have no place in a network yet; raises ShapeError if they do not fit.

    They are given start weights and six random pictures, all drawn from `seed`.
    """
    smooth = [_Identity() if isinstance(layer, StraightThroughReLU) else layer for layer in layers]
    check = _Check(smooth, input_shape, loss, seed)
    with check.device.activate(), check.device.dividing(check.network.divides):
        return list(check.rows())


class _Identity(Layer):
    """y = x; backward: dx = dy. It is what the straight-through relu pretends to be on the way back."""

    name = StraightThroughReLU.name
    note = "checked as the identity, since its backward differs from its slope on purpose"

    def forward(self, x: Array, *, training: bool) -> Array:
        return x

    def backward(self, dy: Array) -> Array:
        return dy


class _Check:
    """A network with known inputs and analytic gradients, whose every layer can be computed on from."""

    def __init__(self, layers: Sequence[Layer], input_shape: Shape, loss: type[Loss], seed: int) -> None:
        self.device = Device()
        self.network = Network(layers, input_shape, self.device, np.float64)
        self.loss = loss(self.device, np.float64)
        self.rng = np.random.default_rng(seed)
        self.network.initialize(self.rng)
        for layer in layers:
            for values in layer.parameters.values():
                if values.ndim == 1:
                    # Biases start at 0 and scales at 1, where a formula that forgets them would still be right.
                    values += self.rng.normal(0.0, 0.1, values.shape)
        self.x = np.moveaxis(self.rng.random((_DIGITS, *input_shape)), 0, -1)  # as pixels lie
        self.network.seed_dropout(seed)
        self.network.draw(_DIGITS)

    def rows(self) -> Iterator[CheckedLayer]:
        first = next((i for i, layer in enumerate(self.network.layers) if layer.parameters), len(self.network.layers))
        inputs = self._all_inputs()
        into, gradients = self._analytic(first)
        for index, (name, layer) in enumerate(self.network.named_layers()):
            if index < first:
                continue
            pairs = [(values, gradients[name, key]) for key, values in layer.parameters.items()]
            if index > first:
                pairs.append((inputs[index], into[index]))
            results = [self._compare(index, inputs[index], *pair) for pair in pairs]
            yield _row(name, np.concatenate(results), layer.note if isinstance(layer, _Identity) else "")

    def _all_inputs(self) -> list[HostArray]:
        """What enters each layer, in copies: the layers' own arrays are written over by every further run."""
        inputs = [self.x]
        for layer in self.network.layers:
            inputs.append(layer.forward(inputs[-1], training=True).copy())
        self.scores = inputs.pop()
        classes = self.rng.integers(0, len(self.scores), _DIGITS)
        self.targets = np.eye(len(self.scores))[:, classes]
        return inputs

    def _analytic(self, first: int) -> tuple[dict[int, HostArray], dict[tuple[str, str], HostArray]]:
        """What `backward` says: the gradients by each layer's input, and by each parameter."""
        self.at_rest = float(self.loss.forward(self.scores, self.targets)) / _DIGITS
        dy, into = self.loss.backward(), {}
        named = self.network.named_layers()
        for index in reversed(range(first, len(named))):
            dy = named[index][1].backward(dy)
            into[index] = dy.copy()
        return into, {(name, key): g.copy() for name, layer in named for key, g in layer.gradients.items()}

    def _loss_from(self, index: int, x: HostArray) -> float:
        """The mean loss if `x` enters layer `index`."""
        for layer in self.network.layers[index:]:
            x = layer.forward(x, training=True)
        return float(self.loss.forward(x, self.targets)) / _DIGITS

    def _compare(self, index: int, x: HostArray, moved: HostArray, analytic: HostArray) -> HostArray:
        """The errors of some numbers of `moved`, an array that layer `index` computes with; NaN at a kink."""
        drawn = self.rng.choice(moved.size, min(MOST_CHECKED, moved.size), replace=False)
        places = [np.unravel_index(place, moved.shape) for place in drawn]
        return np.array(
            [self._error(lambda: self._loss_from(index, x), moved, at, float(analytic[at])) for at in places]
        )

    def _error(self, loss: Callable[[], float], moved: HostArray, at: tuple[np.intp, ...], analytic: float) -> float:
        before = moved[at]
        moved[at] = before + _STEP
        above = loss()
        moved[at] = before - _STEP
        below = loss()
        moved[at] = before
        right, left = (above - self.at_rest) / _STEP, (self.at_rest - below) / _STEP
        least = _SMALLEST * abs(self.at_rest)
        errors = [_relative(slope, analytic, least) for slope in ((right + left) / 2, right, left)]
        if min(errors) >= TOLERANCE and _relative(right, left, least) >= TOLERANCE:
            return float("nan")
        return min(errors) if np.isfinite(errors).all() else float("inf")


def _relative(a: float, b: float, least: float) -> float:
    return abs(a - b) / max(abs(a), abs(b), least)


def _row(name: str, errors: HostArray, note: str) -> CheckedLayer:
    at_kinks = int(np.isnan(errors).sum())
    checked = len(errors) - at_kinks
    error = float(np.nanmax(errors)) if checked else 0.0
    notes = [note] if note else []
    if at_kinks:
        notes.append(f"{at_kinks} passed over, at a kink")
    # Where most were passed over, nothing was shown.
    return CheckedLayer(name, checked, error, error < TOLERANCE and checked >= at_kinks, "; ".join(notes))
