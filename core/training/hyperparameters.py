"""What the user may choose about a training run, and within which limits.

The ranges live here and nowhere else: the form in the window, the command line and the reader of model files all ask
this room. An object of `Hyperparameters` that exists is valid.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

OPTIMIZERS = ("sgd", "adam")
SCHEDULES = ("constant", "cosine")
PRECISIONS = ("float32", "float64")


@dataclass(frozen=True)
class Range:
    """The numbers allowed for one hyperparameter, both ends included."""

    minimum: float
    maximum: float


RANGES: Mapping[str, Range] = {
    "hidden": Range(1, 16384),
    "learning_rate": Range(1e-6, 100.0),
    "momentum": Range(0.0, 0.999),
    "batch_size": Range(1, 10_000),
    "epochs": Range(1, 10_000),
    "seed": Range(0, 2**32 - 1),
    "validation_digits": Range(0, 50_000),
    "evaluate_every": Range(100, 1_000_000),
    "train_limit": Range(1, 10_000_000),
    "shift_px": Range(0, 4),
    "augment": Range(0.0, 1.0),
}
MAX_HIDDEN_LAYERS = 8


class HyperparameterError(ValueError):
    """A value outside what is allowed; the message names it, what it got and what it wants."""


@dataclass(frozen=True)
class Hyperparameters:
    """The choices of one run.

    hidden: units of each hidden layer, first to last; optimizer: "sgd" or "adam"; learning_rate: step size at the
    start; momentum: share of the last update carried on (sgd only); schedule: how the learning rate goes on over the
    run; batch_size: digits per step; epochs: passes over the training digits; seed: of everything random;
    validation_digits: training digits held out to measure on; evaluate_every: digits between two measurements;
    shift_px: each batch is moved by up to so many pixels; augment: how strongly each digit is turned, scaled, sheared
    and shifted, 0 not at all; precision: dtype of all computing; train_limit: use only so many training digits.

    Raises HyperparameterError for a value outside `RANGES` or not of its kind.
    """

    hidden: tuple[int, ...]
    optimizer: str = "sgd"
    learning_rate: float = 0.1
    momentum: float = 0.9
    schedule: str = "constant"
    batch_size: int = 100
    epochs: int = 10
    seed: int = 0
    validation_digits: int = 5000
    evaluate_every: int = 5000
    shift_px: int = 0
    augment: float = 0.0
    precision: str = "float32"
    train_limit: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.hidden, tuple) or len(self.hidden) > MAX_HIDDEN_LAYERS:
            raise HyperparameterError(
                f"hidden is {self.hidden!r:.60}; it wants up to {MAX_HIDDEN_LAYERS} layer sizes, such as 256 or 512,128"
            )
        for units in self.hidden:
            _check_number("hidden", units, whole=True)
        for name in ("batch_size", "epochs", "seed", "validation_digits", "evaluate_every", "shift_px"):
            _check_number(name, getattr(self, name), whole=True)
        for name in ("learning_rate", "momentum", "augment"):
            _check_number(name, getattr(self, name), whole=False)
        if self.train_limit is not None:
            _check_number("train_limit", self.train_limit, whole=True)
        _check_choice("optimizer", self.optimizer, OPTIMIZERS)
        _check_choice("schedule", self.schedule, SCHEDULES)
        _check_choice("precision", self.precision, PRECISIONS)

    def as_dict(self) -> dict[str, Any]:
        """The choices as JSON can hold them; `from_dict` reads them back."""
        return {**asdict(self), "hidden": list(self.hidden)}

    @classmethod
    def from_dict(cls, values: object) -> "Hyperparameters":
        """Hyperparameters from untrusted `values`; raises HyperparameterError."""
        if not isinstance(values, dict) or not isinstance(values.get("hidden"), list):
            raise HyperparameterError("the hyperparameters are not a table with a list of hidden layers")
        known = {field.name for field in fields(cls)}
        unknown = sorted(str(name)[:40] for name in values if name not in known)
        if unknown:
            raise HyperparameterError(f"unknown hyperparameter {unknown[0]!r}")
        return cls(**{**values, "hidden": tuple(values["hidden"])})


def _check_number(name: str, value: object, *, whole: bool) -> None:
    limits = RANGES[name]
    kind = "a whole number" if whole else "a number"
    right_type = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if right_type and limits.minimum <= value <= limits.maximum:  # type: ignore[operator]
        return
    raise HyperparameterError(
        f"{_in_words(name)} is {value!r:.60}; it must be {kind} from {limits.minimum:g} to {limits.maximum:,.12g}"
    )


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise HyperparameterError(f"{_in_words(name)} is {value!r:.60}; choose {' or '.join(choices)}")


def _in_words(name: str) -> str:
    """As people read it in the window and type it at the terminal alike."""
    return name.replace("_", " ")
