"""What training tells the world: frozen events that carry host values only, so they may cross any thread line.

Counts come first (step, samples): they are the same for every run with the same seed. Seconds are time spent in
training steps alone, without evaluations and pauses.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from core.training.checkpoint import Checkpoint
from core.training.checkpoint import Weights as Weights
from core.training.hyperparameters import Hyperparameters

OUTCOMES = ("completed", "target", "stopped", "diverged", "failed")


@dataclass(frozen=True)
class TrainingStarted:
    """The network is built and the data is on the device."""

    device_key: str
    device_name: str
    parameter_count: int
    samples_per_epoch: int
    steps_per_epoch: int
    total_steps: int


@dataclass(frozen=True)
class StepsCompleted:
    """Progress since the last report: `loss` and `accuracy` (0..1) are means over the training digits in between."""

    step: int
    samples: int
    epoch: float
    loss: float
    accuracy: float
    train_seconds: float


@dataclass(frozen=True)
class Evaluated:
    """The network as it stands, measured on a whole set: "validation", "test", or "mine", the user's own digits."""

    step: int
    samples: int
    epoch: float
    split: str
    loss: float
    accuracy: float
    train_seconds: float


@dataclass(frozen=True)
class WeightsPublished:
    """A copy of the weights as they stand after `step`; all of them are finite."""

    step: int
    weights: Weights


@dataclass(frozen=True)
class HyperparametersChanged:
    """From the next step on the run goes on with `hyperparameters`; `changes` are those that differ, by name."""

    step: int
    samples: int
    epoch: float
    train_seconds: float
    changes: Mapping[str, Any]
    hyperparameters: Hyperparameters
    total_steps: int


@dataclass(frozen=True)
class TrainingEnded:
    """The last event of every run: how it ended and what it came to.

    `weights` are those kept, the last finite ones or the best, and the accuracies (0..1) theirs; `validation_accuracy`
    is None where nothing is held out. `learned` is False if these are still the start weights: no step was made, or the
    run diverged or failed before any were published. `seconds_to_target` is None unless the target was reached.
    `reason` says in one sentence why a run failed: its device could not go on; the weights are then the last that were
    published. `mine_accuracy` is that on the user's own digits, where the run learned from such; those before are of
    the network it began with, where it was given one.
    """

    outcome: str
    epochs: int
    steps: int
    samples: int
    train_seconds: float
    train_loss: float | None
    validation_accuracy: float | None
    test_accuracy: float
    seconds_to_target: float | None
    learned: bool
    weights: Weights
    reason: str = ""
    mine_accuracy: float | None = None
    test_accuracy_before: float | None = None
    mine_accuracy_before: float | None = None


@dataclass(frozen=True)
class Checkpointed:
    """All that a run needs to go on from here: told when it was asked for, and where a run completes or is stopped.

    `cpu_seconds`: what putting it together took of the thread that trains.
    """

    checkpoint: Checkpoint
    cpu_seconds: float


@dataclass(frozen=True)
class RunNotKept:
    """The run goes on, but from here on nothing of it is written to its folder; `reason` says why and what to do."""

    reason: str


Event: TypeAlias = (
    TrainingStarted
    | StepsCompleted
    | Evaluated
    | WeightsPublished
    | HyperparametersChanged
    | Checkpointed
    | RunNotKept
    | TrainingEnded
)
