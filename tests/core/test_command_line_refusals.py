"""Wrong use ends with status 2, a job that cannot be done with status 1, and either with one line that says why."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from core import train_command
from tests.core.commands import QUICKLY, Run, make


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("train --preset alexnet", "no preset 'alexnet'; choose quick-mlp or"),
        ("train --hidden 0", "--hidden: units is 0; it must be from 1 to 16,384"),
        ("train --hidden=", "--hidden is ''; it wants layer sizes"),
        ("train --hidden 8,x", "--hidden is '8,x'; it wants layer sizes"),
        ("train --hidden 8.5", "--hidden is '8.5'; it wants layer sizes"),
        (
            "train --hidden 16384,16384,16384,16384",
            "linear 16384 makes the network too large: at most 50,000,000",
        ),
        (f"train --hidden {'9' * 400}", "--hidden: linear '999"),
        ("train --preset quick-cnn --hidden 8", "--hidden: hidden units belong to a network of linear layers only"),
        ("train --preset best-cnn --hidden 8,8", "--hidden: hidden units belong to a network of linear layers only"),
        ("train --preset best-mlp --hidden 8", "--hidden: hidden units belong to a network of linear layers only"),
        ("train --network=", "--network: a layer is missing here"),
        ("train --network linear", "--network: linear wants a number of units, such as linear 128"),
        ("train --network liner 10", "--network: 'liner' is no layer; there are conv, pool, linear"),
        (
            "train --network linear 16 rleu, linear 10",
            "--network: 'rleu' cannot stand here; after linear may follow",
        ),
        ("train --network conv 16x3 relu, pool x, linear 10", "--network: pool 'x': it wants a size, such as pool 2"),
        ("train --network linear 8, conv 8x3, linear 10", "--network: conv 8x3 after linear 8: there is no picture"),
        ("train --network linear 12", "--network: it must end with linear 10, one answer for each digit"),
        (f"train --network {'relu, ' * 300}linear 10", "--network: the network's text is longer than 1000 characters"),
        (
            "train --optimizer magic",
            "--optimizer is 'magic'; choose sgd or momentum or nesterov or adagrad or",
        ),
        ("train --schedule never", "--schedule is 'never'; choose constant or step or cosine or one-cycle"),
        (
            "train --patience 2 --validation-digits 0",
            "--patience and --keep-best go by validation digits; hold some out by --validation-digits",
        ),
        (
            "train --keep-best --validation-digits 0",
            "--patience and --keep-best go by validation digits; hold some out by --validation-digits",
        ),
        ("train --precision float16", "--precision is 'float16'; choose float32 or tf32 or float64"),
        ("train --weight-decay 11", "--weight-decay is 11.0; it must be a number from 0 to 10"),
        ("train --weight-decay -1", "--weight-decay is -1.0; it must be a number from 0 to 10"),
        ("train --clip-norm nan", "--clip-norm is nan; it must be a number from 0 to 1,000"),
        ("train --warmup 0.6", "--warmup is 0.6; it must be a number from 0 to 0.5"),
        ("train --shift-px 5", "--shift-px is 5; it must be a whole number from 0 to 4"),
        ("train --label-smoothing 0.9", "--label-smoothing is 0.9; it must be a number from 0 to 0.5"),
        ("train --averaging 1", "--averaging is 1.0; it must be a number from 0 to 0.9999"),
        ("train --patience -1", "--patience is -1; it must be a whole number from 0 to 10,000"),
        ("train --validation-digits 50001", "--validation-digits is 50001; it must be a whole number from 0 to 50,000"),
        ("train --momentum 1", "--momentum is 1.0; it must be a number from 0 to 0.999"),
        ("train --keep-worst", "--keep-worst"),
        ("train --epochs 0", "--epochs is 0; it must be a whole number from 1"),
        ("train --epochs two", "--epochs"),
        ("train --device cuda:99", "there is no device 'cuda:99'; this machine knows auto, cpu"),
        ("train --batch-size 0", "--batch-size is 0; it must be"),
        ("train --learning-rate 0", "--learning-rate is 0.0; it must be a number from 1e-06 to 100"),
        ("train --learning-rate nan", "--learning-rate is nan; it must be a number"),
        ("train --learning-rate inf", "--learning-rate is inf; it must be a number"),
        ("train --augment 2", "--augment is 2.0; it must be a number from 0 to 1"),
        ("train --seed -1", "--seed is -1; it must be"),
        (f"train --seed {'9' * 400}", "--seed is 999"),
        ("train --train-limit -1", "--train-limit is -1; it must be"),
        ("train --until-accuracy 0", "--until-accuracy is 0.0; it must be above 0"),
        ("train --until-accuracy 97", "--until-accuracy is 97.0; it must be above 0 and at most 1, such as 0.97"),
        ("train --until-accuracy nan", "--until-accuracy is nan; it must be"),
        ("train --out /absent/folder/n.safetensors", "the folder of /absent/folder/n.safetensors does not exist"),
        ("train now", "now"),
        ("evaluate --images a --ink b", "choose one of --data, --mnist-folder, --images and --ink"),
        ("evaluate --images a --mnist-folder b", "choose one of --data, --mnist-folder, --images and --ink"),
        ("evaluate --model", "--model"),
        ("classify", "paths"),
        ("learn", "learn"),
        ("--version", "--version"),
    ],
    ids=lambda value: value[:60],
)
def test_wrong_use_ends_with_status_2_and_a_word_on_what_is_wrong(inkling: Run, words: str, complaint: str) -> None:
    before, option, text = words.partition("--network ")
    command, *others = before.split()
    others += [option.strip(), text] if option else []
    status, stdout, stderr = inkling(command, *(["--json"] if others else []), *others)
    assert (status, stdout) == (2, "")
    assert complaint in stderr
    assert "Traceback" not in stderr


@pytest.mark.parametrize("kind", ["absent", "folder", "text", "empty"])
@pytest.mark.parametrize("option", ["--model", "--mnist-folder", "--images", "--ink"])
def test_evaluate_refuses_what_it_cannot_read_with_one_line_that_names_it(
    inkling: Run, model: Path, tmp_path: Path, option: str, kind: str
) -> None:
    path = make(tmp_path / "given.gz", kind)
    words = [] if option == "--model" else ["--model", model]
    status, stdout, stderr = inkling("evaluate", *words, option, path, "--json")
    assert (status, stdout) == (1, "")
    assert str(path) in stderr
    assert stderr.count("\n") == 1
    assert "unexpected" not in stderr


@pytest.mark.parametrize("kind", ["absent", "folder", "text", "empty"])
def test_classify_refuses_what_is_no_picture_with_one_line_that_names_it(
    inkling: Run, model: Path, tmp_path: Path, kind: str
) -> None:
    path = make(tmp_path / "given.png", kind)
    status, stdout, stderr = inkling("classify", path, "--model", model)
    assert (status, stdout) == (1, "")
    assert str(path) in stderr
    assert stderr.count("\n") == 1
    assert "unexpected" not in stderr


def test_a_job_that_cannot_be_done_ends_with_status_1_and_one_line(inkling: Run, model: Path, tmp_path: Path) -> None:
    for words, complaint in (
        ("train --device cpu --batch-size 200 --train-limit 100", "batch size is 200 but there are only 100"),
        (f"evaluate --model {model} --images {tmp_path / 'nowhere'}", "there is no folder"),
        (f"evaluate --model {model} --images {tmp_path}", "holds no pictures"),
    ):
        status, stdout, stderr = inkling(*words.split(), "--json")
        assert (status, stdout) == (1, "")
        assert complaint in stderr
        assert stderr.count("\n") == 1


@pytest.mark.parametrize("kind", ["a folder", "in a folder where nobody may write, not even root"])
def test_a_place_where_nothing_can_be_saved_is_found_out_before_the_training(
    inkling: Run, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("the training began, and would have been lost")

    if kind != "a folder" and sys.platform != "linux":
        pytest.skip("only Linux has such a folder")
    path = tmp_path if kind == "a folder" else Path("/sys/n.safetensors")
    monkeypatch.setattr(train_command, "train", never)
    status, stdout, stderr = inkling("train", *QUICKLY, "--out", path)
    assert stdout == ""
    assert str(path) in stderr
    assert "unexpected" not in stderr
    assert status in (1, 2)


def test_an_interrupt_before_the_training_ends_the_program_without_a_traceback(
    inkling: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        train_command, "load_digit_sets", lambda name: os.kill(os.getpid(), signal.SIGINT) or time.sleep(10)
    )
    status, stdout, stderr = inkling("train", *QUICKLY, "--json")
    assert (status, stdout) == (130, "")
    assert "Traceback" not in stderr


@pytest.mark.parametrize(
    "words",
    [
        "inspect {}",
        "resume {}",
        "classify {}",
        "evaluate --model {}",
        "evaluate --images {}",
        "evaluate --ink {}",
        "evaluate --mnist-folder {}",
        "mine --import {}",
        "mine --export {}",
        "data open kmnist {}",
        "export --out {}.py",
        "ink --sheet {}.png",
        "train --run {}",
        "train --start {}",
        "train --mine 0.3 --my-digits {}",
    ],
)
def test_a_name_too_long_for_the_system_is_refused_like_any_other(inkling: Run, tmp_path: Path, words: str) -> None:
    status, stdout, stderr = inkling(*(word.format(tmp_path / ("n" * 5000)) for word in words.split()))
    assert (status, stdout, stderr.count("\n")) == (1, "", 1)
    assert "unexpected" not in stderr


class SurpriseError(Exception):
    """An error that no line of the program knows of."""


def test_what_nobody_thought_of_is_one_line_too(inkling: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for error, words in (
        (SurpriseError("by accident"), "SurpriseError: by accident"),
        (MemoryError(), "not enough memory"),
    ):

        def fail(name: str, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(train_command, "load_digit_sets", fail)
        status, stdout, stderr = inkling("train", *QUICKLY)
        assert (status, stdout) == (1, "")
        assert words in stderr
        assert stderr.count("\n") == 1
