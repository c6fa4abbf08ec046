"""A network that another program made, as it becomes one of Inkling's: its text, its weights, and whether they agree.

core.exchange.onnx_reader and core.exchange.state_dict read the files; what they found is judged here. Nothing of it is
trusted: sizes, shapes and numbers are checked before a network is built.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from core.device import HostArray
from core.nn.architecture import ACTIVATIONS, MAX_PARAMETERS, describe
from core.nn.network import weight_shapes
from core.training.hyperparameters import INPUT_SHAPE, HyperparameterError, check_network
from core.training.model_file import Model
from core.training.presets import find_preset

MAX_FILE_BYTES = 4 * MAX_PARAMETERS + 2**20
"""What the largest network takes as float32, and a mebibyte to describe it."""

USUAL_PRESET = "quick-mlp"
"""The recipe of a foreign network: of how it was trained one knows only that softmax makes its probabilities."""

_RISING = ("relu", "leaky-relu", "sigmoid", "tanh")
"""Activations that keep the order of numbers, so that core.nn.architecture takes the largest first."""


class ForeignFileError(ValueError):
    """A file from another program that is no network for Inkling; the message names the file and what is to blame."""


@dataclass(frozen=True)
class ForeignLayer:
    """A layer as it was found: its `name` in the file, the `words` that Inkling's network text has for it, its weights.

    `weights` are float32, finite, by the names and in the layout of Inkling's own layer of that kind.
    """

    name: str
    words: str
    weights: Mapping[str, HostArray] = field(default_factory=dict)


def check_size(path: Path) -> None:
    """Raise ForeignFileError unless there is a file, no larger than a network can be."""
    if os.path.isdir(path):
        raise ForeignFileError(f"{path} is a folder; choose a file in it")
    if not os.path.isfile(path):
        raise ForeignFileError(f"{path} is not there; check the name")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ForeignFileError(
            f"{path} is larger than {MAX_FILE_BYTES / 1e6:,.0f} MB, more than the largest network of Inkling takes; "
            "choose another file"
        )


def read_bytes(path: Path) -> bytes:
    """The content of such a file; raises ForeignFileError."""
    check_size(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise ForeignFileError(f"{path} cannot be read: {error.strerror or error}; check its permissions") from None


def as_weights(path: Path, name: str, values: HostArray) -> HostArray:
    """`values` as weights are kept, read-only float32; raises ForeignFileError unless they are finite numbers."""
    if values.dtype not in (np.float16, np.float32, np.float64):
        raise ForeignFileError(f"{path} holds {name} as {values.dtype}; Inkling reads float16, float32 and float64")
    with np.errstate(over="ignore"):
        weights = np.array(values, np.float32)
    if not np.isfinite(weights).all():
        raise ForeignFileError(f"{path} holds numbers in {name} that are not finite as float32; choose another file")
    weights.flags.writeable = False
    return weights


def network_text(layers: Sequence[ForeignLayer]) -> str:
    """The layers as people write them: "conv 16x3 relu, pool 2, linear 10"."""
    items: list[str] = []
    layers = _activations_first(layers)
    for layer, after in zip(layers, [*layers[1:], None], strict=True):
        before = items[-1].split() if items else []
        has_weights = bool(before) and before[0] in ("conv", "linear")
        if layer.words == "bn" and has_weights and before[-1] == "nobias":
            items[-1] = " ".join([*before[:-1], "bn"])  # which says of itself that there is no other bias
        elif layer.words in ACTIVATIONS and has_weights and before[-1] not in ACTIVATIONS:
            items[-1] += f" {layer.words}"
        elif not (layer.words == "flatten" and after is not None and after.words.startswith("linear")):
            items.append(layer.words)
    return ", ".join(items)


def named_weights(layers: Sequence[ForeignLayer]) -> dict[str, HostArray]:
    """All weights by the names they have in Inkling ("linear1.weight")."""
    counts: dict[str, int] = {}
    weights: dict[str, HostArray] = {}
    for layer in layers:
        kind = layer.words.split()[0]
        counts[kind] = counts.get(kind, 0) + 1
        weights |= {f"{kind}{counts[kind]}.{name}": values for name, values in layer.weights.items()}
    return weights


def check_same_layers(path: Path, text: str, found: str) -> None:
    """Raise ForeignFileError unless `text` names the layers of `found`.

    It may name dropout besides, and activations that answer alike: neither is in the file.
    """
    wanted, there = _answering_words(path, text), _answering_words(path, found)
    for number, (want, has) in enumerate(zip(wanted, there, strict=False), start=1):
        if want != has:
            raise ForeignFileError(
                f"{path} has {has} as layer {number}, where the given network has {want}; the file's own is: {found}"
            )
    if len(wanted) != len(there):
        raise ForeignFileError(
            f"{path} has {len(there)} layers, the given network {len(wanted)}; the file's own is: {found}"
        )


def foreign_model(path: Path, preset: str, text: str, weights: Mapping[str, HostArray]) -> Model:
    """The network of `text` with the weights that were found for it; raises ForeignFileError if they do not fit."""
    check_text(path, text)
    wanted = weight_shapes(find_preset(preset).build_layers(text), INPUT_SHAPE)
    for name in [*wanted, *weights]:
        if name not in weights:
            raise ForeignFileError(f"{path} has no {name}, which the network wants: {text}")
        if name not in wanted:
            raise ForeignFileError(f"{path} has {name}, for which there is no place in the network: {text}")
        if weights[name].shape != wanted[name]:
            raise ForeignFileError(
                f"{path} does not fit pictures of 28x28: {name} has the shape {weights[name].shape}, "
                f"where {wanted[name]} is wanted in the network: {text}"
            )
    hyperparameters = replace(find_preset(preset).hyperparameters, network=text)
    return Model(preset, hyperparameters, weights, {"imported_from": path.name})


def check_text(path: Path, text: str) -> None:
    """Raise ForeignFileError unless `text` is a network from pictures to ten digits."""
    try:
        check_network(text)
    except HyperparameterError as error:
        raise ForeignFileError(f"{path} is no network that Inkling can build: {error}") from None


def _answering_words(path: Path, text: str) -> list[str]:
    """The words of each layer that takes part in an answer."""
    check_text(path, text)
    stages = [stage.words.removesuffix(" nobias") for stage in describe(text, INPUT_SHAPE)]
    words = ["relu" if w == "straight-relu" else w for w in stages if w != "flatten" and not w.startswith("dropout")]
    return [layer.words for layer in _activations_first([ForeignLayer(w, w) for w in words])]


def _activations_first(layers: Sequence[ForeignLayer]) -> list[ForeignLayer]:
    """The layers with those activations before a pooling that as well stand after it: the usual way to write them."""
    ordered: list[ForeignLayer] = []
    for layer in layers:
        place = len(ordered)
        while layer.words in _RISING and place and ordered[place - 1].words.startswith("pool"):
            place -= 1
        ordered.insert(place, layer)
    return ordered
