"""The loop: from a job to a trained network, as a generator of events.

It decides when to report, evaluate, publish weights and stop, all by counts, so that the same job tells the same story
each time. What runs between two events is the consumer's affair: nothing here waits for it, prints or draws.
"""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from core.device import Array, Device, DTypeLike, open_device
from core.digits.augmentation import BatchShift, Distortion
from core.digits.dataset import Dataset, DatasetError, Splits, minibatches, shuffled
from core.nn.layers.dropout import Dropout
from core.nn.network import Network
from core.nn.optimizers import OPTIMIZERS
from core.nn.schedules import SCHEDULES, warmed_up
from core.training.evaluation import DeviceDataset, Measured, evaluate, samples_last
from core.training.events import (
    Evaluated,
    Event,
    HyperparametersChanged,
    StepsCompleted,
    TrainingEnded,
    TrainingStarted,
    Weights,
    WeightsPublished,
)
from core.training.hyperparameters import CHANGEABLE, CLASSES, INPUT_SHAPE, HyperparameterError, Hyperparameters
from core.training.presets import Preset, find_preset
from core.workspace import Workspace

REPORT_EVERY_DIGITS = 1000


@dataclass(frozen=True)
class TrainingJob:
    """All that determines a run, its data aside. `until_accuracy` (0..1): stop once the test accuracy reaches it."""

    preset: str
    hyperparameters: Hyperparameters
    device_key: str = "auto"
    until_accuracy: float | None = None


class TrainingControl:
    """Pause, resume and stop a run from any thread; the trainer asks at every step."""

    def __init__(self) -> None:
        self._going = threading.Event()
        self._going.set()
        self._stop = False
        self._wanted: Hyperparameters | None = None

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
        self._wanted = hyperparameters

    def take_change(self) -> Hyperparameters | None:
        """What was last asked for by `change` and not yet taken."""
        wanted, self._wanted = self._wanted, None
        return wanted

    def should_stop(self) -> bool:
        """Whether to end; while paused, this waits."""
        if not self._stop:
            self._going.wait()
        return self._stop


def train(job: TrainingJob, splits: Splits, control: TrainingControl | None = None) -> Iterator[Event]:
    """Run `job` on `splits`; the last event is a TrainingEnded with the weights to keep.

    Raises DeviceError if the device cannot compute, DatasetError if the batch is larger than the training set,
    UnknownPresetError for a preset that does not exist; nothing has been done then.
    """
    if job.hyperparameters.batch_size > len(splits.train):
        raise DatasetError(
            f"the batch size is {job.hyperparameters.batch_size} but there are only {len(splits.train)} training "
            "digits; choose a smaller batch"
        )
    return _Run(job, splits, control or TrainingControl()).events()


def check_change(preset: str, before: Hyperparameters, after: Hyperparameters) -> None:
    """Raises HyperparameterError if a run cannot go on with `after`: only `CHANGEABLE` choices may differ."""
    for field in fields(Hyperparameters):
        if field.name not in CHANGEABLE and getattr(before, field.name) != getattr(after, field.name):
            words = field.name.replace("_", " ")
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


def _settings(layer: object) -> dict[str, object]:
    """A layer's own settings: the plain values it was made with."""
    return {name: value for name, value in vars(layer).items() if isinstance(value, bool | int | float)}


class _Run:
    def __init__(self, job: TrainingJob, splits: Splits, control: TrainingControl) -> None:
        self.job, self.control = job, control
        chosen = self.hyperparameters = job.hyperparameters
        self.preset = find_preset(job.preset)
        self.device = open_device(job.device_key)
        start_rng, self.shuffle_rng, self.augmentation_rng = np.random.default_rng(chosen.seed).spawn(3)
        with self.device.activate():
            dtype = np.dtype(chosen.precision)
            self.network = _make_network(self.preset, chosen, self.device, dtype)
            self.network.initialize(start_rng)
            self.loss = self.preset.loss(self.device, dtype)
            self.optimizer = OPTIMIZERS[chosen.optimizer](self.network.parameters, self.network.gradients, self.device)
            self.average = _Average(self.network, self.preset, chosen) if chosen.averaging else None
            self.distortion = Distortion(self.device, dtype, chosen.augment)
            self.shift = BatchShift(self.device, chosen.shift_px)
            self.train_set = DeviceDataset(splits.train, self.device, dtype, CLASSES, chosen.label_smoothing)
            self.test_set = self._to_measure(splits.test)
            self.validation_set = self._to_measure(splits.validation) if splits.validation else None
            self.tally = _Tally(self.network)
        self.steps_per_epoch = -(-len(splits.train) // chosen.batch_size)
        self.step = self.samples = 0
        self.train_seconds = 0.0
        self.last_loss: float | None = None
        self.seconds_to_target: float | None = None
        self.outcome = "completed"
        self.finite_weights, self.published = self.network.export_weights(), False
        self.best: tuple[float, int, Weights] | None = None
        self._apply(chosen)

    def _to_measure(self, dataset: Dataset) -> DeviceDataset:
        return DeviceDataset(dataset, self.device, self.network.dtype, CLASSES)

    def _apply(self, chosen: Hyperparameters) -> None:
        """Take over what may change during a run."""
        self.hyperparameters = chosen
        self.total_steps = max(self.steps_per_epoch * chosen.epochs, self.step)
        self.optimizer.momentum = chosen.momentum
        self.optimizer.weight_decay = chosen.weight_decay
        self.optimizer.clip_norm = chosen.clip_norm
        self.distortion.strength = chosen.augment
        self.shift.max_shift_px = chosen.shift_px
        for mine, wanted in zip(self.network.layers, self.preset.build_layers(chosen.network), strict=True):
            if isinstance(mine, Dropout) and isinstance(wanted, Dropout):
                mine.rate = wanted.rate

    def events(self) -> Iterator[Event]:
        yield TrainingStarted(
            self.device.key,
            self.device.name,
            len(self.network.parameters),
            len(self.train_set),
            self.steps_per_epoch,
            self.total_steps,
        )
        while self.step < self.total_steps and self.outcome == "completed":
            yield from self._epoch()
            if self._has_lost_patience():
                break
        yield self._ended()

    def _epoch(self) -> Iterator[Event]:
        """One pass over the training digits; leaves early, with another outcome, when the run is to end."""
        batch_size, evaluate_every = self.hyperparameters.batch_size, self.hyperparameters.evaluate_every
        report_steps = max(1, REPORT_EVERY_DIGITS // batch_size)
        with self.device.activate():
            order = self.device.to_device(shuffled(len(self.train_set), self.shuffle_rng))
        for rows in minibatches(order, batch_size):
            if self.control.should_stop():
                self.outcome = "stopped"
                return
            yield from self._take_change()
            self._train_step(rows)
            epoch_ends = self.step % self.steps_per_epoch == 0
            evaluation_due = self.samples // evaluate_every > (self.samples - len(rows)) // evaluate_every
            if self.step % report_steps == 0 or evaluation_due or epoch_ends:
                yield from self._report()
            if (evaluation_due or epoch_ends) and self.outcome == "completed":
                yield from self._evaluations()
            if self.outcome != "completed":
                return

    def _take_change(self) -> Iterator[Event]:
        wanted, before = self.control.take_change(), self.hyperparameters
        if wanted is None or wanted == before:
            return
        check_change(self.job.preset, before, wanted)
        self._apply(wanted)
        names = [name for name in CHANGEABLE if getattr(before, name) != getattr(wanted, name)]
        changes = {name: getattr(wanted, name) for name in names}
        yield HyperparametersChanged(
            self.step, self.samples, self._epoch_now(), self.train_seconds, changes, wanted, self.total_steps
        )

    def _train_step(self, rows: Array) -> None:
        started = time.perf_counter()
        chosen, done = self.hyperparameters, self.step / self.total_steps
        rate = chosen.learning_rate * SCHEDULES[chosen.schedule](done) * warmed_up(done, chosen.warmup)
        with self.device.activate(), self.device.dividing(self.network.divides):
            pictures, labels, targets = self.train_set.batch(rows)
            if chosen.shift_px:
                pictures = self.shift.apply(pictures, self.augmentation_rng)
            pixels = self.train_set.pixels(pictures)
            if chosen.augment:
                pixels = self.distortion.apply(pixels, self.augmentation_rng)
            scores = self.network.forward(samples_last(pixels, INPUT_SHAPE), training=True)
            self.tally.add(self.loss.forward(scores, targets), scores, labels)
            self.network.backward(self.loss.backward())
            self.optimizer.update(rate)
            if self.average is not None:
                self.average.add(self.step)
        self.step += 1
        self.samples += len(rows)
        self.train_seconds += time.perf_counter() - started

    def _report(self) -> Iterator[Event]:
        started = time.perf_counter()
        with self.device.activate():
            loss, accuracy = self.tally.read_and_reset()
        self.train_seconds += time.perf_counter() - started
        if not np.isfinite(loss):
            self.outcome = "diverged"
            return
        self.last_loss = loss
        yield StepsCompleted(self.step, self.samples, self._epoch_now(), loss, accuracy, self.train_seconds)

    def _epoch_now(self) -> float:
        return self.samples / len(self.train_set)

    def _evaluations(self) -> Iterator[Event]:
        """Measure the weights as they stand on what the run is watched by, and publish them."""
        weights = self._measured_network().export_weights()
        if not _all_finite(weights):
            self.outcome = "diverged"
            return
        measured = {split: self._measure(data) for split, data in self._watched().items()}
        if any(result is not None and not np.isfinite(result.loss) for result in measured.values()):
            self.outcome = "diverged"
            return
        self.finite_weights, self.published = weights, True
        yield WeightsPublished(self.step, weights)
        for split, result in measured.items():
            if result is not None:
                self._look_at_target(split, result.accuracy)
                self._look_at_best(split, result.accuracy, weights)
                yield self._evaluated(split, result)

    def _watched(self) -> dict[str, DeviceDataset]:
        """The sets the run is measured on as it goes: the test set only where nothing is held out, or as a target."""
        watched = {} if self.validation_set is None else {"validation": self.validation_set}
        if self.validation_set is None or self.job.until_accuracy is not None:
            watched["test"] = self.test_set
        return watched

    def _measure(self, data: DeviceDataset) -> Measured | None:
        return evaluate(self._measured_network(), self.loss, data, interrupted=self.control.should_stop)

    def _measured_network(self) -> Network:
        """The one whose weights are measured, published and kept: the average, where one is made."""
        if self.average is None:
            return self.network
        self.average.copy_state()
        return self.average.network

    def _look_at_target(self, split: str, accuracy: float) -> None:
        target = self.job.until_accuracy
        if split == "test" and target is not None and accuracy >= target:
            self.outcome = "target"
            self.seconds_to_target = self.train_seconds

    def _look_at_best(self, split: str, accuracy: float, weights: Weights) -> None:
        if split == "validation" and (self.best is None or accuracy > self.best[0]):
            self.best = (accuracy, self.step, weights)

    def _has_lost_patience(self) -> bool:
        patience = self.hyperparameters.patience
        if not patience or self.best is None:
            return False
        return self.step - self.best[1] >= patience * self.steps_per_epoch

    def _evaluated(self, split: str, measured: Measured) -> Evaluated:
        return Evaluated(
            self.step,
            self.samples,
            self._epoch_now(),
            split,
            measured.loss,
            measured.accuracy,
            self.train_seconds,
        )

    def _ended(self) -> TrainingEnded:
        network = self._measured_network()
        weights: Weights = network.export_weights()
        went_astray = self.outcome == "diverged" or not _all_finite(weights)
        if went_astray:
            weights = self.finite_weights
        elif self.hyperparameters.keep_best and self.best is not None:
            weights = self.best[2]
        with self.device.activate():
            network.load_weights(weights)
        validation = evaluate(network, self.loss, self.validation_set) if self.validation_set else None
        test = evaluate(network, self.loss, self.test_set)
        assert test is not None  # Nothing interrupts the last measurement.
        return TrainingEnded(
            outcome=self.outcome,
            epochs=self.step // self.steps_per_epoch,
            steps=self.step,
            samples=self.samples,
            train_seconds=self.train_seconds,
            train_loss=self.last_loss,
            validation_accuracy=validation.accuracy if validation else None,
            test_accuracy=test.accuracy,
            seconds_to_target=self.seconds_to_target,
            learned=self.published if went_astray else self.step > 0,
            weights=weights,
        )


def _all_finite(weights: Weights) -> bool:
    return all(np.isfinite(values).all() for values in weights.values())


class _Tally:
    """Loss and right answers since the last report, summed on the device: reading them is the only synchronisation."""

    def __init__(self, network: Network) -> None:
        self._xp = network.device.xp
        self._loss = self._xp.zeros((), np.float64)
        self._right = self._xp.zeros((), np.int64)
        self._now = self._xp.zeros((), np.int64)
        self._count = 0
        self._workspace = Workspace(network.device, network.dtype)

    def add(self, loss: Array, scores: Array, labels: Array) -> None:
        """Add a batch: its summed loss, its scores (classes, N) and labels (N,)."""
        xp, n = self._xp, len(labels)
        answers = self._workspace.array("answers", (n,), np.intp)
        right = self._workspace.array("right", (n,), np.bool_)
        xp.add(self._loss, loss, out=self._loss)
        xp.argmax(scores, axis=0, out=answers)
        xp.equal(answers, labels, out=right)
        xp.sum(right, out=self._now)
        xp.add(self._right, self._now, out=self._right)
        self._count += n

    def read_and_reset(self) -> tuple[float, float]:
        """Mean loss and accuracy (0..1) over the digits since the last call."""
        loss, accuracy = float(self._loss) / self._count, float(self._right) / self._count
        self._loss[...] = 0
        self._right[...] = 0
        self._count = 0
        return loss, accuracy


class _Average:
    """A network whose parameters are the running mean of another's. Polyak and Juditsky, 1992, weighted as in Adam.

    Each step, what is remembered counts `averaging`, and less at first, when there is little to remember.
    """

    def __init__(self, of: Network, preset: Preset, chosen: Hyperparameters) -> None:
        self._of = of
        self._kept = chosen.averaging
        self.network = _make_network(preset, chosen, of.device, of.dtype)
        self.network.parameters[...] = of.parameters

    def add(self, steps: int) -> None:
        """Take in the parameters after one more step, `steps` having gone before."""
        kept = min(self._kept, (1.0 + steps) / (10.0 + steps))
        mean = self.network.parameters
        mean *= kept
        self._of.device.add_scaled(self._of.parameters, 1.0 - kept, out=mean)

    def copy_state(self) -> None:
        """The layers' own running means are means already."""
        self.network.state[...] = self._of.state


def _make_network(preset: Preset, chosen: Hyperparameters, device: Device, dtype: DTypeLike) -> Network:
    network = Network(preset.build_layers(chosen.network), INPUT_SHAPE, device, dtype)
    network.seed_dropout(chosen.seed)
    return network
