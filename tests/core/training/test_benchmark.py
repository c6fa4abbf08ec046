"""The benchmark: real epochs on few digits, and a clock of the test's own where seconds matter."""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from core.device import Device, DeviceError
from core.digits.dataset import Dataset, DatasetError, DigitSets
from core.training import benchmark as module
from core.training.benchmark import (
    PRESETS,
    BenchmarkEnded,
    BenchmarkEvent,
    BenchmarkJob,
    BenchmarkProgress,
    BenchmarkStarted,
    WidthFailed,
    WidthMeasured,
    benchmark,
    flops_per_digit,
    measure_peak,
    read_widths,
    warm_up,
)
from core.training.hyperparameters import HyperparameterError
from core.training.job import TrainingControl
from core.training.learner import Learner
from core.training.presets import PRESETS as ALL_PRESETS
from core.training.presets import UnknownPresetError
from tests.core.training.runs import StopsItself

PEAK = 1e12


@pytest.fixture
def digits(few_digits: DigitSets) -> Dataset:
    return few_digits.train


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The peak is measured in tests of its own."""
    monkeypatch.setattr(module, "measure_peak", lambda device: PEAK)
    monkeypatch.setattr(module, "WARM_UP_STEPS", 2)


@pytest.fixture
def two_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU under two names."""

    def open_device(key: str, **_: object) -> Device:
        device = Device()
        device.key, device.name = key, f"the {key}"
        return device

    monkeypatch.setattr("core.training.learner.open_device", open_device)


class Clock:
    """Stands still unless told."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def measured(events: list[BenchmarkEvent]) -> list[WidthMeasured]:
    return [event for event in events if isinstance(event, WidthMeasured)]


@pytest.mark.usefixtures("two_devices")
def test_widths_come_small_to_large_and_every_device_has_its_turn_at_each(digits: Dataset) -> None:
    events = list(benchmark(BenchmarkJob("quick-mlp", (16, 4), ("cpu", "cuda:0")), digits))
    assert events[0] == BenchmarkStarted((4, 16), ("cpu", "cuda:0"), 1200)
    assert events[-1] == BenchmarkEnded("completed")
    wanted = [(4, "cpu"), (4, "cuda:0"), (16, "cpu"), (16, "cuda:0")]
    assert [(event.hidden, event.device_key) for event in measured(events)] == wanted
    assert {event.device_name for event in measured(events)} == {"the cpu", "the cuda:0"}


def test_an_epoch_is_every_digit_once_with_the_width_asked_for(
    digits: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[np.ndarray] = []
    networks = []
    step = Learner.step

    def noted(self: Learner, batch: np.ndarray, learning_rate: float) -> None:
        rows.append(np.array(batch))
        networks.append(self.hyperparameters.network)
        step(self, batch, learning_rate)

    monkeypatch.setattr(Learner, "step", noted)
    list(benchmark(BenchmarkJob("pycuda-seed", (5,), ("cpu",)), digits))
    assert [len(batch) for batch in rows] == [100] * (2 + 12)
    assert sorted(np.concatenate(rows[2:])) == list(range(1200))
    assert set(networks) == {"linear 5 nobias relu, linear 10 nobias straight-relu"}


def test_seconds_are_those_of_the_epoch_s_steps_and_of_nothing_else(
    digits: Dataset, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def takes_a_second(self: Learner, rows: object, learning_rate: float) -> None:
        clock.now += 1.0

    monkeypatch.setattr(Learner, "step", takes_a_second)
    events = []
    for event in benchmark(BenchmarkJob("quick-mlp", (8,), ("cpu",)), digits):
        events.append(event)
        clock.now += 1000.0
    (result,) = measured(events)
    assert result.seconds == 12.0
    assert result.digits_per_second == 100.0
    # Two operations a weight: forward and dW, and dx for the second layer.
    flops = 100 * 2 * (2 * 784 * 8 + 3 * 8 * 10)
    assert result.flops_per_second == pytest.approx(flops)
    assert result.share_of_peak == pytest.approx(flops / PEAK)


def test_what_a_device_has_not_yet_computed_counts_too(
    digits: Dataset, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late(Device):
        """Does in a second each what it was asked for, once it is waited for."""

        asked = 0

        def synchronize(self) -> None:
            clock.now += self.asked
            self.asked = 0

    late = Late()
    monkeypatch.setattr("core.training.learner.open_device", lambda key, **_: late)
    monkeypatch.setattr(Learner, "step", lambda self, rows, rate: setattr(late, "asked", late.asked + 1))
    (result,) = measured(list(benchmark(BenchmarkJob("quick-mlp", (8,), ("cpu",)), digits)))
    assert result.seconds == 12.0


@pytest.mark.usefixtures("two_devices")
def test_progress_moves_within_an_epoch_and_counts_a_wide_one_for_more(digits: Dataset) -> None:
    events = list(benchmark(BenchmarkJob("quick-mlp", (10, 30), ("cpu", "cuda:0")), digits))
    progress = [event for event in events if isinstance(event, BenchmarkProgress)]
    done = [event.done for event in progress]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0.0, pytest.approx(1.0))
    first = [event.done for event in progress if (event.hidden, event.device_key) == (10, "cpu")]
    assert first == pytest.approx([10 / 80 * step / 12 for step in range(13)])


def test_a_device_that_cannot_be_opened_is_told_of_at_each_width_and_the_rest_goes_on(
    digits: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_device(key: str, **_: object) -> Device:
        if key != "cpu":
            raise DeviceError("cuda:0 cannot be used: it is broken.")
        return Device()

    monkeypatch.setattr("core.training.learner.open_device", open_device)
    events = list(benchmark(BenchmarkJob("quick-mlp", (8, 16), ("cuda:0", "cpu")), digits))
    failed = [event for event in events if isinstance(event, WidthFailed)]
    assert failed == [WidthFailed("cuda:0", hidden, "cuda:0 cannot be used: it is broken.") for hidden in (8, 16)]
    assert [(event.device_key, event.hidden) for event in measured(events)] == [("cpu", 8), ("cpu", 16)]
    assert events[-1] == BenchmarkEnded("completed")


def test_a_width_that_the_memory_does_not_hold_fails_alone(digits: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    step = Learner.step

    def fails_when_wide(self: Learner, rows: np.ndarray, learning_rate: float) -> None:
        step(self, rows, learning_rate)
        if "linear 16 " in self.hyperparameters.network:
            with self.device.activate():
                raise MemoryError

    monkeypatch.setattr(Learner, "step", fails_when_wide)
    events = list(benchmark(BenchmarkJob("quick-mlp", (8, 16, 32), ("cpu",)), digits))
    (failed,) = [event for event in events if isinstance(event, WidthFailed)]
    assert failed.hidden == 16
    assert "memory is full" in failed.reason
    assert [event.hidden for event in measured(events)] == [8, 32]


def test_each_learner_is_let_go_of_however_its_epoch_ends(digits: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    released = []
    monkeypatch.setattr(Learner, "release", lambda self: released.append(self.hyperparameters.network))
    list(benchmark(BenchmarkJob("quick-mlp", (8,), ("cpu",)), digits))
    list(benchmark(BenchmarkJob("quick-mlp", (4,), ("cpu",)), digits, StopsItself(5)))
    assert released == ["linear 8 relu, linear 10", "linear 4 relu, linear 10"]


def test_a_mistake_of_the_program_is_no_failure_of_a_device(digits: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Learner, "step", lambda self, rows: None)
    with pytest.raises(TypeError):
        list(benchmark(BenchmarkJob("quick-mlp", (8,), ("cpu",)), digits))


@pytest.mark.parametrize("asked", [1, 2, 5, 14])
def test_it_stops_at_the_next_step_and_reports_no_part_of_an_epoch(digits: Dataset, asked: int) -> None:
    events = list(benchmark(BenchmarkJob("quick-mlp", (8, 16), ("cpu",)), digits, StopsItself(asked)))
    assert events[-1] == BenchmarkEnded("stopped")
    assert measured(events) == []


def test_what_was_measured_before_it_was_stopped_is_told(digits: Dataset) -> None:
    control = TrainingControl()
    events = []
    for event in benchmark(BenchmarkJob("quick-mlp", (4, 8), ("cpu",)), digits, control):
        events.append(event)
        if isinstance(event, WidthMeasured):
            control.stop()
    assert [event.hidden for event in measured(events)] == [4]
    assert events[-1] == BenchmarkEnded("stopped")


def test_too_few_digits_for_a_batch_are_refused(digits: Dataset) -> None:
    with pytest.raises(DatasetError, match="smaller batch"):
        list(benchmark(BenchmarkJob("quick-mlp", (4,), ("cpu",)), digits.part(0, 50)))


@pytest.mark.parametrize(("lasts", "steps"), [(0.001, 60), (0.3, 5), (10.0, 5), (0.1, 11)])
def test_a_warm_up_is_many_short_steps_or_few_long_ones(
    digits: Dataset, clock: Clock, monkeypatch: pytest.MonkeyPatch, lasts: float, steps: int
) -> None:
    monkeypatch.setattr(module, "WARM_UP_STEPS", 60)
    taken = []

    def step(self: Learner, rows: object, learning_rate: float) -> None:
        taken.append(rows)
        clock.now += lasts

    monkeypatch.setattr(Learner, "step", step)
    job = BenchmarkJob("quick-mlp", (8,), ("cpu",))
    warm_up(Learner("quick-mlp", job.hyperparameters(8), "cpu", digits), TrainingControl())
    assert len(taken) == steps


def test_operations_are_those_of_products_with_a_weight() -> None:
    learner_of = BenchmarkJob("pycuda-seed", (64,), ("cpu",)).hyperparameters(64)
    assert learner_of.network.startswith("linear 64 ")
    images, labels = np.zeros((100, 28, 28), np.uint8), np.zeros(100, np.uint8)
    network = Learner("pycuda-seed", learner_of, "cpu", Dataset(images, labels)).network
    # y = W x: rows x columns multiplications and as many additions. The pixels' gradient is not asked for.
    forward = 2 * 784 * 64 + 2 * 64 * 10
    weights, inputs = forward, 2 * 64 * 10
    assert flops_per_digit(network) == forward + weights + inputs


def test_the_peak_is_that_of_the_first_product_that_takes_long_or_a_better_one_before(clock: Clock) -> None:
    lasts = {1024: 0.001, 2048: 0.004, 4096: 0.05}
    disturbed = {(2048, 3): 9.0}
    calls: list[int] = []

    class Xp(SimpleNamespace):
        float32 = np.float32

        def ones(self, shape: tuple[int, int], dtype: type) -> SimpleNamespace:
            assert (shape[0], dtype) == (shape[1], np.float32)
            return SimpleNamespace(size=shape[0])

        def empty_like(self, matrix: SimpleNamespace) -> SimpleNamespace:
            return matrix

        def matmul(self, a: SimpleNamespace, b: SimpleNamespace, out: SimpleNamespace) -> None:
            calls.append(a.size)
            clock.now += disturbed.get((a.size, calls.count(a.size)), lasts[a.size])

    device = Device()
    device.xp = Xp()  # type: ignore[assignment]
    assert measure_peak(device) == pytest.approx(2 * 2048**3 / 0.004)
    assert set(calls) == {1024, 2048, 4096}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_job_changes_the_hidden_units_alone_and_holds_nothing_out(preset: str) -> None:
    own = ALL_PRESETS[preset].hyperparameters
    chosen = BenchmarkJob(preset, (77,), ("cpu",)).hyperparameters(77)
    assert chosen.network.split()[2:] == own.network.split()[2:]
    assert chosen.network.split()[:2] == ["linear", "77"]
    assert chosen.validation_digits == 0
    assert (chosen.batch_size, chosen.optimizer) == (own.batch_size, own.optimizer)


def test_presets_without_one_hidden_layer_are_refused() -> None:
    with pytest.raises(HyperparameterError, match="choose pycuda-seed or quick-mlp"):
        BenchmarkJob("quick-cnn", (8,), ("cpu",))
    with pytest.raises(UnknownPresetError):
        BenchmarkJob("no-such", (8,), ("cpu",))


@pytest.mark.parametrize(
    ("text", "widths"),
    [
        ("64", (64,)),
        ("64,1024, 4096", (64, 1024, 4096)),
        (" 1024 64\t64,1024 ", (64, 1024)),
        ("16384,1", (1, 16384)),
    ],
)
def test_widths_are_read_in_order_each_once(text: str, widths: tuple[int, ...]) -> None:
    assert read_widths(text) == widths


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "list 1 to 12"),
        (", ,", "list 1 to 12"),
        ("0", "from 1 to 16,384"),
        ("64, 16385", "hidden units are 16385"),
        ("64;128", "hidden units are '64;128'; list whole numbers"),
        ("1e3", "list whole numbers"),
        ("-5", "list whole numbers"),
        ("²", "list whole numbers"),
        ("9" * 5000, "list whole numbers"),
        (",".join(str(width) for width in range(1, 14)), "there are 13 widths"),
    ],
)
def test_widths_that_cannot_be_are_refused_in_one_short_sentence(text: str, words: str) -> None:
    with pytest.raises(HyperparameterError) as refusal:
        read_widths(text)
    assert words in str(refusal.value)
    assert len(str(refusal.value)) < 200
