"""ONNX files as other programs write them, built node by node."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.device import HostArray

onnx = pytest.importorskip("onnx")
helper, from_array = onnx.helper, onnx.numpy_helper.from_array

Arrays = dict[str, HostArray]
RNG = np.random.default_rng(2)
FLOAT = onnx.TensorProto.FLOAT


def drawn(*shape: int) -> HostArray:
    return RNG.normal(0, 1 / np.sqrt(max(np.prod(shape[1:]), 4)), shape).astype(np.float32)


def node(kind: str, inputs: str, output: str, **settings: Any) -> Any:
    return helper.make_node(kind, inputs.split(), [output], f"/{output}/{kind}", **settings)


def written(
    path: Path, nodes: list[Any], arrays: Arrays, shape: tuple[int, ...] = (1, 28, 28), opset: int = 17
) -> Path:
    """A file of these nodes from "x" to the last one's output, as others write it."""
    x = helper.make_tensor_value_info("x", FLOAT, ["batch", *shape])
    y = helper.make_tensor_value_info(nodes[-1].output[0], FLOAT, ["batch", 10])
    tensors = [from_array(values, name) for name, values in arrays.items()]
    graph = helper.make_graph(nodes, "torch_jit", [x], [y], tensors)
    opsets = [helper.make_opsetid("", opset)]
    path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
    return path


CNN = {
    "conv1.weight": drawn(4, 1, 3, 3),
    "conv1.bias": drawn(4),
    "conv2.weight": drawn(6, 4, 3, 3),
    "conv2.bias": drawn(6),
    "fc1.weight": drawn(16, 6 * 6 * 6),
    "fc1.bias": drawn(16),
    "fc2.weight": drawn(10, 16),
    "fc2.bias": drawn(10),
}


def cnn_nodes() -> list[Any]:
    """As torch.onnx.export writes a small network, with all the settings it spells out."""
    conv = {"dilations": [1, 1], "group": 1, "kernel_shape": [3, 3], "strides": [1, 1]}
    pool = {"ceil_mode": 0, "dilations": [1, 1], "kernel_shape": [2, 2], "pads": [0] * 4, "strides": [2, 2]}
    dense = {"alpha": 1.0, "beta": 1.0, "transB": 1}
    return [
        node("Conv", "x conv1.weight conv1.bias", "a", pads=[0] * 4, **conv),
        node("Relu", "a", "b"),
        node("MaxPool", "b", "c", **pool),
        node("Conv", "c conv2.weight conv2.bias", "d", pads=[1] * 4, **conv),
        node("Relu", "d", "e"),
        node("MaxPool", "e", "f", **pool),
        node("Flatten", "f", "g", axis=1),
        node("Gemm", "g fc1.weight fc1.bias", "h", **dense),
        node("Relu", "h", "i"),
        node("Gemm", "i fc2.weight fc2.bias", "j", **dense),
    ]


CNN_TEXT = "conv 4x3 relu, pool 2, conv 6x3 same relu, pool 2, linear 16 relu, linear 10"

W = {"w": drawn(784, 12), "b": drawn(12), "v": drawn(10, 12), "c": drawn(10)}
