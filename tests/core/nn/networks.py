"""Small networks, what they are fed with, and what is asked of them."""

from collections.abc import Sequence

import numpy as np
import pytest

from core.device import Array, Device, HostArray
from core.nn.layers.activations import ReLU
from core.nn.layers.layer import Layer, Shape
from core.nn.layers.linear import Linear
from core.nn.losses import Loss
from core.nn.network import Network

INPUTS, CLASSES, BATCH = 6, 10, 12
PICTURE = (1, 8, 7)
TEXTS = (
    "linear 10",
    "linear 4 relu, linear 10",
    "linear 4 sigmoid, linear 5 tanh, linear 10",
    "linear 4 bn relu, dropout 0.2, linear 5 bn leaky-relu, dropout 0.3, linear 10",
    "bn, linear 3 gelu, linear 10 nobias",
    "conv 3x3 relu, pool 2, linear 4 relu, linear 10",
    "conv 2x5 gelu, pool 2, linear 4 relu, linear 10",
    "conv 2x3 bn relu, conv 3x3 bn relu, pool 2, dropout 0.3, linear 4 bn relu, dropout 0.3, linear 10",
    "conv 2x3 same leaky-relu, conv 2x3 same bn tanh, pool 2, conv 3x3 same relu, linear 10",
    "conv 2x2 nobias sigmoid, conv 3x4 relu, conv 2x1, linear 10",
    "pool 2, conv 5x2 tanh, pool 1, conv 2x2 tanh, linear 10",
    "linear 5 relu, linear 10 nobias relu",
)


def as_pixels(device: Device, pictures: HostArray) -> Array:
    """`pictures` (C, H, W, N) on the device, with the samples first in memory, as those of a batch lie."""
    return device.to_device(np.ascontiguousarray(pictures.transpose(3, 0, 1, 2))).transpose(1, 2, 3, 0)


def started(
    layers: Sequence[Layer],
    device: Device,
    rng: np.random.Generator,
    dtype: type = np.float64,
    input_shape: Shape = (INPUTS,),
) -> Network:
    """A network with normal weights, so that units of either sign occur whatever its own start is."""
    network = Network(layers, input_shape, device, dtype)
    network.parameters[...] = device.to_device(rng.normal(0, 0.7, len(network.parameters)))
    return network


def small_network(device: Device, rng: np.random.Generator, dtype: type = np.float64) -> Network:
    return started([Linear(4), ReLU(), Linear(3, bias=False)], device, rng, dtype)


def mean_loss(network: Network, loss: Loss, x: Array, targets: Array) -> float:
    network.seed_dropout(7)
    network.draw(x.shape[-1])
    return float(loss.forward(network.forward(x, training=True), targets)) / x.shape[-1]


def gradients_of(network: Network, loss: Loss, x: Array, targets: Array) -> HostArray:
    mean_loss(network, loss, x, targets)
    network.backward(loss.backward())
    return network.device.to_host(network.gradients)


def make_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let even the smallest layers of few units for their inputs be laid out and divided as large ones are."""
    for least in ("_WORTH_TURNING", "_WORTH_DIVIDING"):
        monkeypatch.setattr(f"core.nn.layers.linear.{least}", 0)
