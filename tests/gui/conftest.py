"""What the tests of the window share: small jobs, and a window that is taken down after its test."""

import gc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.digits import dataset_files
from core.digits.dataset import DigitSets
from core.digits.downloads import SETS
from core.digits.ink import Ink, Stroke
from core.training.job import TrainingJob
from core.training.presets import find_preset
from tests.core.mirrors import Mirror, as_files, made_up, published

CLOTHES = ("cap", "coat", "dress", "glove", "hat", "scarf", "shirt", "shoe", "sock", "tie")


@pytest.fixture(autouse=True)
def garbage_waits_for_this_thread() -> Iterator[None]:
    """As in the program itself: what Python collects while another thread computes may hold widgets, and Qt dies."""
    gc.disable()
    yield
    gc.collect(1)
    gc.enable()


@pytest.fixture(autouse=True)
def places(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The window's own folders, for this test alone: runs below `runs`, `settings.ini` and `my-digits.jsonl`."""
    places = tmp_path / "places"
    monkeypatch.setattr("gui.application.default_runs_folder", lambda: places / "runs")
    monkeypatch.setattr("gui.application.user_settings_file", lambda: places / "settings.ini")
    monkeypatch.setattr("gui.application.default_file", lambda: places / "my-digits.jsonl")
    yield places
    if {"application", "person"} & set(request.fixturenames):
        # What is left of a whole window is taken apart here, in the thread it belongs to, and not in the next one.
        request.node.funcargs.clear()
        gc.collect()


@pytest.fixture
def mirror(tmp_path: Path, few_digits: DigitSets, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A server with the set "tiny", 300 and 100 pictures that show clothes; what is fetched stays with the test."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(dataset_files, "datasets_folder", lambda: tmp_path / "datasets")
    mirror = Mirror(as_files(made_up(few_digits, 300, 100)))
    choices = {"classes": CLOTHES, "train_digits": 300, "test_digits": 100}
    monkeypatch.setitem(SETS, "tiny", published("tiny", mirror.files, mirror.url, **choices))
    yield mirror
    mirror.close()


@pytest.fixture
def small_job() -> TrainingJob:
    """A run of three epochs that takes well under a second on `few_digits`."""
    chosen = replace(
        find_preset("quick-mlp").hyperparameters,
        network="linear 32 relu, linear 10",
        epochs=3,
        validation_digits=200,
        evaluate_every=500,
    )
    return TrainingJob("quick-mlp", chosen, "cpu")


@pytest.fixture
def long_job(small_job: TrainingJob) -> TrainingJob:
    """A run that does not end by itself while a test watches."""
    return replace(small_job, hyperparameters=replace(small_job.hyperparameters, epochs=10_000))


@pytest.fixture
def seven() -> Ink:
    """A 7 as most people write it: a bar, then a slanted leg."""
    return Ink((Stroke(np.array([[20, 20], [50, 20], [80, 20], [65, 55], [50, 90]], np.float32)),))


@pytest.fixture
def control_names() -> list[str]:
    """The names by which every control of the window can be found; the progress bar comes last."""
    return [
        "deviceSelector",
        "presetSelector",
        "trainButton",
        "pauseButton",
        "stopButton",
        "networkField",
        "accuracyPlot",
        "lossPlot",
        "drawingCanvas",
        "clearButton",
        "undoButton",
        "inputPreview",
        "answerLabel",
        "probabilityChart",
        "statusLabel",
        "progressBar",
    ]
