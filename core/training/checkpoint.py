"""The state of a run between two steps, as a value and as a file: from it a run goes on as if nothing had happened.

Unlike a model file it is for the run alone. It holds the weights in training with all that the optimizer and the
generators of random numbers remember, in full precision; it is still a safetensors file, and trusted as little.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from core.atomic_file import write_atomically
from core.device import HostArray
from core.training.hyperparameters import HyperparameterError, Hyperparameters

Weights: TypeAlias = Mapping[str, HostArray]
"""All parameters of a network by name, read-only host copies."""

FORMAT, FORMAT_VERSION = "inkling-checkpoint", "1"
MAX_BYTES = 16 * 2**30
_LEARNER, _PUBLISHED, _BEST = "learner/", "published/", "best/"


class CheckpointError(ValueError):
    """A checkpoint that a run cannot go on from; the message says why and what to do."""


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

    `progress` is the loop's own account, as JSON can hold it ("step" and "total_steps" among it); `published` the last
    weights that were published, `best` those that measured best so far, empty before any were.
    """

    hyperparameters: Hyperparameters
    progress: Mapping[str, Any]
    learner: LearnerState
    published: Weights
    best: Weights

    @property
    def step(self) -> int:
        """Steps taken so far."""
        return int(self.progress["step"])


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write it whole or not at all; raises UnwritableFileError."""
    parts = ((_LEARNER, checkpoint.learner.arrays), (_PUBLISHED, checkpoint.published), (_BEST, checkpoint.best))
    tensors = {
        prefix + name: np.asarray(array, order="C") for prefix, arrays in parts for name, array in arrays.items()
    }
    metadata = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "hyperparameters": json.dumps(checkpoint.hyperparameters.as_dict()),
        "progress": json.dumps(dict(checkpoint.progress)),
        "counters": json.dumps(dict(checkpoint.learner.counters)),
    }
    write_atomically(path, save(tensors, metadata))


def load_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint in the file at `path`; raises CheckpointError if there is none that could be one.

    Whether it fits a run, the run finds out: it compares every shape with its own.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CheckpointError(f"{path} is too large for a checkpoint; start the run anew")
        with safe_open(path, framework="numpy") as file:
            metadata = dict(file.metadata() or {})
            if (metadata.get("format"), metadata.get("format_version")) != (FORMAT, FORMAT_VERSION):
                raise CheckpointError(f"{path} is no checkpoint of this version of Inkling; start the run anew")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        progress, counters = (_table(metadata[name]) for name in ("progress", "counters"))
        hyperparameters = Hyperparameters.from_dict(json.loads(metadata["hyperparameters"]))
    except CheckpointError:
        raise
    except (SafetensorError, OSError, MemoryError, ValueError, KeyError, RecursionError, HyperparameterError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise CheckpointError(f"{path} cannot be read ({reason}); start the run anew") from None
    return Checkpoint(
        hyperparameters,
        progress,
        LearnerState(_part(tensors, _LEARNER), counters),
        _part(tensors, _PUBLISHED),
        _part(tensors, _BEST),
    )


def _table(text: str) -> dict[str, Any]:
    values = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError("a table is wanted")
    return values


def _part(tensors: Mapping[str, HostArray], prefix: str) -> dict[str, HostArray]:
    part = {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}
    for array in part.values():
        array.flags.writeable = False
    return part
