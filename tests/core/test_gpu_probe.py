"""A search for GPUs that tells the truth and never does any harm.

The probe's process is a real one throughout: where this machine cannot show a certain behaviour of it (it hangs, it
talks nonsense, it finds a card), a small program stands in for the Python interpreter that would run it. What the
probe itself says is tested with a driver and a CuPy made up for the occasion, the latter a real package on disk.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core import gpu_probe
from core.device import DeviceError, DeviceInfo
from core.device_list import list_devices, open_device
from core.gpu_probe import report_gpus

ROOT = Path(__file__).resolve().parents[2]
FOUND = {"key": "cuda:0", "name": "Fast Card", "available": True, "reason": "", "remedy": ""}
TOO_OLD = {
    "key": "cuda:0",
    "name": "Old Card",
    "available": False,
    "reason": "the card is too old",
    "remedy": "Buy a newer one",
}


@pytest.fixture(scope="module")
def here() -> list[DeviceInfo]:
    """What this machine truly has."""
    return list_devices()


def test_the_cpu_is_listed_first_always_available_and_named_with_its_threads(here: list[DeviceInfo]) -> None:
    cpu = here[0]
    assert (cpu.key, cpu.available, cpu.reason, cpu.remedy) == ("cpu", True, "", "")
    assert str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()) in cpu.name


def test_what_is_not_available_says_why_and_what_to_do_and_what_is_has_nothing_to_say(here: list[DeviceInfo]) -> None:
    assert len(here) > 1
    for info in here:
        assert bool(info.reason) == bool(info.remedy) == (not info.available)
        assert "\n" not in info.reason + info.remedy
        assert "ended with an error" not in info.reason


def test_auto_is_the_first_gpu_that_works_or_else_the_cpu_and_what_does_not_work_is_refused(
    here: list[DeviceInfo],
) -> None:
    working = [info.key for info in here if info.available]
    assert open_device("auto").key == [*working[1:], "cpu"][0]
    for info in here:
        if not info.available:
            with pytest.raises(DeviceError) as caught:
                open_device(info.key)
            assert str(caught.value) == f"{info.key} cannot be used: {info.reason}. {info.remedy}"


@pytest.fixture
def interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that the probe will be started with in place of Python; the test writes it."""
    path = tmp_path / "python"
    monkeypatch.setattr(sys, "executable", str(path))
    return path


def write_program(path: Path, lines: str) -> None:
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)


def only_gpu() -> DeviceInfo:
    cpu, gpu = list_devices()
    assert cpu.available
    assert gpu.key == "cuda:0"
    return gpu


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands in for Python")
class TestProbeProcess:
    def test_a_probe_that_hangs_is_given_up_and_the_cpu_still_listed(
        self, interpreter: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_program(interpreter, f"for i in 1 2 3 4 5 6 7 8; do sleep 0.5; done; touch {interpreter}.outlived")
        monkeypatch.setattr(gpu_probe, "PROBE_TIMEOUT_SECONDS", 0.5)
        gpu = only_gpu()
        assert not gpu.available
        assert "did not answer within" in gpu.reason
        assert gpu.remedy
        assert not Path(f"{interpreter}.outlived").exists()

    @pytest.mark.parametrize(
        "lines",
        [
            "exit 0",
            "exit 1",
            "kill -SEGV $$",
            "echo Segmentation fault",
            'echo \'[{"key": "cuda:0"\'',
            'echo \'[{"key": "cuda:0"}]\'',
            'echo \'[{"key": "cuda:0", "name": "x", "available": true, "colour": "red"}]\'',
            "echo '[1, 2]'",
            "echo '[[]]'",
            "echo 3",
            "echo null",
            "printf '\\377\\376\\n'",
            "echo '[]'; echo; echo '***'",
        ],
    )
    def test_a_probe_that_dies_or_talks_nonsense_is_an_error_with_a_remedy(self, interpreter: Path, lines: str) -> None:
        write_program(interpreter, lines)
        gpu = only_gpu()
        assert not gpu.available
        assert gpu.reason == "looking for a GPU ended with an error"
        assert gpu.remedy

    def test_a_probe_that_cannot_even_be_started_is_an_error_with_a_remedy(self, interpreter: Path) -> None:
        gpu = only_gpu()
        assert not gpu.available
        assert gpu.reason
        assert gpu.remedy

    def test_what_libraries_print_before_the_answer_is_passed_over(self, interpreter: Path) -> None:
        write_program(interpreter, f"echo warming up\necho careful >&2\necho '{json.dumps([FOUND])}'")
        assert only_gpu() == DeviceInfo("cuda:0", "Fast Card", available=True)

    def test_every_card_the_probe_finds_is_listed(self, interpreter: Path) -> None:
        second = {**TOO_OLD, "key": "cuda:1"}
        write_program(interpreter, f"echo '{json.dumps([FOUND, second])}'")
        assert [info.key for info in list_devices()] == ["cpu", "cuda:0", "cuda:1"]

    def test_a_card_that_cannot_compute_is_refused_with_its_reason_and_auto_takes_the_cpu(
        self, interpreter: Path
    ) -> None:
        write_program(interpreter, f"echo '{json.dumps([TOO_OLD])}'")
        assert open_device("auto").key == "cpu"
        with pytest.raises(DeviceError, match=r"cuda:0 cannot be used: the card is too old\. Buy a newer one"):
            open_device("cuda:0")

    @pytest.mark.parametrize("key", ["gpu", "cuda", "CPU", "", "cuda:1", "cuda:x", "cpu:0"])
    def test_a_device_that_does_not_exist_is_refused_with_those_there_are(self, interpreter: Path, key: str) -> None:
        write_program(interpreter, f"echo '{json.dumps([TOO_OLD])}'")
        with pytest.raises(DeviceError, match=f"there is no device '{key}'; this machine knows auto, cpu, cuda:0"):
            open_device(key)

    @pytest.mark.parametrize("key", ["auto", "cuda:0"])
    def test_a_card_that_works_is_opened_by_its_key_and_taken_by_auto(self, interpreter: Path, cupy, key: str) -> None:
        write_program(interpreter, f"echo '{json.dumps([FOUND])}'")
        cupy(wrong=0)
        gpu = open_device(key)
        assert (gpu.key, gpu.name) == ("cuda:0", "Fast Card")
        assert gpu.xp.__name__ == "cupy"
        with gpu.activate():
            assert gpu.xp.cuda.Device.entered == [0]
            assert gpu.to_host(gpu.to_device(np.ones(3))).tolist() == [1, 1, 1]
        assert gpu.xp.cuda.Device.entered == []

    def test_opening_the_cpu_looks_for_no_gpu(self, interpreter: Path) -> None:
        write_program(interpreter, f"touch {interpreter}.started")
        assert open_device("cpu").key == "cpu"
        assert not Path(f"{interpreter}.started").exists()


def test_the_probe_finds_the_package_wherever_the_program_was_started() -> None:
    look = "from core.device_list import list_devices; print(list_devices())"
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); {look}"
    run = subprocess.run([sys.executable, "-c", script], cwd="/", capture_output=True, text=True, check=True)
    assert "cuda:0" in run.stdout
    assert "ended with an error" not in run.stdout


FAKE_CUPY = """
import numpy
from numpy import float32
from numpy import asarray

class cuda:
    class runtime:
        def getDeviceProperties(index):
            return {"name": b"Fast Card"}

    class Device:
        entered = []

        def __init__(self, index):
            if index == 1:
                raise RuntimeError("cudaErrorNoKernelImageForDevice: no kernel image\\nand many more lines")
            if index == 2:
                raise RuntimeError()
            self.index = index

        def __enter__(self):
            self.entered.append(self.index)

        def __exit__(self, *error):
            self.entered.pop()

def asnumpy(array):
    return array.copy()

def arange(*arguments, **keywords):
    return numpy.arange(*arguments, **keywords) + WRONG
"""


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch):
    """Tells the probe what driver there is: its CUDA version and the names of its cards, or None."""

    def install(found: tuple[int, list[str]] | None) -> None:
        monkeypatch.setattr(gpu_probe, "_nvidia_driver", lambda: found)

    return install


@pytest.fixture
def cupy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a package called cupy on disk; its sums are off by `wrong` an element."""

    def install(wrong: int) -> None:
        (tmp_path / "cupy").mkdir()
        (tmp_path / "cupy" / "__init__.py").write_text(FAKE_CUPY.replace("WRONG", str(wrong)))
        monkeypatch.syspath_prepend(tmp_path)
        for name in [name for name in sys.modules if name.partition(".")[0] == "cupy"]:
            monkeypatch.delitem(sys.modules, name)

    yield install
    sys.modules.pop("cupy", None)


def report(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    report_gpus()
    return json.loads(capsys.readouterr().out)


def test_the_probe_without_a_driver_says_so_and_how_to_start_with_one(driver, capsys) -> None:
    driver(None)
    (gpu,) = report(capsys)
    assert gpu["available"] is False
    assert "no NVIDIA driver" in str(gpu["reason"])
    assert "uv run --extra gpu main.py" in str(gpu["remedy"])


def test_the_probe_with_a_driver_and_no_card_says_so(driver, capsys) -> None:
    driver((13000, []))
    (gpu,) = report(capsys)
    assert gpu["available"] is False
    assert "sees no card" in str(gpu["reason"])
    assert gpu["remedy"]


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed here")
@pytest.mark.parametrize(("version", "extra"), [(12080, "gpu-cuda12"), (13000, "gpu"), (13010, "gpu")])
def test_the_probe_without_cupy_names_the_command_that_brings_the_one_for_this_driver(
    driver, capsys, version: int, extra: str
) -> None:
    driver((version, ["Card A", "Card B"]))
    found = report(capsys)
    assert [(gpu["key"], gpu["name"], gpu["available"]) for gpu in found] == [
        ("cuda:0", "Card A", False),
        ("cuda:1", "Card B", False),
    ]
    for gpu in found:
        assert "CuPy is not installed" in str(gpu["reason"])
        assert gpu["remedy"] == f"Start with: uv run --extra {extra} main.py"


def test_a_card_is_available_once_kernels_ran_on_it_and_one_that_fails_gives_the_error_s_first_line(
    driver, cupy, capsys
) -> None:
    driver((13000, ["Good", "Too new", "Mute"]))
    cupy(wrong=0)
    good, too_new, mute = report(capsys)
    assert good == {**FOUND, "name": "Good"}
    assert too_new["available"] is mute["available"] is False
    assert too_new["reason"] == "cudaErrorNoKernelImageForDevice: no kernel image"
    assert "uv run --extra gpu main.py" in str(too_new["remedy"])
    assert mute["reason"] == "RuntimeError"


def test_a_card_that_computes_wrong_sums_is_not_available(driver, cupy, capsys) -> None:
    driver((13000, ["Broken"]))
    cupy(wrong=1)
    (gpu,) = report(capsys)
    assert gpu["available"] is False
    assert gpu["reason"] == "it computes wrong sums"
