"""One network being trained: its data, its augmentation, its optimizer, and the step that joins them.

It is a room of its own because more than the loop takes such steps: the search for a learning rate and the profile take
the very same. Which batch comes next, at which rate, and when to look is up to whoever asks.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

import numpy as np

from core.device import Array, Device, DTypeLike, HostArray
from core.device_list import open_device
from core.digits.augmentation import BatchShift, Distortion
from core.digits.dataset import OUTLIER, Dataset, DatasetError, minibatches, shuffled
from core.digits.mixture import with_synthetic_ink
from core.nn.layers.dropout import Dropout
from core.nn.network import Network
from core.nn.optimizers import OPTIMIZERS, CarriedMomentum
from core.training.checkpoint import LearnerState, Weights, is_count
from core.training.contention import Contention
from core.training.evaluation import DeviceDataset, samples_last
from core.training.hyperparameters import CLASSES, INPUT_SHAPE, Hyperparameters
from core.training.presets import Preset, find_preset
from core.training.tally import Tally
from core.workspace import Workspace


class Learner:
    """A network of `preset` and `chosen` with fresh weights on the device called `device_key`, about to learn `digits`.

    Raises DatasetError if a batch is larger than `digits`, UnknownPresetError for a preset that does not exist,
    DeviceError if the device cannot compute.
    """

    def __init__(self, preset: str, chosen: Hyperparameters, device_key: str, digits: Dataset) -> None:
        _check_batch_size(chosen, digits)
        if chosen.synthetic:
            digits = with_synthetic_ink(digits, chosen.synthetic, chosen.seed)
        self.preset, self.hyperparameters = find_preset(preset), chosen
        self.device = open_device(device_key, tf32=chosen.precision == "tf32")
        start_rng, self._shuffle_rng, self._augmentation_rng = np.random.default_rng(chosen.seed).spawn(3)
        with self.device.activate():
            dtype = chosen.dtype
            self.network = _make_network(self.preset, chosen, self.device, dtype)
            self.network.initialize(start_rng)
            # Zeros are only promised until they are written, which would delay the first step.
            self.network.gradients[...] = 0
            self.loss = self.preset.loss(self.device, dtype)
            self._carries = chosen.optimizer == "momentum" and not chosen.clip_norm
            rule = CarriedMomentum if self._carries else OPTIMIZERS[chosen.optimizer]
            self.optimizer = rule(self.network.parameters, self.network.gradients, self.device)
            self.average = _Average(self.network, self.preset, chosen) if chosen.averaging else None
            self.distortion = Distortion(self.device, dtype, chosen.augment)
            self.shift = BatchShift(chosen.shift_px)
            self.data = DeviceDataset(digits, self.device, dtype, CLASSES, chosen.label_smoothing)
            self._tally = Tally(self.device, dtype)
            self._workspace = Workspace(self.device, np.intp)
        self._pixels: Array | None = None
        is_outlier = digits.labels == OUTLIER
        self._is_outlier = is_outlier if is_outlier.any() else None
        self.records = True
        """Whether steps are recorded, where the device can; if not, every step asks each part anew."""
        self._pass_began = self._shuffle_rng.bit_generator.state
        self._taken = 0
        # A layer that divides its work itself has no threads waiting busily for each other.
        may_be_alone = not self.network.divides and self.device.may_be_alone
        self._contention = Contention(self.device) if may_be_alone else None
        self._recorded: dict[tuple[int, tuple[int, int]], Callable[[], None]] = {}
        self.apply(chosen)

    def apply(self, chosen: Hyperparameters) -> None:
        """Take over from `chosen` what may change during a run, but for how long it is and its learning rate."""
        self.hyperparameters = chosen
        self.optimizer.momentum = chosen.momentum
        with self.device.activate():
            self.network.carry(chosen.momentum if self._carries else 0.0)
        self.optimizer.weight_decay = chosen.weight_decay
        self.optimizer.clip_norm = chosen.clip_norm
        self.shift.max_shift_px = chosen.shift_px
        for mine, wanted in zip(self.network.layers, self.preset.build_layers(chosen.network), strict=True):
            if isinstance(mine, Dropout) and isinstance(wanted, Dropout):
                mine.rate = wanted.rate
        self._recorded.clear()

    def begin_with(self, weights: Weights) -> None:
        """Learn on from `weights` in place of fresh ones; raises ValueError if they are of another network."""
        with self.device.activate():
            self.network.load_weights(weights)
            if self.average is not None:
                self.average.network.parameters[...] = self.network.parameters

    def batches(self, skip: int = 0) -> Iterator[HostArray]:
        """One pass over the digits in a new random order: their rows, a batch at a time, the last what is left.

        `skip`: how many batches of this pass have been learned from already.
        """
        self._pass_began, self._taken = self._shuffle_rng.bit_generator.state, skip
        order = shuffled(len(self.data), self._shuffle_rng)
        yield from islice(minibatches(order, self.hyperparameters.batch_size), skip, None)

    def full_batches(self) -> Iterator[HostArray]:
        """Pass after pass without end, each without a smaller batch at its end: no two steps differ in size."""
        while True:
            yield from (rows for rows in self.batches() if len(rows) == self.hyperparameters.batch_size)

    def step(self, rows: HostArray, learning_rate: float, distortion_share: float = 1.0) -> None:
        """Learn from the digits at `rows` (index type): forward, back, and one update with `learning_rate`.

        They are distorted `distortion_share` (0 to 1) times as much as was chosen.

        All that differs from step to step is drawn and sent first. What then remains to be computed is the same each
        time, and a device that can record it is asked only once for each size of batch and each shift of it.
        """
        started = time.perf_counter()
        with self.device.activate(), self.device.dividing(self.network.divides):
            self._prepare(rows, learning_rate, distortion_share)
            on_device = self._workspace.array("rows", rows.shape)
            if self.records:
                kind = len(rows), self.shift.offset
                if kind not in self._recorded:
                    self._recorded[kind] = self.device.record(lambda: self._compute(on_device))
                self._recorded[kind]()
            else:
                self._compute(on_device)
        if self._contention is not None and len(rows) == self.hyperparameters.batch_size:
            self._contention.note(time.perf_counter() - started)

    def _prepare(self, rows: HostArray, learning_rate: float, distortion_share: float) -> None:
        count = len(rows)
        self.device.upload(rows, out=self._workspace.array("rows", rows.shape))
        if self.hyperparameters.shift_px:
            self.shift.draw(self._augmentation_rng)
        if self.hyperparameters.augment:
            self.distortion.strength = self.hyperparameters.augment * distortion_share
            self.distortion.draw(count, self._augmentation_rng)
        self.network.draw(count)
        self.optimizer.prepare(learning_rate)
        if self.average is not None:
            self.average.prepare()
        self._tally.count += count
        if self._is_outlier is not None:
            self._tally.outliers += int(np.count_nonzero(self._is_outlier[rows]))
        self._taken += 1

    def _compute(self, rows: Array) -> None:
        chosen = self.hyperparameters
        pictures, labels, targets = self.data.batch(rows, self.shift.pixels if chosen.shift_px else 0)
        if chosen.shift_px:
            self.shift.clear(pictures)
        pixels = self.data.pixels(pictures)
        if chosen.augment:
            pixels = self.distortion.apply(pixels)
        if pixels is not self._pixels:
            self._pixels, self._x = pixels, samples_last(pixels, INPUT_SHAPE)
        scores = self.network.forward(self._x, training=True)
        self._tally.add(self.loss.forward(scores, targets), scores, labels)
        self.network.backward(self.loss.backward())
        self.optimizer.update()
        if self.average is not None:
            self.average.add()

    def state(self) -> LearnerState:
        """What `restore` wants to go on from here; between the batches of a pass, from the pass's start on."""
        with self.device.activate():
            arrays = {name: self.device.to_host(array) for name, array in self._state_arrays().items()}
        pass_goes_on = self._taken < -(-len(self.data) // self.hyperparameters.batch_size)
        shuffle = self._pass_began if pass_goes_on else self._shuffle_rng.bit_generator.state
        generators = [shuffle, *(rng.bit_generator.state for rng in self._generators())]
        counters = {
            "optimizer_steps": self.optimizer.steps,
            "average_steps": 0 if self.average is None else self.average.steps,
            "digits_since_report": self._tally.count,
            "outliers_since_report": self._tally.outliers,
            "generators": generators,
        }
        return LearnerState(arrays, counters)

    def restore(self, state: LearnerState) -> None:
        """Go on from `state`, that of a learner with the same job and digits.

        Raises ValueError if it is of another, KeyError or TypeError if it is none; this learner is of no use then.
        """
        mine = self._state_arrays()
        if _kinds(mine) != _kinds(state.arrays):
            raise ValueError("the state is that of another network or optimizer")
        names = ("optimizer_steps", "average_steps", "digits_since_report", "outliers_since_report")
        counters = [state.counters[name] for name in names]
        if not all(map(is_count, counters)) or counters[3] > counters[2]:
            raise ValueError("the state counts what cannot be counted")
        generators = (self._shuffle_rng, *self._generators())
        for rng, told in zip(generators, state.counters["generators"], strict=True):
            rng.bit_generator.state = told
        self._pass_began = self._shuffle_rng.bit_generator.state
        with self.device.activate():
            for name, array in mine.items():
                array[...] = self.device.to_device(state.arrays[name])
        self.optimizer.steps, average_steps, self._tally.count, self._tally.outliers = counters
        if self.average is not None:
            self.average.steps = average_steps

    def _state_arrays(self) -> dict[str, Array]:
        arrays = {"parameters": self.network.parameters, "state": self.network.state, **self._tally.sums()}
        arrays |= {f"optimizer{i}": array for i, array in enumerate(self.optimizer.memory)}
        if self.average is not None:
            arrays["average"] = self.average.network.parameters
        return arrays

    def _generators(self) -> list[np.random.Generator]:
        return [self._augmentation_rng, *self.network.dropout_generators()]

    def read_and_reset(self) -> tuple[float, float]:
        """Mean loss over the pictures of the steps since the last call, at least one, and accuracy (0..1) on digits."""
        with self.device.activate():
            return self._tally.read_and_reset()

    def release(self) -> None:
        """Let go of what was recorded, which holds on to everything else: the device's memory is free once this is."""
        self._recorded.clear()

    def measured_network(self) -> Network:
        """The one whose weights are measured, published and kept: the average, where one is made."""
        if self.average is None:
            return self.network
        with self.device.activate():
            self.average.copy_state()
        return self.average.network


def _kinds(arrays: Mapping[str, Array]) -> dict[str, tuple[tuple[int, ...], DTypeLike]]:
    return {name: (array.shape, array.dtype) for name, array in arrays.items()}


def _check_batch_size(chosen: Hyperparameters, digits: Dataset) -> None:
    """Raises DatasetError if a batch is larger than the set it is to be drawn from."""
    if chosen.batch_size > len(digits):
        raise DatasetError(
            f"the batch size is {chosen.batch_size} but there are only {len(digits)} training digits; "
            "choose a smaller batch"
        )


class _Average:
    """A network whose parameters are the running mean of another's. Polyak and Juditsky, 1992, fading.

    Each step, what is remembered counts `averaging`, and less at first, when there is little to remember.
    """

    def __init__(self, of: Network, preset: Preset, chosen: Hyperparameters) -> None:
        self._of = of
        self._kept = chosen.averaging
        self.steps = 0
        self._now = of.device.scalars(2, of.dtype)
        self.network = _make_network(preset, chosen, of.device, of.dtype)
        self.network.parameters[...] = of.parameters

    def prepare(self) -> None:
        """Let the next `add` weigh what is remembered as is right for this step."""
        kept = min(self._kept, (1.0 + self.steps) / (10.0 + self.steps))
        self.steps += 1
        self._now.set(kept, 1.0 - kept)

    def add(self) -> None:
        """Take in the parameters after one more step."""
        mean = self.network.parameters
        self._of.device.scale(self._now[0], out=mean)
        self._of.device.add_scaled(self._of.parameters, self._now[1], out=mean)

    def copy_state(self) -> None:
        """The layers' own running means are means already."""
        self.network.state[...] = self._of.state


def _make_network(preset: Preset, chosen: Hyperparameters, device: Device, dtype: DTypeLike) -> Network:
    network = Network(preset.build_layers(chosen.network), INPUT_SHAPE, device, dtype)
    network.seed_dropout(chosen.seed)
    return network
