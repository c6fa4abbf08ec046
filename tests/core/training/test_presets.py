"""The recipes, held against issue 2's text: what the grown-from system did exactly, and what the default must have."""

from itertools import pairwise

import numpy as np
import pytest

from core.device import Device
from core.nn.layers.activations import ReLU, StraightThroughReLU
from core.nn.layers.linear import Linear
from core.nn.losses import SoftmaxCrossEntropy, SquaredError
from core.nn.network import Network, weight_shapes
from core.training.hyperparameters import Hyperparameters
from core.training.presets import CLASSES, INPUT_SHAPE, PRESETS, Preset, UnknownPresetError, find_preset

every_preset = pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)


def kinds(preset: Preset, hidden: tuple[int, ...]) -> list[type]:
    return [type(layer) for layer in preset.build_layers(hidden)]


def start_weights(preset: Preset) -> dict[str, np.ndarray]:
    network = Network(preset.build_layers(preset.hyperparameters.hidden), INPUT_SHAPE, Device())
    network.initialize(np.random.default_rng(0))
    return network.export_weights()


def test_the_default_comes_first_and_the_seed_s_is_there() -> None:
    assert next(iter(PRESETS)) == "quick-mlp"
    assert "pycuda-seed" in PRESETS


def test_pycuda_seed_trains_as_the_system_it_repeats() -> None:
    assert find_preset("pycuda-seed").hyperparameters == Hyperparameters(
        hidden=(1024,),
        optimizer="sgd",
        learning_rate=0.01,
        momentum=0.9,
        schedule="constant",
        batch_size=100,
        epochs=10,
        validation_digits=0,
        evaluate_every=1000,
        precision="float32",
        train_limit=None,
    )


def test_pycuda_seed_has_no_biases_two_relus_no_softmax_and_weights_of_0_to_1_over_the_inputs() -> None:
    preset = find_preset("pycuda-seed")
    assert kinds(preset, (1024,)) == [Linear, ReLU, Linear, StraightThroughReLU]
    assert preset.loss is SquaredError
    weights = start_weights(preset)
    assert {name: w.shape for name, w in weights.items()} == {
        "linear1.weight": (1024, 784),
        "linear2.weight": (10, 1024),
    }
    for w in weights.values():
        assert w.min() >= 0
        assert w.max() * w.shape[1] == pytest.approx(1.0, abs=0.001)
        assert w.mean() * w.shape[1] == pytest.approx(0.5, abs=0.01)


def test_quick_mlp_has_biases_of_zero_a_he_start_relu_and_softmax_and_holds_out_5000_digits() -> None:
    preset = find_preset("quick-mlp")
    assert kinds(preset, (256,)) == [Linear, ReLU, Linear]
    assert preset.loss is SoftmaxCrossEntropy
    assert preset.hyperparameters.validation_digits == 5000
    weights = start_weights(preset)
    assert list(weights) == ["linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias"]
    for layer in ("linear1", "linear2"):
        assert not weights[f"{layer}.bias"].any()
        weight = weights[f"{layer}.weight"]
        assert weight.std() == pytest.approx((2 / weight.shape[1]) ** 0.5, rel=0.05)


@every_preset
@pytest.mark.parametrize("hidden", [(), (3,), (5, 4, 3)], ids=str)
def test_any_number_of_hidden_layers_leads_from_a_picture_to_ten_classes(
    preset: Preset, hidden: tuple[int, ...]
) -> None:
    shapes = weight_shapes(preset.build_layers(hidden), INPUT_SHAPE)
    sizes = [784, *hidden, 10]
    wanted = [(units, inputs) for inputs, units in pairwise(sizes)]
    assert [shape for name, shape in shapes.items() if name.endswith("weight")] == wanted
    assert CLASSES == 10


@every_preset
def test_each_network_gets_layers_of_its_own(preset: Preset) -> None:
    assert not set(map(id, preset.build_layers((3,)))) & set(map(id, preset.build_layers((3,))))


@every_preset
def test_a_preset_is_found_by_its_name_and_tells_people_what_it_teaches(preset: Preset) -> None:
    assert find_preset(preset.name) is preset
    assert preset.title
    assert preset.lesson.endswith(".")


@pytest.mark.parametrize("name", ["", "Quick MLP", "quick_mlp", "x" * 1000])
def test_a_name_that_is_no_preset_s_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(
        UnknownPresetError, match=r"there is no preset '.*; choose quick-mlp or .*pycuda-seed"
    ) as caught:
        find_preset(name)
    assert len(str(caught.value)) < 300
