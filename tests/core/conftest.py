"""Commands run in this process, and a small network for them to answer with."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.command_line import run
from core.digits.dataset import Dataset, DigitSets
from tests.core.commands import Run


@pytest.fixture
def inkling(capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Runs a command in this process; gives exit status, stdout and stderr."""

    def inkling(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = run([str(word) for word in words])
        return status, *capsys.readouterr()

    # A shell that starts the tests in the background has them ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield inkling
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network that reads about nine digits in ten."""
    path = tmp_path_factory.mktemp("models") / "small.safetensors"
    words = ["--device", "cpu", "--hidden", "32", "--epochs", "1", "--train-limit", "20000"]
    assert run(["train", *words, "--out", str(path)]) == 0
    return path


@pytest.fixture
def digits(mnist: DigitSets) -> Dataset:
    return mnist.test.part(100, 150)
