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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core import device_list, gpu_probe
from core.device import DeviceError, DeviceInfo
from core.device_list import list_devices, open_device
from core.gpu_probe import report_gpus
from core.nvidia_driver import Card, Driver

ROOT = Path(__file__).resolve().parents[2]
FOUND = {
    "key": "cuda:0",
    "name": "Fast Card",
    "available": True,
    "reason": "",
    "remedy": "",
    "memory_bytes": 25_000_000_000,
}
TOO_OLD = {
    "key": "cuda:0",
    "name": "Old Card",
    "available": False,
    "reason": "the card is too old",
    "remedy": "Buy a newer one",
    "memory_bytes": 4_000_000_000,
}
# What the probe says of a card before it has tried it.
NOT_TRIED = {**TOO_OLD, "reason": "", "remedy": ""}


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

    def test_a_probe_that_hangs_at_a_card_still_gives_all_names_and_the_cards_tried_before(
        self, interpreter: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tried = json.dumps([FOUND, {**NOT_TRIED, "key": "cuda:1"}])
        write_program(interpreter, f"echo '[]'\necho '{tried}'\nexec sleep 60")
        monkeypatch.setattr(gpu_probe, "PROBE_TIMEOUT_SECONDS", 0.5)
        _, fast, old = list_devices()
        assert fast == DeviceInfo(**FOUND)
        assert (old.key, old.name, old.memory_bytes, old.available) == ("cuda:1", "Old Card", 4_000_000_000, False)
        assert "did not answer within" in old.reason
        assert old.remedy

    def test_a_card_that_ends_the_probe_is_listed_by_name_with_that_error(self, interpreter: Path) -> None:
        write_program(interpreter, f"echo '{json.dumps([NOT_TRIED])}'\nkill -SEGV $$")
        gpu = only_gpu()
        assert (gpu.name, gpu.available, gpu.reason) == ("Old Card", False, "looking for a GPU ended with an error")
        assert gpu.remedy

    def test_a_search_that_is_cancelled_ends_at_once(self, interpreter: Path) -> None:
        write_program(interpreter, f"exec sleep 60; touch {interpreter}.outlived")
        assert [info.available for info in list_devices(lambda: True)] == [True, False]

    def test_a_probe_that_prints_without_end_does_not_stand_in_its_own_way(self, interpreter: Path) -> None:
        write_program(interpreter, f"head -c 300000 /dev/zero | tr '\\0' x\necho\necho '{json.dumps([FOUND])}'")
        assert only_gpu().available

    def test_a_probe_that_cannot_even_be_started_is_an_error_with_a_remedy(self, interpreter: Path) -> None:
        gpu = only_gpu()
        assert not gpu.available
        assert gpu.reason
        assert gpu.remedy

    def test_what_libraries_print_before_the_answer_is_passed_over(self, interpreter: Path) -> None:
        write_program(interpreter, f"echo warming up\necho careful >&2\necho '{json.dumps([FOUND])}'")
        assert only_gpu() == DeviceInfo("cuda:0", "Fast Card", available=True, memory_bytes=25_000_000_000)

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

    @pytest.mark.parametrize(("key", "index"), [("auto", 1), ("cuda:1", 1), ("cuda:2", 2)])
    def test_a_card_that_works_is_opened_by_its_key_and_the_first_of_them_by_auto(
        self, interpreter: Path, monkeypatch: pytest.MonkeyPatch, key: str, index: int
    ) -> None:
        found = [TOO_OLD, {**FOUND, "key": "cuda:1"}, {**FOUND, "key": "cuda:2"}]
        write_program(interpreter, f"echo '{json.dumps(found)}'")
        opened: list[int] = []
        monkeypatch.setattr(device_list, "CudaDevice", lambda index, **_: opened.append(index))
        open_device(key)
        assert opened == [index]

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

TOO_NEW = "CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image is available for execution on the device\\nand more"

class cuda:
    class Device:
        def __init__(self, index):
            if index == 1:
                raise RuntimeError(TOO_NEW)
            if index == 2:
                raise RuntimeError()

        def __enter__(self):
            pass

        def __exit__(self, *error):
            pass

def arange(*arguments, **keywords):
    return numpy.arange(*arguments, **keywords) + WRONG
"""
FAKE_CARD = Card("Big Card", 25_000_000_000, 86)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Callable[[Driver | None], None]:
    """Tells the probe what driver there is."""

    def install(found: Driver | None) -> None:
        monkeypatch.setattr(gpu_probe, "find_driver", lambda: found)

    return install


@pytest.fixture
def cupy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Puts a module called cupy on disk, brought by `packages`; its sums are off by `wrong` an element."""

    def install(*packages: str, wrong: int = 0, source: str = FAKE_CUPY) -> None:
        (tmp_path / "cupy").mkdir()
        (tmp_path / "cupy" / "__init__.py").write_text(source.replace("WRONG", str(wrong)))
        for package in packages:
            information = tmp_path / f"{package.replace('-', '_')}-14.2.0.dist-info"
            information.mkdir()
            (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 14.2.0\n")
            (information / "RECORD").write_text("cupy/__init__.py,,\n")
        monkeypatch.syspath_prepend(tmp_path)
        for name in [name for name in sys.modules if name.partition(".")[0] == "cupy"]:
            monkeypatch.delitem(sys.modules, name)

    yield install
    sys.modules.pop("cupy", None)


def report(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The probe's last word."""
    report_gpus()
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_the_probe_without_a_driver_says_so_and_how_to_start_with_one(driver, capsys) -> None:
    driver(None)
    (gpu,) = report(capsys)
    assert gpu["available"] is False
    assert "no NVIDIA driver" in gpu["reason"]
    assert "uv run --extra gpu main.py" in gpu["remedy"]


def test_on_a_mac_it_is_said_that_there_is_never_one(driver, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    driver(Driver(13000, (FAKE_CARD,)))
    monkeypatch.setattr(sys, "platform", "darwin")
    (gpu,) = report(capsys)
    assert gpu["available"] is False
    assert "Mac" in gpu["reason"]
    assert "uv run" not in gpu["remedy"]
    assert gpu["remedy"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("", "sees no card"),
        ("CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected", "sees no card"),
        ("CUDA_ERROR_UNKNOWN: unknown error", "does not start"),
        ("CUDA error 4711: ", "CUDA error 4711"),
    ],
)
def test_the_probe_with_a_driver_and_no_card_says_why(driver, capsys, error: str, words: str) -> None:
    driver(Driver(13000, error=error))
    (gpu,) = report(capsys)
    assert gpu["available"] is False
    assert words in gpu["reason"]
    assert gpu["remedy"]


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed here")
@pytest.mark.parametrize(("version", "extra"), [(12080, "gpu-cuda12"), (13000, "gpu"), (13010, "gpu")])
def test_the_probe_without_cupy_names_the_command_that_brings_the_one_for_driver_and_card(
    driver, capsys, version: int, extra: str
) -> None:
    driver(Driver(version, (Card("Card A", 8_000_000_000, 86), Card("Card B", 4_000_000_000, 61))))
    found = report(capsys)
    assert [(gpu["key"], gpu["name"], gpu["available"], gpu["memory_bytes"]) for gpu in found] == [
        ("cuda:0", "Card A", False, 8_000_000_000),
        ("cuda:1", "Card B", False, 4_000_000_000),
    ]
    for gpu in found:
        assert "CuPy is not installed" in gpu["reason"]
    assert found[0]["remedy"] == f"Start with: uv run --extra {extra} main.py"
    assert found[1]["remedy"] == "Start with: uv run --extra gpu-cuda12 main.py"


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed here")
def test_an_empty_folder_left_behind_is_no_cupy(
    driver, capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver(Driver(13000, (FAKE_CARD,)))
    (tmp_path / "cupy").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    (gpu,) = report(capsys)
    assert gpu["reason"] == "the package CuPy is not installed"


def test_a_card_is_available_once_kernels_ran_on_it_and_one_that_fails_says_why(driver, cupy, capsys) -> None:
    driver(Driver(13000, tuple(Card(name, 25_000_000_000, 120) for name in ("Good", "Too new", "Mute"))))
    cupy("cupy-cuda13x")
    good, too_new, mute = report(capsys)
    assert good == {**FOUND, "name": "Good"}
    assert too_new["available"] is mute["available"] is False
    assert "too new" in too_new["reason"]
    assert "uv run --upgrade --extra gpu main.py" in too_new["remedy"]
    assert mute["reason"] == "RuntimeError"
    assert "uv run --extra gpu main.py" in mute["remedy"]


def test_the_probe_names_all_cards_before_it_tries_the_first(driver, cupy, capsys) -> None:
    driver(Driver(13000, (FAKE_CARD, FAKE_CARD)))
    cupy("cupy-cuda13x")
    report_gpus()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [[(gpu["available"], bool(gpu["reason"])) for gpu in line] for line in lines] == [
        [(False, False), (False, False)],
        [(True, False), (False, False)],
        [(True, False), (False, True)],
    ]


def test_a_card_that_computes_wrong_sums_is_not_available(driver, cupy, capsys) -> None:
    driver(Driver(13000, (FAKE_CARD,)))
    cupy("cupy-cuda13x", wrong=1)
    (gpu,) = report(capsys)
    assert gpu["available"] is False
    assert gpu["reason"] == "it computes wrong sums"


@pytest.mark.parametrize(
    ("version", "packages", "words", "remedy"),
    [
        (
            13000,
            ("cupy-cuda13x", "cupy-cuda12x"),
            "cupy-cuda12x and cupy-cuda13x are installed",
            "Run uv pip uninstall cupy-cuda12x cupy-cuda13x, then start with: uv run --extra gpu main.py",
        ),
        (
            12040,
            ("cupy-cuda13x",),
            "needs a driver for CUDA 13",
            "Run uv pip uninstall cupy-cuda13x, then start with: uv run --extra gpu-cuda12 main.py",
        ),
        (11080, ("cupy-cuda12x",), "driver is too old", "Update the NVIDIA driver"),
    ],
)
def test_packages_and_driver_that_do_not_fit_are_told_without_importing_cupy(
    driver, cupy, capsys, version: int, packages: tuple[str, ...], words: str, remedy: str
) -> None:
    driver(Driver(version, (FAKE_CARD,)))
    cupy(*packages)
    (gpu,) = report(capsys)
    assert gpu["available"] is False
    assert words in gpu["reason"]
    assert remedy in gpu["remedy"]
    assert "cupy" not in sys.modules


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("raise ImportError('libcudart.so.13: cannot open shared object file')", "libcudart.so.13 is missing"),
        ("import cupy._missing_room", "half installed"),
        ("class cuda: pass", "type object 'cuda' has no attribute 'Device'"),
        ("", "half installed"),
        ("raise ValueError('no such luck')", "no such luck"),
    ],
)
def test_a_cupy_that_cannot_be_imported_or_used_is_diagnosed_like_a_card_that_fails(
    driver, cupy, capsys, source: str, words: str
) -> None:
    driver(Driver(13000, (FAKE_CARD,)))
    cupy("cupy-cuda13x", source=source)
    (gpu,) = report(capsys)
    assert (gpu["name"], gpu["memory_bytes"], gpu["available"]) == ("Big Card", 25_000_000_000, False)
    assert words in gpu["reason"]
    assert "uv run --extra gpu main.py" in gpu["remedy"]
