"""The check of gradients, held against layers that are right and layers that are wrong on purpose."""

from collections.abc import Sequence

import numpy as np
import pytest

from core.device import Array
from core.nn.architecture import NetworkTextError, build_layers
from core.nn.gradient_check import MOST_CHECKED, TOLERANCE, check_layers, check_network
from core.nn.layers.activations import ReLU, Tanh
from core.nn.layers.layer import Layer, ShapeError
from core.nn.layers.linear import Linear
from core.nn.losses import Loss, SoftmaxCrossEntropy, SquaredError
from core.training.hyperparameters import INPUT_SHAPE
from core.training.presets import PRESETS, Preset

PICTURE = (1, 10, 10)


def named(layers: Sequence[Layer], loss: type[Loss] = SoftmaxCrossEntropy) -> dict[str, bool]:
    return {row.name: row.ok for row in check_layers(layers, (6,), loss)}


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_every_preset_s_gradients_are_right(preset: Preset) -> None:
    rows = check_network(preset.hyperparameters.network, INPUT_SHAPE, preset.initializer, preset.loss)
    assert all(row.ok and row.checked > 0 and row.error < TOLERANCE for row in rows), rows


@pytest.mark.parametrize("loss", [SoftmaxCrossEntropy, SquaredError])
@pytest.mark.parametrize(
    "text",
    [
        "conv 3x3 same nobias bn leaky-relu, pool 3, dropout 0.3, linear 12 gelu, linear 10",
        "conv 4x3 gelu, pool 2, conv 3x2 tanh, linear 12 sigmoid, dropout 0.5, linear 10",
        "bn, flatten, linear 9 straight-relu, linear 10 nobias straight-relu",
    ],
)
def test_every_kind_of_layer_is_right_on_other_seeds_too(text: str, loss: type[Loss]) -> None:
    for seed in (1, 2):
        rows = check_network(text, PICTURE, loss=loss, seed=seed)
        assert all(row.ok for row in rows), rows


@pytest.mark.parametrize("before", ["sigmoid", "tanh", "gelu", "leaky-relu", "relu", "bn", "dropout 0.5"])
def test_a_relu_spoils_nothing_that_the_layer_before_still_needs(before: str) -> None:
    for text in (f"linear 12, {before}, relu, linear 10", f"conv 3x3, {before}, pool 2, relu, conv 2x2, linear 10"):
        rows = check_network(text, PICTURE)
        assert all(row.ok for row in rows), rows


def test_rows_are_the_layers_a_gradient_goes_back_through_in_order() -> None:
    rows = check_network("flatten, linear 12 relu, dropout 0.5, linear 10", PICTURE)
    assert [row.name for row in rows] == ["linear1", "relu1", "dropout1", "linear2"]
    # Nothing is asked of what enters the first that learns; relu has no parameters, so only what enters it counts.
    assert [row.checked for row in rows] == [MOST_CHECKED + 12, MOST_CHECKED, MOST_CHECKED, 2 * MOST_CHECKED + 10]


def test_one_seed_gives_one_answer() -> None:
    first, again, other = (check_network("conv 2x3 relu, dropout 0.5, linear 10", PICTURE, seed=s) for s in (3, 3, 4))
    assert first == again
    assert first != other


class LeakyBackward(ReLU):
    def backward(self, dy: Array) -> Array:
        return super().backward(dy) + 0.001 * dy


class ForgetsTheBias(Linear):
    def backward(self, dy: Array) -> Array:
        dx = super().backward(dy)
        self.gradients["bias"][...] = 0
        return dx


class SlightlyOff(Linear):
    def backward(self, dy: Array) -> Array:
        dx = super().backward(dy)
        self.gradients["weight"][...] *= 1.0001
        return dx


class OutOfNumbers(Tanh):
    def backward(self, dy: Array) -> Array:
        return np.full_like(dy, np.nan)


def test_a_wrong_way_back_shows_in_its_own_row_and_in_those_before_it() -> None:
    assert named([Linear(20), LeakyBackward(), Linear(10)]) == {"linear1": False, "relu1": False, "linear2": True}


@pytest.mark.parametrize("wrong", [ForgetsTheBias, SlightlyOff])
@pytest.mark.parametrize("loss", [SoftmaxCrossEntropy, SquaredError])
def test_a_wrong_gradient_of_parameters_shows_in_its_own_row_alone(wrong: type[Linear], loss: type[Loss]) -> None:
    assert named([Linear(8), Tanh(), wrong(10)], loss) == {"linear1": True, "tanh1": True, "linear2": False}
    assert named([wrong(8), Tanh(), Linear(10)], loss) == {"linear1": False, "tanh1": True, "linear2": True}


def test_what_is_no_number_is_wrong() -> None:
    rows = check_layers([Linear(8), OutOfNumbers(), Linear(10)], (6,))
    assert [row.ok for row in rows] == [False, False, True]
    assert rows[0].error == float("inf")


class Stairs(Layer):
    """Kinks everywhere: nowhere do the slopes to the left and to the right agree."""

    name = "stairs"

    def forward(self, x: Array, *, training: bool) -> Array:
        return x + 1e-3 * np.abs(np.mod(x / 1e-6, 2.0) - 1.0)

    def backward(self, dy: Array) -> Array:
        return dy


def test_where_nothing_could_be_compared_nothing_is_called_right() -> None:
    row = check_layers([Linear(8), Stairs(), Linear(10)], (6,))[1]
    assert not row.ok
    assert row.checked < MOST_CHECKED
    assert "passed over, at a kink" in row.note


def test_the_straight_through_relu_is_taken_as_what_it_pretends_to_be_and_its_row_says_so() -> None:
    rows = check_network("linear 12 relu, linear 10 straight-relu", PICTURE, loss=SquaredError)
    assert rows[-1].name == "straight-relu1"
    assert rows[-1].ok
    assert "identity" in rows[-1].note
    assert not any(row.note for row in rows[:-1])


def test_layers_given_are_checked_where_they_are_and_what_does_not_fit_is_refused() -> None:
    assert all(row.ok for row in check_layers(build_layers("linear 10", PICTURE), PICTURE))
    with pytest.raises(ShapeError):
        check_layers([Linear(3)], PICTURE)
    with pytest.raises(NetworkTextError):
        check_network("linear", PICTURE)
