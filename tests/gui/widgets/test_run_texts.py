"""What is said of a kept run, however little its folder says."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QDateTime, QLocale

from core.training.job import TrainingJob
from core.training.ledger import RunSummary
from core.training.presets import find_preset
from core.training.run_info import RunInfo
from gui.widgets import run_texts

INFO = RunInfo(TrainingJob("quick-mlp", find_preset("quick-mlp").hyperparameters), "2020-02-03T10:45:16+00:00", {})
RUN = RunSummary(Path("folder"), INFO, "completed")


def test_without_a_name_it_is_called_by_when_it_began() -> None:
    began = QDateTime.fromSecsSinceEpoch(1_580_726_716)
    assert run_texts.run_name(RUN) == QLocale().toString(began, QLocale.FormatType.ShortFormat)
    today = replace(RUN, info=replace(INFO, created=datetime.now(UTC).isoformat()))
    assert len(run_texts.run_name(today)) < len(run_texts.run_name(RUN))


@pytest.mark.parametrize("created", ["", "yesterday", "9999-99-99"])
def test_a_time_that_is_none_leaves_the_folder_s_name(created: str) -> None:
    assert run_texts.run_name(replace(RUN, info=replace(INFO, created=created))) == "folder"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.0, "0.0 s"), (59.94, "59.9 s"), (61.0, "1:01"), (3_723.0, "1:02:03"), (1e300, None)]
)
def test_times(seconds: float, words: str | None) -> None:
    told = run_texts.time_in_words(replace(RUN, train_seconds=seconds))
    assert told == words or (words is None and told.count(":") == 2)


@pytest.mark.parametrize(("steps", "total", "epoch"), [(0, 0, 1), (0, 100, 1), (99, 100, 10), (100, 100, 10)])
def test_the_epoch_it_stands_in(steps: int, total: int, epoch: int) -> None:
    assert run_texts.place_in_words(replace(RUN, steps=steps, total_steps=total)) == f"epoch {epoch} of 10"


def test_the_accuracy_is_the_tests_or_else_that_of_the_digits_held_out() -> None:
    assert run_texts.accuracy_in_words(RUN) == ""
    assert run_texts.accuracy_in_words(replace(RUN, validation_accuracy=0.9)) == "90.00 %"
    assert run_texts.accuracy_in_words(replace(RUN, validation_accuracy=0.9, test_accuracy=0.8)) == "80.00 %"
