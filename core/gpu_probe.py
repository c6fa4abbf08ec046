"""Which GPUs there are, and whether they can compute: asked in a process of its own.

A broken driver or a hanging card can then neither delay nor end this one. A GPU counts as available only after real
kernels have run on it.
"""

import ctypes
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from core.device import DeviceInfo

PROBE_TIMEOUT_SECONDS = 30.0


def probe_gpus(cancelled: Callable[[], bool]) -> list[DeviceInfo]:
    """One entry a card, or one that says why there is none; ends after `PROBE_TIMEOUT_SECONDS`, or when cancelled."""
    command = [sys.executable, "-c", "import core.gpu_probe as p; p.report_gpus()"]
    try:
        found = json.loads(_output_of(command, cancelled).strip().splitlines()[-1])
        return [DeviceInfo(**fields) for fields in found]
    except TimeoutError:
        reason = f"the GPU did not answer within {PROBE_TIMEOUT_SECONDS:.0f} seconds"
    except (OSError, ValueError, IndexError, TypeError):
        reason = "looking for a GPU ended with an error"
    remedy = "Restart the computer; if that does not help, reinstall the NVIDIA driver."
    return [DeviceInfo("cuda:0", "NVIDIA GPU", available=False, reason=reason, remedy=remedy)]


def _output_of(command: list[str], cancelled: Callable[[], bool]) -> str:
    """What the command prints; it is killed, and TimeoutError raised, after the time-out or when cancelled."""
    project = Path(__file__).resolve().parents[1]
    with subprocess.Popen(
        command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        deadline = time.monotonic() + PROBE_TIMEOUT_SECONDS
        while True:
            try:
                return process.communicate(timeout=0.05)[0]
            except subprocess.TimeoutExpired:
                if cancelled() or time.monotonic() > deadline:
                    process.kill()
                    raise TimeoutError from None


def report_gpus() -> None:
    """The probe's own process: look for GPUs and write them to stdout as one line of JSON."""
    sys.stdout.write(json.dumps([asdict(info) for info in _probe_gpus()]) + "\n")


def _probe_gpus() -> list[DeviceInfo]:
    def unavailable(reason: str, remedy: str) -> list[DeviceInfo]:
        return [DeviceInfo("cuda:0", "NVIDIA GPU", available=False, reason=reason, remedy=remedy)]

    driver = _nvidia_driver()
    if driver is None:
        return unavailable(
            "no NVIDIA driver was found on this machine",
            "With an NVIDIA card in it, install NVIDIA's driver, then start with: uv run --extra gpu main.py",
        )
    cuda_version, names = driver
    if not names:
        return unavailable("the NVIDIA driver sees no card", "Check that the card is seated and powered.")
    extra = "gpu" if cuda_version >= 13000 else "gpu-cuda12"
    start = f"uv run --extra {extra} main.py"
    if importlib.util.find_spec("cupy") is None:
        reason = "the package CuPy is not installed"
        return [
            DeviceInfo(f"cuda:{i}", name, available=False, reason=reason, remedy=f"Start with: {start}")
            for i, name in enumerate(names)
        ]
    return [_try_kernels(i, name, start) for i, name in enumerate(names)]


def _nvidia_driver() -> tuple[int, list[str]] | None:
    """The CUDA version the driver supports (13000 is 13.0) and the names of its cards; None without a driver."""
    try:
        cuda = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return None
    version, count = ctypes.c_int(0), ctypes.c_int(0)
    cuda.cuDriverGetVersion(ctypes.byref(version))
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return version.value, []
    names = []
    for index in range(count.value):
        name = ctypes.create_string_buffer(256)
        cuda.cuDeviceGetName(name, 256, index)
        names.append(name.value.decode(errors="replace"))
    return version.value, names


def _try_kernels(index: int, name: str, start: str) -> DeviceInfo:
    """Run an element-wise kernel and a matrix product; whatever they raise is the reason."""
    key = f"cuda:{index}"
    try:
        import cupy

        with cupy.cuda.Device(index):
            numbers = cupy.arange(16, dtype=cupy.float32).reshape(4, 4)
            if float((numbers @ numbers + 1).sum()) != 3936.0:
                raise RuntimeError("it computes wrong sums")
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        remedy = f"Update the NVIDIA driver, or start with the other CuPy: {start}"
        return DeviceInfo(key, name, available=False, reason=reason, remedy=remedy)
    return DeviceInfo(key, name, available=True)
