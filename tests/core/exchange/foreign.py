"""What the tests of import and export share: networks of random weights, and who else can run them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.device import HostArray
from core.exchange.foreign_file import import_network
from core.exchange.foreign_network import ForeignFileError
from core.nn.network import weight_shapes
from core.predictor import Predictor
from core.training.calibration import Calibration
from core.training.hyperparameters import INPUT_SHAPE, Hyperparameters
from core.training.model_file import Model
from core.training.presets import find_preset

EVERY_LAYER = (
    "conv 4x3 same bn gelu, pool 2, conv 6x3 nobias leaky-relu, dropout 0.2, conv 5x2 sigmoid, pool 3, "
    "flatten, bn, linear 12 tanh, linear 9 bn relu, linear 10"
)
"""Every kind of layer, kernels of odd and even size, and a pooling of 11 by 3 that leaves rows out."""

CALIBRATED = Calibration(1.7, 3.0, 0.25, 0.02, 0.4, 0.0123).as_facts()


def random_model(text: str, preset: str = "quick-mlp", facts: dict[str, str] | None = None) -> Model:
    """A network whose answers differ from digit to digit; running statistics are none that a fresh network has."""
    rng = np.random.default_rng(5)
    weights = {}
    for name, shape in weight_shapes(find_preset(preset).build_layers(text), INPUT_SHAPE).items():
        # Inputs count along a matrix's last axis, and along a kernel's taps besides.
        inputs = np.prod(shape) / shape[-2] if len(shape) > 1 else 4.0
        weights[name] = rng.normal(0, 3.0 / np.sqrt(inputs), shape).astype(np.float32)
        if name.endswith("running_variance"):
            weights[name] = rng.uniform(0.2, 3.0, shape).astype(np.float32)
    return Model(preset, Hyperparameters(text), weights, facts or {})


def answers(model: Model, pictures: HostArray) -> HostArray:
    """What Inkling itself says of pictures uint8 (N, 28, 28), (N, 10)."""
    return Predictor.from_model(model).probabilities(pictures)


def runtime_answers(content: bytes, pictures: HostArray, shape: tuple[int, ...] = (1, 28, 28)) -> HostArray:
    """What ONNX Runtime says of them, asked with an ONNX file."""
    runtime: Any = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    pixels = (pictures / np.float32(255)).astype(np.float32).reshape(-1, *shape)
    (found,) = session.run(None, {session.get_inputs()[0].name: pixels})
    return found


def softmax(scores: HostArray) -> HostArray:
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def refusal(path: Path, text: str | None = None) -> str:
    """The one sentence with which `path` is refused."""
    with pytest.raises(ForeignFileError) as caught:
        import_network(path, text)
    sentence = str(caught.value)
    assert sentence.startswith(str(path))
    assert "\n" not in sentence
    return sentence.removeprefix(f"{path} ")
