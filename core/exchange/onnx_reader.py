"""An ONNX file as a network of Inkling: a chain of layers that Inkling has, whoever wrote it.

The graph is walked from its one input to its one output; core.exchange.onnx_nodes judges each node on the way. Nothing
is executed, and nothing is fetched from other files.
"""

from dataclasses import replace
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np

from core.device import HostArray
from core.exchange.foreign_network import (
    USUAL_PRESET,
    ForeignFileError,
    ForeignLayer,
    check_same_layers,
    foreign_model,
    named_weights,
    network_text,
    read_bytes,
)
from core.exchange.model_layers import TINY
from core.exchange.onnx_nodes import READERS, Node, dense
from core.exchange.onnx_package import load_onnx, parse_onnx
from core.exchange.onnx_writer import FACT, NETWORK, PRESET
from core.nn.losses import SoftmaxCrossEntropy, SquaredError
from core.training.calibration import Calibration
from core.training.hyperparameters import INPUT_SHAPE
from core.training.model_file import Model
from core.training.presets import PRESETS

SHARES_PRESET = "pycuda-seed"
_SHARES = ["Relu", "Add", "ReduceSum", "Div"]
"""How core.exchange.onnx_writer makes probabilities of scores that were trained with squared error."""
_TEMPERED = ["Div", "Softmax"]
"""How it does so where they were calibrated."""
_ROW = (INPUT_SHAPE[1] * INPUT_SHAPE[2],)
_MAX_NODES = 500


def read_onnx(path: Path, text: str | None = None) -> Model:
    """The network in the ONNX file at `path`.

    `text` is its network text, if it is to have dropout, which no such file holds; without it, what Inkling wrote into
    the file's metadata, and otherwise what the graph says. Raises ForeignFileError, which names the node or the weights
    that are in the way, and MissingOnnxError.
    """
    content = read_bytes(path)
    try:
        proto = parse_onnx(content)
        metadata = {entry.key: entry.value for entry in proto.metadata_props}
        facts = {key.removeprefix(FACT): value for key, value in metadata.items() if key.startswith(FACT)}
        chain = _Chain(path, proto.graph, Calibration.from_facts(facts))
        chain.walk()
    except ForeignFileError:
        raise
    except ValueError as error:
        raise ForeignFileError(f"{path} is no ONNX file, or is damaged ({str(error)[:100]}); choose another") from None
    found = network_text(chain.layers)
    text = text or metadata.get(NETWORK) or found
    check_same_layers(path, text, found)
    model = foreign_model(path, _preset(metadata.get(PRESET, ""), chain), text, named_weights(chain.layers))
    calibrated = chain.calibration.as_facts() if chain.calibration and chain.tempered else {}
    return replace(model, facts={**model.facts, **calibrated})


def _preset(named: str, chain: "_Chain") -> str:
    """The preset the file names, if there is one that makes the same of scores; else the usual one that does."""
    loss = SquaredError if chain.shares else SoftmaxCrossEntropy
    if named in PRESETS and (chain.tempered or PRESETS[named].loss is loss):
        return named
    return SHARES_PRESET if chain.shares else USUAL_PRESET


class _Chain:
    """The walk along the graph, and the `layers` found so far.

    `shares`: whether scores become shares of their sum; `tempered`: whether they are divided by the temperature of the
    `calibration` that the file's metadata has.
    """

    def __init__(self, path: Path, graph: Any, calibration: Calibration | None) -> None:
        self.layers: list[ForeignLayer] = []
        self.shares = self.tempered = False
        self.calibration = calibration
        self._path = path
        self._tensors = {tensor.name: tensor for tensor in graph.initializer}
        self._value = self._input(graph)
        self._nodes = [node for node in graph.node if not self._is_constant(node)]
        self._outputs = [output.name for output in graph.output]

    def walk(self) -> None:
        """Follow the graph to its end; raises ForeignFileError where it is no chain of known layers."""
        nodes = self._nodes
        if len(nodes) > _MAX_NODES:
            raise ForeignFileError(
                f"{self._path} has {len(nodes):,} nodes; a network of Inkling has at most {_MAX_NODES}"
            )
        for index, node in enumerate(nodes):
            kinds = [other.op_type for other in nodes[index : index + len(_SHARES) + 1]]
            if kinds == _SHARES:
                self._take_shares(nodes[index:])
                break
            if kinds == _TEMPERED:
                self._take_temperature(node)
            else:
                self._take(node, last=len(kinds) == 1)
        if self._outputs != [self._value]:
            raise ForeignFileError(
                f"{self._path} answers with {', '.join(self._outputs)[:100]!r}, and its last layer gives "
                f"{self._value[:100]!r}; Inkling reads networks with one answer, their last layer's"
            )

    def _input(self, graph: Any) -> str:
        """The name of the pictures; a row of pixels counts as a picture that was flattened."""
        inputs = [value for value in graph.input if value.name not in self._tensors]
        if len(inputs) != 1:
            raise ForeignFileError(f"{self._path} wants {len(inputs)} inputs; Inkling reads networks with one")
        shape = tuple(dim.dim_value for dim in inputs[0].type.tensor_type.shape.dim[:9])[1:]
        if shape == _ROW:
            self.layers.append(ForeignLayer(inputs[0].name, "flatten"))
        elif shape not in (INPUT_SHAPE, INPUT_SHAPE[1:]):
            raise ForeignFileError(
                f"{self._path} wants samples of the shape {shape}; Inkling has pictures {INPUT_SHAPE} or rows {_ROW}"
            )
        return str(inputs[0].name)

    def _is_constant(self, node: Any) -> bool:
        """Whether `node` only holds a tensor, or passes one on; it is then known by the node's name for it."""
        if node.op_type == "Constant":
            tensors = [a.t for a in node.attribute if a.name == "value"]
        elif node.op_type == "Identity":
            tensors = [self._tensors[name] for name in node.input if name in self._tensors]
        else:
            return False
        self._tensors |= zip(node.output, tensors, strict=False)
        return bool(tensors)

    def _take(self, proto: Any, *, last: bool) -> None:
        flows = [name for name in proto.input if name == self._value]
        if len(flows) != 1 or not proto.output or (proto.input[0] != self._value and proto.op_type != "Add"):
            raise Node(self._path, proto).refusal("does not follow the layer before it; Inkling has no branches")
        if proto.op_type in ("Softmax", "LogSoftmax"):
            self._end(Node(self._path, proto), last)
        elif proto.op_type == "Add":
            self._add_bias(Node(self._path, proto, self._constants(proto)))
        elif proto.op_type in READERS and proto.domain in ("", "ai.onnx"):
            layer = READERS[proto.op_type](Node(self._path, proto, self._constants(proto)))
            self.layers += [] if layer is None else [layer]
        else:
            raise Node(self._path, proto).refusal("is no layer that Inkling has")
        self._value = proto.output[0]

    def _end(self, node: Node, last: bool) -> None:
        """Softmax over the classes, or its logarithm: Inkling makes the probabilities itself."""
        if not last:
            raise node.refusal("is not the last layer; Inkling has it only there")
        node.want("axis", -1, -1 if node.setting("axis", -1) == -1 else 1)

    def _add_bias(self, node: Node) -> None:
        before = self.layers[-1] if self.layers else None
        if before is None or not before.words.startswith("linear") or "bias" in before.weights:
            raise node.refusal("adds to what is no dense layer without a bias, which Inkling cannot")
        self.layers[-1] = dense(node, before.weights["weight"], *node.constants)

    def _take_temperature(self, divide: Any) -> None:
        refusal = Node(self._path, divide).refusal("divides by what the file's metadata do not explain")
        if self.calibration is None or not divide.output or list(divide.input[:1]) != [self._value]:
            raise refusal
        constants = self._constants(divide)
        if [c.size for c in constants] != [1] or not isclose(
            constants[0].item(), self.calibration.temperature, rel_tol=1e-6
        ):
            raise refusal
        self.tempered = True
        self._value = divide.output[0]

    def _take_shares(self, nodes: list[Any]) -> None:
        relu, add, total, divide = nodes
        refusal = Node(self._path, divide).refusal("is no way to make probabilities that Inkling knows")
        if not all(node.output for node in nodes) or [len(node.input) for node in nodes] != [1, 2, 2, 2]:
            raise refusal
        follows = [relu.input[0], add.input[0], total.input[0], *divide.input] == [
            *(self._value, relu.output[0], add.output[0], add.output[0], total.output[0])
        ]
        tiny, axis = (self._constant(node, node.input[1]) for node in (add, total)) if follows else (None, None)
        if tiny is None or axis is None or (tiny.size, axis.size) != (1, 1) or axis.item() != 1:
            raise refusal
        if not 0 < tiny.item() <= 10 * TINY or Node(self._path, total).setting("keepdims", 1) != 1:
            raise refusal
        self.shares = True
        self._value = divide.output[0]

    def _constants(self, proto: Any) -> list[HostArray]:
        """The tensors that a node takes besides what flows along the chain."""
        return [self._constant(proto, name) for name in proto.input if name and name != self._value]

    def _constant(self, proto: Any, name: str) -> HostArray:
        onnx, node = load_onnx(), Node(self._path, proto)
        tensor = self._tensors.get(name)
        if tensor is None:
            raise node.refusal(f"takes {name[:60]!r}, which is no array in the file; Inkling has no branches")
        if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
            raise node.refusal("has its weights in another file; save the model as one file")
        try:
            return np.asarray(onnx.numpy_helper.to_array(tensor))
        except (ValueError, TypeError, KeyError, OverflowError, MemoryError) as error:
            raise node.refusal(f"has damaged weights ({str(error)[:80]})") from None
