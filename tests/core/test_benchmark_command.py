"""The benchmark as a command: keys of its JSON, what people get instead, exit statuses, and Ctrl-C."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from core import benchmark_command
from core.device import Device, DeviceError, DeviceInfo
from core.digits.dataset import DigitSets
from tests.core.commands import ROOT, Run, the_one_object

KEYS = ["preset", "digits", "results", "failures", "crossover", "lesson", "outcome"]
RESULT_KEYS = [
    "device_key",
    "device_name",
    "hidden",
    "seconds",
    "digits_per_second",
    "flops_per_second",
    "share_of_peak",
]


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, few_digits: DigitSets) -> Iterator[None]:
    """Few digits, a peak known beforehand, a CPU, a second one called cuda:0, and a third that is broken."""

    def open_device(key: str, **_: object) -> Device:
        if key == "cuda:1":
            raise DeviceError("cuda:1 cannot be used: it is broken. Mend it.")
        device = Device()
        device.key, device.name = key, f"the {key}"
        return device

    infos = [
        DeviceInfo("cpu", "the cpu", available=True),
        DeviceInfo("cuda:0", "the cuda:0", available=True),
        DeviceInfo("cuda:1", "the cuda:1", available=False, reason="it is broken", remedy="Mend it."),
    ]
    monkeypatch.setattr("core.training.learner.open_device", open_device)
    monkeypatch.setattr(benchmark_command, "list_devices", lambda: infos)
    monkeypatch.setattr(benchmark_command, "load_mnist", lambda: few_digits)
    monkeypatch.setattr("core.training.benchmark.measure_peak", lambda device: 1e12)
    monkeypatch.setattr("core.training.benchmark.WARM_UP_STEPS", 1)
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    yield
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_json_tells_every_figure(inkling: Run) -> None:
    words = ["--hidden", "16,4", "--devices", "cpu,cuda:0", "--preset", "quick-mlp"]
    status, stdout, stderr = inkling("benchmark", *words, "--json")
    result = the_one_object(stdout)
    assert (status, stderr) == (0, "")
    assert list(result) == KEYS
    assert (result["preset"], result["digits"], result["outcome"]) == ("quick-mlp", 1200, "completed")
    assert all(list(row) == RESULT_KEYS for row in result["results"])
    rows = [(row["hidden"], row["device_key"], row["device_name"]) for row in result["results"]]
    assert rows == [(h, key, f"the {key}") for h in (4, 16) for key in ("cpu", "cuda:0")]
    for row in result["results"]:
        assert row["digits_per_second"] == pytest.approx(1200 / row["seconds"])
        assert row["share_of_peak"] == pytest.approx(row["flops_per_second"] / 1e12)
    assert result["failures"] == []
    assert result["crossover"] is None or 4 <= result["crossover"] <= 16
    assert any("the cuda:0" in sentence for sentence in result["lesson"])


def test_without_devices_all_that_can_compute_have_their_turn(inkling: Run) -> None:
    result = the_one_object(inkling("benchmark", "--hidden", 4, "--json")[1])
    assert [row["device_key"] for row in result["results"]] == ["cpu", "cuda:0"]
    assert result["preset"] == "pycuda-seed"


def test_people_get_a_table_and_what_it_teaches(inkling: Run) -> None:
    status, stdout, stderr = inkling("benchmark", "--hidden", "4,16", "--devices", "cpu")
    assert (status, stderr) == (0, "")
    for words in ("hidden", "digits/s", "of peak", "cpu", "times the work"):
        assert words in stdout


def test_a_device_that_cannot_compute_is_told_of_once_and_the_rest_is_measured(inkling: Run) -> None:
    status, stdout, stderr = inkling("benchmark", "--hidden", "4,16", "--devices", "cuda:1,cpu", "--json")
    result = the_one_object(stdout)
    assert status == 0
    assert stderr == "inkling: cuda:1 cannot be used: it is broken. Mend it.\n"
    assert [row["hidden"] for row in result["results"]] == [4, 16]
    assert [(row["device_key"], row["hidden"]) for row in result["failures"]] == [("cuda:1", 4), ("cuda:1", 16)]


def test_where_nothing_could_be_measured_it_ends_with_status_1(inkling: Run) -> None:
    status, stdout, stderr = inkling("benchmark", "--hidden", "4", "--devices", "cuda:1", "--json")
    assert status == 1
    assert the_one_object(stdout)["lesson"] == []
    assert "it is broken" in stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--hidden", "0"], "--hidden: hidden units are 0"),
        (["--hidden", "many"], "list whole numbers"),
        (["--preset", "no-such"], "there is no preset 'no-such'"),
        (["--preset", "quick-cnn"], "choose pycuda-seed or quick-mlp"),
        (["--devices", "abacus"], "there is no device 'abacus'; this machine knows cpu, cuda:0, cuda:1"),
        (["--devices", "cpu,"], "there is no device ''"),
    ],
)
def test_wrong_use_ends_with_status_2_and_a_word_on_what_is_wrong(inkling: Run, words: list[str], told: str) -> None:
    status, stdout, stderr = inkling("benchmark", *words)
    assert (status, stdout) == (2, "")
    assert told in stderr
    assert stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_ctrl_c_ends_it_with_what_was_measured_so_far() -> None:
    program = (
        "import sys, core.training.benchmark as b; b.measure_peak = lambda device: 1e12\n"
        "from core.command_line import run\n"
        "sys.exit(run(['benchmark', '--hidden', '1,16384', '--devices', 'cpu', '--json']))"
    )
    command = [sys.executable, "-c", _told_when_measured(program)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == "measured\n"
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    result = json.loads(stdout)
    assert result["outcome"] == "stopped"
    assert [row["hidden"] for row in result["results"]] == [1]
    assert "keeping what was measured" in stderr


def _told_when_measured(program: str) -> str:
    """The program, but it says on stderr when the first width is measured."""
    return (
        "import sys, core.benchmark_command as c\n"
        "measured = c.WidthMeasured\n"
        "real = c.benchmark\n"
        "def benchmark(*words):\n"
        "    for event in real(*words):\n"
        "        yield event\n"
        "        if isinstance(event, measured): print('measured', file=sys.stderr, flush=True)\n"
        "c.benchmark = benchmark\n" + program
    )


def test_help_lists_it(inkling: Run) -> None:
    assert "benchmark" in inkling("--help")[1]
