"""The hand on a run: when a checkpoint is due. (Pause, stop and changes are tested with the loop that obeys them.)"""

import pytest

from core.training import job
from core.training.job import TrainingControl


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What time it is, to be set."""
    now = [50.0]
    monkeypatch.setattr(job.time, "monotonic", lambda: now[0])
    return now


def test_a_checkpoint_is_due_once_when_it_was_asked_for(clock: list[float]) -> None:
    control = TrainingControl()
    assert not control.take_checkpoint_wish()
    control.ask_for_checkpoint()
    control.ask_for_checkpoint()
    assert control.take_checkpoint_wish()
    assert not control.take_checkpoint_wish()


def test_a_checkpoint_asked_for_later_is_due_then_or_with_one_asked_for_sooner(clock: list[float]) -> None:
    control = TrainingControl()
    control.ask_for_checkpoint(in_seconds=2.0)
    control.ask_for_checkpoint(in_seconds=5.0)
    clock[0] = 51.9
    assert not control.take_checkpoint_wish()
    clock[0] = 52.0
    assert control.take_checkpoint_wish()
    clock[0] = 60.0
    assert not control.take_checkpoint_wish()
    control.ask_for_checkpoint(in_seconds=2.0)
    control.ask_for_checkpoint()
    assert control.take_checkpoint_wish()
