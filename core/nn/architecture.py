"""A network as a line of text, such as `conv 16x3 relu, pool 2, linear 128 relu, dropout 0.3, linear 10`.

    conv CxK     convolution with C channels and a KxK kernel; `same` keeps the picture's size; `nobias`
    pool K       the largest of each KxK square
    linear N     fully connected, N units; `nobias`
    dropout P    silences a share P of what enters while training
    bn           batch normalization
    relu, leaky-relu, sigmoid, tanh, gelu, straight-relu
    flatten      from a picture to a row; implied before linear

Items are separated by commas. After `conv` and `linear` may follow `bn` and an activation in the same item. A mistake
is answered at the very word. It is a room of its own because the text comes from people and from files: everything
about it is checked here, sizes too, before anything is built.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.nn.initializers import Initializer, he_normal
from core.nn.layers.activations import GELU, LeakyReLU, ReLU, Sigmoid, StraightThroughReLU, Tanh
from core.nn.layers.batch_norm import BatchNorm
from core.nn.layers.conv2d import Conv2d
from core.nn.layers.dropout import Dropout
from core.nn.layers.flatten import Flatten
from core.nn.layers.layer import Layer, Shape, ShapeError
from core.nn.layers.linear import Linear
from core.nn.layers.max_pool2d import MaxPool2d

ACTIVATIONS: Mapping[str, Callable[[], Layer]] = {
    layer.name: layer for layer in (ReLU, LeakyReLU, Sigmoid, Tanh, GELU, StraightThroughReLU)
}
_RISING = (ReLU, LeakyReLU, Sigmoid, Tanh)
"""Those that keep the order of numbers, so that the largest may as well be taken first."""

MAX_TEXT, MAX_LAYERS = 1000, 64
MAX_UNITS, MAX_CHANNELS, MAX_KERNEL = 16384, 1024, 28
MAX_PARAMETERS, MAX_ACTIVATIONS, MAX_MULTIPLICATIONS, MAX_PRODUCTS = 50_000_000, 1_000_000, 500_000_000, 20_000


class NetworkTextError(ValueError):
    """A text that describes no network; the message says why, `start` and `stop` where in the text."""

    def __init__(self, message: str, start: int, stop: int) -> None:
        super().__init__(message)
        self.start, self.stop = start, stop


@dataclass(frozen=True)
class Stage:
    """One layer of a described network: its kind and settings in words, its output for one sample, its parameters."""

    words: str
    output: Shape
    parameters: int


@dataclass(frozen=True)
class _Word:
    text: str
    start: int

    def error(self, message: str) -> NetworkTextError:
        return NetworkTextError(message, self.start, self.start + len(self.text))


def build_layers(text: str, input_shape: Shape, initializer: Initializer = he_normal) -> list[Layer]:
    """The layers that `text` describes, for samples of `input_shape`; raises NetworkTextError."""
    layers = [layer for _, layer in _parsed(text, input_shape, initializer)]
    for index in range(len(layers) - 1):
        # Pooling first gives the same numbers, and leaves the activation a fraction of the work.
        if type(layers[index]) in _RISING and isinstance(layers[index + 1], MaxPool2d):
            layers[index], layers[index + 1] = layers[index + 1], layers[index]
    return layers


def describe(text: str, input_shape: Shape) -> list[Stage]:
    """The network stage by stage, to be shown; raises NetworkTextError."""
    stages, shape = [], input_shape
    for words, layer in _parsed(text, input_shape, he_normal):
        parameters = sum(math.prod(s) for s in layer.parameter_shapes(shape).values())
        shape = layer.output_shape(shape)
        stages.append(Stage(words, shape, parameters))
    return stages


def output_units(text: str, input_shape: Shape) -> Shape:
    """The shape of one sample of what the network answers; raises NetworkTextError."""
    return describe(text, input_shape)[-1].output


def with_hidden_units(text: str, hidden: Sequence[int]) -> str:
    """The dense network of `text` with these hidden layers instead, each written like the first one there.

    Where there is none, with relu. Raises NetworkTextError if the network has other layers than dense ones.
    """
    items = [item.strip() for item in text.split(",")]
    first, last = items[0].split(), items[-1]
    if any(not item.startswith("linear ") for item in items):
        raise NetworkTextError("hidden units belong to a network of linear layers only; give its text instead", 0, 0)
    tail = first[2:] if len(items) > 1 else ["relu"]
    return ", ".join([*(" ".join(["linear", str(units), *tail]) for units in hidden), last])


def _parsed(text: str, input_shape: Shape, initializer: Initializer) -> list[tuple[str, Layer]]:
    """Each layer with the words it was made from, in the order of the text."""
    if len(text) > MAX_TEXT:
        raise NetworkTextError(f"the network's text is longer than {MAX_TEXT} characters", MAX_TEXT, len(text))
    found: list[tuple[str, Layer]] = []
    shape, size, start = input_shape, _Size(), 0
    for item in text.split(","):
        words = [_Word(match.group(), start + match.start()) for match in re.finditer(r"\S+", item)]
        if not words:
            raise NetworkTextError("a layer is missing here", start, start + max(len(item), 1))
        for word, description, layer in _item(words, len(shape), initializer):
            try:
                outputs = layer.output_shape(shape)
            except ShapeError as error:
                before = f" after {found[-1][0]}" if found else ""
                raise word.error(f"{description}{before}: {error}") from None
            size.add(layer, shape, outputs)
            shape = outputs
            found.append((description, layer))
            if size.is_too_large() or len(found) > MAX_LAYERS:
                raise word.error(
                    f"{description} makes the network too large: at most {MAX_PARAMETERS:,} weights, "
                    f"{MAX_ACTIVATIONS:,} numbers and {MAX_MULTIPLICATIONS:,} multiplications a digit, "
                    f"{MAX_PRODUCTS:,} products of convolution and {MAX_LAYERS} layers"
                )
        start += len(item) + 1
    return found


@dataclass
class _Size:
    """What a network costs: weights, numbers and multiplications for one digit, and products a convolution prepares."""

    parameters: int = 0
    numbers: int = 0
    multiplications: int = 0
    products: int = 0

    def add(self, layer: Layer, inputs: Shape, outputs: Shape) -> None:
        weights = sum(math.prod(shape) for shape in layer.parameter_shapes(inputs).values())
        self.parameters += weights
        self.numbers += math.prod(outputs)
        self.multiplications += weights * math.prod(outputs[1:])
        if isinstance(layer, Conv2d):
            taps = layer.size**2
            self.products += taps * outputs[1]
            if self.products == taps * outputs[1]:
                # The first one lays out what each of its taps meets.
                self.numbers += taps * inputs[0] * math.prod(outputs[1:])

    def is_too_large(self) -> bool:
        return (
            self.parameters > MAX_PARAMETERS
            or self.numbers > MAX_ACTIVATIONS
            or self.multiplications > MAX_MULTIPLICATIONS
            or self.products > MAX_PRODUCTS
        )


def _item(words: list[_Word], axes: int, initializer: Initializer) -> list[tuple[_Word, str, Layer]]:
    """The layers of one item, each with the word that is to blame if it does not fit."""
    kind, rest = words[0], words[1:]
    if kind.text in ACTIVATIONS or kind.text in ("flatten", "bn"):
        _no_more(rest, kind.text)
        return [(kind, kind.text, _plain(kind.text))]
    if kind.text == "dropout":
        rate = _number(kind, rest, "a share to silence, such as dropout 0.3", r"0?\.\d{1,4}|0")
        _no_more(rest[1:], kind.text)
        return [(kind, f"dropout {rest[0].text}", Dropout(float(rate[0])))]
    if kind.text == "pool":
        (size,) = (int(n) for n in _number(kind, rest, "a size, such as pool 2", r"\d{1,2}"))
        _within(rest[0], "pool", size, 1, MAX_KERNEL)
        _no_more(rest[1:], kind.text)
        return [(kind, f"pool {size}", MaxPool2d(size))]
    if kind.text == "conv":
        channels, size = (
            int(n) for n in _number(kind, rest, "channels and kernel, such as conv 16x3", r"(\d{1,5})x(\d{1,3})")
        )
        _within(rest[0], "channels", channels, 1, MAX_CHANNELS)
        _within(rest[0], "kernel", size, 1, MAX_KERNEL)
        options, more = _options(rest[1:], ("same", "nobias"), kind, initializer)
        bias = "nobias" not in options and not _starts_with_bn(more)
        conv = Conv2d(channels, size, same="same" in options, bias=bias, initializer=initializer)
        return [(kind, " ".join(["conv", rest[0].text, *options]), conv), *more]
    if kind.text == "linear":
        (units,) = (int(n) for n in _number(kind, rest, "a number of units, such as linear 128", r"\d{1,9}"))
        _within(rest[0], "units", units, 1, MAX_UNITS)
        options, more = _options(rest[1:], ("nobias",), kind, initializer)
        bias = "nobias" not in options and not _starts_with_bn(more)
        linear = Linear(units, bias=bias, initializer=initializer)
        flatten = [(kind, "flatten", Flatten())] if axes > 1 else []
        return [*flatten, (kind, " ".join(["linear", rest[0].text, *options]), linear), *more]
    known = ", ".join(["conv", "pool", "linear", "dropout", "bn", "flatten", *ACTIVATIONS])
    raise kind.error(f"{kind.text[:40]!r} is no layer; there are {known}")


def _options(
    words: list[_Word], known: tuple[str, ...], kind: _Word, initializer: Initializer
) -> tuple[list[str], list[tuple[_Word, str, Layer]]]:
    """The words after a layer's size: its own options first, then batch normalization and an activation."""
    options = []
    while words and words[0].text in known and words[0].text not in options:
        options.append(words[0].text)
        words = words[1:]
    more = []
    if words and words[0].text == "bn":
        more.append((words[0], "bn", _plain("bn")))
        words = words[1:]
    if words and words[0].text in ACTIVATIONS:
        more.append((words[0], words[0].text, _plain(words[0].text)))
        words = words[1:]
    if words:
        may = ", ".join([*known, "bn", *ACTIVATIONS])
        raise words[0].error(f"{words[0].text[:40]!r} cannot stand here; after {kind.text} may follow {may}")
    return options, more


def _plain(name: str) -> Layer:
    if name == "bn":
        return BatchNorm()
    return Flatten() if name == "flatten" else ACTIVATIONS[name]()


def _starts_with_bn(more: list[tuple[_Word, str, Layer]]) -> bool:
    """Whether batch normalization follows, whose own bias makes one before it idle."""
    return bool(more) and isinstance(more[0][2], BatchNorm)


def _number(kind: _Word, rest: list[_Word], wanted: str, pattern: str) -> tuple[str, ...]:
    if not rest:
        raise kind.error(f"{kind.text} wants {wanted}")
    match = re.fullmatch(pattern, rest[0].text, re.ASCII)
    if match is None:
        raise rest[0].error(f"{kind.text} {rest[0].text[:40]!r}: it wants {wanted}")
    return match.groups() or (match.group(),)


def _within(word: _Word, name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise word.error(f"{name} is {value}; it must be from {low} to {high:,}")


def _no_more(words: list[_Word], kind: str) -> None:
    if words:
        raise words[0].error(f"{words[0].text[:40]!r} cannot stand here; {kind} is complete, so a comma is missing")
