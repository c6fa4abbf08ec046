"""The network: its gradients held against central differences of the loss, for networks of every kind of layer.

Central differences know nothing of the layers: each parameter is moved a little to either side, in float64. The one
layer they must disagree with is the straight-through ReLU, which leaves a derivative out on purpose; what it does
instead is held against the rule it stands for.
"""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from core.device import Array, Device, HostArray
from core.nn.architecture import build_layers
from core.nn.initializers import uniform_over_fan_in
from core.nn.layers.activations import ReLU, StraightThroughReLU
from core.nn.layers.batch_norm import BatchNorm
from core.nn.layers.conv2d import Conv2d
from core.nn.layers.dropout import Dropout
from core.nn.layers.flatten import Flatten
from core.nn.layers.layer import Layer, Shape, ShapeError
from core.nn.layers.linear import Linear
from core.nn.losses import Loss, SoftmaxCrossEntropy, SquaredError
from core.nn.network import Network, parameter_shapes, weight_shapes
from core.nn.optimizers import OPTIMIZERS
from tests.allocations import peak_bytes

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


@pytest.fixture
def x(rng: np.random.Generator) -> HostArray:
    return rng.normal(0, 1, (INPUTS, BATCH))


@pytest.fixture
def pictures(rng: np.random.Generator) -> HostArray:
    return rng.normal(0, 1, (*PICTURE, BATCH))


@pytest.fixture
def targets(rng: np.random.Generator) -> HostArray:
    return np.eye(CLASSES)[:, rng.integers(0, CLASSES, BATCH)]


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


def gradients_of(network: Network, loss: Loss, x: Array, targets: Array) -> HostArray:
    mean_loss(network, loss, x, targets)
    network.backward(loss.backward())
    return network.device.to_host(network.gradients)


def make_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let even the smallest layers of few units for their inputs be laid out and divided as large ones are."""
    for least in ("_WORTH_TURNING", "_WORTH_DIVIDING"):
        monkeypatch.setattr(f"core.nn.layers.linear.{least}", 0)


@pytest.fixture(params=[False, True], ids=["wide", "narrow"])
def narrow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether every Linear of few units for its inputs is treated as a large one is."""
    if request.param:
        make_narrow(monkeypatch)
    return bool(request.param)


@pytest.mark.parametrize(
    ("loss_of", "narrow"),
    [(SoftmaxCrossEntropy, True), (SquaredError, False)],
    ids=["softmax, narrow", "squares, wide"],
)
@pytest.mark.parametrize("text", TEXTS)
def test_every_parameter_s_gradient_is_the_slope_of_the_mean_loss(
    text: str,
    loss_of: type[Loss],
    narrow: bool,
    device: Device,
    rng: np.random.Generator,
    pictures: HostArray,
    targets: HostArray,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if narrow:
        make_narrow(monkeypatch)
    network = started(build_layers(text, PICTURE), device, rng, input_shape=PICTURE)
    loss, x, targets = loss_of(device, np.float64), as_pixels(device, pictures), device.to_device(targets)
    gradients = gradients_of(network, loss, x, targets)
    assert np.count_nonzero(gradients) > 0.5 * gradients.size
    blur = 2e-8 + 1e-9 * np.abs(gradients).max()  # what rounding leaves of the difference of two losses
    np.testing.assert_allclose(gradients, central_differences(network, loss, x, targets), rtol=2e-6, atol=blur)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("text", TEXTS)
def test_carried_gradients_are_the_new_ones_and_a_share_of_what_they_were(
    text: str, device: Device, rng: np.random.Generator, pictures: HostArray, targets: HostArray
) -> None:
    plain, carrying = (
        started(build_layers(text, PICTURE), device, np.random.default_rng(3), input_shape=PICTURE) for _ in range(2)
    )
    loss, wanted = SoftmaxCrossEntropy(device, np.float64), np.zeros(len(plain.parameters))
    for share in (0.9, 0.9, 0.5, 0.0, 0.7):
        carrying.carry(share)
        x, t = as_pixels(device, pictures + rng.normal(0, 0.1, pictures.shape)), device.to_device(targets)
        wanted = share * wanted + gradients_of(plain, loss, x, t)
        np.testing.assert_allclose(gradients_of(carrying, loss, x, t), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("text", TEXTS[5:11])
@pytest.mark.parametrize("shares", [1, 2, 3])
def test_dividing_the_work_among_threads_changes_neither_scores_nor_gradients(
    text: str,
    shares: int,
    rng: np.random.Generator,
    pictures: HostArray,
    targets: HostArray,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device, answers = Device(), []
    for parts, worth in ((1, 1e9), (shares, 1)):
        device.shares = parts
        monkeypatch.setattr("core.nn.layers.layer._WORTH_SHARING", worth)
        network = started(build_layers(text, PICTURE), device, np.random.default_rng(4), input_shape=PICTURE)
        x = as_pixels(device, pictures)
        gradients = gradients_of(network, SoftmaxCrossEntropy(device, np.float64), x, targets)
        answers.append((device.to_host(network.forward(x)), gradients))
    np.testing.assert_allclose(answers[1][0], answers[0][0], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(answers[1][1], answers[0][1], rtol=1e-11, atol=1e-12)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("text", TEXTS)
def test_numpy_alone_computes_what_the_blas_computes(
    text: str, rng: np.random.Generator, pictures: HostArray, targets: HostArray
) -> None:
    answers = []
    for alone in (False, True):
        device = Device()
        if alone:
            device._blas = None
        network = started(build_layers(text, PICTURE), device, np.random.default_rng(4), np.float32, PICTURE)
        loss = SoftmaxCrossEntropy(device, np.float32)
        x = as_pixels(device, pictures.astype(np.float32))
        gradients = gradients_of(network, loss, x, targets.astype(np.float32))
        answers.append((device.to_host(network.forward(x)), gradients))
    np.testing.assert_allclose(answers[1][0], answers[0][0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(answers[1][1], answers[0][1], rtol=1e-5, atol=1e-5)


def test_gradients_reach_the_first_layer_through_layers_that_follow_it_directly(
    device: Device, rng: np.random.Generator, x: HostArray, targets: HostArray
) -> None:
    network, loss = started([Linear(3), Linear(CLASSES)], device, rng), SquaredError(device, np.float64)
    x, targets = device.to_device(x), device.to_device(targets)
    gradients = gradients_of(network, loss, x, targets)
    np.testing.assert_allclose(gradients, central_differences(network, loss, x, targets), rtol=1e-6, atol=1e-8)


def test_backward_goes_back_to_the_first_layer_that_learns_and_no_further(
    device: Device, rng: np.random.Generator, x: HostArray, targets: HostArray
) -> None:
    class Early(ReLU):
        def backward(self, dy: Array) -> Array:
            raise AssertionError("nobody asked for this gradient")

    network = started([Early(), Linear(CLASSES)], device, rng)
    loss, x, targets = SquaredError(device, np.float64), device.to_device(x), device.to_device(targets)
    gradients = gradients_of(network, loss, x, targets)
    np.testing.assert_allclose(gradients, central_differences(network, loss, x, targets), rtol=1e-6, atol=1e-8)


def test_behind_a_straight_through_relu_an_output_of_0_learns_as_if_it_had_been_a_linear_output_of_0(
    device: Device, rng: np.random.Generator, x: HostArray, targets: HostArray
) -> None:
    network = started([Linear(CLASSES, bias=False), StraightThroughReLU()], device, rng)
    loss = SquaredError(device, np.float64)
    scores = network.forward(device.to_device(x), training=True)
    output = np.maximum(device.to_host(network.parameters).reshape(CLASSES, INPUTS) @ x, 0)
    assert (output == 0).any()
    np.testing.assert_allclose(device.to_host(scores), output, rtol=1e-13)
    loss.forward(scores, device.to_device(targets))
    network.backward(loss.backward())
    error = output - targets
    wanted = sum(np.outer(e, sample) for e, sample in zip(error.T, x.T, strict=True)) / BATCH
    np.testing.assert_allclose(device.to_host(network.gradients).reshape(wanted.shape), wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("text", TEXTS)
def test_gradients_are_written_anew_by_each_backward_whatever_the_batch_size_before(
    text: str, device: Device, rng: np.random.Generator, pictures: HostArray, targets: HostArray
) -> None:
    network = started(build_layers(text, PICTURE), device, rng, input_shape=PICTURE)
    loss, seen = SoftmaxCrossEntropy(device, np.float64), []
    for count in (BATCH, 3, BATCH):
        part = np.ascontiguousarray(pictures[..., :count]), np.ascontiguousarray(targets[:, :count])
        seen.append(gradients_of(network, loss, *map(device.to_device, part)))
    np.testing.assert_array_equal(seen[2], seen[0])
    assert not np.allclose(seen[1], seen[0])


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
