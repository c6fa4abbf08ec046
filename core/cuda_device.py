"""A GPU as a device: the same contract as the CPU's, kept by CuPy, which is imported here and nowhere at start-up."""

import contextlib
import sys
from collections.abc import Iterator

from core.device import Array, Device, HostArray


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
