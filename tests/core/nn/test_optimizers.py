"""Optimizers, held against steps computed by hand and against the published rules written as plain loops in float64."""

import math
from collections.abc import Callable, Generator

import numpy as np
import pytest

from core.device import Array, Device, HostArray
from core.nn.optimizers import OPTIMIZERS, SGD, AdaGrad, Adam, AdamW, Momentum, Nesterov, Optimizer, RMSprop
from tests.allocations import peak_bytes

Kind = type[Optimizer]
Steps = list[tuple[HostArray, float]]
Change = Generator[float, tuple[float, float], None]
"""A rule for one parameter: is sent (gradient, rate) and answers with how much to subtract."""


def sgd(momentum: float) -> Change:
    change = 0.0
    while True:
        g, rate = yield change
        change = rate * g


def heavy_ball(momentum: float) -> Change:
    change = velocity = 0.0
    while True:
        g, rate = yield change
        velocity = momentum * velocity + g
        change = rate * velocity


def nesterov(momentum: float) -> Change:
    change = velocity = 0.0
    while True:
        g, rate = yield change
        velocity = momentum * velocity + g
        change = rate * (g + momentum * velocity)


def adagrad(momentum: float) -> Change:
    change = squares = 0.0
    while True:
        g, rate = yield change
        squares += g * g
        change = rate * g / (math.sqrt(squares) + 1e-8)


def rmsprop(momentum: float) -> Change:
    change = squares = 0.0
    while True:
        g, rate = yield change
        squares = 0.99 * squares + 0.01 * g * g
        change = rate * g / (math.sqrt(squares) + 1e-8)


def adam(momentum: float) -> Change:
    change = m = v = 0.0
    t = 0
    while True:
        g, rate = yield change
        t += 1
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        change = rate * (m / (1 - 0.9**t)) / (math.sqrt(v / (1 - 0.999**t)) + 1e-8)


RULES: dict[Kind, Callable[[float], Change]] = {
    SGD: sgd,
    Momentum: heavy_ball,
    Nesterov: nesterov,
    AdaGrad: adagrad,
    RMSprop: rmsprop,
    Adam: adam,
    AdamW: adam,
}
ALL = pytest.mark.parametrize("kind", RULES)


def follow(
    kind: Kind, w: HostArray, steps: Steps, *, momentum: float = 0.9, decay: float = 0.0, clip: float = 0.0
) -> HostArray:
    """Where the rule leads, element by element."""
    weights, rules = w.tolist(), [RULES[kind](momentum) for _ in w]
    for rule in rules:
        next(rule)
    for gradient, rate in steps:
        values = gradient.tolist()
        length = math.sqrt(math.fsum(g * g for g in values))
        shortened = clip / length if clip and length > clip else 1.0
        for i, rule in enumerate(rules):
            g = values[i] * shortened
            if kind is AdamW:
                weights[i] -= rate * decay * weights[i]
            else:
                g += decay * weights[i]
            weights[i] -= rule.send((g, rate))
    return np.array(weights)


def take_steps(
    kind: Kind,
    device: Device,
    start: HostArray,
    steps: Steps,
    *,
    momentum: float = 0.9,
    decay: float = 0.0,
    clip: float = 0.0,
) -> tuple[HostArray, Array]:
    """The parameters after `steps` (gradient, rate), and the gradient array that was read."""
    parameters, gradients = device.to_device(start), device.to_device(np.zeros_like(start))
    optimizer = kind(parameters, gradients, device)
    optimizer.momentum, optimizer.weight_decay, optimizer.clip_norm = momentum, decay, clip
    for gradient, rate in steps:
        gradients[...] = device.to_device(gradient.astype(start.dtype))
        optimizer.prepare(rate)
        optimizer.update()
    return device.to_host(parameters), gradients


def random_steps(rng: np.random.Generator, size: int, count: int) -> Steps:
    """Gradients of very different sizes, zeros among them, and a rate that changes."""
    scales = 10.0 ** rng.integers(-6, 3, size)
    zero = rng.random((count, size)) < 0.1
    gradients = np.where(zero, 0.0, rng.normal(0, 1, (count, size)) * scales)
    return [(gradient, 0.05 / (1 + step)) for step, gradient in enumerate(gradients)]


def steps_of_one(*steps: tuple[float, float]) -> Steps:
    return [(np.array([gradient]), rate) for gradient, rate in steps]


@pytest.mark.parametrize(
    ("kind", "steps", "wanted"),
    [
        (SGD, [(2.0, 0.1), (1.0, 0.1), (-4.0, 0.5)], [0.8, 0.7, 2.7]),
        # v: 2, then 0.9 * 2 + 1 = 2.8, then 0.9 * 2.8 - 4 = -1.48
        (Momentum, [(2.0, 0.1), (1.0, 0.1), (-4.0, 0.5)], [0.8, 0.52, 1.26]),
        # The same v; g + 0.9 v: 3.8, then 3.52, then -5.332
        (Nesterov, [(2.0, 0.1), (1.0, 0.1), (-4.0, 0.5)], [0.62, 0.268, 2.934]),
        # s: 9, 25, 169
        (AdaGrad, [(3.0, 0.1), (4.0, 0.1), (-12.0, 1.3)], [0.9, 0.82, 2.02]),
        # s: 1, 0.99, 0.9801 + 0.01
        (RMSprop, [(10.0, 0.1), (0.0, 0.1), (1.0, 0.1)], [0.0, 0.0, -0.1 / 0.9901**0.5]),
        # m: 0.2, 0.08. v: 0.004, 0.004996. Freed of their start at 0: 2 and 4, then 0.08 / 0.19 and 0.004996 / 0.001999
        (Adam, [(2.0, 0.1), (-1.0, 0.1)], [0.9, 0.9 - 0.1 * (0.08 / 0.19) / (0.004996 / 0.001999) ** 0.5]),
    ],
)
def test_the_first_steps_are_those_computed_by_hand(
    device: Device, kind: Kind, steps: list[tuple[float, float]], wanted: list[float]
) -> None:
    for count, weight in enumerate(wanted, start=1):
        w, _ = take_steps(kind, device, np.array([1.0]), steps_of_one(*steps[:count]))
        assert w == pytest.approx([weight], rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (SGD, [0.75, 0.5125]),  # g + 0.5 w: 2.5, then 2.375
        (Momentum, [0.75, 0.2875]),  # v: 2.5, then 0.9 * 2.5 + 2.375 = 4.625
        (Nesterov, [0.525, -0.107375]),  # v: 2.5, then 0.9 * 2.5 + 2.2625 = 4.5125; 2.2625 + 0.9 * 4.5125 = 6.32375
        (AdaGrad, [0.9, 0.9 - 0.1 * 2.45 / (6.25 + 6.0025) ** 0.5]),
        (RMSprop, [0.0, 0.0 - 0.1 * 2.0 / (0.99 * 0.0625 + 0.04) ** 0.5]),
        (Adam, [0.9, 0.9 - 0.1 * (0.47 / 0.19) / ((0.999 * 0.00625 + 0.0060025) / 0.001999) ** 0.5]),
        (AdamW, [0.85, 0.85 * 0.95 - 0.1]),  # 0.95 - 0.1, and the same again: equal gradients are steps of 0.1
    ],
)
def test_weight_decay_joins_the_gradient_or_in_adamw_the_step_as_computed_by_hand(
    device: Device, kind: Kind, wanted: list[float]
) -> None:
    for count, weight in enumerate(wanted, start=1):
        w, _ = take_steps(kind, device, np.array([1.0]), steps_of_one(*[(2.0, 0.1)] * count), decay=0.5)
        assert w == pytest.approx([weight], rel=1e-7, abs=1e-7)


def test_a_gradient_longer_than_allowed_is_shortened_as_a_whole_and_a_shorter_one_left_alone(device: Device) -> None:
    start, steps = np.array([1.0, 1.0]), [(np.array([3.0, 4.0]), 1.0), (np.array([0.3, -0.4]), 1.0)]
    once, gradients = take_steps(SGD, device, start, steps[:1], clip=1.0)
    assert once == pytest.approx([0.4, 0.2], rel=1e-14)
    assert device.to_host(gradients) == pytest.approx([0.6, 0.8], rel=1e-14)
    twice, _ = take_steps(SGD, device, start, steps, clip=1.0)
    assert twice == pytest.approx([0.1, 0.6], rel=1e-14)


def test_shortening_comes_before_weight_decay_which_is_not_shortened(device: Device) -> None:
    w, _ = take_steps(SGD, device, np.array([1.0, 1.0]), [(np.array([3.0, 4.0]), 1.0)], clip=1.0, decay=0.5)
    assert w == pytest.approx([1 - 0.6 - 0.5, 1 - 0.8 - 0.5], rel=1e-13)


def test_a_gradient_of_zeros_is_not_shortened_into_something_that_is_no_number(device: Device) -> None:
    w, _ = take_steps(SGD, device, np.array([1.0, 2.0]), [(np.zeros(2), 1.0)], clip=0.5)
    assert w.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("kind", [Momentum, Nesterov])
def test_without_momentum_it_is_plain_descent(device: Device, kind: Kind) -> None:
    w, _ = take_steps(kind, device, np.array([1.0]), steps_of_one((2.0, 0.1), (1.0, 0.1)), momentum=0.0)
    assert w == pytest.approx([0.7], rel=1e-14)


def test_momentum_decay_and_clipping_may_change_between_steps(device: Device) -> None:
    w, g = device.to_device(np.array([1.0])), device.to_device(np.array([2.0]))
    optimizer = Momentum(w, g, device)
    optimizer.prepare(0.1)
    optimizer.update()  # v = 2, w = 0.8
    optimizer.momentum, optimizer.weight_decay, optimizer.clip_norm = 0.5, 0.25, 1.0
    optimizer.prepare(0.1)
    optimizer.update()  # g = 1 + 0.25 * 0.8 = 1.2, v = 2.2
    assert device.to_host(w) == pytest.approx([0.58], rel=1e-13)


def test_unless_told_otherwise_momentum_is_nine_tenths_and_nothing_decays_or_is_shortened(device: Device) -> None:
    w, g = device.to_device(np.array([100.0])), device.to_device(np.array([1e6]))
    optimizer = Momentum(w, g, device)
    for _ in range(2):
        optimizer.prepare(1e-6)
        optimizer.update()
    assert device.to_host(w) == pytest.approx([100 - 1 - 1.9], rel=1e-13)


def test_adam_s_first_step_is_the_learning_rate_whatever_the_size_of_the_gradient(device: Device) -> None:
    gradient = np.array([1e-3, -1.0, 1e6, 0.0])
    w, _ = take_steps(Adam, device, np.zeros(4), [(gradient, 0.01)])
    assert w == pytest.approx([-0.01, 0.01, -0.01, 0.0], rel=1e-4)


@ALL
@pytest.mark.parametrize("size", [1, 63, 64, 65, 200])
def test_many_steps_lead_where_the_plain_loop_leads_whatever_is_left_for_the_last_piece(
    device: Device, rng: np.random.Generator, size: int, kind: Kind
) -> None:
    device.piece_size = 64
    start, steps = rng.normal(0, 1, size), random_steps(rng, size, 60)
    w, gradients = take_steps(kind, device, start, steps, momentum=0.8)
    np.testing.assert_allclose(w, follow(kind, start, steps, momentum=0.8), rtol=1e-11, atol=1e-13)
    np.testing.assert_array_equal(device.to_host(gradients), steps[-1][0])


@ALL
def test_many_steps_with_decay_and_clipping_lead_where_the_plain_loop_leads(
    device: Device, rng: np.random.Generator, kind: Kind
) -> None:
    device.piece_size = 64
    start, steps = rng.normal(0, 1, 150), random_steps(rng, 150, 40)
    w, _ = take_steps(kind, device, start, steps, decay=0.02, clip=5.0)
    wanted = follow(kind, start, steps, decay=0.02, clip=5.0)
    np.testing.assert_allclose(w, wanted, rtol=1e-10, atol=1e-12)
    for other in ({"decay": 0.02}, {"clip": 5.0}):
        assert not np.allclose(wanted, follow(kind, start, steps, **other), rtol=1e-4, atol=1e-6)


@ALL
def test_arrays_longer_than_the_device_s_own_piece_are_updated_to_their_last_element(
    device: Device, rng: np.random.Generator, kind: Kind
) -> None:
    size = Device().piece_size + 5
    start, steps = rng.normal(0, 1, size), random_steps(rng, size, 2)
    w, _ = take_steps(kind, device, start, steps)
    np.testing.assert_allclose(w, follow(kind, start, steps), rtol=1e-11, atol=1e-13)


@ALL
def test_float32_follows_float64_closely_over_many_steps(device: Device, rng: np.random.Generator, kind: Kind) -> None:
    start = rng.normal(0, 1, 100).astype(np.float32)
    steps = [(gradient.astype(np.float32), rate) for gradient, rate in random_steps(rng, 100, 100)]
    w, _ = take_steps(kind, device, start, steps, decay=0.01, clip=50.0)
    assert w.dtype == np.float32
    np.testing.assert_allclose(w, follow(kind, start, steps, decay=0.01, clip=50.0), rtol=5e-5, atol=5e-5)


@ALL
def test_an_update_allocates_nothing(rng: np.random.Generator, kind: Kind) -> None:
    parameters, gradients = rng.normal(0, 1, 40_000), rng.normal(0, 1, 40_000)
    optimizer = kind(parameters, gradients, Device())
    optimizer.weight_decay, optimizer.clip_norm = 0.01, 1.0

    def step() -> None:
        optimizer.prepare(0.1)
        optimizer.update()

    step()
    assert peak_bytes(step) < 2000


def test_optimizers_go_by_the_names_people_choose_them_by() -> None:
    assert dict(OPTIMIZERS) == {
        "sgd": SGD,
        "momentum": Momentum,
        "nesterov": Nesterov,
        "adagrad": AdaGrad,
        "rmsprop": RMSprop,
        "adam": Adam,
        "adamw": AdamW,
    }
