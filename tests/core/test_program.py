"""Real processes show what only they can: that stdout carries nothing else, that Ctrl-C keeps what was trained."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from core.training.model_file import load_model
from tests.core.commands import QUICKLY, ROOT, TRAIN_KEYS, make, the_one_object


def program(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A real process, as a user starts it."""
    command = [sys.executable, str(ROOT / "main.py"), *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


def test_the_program_trains_from_any_folder_and_prints_nothing_but_the_object(tmp_path: Path) -> None:
    process = program("train", *QUICKLY, "--out", "here.safetensors", "--json", cwd=tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
    assert list(the_one_object(process.stdout)) == TRAIN_KEYS
    command = load_model(tmp_path / "here.safetensors").facts["command"]
    assert command == f"uv run main.py train {' '.join(QUICKLY)} --out here.safetensors --json"


def test_the_program_refuses_a_bad_model_with_one_line_and_status_1(tmp_path: Path) -> None:
    path = make(tmp_path / "bad.safetensors", "text")
    process = program("evaluate", "--model", path, cwd=tmp_path)
    assert (process.returncode, process.stdout) == (1, "")
    assert re.fullmatch(rf"inkling: {re.escape(str(path))} is not a safetensors file.*\n", process.stderr)


def test_the_program_used_wrongly_ends_with_status_2(tmp_path: Path) -> None:
    process = program("train", "--epochs", "many", cwd=tmp_path)
    assert (process.returncode, process.stdout) == (2, "")
    assert "--epochs" in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal and signals as POSIX has them")
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "a polite kill"])
def test_an_interrupt_while_training_stops_it_and_keeps_what_was_learned(
    tmp_path: Path, signal_number: signal.Signals
) -> None:
    terminal, end_of_program = os.openpty()
    out, stdout = tmp_path / "n.safetensors", tmp_path / "stdout"
    words = ["--device", "cpu", "--hidden", "32", "--epochs", "5000", "--out", str(out), "--json"]
    with stdout.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "main.py"), "train", *words],
            stdout=file,
            stderr=end_of_program,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
        )
    os.close(end_of_program)
    shown = b""
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    try:
        while b"digits/s" not in shown:
            shown += os.read(terminal, 65536)
        process.send_signal(signal_number)
        with contextlib.suppress(OSError):  # the program has closed its end
            while part := os.read(terminal, 65536):
                shown += part
        status = process.wait()
    finally:
        watchdog.cancel()
        watchdog.join()
        process.kill()
        process.wait()
        os.close(terminal)
    assert status == 0
    assert b"Traceback" not in shown
    result = the_one_object(stdout.read_text())
    assert (result["outcome"], result["model"]) == ("stopped", str(out))
    assert 0 < result["samples"] < 5000 * 55_000
    assert load_model(out).test_accuracy == pytest.approx(result["test_accuracy"], abs=5e-5)
    assert load_model(out).facts["outcome"] == "stopped"
