"""Start weights, held against the moments of the distributions they are drawn from."""

import numpy as np
import pytest

from core.nn.initializers import Initializer, he_normal, uniform_over_fan_in


def test_he_normal_has_mean_0_and_variance_2_over_the_number_of_inputs(rng: np.random.Generator) -> None:
    weights = he_normal(rng, (500, 200))
    assert weights.mean() == pytest.approx(0.0, abs=0.002)
    assert weights.std() == pytest.approx(0.1, rel=0.01)


def test_he_normal_is_bell_shaped(rng: np.random.Generator) -> None:
    weights = np.abs(he_normal(rng, (500, 200))) / 0.1
    shares = [(weights < width).mean() for width in (1, 2, 3)]
    assert shares == pytest.approx([0.6827, 0.9545, 0.9973], abs=0.005)


def test_uniform_over_fan_in_fills_0_to_1_over_the_number_of_inputs_evenly(rng: np.random.Generator) -> None:
    weights = uniform_over_fan_in(rng, (500, 200)) * 200
    assert weights.min() >= 0
    assert weights.max() < 1
    tenths = np.histogram(weights, bins=10, range=(0, 1))[0] / weights.size
    assert tenths == pytest.approx([0.1] * 10, rel=0.05)


@pytest.mark.parametrize(
    ("initializer", "scale"), [(he_normal, (2 / 45) ** 0.5), (uniform_over_fan_in, 1 / 45 / 12**0.5)]
)
def test_a_kernel_s_inputs_are_its_channels_times_its_window(
    rng: np.random.Generator, initializer: Initializer, scale: float
) -> None:
    kernel = initializer(rng, (800, 5, 3, 3))
    assert kernel.shape == (800, 5, 3, 3)
    assert kernel.std() == pytest.approx(scale, rel=0.02)


@pytest.mark.parametrize("initializer", [he_normal, uniform_over_fan_in])
def test_equal_generators_draw_equal_weights_and_go_on_from_there(initializer: Initializer) -> None:
    first, second = np.random.default_rng(5), np.random.default_rng(5)
    start = initializer(first, (4, 3))
    np.testing.assert_array_equal(start, initializer(second, (4, 3)))
    assert not np.array_equal(start, initializer(first, (4, 3)))
