"""The profile of a step: its parts by name, and times that can be known."""

import itertools
import time
from types import SimpleNamespace

import pytest

from core.device import Array
from core.digits.dataset import DatasetError, DigitSets, split
from core.nn.layers.activations import ReLU
from core.training import profile as room
from core.training.job import TrainingJob
from core.training.presets import UnknownPresetError
from core.training.profile import Profile, profile
from tests.core.training.runs import job


def measure(few_digits: DigitSets, steps: int | None = 3, **choices: object) -> Profile:
    return profile(job("quick-mlp", hidden=(8,), **choices), split(few_digits, 200), steps)


def seconds_of(measured: Profile) -> dict[str, float]:
    return {part.name: part.seconds for part in measured.parts}


def test_parts_are_named_in_the_order_in_which_a_step_comes_to_them(few_digits: DigitSets) -> None:
    measured = measure(few_digits, averaging=0.9)
    assert [part.name for part in measured.parts] == [
        "batch",
        "augmentation",
        "flatten1 forward",
        "linear1 forward",
        "relu1 forward",
        "linear2 forward",
        "loss",
        "linear2 backward",
        "relu1 backward",
        "linear1 backward",
        "update",
        "averaging",
        "the rest",
    ]
    assert (measured.device_key, measured.batch_size, measured.steps) == ("cpu", 100, 3)


def test_shares_add_up_and_speeds_follow_from_the_step(few_digits: DigitSets) -> None:
    measured = measure(few_digits, batch_size=50)
    assert sum(part.share for part in measured.parts) == pytest.approx(1)
    assert all(part.seconds >= 0 for part in measured.parts)
    assert measured.step_seconds > 0
    assert measured.steps_per_second == pytest.approx(1 / measured.step_seconds)
    assert measured.digits_per_second == pytest.approx(50 / measured.step_seconds)


def test_a_slow_layer_shows_as_slow(few_digits: DigitSets, monkeypatch: pytest.MonkeyPatch) -> None:
    forward = ReLU.forward

    def slow(self: ReLU, x: Array, *, training: bool) -> Array:
        time.sleep(0.02)
        return forward(self, x, training=training)

    monkeypatch.setattr(ReLU, "forward", slow)
    measured = measure(few_digits)
    parts = seconds_of(measured)
    assert max(parts, key=lambda name: parts[name]) == "relu1 forward"
    assert measured.step_seconds >= 0.02
    assert parts["relu1 forward"] >= 0.02


def test_augmentation_has_its_share_where_there_is_any(few_digits: DigitSets) -> None:
    plain, shifted, distorted = (
        measure(few_digits, shift_px=pixels, augment=strength) for pixels, strength in ((0, 0.0), (2, 0.0), (0, 0.5))
    )
    assert plain.augmentation_share == 0
    assert 0 < shifted.augmentation_share < 1
    # Distorting a digit is more work than this small network is.
    assert distorted.augmentation_share > 0.3
    assert distorted.augmentation_share == {p.name: p.share for p in distorted.parts}["augmentation"]


@pytest.mark.parametrize("tick", [1e-5, 1.0], ids=["fast steps", "slow steps"])
def test_without_a_number_of_steps_it_ends_by_time_but_not_with_too_few(
    few_digits: DigitSets, monkeypatch: pytest.MonkeyPatch, tick: float
) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(room, "SECONDS", 0.03)
    monkeypatch.setattr(room, "time", SimpleNamespace(perf_counter=lambda: tick * next(ticks)))
    steps = measure(few_digits, None).steps
    seconds = tick * next(ticks)
    if tick == 1.0:
        assert steps == room.LEAST_STEPS
    else:
        assert steps > room.LEAST_STEPS
        assert 0.03 <= seconds < 0.03 + 2 * seconds / steps


def test_what_cannot_train_cannot_be_profiled(few_digits: DigitSets) -> None:
    with pytest.raises(DatasetError, match="smaller batch"):
        measure(few_digits, batch_size=1001)
    chosen = job("quick-mlp").hyperparameters
    with pytest.raises(UnknownPresetError):
        profile(TrainingJob("no-such", chosen, "cpu"), split(few_digits, 200), 1)
