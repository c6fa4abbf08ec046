"""The recipes: what the system that Inkling grew from did exactly, what the default must have, and that all train."""

from dataclasses import replace

import numpy as np
import pytest

from core.device import Device
from core.digits.dataset import DigitSets, split
from core.nn.layers.activations import ReLU, StraightThroughReLU
from core.nn.layers.conv2d import Conv2d
from core.nn.layers.flatten import Flatten
from core.nn.layers.linear import Linear
from core.nn.losses import SoftmaxCrossEntropy, SquaredError
from core.nn.network import Network
from core.predictor import Predictor
from core.training.events import TrainingEnded, TrainingStarted
from core.training.hyperparameters import INPUT_SHAPE, Hyperparameters
from core.training.job import TrainingJob
from core.training.presets import PRESETS, Preset, UnknownPresetError, find_preset
from core.training.trainer import train

every_preset = pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)


def kinds(preset: Preset) -> list[type]:
    return [type(layer) for layer in preset.build_layers(preset.hyperparameters.network)]


def start_weights(preset: Preset, seed: int | None = None) -> dict[str, np.ndarray]:
    network = Network(preset.build_layers(preset.hyperparameters.network), INPUT_SHAPE, Device())
    rng = np.random.default_rng(0) if seed is None else np.random.default_rng(seed).spawn(1)[0]
    network.initialize(rng)
    return network.export_weights()


def test_ten_recipes_are_there_and_the_default_comes_first() -> None:
    assert next(iter(PRESETS)) == "quick-mlp"
    assert set(PRESETS) == {
        "quick-mlp",
        "quick-cnn",
        "best-mlp",
        "best-cnn",
        "linear-softmax",
        "two-layer-net",
        "deep-dense-net",
        "simple-conv-net",
        "deep-conv-net",
        "pycuda-seed",
    }


def test_pycuda_seed_trains_as_the_system_it_repeats() -> None:
    assert find_preset("pycuda-seed").hyperparameters == Hyperparameters(
        network="linear 1024 nobias relu, linear 10 nobias straight-relu",
        optimizer="momentum",
        learning_rate=0.01,
        momentum=0.9,
        schedule="constant",
        batch_size=100,
        epochs=10,
        validation_digits=0,
        evaluate_every=1000,
        precision="float32",
        train_limit=0,
    )


def test_pycuda_seed_has_no_biases_two_relus_no_softmax_and_weights_of_0_to_1_over_the_inputs() -> None:
    preset = find_preset("pycuda-seed")
    assert kinds(preset) == [Flatten, Linear, ReLU, Linear, StraightThroughReLU]
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
    assert kinds(preset) == [Flatten, Linear, ReLU, Linear]
    assert preset.loss is SoftmaxCrossEntropy
    assert preset.hyperparameters.validation_digits == 5000
    weights = start_weights(preset)
    assert list(weights) == ["linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias"]
    for layer in ("linear1", "linear2"):
        assert not weights[f"{layer}.bias"].any()
        weight = weights[f"{layer}.weight"]
        assert weight.std() == pytest.approx((2 / weight.shape[1]) ** 0.5, rel=0.05)


WEIGHTS_AND_BIASES = {
    "quick-mlp": 784 * 256 + 256 + 256 * 10 + 10,
    "linear-softmax": 784 * 10 + 10,
    "two-layer-net": 784 * 50 + 50 + 50 * 10 + 10,
    "simple-conv-net": 30 * 25 + 30 + 30 * 12 * 12 * 100 + 100 + 100 * 10 + 10,
    "quick-cnn": 16 * 9 + 16 + 32 * 16 * 9 + 32 + 32 * 5 * 5 * 128 + 128 + 128 * 10 + 10,
    "pycuda-seed": 784 * 1024 + 1024 * 10,
}


@pytest.mark.parametrize("name", WEIGHTS_AND_BIASES)
def test_a_recipe_has_as_many_weights_as_its_sizes_multiply_to(name: str) -> None:
    assert sum(w.size for w in start_weights(find_preset(name)).values()) == WEIGHTS_AND_BIASES[name]


@every_preset
def test_each_network_gets_layers_of_its_own(preset: Preset) -> None:
    network = preset.hyperparameters.network
    assert not set(map(id, preset.build_layers(network))) & set(map(id, preset.build_layers(network)))


@every_preset
def test_a_recipe_builds_answers_with_ten_scores_and_trains(preset: Preset, few_digits: DigitSets) -> None:
    sets = DigitSets("very few", few_digits.train.part(0, 60), few_digits.test.part(0, 20))
    chosen = replace(
        preset.hyperparameters, train_limit=40, batch_size=20, epochs=1, validation_digits=20, synthetic=0.0
    )
    events = list(train(TrainingJob(preset.name, chosen, "cpu"), split(sets, 20, 40)))
    started, end = events[0], events[-1]
    assert isinstance(started, TrainingStarted)
    assert isinstance(end, TrainingEnded)
    assert (end.outcome, end.steps, end.samples) == ("completed", 2, 40)
    assert end.train_loss is not None
    assert np.isfinite(end.train_loss)
    trained = {name: w for name, w in end.weights.items() if "running" not in name}
    assert sum(w.size for w in trained.values()) == started.parameter_count
    start = start_weights(preset, chosen.seed)
    assert [name for name, w in trained.items() if np.array_equal(w, start[name])] == []
    p = Predictor(preset.name, chosen, end.weights).probabilities(sets.test.images)
    assert p.shape == (20, 10)
    assert (p.argmax(axis=1) == sets.test.labels).mean() == pytest.approx(end.test_accuracy)


@every_preset
def test_another_network_starts_as_the_recipe_does(preset: Preset) -> None:
    layers = preset.build_layers("conv 2x3 relu, linear 10")
    rng, wanted = np.random.default_rng(4), np.random.default_rng(4)
    drawn = [layer for layer in layers if isinstance(layer, Conv2d | Linear)]
    np.testing.assert_array_equal(
        drawn[0].initial_parameters(INPUT_SHAPE, rng)["weight"],
        preset.initializer(wanted, (2, 1, 3, 3)).transpose(2, 3, 0, 1),
    )
    np.testing.assert_array_equal(
        drawn[1].initial_parameters((1352,), rng)["weight"], preset.initializer(wanted, (10, 1352))
    )


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
