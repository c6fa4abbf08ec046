"""How long an epoch takes: the same training on every device, for hidden layers of every width, as a generator.

Training alone is measured: nothing is held out, evaluated or published, and no time counts before a warm-up is over.
Widths come small to large, and all devices have their turn at each, so that what can be compared comes early.
"""

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from core.device import Device, DeviceError
from core.digits.dataset import Dataset
from core.nn.architecture import MAX_UNITS, with_hidden_units
from core.nn.layers.linear import Linear
from core.nn.network import Network
from core.training.hyperparameters import HyperparameterError, Hyperparameters
from core.training.job import TrainingControl
from core.training.learner import Learner
from core.training.presets import find_preset

PRESETS = ("pycuda-seed", "quick-mlp")
"""Those with one hidden layer, whose width is what is compared."""
HIDDEN = (64, 1024, 4096, 8192)
MAX_WIDTHS = 12
REPORTS = 20
"""Times in an epoch that progress is told; the device is waited for each time."""

WARM_UP_STEPS, WARM_UP_SECONDS, LEAST_WARM_UP_STEPS = 60, 1.0, 5
"""The first steps make the arrays that all others use, and a GPU notes each kind of step when it first meets it."""

PEAK_SIZES, PEAK_REPEATS, LONG_ENOUGH_SECONDS = (1024, 2048, 4096, 8192), 5, 0.01


@dataclass(frozen=True)
class BenchmarkJob:
    """Which widths of hidden layer to measure on which devices; the widths are put in order, each once.

    Raises HyperparameterError for a preset that has no width to compare, or a width that cannot be.
    """

    preset: str
    hidden: tuple[int, ...]
    device_keys: tuple[str, ...]

    def __post_init__(self) -> None:
        find_preset(self.preset)
        if self.preset not in PRESETS:
            raise HyperparameterError(
                f"{self.preset} has no single hidden layer to compare widths of; choose {' or '.join(PRESETS)}"
            )
        object.__setattr__(self, "hidden", check_widths(self.hidden))

    def hyperparameters(self, hidden: int) -> Hyperparameters:
        """The recipe with `hidden` units, learning from every training digit."""
        recipe = find_preset(self.preset)
        network = with_hidden_units(recipe.hyperparameters.network, [hidden])
        return recipe.choose({"network": network, "validation_digits": 0})


def read_widths(text: str) -> tuple[int, ...]:
    """The widths in a text such as "64, 1024, 4096", in order, each once; raises HyperparameterError."""
    parts = text.replace(",", " ").split()
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise HyperparameterError(f"hidden units are {text!r:.60}; list whole numbers, such as 64, 1024, 4096")
    return check_widths(tuple(int(part) for part in parts))


def check_widths(hidden: tuple[int, ...]) -> tuple[int, ...]:
    """`hidden` in order, each once; raises HyperparameterError if there are none, too many, or one is out of range."""
    for units in hidden:
        if not 1 <= units <= MAX_UNITS:
            raise HyperparameterError(f"hidden units are {units}; they must be from 1 to {MAX_UNITS:,}")
    ordered = tuple(sorted(set(hidden)))
    if not 1 <= len(ordered) <= MAX_WIDTHS:
        raise HyperparameterError(f"there are {len(ordered)} widths to measure; list 1 to {MAX_WIDTHS} of them")
    return ordered


@dataclass(frozen=True)
class BenchmarkStarted:
    """What will be measured: one epoch of `digits` digits for each width on each device."""

    hidden: tuple[int, ...]
    device_keys: tuple[str, ...]
    digits: int


@dataclass(frozen=True)
class BenchmarkProgress:
    """`done` (0..1) of all the work, counted in hidden units; the device and width that are being measured."""

    device_key: str
    device_name: str
    hidden: int
    done: float


@dataclass(frozen=True)
class WidthMeasured:
    """One whole epoch: how long it took and how fast that is.

    `flops_per_second` counts the matrix products of a step alone; `share_of_peak` is what part that is of the best rate
    the device reached in a large product, 0 to 1 or, where that was disturbed, a little more.
    """

    device_key: str
    device_name: str
    hidden: int
    seconds: float
    digits_per_second: float
    flops_per_second: float
    share_of_peak: float


@dataclass(frozen=True)
class WidthFailed:
    """This width could not be measured on this device; `reason` says why."""

    device_key: str
    hidden: int
    reason: str


@dataclass(frozen=True)
class BenchmarkEnded:
    """The last event: "completed", or "stopped" before all was measured."""

    outcome: str


BenchmarkEvent: TypeAlias = BenchmarkStarted | BenchmarkProgress | WidthMeasured | WidthFailed | BenchmarkEnded


def benchmark(job: BenchmarkJob, digits: Dataset, control: TrainingControl | None = None) -> Iterator[BenchmarkEvent]:
    """Measure `job` on `digits`; each width on each device yields a WidthMeasured or a WidthFailed.

    An epoch that was stopped yields neither. Raises DatasetError if a batch is larger than `digits`.
    """
    return _Benchmark(job, digits, control or TrainingControl()).events()


class _Benchmark:
    def __init__(self, job: BenchmarkJob, digits: Dataset, control: TrainingControl) -> None:
        self.job, self.digits, self.control = job, digits, control
        self._peaks: dict[str, float] = {}
        self._units = len(job.device_keys) * sum(job.hidden)
        self._units_done = 0.0

    def events(self) -> Iterator[BenchmarkEvent]:
        yield BenchmarkStarted(self.job.hidden, self.job.device_keys, len(self.digits))
        for hidden in self.job.hidden:
            for key in self.job.device_keys:
                try:
                    yield from self._measure(key, hidden)
                except DeviceError as error:
                    yield WidthFailed(key, hidden, str(error))
                if self.control.should_stop():
                    yield BenchmarkEnded("stopped")
                    return
                self._units_done += hidden
        yield BenchmarkEnded("completed")

    def _measure(self, key: str, hidden: int) -> Iterator[BenchmarkEvent]:
        if self.control.should_stop():
            return
        chosen = self.job.hyperparameters(hidden)
        learner = Learner(self.job.preset, chosen, key, self.digits)
        try:
            yield self._progress(learner.device, hidden, 0.0)
            # Each time anew, and the best of all counts: something else may have kept the device busy.
            peak = self._peaks[key] = max(self._peaks.get(key, 0.0), measure_peak(learner.device))
            warm_up(learner, self.control)
            seconds = yield from self._epoch(learner, hidden)
        finally:
            learner.release()
        if seconds is None:
            return
        rate = len(self.digits) / seconds
        flops = rate * flops_per_digit(learner.network)
        yield WidthMeasured(key, learner.device.name, hidden, seconds, rate, flops, flops / peak)

    def _epoch(self, learner: Learner, hidden: int) -> Generator[BenchmarkProgress, None, float | None]:
        """The seconds of one epoch, without those in which progress is told; None if it was stopped."""
        device, chosen = learner.device, learner.hyperparameters
        steps = -(-len(self.digits) // chosen.batch_size)
        report_every = -(-steps // REPORTS)
        seconds = 0.0
        device.synchronize()
        started = time.perf_counter()
        for step, rows in enumerate(learner.batches(), start=1):
            if self.control.should_stop():
                return None
            learner.step(rows, chosen.learning_rate)
            if step % report_every == 0 or step == steps:
                device.synchronize()
                seconds += time.perf_counter() - started
                yield self._progress(device, hidden, step / steps)
                started = time.perf_counter()
        return seconds

    def _progress(self, device: Device, hidden: int, share: float) -> BenchmarkProgress:
        done = (self._units_done + share * hidden) / self._units
        return BenchmarkProgress(device.key, device.name, hidden, done)


def warm_up(learner: Learner, control: TrainingControl) -> None:
    """Take steps until those that follow are like all others; ends early when stopped."""
    begun = time.perf_counter()
    for step, rows in enumerate(islice(learner.full_batches(), WARM_UP_STEPS), start=1):
        learner.step(rows, learner.hyperparameters.learning_rate)
        is_long = step >= LEAST_WARM_UP_STEPS and time.perf_counter() - begun > WARM_UP_SECONDS
        if is_long or control.should_stop():
            break
    learner.device.synchronize()


def flops_per_digit(network: Network) -> int:
    """Multiplications and additions in the matrix products of one training step, for each digit.

    A product with a weight takes two; it is met forward, in dW, and in dx where the gradient goes on.
    """
    linear = [layer for layer in network.layers if isinstance(layer, Linear)]
    return sum(2 * layer.parameters["weight"].size * (3 if layer.propagates else 2) for layer in linear)


def measure_peak(device: Device) -> float:
    """The best rate of `device` in products of square float32 matrices, in operations a second.

    The matrices grow until one product takes long enough to tell what the device can do.
    """
    best = 0.0
    with device.activate():
        for size in PEAK_SIZES:
            seconds = _product_seconds(device, size)
            best = max(best, 2.0 * size**3 / seconds)
            if seconds > LONG_ENOUGH_SECONDS:
                break
    return best


def _product_seconds(device: Device, size: int) -> float:
    """The shortest of several times of a product of two matrices (size, size); the first does not count."""
    matrix = device.xp.ones((size, size), device.xp.float32)
    product = device.xp.empty_like(matrix)
    taken = []
    for _ in range(1 + PEAK_REPEATS):
        device.synchronize()
        started = time.perf_counter()
        device.xp.matmul(matrix, matrix, out=product)
        device.synchronize()
        taken.append(time.perf_counter() - started)
    return min(taken[1:])
