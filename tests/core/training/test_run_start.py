"""Runs that begin with a network keep it in their folder: repeated, or broken off at once, they begin with it again."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.digits.dataset import Splits
from core.training.checkpoint import Weights
from core.training.events import TrainingEnded
from core.training.hyperparameters import HyperparameterError
from core.training.job import TrainingControl, TrainingJob
from core.training.run_folder import RunError, RunFolder, with_start
from core.training.trainer import train
from tests.core.training.kept_runs import keep, small_job, spoiled, with_header
from tests.core.training.runs import StopsItself, end_of, without_seconds


@pytest.fixture(scope="module")
def learned() -> Weights:
    """Of a network like `small_job`'s that has learned something else than fresh weights know."""
    rng = np.random.default_rng(6)
    shapes = {
        "linear1.weight": (4, 784),
        "linear1.bias": (4,),
        "linear2.weight": (10, 4),
        "linear2.bias": (10,),
    }
    return {name: (0.1 * rng.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture
def begun(learned: Weights) -> TrainingJob:
    return replace(small_job(), start=learned)


@pytest.fixture
def folder(tmp_path: Path, begun: TrainingJob) -> RunFolder:
    """Of a run that was told to begin with `learned`, and killed before its first step."""
    folder = RunFolder(tmp_path / "run")
    folder.create(begun)
    return folder


def go_on(folder: RunFolder, splits: Splits, control: TrainingControl | None = None) -> TrainingEnded:
    """As whoever goes on with a run does, who knows nothing of it but its folder."""
    job = with_start(folder.info().job, folder.checkpoint())
    return end_of(keep(folder, job, splits, control))


def test_a_folder_that_never_got_a_checkpoint_goes_on_from_the_network(
    folder: RunFolder, begun: TrainingJob, splits: Splits
) -> None:
    assert folder.checkpoint() is None
    wanted = end_of(list(train(begun, splits)))
    end = go_on(folder, splits)
    assert without_seconds(end) == without_seconds(wanted)
    assert end.test_accuracy_before is not None
    fresh = end_of(list(train(small_job(), splits)))
    assert without_seconds(dict(end.weights)) != without_seconds(dict(fresh.weights))


def test_a_run_is_repeated_from_its_folder_into_another_that_has_the_network_too(
    tmp_path: Path, folder: RunFolder, splits: Splits
) -> None:
    first, other = go_on(folder, splits), RunFolder(tmp_path / "other")
    end = end_of(keep(other, with_start(folder.info().job), splits))
    assert without_seconds(end) == without_seconds(first)
    again = with_start(other.info().job)
    assert again.start is not None
    assert without_seconds(dict(again.start)) == without_seconds(dict(with_start(folder.info().job).start or {}))


@pytest.mark.parametrize("question", range(1, 8))
def test_stopped_at_any_question_it_goes_on_to_the_same_end(
    folder: RunFolder, begun: TrainingJob, splits: Splits, question: int
) -> None:
    """The first questions are those of measuring the network, before the first step."""
    wanted = end_of(list(train(begun, splits)))
    assert go_on(folder, splits, StopsItself(question)).outcome == "stopped"
    assert without_seconds(go_on(folder, splits)) == without_seconds(wanted)


def test_the_network_counts_as_float32_as_it_is_kept(
    tmp_path: Path, begun: TrainingJob, learned: Weights, splits: Splits
) -> None:
    finer = {name: weights.astype(np.float64) * (1 + 1e-12) for name, weights in learned.items()}
    double = replace(small_job(precision="float64"), start=finer)
    folder = RunFolder(tmp_path / "double")
    folder.create(double)
    assert without_seconds(go_on(folder, splits)) == without_seconds(end_of(list(train(double, splits))))


def test_a_name_given_to_the_run_leaves_it_its_network(folder: RunFolder, learned: Weights) -> None:
    folder.rename("mine", "")
    start = with_start(folder.info().job).start
    assert start is not None
    assert without_seconds(dict(start)) == without_seconds(dict(learned))


def test_once_steps_were_made_the_network_is_not_needed_to_go_on(
    folder: RunFolder, begun: TrainingJob, splits: Splits
) -> None:
    go_on(folder, splits, StopsItself(9))
    assert (checkpoint := folder.checkpoint()) is not None
    assert checkpoint.progress.step > 0
    (folder.path / "start.safetensors").unlink()
    assert without_seconds(go_on(folder, splits)) == without_seconds(end_of(list(train(begun, splits))))


def test_a_network_that_is_gone_or_damaged_is_refused_and_never_replaced_by_fresh_weights(folder: RunFolder) -> None:
    path = folder.path / "start.safetensors"
    for content in [*spoiled(path).values(), with_header(path.read_bytes(), format="inkling-checkpoint")]:
        path.write_bytes(content)
        with pytest.raises(RunError, match="network that the run began with, is missing or damaged; ") as caught:
            with_start(folder.info().job)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
    path.unlink()
    with pytest.raises(RunError, match="is missing or damaged"):
        with_start(folder.info().job)


def test_a_network_that_was_not_read_is_never_replaced_by_fresh_weights(folder: RunFolder, splits: Splits) -> None:
    with pytest.raises(ValueError, match="fresh weights"):
        train(folder.info().job, splits)


def test_the_network_of_another_run_is_refused(tmp_path: Path, folder: RunFolder, splits: Splits) -> None:
    other = RunFolder(tmp_path / "other")
    wide = small_job(hidden=(5,))
    other.create(replace(wide, start=end_of(list(train(wide, splits, StopsItself(1)))).weights))
    (folder.path / "start.safetensors").write_bytes((other.path / "start.safetensors").read_bytes())
    with pytest.raises(HyperparameterError, match="has other layers than the one to be trained"):
        go_on(folder, splits)
    assert not (folder.path / "events.jsonl").exists()


def described(change: Callable[[dict[str, object]], object], folder: RunFolder) -> None:
    path = folder.path / "run.json"
    values = json.loads(path.read_text("utf-8"))
    change(values)
    path.write_text(json.dumps(values))


def test_older_folders_say_nothing_of_it_and_begin_afresh(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.create(small_job())
    assert sorted(path.name for path in folder.path.iterdir()) == ["lock", "run.json"]
    described(lambda values: values.pop("start"), folder)
    assert with_start(folder.info().job).start is None


@pytest.mark.parametrize("odd", ["../../etc/passwd", 1, None, [True]], ids=str)
def test_what_the_folder_says_of_it_is_yes_or_no_and_never_a_place(folder: RunFolder, odd: object) -> None:
    described(lambda values: values.update(start=odd), folder)
    with pytest.raises(RunError, match="whether it began with a network is not clear"):
        folder.info()


def test_a_network_too_large_for_its_file_is_refused_before_the_run_is_there(
    tmp_path: Path, begun: TrainingJob, learned: Weights
) -> None:
    huge = {**learned, "linear2.bias": np.full(10, 1e300)}
    folder = RunFolder(tmp_path / "huge")
    with pytest.raises(RunError, match="too large"):
        folder.create(replace(begun, start=huge))
    assert [path.name for path in folder.path.iterdir()] == ["lock"]
