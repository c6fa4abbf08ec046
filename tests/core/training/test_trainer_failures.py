"""A device that cannot go on in the middle of a run: the run ends in good order, and nothing published is lost."""

import contextlib
import gc
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from core.device import Array, Device, DeviceError
from core.digits.dataset import Splits
from core.predictor import Predictor
from core.training import learner as learner_module
from core.training.events import Evaluated, TrainingStarted, WeightsPublished
from core.training.trainer import train
from tests.core.training.runs import end_of, job, of_kind, without_seconds

LOST = "Test Card stopped computing (an illegal address); train on the CPU"


class Failing(Device):
    """A device that fails for good at the batch after so many good ones: nothing can be asked of it any more."""

    def __init__(self, good_batches: int, error: Exception) -> None:
        super().__init__()
        self.key = "cuda:0"
        self._left, self._error = good_batches, error

    @contextlib.contextmanager
    def activate(self) -> Iterator[None]:
        with super().activate():
            if self._left < 0:
                raise self._error
            yield

    def gather(self, source: Array, rows: Array, out: Array) -> Array:
        if source.ndim == 2 and source.shape[1] == 784:
            self._left -= 1
            if self._left < 0:
                raise self._error
        return super().gather(source, rows, out)

    def to_host(self, array: Array) -> np.ndarray:
        if self._left < 0:
            raise self._error
        return super().to_host(array)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Exception], None]:
    """Makes every run's device one that fails after so many batches."""

    def install(good_batches: int, error: Exception) -> None:
        monkeypatch.setattr(learner_module, "open_device", lambda key, tf32: Failing(good_batches, error))

    return install


@pytest.mark.parametrize("keep_best", [False, True])
def test_a_device_lost_in_a_run_ends_it_with_a_sentence_and_the_last_weights_published(
    splits: Splits, failing, keep_best: bool
) -> None:
    failing(7, DeviceError(LOST))
    wanted = job("quick-mlp", hidden=(16,), evaluate_every=300, keep_best=keep_best)
    events = list(train(wanted, splits))
    end = end_of(events)
    assert (end.outcome, end.reason, end.learned, end.steps) == ("failed", LOST, True, 7)
    published = of_kind(WeightsPublished, events)
    assert len(published) == 2
    assert without_seconds(dict(end.weights)) == without_seconds(dict(published[-1].weights))
    assert end.validation_accuracy == pytest.approx(of_kind(Evaluated, events)[-1].accuracy, abs=0.005)
    answers = Predictor(wanted.preset, wanted.hyperparameters, end.weights).probabilities(splits.test.images)
    assert end.test_accuracy == (answers.argmax(axis=1) == splits.test.labels).mean()


def test_a_device_that_fails_before_anything_was_published_says_so_and_leaves_the_start_weights(
    splits: Splits, failing
) -> None:
    failing(1, DeviceError(LOST))
    events = list(train(job("quick-mlp", hidden=(16,)), splits))
    assert [type(event) for event in events[:-1]] == [TrainingStarted]
    end = end_of(events)
    assert (end.outcome, end.reason, end.learned) == ("failed", LOST, False)
    assert all(np.isfinite(values).all() for values in end.weights.values())


def test_when_the_memory_is_full_the_run_fails_with_what_to_do(splits: Splits, failing) -> None:
    failing(3, MemoryError())
    end = end_of(list(train(job("quick-mlp", hidden=(16,)), splits)))
    assert end.outcome == "failed"
    assert end.reason == "this computer's memory is full; choose a smaller batch or network"


def test_a_run_that_is_over_holds_on_to_nothing_on_its_device(splits: Splits, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[weakref.ref[Device]] = []

    def open_recording(key: str, *, tf32: bool) -> Device:
        device = Device()
        opened.append(weakref.ref(device))
        return device

    monkeypatch.setattr(learner_module, "open_device", open_recording)
    gc.disable()
    try:
        list(train(job("quick-mlp", hidden=(16,), epochs=1), splits))
        assert [device() for device in opened] == [None]
    finally:
        gc.enable()
