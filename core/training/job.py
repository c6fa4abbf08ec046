"""What a run is to do, and the hand that others have on it while it goes on."""

import math
import threading
import time
from dataclasses import dataclass, field, fields
from pathlib import Path

from core.nn.layers.dropout import Dropout
from core.nn.network import weight_shapes
from core.training.checkpoint import Checkpoint, Weights, all_finite
from core.training.hyperparameters import CHANGEABLE, INPUT_SHAPE, RANGES, HyperparameterError, Hyperparameters
from core.training.presets import find_preset

MOST_OF_MINE = 0.9
"""The highest share of own digits: with more, what MNIST taught would be forgotten."""


@dataclass(frozen=True)
class TrainingJob:
    """All that determines a run. `until_accuracy` (0..1): stop once the test accuracy reaches it.

    `data` is the name of the set (core.digits.downloads), which whoever runs the job loads.
    `mine` (0 to `MOST_OF_MINE`): the share of the user's own digits among the training digits, synthetic ink apart;
    they are those of the file `my_digits`, None for the usual one.
    `start`: the weights to begin with, which count as float32, None for fresh ones. A checkpoint of a later step needs
    none. `start_file`: the network file they are still to be read from (core.training.run_folder: with_start).
    """

    preset: str
    hyperparameters: Hyperparameters
    device_key: str = "auto"
    until_accuracy: float | None = None
    data: str = "mnist"
    mine: float = 0.0
    my_digits: Path | None = None
    start: Weights | None = field(default=None, compare=False, repr=False)
    start_file: Path | None = field(default=None, compare=False)

    @property
    def begins_with_network(self) -> bool:
        """Whether it has weights to begin with, read or not."""
        return self.start is not None or self.start_file is not None


class TrainingControl:
    """Pause, resume and stop a run from any thread; the trainer asks at every step."""

    def __init__(self) -> None:
        self._going = threading.Event()
        self._going.set()
        self._stop = False
        self._lock = threading.Lock()
        self._wanted: Hyperparameters | None = None
        self._checkpoint_due = math.inf
        self.checkpoint_at_end = False
        """Whether the state of the run is told where it completes or is stopped."""

    def pause(self) -> None:
        """Hold the run after the step it is in."""
        self._going.clear()
        if self._stop:  # A stop that came in between must not be held.
            self._going.set()

    def resume(self) -> None:
        """Let a paused run go on."""
        self._going.set()

    def stop(self) -> None:
        """End the run after the step it is in, paused or not; what it learned is kept."""
        self._stop = True
        self._going.set()

    def change(self, hyperparameters: Hyperparameters) -> None:
        """Go on with these from the next step; they should differ from the run's as `check_change` allows."""
        with self._lock:
            self._wanted = hyperparameters

    def take_change(self) -> Hyperparameters | None:
        """What was last asked for by `change` and not yet taken."""
        with self._lock:
            wanted, self._wanted = self._wanted, None
        return wanted

    def ask_for_checkpoint(self, in_seconds: float = 0.0) -> None:
        """Have the state of the run told after the first step that ends no sooner than that."""
        self._checkpoint_due = min(self._checkpoint_due, time.monotonic() + in_seconds)

    def take_checkpoint_wish(self) -> bool:
        """Whether the state is to be told now; true once for all that was asked for till then."""
        due = time.monotonic() >= self._checkpoint_due
        if due:
            self._checkpoint_due = math.inf
        return due

    def should_stop(self) -> bool:
        """Whether to end; while paused, this waits."""
        if not self._stop:
            self._going.wait()
        return self._stop


def check_change(preset: str, before: Hyperparameters, after: Hyperparameters) -> None:
    """Raises HyperparameterError if a run cannot go on with `after`: only `CHANGEABLE` choices may differ."""
    for name in (choice.name for choice in fields(Hyperparameters)):
        if name not in CHANGEABLE and getattr(before, name) != getattr(after, name):
            words = name.replace("_", " ")
            raise HyperparameterError(f"{words} cannot be changed while training; it counts from the next run on")
    if before.network != after.network:
        old, new = (find_preset(preset).build_layers(chosen.network) for chosen in (before, after))
        same = [
            type(a) is type(b) and (isinstance(a, Dropout) or _settings(a) == _settings(b))
            for a, b in zip(old, new, strict=False)
        ]
        if len(old) != len(new) or not all(same):
            raise HyperparameterError(
                "of the network, only dropout can be changed while training; the rest counts from the next run on"
            )


def check_start(job: TrainingJob) -> None:
    """Raises HyperparameterError if the weights to begin with are of another network, ValueError if they are unread."""
    if job.start_file is not None:
        raise ValueError("the network to begin with has not been read; the run would begin with fresh weights")
    if job.start is None:
        return
    wanted = weight_shapes(find_preset(job.preset).build_layers(job.hyperparameters.network), INPUT_SHAPE)
    if {name: values.shape for name, values in job.start.items()} != wanted:
        raise HyperparameterError(
            "the network to begin with has other layers than the one to be trained; choose its preset and its network"
        )


def check_fits(since: Checkpoint, fresh: Weights, digits: int, mine_digest: str) -> None:
    """Raises ValueError if a run can never have been at `since`.

    The run has `digits` training digits, `mine_digest` of the user's own among them, and a network with the weights
    `fresh` before its first step; `check_change` allows the hyperparameters.
    """
    progress, batch_size = since.progress, since.hyperparameters.batch_size
    steps_per_epoch = -(-digits // batch_size)
    epochs, steps_within = divmod(progress.step, steps_per_epoch)
    longest = int(RANGES["epochs"].maximum) * steps_per_epoch
    if progress.mine_digest != mine_digest:
        raise ValueError("your own digits have changed since")
    if progress.samples != epochs * digits + steps_within * batch_size or progress.total_steps > longest:
        raise ValueError("it is that of a run with other digits")
    wanted = _kinds(fresh)
    if _kinds(since.published) != wanted or _kinds(since.best) != ({} if progress.best is None else wanted):
        raise ValueError("its weights are those of another network")
    if not all_finite(since.published) or not all_finite(since.best):
        raise ValueError("its weights are not finite numbers")


def _kinds(weights: Weights) -> dict[str, tuple[tuple[int, ...], str]]:
    return {name: (values.shape, values.dtype.str) for name, values in weights.items()}


def _settings(layer: object) -> dict[str, object]:
    """A layer's own settings: the plain values it was made with."""
    return {name: value for name, value in vars(layer).items() if isinstance(value, bool | int | float)}
