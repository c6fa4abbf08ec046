"""The contract of a layer.

Notation, in every kernel: x is what comes in, y what goes out, dx and dy the gradients of the loss by them; N samples,
C channels, H rows, W columns. x and y have the samples along their LAST axis, (C, H, W, N) or (features, N): whatever
is done to one element is then done to the whole batch in one contiguous run, a convolution finds its shifted pictures
lying ready, and of all layouts it is the one in which OpenBLAS multiplies fastest. Only pixels, and what is made of
them until the next wide Linear or BatchNorm, lie with the samples first; who works element by element writes as x lies.

A layer is made from its settings alone and knows neither sizes nor device. `bind` tells it both once, and gives it its
parameters and their gradients as views into the network's two flat arrays, and what else it must remember between runs
(its `state`) as views into a third. From then on `forward` and `backward` write only into arrays the layer owns
(`self.workspace`), so that a step allocates nothing; a ReLU, which is all memory and no work, writes into those it is
given. So of its own y, `backward` may use an element for the dx of that element alone: where a ReLU behind has changed
it, dy is 0. What `forward` returned stays valid until its next call with the same number of samples; `backward` belongs
to the last `forward`, and must have been one with training=True.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TypeAlias

import numpy as np

from core.device import Array, Device, DTypeLike, HostArray, run_all
from core.workspace import Workspace

Shape: TypeAlias = tuple[int, ...]
"""The shape of one sample, without the batch axis."""

Product: TypeAlias = Callable[[], None]
"""A matrix product of certain arrays, prepared to be computed again and again."""

_WORTH_SHARING = 100_000
"""Multiplications or so below which waking another thread costs more than it brings."""


class Layer:
    """A layer without parameters; those with some say so in the methods on top."""

    name = "layer"
    xp: ModuleType
    device: Device
    workspace: Workspace
    parameters: Mapping[str, Array]
    gradients: Mapping[str, Array]
    state: Mapping[str, Array]
    propagates: bool
    """False in the first layer that has parameters: nobody asks for its dx."""
    carries = False
    """Whether `backward` heeds `carried`; what other layers carry, their network sees to."""
    carried = 0.0
    """Each gradient becomes so much of what it was, 0 to under 1, plus the new one. Set by `Network.carry`."""
    divides = False
    """Whether a layer of this kind divides its work among threads itself; then all layers of the network do."""

    def output_shape(self, input_shape: Shape) -> Shape:
        """The shape of one sample of y for this shape of one sample of x; raises ShapeError if it does not fit."""
        return input_shape

    def parameter_shapes(self, input_shape: Shape) -> dict[str, Shape]:
        """The parameters by name, in the order they lie in the flat array."""
        return {}

    def column_major(self, input_shape: Shape) -> Sequence[str]:
        """The names of those parameters, matrices, that lie in the flat array column after column.

        A checkpoint holds the flat array: who changes this changes its format (`checkpoint.FORMAT_VERSION`).
        """
        return ()

    def initial_parameters(self, input_shape: Shape, rng: np.random.Generator) -> dict[str, HostArray]:
        """Start values for every parameter, drawn on the host."""
        return {}

    def initial_state(self, input_shape: Shape) -> dict[str, HostArray]:
        """What the layer remembers besides its parameters, by name, as it is before any training."""
        return {}

    def bind(
        self,
        device: Device,
        dtype: DTypeLike,
        parameters: Mapping[str, Array],
        gradients: Mapping[str, Array],
        state: Mapping[str, Array],
        *,
        propagates: bool,
        divides: bool = False,
    ) -> None:
        """Take a place in a network."""
        self.device, self.xp = device, device.xp
        self.workspace = Workspace(device, dtype)
        self.parameters, self.gradients, self.state = parameters, gradients, state
        self.propagates, self.divides = propagates, divides
        self._plans: dict[tuple[str, int], _Plan] = {}

    def draw(self, shape: Shape) -> None:
        """Draw what is random in the next `forward` in training, for x of `shape`; only a Dropout is ever asked to."""

    def forward(self, x: Array, *, training: bool) -> Array:
        """y for the batch x."""
        raise NotImplementedError

    def backward(self, dy: Array) -> Array:
        """dx for dy; writes the parameters' gradients on the way."""
        raise NotImplementedError

    def shares(self, count: int, work: float) -> list[slice]:
        """0 to `count` in as many stretches as `work` (multiplications in all) is worth dividing into."""
        if not self.divides:
            return [slice(0, count)]
        return stretches(count, min(self.device.shares, max(1, int(work / _WORTH_SHARING))))

    def plan(self, name: str, a: Array, b: Array, make: Callable[[], list[list[Product]]]) -> list[Product]:
        """What computes the products of these two arrays, once for each share; made when they are first seen."""
        key = (name, a.shape[-1])
        known = self._plans.get(key)
        if known is not None and known.a is a and known.b is b:
            return known.products
        # The same places under another name: asking for them costs as much as a small product.
        places = (self.device.address(a), a.strides, self.device.address(b), b.strides)
        if known is not None and known.places == places:
            products = known.products
        else:
            products = [functools.partial(run_all, each) for each in make()]
        self._plans[key] = _Plan(a, b, places, products)
        return products

    def carry(self, share: float) -> None:
        """Set `carried`; what was prepared is of the share before."""
        self.carried = share
        self._plans.clear()

    def run_shares(self, shares: Sequence[slice], task: Callable[[slice], None]) -> None:
        """Do `task` for each of `shares`, together."""
        self.device.run_together([lambda share=share: task(share) for share in shares])  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class _Plan:
    """The `products` of two arrays, and the `places` they lie at."""

    a: Array
    b: Array
    places: tuple[object, ...]
    products: list[Product]


def stretches(count: int, parts: int) -> list[slice]:
    """0 to `count` in `parts` stretches of the same length or nearly so; in fewer, rather than an empty one."""
    parts = min(parts, count)
    return [slice(part * count // parts, (part + 1) * count // parts) for part in range(parts)]


class ShapeError(ValueError):
    """A layer that cannot follow the one before it; the message says what it was given and what it wants."""
