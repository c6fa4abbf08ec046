"""The network: its weights by name and where they lie, what it starts from, what it remembers, and its layers."""

import math

import numpy as np
import pytest

from core.device import Device, HostArray
from core.nn.architecture import build_layers
from core.nn.initializers import uniform_over_fan_in
from core.nn.layers.activations import ReLU
from core.nn.layers.batch_norm import BatchNorm
from core.nn.layers.conv2d import Conv2d
from core.nn.layers.dropout import Dropout
from core.nn.layers.flatten import Flatten
from core.nn.layers.layer import ShapeError
from core.nn.layers.linear import Linear
from core.nn.network import Network, parameter_shapes, weight_shapes
from tests.core.nn.networks import (
    BATCH,
    INPUTS,
    PICTURE,
    TEXTS,
    small_network,
    started,
)


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


def test_a_matrix_that_lies_column_by_column_has_its_shape_and_values_all_the_same(
    device: Device, rng: np.random.Generator, narrow: bool
) -> None:
    network = started([Linear(2), ReLU(), Linear(3)], device, rng)
    flat, weights = device.to_host(network.parameters), network.export_weights()
    first = flat[:12].reshape(6, 2).T if narrow else flat[:12].reshape(2, 6)
    np.testing.assert_array_equal(weights["linear1.weight"], first)
    np.testing.assert_array_equal(weights["linear2.weight"], flat[14:20].reshape(3, 2))
    other = started([Linear(2), ReLU(), Linear(3)], device, rng)
    other.load_weights({name: np.ascontiguousarray(values) for name, values in weights.items()})
    np.testing.assert_array_equal(device.to_host(other.parameters), flat)


def test_the_layers_compute_with_the_flat_array_itself(device: Device, rng: np.random.Generator, x: HostArray) -> None:
    network = small_network(device, rng)
    network.parameters[...] = 0
    network.parameters[6] = 2.0  # the second hidden unit's first input
    network.parameters[28 + 4 + 1] = 3.0  # the second output's second hidden unit
    y = device.to_host(network.forward(device.to_device(x)))
    first = np.maximum(x[0], 0)
    np.testing.assert_allclose(y, np.stack([0 * first, 6 * first, 0 * first]), rtol=1e-14)


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


@pytest.mark.parametrize("initializer", [None, uniform_over_fan_in])
def test_every_device_and_precision_starts_from_the_same_draws(initializer, device: Device) -> None:
    start_as = {} if initializer is None else {"initializer": initializer}
    layers = [Conv2d(3, 3, **start_as), BatchNorm(), ReLU(), Flatten(), Linear(5, **start_as)]
    narrow, wide = Network(layers, PICTURE, device), Network(layers, PICTURE, Device(), np.float64)
    for network in (narrow, wide):
        network.initialize(np.random.default_rng(11))
    start, rng = wide.export_weights(), np.random.default_rng(11)
    kernels = layers[0].initializer(rng, (3, 1, 3, 3))
    np.testing.assert_array_equal(start["conv1.weight"], kernels.transpose(2, 3, 0, 1))
    np.testing.assert_array_equal(start["linear1.weight"], layers[4].initializer(rng, (5, 3 * 6 * 5)))
    assert (start["bn1.weight"] == 1).all()
    for name, w in narrow.export_weights().items():
        np.testing.assert_array_equal(w, start[name].astype(np.float32))
        assert np.ptp(w) > 0 or name.startswith("bn") or name.endswith("bias")
    narrow.initialize(np.random.default_rng(12))
    assert not np.array_equal(narrow.export_weights()["linear1.weight"], start["linear1.weight"].astype(np.float32))


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
    network.forward(device.to_device(x[:, :2]), training=True)
    np.testing.assert_array_equal(device.to_host(scores), kept)
    assert network.forward(device.to_device(2 * x), training=True) is scores


def test_what_a_layer_remembers_is_a_weight_like_its_parameters_but_is_not_trained(
    device: Device, rng: np.random.Generator, x: HostArray
) -> None:
    network = started([Linear(3), BatchNorm(), Linear(2)], device, rng)
    trained = ["linear1.weight", "linear1.bias", "bn1.weight", "bn1.bias", "linear2.weight", "linear2.bias"]
    remembered = ["bn1.running_mean", "bn1.running_variance"]
    assert list(parameter_shapes(network.layers, (INPUTS,))) == trained
    weights = network.export_weights()
    assert list(weights) == list(weight_shapes(network.layers, (INPUTS,))) == trained + remembered
    assert weights["bn1.running_variance"].tolist() == [1.0] * 3
    assert len(network.parameters) == 6 * 3 + 3 + 3 + 3 + 3 * 2 + 2
    network.forward(device.to_device(x), training=True)
    after = network.export_weights()
    for name in trained + remembered:
        assert np.array_equal(after[name], weights[name]) == (name in trained)
    np.testing.assert_array_equal(np.concatenate([after[name] for name in remembered]), device.to_host(network.state))


def test_loaded_weights_bring_the_running_means_along(device: Device, rng: np.random.Generator, x: HostArray) -> None:
    source, other = (started([Linear(3), BatchNorm()], device, rng) for _ in range(2))
    source.forward(device.to_device(x), training=True)
    other.load_weights(source.export_weights())
    np.testing.assert_array_equal(
        device.to_host(other.forward(device.to_device(x))), device.to_host(source.forward(device.to_device(x)))
    )


def test_two_networks_of_one_seed_drop_the_same_and_layers_of_one_network_do_not(
    device: Device, rng: np.random.Generator
) -> None:
    ones, seen = device.to_device(np.ones((INPUTS, 200))), []
    for seed in (3, 3, 4):
        network = Network([Dropout(0.5), Dropout(0.5)], (INPUTS,), device, np.float64)
        network.seed_dropout(seed)
        network.draw(200)
        first, second = (layer.forward(ones, training=True) for layer in network.layers)
        seen.append((device.to_host(first), device.to_host(second)))
    np.testing.assert_array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[0][0], seen[0][1])
    assert not np.array_equal(seen[0], seen[2])


def test_outside_training_the_same_digit_is_answered_alike_whatever_its_neighbours_are(
    device: Device, rng: np.random.Generator, pictures: HostArray
) -> None:
    network = started(build_layers(TEXTS[7], PICTURE), device, rng, input_shape=PICTURE)
    network.forward(device.to_device(pictures), training=True)
    together = device.to_host(network.forward(device.to_device(pictures)))
    for sample in range(BATCH):
        alone = device.to_host(network.forward(device.to_device(pictures[..., sample : sample + 1])))
        np.testing.assert_allclose(alone[:, 0], together[:, sample], rtol=1e-11)


def test_layers_are_named_by_their_kind_and_counted(device: Device) -> None:
    network = Network(build_layers("conv 2x3 bn relu, conv 2x3 relu, linear 4, linear 3", PICTURE), PICTURE, device)
    names = [name for name, _ in network.named_layers()]
    assert names == ["conv1", "bn1", "relu1", "conv2", "relu2", "flatten1", "linear1", "linear2"]
    assert tuple(layer for _, layer in network.named_layers()) == network.layers


def test_a_layer_that_cannot_follow_the_one_before_is_refused_before_anything_is_built(device: Device) -> None:
    for attempt in (parameter_shapes, weight_shapes):
        with pytest.raises(ShapeError, match="put flatten before it"):
            attempt([Conv2d(2, 3), Linear(3)], PICTURE)
    with pytest.raises(ShapeError, match="no picture"):
        Network([Flatten(), Conv2d(2, 3)], PICTURE, device)


def test_only_a_network_with_a_layer_that_divides_its_work_does_so(device: Device) -> None:
    dense = Network([Flatten(), Linear(3)], PICTURE, device)
    convolving = Network([Conv2d(2, 3), Flatten(), Linear(3)], PICTURE, device)
    assert (dense.divides, convolving.divides) == (False, True)
    assert [layer.divides for layer in dense.layers] == [False] * 2
    assert [layer.divides for layer in convolving.layers] == [True] * 3


def test_the_number_of_parameters_is_the_sum_of_their_sizes(device: Device) -> None:
    network = Network(build_layers(TEXTS[5], PICTURE), PICTURE, device)
    sizes = [math.prod(shape) for shape in parameter_shapes(network.layers, PICTURE).values()]
    assert sizes == [27, 3, 4 * 18, 4, 40, 10]
    assert len(network.parameters) == len(network.gradients) == sum(sizes)
