"""Where arrays live: the one room that knows CPU from GPU, and the only file that says "cupy".

Everything above computes with `device.xp`, NumPy's API on either side, and with the few operations below that the two
libraries spell differently. CuPy is imported on demand, never at start-up: a GPU is looked for in a process of its
own, so that a broken driver or a hanging card can neither delay nor end this one, and it counts as available only
after real kernels have run on it.
"""

import contextlib
import ctypes
import functools
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from core import openblas
from core.openblas import HostArray as HostArray

Array: TypeAlias = HostArray
"""An array on some device; it has NumPy's API, wherever it lives."""

DTypeLike: TypeAlias = np.dtype[Any] | type[np.generic] | str

PROBE_TIMEOUT_SECONDS = 30.0


class DeviceError(RuntimeError):
    """A device that was asked for cannot compute; the message says why and what to do."""


class UnknownDeviceError(DeviceError):
    """There is no device of that name here; the message lists those there are."""


@dataclass(frozen=True)
class DeviceInfo:
    """One entry of the device list: `key` ("cpu", "cuda:0") selects it; `reason` and `remedy` say why not, if not."""

    key: str
    name: str
    available: bool
    reason: str = ""
    remedy: str = ""


class Device:
    """A place where arrays live and are computed with; this class itself is the CPU.

    `piece_size` is the number of elements that element-wise work over a long array should take at a time, so that
    several passes over a piece find it in the cache. `shares` is into how many parts a layer should divide work that
    no library divides for it (see `run_together`): as many as BLAS takes threads, unless said otherwise.
    """

    def __init__(self, shares: int | None = None) -> None:
        self.key = "cpu"
        self.name = f"CPU – {_cpu_threads()} threads"
        self.xp: ModuleType = np
        self.piece_size = 131072
        self._blas = openblas.find()
        self.shares = shares or (_cpu_threads() if self._blas is None else min(_cpu_threads(), self._blas.threads))
        self._helpers: ThreadPoolExecutor | None = None

    @contextlib.contextmanager
    def activate(self) -> Iterator[None]:
        """Make this device current for the calling thread; overflow yields infinity here, as it does on a GPU."""
        with np.errstate(all="ignore"):
            yield

    def to_device(self, host: HostArray) -> Array:
        """A copy of `host` on this device."""
        return np.array(host)

    def to_host(self, array: Array) -> HostArray:
        """A read-only copy of `array` in the host's memory; waits for the device."""
        host = np.array(array)
        host.flags.writeable = False
        return host

    def gather(self, source: Array, rows: Array, out: Array) -> Array:
        """`out[i] = source[rows[i]]`, without allocating; `rows` are of the platform's index type and in range."""
        # Any mode but the default writes straight into out; the default buffers it to stay unchanged on an error.
        return np.take(source, rows, axis=0, out=out, mode="clip")

    def add_scaled(self, x: Array, factor: float, out: Array) -> None:
        """out += factor x, for contiguous arrays of one shape and dtype."""
        if self._blas is not None and out.dtype.kind == "f":
            self._blas.add_scaled(x, factor, out)
        else:
            self.xp.add(out, self.xp.multiply(x, factor), out=out)

    def scale(self, factor: float, out: Array) -> None:
        """out *= factor, for a contiguous array."""
        if self._blas is not None and out.dtype.kind == "f":
            self._blas.scale(factor, out)
        else:
            self.xp.multiply(out, factor, out=out)

    def prepare_product(self, a: Array, b: Array, out: Array, *, add: bool) -> Callable[[], None]:
        """A function that computes out = a b, or out += a b, each time it is called, from what the arrays hold then."""
        product = None if self._blas is None else self._blas.prepare_product(a, b, out, add=add)
        if product is not None:
            return product
        if not add:
            return functools.partial(self.xp.matmul, a, b, out=out)
        return lambda: self.xp.add(out, self.xp.matmul(a, b), out=out)

    def address(self, array: Array) -> int:
        """Where the array's memory begins: two arrays of one shape and strides at one address are the same."""
        return int(array.ctypes.data)

    def run_together(self, work: Sequence[Callable[[], None]]) -> None:
        """Do all of `work`, each piece in a thread of its own where there is more than one; returns when all is done.

        The pieces must not write to the same places. To be called within `dividing`.
        """
        if len(work) == 1:
            work[0]()
            return
        if self._helpers is None:
            # As in `activate`, whose setting reaches the calling thread alone.
            quiet = functools.partial(np.seterr, all="ignore")
            self._helpers = ThreadPoolExecutor(self.shares - 1, "inkling-helper", initializer=quiet)
        others = [self._helpers.submit(piece) for piece in work[1:]]
        work[0]()
        for other in others:
            other.result()

    def dividing(self, divides: bool) -> contextlib.AbstractContextManager[None]:
        """While this lasts, the caller divides work among threads itself, if `divides`, and the library does not.

        Never both: a library's threads go on waiting busily after their work is done, where others would be working.
        """
        if not divides or self._blas is None or self.shares == 1:
            return contextlib.nullcontext()
        return self._blas.one_thread_each()

    def synchronize(self) -> None:
        """Wait until everything asked for so far has been computed."""


class CudaDevice(Device):
    """An NVIDIA GPU through CuPy."""

    def __init__(self, index: int) -> None:
        import cupy

        self.key = f"cuda:{index}"
        self.xp = cupy
        self._device = cupy.cuda.Device(index)
        self.name = cupy.cuda.runtime.getDeviceProperties(index)["name"].decode()
        self.piece_size = sys.maxsize
        self.shares = 1
        self._blas = None

    @contextlib.contextmanager
    def activate(self) -> Iterator[None]:
        with self._device:
            yield

    def to_device(self, host: HostArray) -> Array:
        return self.xp.asarray(host)

    def to_host(self, array: Array) -> HostArray:
        host: HostArray = self.xp.asnumpy(array)
        host.flags.writeable = False
        return host

    def gather(self, source: Array, rows: Array, out: Array) -> Array:
        return self.xp.take(source, rows, axis=0, out=out)

    def address(self, array: Array) -> int:
        return int(array.data.ptr)  # type: ignore[attr-defined]

    def synchronize(self) -> None:
        self._device.synchronize()


def list_devices(cancelled: Callable[[], bool] = lambda: False) -> list[DeviceInfo]:
    """Every device of this machine, the CPU first; where no GPU can be used, one entry says why.

    Takes up to `PROBE_TIMEOUT_SECONDS`, less once `cancelled` answers True: not for the GUI thread.
    """
    cpu = Device()
    return [DeviceInfo(cpu.key, cpu.name, available=True), *_probe_gpus_in_a_process(cancelled)]


def open_device(key: str) -> Device:
    """The device called `key`; "auto" is the first GPU that works, or else the CPU.

    Raises UnknownDeviceError if there is no such device, DeviceError if it cannot compute.
    """
    if key == "cpu":
        return Device()
    devices = list_devices()
    if key == "auto":
        key = next((info.key for info in devices if info.available and info.key != "cpu"), "cpu")
        return Device() if key == "cpu" else CudaDevice(_index(key))
    found = next((info for info in devices if info.key == key), None)
    if found is None:
        known = ", ".join(["auto", *(info.key for info in devices)])
        raise UnknownDeviceError(f"there is no device {key!r}; this machine knows {known}")
    if not found.available:
        raise DeviceError(f"{found.key} cannot be used: {found.reason}. {found.remedy}")
    return CudaDevice(_index(key))


def _index(key: str) -> int:
    return int(key.partition(":")[2])


def _cpu_threads() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _probe_gpus_in_a_process(cancelled: Callable[[], bool]) -> list[DeviceInfo]:
    command = [sys.executable, "-c", "import core.device as d; d.report_gpus()"]
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
