"""The commands that look into training: keys of their JSON, what people get instead, exit statuses."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from core import inspect_commands
from core.command_line import run
from core.digits.dataset import DigitSets, split
from core.nn.gradient_check import CheckedLayer

Run = Callable[..., tuple[int, str, str]]
PROFILE_KEYS = [
    "preset",
    "device",
    "batch_size",
    "steps",
    "steps_per_second",
    "digits_per_second",
    "step_seconds",
    "parts",
    "augmentation_share",
]


@pytest.fixture
def inkling(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, few_digits: DigitSets) -> Run:
    """Runs a command in this process, on few digits; gives exit status, stdout and stderr."""
    monkeypatch.setattr(inspect_commands, "load_mnist", lambda: few_digits)
    monkeypatch.setattr(inspect_commands, "split", lambda sets, held_out, limit: split(sets, 200, limit))

    def inkling(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = run([str(word) for word in words])
        return status, *capsys.readouterr()

    return inkling


def the_one_object(stdout: str) -> dict[str, Any]:
    assert stdout.endswith("}\n")
    assert stdout.count("\n") == 1
    return json.loads(stdout)


def test_gradcheck_tells_each_layer_s_row(inkling: Run) -> None:
    status, stdout, stderr = inkling("gradcheck", "--preset", "pycuda-seed", "--network", "linear 10", "--json")
    result = the_one_object(stdout)
    assert (status, stderr) == (0, "")
    assert list(result) == ["preset", "network", "rows", "ok"]
    assert (result["preset"], result["network"], result["ok"]) == ("pycuda-seed", "linear 10", True)
    (row,) = result["rows"]
    assert list(row) == ["name", "checked", "error", "ok"]
    assert (row["name"], row["ok"]) == ("linear1", True)
    assert row["checked"] > 10
    assert 0 <= row["error"] < 1e-5


def test_gradcheck_takes_the_preset_s_network_loss_and_start_and_shows_people_a_table(inkling: Run) -> None:
    status, stdout, _ = inkling("gradcheck", "--preset", "pycuda-seed", "--seed", 3)
    assert status == 0
    for words in ("linear 1024 nobias relu", "linear1", "relu1", "straight-relu1", "identity"):
        assert words in stdout


@pytest.mark.parametrize("error", [0.5, float("inf")])
def test_gradcheck_of_wrong_gradients_ends_with_status_1(
    inkling: Run, monkeypatch: pytest.MonkeyPatch, error: float
) -> None:
    rows = [CheckedLayer("linear1", 25, error, ok=False), CheckedLayer("relu1", 25, 1e-8, ok=True)]
    monkeypatch.setattr(inspect_commands, "check_network", lambda *_: rows)
    status, stdout, _ = inkling("gradcheck", "--json")
    result = the_one_object(stdout)
    assert (status, result["ok"]) == (1, False)
    assert result["rows"][0]["error"] == (0.5 if error == 0.5 else None)
    status, stdout, _ = inkling("gradcheck")
    assert status == 1
    assert "WRONG" in stdout


def test_profile_tells_speeds_and_parts(inkling: Run) -> None:
    words = ["--network", "linear 8 relu, linear 10", "--device", "cpu", "--batch-size", 50, "--augment", 0.3]
    status, stdout, stderr = inkling("profile", *words, "--steps", 4, "--json")
    result = the_one_object(stdout)
    assert (status, stderr) == (0, "")
    assert list(result) == PROFILE_KEYS
    assert result.items() >= {"preset": "quick-mlp", "device": "cpu", "batch_size": 50, "steps": 4}.items()
    assert result["digits_per_second"] == pytest.approx(50 * result["steps_per_second"])
    assert result["steps_per_second"] == pytest.approx(1 / result["step_seconds"])
    assert all(list(part) == ["name", "seconds", "share"] for part in result["parts"])
    assert sum(part["share"] for part in result["parts"]) == pytest.approx(1)
    assert {part["name"]: part["share"] for part in result["parts"]}["augmentation"] == result["augmentation_share"]


def test_profile_shows_people_a_table(inkling: Run) -> None:
    status, stdout, _ = inkling("profile", "--network", "linear 10", "--device", "cpu", "--steps", 1)
    assert status == 0
    for words in ("digits/s on cpu", "augmentation", "linear1 backward", "the rest"):
        assert words in stdout


def test_find_rate_tells_what_was_tried_and_suggests_a_rate(inkling: Run) -> None:
    words = ["--network", "linear 16 relu, linear 10", "--device", "cpu"]
    status, stdout, stderr = inkling("find-rate", *words, "--json")
    result = the_one_object(stdout)
    assert (status, stderr) == (0, "")
    assert list(result) == ["rates", "losses", "suggested"]
    assert len(result["rates"]) == len(result["losses"]) > 50
    assert result["suggested"] in result["rates"]
    status, stdout, _ = inkling("find-rate", *words)
    assert status == 0
    assert f"suggested learning rate: {result['suggested']:.2g}" in stdout


def test_find_rate_tries_on_no_more_digits_than_it_may_use(inkling: Run) -> None:
    words = ["--network", "linear 10", "--device", "cpu", "--batch-size", 101]
    assert inkling("find-rate", *words, "--train-limit", 101)[0] == 0
    status, _, stderr = inkling("find-rate", *words, "--train-limit", 100)
    assert status == 1
    assert "there are only 100 training digits" in stderr


def test_find_rate_says_so_where_no_rate_helps(inkling: Run) -> None:
    # Shortened to nothing, a gradient teaches nothing, however large the rate.
    words = ["--network", "linear 10", "--device", "cpu", "--optimizer", "sgd", "--clip-norm", 1e-9]
    status, stdout, _ = inkling("find-rate", *words)
    assert status == 0
    assert "no rate let the loss fall" in stdout
    assert the_one_object(inkling("find-rate", *words, "--json")[1])["suggested"] is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["gradcheck", "--preset", "no-such"], "there is no preset 'no-such'"),
        (["gradcheck", "--network", "linear 9"], "it must end with linear 10"),
        (["gradcheck", "--seed", "-1"], "--seed is -1"),
        (["profile", "--network", "foo"], "'foo' is no layer"),
        (["profile", "--device", "abacus"], "there is no device 'abacus'"),
        (["profile", "--steps", "0"], "--steps"),
        (["find-rate", "--optimizer", "luck"], "--optimizer is 'luck'"),
        (["find-rate", "--batch-size", "0"], "--batch-size is 0"),
        (["find-rate", "--train-limit", "-1"], "--train-limit is -1"),
    ],
)
def test_wrong_use_ends_with_status_2_and_a_word_on_what_is_wrong(inkling: Run, words: list[str], told: str) -> None:
    status, stdout, stderr = inkling(*words)
    assert (status, stdout) == (2, "")
    assert told in stderr


@pytest.mark.parametrize("command", ["profile", "find-rate"])
def test_too_few_digits_for_a_batch_end_with_status_1_and_one_line(inkling: Run, command: str) -> None:
    status, stdout, stderr = inkling(command, "--device", "cpu", "--batch-size", 5000)
    assert (status, stdout) == (1, "")
    assert "choose a smaller batch" in stderr
    assert stderr.count("\n") == 1


def test_help_lists_them(inkling: Run) -> None:
    _, stdout, _ = inkling("--help")
    assert all(command in stdout for command in ("gradcheck", "profile", "find-rate"))
