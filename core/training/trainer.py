"""The loop: from a job to a trained network, as a generator of events.

It decides when to report, evaluate, publish weights and stop, all by counts, so that the same job tells the same story
each time. What runs between two events is the consumer's affair: nothing here waits for it, prints or draws.
"""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.device import Array, open_device
from core.digits.augmentation import BatchShift, Distortion
from core.digits.dataset import Dataset, DatasetError, Splits, minibatches, shuffled
from core.nn import schedules
from core.nn.network import Network
from core.nn.optimizers import SGD, Adam, Optimizer
from core.training.evaluation import DeviceDataset, Measured, evaluate
from core.training.events import (
    Evaluated,
    Event,
    StepsCompleted,
    TrainingEnded,
    TrainingStarted,
    Weights,
    WeightsPublished,
)
from core.training.hyperparameters import Hyperparameters
from core.training.presets import CLASSES, INPUT_SHAPE, find_preset
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


class _Run:
    def __init__(self, job: TrainingJob, splits: Splits, control: TrainingControl) -> None:
        self.job, self.control = job, control
        chosen = self.hyperparameters = job.hyperparameters
        preset = find_preset(job.preset)
        self.device = open_device(job.device_key)
        start_rng, self.shuffle_rng, self.augmentation_rng = np.random.default_rng(chosen.seed).spawn(3)
        with self.device.activate():
            dtype = np.dtype(chosen.precision)
            self.network = Network(preset.build_layers(chosen.hidden), INPUT_SHAPE, self.device, dtype)
            self.network.initialize(start_rng)
            self.loss = preset.loss(self.device, dtype)
            self.optimizer = _make_optimizer(chosen, self.network)
            self.augmentations = _make_augmentations(chosen, self.network)
            self.train_set = self._on_device(splits.train)
            self.test_set = self._on_device(splits.test)
            self.validation_set = self._on_device(splits.validation) if splits.validation else None
            self.tally = _Tally(self.network)
        self.steps_per_epoch = -(-len(splits.train) // chosen.batch_size)
        self.total_steps = self.steps_per_epoch * chosen.epochs
        self.schedule = {"constant": schedules.constant, "cosine": schedules.cosine}[chosen.schedule]
        self.step = self.samples = 0
        self.train_seconds = 0.0
        self.last_loss: float | None = None
        self.seconds_to_target: float | None = None
        self.outcome = "completed"
        self.finite_weights, self.published = self.network.export_weights(), False

    def _on_device(self, dataset: Dataset) -> DeviceDataset:
        return DeviceDataset(dataset, self.network, CLASSES)

    def events(self) -> Iterator[Event]:
        yield TrainingStarted(
            self.device.key,
            self.device.name,
            len(self.network.parameters),
            len(self.train_set),
            self.steps_per_epoch,
            self.total_steps,
        )
        for _ in range(self.hyperparameters.epochs):
            yield from self._epoch()
            if self.outcome != "completed":
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
            self._train_step(rows)
            epoch_ends = self.step % self.steps_per_epoch == 0
            evaluation_due = self.samples // evaluate_every > (self.samples - len(rows)) // evaluate_every
            if self.step % report_steps == 0 or evaluation_due or epoch_ends:
                yield from self._report()
            if (evaluation_due or epoch_ends) and self.outcome == "completed":
                yield from self._evaluations()
            if self.outcome != "completed":
                return

    def _train_step(self, rows: Array) -> None:
        started = time.perf_counter()
        rate = self.hyperparameters.learning_rate * self.schedule(self.step / self.total_steps)
        with self.device.activate():
            x, labels, targets = self.train_set.batch(rows)
            for augmentation in self.augmentations:
                x = augmentation.apply(x, self.augmentation_rng)
            scores = self.network.forward(x, training=True)
            self.tally.add(self.loss.forward(scores, targets), scores, labels)
            self.network.backward(self.loss.backward())
            self.optimizer.update(rate)
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
        weights = self.network.export_weights()
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
                yield self._evaluated(split, result)

    def _watched(self) -> dict[str, DeviceDataset]:
        """The sets the run is measured on as it goes: the test set only where nothing is held out, or as a target."""
        watched = {} if self.validation_set is None else {"validation": self.validation_set}
        if self.validation_set is None or self.job.until_accuracy is not None:
            watched["test"] = self.test_set
        return watched

    def _measure(self, data: DeviceDataset) -> Measured | None:
        return evaluate(self.network, self.loss, data, interrupted=self.control.should_stop)

    def _look_at_target(self, split: str, accuracy: float) -> None:
        target = self.job.until_accuracy
        if split == "test" and target is not None and accuracy >= target:
            self.outcome = "target"
            self.seconds_to_target = self.train_seconds

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
        weights = self.network.export_weights()
        went_astray = self.outcome == "diverged" or not _all_finite(weights)
        if went_astray:
            weights = self.finite_weights
            with self.device.activate():
                self.network.load_weights(weights)
        validation = evaluate(self.network, self.loss, self.validation_set) if self.validation_set else None
        test = evaluate(self.network, self.loss, self.test_set)
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
        """Add a batch: its summed loss, its scores (N, classes) and labels (N,)."""
        xp, n = self._xp, len(labels)
        answers = self._workspace.array("answers", (n,), np.intp)
        right = self._workspace.array("right", (n,), np.bool_)
        xp.add(self._loss, loss, out=self._loss)
        xp.argmax(scores, axis=1, out=answers)
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


def _make_optimizer(chosen: Hyperparameters, network: Network) -> Optimizer:
    arrays = network.parameters, network.gradients, network.device
    if chosen.optimizer == "adam":
        return Adam(*arrays)
    return SGD(*arrays, momentum=chosen.momentum)


def _make_augmentations(chosen: Hyperparameters, network: Network) -> list[BatchShift | Distortion]:
    augmentations: list[BatchShift | Distortion] = []
    if chosen.augment:
        augmentations.append(Distortion(network.device, network.dtype, chosen.augment))
    if chosen.shift_px:
        augmentations.append(BatchShift(network.device, network.dtype, chosen.shift_px))
    return augmentations
