"""A GPU as a device: the same contract as the CPU's, kept by CuPy, which is imported here and nowhere at start-up.

All work of a device goes to one stream of its own, in order, and nobody waits for it but who reads a result. A step is
captured once as a CUDA graph and then launched as a whole: asking for its fifty kernels one by one takes the host
longer than computing them takes the GPU.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from core.cublas import WORKSPACE_BYTES, CuBLAS
from core.device import Array, Device, DeviceError, DTypeLike, HostArray, Scalar, Scalars

_STAGING_BYTES = 8 * 1024 * 1024


class CudaDevice(Device):
    """An NVIDIA GPU through CuPy. With `tf32`, float32 products round their inputs to 10 bits of mantissa, for speed.

    Its memory is its own pool's, which goes with it: when the last array of a run is gone, all of it is free again.
    """

    def __init__(self, index: int, *, tf32: bool = False) -> None:
        import cupy

        self.key = f"cuda:{index}"
        self.xp = self._cupy = cupy
        self.piece_size = sys.maxsize
        self.many_cores = True
        self.shares = 1
        self._blas = None
        self._helpers = None
        self._device = cupy.cuda.Device(index)
        self.name = cupy.cuda.runtime.getDeviceProperties(index)["name"].decode()
        self._pool = cupy.cuda.MemoryPool()
        # What kernels need in passing while a step is captured, the graph goes on using whenever it is launched. Nobody
        # else may be given that memory; other graphs may, since they are launched one after the other.
        self._recording_pool = cupy.cuda.MemoryPool()
        self._can_capture = True
        with self._translating(), self._device:
            self._stream = cupy.cuda.Stream(non_blocking=True)
            self._add_scaled = cupy.ElementwiseKernel(
                "T x, T factor", "T out", "out += factor * x", "inkling_add_scaled"
            )
        with self.activate():
            self._staging = _Staging(cupy, self._stream)
            self._products = self._find_products(tf32)

    def _find_products(self, tf32: bool) -> CuBLAS | None:
        """cuBLAS, or None if it cannot be spoken to directly, or says anything else than CuPy does."""
        a = self.xp.arange(12, dtype=np.float32).reshape(3, 4)
        wanted = a @ a.T  # CuPy loads the library on the way.
        self._workspace = self._cupy.cuda.alloc(WORKSPACE_BYTES)
        try:
            found = CuBLAS(self._stream.ptr, self._workspace.ptr)
            found.allow_tf32(tf32)
            out = self.xp.empty_like(wanted)
            if found.product(a, a.T, out) and bool(self.xp.allclose(out, wanted, rtol=1e-2)):
                return found
        except (OSError, AttributeError):
            pass
        return None

    @contextlib.contextmanager
    def activate(self) -> Iterator[None]:
        allocator = self._cupy.cuda.using_allocator(self._pool.malloc)
        with self._translating(), self._device, self._stream, allocator:
            yield

    @contextlib.contextmanager
    def _translating(self) -> Iterator[None]:
        """What CUDA reports, as a DeviceError whose sentence says what to do."""
        try:
            yield
        except self._cupy.cuda.memory.OutOfMemoryError as error:
            raise DeviceError(
                f"the memory of {self.name} is full; choose a smaller batch or network, or close other programs that "
                "use the GPU"
            ) from error
        except RuntimeError as error:
            if isinstance(error, DeviceError) or type(error).__module__.partition(".")[0] not in (
                "cupy",
                "cupy_backends",
            ):
                raise
            raise DeviceError(
                f"{self.name} stopped computing ({_first_line(error)}); train on the CPU, or restart the computer and "
                "try again"
            ) from error

    def to_device(self, host: HostArray) -> Array:
        with self.activate():
            return self.xp.array(host)

    def to_host(self, array: Array) -> HostArray:
        with self.activate():
            host: HostArray = self.xp.asnumpy(array)
        host.flags.writeable = False
        return host

    def upload(self, host: HostArray, out: Array) -> None:
        self._staging.upload(host, out)

    def scalars(self, count: int, dtype: DTypeLike) -> Scalars:
        return _DeviceScalars(self, count, dtype)

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        return _Recorded(self, work)

    def do_plainly(self, work: Callable[[], None]) -> None:
        """`work`, not captured, but with the memory that a capture of it would use."""
        with self._cupy.cuda.using_allocator(self._recording_pool.malloc):
            work()

    def capture(self, work: Callable[[], None]) -> Any:
        """What `work` asks for as a CUDA graph, not yet computed; None if that cannot be captured, now or ever."""
        if not self._can_capture:
            return None
        self._stream.begin_capture()
        try:
            self.do_plainly(work)
        except Exception:
            # Whatever was wrong with it will show again when `work` is done plainly.
            self._can_capture = False
            with contextlib.suppress(Exception):
                self._stream.end_capture()
            return None
        return self._stream.end_capture()

    def gather(self, source: Array, rows: Array, out: Array) -> Array:
        return self.xp.take(source, rows, axis=0, out=out)

    def add_scaled(self, x: Array, factor: Scalar, out: Array) -> None:
        self._add_scaled(x, factor, out)

    def scale(self, factor: Scalar, out: Array) -> None:
        self.xp.multiply(out, factor, out=out)

    def product(self, a: Array, b: Array, out: Array, keep: float = 0.0) -> None:
        if self._products is None or not self._products.product(a, b, out, keep):
            super().product(a, b, out, keep)

    def address(self, array: Array) -> int:
        return int(array.data.ptr)  # type: ignore[attr-defined]

    def synchronize(self) -> None:
        with self._translating():
            self._stream.synchronize()


class _DeviceScalars(Scalars):
    """Numbers in the GPU's memory, so that a captured step reads what they are when it is launched."""

    def __init__(self, device: CudaDevice, count: int, dtype: DTypeLike) -> None:
        self._device = device
        self._host = np.zeros(count, dtype)
        self._array = device.to_device(self._host)
        self._each = [self._array[i] for i in range(count)]

    def set(self, *values: float) -> None:
        self._host[:] = values
        self._device.upload(self._host, self._array)

    def __getitem__(self, index: int) -> Scalar:
        return self._each[index]


class _Recorded:
    """Done plainly the first time, which makes all arrays and loads all kernels; captured the second; then launched."""

    def __init__(self, device: CudaDevice, work: Callable[[], None]) -> None:
        self._device, self._work = device, work
        self._calls = 0
        self._graph: Any = None

    def __call__(self) -> None:
        self._calls += 1
        if self._calls == 2:
            self._graph = self._device.capture(self._work)
        if self._graph is None:
            self._device.do_plainly(self._work)
        else:
            self._graph.launch()


class _Staging:
    """Pinned memory that small arrays pass through on their way to the GPU, so that the host need not wait for it.

    It is used in two halves; before one is written again, what was sent from it must have arrived.
    """

    def __init__(self, cupy: Any, stream: Any) -> None:
        self._runtime, self._stream = cupy.cuda.runtime, stream
        self._memory = cupy.cuda.alloc_pinned_memory(_STAGING_BYTES)
        self._bytes = np.frombuffer(self._memory, np.uint8, _STAGING_BYTES)
        self._sent = [cupy.cuda.Event(disable_timing=True) for _ in range(2)]
        self._half, self._used = 0, 0

    def upload(self, host: HostArray, out: Array) -> None:
        if host.nbytes > _STAGING_BYTES // 2:
            out.set(host, stream=self._stream)  # type: ignore[attr-defined]
            self._stream.synchronize()
            return
        if self._used + host.nbytes > _STAGING_BYTES // 2:
            self._sent[self._half].record(self._stream)
            self._half, self._used = 1 - self._half, 0
            self._sent[self._half].synchronize()
        start = self._half * (_STAGING_BYTES // 2) + self._used
        self._bytes[start : start + host.nbytes] = np.frombuffer(host.tobytes(), np.uint8)
        # Each piece begins at an address that suits every dtype.
        self._used += -(-host.nbytes // 64) * 64
        source = self._memory.ptr + start
        to_device = self._runtime.memcpyHostToDevice
        self._runtime.memcpyAsync(out.data.ptr, source, host.nbytes, to_device, self._stream.ptr)  # type: ignore[attr-defined]


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
