"""A node of an ONNX graph as a layer of Inkling: each kind is taken only if it computes exactly the same.

ONNX's operators have more settings than Inkling's layers; a setting that Inkling lacks is refused by name. Their
meanings and defaults are those of the operators' own pages (onnx.ai/onnx/operators).
"""

from collections.abc import Callable, Mapping, Sequence
from math import isclose
from pathlib import Path
from typing import Any

from core.device import HostArray
from core.exchange.foreign_network import ForeignFileError, ForeignLayer, as_weights
from core.nn.layers.activations import LeakyReLU
from core.nn.layers.batch_norm import BatchNorm

_SETTING_FIELDS = {1: "f", 2: "i", 3: "s", 7: "ints"}
"""By AttributeProto's numbers for a float, a whole number, bytes, and a list of whole numbers."""


class Node:
    """One node in the file at `path`, with its `constants` and its settings."""

    def __init__(self, path: Path, proto: Any, constants: Sequence[HostArray] = ()) -> None:
        self.kind = proto.op_type if proto.op_type.isalnum() else ascii(proto.op_type)[:40]
        self.name = proto.name or (proto.output[0] if proto.output else "")
        self.constants = constants
        self._path = path
        self._settings = {
            a.name: getattr(a, _SETTING_FIELDS[a.type]) for a in proto.attribute if a.type in _SETTING_FIELDS
        }

    def setting(self, name: str, default: Any) -> Any:
        """A setting, a list for several numbers; `default` where the file is silent."""
        value = self._settings.get(name, default)
        return value if isinstance(value, int | float | bytes) else list(value)

    def want(self, name: str, default: Any, wanted: Any) -> None:
        """Raise ForeignFileError unless a setting is as wanted; `default` is what counts where the file is silent."""
        there = self.setting(name, default)
        if isinstance(wanted, float) and isinstance(there, int | float):
            same = isclose(there, wanted, rel_tol=1e-4)  # the file has it as float32
        else:
            same = there == wanted
        if not same:
            raise self.refusal(f"has {name} {there!r:.60}, where Inkling has {wanted!r}")

    def refusal(self, why: str) -> ForeignFileError:
        """The error that says why this node is in the way."""
        return ForeignFileError(f"{self._path} cannot become a network: {self.kind} {self.name[:60]!r} {why}")

    def layer(self, words: str, **weights: HostArray) -> ForeignLayer:
        """The layer this node is; raises ForeignFileError unless its weights are finite numbers."""
        sound = {part: as_weights(self._path, f"{self.name[:60]!r}", values) for part, values in weights.items()}
        return ForeignLayer(self.name, words, sound)


def _convolution(node: Node) -> ForeignLayer:
    """Conv: kernels (out, in, k, k), stride 1, with no border or the one that keeps the picture's size."""
    kernels, bias = _weight_and_bias(node, 4)
    size = kernels.shape[2]
    border = (size - 1) // 2 if size % 2 else 0
    pads = node.setting("pads", [0] * 4)
    node.want("auto_pad", b"NOTSET", b"NOTSET")
    node.want("group", 1, 1)
    node.want("strides", [1, 1], [1, 1])
    node.want("dilations", [1, 1], [1, 1])
    node.want("pads", [0] * 4, [border if any(pads) else 0] * 4)
    if kernels.shape[2] != kernels.shape[3]:
        raise node.refusal(f"has kernels of {size}x{kernels.shape[3]}; Inkling has square ones")
    options = (" same" if any(pads) else "") + ("" if bias else " nobias")
    return node.layer(f"conv {len(kernels)}x{size}{options}", weight=kernels.transpose(2, 3, 0, 1), **bias)


def _gemm(node: Node) -> ForeignLayer:
    """Gemm: y = x W + b, with W as it is or transposed."""
    node.want("transA", 0, 0)
    node.want("alpha", 1.0, 1.0)
    if len(node.constants) > 1:
        node.want("beta", 1.0, 1.0)
    weight, *bias = _at_least_one(node)
    return dense(node, weight if node.setting("transB", 0) else weight.T, *bias)


def _product(node: Node) -> ForeignLayer:
    """MatMul: y = x W."""
    return dense(node, *(weight.T for weight in _at_least_one(node)))


def _at_least_one(node: Node) -> Sequence[HostArray]:
    """The node's constants; raises ForeignFileError if it has none, and so no weights."""
    if not node.constants:
        raise node.refusal("has no weights")
    return node.constants


def dense(node: Node, weight: HostArray, *others: HostArray) -> ForeignLayer:
    """A dense layer, its bias given as one number for each unit, in whatever shape."""
    units = len(weight) if weight.ndim else 0
    if others and others[0].size == units:
        others = (others[0].reshape(units), *others[1:])
    node.constants = [weight, *others]
    weight, bias = _weight_and_bias(node, 2)
    return node.layer(f"linear {units}{'' if bias else ' nobias'}", weight=weight, **bias)


def _weight_and_bias(node: Node, axes: int) -> tuple[HostArray, dict[str, HostArray]]:
    """The weight, units first, with so many axes, and the bias, if there is one."""
    shapes = [c.shape for c in node.constants]
    if not 1 <= len(shapes) <= 2 or len(shapes[0]) != axes or shapes[1:] not in ([], [shapes[0][:1]]):
        raise node.refusal(f"has weights of the shapes {shapes}, which is not what Inkling has in such a layer")
    return node.constants[0], dict(zip(["bias"], node.constants[1:], strict=False))


def _pooling(node: Node) -> ForeignLayer:
    """MaxPool: squares side by side; what fills none is left out."""
    size = [*node.setting("kernel_shape", []), 0][0]
    node.want("kernel_shape", [], [size, size])
    node.want("strides", [1, 1], [size, size])
    node.want("pads", [0] * 4, [0] * 4)
    node.want("dilations", [1, 1], [1, 1])
    node.want("auto_pad", b"NOTSET", b"NOTSET")
    node.want("ceil_mode", 0, 0)
    return node.layer(f"pool {size}")


def _normalization(node: Node) -> ForeignLayer:
    """BatchNormalization by its running statistics."""
    node.want("epsilon", 1e-5, BatchNorm.EPSILON)
    node.want("training_mode", 0, 0)
    names = ("weight", "bias", "running_mean", "running_variance")
    if len({c.shape for c in node.constants}) != 1 or len(node.constants) != 4:
        raise node.refusal(f"has weights of the shapes {[c.shape for c in node.constants]}; Inkling has four alike")
    return node.layer("bn", **dict(zip(names, node.constants, strict=True)))


def _flattening(node: Node) -> ForeignLayer:
    """Flatten from the first axis on."""
    node.want("axis", 1, 1)
    return node.layer("flatten")


def _reshaping(node: Node) -> ForeignLayer:
    """Reshape to rows. How long they are is checked with the weights of the dense layer that follows."""
    if [c.shape for c in node.constants] != [(2,)]:
        raise node.refusal("makes another shape than rows, and Inkling only flattens")
    return node.layer("flatten")


def _activation(node: Node) -> ForeignLayer:
    """An activation that Inkling has too."""
    if node.kind == "LeakyRelu":
        node.want("alpha", 0.01, LeakyReLU.SLOPE)
    if node.kind == "Gelu":
        node.want("approximate", b"none", b"tanh")
    return node.layer(_ACTIVATIONS[node.kind])


def _nothing(node: Node) -> None:
    """What changes no answer: dropout, and a node that only passes on."""


_ACTIVATIONS = {"Relu": "relu", "LeakyRelu": "leaky-relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Gelu": "gelu"}

READERS: Mapping[str, Callable[[Node], ForeignLayer | None]] = {
    "Conv": _convolution,
    "Gemm": _gemm,
    "MatMul": _product,
    "MaxPool": _pooling,
    "BatchNormalization": _normalization,
    "Flatten": _flattening,
    "Reshape": _reshaping,
    "Dropout": _nothing,
    "Identity": _nothing,
    **dict.fromkeys(_ACTIVATIONS, _activation),
}
"""By the operator's name, what it is in Inkling; each raises ForeignFileError. None: it changes no answer."""
