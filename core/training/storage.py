"""Weights as a file holds them: as float32, as float16, or as int8 with a scale for each row.

Training needs float32, whose steps are fine enough for a small learning rate to move them. Answering does not: rounded
to float16, weights take half the room, and as int8, of which there are 255 to a row, a quarter.
"""

from collections.abc import Mapping

import numpy as np

from core.device import HostArray
from core.nn.layers.layer import Shape
from core.training.events import Weights

STORAGE_PRECISIONS = ("float32", "float16", "int8")
FLOATS = ("float16", "float32")
SCALE = ".scale"
LARGEST_INT8 = 127


class PrecisionError(ValueError):
    """Weights that a precision cannot hold; the message names it."""


def encode(weights: Weights, precision: str) -> dict[str, HostArray]:
    """The tensors by name that hold `weights` in a file, rounded to one of `STORAGE_PRECISIONS`.

    As int8, every matrix and kernel (..., units, inputs) becomes whole numbers from -127 to 127, and beside it lies a
    scale for each unit, "NAME.scale" float32 (units,), its largest weight divided by 127. What has one axis only
    (biases, normalization) is too little to be worth rounding and stays float32.

    Raises PrecisionError if weights would come back as infinity.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        tensors = _quantized(weights) if precision == "int8" else _rounded(weights, precision)
    if not all(np.isfinite(w).all() for w in decode(tensors).values()):
        raise PrecisionError(f"some weights are too large for {precision}")
    return tensors


def decode(tensors: Mapping[str, HostArray]) -> dict[str, HostArray]:
    """The float32 weights by name that `tensors` of a file stand for, read-only; numbers too large become infinity."""
    weights = {}
    for name, tensor in tensors.items():
        if not name.endswith(SCALE):
            weights[name] = np.array(tensor, np.float32)
            if name + SCALE in tensors:
                with np.errstate(over="ignore", invalid="ignore"):
                    weights[name] *= tensors[name + SCALE][:, np.newaxis]
            weights[name].flags.writeable = False
    return weights


def stored(weights: Weights, precision: str) -> Weights:
    """`weights` as they come back, float32, after having been stored as `precision`; raises PrecisionError."""
    return decode(encode(weights, precision))


def tensor_kinds(shapes: Mapping[str, Shape], quantized: bool) -> dict[str, tuple[tuple[str, ...], Shape]]:
    """The tensors by name that a file with weights of `shapes` has: the dtypes each may have, and its shape."""
    kinds: dict[str, tuple[tuple[str, ...], Shape]] = {}
    for name, shape in shapes.items():
        if quantized and _has_rows(shape):
            kinds[name] = (("int8",), shape)
            kinds[name + SCALE] = (("float32",), shape[-2:-1])
        else:
            kinds[name] = (FLOATS, shape)
    return kinds


def _rounded(weights: Weights, precision: str) -> dict[str, HostArray]:
    return {name: np.ascontiguousarray(w, dtype=precision) for name, w in weights.items()}


def _quantized(weights: Weights) -> dict[str, HostArray]:
    tensors = _rounded(weights, "float32")
    for name, w in tuple(tensors.items()):
        if _has_rows(w.shape):
            scale = _scale(w)
            tensors[name] = np.rint(w / scale[:, np.newaxis]).astype(np.int8)
            tensors[name + SCALE] = scale
    return tensors


def _scale(w: HostArray) -> HostArray:
    """For each unit of w (..., units, inputs) the step between two neighbouring int8: float32 (units,), above 0."""
    largest = np.abs(w).max(axis=(*range(w.ndim - 2), -1))
    # A row of zeros must not be divided by 0, nor one of numbers next to it by what is hardly a number any more.
    return np.maximum(largest / np.float32(LARGEST_INT8), np.finfo(np.float32).tiny)


def _has_rows(shape: Shape) -> bool:
    """Whether an array has a row for each unit: a matrix (units, inputs), a kernel (k, k, units, inputs)."""
    return len(shape) > 1
