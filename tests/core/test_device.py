"""Devices: what the CPU promises, and a search for GPUs that tells the truth and never does any harm.

The probe's process is a real one throughout: where this machine cannot show a certain behaviour of it (it hangs, it
talks nonsense, it finds a card), a small program stands in for the Python interpreter that would run it. What the
probe itself says is tested with a driver and a CuPy made up for the occasion, the latter a real package on disk.
"""

import contextlib
import functools
import gc
import importlib.util
import json
import os
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from core import device as device_module
from core.device import Device, DeviceError, DeviceInfo, HostArray, list_devices, open_device, report_gpus

ROOT = Path(__file__).resolve().parents[2]
FOUND = {"key": "cuda:0", "name": "Fast Card", "available": True, "reason": "", "remedy": ""}
TOO_OLD = {
    "key": "cuda:0",
    "name": "Old Card",
    "available": False,
    "reason": "the card is too old",
    "remedy": "Buy a newer one",
}


def test_a_copy_on_the_device_comes_back_as_it_went_and_is_nobody_else_s(device: Device) -> None:
    source = np.arange(6, dtype=np.float32).reshape(2, 3)
    on_device = device.to_device(source)
    source[0, 0] = 99
    host = device.to_host(on_device)
    on_device[...] = -1
    assert type(host) is np.ndarray
    assert host.dtype == np.float32
    assert host.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match="read-only"):
        host[0, 0] = 1


@pytest.mark.parametrize("dtype", [np.uint8, np.intp, np.float32])
def test_gathering_picks_rows_into_the_array_given(device: Device, dtype: type) -> None:
    source = np.arange(20).reshape(5, 4).astype(dtype)
    rows = np.array([4, 0, 0, 3])
    out = device.to_device(np.zeros((4, 4), dtype))
    device.gather(device.to_device(source), device.to_device(rows), out=out)
    assert device.to_host(out).tolist() == [source[row].tolist() for row in rows]


def test_gathering_on_the_cpu_allocates_nothing() -> None:
    cpu, source, out = Device(), np.ones((5000, 10)), np.empty((5000, 10))
    rows = np.arange(5000)
    tracemalloc.start()
    try:
        cpu.gather(source, rows, out=out)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2000


def test_while_a_device_is_active_overflow_gives_infinity_without_a_warning(device: Device) -> None:
    huge = device.to_device(np.array([3e38], np.float32))
    with device.activate():
        assert device.to_host(huge * 10).tolist() == [np.inf]
        assert np.isnan(device.to_host(huge * 10 - huge * 10)).all()
    device.synchronize()


@pytest.fixture(params=["with its BLAS", "with NumPy alone"])
def cpu(request: pytest.FixtureRequest) -> Device:
    """The CPU, once as it is and once as where NumPy stands on a BLAS that cannot be called."""
    cpu = Device()
    if request.param == "with NumPy alone":
        cpu._blas = None
    return cpu


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_adding_a_multiple_changes_the_sum_and_nothing_else(cpu: Device, rng: np.random.Generator, dtype: type) -> None:
    x, out = rng.normal(0, 1, 1001).astype(dtype), rng.normal(0, 1, 1001).astype(dtype)
    x_before, wanted = x.copy(), [float(o) - 0.75 * float(v) for o, v in zip(out, x, strict=True)]
    cpu.add_scaled(x, -0.75, out=out)
    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(x, x_before)


def test_whole_numbers_are_added_by_numpy(cpu: Device) -> None:
    out = np.array([1, 2, 3])
    cpu.add_scaled(np.array([10, 20, 30]), 2, out=out)
    assert out.tolist() == [21, 42, 63]


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("odd", [False, True], ids=["plain strides", "odd strides"])
def test_a_prepared_product_is_computed_anew_at_each_call_from_what_the_arrays_hold_then(
    cpu: Device, rng: np.random.Generator, odd: bool, add: bool
) -> None:
    wide = rng.normal(0, 1, (5, 14)).astype(np.float32)
    a = wide[:, ::2] if odd else wide[:, :7]
    b, out = rng.normal(0, 1, (7, 4)).astype(np.float32), np.ones((5, 4), np.float32)
    compute = cpu.prepare_product(a, b, out, add=add)
    np.testing.assert_array_equal(out, 1)
    for _ in range(2):
        b += 1
        before = out.astype(np.float64)
        compute()
        np.testing.assert_allclose(out, plain_product(a, b) + add * before, rtol=1e-5, atol=1e-5)


def plain_product(a: HostArray, b: HostArray) -> HostArray:
    rows, columns = a.tolist(), b.T.tolist()
    return np.array([[sum(v * w for v, w in zip(row, column, strict=True)) for column in columns] for row in rows])


def test_the_address_tells_arrays_apart_and_views_of_one_beginning_together() -> None:
    cpu, array = Device(), np.zeros((4, 3))
    assert cpu.address(array) == cpu.address(array[:2]) == cpu.address(array.T)
    assert len({cpu.address(array), cpu.address(array[1:]), cpu.address(np.zeros((4, 3)))}) == 3


def test_work_for_several_is_all_done_when_it_returns_each_piece_in_a_thread_of_its_own() -> None:
    cpu, done, meeting = Device(), [], threading.Barrier(3, timeout=20)
    cpu.shares = 3

    def piece(number: int) -> None:
        meeting.wait()  # nobody passes before all three are here
        done.append((number, threading.current_thread()))

    for _ in range(2):
        cpu.run_together([functools.partial(piece, number) for number in range(3)])
    assert sorted(number for number, _ in done) == [0, 0, 1, 1, 2, 2]
    assert {thread for number, thread in done if number == 0} == {threading.current_thread()}
    assert len({thread for _, thread in done}) == 3


def test_work_for_one_is_done_by_the_caller_and_no_thread_is_started() -> None:
    threads, seen = threading.active_count(), []
    Device().run_together([lambda: seen.append(threading.current_thread())])
    assert seen == [threading.current_thread()]
    assert threading.active_count() == threads


def test_what_a_helper_s_piece_raises_reaches_the_caller() -> None:
    cpu = Device()
    cpu.shares = 2
    with pytest.raises(ZeroDivisionError):
        cpu.run_together([lambda: None, lambda: 1 // 0])


def test_a_device_s_helpers_end_with_it() -> None:
    cpu, helpers = Device(), []
    cpu.shares = 2
    cpu.run_together([lambda: None, lambda: helpers.append(threading.current_thread())])
    assert helpers[0].is_alive()
    del cpu
    gc.collect()
    helpers[0].join(20)
    assert not helpers[0].is_alive()


def test_while_work_is_divided_the_library_takes_one_thread_and_otherwise_it_is_left_alone() -> None:
    cpu, said = Device(), []

    class Library:
        @contextlib.contextmanager
        def one_thread_each(self):
            said.append("one")
            yield
            said.append("all")

    cpu._blas = Library()
    with cpu.dividing(True):
        assert said == ["one"]
    assert said == ["one", "all"]
    with cpu.dividing(False):
        assert said == ["one", "all"]
    cpu._blas = None
    with cpu.dividing(True):
        assert said == ["one", "all"]


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
        monkeypatch.setattr(device_module, "PROBE_TIMEOUT_SECONDS", 0.5)
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
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from core.device import list_devices; print(list_devices())"
    )
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
        monkeypatch.setattr(device_module, "_nvidia_driver", lambda: found)

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


def test_importing_all_of_core_imports_neither_cupy_nor_qt() -> None:
    script = (
        "import importlib, pkgutil, sys, core\n"
        "names = [module.name for module in pkgutil.walk_packages(core.__path__, 'core.')]\n"
        "assert 'core.command_line' in names and 'core.nn.layers.linear' in names, names\n"
        "for name in names: importlib.import_module(name)\n"
        "unwanted = {'cupy', 'PySide6', 'shiboken6', 'pyqtgraph', 'matplotlib'}\n"
        "print(sorted(unwanted & {name.partition('.')[0] for name in sys.modules}))\n"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
