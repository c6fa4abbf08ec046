"""A step of training: it allocates nothing, and teaches the same when it is recorded."""

import numpy as np
import pytest

from core.device import Device
from core.nn.architecture import build_layers
from core.nn.losses import SoftmaxCrossEntropy
from core.nn.network import Network
from core.nn.optimizers import OPTIMIZERS
from tests.allocations import peak_bytes
from tests.core.nn.networks import CLASSES

STEPPING = (
    "linear 256 relu, linear 10",
    "linear 256 bn gelu, linear 256 sigmoid, linear 10",
    "conv 6x3 bn relu, conv 6x3 bn leaky-relu, pool 2, linear 256 bn relu, linear 10",
    "conv 6x3 same relu, conv 6x3 same tanh, pool 2, conv 6x3 same bn relu, pool 2, linear 10",
    "conv 6x3 bn, conv 6x3 same bn, conv 6x4 relu, pool 2, linear 10",
)


class Stepping:
    """A small network about to learn one batch; what a step wants from the host, and what it computes."""

    def __init__(self, text: str, optimizer: str, device: Device, samples: int = 256) -> None:
        shape, rng, self.samples = (1, 28, 28), np.random.default_rng(20), samples
        self.network = Network(build_layers(text, shape), shape, device)
        self.network.initialize(rng)
        self.loss = SoftmaxCrossEntropy(device, np.float32)
        self.rule = OPTIMIZERS[optimizer](self.network.parameters, self.network.gradients, device)
        self.x = device.to_device(rng.random((*shape, self.samples), np.float32))
        self.targets = device.to_device(np.eye(CLASSES, dtype=np.float32)[:, rng.integers(0, CLASSES, self.samples)])

    def prepare(self, rate: float) -> None:
        self.network.draw(self.samples)
        self.rule.prepare(rate)

    def compute(self) -> None:
        self.loss.forward(self.network.forward(self.x, training=True), self.targets)
        self.network.backward(self.loss.backward())
        self.rule.update()


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("text", STEPPING)
def test_a_training_step_allocates_no_array(text: str, optimizer: str) -> None:
    step = Stepping(text, optimizer, Device(shares=2))

    def take() -> None:
        step.prepare(0.01)
        step.compute()

    for _ in range(2):
        take()
    # NumPy turns truth into numbers through small buffers; no hidden layer's array is as small as they are together.
    assert peak_bytes(take) < 200_000 < min(256, 6 * 7 * 7) * step.samples * 4


DROPPING = "conv 6x3 relu, dropout 0.3, linear 32 tanh, dropout 0.5, linear 10"


@pytest.mark.parametrize(
    ("text", "optimizer"),
    [(STEPPING[0], name) for name in OPTIMIZERS] + [(text, "adam") for text in (*STEPPING[1:], DROPPING)],
)
def test_a_recorded_step_teaches_what_the_step_itself_teaches(text: str, optimizer: str, device: Device) -> None:
    plain, recorded, untaught = (Stepping(text, optimizer, device, 16) for _ in range(3))
    again = device.record(recorded.compute)
    for rate in (0.01, 0.02, 0.03, 0.0, 0.01):
        for step, compute in ((plain, plain.compute), (recorded, again)):
            step.prepare(rate)
            compute()
    wanted, learned, start = (device.to_host(step.network.parameters) for step in (plain, recorded, untaught))
    np.testing.assert_allclose(learned, wanted, rtol=1e-5, atol=1e-6)
    assert np.abs(wanted - start).max() > 1e-3
