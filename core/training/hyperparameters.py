"""What the user may choose about a training run, and within which limits.

The ranges live here and nowhere else: the form in the window, the command line and the reader of model files all ask
this room. An object of `Hyperparameters` that exists is valid.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from core.digits.augmentation import MAX_SHIFT_PX
from core.nn.architecture import NetworkTextError, output_units
from core.nn.layers.layer import Shape
from core.nn.optimizers import OPTIMIZERS
from core.nn.schedules import SCHEDULES

PRECISIONS = ("float32", "tf32", "float64")
INPUT_SHAPE: Shape = (1, 28, 28)
CLASSES = 10


@dataclass(frozen=True)
class Range:
    """The numbers allowed for one hyperparameter, both ends included."""

    minimum: float
    maximum: float


RANGES: Mapping[str, Range] = {
    "learning_rate": Range(1e-6, 100.0),
    "momentum": Range(0.0, 0.999),
    "weight_decay": Range(0.0, 10.0),
    "clip_norm": Range(0.0, 1000.0),
    "warmup": Range(0.0, 0.5),
    "batch_size": Range(1, 10_000),
    "epochs": Range(1, 10_000),
    "seed": Range(0, 2**32 - 1),
    "shift_px": Range(0, MAX_SHIFT_PX),
    "augment": Range(0.0, 1.0),
    "augment_fade": Range(0.0, 1.0),
    "synthetic": Range(0.0, 0.9),
    "label_smoothing": Range(0.0, 0.5),
    "averaging": Range(0.0, 0.9999),
    "patience": Range(0, 10_000),
    "validation_digits": Range(0, 50_000),
    "evaluate_every": Range(100, 1_000_000),
    "train_limit": Range(0, 10_000_000),
}
_WHOLE = {"batch_size", "epochs", "seed", "shift_px", "patience", "validation_digits", "evaluate_every", "train_limit"}
CHANGEABLE = ("network", "learning_rate", "momentum", "weight_decay", "shift_px", "augment", "epochs")
"""What may be changed while a run goes on; of the network, the rates of dropout alone."""


class HyperparameterError(ValueError):
    """A value outside what is allowed; the message names it, what it got and what it wants.

    `name`: which of `Hyperparameters` the message begins with, in words; "" if it begins with none.
    """

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True)
class Hyperparameters:
    """The choices of one run.

    network: the layers as text (core.nn.architecture); optimizer: one of OPTIMIZERS; learning_rate: step size, before
    its schedule; momentum: share of the last update carried on (momentum and nesterov only); weight_decay: pull of all
    weights towards 0; clip_norm: longest gradient, 0 for any; schedule: how the learning rate goes on over the run;
    warmup: share of the run over which it first rises; batch_size: digits per step; epochs: passes over the training
    digits; seed: of everything random; shift_px: each batch is moved by up to so many pixels; augment: how strongly
    each digit is distorted, 0 not at all; augment_fade: share of the run, its end, over which that fades away;
    synthetic: share of synthetic ink among the training digits, a quarter of it drawings that are no digit;
    label_smoothing: share of certainty taken from the targets; averaging: share of the old in the running mean of the
    weights that is measured and kept, 0 for the weights themselves; patience: epochs without a better validation
    accuracy before the run ends, 0 for never; keep_best: keep the weights with the best validation accuracy instead of
    the last; validation_digits: training digits held out to measure on; evaluate_every: digits between two
    measurements; precision: of all computing, float32, float64, or tf32, which is float32 with products that round
    their inputs to 10 bits of mantissa where a GPU can (the CPU does not); train_limit: learn from so many digits only,
    0 for all.

    Raises HyperparameterError for a value outside `RANGES` or not of its kind, or a text that is no network.
    """

    network: str
    optimizer: str = "momentum"
    learning_rate: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 0.0
    clip_norm: float = 0.0
    schedule: str = "constant"
    warmup: float = 0.0
    batch_size: int = 100
    epochs: int = 10
    seed: int = 0
    shift_px: int = 0
    augment: float = 0.0
    augment_fade: float = 0.0
    synthetic: float = 0.0
    label_smoothing: float = 0.0
    averaging: float = 0.0
    patience: int = 0
    keep_best: bool = False
    validation_digits: int = 5000
    evaluate_every: int = 5000
    precision: str = "float32"
    train_limit: int = 0

    def __post_init__(self) -> None:
        for name in RANGES:
            _check_number(name, getattr(self, name), whole=name in _WHOLE)
        if not isinstance(self.keep_best, bool):
            raise HyperparameterError(f"keep best is {self.keep_best!r:.60}; it must be true or false", "keep_best")
        _check_choice("optimizer", self.optimizer, tuple(OPTIMIZERS))
        _check_choice("schedule", self.schedule, tuple(SCHEDULES))
        _check_choice("precision", self.precision, PRECISIONS)
        check_network(self.network)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """In what all numbers of a run are kept."""
        return np.dtype("float32" if self.precision == "tf32" else self.precision)

    def as_dict(self) -> dict[str, Any]:
        """The choices as JSON can hold them; `from_dict` reads them back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: object) -> "Hyperparameters":
        """Hyperparameters from untrusted `values`; raises HyperparameterError."""
        if not isinstance(values, dict) or "network" not in values:
            raise HyperparameterError("the hyperparameters are not a table with a network in it")
        known = {field.name for field in fields(cls)}
        unknown = sorted(str(name)[:40] for name in values if name not in known)
        if unknown:
            raise HyperparameterError(f"unknown hyperparameter {unknown[0]!r}")
        if values.get("train_limit", 0) is None:
            values = {**values, "train_limit": 0}  # As files of earlier builds say that nothing limits the digits.
        return cls(**values)


def check_network(text: object) -> None:
    """Raises HyperparameterError unless `text` describes a network from a picture to ten classes."""
    if not isinstance(text, str):
        raise HyperparameterError(
            f"network is {text!r:.60}; it must be a text, such as 'linear 256 relu, linear 10'", "network"
        )
    try:
        outputs = output_units(text, INPUT_SHAPE)
    except NetworkTextError as error:
        raise HyperparameterError(f"network: {error}", "network") from error
    if outputs != (CLASSES,):
        raise HyperparameterError(f"network: it must end with linear {CLASSES}, one answer for each digit", "network")


def _check_number(name: str, value: object, *, whole: bool) -> None:
    limits = RANGES[name]
    kind = "a whole number" if whole else "a number"
    right_type = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if right_type and limits.minimum <= value <= limits.maximum:  # type: ignore[operator]
        return
    raise HyperparameterError(
        f"{_in_words(name)} is {value!r:.60}; it must be {kind} from {limits.minimum:g} to {limits.maximum:,.12g}",
        name,
    )


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise HyperparameterError(f"{_in_words(name)} is {value!r:.60}; choose {' or '.join(choices)}", name)


def _in_words(name: str) -> str:
    """As people read it in the window and type it at the terminal alike."""
    return name.replace("_", " ")
