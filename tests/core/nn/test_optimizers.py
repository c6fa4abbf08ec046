"""Optimizers, held against steps computed by hand and against the published rules written as plain loops in float64."""

import math
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from core.device import Array, Device, HostArray
from core.nn.optimizers import SGD, Adam, Optimizer

Maker = Callable[[Array, Array, Device], Optimizer]
Steps = list[tuple[HostArray, float]]
Follow = Callable[[HostArray, Steps], HostArray]


def sgd(parameters: Array, gradients: Array, device: Device) -> Optimizer:
    return SGD(parameters, gradients, device, momentum=0.9)


def plain_sgd(parameters: Array, gradients: Array, device: Device) -> Optimizer:
    return SGD(parameters, gradients, device, momentum=0.0)


def follow_sgd(w: HostArray, steps: Steps, momentum: float = 0.9) -> HostArray:
    """Where momentum descent leads, element by element."""
    ends = []
    for i, weight in enumerate(w.tolist()):
        v = 0.0
        for g, rate in steps:
            v = momentum * v + float(g[i])
            weight -= rate * v
        ends.append(weight)
    return np.array(ends)


def follow_plain_sgd(w: HostArray, steps: Steps) -> HostArray:
    return follow_sgd(w, steps, momentum=0.0)


def follow_adam(w: HostArray, steps: Steps) -> HostArray:
    """Where algorithm 1 of Kingma and Ba leads, element by element."""
    ends = []
    for i, weight in enumerate(w.tolist()):
        m = v = 0.0
        for t, (g, rate) in enumerate(steps, start=1):
            m = 0.9 * m + 0.1 * float(g[i])
            v = 0.999 * v + 0.001 * float(g[i]) ** 2
            weight -= rate * (m / (1 - 0.9**t)) / (math.sqrt(v / (1 - 0.999**t)) + 1e-8)
        ends.append(weight)
    return np.array(ends)


RULES = pytest.mark.parametrize(
    ("maker", "follow"),
    [(sgd, follow_sgd), (plain_sgd, follow_plain_sgd), (Adam, follow_adam)],
    ids=["sgd with momentum", "plain sgd", "adam"],
)


def take_steps(maker: Maker, device: Device, start: HostArray, steps: Steps) -> tuple[HostArray, Array]:
    """The parameters after `steps` (gradient, rate), and the gradient array that was read."""
    parameters, gradients = device.to_device(start), device.to_device(np.zeros_like(start))
    optimizer = maker(parameters, gradients, device)
    for gradient, rate in steps:
        gradients[...] = device.to_device(gradient.astype(start.dtype))
        optimizer.update(rate)
    return device.to_host(parameters), gradients


def random_steps(rng: np.random.Generator, size: int, count: int) -> Steps:
    """Gradients of very different sizes, zeros among them, and a rate that changes."""
    scales = 10.0 ** rng.integers(-6, 3, size)
    zero = rng.random((count, size)) < 0.1
    gradients = np.where(zero, 0.0, rng.normal(0, 1, (count, size)) * scales)
    return [(gradient, 0.05 / (1 + step)) for step, gradient in enumerate(gradients)]


def test_sgd_s_first_three_steps_are_those_computed_by_hand(device: Device) -> None:
    # v: 2, then 0.9 * 2 + 1 = 2.8, then 0.9 * 2.8 - 4 = -1.48
    steps = [(np.array([2.0]), 0.1), (np.array([1.0]), 0.1), (np.array([-4.0]), 0.5)]
    for count, wanted in ((1, 0.8), (2, 0.52), (3, 1.26)):
        w, _ = take_steps(sgd, device, np.array([1.0]), steps[:count])
        assert w == pytest.approx([wanted], rel=1e-14)


def test_sgd_without_momentum_is_plain_descent(device: Device) -> None:
    w, _ = take_steps(plain_sgd, device, np.array([1.0]), [(np.array([2.0]), 0.1), (np.array([1.0]), 0.1)])
    assert w == pytest.approx([0.7], rel=1e-14)


def test_adam_s_first_two_steps_are_those_computed_by_hand(device: Device) -> None:
    # m: 0.2, then 0.9 * 0.2 - 0.1 = 0.08. v: 0.004, then 0.999 * 0.004 + 0.001 = 0.004996. Freed of their start at 0,
    # 2 and 4 at first, then 0.08 / 0.19 and 0.004996 / 0.001999.
    steps = [(np.array([2.0]), 0.1), (np.array([-1.0]), 0.1)]
    after_one, _ = take_steps(Adam, device, np.array([1.0]), steps[:1])
    assert after_one == pytest.approx([1 - 0.1 * 2 / (2 + 1e-8)], rel=1e-14)
    after_two, _ = take_steps(Adam, device, np.array([1.0]), steps)
    second = 0.1 * (0.08 / 0.19) / ((0.004996 / 0.001999) ** 0.5 + 1e-8)
    assert after_two == pytest.approx([0.9000000005 - second], rel=1e-12)


def test_adam_s_first_step_is_the_learning_rate_whatever_the_size_of_the_gradient(device: Device) -> None:
    gradient = np.array([1e-3, -1.0, 1e6, 0.0])
    w, _ = take_steps(Adam, device, np.zeros(4), [(gradient, 0.01)])
    assert w == pytest.approx([-0.01, 0.01, -0.01, 0.0], rel=1e-4)


@RULES
@pytest.mark.parametrize("size", [1, 63, 64, 65, 200])
def test_many_steps_lead_where_the_plain_loop_leads_whatever_is_left_for_the_last_piece(
    device: Device,
    rng: np.random.Generator,
    size: int,
    maker: Maker,
    follow: Follow,
) -> None:
    device.piece_size = 64
    start, steps = rng.normal(0, 1, size), random_steps(rng, size, 60)
    w, gradients = take_steps(maker, device, start, steps)
    np.testing.assert_allclose(w, follow(start, steps), rtol=1e-11, atol=1e-13)
    np.testing.assert_array_equal(device.to_host(gradients), steps[-1][0])


@RULES
def test_arrays_longer_than_the_device_s_own_piece_are_updated_to_their_last_element(
    device: Device,
    rng: np.random.Generator,
    maker: Maker,
    follow: Follow,
) -> None:
    size = 2 * Device().piece_size + 5
    start, steps = rng.normal(0, 1, size), random_steps(rng, size, 3)
    w, _ = take_steps(maker, device, start, steps)
    np.testing.assert_allclose(w, follow(start, steps), rtol=1e-11, atol=1e-13)


@RULES
def test_float32_follows_float64_closely_over_many_steps(
    device: Device,
    rng: np.random.Generator,
    maker: Maker,
    follow: Follow,
) -> None:
    start = rng.normal(0, 1, 100).astype(np.float32)
    steps = [(gradient.astype(np.float32), rate) for gradient, rate in random_steps(rng, 100, 100)]
    w, _ = take_steps(maker, device, start, steps)
    assert w.dtype == np.float32
    np.testing.assert_allclose(w, follow(start, steps), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("maker", [sgd, Adam], ids=["sgd", "adam"])
def test_an_update_allocates_nothing(rng: np.random.Generator, maker: Maker) -> None:
    parameters, gradients = rng.normal(0, 1, 40_000), rng.normal(0, 1, 40_000)
    optimizer = maker(parameters, gradients, Device())
    optimizer.update(0.1)
    tracemalloc.start()
    try:
        optimizer.update(0.1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2000
