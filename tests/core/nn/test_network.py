"""The network: its gradients held against central differences of the loss, for every preset's layers and loss.

Central differences know nothing of the layers: each parameter is moved a little to either side, in float64. The one
layer they must disagree with is the straight-through ReLU, which leaves a derivative out on purpose; networks that end
in it are differentiated without it, and what it does instead is held against the rule it stands for.
"""

from collections.abc import Sequence

import numpy as np
import pytest

from core.device import Array, Device, HostArray
from core.nn.layers.activations import ReLU, StraightThroughReLU
from core.nn.layers.layer import Layer
from core.nn.layers.linear import Linear
from core.nn.losses import Loss, SquaredError
from core.nn.network import Network, weight_shapes
from core.training.presets import PRESETS

INPUTS, CLASSES, BATCH = 6, 10, 12


@pytest.fixture
def x(rng: np.random.Generator) -> HostArray:
    return rng.normal(0, 1, (BATCH, INPUTS))


@pytest.fixture
def targets(rng: np.random.Generator) -> HostArray:
    return np.eye(CLASSES)[rng.integers(0, CLASSES, BATCH)]


def started(layers: Sequence[Layer], device: Device, rng: np.random.Generator, dtype: type = np.float64) -> Network:
    """A network with normal weights, so that units of either sign occur whatever its own start is."""
    network = Network(layers, (INPUTS,), device, dtype)
    network.parameters[...] = device.to_device(rng.normal(0, 0.7, len(network.parameters)))
    return network


def small_network(device: Device, rng: np.random.Generator, dtype: type = np.float64) -> Network:
    return started([Linear(4), ReLU(), Linear(3, bias=False)], device, rng, dtype)


def mean_loss(network: Network, loss: Loss, x: Array, targets: Array) -> float:
    return float(loss.forward(network.forward(x, training=True), targets)) / len(x)


def central_differences(network: Network, loss: Loss, x: Array, targets: Array) -> HostArray:
    """The derivative of the mean loss by each parameter."""
    slopes = []
    for i in range(len(network.parameters)):
        value, losses = float(network.parameters[i]), []
        for moved in (value + 1e-6, value - 1e-6):
            network.parameters[i] = moved
            losses.append(mean_loss(network, loss, x, targets))
        network.parameters[i] = value
        slopes.append((losses[0] - losses[1]) / 2e-6)
    return np.array(slopes)


@pytest.mark.parametrize("hidden", [(), (7,), (6, 5)], ids=str)
@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_every_parameter_s_gradient_is_the_slope_of_the_mean_loss(
    preset, hidden: tuple[int, ...], device: Device, rng: np.random.Generator, x: HostArray, targets: HostArray
) -> None:
    layers = [layer for layer in preset.build_layers(hidden) if not isinstance(layer, StraightThroughReLU)]
    network, loss = started(layers, device, rng), preset.loss(device, np.float64)
    x, targets = device.to_device(x), device.to_device(targets)
    mean_loss(network, loss, x, targets)
    network.backward(loss.backward())
    gradients = device.to_host(network.gradients)
    assert np.count_nonzero(gradients) > 0.5 * gradients.size
    np.testing.assert_allclose(gradients, central_differences(network, loss, x, targets), rtol=1e-6, atol=1e-8)


def test_gradients_reach_the_first_layer_through_layers_that_follow_it_directly(
    device: Device, rng: np.random.Generator, x: HostArray, targets: HostArray
) -> None:
    network, loss = started([Linear(3), Linear(CLASSES)], device, rng), SquaredError(device, np.float64)
    x, targets = device.to_device(x), device.to_device(targets)
    mean_loss(network, loss, x, targets)
    network.backward(loss.backward())
    wanted = central_differences(network, loss, x, targets)
    np.testing.assert_allclose(device.to_host(network.gradients), wanted, rtol=1e-6, atol=1e-8)


def test_behind_a_straight_through_relu_an_output_of_0_learns_as_if_it_had_been_a_linear_output_of_0(
    device: Device, rng: np.random.Generator, x: HostArray, targets: HostArray
) -> None:
    network = started([Linear(CLASSES, bias=False), StraightThroughReLU()], device, rng)
    loss = SquaredError(device, np.float64)
    scores = network.forward(device.to_device(x), training=True)
    output = np.maximum(x @ device.to_host(network.parameters).reshape(CLASSES, INPUTS).T, 0)
    assert (output == 0).any()
    np.testing.assert_allclose(device.to_host(scores), output, rtol=1e-13)
    loss.forward(scores, device.to_device(targets))
    network.backward(loss.backward())
    error = output - targets
    wanted = sum(np.outer(e, sample) for e, sample in zip(error, x, strict=True)) / BATCH
    np.testing.assert_allclose(device.to_host(network.gradients).reshape(wanted.shape), wanted, rtol=1e-12, atol=1e-15)


def test_gradients_are_written_anew_by_each_backward_whatever_the_batch_size_before(
    device: Device, rng: np.random.Generator, x: HostArray, targets: HostArray
) -> None:
    preset = PRESETS["quick-mlp"]
    network, loss = started(preset.build_layers((7,)), device, rng), preset.loss(device, np.float64)
    seen = []
    for count in (BATCH, 2, BATCH):
        mean_loss(network, loss, device.to_device(x[:count]), device.to_device(targets[:count]))
        network.backward(loss.backward())
        seen.append(device.to_host(network.gradients))
    np.testing.assert_array_equal(seen[2], seen[0])
    assert not np.allclose(seen[1], seen[0])


def test_weights_are_named_by_layer_and_lie_one_after_the_other_in_the_flat_array(
    device: Device, rng: np.random.Generator
) -> None:
    network = small_network(device, rng)
    weights = network.export_weights()
    shapes = {"linear1.weight": (4, 6), "linear1.bias": (4,), "linear2.weight": (3, 4)}
    assert {name: w.shape for name, w in weights.items()} == shapes
    assert weight_shapes(network.layers, (INPUTS,)) == shapes
    flat = np.concatenate([w.ravel() for w in weights.values()])
    np.testing.assert_array_equal(flat, device.to_host(network.parameters))


def test_the_layers_compute_with_the_flat_array_itself(device: Device, rng: np.random.Generator, x: HostArray) -> None:
    network = small_network(device, rng)
    network.parameters[...] = 0
    network.parameters[6] = 2.0  # the second hidden unit's first input
    network.parameters[28 + 4 + 1] = 3.0  # the second output's second hidden unit
    y = device.to_host(network.forward(device.to_device(x)))
    first = np.maximum(x[:, 0], 0)
    np.testing.assert_allclose(y, np.stack([0 * first, 6 * first, 0 * first], axis=1), rtol=1e-14)


def test_exported_weights_are_read_only_copies_that_later_steps_leave_alone(
    device: Device, rng: np.random.Generator
) -> None:
    network = small_network(device, rng)
    weights = network.export_weights()
    before = {name: w.copy() for name, w in weights.items()}
    network.parameters[...] = 0
    for name, w in weights.items():
        assert type(w) is np.ndarray
        np.testing.assert_array_equal(w, before[name])
        with pytest.raises(ValueError, match="read-only"):
            w[...] = 1


def test_loaded_weights_make_another_network_answer_the_same(
    device: Device, rng: np.random.Generator, x: HostArray
) -> None:
    source, other = small_network(device, rng), small_network(device, rng)
    weights = source.export_weights()
    other.load_weights(dict(reversed(weights.items())))
    np.testing.assert_array_equal(
        device.to_host(other.forward(device.to_device(x))), device.to_host(source.forward(device.to_device(x)))
    )
    other.parameters[...] = 0
    np.testing.assert_array_equal(weights["linear1.weight"], source.export_weights()["linear1.weight"])


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w.pop("linear1.bias"),
        lambda w: w.update({"linear3.weight": np.ones((3, 3))}),
        lambda w: w.update({"linear2.weight": np.ones((4, 3))}),
        lambda w: w.update({"linear1.bias": np.ones((1,))}),
    ],
    ids=["one missing", "one too many", "transposed", "would broadcast"],
)
def test_weights_of_another_network_are_refused_and_change_nothing(
    change, device: Device, rng: np.random.Generator
) -> None:
    network = small_network(device, rng)
    before = device.to_host(network.parameters)
    weights = {name: np.ones(w.shape) for name, w in network.export_weights().items()}
    change(weights)
    with pytest.raises(ValueError, match=r"this network wants .*'linear1\.weight': \(4, 6\)"):
        network.load_weights(weights)
    np.testing.assert_array_equal(device.to_host(network.parameters), before)


def test_everything_is_computed_in_the_network_s_dtype_and_weights_are_cast_to_it(
    device: Device, rng: np.random.Generator, x: HostArray
) -> None:
    wide, narrow = small_network(device, rng), small_network(device, rng, np.float32)
    narrow.load_weights(wide.export_weights())
    y = narrow.forward(device.to_device(x.astype(np.float32)))
    assert {narrow.parameters.dtype, narrow.gradients.dtype, y.dtype} == {np.dtype(np.float32)}
    np.testing.assert_allclose(
        device.to_host(y), device.to_host(wide.forward(device.to_device(x))), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_every_device_and_precision_starts_from_the_same_draws(preset, device: Device) -> None:
    narrow = Network(preset.build_layers((8, 5)), (INPUTS,), device)
    wide = Network(preset.build_layers((8, 5)), (INPUTS,), Device(), np.float64)
    for network in (narrow, wide):
        network.initialize(np.random.default_rng(11))
    start, rng = wide.export_weights(), np.random.default_rng(11)
    first, second = (layer for layer in wide.layers if isinstance(layer, Linear) and layer.units < CLASSES)
    np.testing.assert_array_equal(start["linear1.weight"], first.initializer(rng, (8, INPUTS)))
    np.testing.assert_array_equal(start["linear2.weight"], second.initializer(rng, (5, 8)))
    for name, w in narrow.export_weights().items():
        np.testing.assert_array_equal(w, start[name].astype(np.float32))
        assert np.ptp(w) > 0 or name.endswith("bias")
    narrow.initialize(np.random.default_rng(12))
    assert not np.array_equal(narrow.export_weights()["linear2.weight"], start["linear2.weight"].astype(np.float32))


def test_a_network_starts_as_zeros_in_float32(device: Device) -> None:
    network = Network([Linear(4)], (INPUTS,), device)
    assert network.parameters.dtype == np.float32
    assert not device.to_host(network.parameters).any()


def test_each_batch_size_keeps_its_scores_until_its_next_forward(
    device: Device, rng: np.random.Generator, x: HostArray
) -> None:
    network = small_network(device, rng)
    scores = network.forward(device.to_device(x), training=True)
    kept = device.to_host(scores)
    network.forward(device.to_device(x[:2]), training=True)
    np.testing.assert_array_equal(device.to_host(scores), kept)
    assert network.forward(device.to_device(2 * x), training=True) is scores
