"""The state of a run between two steps, as a value and as a file: from it a run goes on as if nothing had happened.

Unlike a model file it is for the run alone. It holds the weights in training with all that the optimizer and the
generators of random numbers remember, in full precision; it is still a safetensors file, and trusted as little.
"""

import json
import os
import struct
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from safetensors import SafetensorError, safe_open

from core.atomic_file import replace_atomically
from core.device import HostArray
from core.training.hyperparameters import HyperparameterError, Hyperparameters

Weights: TypeAlias = Mapping[str, HostArray]
"""All parameters of a network by name, read-only host copies."""

FORMAT, FORMAT_VERSION = "inkling-checkpoint", "3"
MAX_BYTES = 4 * 2**30
"""The largest network in float64, with two arrays that its optimizer remembers and three copies, takes 2.4 GB."""
DTYPES = {"float32": "F32", "float64": "F64", "int64": "I64"}
"""All that a run holds, by the format's own names."""
_LEARNER, _PUBLISHED, _BEST = "learner/", "published/", "best/"


class CheckpointError(ValueError):
    """A checkpoint that a run cannot go on from; the message says why and what to do."""


@dataclass(frozen=True)
class Progress:
    """The loop's own account of how far a run is.

    step, of total_steps; samples: digits learned from; train_seconds; train_loss: mean over the last report's digits,
    None before the first; published: whether weights were; best: the best validation accuracy (0..1) and its step;
    evaluation_due: whether the evaluation after this step was broken off, and is to be done again; before: the
    accuracies (0..1) by split of the network that the run began with, where it was given one; mine_digest: of the
    user's own digits it learns from, "" without any.

    Raises ValueError for what cannot be.
    """

    step: int
    total_steps: int
    samples: int
    train_seconds: float
    train_loss: float | None
    published: bool
    best: tuple[float, int] | None
    evaluation_due: bool = False
    before: Mapping[str, float] = field(default_factory=dict)
    mine_digest: str = ""

    def __post_init__(self) -> None:
        counts = (self.step, self.total_steps, self.samples)
        if not all(is_count(value) for value in counts) or self.step > self.total_steps:
            raise ValueError("its steps are no numbers of steps")
        if not _is_number(self.train_seconds) or not (self.train_loss is None or _is_number(self.train_loss)):
            raise ValueError("its seconds or its loss are no numbers")
        if not isinstance(self.published, bool) or not isinstance(self.evaluation_due, bool):
            raise ValueError("what was published is not clear")
        if self.best is not None and not (_is_number(self.best[0]) and is_count(self.best[1])):
            raise ValueError("its best accuracy is no number")
        if not isinstance(self.before, dict) or not all(_is_number(value) for value in self.before.values()):
            raise ValueError("what it began with is not clear")
        if not isinstance(self.mine_digest, str):
            raise ValueError("whose digits it learns from is not clear")


@dataclass(frozen=True)
class LearnerState:
    """All that a learner is made of besides its job and its digits: with it, another goes on exactly where this one is.

    `arrays`: host copies by name, in the run's own dtypes. `counters`: steps, and the generators' states, as JSON can
    hold them. It is told between two steps.
    """

    arrays: Mapping[str, HostArray]
    counters: Mapping[str, Any]


@dataclass(frozen=True)
class Checkpoint:
    """A run between two steps: the hyperparameters it goes on with, how far it is, and all weights it would need.

    `published`: the last weights that were published, at first those of the start; `best`: those that measured best so
    far, empty before any did.
    """

    hyperparameters: Hyperparameters
    progress: Progress
    learner: LearnerState
    published: Weights
    best: Weights


def all_finite(weights: Weights) -> bool:
    """Whether every one of `weights` is a finite number."""
    return all(np.isfinite(values).all() for values in weights.values())


def is_count(value: object) -> bool:
    """Whether `value` is a whole number that something may have been counted to."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _is_number(value: object) -> bool:
    """Whether `value` is a finite number."""
    right_type = isinstance(value, int | float) and not isinstance(value, bool)
    return right_type and -sys.float_info.max <= value <= sys.float_info.max  # type: ignore[operator]


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write it whole or not at all; raises UnwritableFileError."""
    parts = ((_LEARNER, checkpoint.learner.arrays), (_PUBLISHED, checkpoint.published), (_BEST, checkpoint.best))
    tensors = {
        prefix + name: np.ascontiguousarray(array).reshape(array.shape)
        for prefix, arrays in parts
        for name, array in arrays.items()
    }
    metadata = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "hyperparameters": json.dumps(checkpoint.hyperparameters.as_dict()),
        "progress": json.dumps(asdict(checkpoint.progress)),
        "counters": json.dumps(dict(checkpoint.learner.counters)),
    }
    replace_atomically(path, lambda file: _write_safetensors(file, tensors, metadata))


def _write_safetensors(file: BinaryIO, tensors: Mapping[str, HostArray], metadata: Mapping[str, str]) -> None:
    """As safetensors' own `save` does, but for its copies of everything: this may happen every few seconds."""
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    end = 0
    for name, tensor in tensors.items():
        begin, end = end, end + tensor.nbytes
        header[name] = {"dtype": DTYPES[tensor.dtype.name], "shape": tensor.shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file.write(struct.pack("<Q", len(text)) + text)
    for tensor in tensors.values():
        file.write(tensor.data)


def load_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint in the file at `path`; raises CheckpointError if there is none that could be one.

    Whether it fits a run, the run finds out: it compares every shape with its own.
    """
    if not os.path.isfile(path):
        raise CheckpointError(f"{path} is not a file; start the run anew")
    try:
        return _checkpoint(path)
    except HyperparameterError as error:
        raise CheckpointError(f"{path} goes on with what cannot be: {error}; start the run anew") from None
    except (
        SafetensorError,
        OSError,
        MemoryError,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        RecursionError,
    ) as error:
        reason = str(error).partition("\n")[0][:200]
        raise CheckpointError(f"{path} cannot be read ({reason}); start the run anew") from None


def _checkpoint(path: Path) -> Checkpoint:
    if os.path.getsize(path) > MAX_BYTES:
        raise ValueError("it is too large")
    with safe_open(path, framework="numpy") as file:
        metadata = dict(file.metadata() or {})
        if (metadata.get("format"), metadata.get("format_version")) != (FORMAT, FORMAT_VERSION):
            raise ValueError("it is no checkpoint of this version of Inkling")
        names = list(file.keys())
        # The package knows types of numbers that NumPy does not, and says so in words of its own.
        if not {file.get_slice(name).get_dtype() for name in names} <= set(DTYPES.values()):
            raise ValueError("it holds numbers of a type that no run has")
        tensors = {name: file.get_tensor(name) for name in names}
    counters = _table(metadata["counters"])
    _check_generators(counters["generators"])
    return Checkpoint(
        Hyperparameters.from_dict(json.loads(metadata["hyperparameters"])),
        _progress(_table(metadata["progress"])),
        LearnerState(_part(tensors, _LEARNER), counters),
        _part(tensors, _PUBLISHED),
        _part(tensors, _BEST),
    )


def _progress(values: dict[str, Any]) -> Progress:
    if not {field.name for field in fields(Progress)} >= values.keys():
        raise ValueError("its progress is not clear")
    if values["best"] is not None:
        accuracy, step = values["best"]
        values["best"] = (accuracy, step)
    return Progress(**values)


def _table(text: str) -> dict[str, Any]:
    values = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError("a table is wanted")
    return values


def _check_generators(states: list[dict[str, Any]]) -> None:
    """Raise ValueError for a state from which a generator may give the same number for ever, and a draw never end.

    With an odd increment it comes to every number there is. O'Neill, 2014, PCG.
    """
    if not all(state["state"]["inc"] % 2 == 1 for state in states):
        raise ValueError("its generators of random numbers would not go on")


def _part(tensors: Mapping[str, HostArray], prefix: str) -> dict[str, HostArray]:
    part = {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}
    for array in part.values():
        array.flags.writeable = False
    return part
