"""A network as an ONNX file, which other programs and other languages can run.

Inside Inkling samples lie along the last axis and a kernel's taps along the first two; ONNX wants samples first and
taps last. Both flatten pictures in the order C, H, W, so that dense layers fit as they are. What only matters while
training (dropout, a gradient passed straight through) leaves no trace in the graph.
"""

from types import ModuleType
from typing import Any

import numpy as np

from core import VERSION
from core.device import HostArray
from core.exchange.model_layers import TINY, model_layers
from core.exchange.onnx_package import load_onnx
from core.nn.layers.activations import GELU, LeakyReLU, ReLU, Sigmoid, StraightThroughReLU, Tanh
from core.nn.layers.batch_norm import BatchNorm
from core.nn.layers.conv2d import Conv2d
from core.nn.layers.dropout import Dropout
from core.nn.layers.flatten import Flatten
from core.nn.layers.layer import Layer
from core.nn.layers.linear import Linear
from core.nn.layers.max_pool2d import MaxPool2d
from core.nn.losses import SoftmaxCrossEntropy
from core.training.calibration import Calibration
from core.training.hyperparameters import CLASSES, INPUT_SHAPE
from core.training.model_file import Model
from core.training.presets import find_preset

INPUT, OUTPUT = "pictures", "probabilities"
NETWORK, PRESET, FACT = "inkling.network", "inkling.preset", "inkling."
"""Under these names the file's metadata says what core.exchange.onnx_reader could not tell from the graph."""

_OPSET, _OPSET_WITH_GELU = 13, 20
"""The oldest in which everything is as used here: 2020, and 2023 for what only a later one knows."""


def onnx_file(model: Model) -> bytes:
    """The content of an ONNX file of `model`.

    Its input "pictures" is float32 (N, 1, 28, 28), 0 paper to 1 ink, for any N; its output "probabilities" float32
    (N, 10). Raises MissingOnnxError if the package onnx is not installed.
    """
    onnx = load_onnx()
    layers = model_layers(model)
    graph = _Graph(onnx, model)
    for prefix, layer in layers:
        graph.add_layer(prefix, layer)
    graph.add_probabilities()
    opset = _OPSET_WITH_GELU if any(isinstance(layer, GELU) for _, layer in layers) else _OPSET
    opsets = [onnx.helper.make_opsetid("", opset)]
    proto = onnx.helper.make_model(
        graph.finished(),
        opset_imports=opsets,
        ir_version=onnx.helper.find_min_ir_version_for(opsets),
        producer_name="inkling",
        producer_version=VERSION,
    )
    calibration = Calibration.from_facts(model.facts)
    told = ["trained_on", "test_accuracy", *(calibration.as_facts() if calibration else ())]
    known = {FACT + name: model.facts[name] for name in told if name in model.facts}
    onnx.helper.set_model_props(proto, {NETWORK: model.hyperparameters.network, PRESET: model.preset, **known})
    return bytes(proto.SerializeToString(deterministic=True))


class _Graph:
    """The graph as it grows, node by node, each fed by the one before."""

    def __init__(self, onnx: ModuleType, model: Model) -> None:
        self._onnx, self._model = onnx, model
        self._nodes: list[Any] = []
        self._tensors: list[Any] = []
        self._value = INPUT

    def add_layer(self, prefix: str, layer: Layer) -> None:
        """The node for `layer`, whose weights' names begin with `prefix`."""
        match layer:
            case Linear():
                self._add("Gemm", prefix, *self._weights(prefix, "weight", "bias"), transB=1)
            case Conv2d(size=size, same=same):
                kernels = self._constant(f"{prefix}.weight", self._weight(prefix, "weight").transpose(2, 3, 0, 1))
                border = [(size - 1) // 2 if same else 0] * 4
                self._add("Conv", prefix, kernels, *self._weights(prefix, "bias"), kernel_shape=[size] * 2, pads=border)
            case MaxPool2d(size=size):
                self._add("MaxPool", prefix, kernel_shape=[size] * 2, strides=[size] * 2)
            case BatchNorm():
                names = ("weight", "bias", "running_mean", "running_variance")
                self._add("BatchNormalization", prefix, *self._weights(prefix, *names), epsilon=BatchNorm.EPSILON)
            case Flatten():
                self._add("Flatten", prefix)
            case Dropout():
                pass
            case LeakyReLU():
                self._add("LeakyRelu", prefix, alpha=LeakyReLU.SLOPE)
            case GELU():
                self._add("Gelu", prefix, approximate="tanh")
            case ReLU() | StraightThroughReLU():
                self._add("Relu", prefix)
            case Sigmoid():
                self._add("Sigmoid", prefix)
            case Tanh():
                self._add("Tanh", prefix)
            case _:
                raise NotImplementedError(f"{layer.name} has no counterpart in ONNX yet")

    def add_probabilities(self) -> None:
        """From scores to probabilities, as they were calibrated, or as the preset's loss does it."""
        calibration = Calibration.from_facts(self._model.facts)
        if calibration is not None:
            self._add("Div", "tempered", self._constant("temperature", np.array(calibration.temperature)))
            self._add("Softmax", OUTPUT, axis=1)
            return
        if find_preset(self._model.preset).loss is SoftmaxCrossEntropy:
            self._add("Softmax", OUTPUT, axis=1)
            return
        self._add("Relu", "positive")
        self._add("Add", "above0", self._constant("tiny", np.array(TINY)))
        scores = self._value
        self._add("ReduceSum", "total", self._constant("classes", np.array([1]), np.int64), keepdims=1)
        self._nodes.append(self._onnx.helper.make_node("Div", [scores, self._value], [OUTPUT], OUTPUT))
        self._value = OUTPUT

    def finished(self) -> Any:
        """The graph as the package has it."""
        helper, float32 = self._onnx.helper, self._onnx.TensorProto.FLOAT
        pictures = helper.make_tensor_value_info(INPUT, float32, ["N", *INPUT_SHAPE])
        answers = helper.make_tensor_value_info(OUTPUT, float32, ["N", CLASSES])
        return helper.make_graph(self._nodes, "digits", [pictures], [answers], self._tensors)

    def _add(self, kind: str, name: str, *constants: str, **attributes: Any) -> None:
        self._nodes.append(self._onnx.helper.make_node(kind, [self._value, *constants], [name], name, **attributes))
        self._value = name

    def _weights(self, prefix: str, *names: str) -> list[str]:
        """Those of `names` that the layer has, as constants of the graph."""
        here = [name for name in names if f"{prefix}.{name}" in self._model.weights]
        return [self._constant(f"{prefix}.{name}", self._weight(prefix, name)) for name in here]

    def _weight(self, prefix: str, name: str) -> HostArray:
        return self._model.weights[f"{prefix}.{name}"]

    def _constant(self, name: str, values: HostArray, dtype: type[np.generic] = np.float32) -> str:
        content = np.ascontiguousarray(values, dtype).reshape(values.shape)
        self._tensors.append(self._onnx.numpy_helper.from_array(content, name))
        return name
