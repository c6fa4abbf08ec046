"""The network as a text: what each word becomes, and that every mistake is answered where it stands."""

from collections.abc import Sequence

import numpy as np
import pytest

from core.device import Device, HostArray
from core.nn.architecture import (
    ACTIVATIONS,
    NetworkTextError,
    Stage,
    build_layers,
    describe,
    output_units,
    with_hidden_units,
)
from core.nn.initializers import uniform_over_fan_in
from core.nn.layers.activations import GELU, LeakyReLU, ReLU, Sigmoid, StraightThroughReLU, Tanh
from core.nn.layers.batch_norm import BatchNorm
from core.nn.layers.conv2d import Conv2d
from core.nn.layers.dropout import Dropout
from core.nn.layers.flatten import Flatten
from core.nn.layers.layer import Layer
from core.nn.layers.linear import Linear
from core.nn.layers.max_pool2d import MaxPool2d
from core.nn.losses import SoftmaxCrossEntropy
from core.nn.network import Network

DIGIT = (1, 28, 28)


def kinds(text: str, shape: tuple[int, ...] = DIGIT) -> list[type[Layer]]:
    return [type(layer) for layer in build_layers(text, shape)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("conv 4x3 relu, linear 10", [Conv2d, ReLU, Flatten, Linear]),
        ("conv 4x3 bn relu, linear 9 bn tanh", [Conv2d, BatchNorm, ReLU, Flatten, Linear, BatchNorm, Tanh]),
        ("dropout 0.2, bn, flatten, linear 10", [Dropout, BatchNorm, Flatten, Linear]),
        ("conv 4x3, relu, bn, sigmoid, linear 10", [Conv2d, ReLU, BatchNorm, Sigmoid, Flatten, Linear]),
        ("linear 10 leaky-relu, gelu, straight-relu", [Flatten, Linear, LeakyReLU, GELU, StraightThroughReLU]),
        ("  linear   9\trelu ,\nlinear 10 ", [Flatten, Linear, ReLU, Linear]),
        ("pool 2", [MaxPool2d]),
    ],
)  # fmt: skip
def test_every_word_becomes_its_layer_and_before_linear_a_picture_becomes_a_row(
    text: str, wanted: list[type[Layer]]
) -> None:
    assert kinds(text) == wanted


def test_a_row_is_not_flattened_once_more() -> None:
    assert kinds("linear 9, linear 10", (784,)) == [Linear, Linear]


def test_numbers_and_options_reach_their_layers() -> None:
    text = "conv 5x3 same nobias, conv 6x4, pool 3, dropout .25, linear 7 nobias, linear 8"
    same, plain, pool, dropout, _, bare, last = build_layers(text, DIGIT)
    assert (same.channels, same.size, same.same, same.bias) == (5, 3, True, False)
    assert (plain.channels, plain.size, plain.same, plain.bias) == (6, 4, False, True)
    assert (pool.size, dropout.rate) == (3, 0.25)
    assert (bare.units, bare.bias, last.units, last.bias) == (7, False, 8, True)
    turned = build_layers("conv 5x3 nobias same", DIGIT)[0]
    assert (turned.same, turned.bias) == (True, False)


def test_the_initializer_reaches_every_layer_that_draws() -> None:
    for layer in build_layers("conv 2x3, linear 3", DIGIT, uniform_over_fan_in):
        if not isinstance(layer, Flatten):
            assert layer.initializer is uniform_over_fan_in


@pytest.mark.parametrize(
    ("text", "bias"),
    [
        ("conv 4x3 bn relu", False),
        ("conv 4x3 bn", False),
        ("conv 4x3 nobias bn", False),
        ("conv 4x3 relu", True),
        ("linear 4 bn relu", False),
        ("linear 4 relu", True),
    ],
)
def test_a_bias_that_batch_normalization_would_make_idle_is_left_out(text: str, bias: bool) -> None:
    layer = next(layer for layer in build_layers(text, DIGIT) if isinstance(layer, Conv2d | Linear))
    assert layer.bias == bias


@pytest.mark.parametrize(("word", "swapped"), [("relu", True), ("leaky-relu", True), ("sigmoid", True), ("tanh", True),
                                               ("gelu", False), ("straight-relu", False)])  # fmt: skip
def test_pooling_comes_before_an_activation_that_keeps_the_order_of_numbers(word: str, swapped: bool) -> None:
    activation = ACTIVATIONS[word]
    order = [MaxPool2d, activation] if swapped else [activation, MaxPool2d]
    assert kinds(f"conv 4x3 {word}, pool 2, linear 10") == [Conv2d, *order, Flatten, Linear]
    assert kinds(f"conv 4x3 bn {word}, pool 2, pool 2")[2:] == (
        [MaxPool2d, MaxPool2d, activation] if swapped else [activation, MaxPool2d, MaxPool2d]
    )


@pytest.mark.parametrize("word", ACTIVATIONS)
def test_pooling_first_gives_identical_numbers(word: str, device: Device, rng: np.random.Generator) -> None:
    shape = (4, 8, 8)
    built = build_layers(f"bn, {word}, pool 2, linear 10", shape)
    written = [BatchNorm(), ACTIVATIONS[word](), MaxPool2d(2), Flatten(), Linear(10)]
    assert {type(layer) for layer in built} == {type(layer) for layer in written}
    x = rng.normal(0, 1, (*shape, 9))
    targets = np.eye(10)[:, rng.integers(0, 10, 9)]
    answers = [scores_and_gradients(layers, shape, device, x, targets) for layers in (built, written)]
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)


def scores_and_gradients(
    layers: Sequence[Layer], shape: tuple[int, ...], device: Device, x: HostArray, targets: HostArray
) -> tuple[HostArray, HostArray]:
    network, loss = Network(layers, shape, device, np.float64), SoftmaxCrossEntropy(device, np.float64)
    network.parameters[...] = device.to_device(np.random.default_rng(5).normal(0, 0.5, len(network.parameters)))
    scores = network.forward(device.to_device(x), training=True)
    loss.forward(scores, device.to_device(targets))
    network.backward(loss.backward())
    return device.to_host(scores), device.to_host(network.gradients)


def test_a_network_is_described_stage_by_stage_in_the_order_of_its_text() -> None:
    text = "conv 16x3 bn relu, pool 2, conv 8x3 same nobias, dropout 0.5, linear 128 nobias relu, linear 10"
    assert describe(text, DIGIT) == [
        Stage("conv 16x3", (16, 26, 26), 16 * 9),
        Stage("bn", (16, 26, 26), 32),
        Stage("relu", (16, 26, 26), 0),
        Stage("pool 2", (16, 13, 13), 0),
        Stage("conv 8x3 same nobias", (8, 13, 13), 16 * 8 * 9),
        Stage("dropout 0.5", (8, 13, 13), 0),
        Stage("flatten", (1352,), 0),
        Stage("linear 128 nobias", (128,), 1352 * 128),
        Stage("relu", (128,), 0),
        Stage("linear 10", (10,), 1290),
    ]


@pytest.mark.parametrize(("text", "shape"), [("linear 10 relu", (10,)), ("conv 4x3, pool 2", (4, 13, 13))])
def test_the_output_is_that_of_the_last_layer(text: str, shape: tuple[int, ...]) -> None:
    assert output_units(text, DIGIT) == shape


ALL_LAYERS = "conv, pool, linear, dropout, bn, flatten, relu, leaky-relu, sigmoid, tanh, gelu, straight-relu"
ALL_ACTIVATIONS = "relu, leaky-relu, sigmoid, tanh, gelu, straight-relu"
TOO_LARGE = (
    "makes the network too large: at most 50,000,000 weights, 1,000,000 numbers and 500,000,000 multiplications a "
    "digit, 20,000 products of convolution and 64 layers"
)
MISTAKES = [
    # What is no layer, or stands where it cannot.
    ("linear 9 relu, lineer 10", "lineer", f"'lineer' is no layer; there are {ALL_LAYERS}"),
    ("ReLU, linear 10", "ReLU", f"'ReLU' is no layer; there are {ALL_LAYERS}"),
    ("x" * 90 + ", linear 10", "x" * 90, f"'{'x' * 40}' is no layer; there are {ALL_LAYERS}"),
    ("linear 9 relu bn, linear 10", "bn",
     f"'bn' cannot stand here; after linear may follow nobias, bn, {ALL_ACTIVATIONS}"),
    ("linear 9 same, linear 10", "same",
     f"'same' cannot stand here; after linear may follow nobias, bn, {ALL_ACTIVATIONS}"),
    ("conv 4x3 relu same", "same",
     f"'same' cannot stand here; after conv may follow same, nobias, bn, {ALL_ACTIVATIONS}"),
    ("linear 9 relu tanh", "tanh",
     f"'tanh' cannot stand here; after linear may follow nobias, bn, {ALL_ACTIVATIONS}"),
    ("linear 9 linear 10", "linear",
     f"'linear' cannot stand here; after linear may follow nobias, bn, {ALL_ACTIVATIONS}"),
    ("relu linear 10", "linear", "'linear' cannot stand here; relu is complete, so a comma is missing"),
    ("bn 3", "3", "'3' cannot stand here; bn is complete, so a comma is missing"),
    ("flatten linear 10", "linear", "'linear' cannot stand here; flatten is complete, so a comma is missing"),
    ("pool 2 relu", "relu", "'relu' cannot stand here; pool is complete, so a comma is missing"),
    ("dropout 0.5 0.5", "0.5", "'0.5' cannot stand here; dropout is complete, so a comma is missing"),
    # Numbers that are missing, no numbers, or out of bounds.
    ("linear 9, linear", "linear", "linear wants a number of units, such as linear 128"),
    ("conv", "conv", "conv wants channels and kernel, such as conv 16x3"),
    ("pool", "pool", "pool wants a size, such as pool 2"),
    ("dropout, linear 10", "dropout", "dropout wants a share to silence, such as dropout 0.3"),
    ("linear relu", "relu", "linear 'relu': it wants a number of units, such as linear 128"),
    ("linear -3", "-3", "linear '-3': it wants a number of units, such as linear 128"),
    ("linear ٣", "٣", "linear '٣': it wants a number of units, such as linear 128"),
    ("linear " + "9" * 50, "9" * 50, f"linear '{'9' * 40}': it wants a number of units, such as linear 128"),
    ("conv 16", "16", "conv '16': it wants channels and kernel, such as conv 16x3"),
    ("conv 16x", "16x", "conv '16x': it wants channels and kernel, such as conv 16x3"),
    ("conv 3x3x3", "3x3x3", "conv '3x3x3': it wants channels and kernel, such as conv 16x3"),
    ("pool 2x2", "2x2", "pool '2x2': it wants a size, such as pool 2"),
    ("dropout 1", "1", "dropout '1': it wants a share to silence, such as dropout 0.3"),
    ("dropout 1.5", "1.5", "dropout '1.5': it wants a share to silence, such as dropout 0.3"),
    ("dropout -0.1", "-0.1", "dropout '-0.1': it wants a share to silence, such as dropout 0.3"),
    ("dropout nan", "nan", "dropout 'nan': it wants a share to silence, such as dropout 0.3"),
    ("linear 0", "0", "units is 0; it must be from 1 to 16,384"),
    ("linear 16385", "16385", "units is 16385; it must be from 1 to 16,384"),
    ("conv 0x3", "0x3", "channels is 0; it must be from 1 to 1,024"),
    ("conv 1025x3", "1025x3", "channels is 1025; it must be from 1 to 1,024"),
    ("conv 4x0", "4x0", "kernel is 0; it must be from 1 to 28"),
    ("conv 4x29", "4x29", "kernel is 29; it must be from 1 to 28"),
    ("pool 0", "0", "pool is 0; it must be from 1 to 28"),
    ("pool 29", "29", "pool is 29; it must be from 1 to 28"),
    # Layers that do not fit the one before.
    ("linear 9, conv 4x3", "conv", "conv 4x3 after linear 9: there is no picture to convolve"),
    ("linear 9 relu, pool 2", "pool", "pool 2 after relu: there is no picture to pool"),
    ("flatten, conv 4x3", "conv", "conv 4x3 after flatten: there is no picture to convolve"),
    ("pool 9, conv 4x5", "conv", "conv 4x5 after pool 9: a picture of 3x3 is too small for a kernel of 5x5"),
    ("pool 9, pool 2, pool 2", "pool", "pool 2 after pool 2: a picture of 1x1 is too small to pool by 2"),
    ("conv 4x4 same", "conv", "conv 4x4 same: same wants a kernel of odd size, not 4"),
    # Networks that would not fit into the machine.
    ("linear 16384, linear 16384", "linear", f"linear 16384 {TOO_LARGE}"),
    ("conv 2x1, conv 1x27 same, pool 28, linear 10", "conv", f"conv 1x27 same {TOO_LARGE}"),
    ("conv 1024x1 same, conv 1024x1 same", "conv", f"conv 1024x1 same {TOO_LARGE}"),
    (", ".join(["relu"] * 65), "relu", f"relu {TOO_LARGE}"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "word", "message"), MISTAKES, ids=[text[:40] for text, _, _ in MISTAKES])
def test_a_mistake_is_answered_with_a_sentence_at_the_very_word(text: str, word: str, message: str) -> None:
    for read in (build_layers, describe, output_units):
        with pytest.raises(NetworkTextError) as caught:
            read(text, DIGIT)
        assert str(caught.value) == message
        start = text.rindex(word)  # where a word stands there several times, the last one is wrong
        assert (caught.value.start, caught.value.stop) == (start, start + len(word))


@pytest.mark.parametrize(
    ("text", "start", "stop"),
    [("", 0, 1), ("   ", 0, 3), ("linear 9,, linear 10", 9, 10), ("linear 9,  , bn", 9, 11), ("linear 10,", 10, 11)],
)  # fmt: skip
def test_between_commas_a_layer_is_missing(text: str, start: int, stop: int) -> None:
    with pytest.raises(NetworkTextError, match=r"^a layer is missing here$") as caught:
        build_layers(text, DIGIT)
    assert (caught.value.start, caught.value.stop) == (start, stop)


def test_spaces_and_lines_before_a_mistake_do_not_hide_where_it_stands() -> None:
    text = "conv 4x3  relu,\n\n   pool 2 ,\tlinear  ten"
    with pytest.raises(NetworkTextError) as caught:
        build_layers(text, DIGIT)
    assert text[caught.value.start : caught.value.stop] == "ten"


def test_a_text_that_is_too_long_is_refused_from_where_it_is() -> None:
    longest = "linear 10" + " " * 991
    assert kinds(longest) == [Flatten, Linear]
    with pytest.raises(NetworkTextError, match="the network's text is longer than 1000 characters") as caught:
        build_layers(longest + "  ", DIGIT)
    assert (caught.value.start, caught.value.stop) == (1000, 1002)


@pytest.mark.parametrize(
    "text",
    ["linear 16384", "linear 1", "conv 1024x1", "conv 1x28", "pool 28", "dropout 0", "dropout 0.99", "dropout 0.0",
     ", ".join(["relu"] * 64)],
)  # fmt: skip
def test_what_is_just_within_the_limits_is_built(text: str) -> None:
    assert build_layers(text, DIGIT)


@pytest.mark.parametrize(
    ("text", "hidden", "wanted"),
    [
        ("linear 256 relu, linear 10", [64], "linear 64 relu, linear 10"),
        ("linear 256 relu, linear 10", [64, 32, 16], "linear 64 relu, linear 32 relu, linear 16 relu, linear 10"),
        ("linear 9 nobias bn tanh, linear 8 relu, linear 10 nobias straight-relu", [7, 6],
         "linear 7 nobias bn tanh, linear 6 nobias bn tanh, linear 10 nobias straight-relu"),
        ("linear 256 relu, linear 10", [], "linear 10"),
        ("linear 10", [5], "linear 5 relu, linear 10"),
    ],
)  # fmt: skip
def test_hidden_units_replace_those_of_a_dense_network_written_like_its_first(
    text: str, hidden: list[int], wanted: str
) -> None:
    assert with_hidden_units(text, hidden) == wanted
    assert output_units(wanted, DIGIT) == (10,)


@pytest.mark.parametrize(
    "text", ["conv 4x3 relu, linear 10", "linear 9, dropout 0.2, linear 10", "", "lin 9, linear 10"]
)
def test_hidden_units_are_refused_where_the_network_is_not_made_of_linear_layers(text: str) -> None:
    with pytest.raises(NetworkTextError, match="hidden units belong to a network of linear layers only"):
        with_hidden_units(text, [5])
