"""A trained network as a file: safetensors, with enough in its metadata to rebuild the network and to know its worth.

Weights are stored as float16 unless float32 or int8 is asked for (see core.training.storage): half the size, and no
digit is read differently for it in practice. A file is untrusted: names, shapes, dtypes and numbers are all checked
against what its own metadata says before anything is built from it, and it is never executed.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from core import VERSION
from core.atomic_file import UnwritableFileError, check_writable, write_atomically
from core.device import HostArray
from core.nn.network import weight_shapes
from core.training.events import Weights
from core.training.hyperparameters import INPUT_SHAPE, HyperparameterError, Hyperparameters
from core.training.presets import UnknownPresetError, find_preset
from core.training.storage import SCALE, PrecisionError, decode, encode, stored, tensor_kinds

SHIPPED_MODEL = Path(__file__).resolve().parents[2] / "assets" / "shipped.safetensors"
SUFFIX = ".safetensors"
DTYPES = {"F16": "float16", "F32": "float32", "I8": "int8"}
"""By the format's own names."""
FORMAT = "inkling-network"
FORMAT_VERSIONS = {"float32": "2", "float16": "2", "int8": "3"}
"""By precision: only a file that earlier versions of Inkling cannot read has another number."""


class ModelFileError(ValueError):
    """A model file that cannot be read or written; the message names it, what is wrong, and what to do."""


class WeightsTooLargeError(ModelFileError):
    """Some weights do not fit the precision they were to be stored in."""


@dataclass(frozen=True)
class Model:
    """A trained network: the preset and hyperparameters that built it, its float32 `weights`, what it was measured at.

    `facts` are further notes for people ("test_accuracy", "trained_on", "command"); all values are strings.
    """

    preset: str
    hyperparameters: Hyperparameters
    weights: Weights
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def trained_on(self) -> str:
        """The title of the set it learned from; empty if that is not known."""
        return self.facts.get("trained_on", "")

    @property
    def test_accuracy(self) -> float | None:
        """Accuracy on the test set, 0 to 1, as noted when it was trained; None if that is not known."""
        try:
            accuracy = float(self.facts.get("test_accuracy", ""))
        except ValueError:
            return None
        return accuracy if 0.0 <= accuracy <= 1.0 else None


def save_model(path: Path, model: Model, precision: str = "float16") -> None:
    """Write `model` to `path`, weights as "float32", "float16" or "int8"; raises ModelFileError, leaving no trace."""
    try:
        content = _content(model, precision)
    except PrecisionError as error:
        raise WeightsTooLargeError(f"{error}; save {path.name} as float32 instead") from None
    try:
        write_atomically(path, content)
    except UnwritableFileError as error:
        raise ModelFileError(str(error)) from None


def file_size(model: Model, precision: str) -> int:
    """The bytes of the file that save_model would write; raises PrecisionError if the weights do not fit."""
    return len(_content(model, precision))


def as_stored(model: Model, precision: str) -> Model:
    """`model` as it would come back from such a file; raises PrecisionError if the weights do not fit."""
    return replace(model, weights=stored(model.weights, precision))


def check_can_save(path: Path) -> None:
    """Find out before a long training whether `path` can be written; raises ModelFileError if not."""
    try:
        check_writable(path)
    except UnwritableFileError as error:
        raise ModelFileError(str(error)) from None


def load_model(path: Path) -> Model:
    """The model in the file at `path`, weights as read-only float32; raises ModelFileError if it is not sound."""
    # Not Path.is_file, which raises where a name is too long for the system.
    if os.path.isdir(path):
        raise ModelFileError(f"{path} is a folder; choose a file in it")
    if not os.path.isfile(path):
        raise ModelFileError(f"{path} is not there; check the name")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = dict(file.metadata() or {})
            preset, hyperparameters = _recipe(path, metadata)
            quantized = metadata["format_version"] == FORMAT_VERSIONS["int8"]
            _check_tensors(path, file, preset, hyperparameters, quantized)
            weights = _sound(path, {name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
    except (SafetensorError, OSError, MemoryError) as error:
        reason = str(error).partition("\n")[0][:200].removeprefix("Error while deserializing ")
        raise ModelFileError(
            f"{path} is not a safetensors file, or is damaged ({reason}); choose a network saved by Inkling"
        ) from None
    own = {"format", "format_version", "inkling_version", "preset", "hyperparameters"}
    facts = {name: value for name, value in metadata.items() if name not in own}
    return Model(preset, hyperparameters, weights, facts)


def _content(model: Model, precision: str) -> bytes:
    """The whole file; raises PrecisionError if the weights do not fit."""
    metadata = {
        **model.facts,
        "format": FORMAT,
        "format_version": FORMAT_VERSIONS[precision],
        "inkling_version": VERSION,
        "preset": model.preset,
        "hyperparameters": json.dumps(model.hyperparameters.as_dict()),
    }
    return save(encode(model.weights, precision), metadata)


def _recipe(path: Path, metadata: Mapping[str, str]) -> tuple[str, Hyperparameters]:
    """The preset and hyperparameters the metadata names, checked."""
    if metadata.get("format") != FORMAT:
        raise ModelFileError(f"{path} was not saved by Inkling: its metadata names no network; choose another file")
    if metadata.get("format_version") not in FORMAT_VERSIONS.values():
        raise ModelFileError(f"{path} was saved by another version of Inkling; open it with that one, or update")
    try:
        preset = find_preset(metadata.get("preset", "")).name
        values: object = json.loads(metadata.get("hyperparameters", ""))
        return preset, Hyperparameters.from_dict(values)
    except (HyperparameterError, UnknownPresetError) as error:
        raise ModelFileError(f"{path} describes no network that Inkling can build: {error}") from None
    except (ValueError, RecursionError):
        raise ModelFileError(
            f"{path} has damaged metadata: its hyperparameters cannot be read; save it again"
        ) from None


def _check_tensors(path: Path, file: Any, preset: str, hyperparameters: Hyperparameters, quantized: bool) -> None:
    """Names, shapes and dtypes, from the header alone: nothing is loaded yet."""
    shapes = weight_shapes(find_preset(preset).build_layers(hyperparameters.network), INPUT_SHAPE)
    wanted = tensor_kinds(shapes, quantized)
    found = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
    if set(found) != set(wanted):
        odd = min(set(found) ^ set(wanted))
        kind = "lacks" if odd in wanted else "has an unknown"
        raise ModelFileError(f"{path} {kind} weight {odd[:60]!r} for {preset}; choose a network saved by Inkling")
    for name, (dtypes, shape) in wanted.items():
        entry = found[name]
        if tuple(entry.get_shape()) != shape:
            raise ModelFileError(
                f"{path} does not fit its own description: {name} has the shape {tuple(entry.get_shape())}, "
                f"where {shape} is wanted; choose another file"
            )
        if DTYPES.get(entry.get_dtype()) not in dtypes:
            known = " and ".join(dtypes)
            raise ModelFileError(f"{path} stores {name} as {entry.get_dtype()}; Inkling reads {known} there")


def _sound(path: Path, tensors: Mapping[str, HostArray]) -> dict[str, HostArray]:
    """The weights that `tensors` stand for, all numbers checked."""
    for name, tensor in tensors.items():
        if name.endswith(SCALE) and not (np.isfinite(tensor) & (tensor > 0)).all():
            raise ModelFileError(f"{path} has scales that are no numbers above 0 (in {name}); choose another file")
    weights = decode(tensors)
    for name, w in weights.items():
        if not np.isfinite(w).all():
            raise ModelFileError(f"{path} holds weights that are not finite numbers (in {name}); choose another file")
    return weights
