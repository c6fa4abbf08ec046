"""A device that is no CPU, on any machine: arrays like CuPy's, and steps captured as CUDA graphs are."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from core.device import Array, Device, DTypeLike, HostArray, Scalar, Scalars
from core.openblas import TRANSPOSED, layout
from tests.doubles.array import DoubleArray
from tests.doubles.array_module import ArrayModule
from tests.doubles.stream import Kernel, Stream


class DoubleScalars(Scalars):
    """Numbers in the device's memory, each an array of shape ()."""

    def __init__(self, device: "DoubleDevice", count: int, dtype: DTypeLike) -> None:
        self._device = device
        self._array = device.xp.zeros(count, dtype)

    def set(self, *values: float) -> None:
        self._device.upload(np.array(values, self._array.dtype), out=self._array)

    def __getitem__(self, index: int) -> Scalar:
        return self._array[index]


class DoubleDevice(Device):
    """Stands for `CudaDevice`; `stream` tells what it was asked to do."""

    def __init__(self) -> None:
        self.key, self.name = "double:0", "Device double"
        self.stream = Stream()
        self.xp: Any = ArrayModule(self.stream)
        self.piece_size = sys.maxsize
        self.many_cores = True
        self.shares = 1
        self._blas = None
        self._helpers = None

    @contextlib.contextmanager
    def activate(self) -> Iterator[None]:
        with self.stream.current():
            yield

    def to_device(self, host: HostArray) -> Array:
        with self.activate():
            return self.xp.asarray(host)

    def to_host(self, array: Array) -> HostArray:
        with self.activate():
            host = array.get()
        host.flags.writeable = False
        return host

    def upload(self, host: HostArray, out: Array) -> None:
        if host.dtype != out.dtype:
            raise TypeError(f"{host.dtype} array cannot be set to {out.dtype} array")
        if host.shape != out.shape:
            raise ValueError(f"Shape mismatch. Old shape: {out.shape}, new shape: {host.shape}")
        if not (out.flags.c_contiguous or out.flags.f_contiguous):
            raise RuntimeError("Cannot set to non-contiguous array")
        self.stream.upload("upload")
        np.copyto(out.device_memory, host)

    def scalars(self, count: int, dtype: DTypeLike) -> Scalars:
        return DoubleScalars(self, count, dtype)

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        tape: list[Kernel] = []
        calls = iter(range(sys.maxsize))

        def recorded() -> None:
            call = next(calls)
            if call == 0:
                work()
                return
            if call == 1:
                with self.stream.capture() as noted:
                    work()
                tape.extend(noted)
            self.stream.replay(tape)

        return recorded

    def gather(self, source: Array, rows: Array, out: Array) -> Array:
        return self.xp.take(source, rows, axis=0, out=out)

    def add_scaled(self, x: Array, factor: Scalar, out: Array) -> None:
        values, number, target = x.device_memory, self._number(factor, out), out.device_memory
        self.stream.launch(lambda: np.add(target, values * number, out=target))

    def scale(self, factor: Scalar, out: Array) -> None:
        number, target = self._number(factor, out), out.device_memory
        self.stream.launch(lambda: np.multiply(target, number, out=target))

    def product(self, a: Array, b: Array, out: Array, keep: float = 0.0) -> None:
        """What cuBLAS cannot read or write where it lies is left to CuPy, whose products no captured step can hold."""
        left, right, target = (array.device_memory for array in (a, b, out))
        layouts = [layout(matrix) if matrix.ndim == 2 else None for matrix in (left, right, target)]
        if None in layouts or layouts[2][0] == TRANSPOSED or not left.dtype == right.dtype == target.dtype:
            super().product(a, b, out, keep)
        elif keep == 0.0:
            self.stream.launch(lambda: np.matmul(left, right, out=target))
        else:
            self.stream.launch(lambda: np.add(keep * target, left @ right, out=target))

    def address(self, array: Array) -> int:
        return int(array.device_memory.ctypes.data)

    def synchronize(self) -> None:
        with self.activate():
            self.stream.synchronize("synchronize")

    @staticmethod
    def _number(factor: Scalar, out: Array) -> Any:
        return factor.device_memory if isinstance(factor, DoubleArray) else out.dtype.type(factor)
