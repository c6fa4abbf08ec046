"""Which GPUs there are, and whether they can compute: asked in a process of its own.

A broken driver or a hanging card can then neither delay nor end this one. A GPU counts as available only after real
kernels have run on it.
"""

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from core.device import DeviceInfo
from core.gpu_diagnosis import Diagnosis, Setup, diagnose, find_obstacle
from core.nvidia_driver import find_driver

PROBE_TIMEOUT_SECONDS = 30.0

_MAC = Diagnosis("a Mac has no NVIDIA GPU", "Train on the CPU; GPU training needs Linux or Windows.")
_NO_DRIVER = Diagnosis(
    "no NVIDIA driver was found on this machine",
    "With an NVIDIA card in it, install NVIDIA's driver, then start with: uv run --extra gpu main.py",
)
_NO_CARD = "no CUDA-capable device is detected"


def probe_gpus(cancelled: Callable[[], bool]) -> list[DeviceInfo]:
    """One entry a card, or one that says why there is none; ends after `PROBE_TIMEOUT_SECONDS`, or when cancelled."""
    reason = "looking for a GPU ended with an error"
    found = []
    try:
        output, in_time = _output_of([sys.executable, "-c", "import core.gpu_probe as p; p.report_gpus()"], cancelled)
        if not in_time:
            reason = f"the GPU did not answer within {PROBE_TIMEOUT_SECONDS:.0f} seconds"
        found = [DeviceInfo(**fields) for fields in json.loads(output.strip().splitlines()[-1])]
    except (OSError, ValueError, IndexError, TypeError):
        pass
    failure = Diagnosis(reason, "Restart the computer; if that does not help, reinstall the NVIDIA driver.")
    found = found or [_no_gpu(failure)]
    return [info if info.available or info.reason else _judged(info, failure) for info in found]


def _output_of(command: list[str], cancelled: Callable[[], bool]) -> tuple[str, bool]:
    """What the command prints, and whether it ended of itself; it is killed after the time-out or when cancelled."""
    # Into a file: the end of a pipe would have to be waited for, and a process caught in a driver survives a kill.
    with tempfile.TemporaryFile() as output:
        project = Path(__file__).resolve().parents[1]
        process = subprocess.Popen(command, cwd=project, stdout=output, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PROBE_TIMEOUT_SECONDS
        while process.poll() is None and time.monotonic() < deadline and not cancelled():
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.05)
        in_time = process.poll() is not None
        if not in_time:
            process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1.0)
        output.seek(0)
        return output.read().decode(errors="replace"), in_time


def report_gpus() -> None:
    """The probe's own process: write the list of GPUs to stdout, as a line of JSON each time more of it is known."""
    for found in _probe_gpus():
        sys.stdout.write(json.dumps([asdict(info) for info in found]) + "\n")
        sys.stdout.flush()


def _probe_gpus() -> Iterator[list[DeviceInfo]]:
    """The list, ever more of it known: a card not tried yet is not available, for no reason.

    So the cards have their names even when trying one of them hangs or ends the process.
    """
    if sys.platform == "darwin":
        yield [_no_gpu(_MAC)]
        return
    driver = find_driver()
    if driver is None:
        yield [_no_gpu(_NO_DRIVER)]
        return
    packages = _cupy_packages()
    if not driver.cards:
        yield [_no_gpu(diagnose(driver.error or _NO_CARD, Setup(driver.cuda_version, 0, packages)))]
        return
    found = [
        DeviceInfo(f"cuda:{index}", card.name, available=False, memory_bytes=card.memory_bytes)
        for index, card in enumerate(driver.cards)
    ]
    yield found
    for index, card in enumerate(driver.cards):
        setup = Setup(driver.cuda_version, card.capability, packages)
        found[index] = _judged(found[index], find_obstacle(setup) or _try_kernels(index, setup))
        yield found


def _cupy_packages() -> tuple[str, ...]:
    """The installed packages that bring a module called cupy, found without importing it."""
    packages = importlib.metadata.packages_distributions().get("cupy", [])
    if not packages:
        # A folder left behind has a spec too, but no file to import.
        spec = importlib.util.find_spec("cupy")
        packages = ["cupy"] if spec is not None and spec.origin is not None else []
    return tuple(sorted(set(packages)))


def _try_kernels(index: int, setup: Setup) -> Diagnosis | None:
    """Run an element-wise kernel and a matrix product; whatever they raise is diagnosed."""
    try:
        import cupy

        with cupy.cuda.Device(index):
            numbers = cupy.arange(16, dtype=cupy.float32).reshape(4, 4)
            if float((numbers @ numbers + 1).sum()) != 3936.0:
                raise RuntimeError("it computes wrong sums")
    except Exception as error:
        return diagnose(str(error).strip() or type(error).__name__, setup)
    return None


def _judged(info: DeviceInfo, diagnosis: Diagnosis | None) -> DeviceInfo:
    if diagnosis is None:
        return replace(info, available=True)
    return replace(info, reason=diagnosis.reason, remedy=diagnosis.remedy)


def _no_gpu(diagnosis: Diagnosis) -> DeviceInfo:
    return _judged(DeviceInfo("cuda:0", "NVIDIA GPU", available=False), diagnosis)
