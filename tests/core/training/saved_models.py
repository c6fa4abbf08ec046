"""What the tests of model files share: a small network, and its file built byte by byte from the format's own page."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.device import HostArray
from core.training.hyperparameters import Hyperparameters
from core.training.model_file import Model, ModelFileError, load_model

Tensors = dict[str, tuple[str, list[int], bytes]]
"""By name: dtype as the format spells it, shape, data."""

CHOSEN = Hyperparameters("linear 2 relu, linear 10", seed=7, learning_rate=0.25, keep_best=True)
METADATA = {
    "format": "inkling-network",
    "format_version": "2",
    "preset": "quick-mlp",
    "hyperparameters": json.dumps(CHOSEN.as_dict()),
    "test_accuracy": "0.9871",
}
SHAPES = {"linear1.weight": (2, 784), "linear1.bias": (2,), "linear2.weight": (10, 2), "linear2.bias": (10,)}


def random_weights() -> dict[str, HostArray]:
    rng = np.random.default_rng(3)
    return {name: rng.normal(0, 1, shape).astype(np.float32) for name, shape in SHAPES.items()}


WEIGHTS = random_weights()
MODEL = Model("quick-mlp", CHOSEN, WEIGHTS, {"test_accuracy": "0.9871", "command": "uv run main.py train · ✎"})


def good_tensors() -> Tensors:
    return {name: ("F16", list(w.shape), w.astype("<f2").tobytes()) for name, w in WEIGHTS.items()}


def safetensors(tensors: Tensors, metadata: object = METADATA, spoil_header: Callable[[dict], object] = id) -> bytes:
    """A file as the format's page describes it."""
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    data = b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    spoil_header(header)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


GOOD = safetensors(good_tensors())
HEADER_END = 8 + int.from_bytes(GOOD[:8], "little")


def refusal(path: Path) -> str:
    """The one line with which `path` is refused."""
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    sentence = str(caught.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    assert len(sentence) < len(str(path)) + 400
    return sentence


def refusal_of(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    return refusal(path)
