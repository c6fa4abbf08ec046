"""The loop: from a job to a trained network, as a generator of events.

It decides when to report, evaluate, publish weights and stop, all by counts, so that the same job tells the same story
each time. What runs between two events is the consumer's affair: nothing here waits for it, prints or draws.
"""

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from core.device import Device, DeviceError, HostArray
from core.digits.dataset import Splits
from core.nn.network import Network
from core.nn.schedules import SCHEDULES, faded, warmed_up
from core.training.checkpoint import Checkpoint, CheckpointError, Progress, all_finite
from core.training.evaluation import DeviceDataset, Measured, evaluate
from core.training.events import (
    Checkpointed,
    Evaluated,
    Event,
    HyperparametersChanged,
    StepsCompleted,
    TrainingEnded,
    TrainingStarted,
    Weights,
    WeightsPublished,
)
from core.training.hyperparameters import CHANGEABLE, INPUT_SHAPE, Hyperparameters
from core.training.job import TrainingControl, TrainingJob, check_change, check_fits, check_start
from core.training.learner import Learner
from core.training.measured_sets import MeasuredSets
from core.training.presets import find_preset
from core.training.reporting import is_report_due


def train(
    job: TrainingJob, splits: Splits, control: TrainingControl | None = None, since: Checkpoint | None = None
) -> Iterator[Event]:
    """Run `job` on `splits`; the last event is a TrainingEnded with the weights to keep, even if the device fails.

    With `since`, a checkpoint of the same job, it goes on from there: on the CPU, all that follows is bit for bit what
    it would have been without the break.

    Raises DeviceError if the device cannot compute, DatasetError if the batch is larger than the training set,
    UnknownPresetError for a preset that does not exist, HyperparameterError if the weights to begin with are those of
    another network, CheckpointError for a checkpoint of another job; nothing has been done then.
    """
    run = _Run(job, splits, control or TrainingControl())
    if since is not None:
        run.restore(since)
    return run.events()


class _Run:
    def __init__(self, job: TrainingJob, splits: Splits, control: TrainingControl) -> None:
        self.job, self.splits, self.control = job, splits, control
        chosen = job.hyperparameters
        check_start(job)
        self.learner = Learner(job.preset, chosen, job.device_key, splits.train)
        self.device, self.network = self.learner.device, self.learner.network
        if job.start is not None:
            self.learner.begin_with({name: np.asarray(w, np.float32) for name, w in job.start.items()})
        self.sets = MeasuredSets(splits, self.device, self.network.dtype)
        self.steps_per_epoch = -(-len(self.learner.data) // chosen.batch_size)
        self.step = self.samples = self.reported_samples = 0
        self.train_seconds, self.outcome = 0.0, "completed"
        self.last_loss: float | None = None
        self.seconds_to_target: float | None = None
        self.finite_weights: Weights = self.network.export_weights()
        self.published = self.evaluation_due = False
        self.best: tuple[float, int, Weights] | None = None
        self.before: dict[str, float] = {}
        self._apply(chosen)

    def _apply(self, chosen: Hyperparameters) -> None:
        """Take over what may change during a run."""
        self.hyperparameters = chosen
        # Never less than to the end of the epoch that is going on: a run ends with a whole one, and its schedule too.
        self.total_steps = self.steps_per_epoch * max(chosen.epochs, self.step // self.steps_per_epoch + 1)
        self.learner.apply(chosen)

    def events(self) -> Iterator[Event]:
        try:
            yield from self._training()
        except DeviceError as error:
            yield self._failed(str(error))
        finally:
            self.learner.release()

    def _training(self) -> Iterator[Event]:
        device, parameters, digits = self.device, len(self.network.parameters), len(self.learner.data)
        yield TrainingStarted(device.key, device.name, parameters, digits, self.steps_per_epoch, self.total_steps)
        if self.job.start is not None and self.step == 0:
            self._measure_start()
        if self.evaluation_due:
            self.evaluation_due = False
            yield from self._evaluations()
        while self.step < self.total_steps and self.outcome == "completed" and not self._has_lost_patience():
            yield from self._epoch()
        if self.control.checkpoint_at_end and self.outcome in ("completed", "stopped"):
            yield self._checkpointed()
        yield self._ended()

    def _measure_start(self) -> None:
        """Note what the network it was given is worth; told to stop in the midst of it, it will be done again."""
        measured = {split: self._measure(data) for split, data in self.sets.kept_apart().items()}
        self.before = {split: result.accuracy for split, result in measured.items() if result is not None}

    def _epoch(self) -> Iterator[Event]:
        """One pass over the training digits; leaves early, with another outcome, when the run is to end."""
        evaluate_every = self.hyperparameters.evaluate_every
        for rows in self.learner.batches(skip=self.step % self.steps_per_epoch):
            if self.control.should_stop():
                self.outcome = "stopped"
                return
            yield from self._take_change()
            self._train_step(rows)
            passed = self.samples // evaluate_every > (self.samples - len(rows)) // evaluate_every
            evaluation_due = passed or self.step % self.steps_per_epoch == 0
            if self._is_report_due(evaluation_due):
                yield from self._report()
            if evaluation_due and self.outcome == "completed":
                yield from self._evaluations()
            if self.outcome == "target" and self.reported_samples < self.samples:
                yield from self._report()
            if self.outcome != "completed":
                return
            if self.control.take_checkpoint_wish():
                yield self._checkpointed()

    def _checkpointed(self) -> Checkpointed:
        begun = time.thread_time()
        progress = Progress(
            self.step,
            self.total_steps,
            self.samples,
            self.train_seconds,
            self.last_loss,
            self.published,
            None if self.best is None else self.best[:2],
            self.evaluation_due,
            self.before,
            self.splits.mine_digest,
        )
        best = {} if self.best is None else self.best[2]
        checkpoint = Checkpoint(self.hyperparameters, progress, self.learner.state(), self.finite_weights, best)
        return Checkpointed(checkpoint, time.thread_time() - begun)

    def restore(self, since: Checkpoint) -> None:
        """Go on from `since`; raises CheckpointError if it is of another job."""
        progress = since.progress
        try:
            check_change(self.job.preset, self.hyperparameters, since.hyperparameters)
            check_fits(since, self.finite_weights, len(self.learner.data), self.splits.mine_digest)
            self.learner.restore(since.learner)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
            reason = str(error)[:200]
            raise CheckpointError(f"the checkpoint does not belong to this run ({reason}); start it anew") from None
        self.step, self.samples = progress.step, progress.samples
        self.reported_samples = self.samples - since.learner.counters["digits_since_report"]
        self.train_seconds, self.last_loss = progress.train_seconds, progress.train_loss
        self.published, self.finite_weights = progress.published, since.published
        self.best = None if progress.best is None else (*progress.best, since.best)
        self.evaluation_due, self.before = progress.evaluation_due, dict(progress.before)
        self._apply(since.hyperparameters)
        self.total_steps = progress.total_steps

    def _take_change(self) -> Iterator[Event]:
        wanted, before = self.control.take_change(), self.hyperparameters
        if wanted is None or wanted == before:
            return
        check_change(self.job.preset, before, wanted)
        self._apply(wanted)
        changes = {name: getattr(wanted, name) for name in CHANGEABLE if getattr(before, name) != getattr(wanted, name)}
        yield HyperparametersChanged(
            self.step, self.samples, self._epoch_now(), self.train_seconds, changes, wanted, self.total_steps
        )

    def _train_step(self, rows: HostArray) -> None:
        started = time.perf_counter()
        chosen, done = self.hyperparameters, self.step / self.total_steps
        rate = chosen.learning_rate * SCHEDULES[chosen.schedule](done) * warmed_up(done, chosen.warmup)
        self.learner.step(rows, rate, faded(done, chosen.augment_fade))
        self.step += 1
        self.samples += len(rows)
        self.train_seconds += time.perf_counter() - started

    def _is_report_due(self, evaluation_due: bool) -> bool:
        batch_size, steps = self.hyperparameters.batch_size, self.step % self.steps_per_epoch
        gathered, left = self.samples - self.reported_samples, -self.samples % len(self.learner.data)
        return is_report_due(batch_size, steps, gathered, left, evaluation_due)

    def _wait_for_steps(self) -> None:
        started = time.perf_counter()
        self.device.synchronize()  # What it is still at is training's time, and not the evaluation's.
        self.train_seconds += time.perf_counter() - started

    def _report(self) -> Iterator[Event]:
        started = time.perf_counter()
        loss, accuracy = self.learner.read_and_reset()
        self.train_seconds += time.perf_counter() - started
        if not np.isfinite(loss):
            self.outcome = "diverged"
            return
        self.last_loss, self.reported_samples = loss, self.samples
        yield StepsCompleted(self.step, self.samples, self._epoch_now(), loss, accuracy, self.train_seconds)

    def _epoch_now(self) -> float:
        return self.samples / len(self.learner.data)

    def _evaluations(self) -> Iterator[Event]:
        """Measure the weights as they stand on what the run is watched by, and publish them."""
        if self.reported_samples < self.samples:
            self._wait_for_steps()
        weights = self.learner.measured_network().export_weights()
        if not all_finite(weights):
            self.outcome = "diverged"
            return
        watched = self.sets.watched(has_target=self.job.until_accuracy is not None)
        measured = {split: self._measure(data) for split, data in watched.items()}
        if any(result is not None and not np.isfinite(result.loss) for result in measured.values()):
            self.outcome = "diverged"
            return
        self.finite_weights, self.published = weights, True
        yield WeightsPublished(self.step, weights)
        if None in measured.values():  # Told to stop: all of it is done again if the run goes on.
            self.outcome, self.evaluation_due = "stopped", True
            return
        for split, result in measured.items():
            assert result is not None
            self._look_at_target(split, result.accuracy)
            self._look_at_best(split, result.accuracy, weights)
            loss, accuracy = result.loss, result.accuracy
            yield Evaluated(self.step, self.samples, self._epoch_now(), split, loss, accuracy, self.train_seconds)

    def _measure(self, data: DeviceDataset) -> Measured | None:
        return evaluate(self.learner.measured_network(), self.learner.loss, data, interrupted=self.control.should_stop)

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
        if not patience or self.best is None or self.step % self.steps_per_epoch:
            return False
        return self.step - self.best[1] >= patience * self.steps_per_epoch

    def _ended(self) -> TrainingEnded:
        network = self.learner.measured_network()
        weights: Weights = network.export_weights()
        went_astray = self.outcome == "diverged" or not all_finite(weights)
        # A target that was reached was reached by the last weights.
        if self.hyperparameters.keep_best and self.best is not None and self.outcome != "target":
            weights = self.best[2]
        elif went_astray:
            weights = self.finite_weights
        learned = self.published if went_astray else self.step > 0
        with self.device.activate():
            network.load_weights(weights)
        return self._end(network, weights, self.sets, learned)

    def _failed(self, reason: str) -> TrainingEnded:
        """The end of a run whose device cannot go on: measured on the CPU, since the device may not even answer."""
        self.outcome = "failed"
        weights = self.best[2] if self.hyperparameters.keep_best and self.best is not None else self.finite_weights
        cpu = Device()
        network = Network(find_preset(self.job.preset).build_layers(self.hyperparameters.network), INPUT_SHAPE, cpu)
        network.load_weights(weights)
        sets = MeasuredSets(self.splits, cpu, network.dtype)
        return replace(self._end(network, weights, sets, self.published), reason=reason)

    def _end(self, network: Network, weights: Weights, sets: MeasuredSets, learned: bool) -> TrainingEnded:
        """The last event; `network` holds `weights` and lives on the device of `sets`."""
        accuracies = sets.accuracies(network, self.learner.preset.loss(network.device, network.dtype))
        return TrainingEnded(
            outcome=self.outcome,
            epochs=self.step // self.steps_per_epoch,
            steps=self.step,
            samples=self.samples,
            train_seconds=self.train_seconds,
            train_loss=self.last_loss,
            validation_accuracy=accuracies.get("validation"),
            test_accuracy=accuracies["test"],
            seconds_to_target=self.seconds_to_target,
            learned=learned,
            weights=weights,
            mine_accuracy=accuracies.get("mine"),
            test_accuracy_before=self.before.get("test"),
            mine_accuracy_before=self.before.get("mine"),
        )
