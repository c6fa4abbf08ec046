"""Where arrays live, and what a place to compute must offer; the CPU is one, core.cuda_device another.

Everything above computes with `device.xp`, NumPy's API on either side, and with the few operations below that NumPy
and CuPy spell differently, or that one of them lacks.
"""

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from core import openblas
from core.openblas import HostArray as HostArray

Array: TypeAlias = HostArray
"""An array on some device; it has NumPy's API, wherever it lives."""

Scalar: TypeAlias = float | Array
"""A number to compute with: the host's own, or one that lies on a device, an array of shape ()."""

DTypeLike: TypeAlias = np.dtype[Any] | type[np.generic] | str


class DeviceError(RuntimeError):
    """A device that was asked for cannot compute; the message says why and what to do."""


class UnknownDeviceError(DeviceError):
    """There is no device of that name here; the message lists those there are."""


@dataclass(frozen=True)
class DeviceInfo:
    """One entry of the device list: `key` ("cpu", "cuda:0") selects it; `reason` and `remedy` say why not, if not.

    `memory_bytes` is all the memory that a GPU has, 0 where that is not known.
    """

    key: str
    name: str
    available: bool
    reason: str = ""
    remedy: str = ""
    memory_bytes: int = 0


class Scalars:
    """A few numbers that the host sets before each step, read by index while computing; here plain floats."""

    def __init__(self, count: int) -> None:
        self._values: list[float] = [0.0] * count

    def set(self, *values: float) -> None:
        """As many as there are."""
        self._values[:] = values

    def __getitem__(self, index: int) -> Scalar:
        return self._values[index]


class Device:
    """A place where arrays live and are computed with; this class itself is the CPU.

    `piece_size` is the number of elements that element-wise work over a long array should take at a time, so that
    several passes over a piece find it in the cache. `many_cores` says that one large product beats many small ones,
    even if everything must be laid out for it first. `shares` is into how many parts a layer should divide work that
    no library divides for it (see `run_together`): as many as BLAS takes threads, unless said otherwise.
    """

    alone = False
    """Whether the calling thread does by itself what several could do together: the same, bit for bit."""

    def __init__(self, shares: int | None = None) -> None:
        self.key = "cpu"
        self.name = f"CPU – {_cpu_threads()} threads"
        self.xp: ModuleType = np
        self.piece_size = 131072
        self.many_cores = False
        self._blas = openblas.find()
        self.shares = shares or (_cpu_threads() if self._blas is None else min(_cpu_threads(), self._blas.threads))
        self._helpers: ThreadPoolExecutor | None = None

    @contextlib.contextmanager
    def activate(self) -> Iterator[None]:
        """Make this device current for the calling thread; overflow yields infinity here, as it does on a GPU.

        Raises DeviceError where it cannot go on, above all for want of memory.
        """
        try:
            with np.errstate(all="ignore"):
                yield
        except MemoryError as error:
            raise DeviceError("this computer's memory is full; choose a smaller batch or network") from error

    def to_device(self, host: HostArray) -> Array:
        """A copy of `host` on this device."""
        return np.array(host)

    def to_host(self, array: Array) -> HostArray:
        """A read-only copy of `array` in the host's memory; waits for the device."""
        host = np.array(array)
        host.flags.writeable = False
        return host

    def upload(self, host: HostArray, out: Array) -> None:
        """Write `host` into `out`, of the same shape and dtype, without waiting; `host` may be changed at once."""
        np.copyto(out, host)

    def scalars(self, count: int, dtype: DTypeLike) -> Scalars:
        """`count` numbers for kernels that compute in `dtype`."""
        return Scalars(count)

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        """A function that does again what `work` does, each time from what its arrays and scalars hold then.

        `work` must compute on this device alone, in arrays that exist already: a GPU notes once what it is asked to
        do, and from then on does that, without asking `work` again. A CPU has nothing to gain and calls `work`.
        """
        return work

    def gather(self, source: Array, rows: Array, out: Array) -> Array:
        """`out[i] = source[rows[i]]`, without allocating; `rows` are of the platform's index type and in range."""
        # Any mode but the default writes straight into out; the default buffers it to stay unchanged on an error.
        return source.take(rows, axis=0, out=out, mode="clip")

    def add_scaled(self, x: Array, factor: Scalar, out: Array) -> None:
        """out += factor x, for contiguous arrays of one shape and dtype."""
        if self._blas is not None and out.dtype.kind == "f" and isinstance(factor, float | int):
            self._together(self._blas.add_scaled, x, factor, out)
        else:
            self.xp.add(out, self.xp.multiply(x, factor), out=out)

    def scale(self, factor: Scalar, out: Array) -> None:
        """out *= factor, for a contiguous array."""
        if self._blas is not None and out.dtype.kind == "f" and isinstance(factor, float | int):
            self._together(self._blas.scale, factor, out)
        else:
            self.xp.multiply(out, factor, out=out)

    def product(self, a: Array, b: Array, out: Array, keep: float = 0.0) -> None:
        """out = keep out + a b, for matrices."""
        if keep == 0.0:
            self.xp.matmul(a, b, out=out)
        else:
            self.xp.multiply(out, keep, out=out)
            self.xp.add(out, self.xp.matmul(a, b), out=out)

    def prepare_products(
        self, products: Sequence[tuple[Array, Array, Array]], *, keep: float = 0.0
    ) -> Callable[[], None]:
        """A function that computes out = keep out + a b for each (a, b, out) at each call, from what they hold then.

        Several are computed together, each by a thread of its own, where `product_shares` says that it is worth it.
        """
        if len(products) > 1:
            upright = [_upright(*each) for each in products]
            together = None if self._blas is None else self._blas.prepare_products(upright, keep=keep)
            if together is not None:
                return functools.partial(self._together, together)
            return functools.partial(run_all, [self.prepare_products([each], keep=keep) for each in products])
        ((a, b, out),) = products
        compute = self.prepare_product(a, b, out, keep=keep)
        if not self.may_be_alone or a.size * b.shape[1] < openblas.DIVIDED_FROM:
            return compute
        # Of a long sum, the parts that the library adds up depend on whether it divides the product.
        return functools.partial(self._together if len(b) <= openblas.SAME_SUMS else self._by_itself, compute)

    def prepare_product(self, a: Array, b: Array, out: Array, *, keep: float = 0.0) -> Callable[[], None]:
        """A function that computes out = keep out + a b, divided among threads as the library sees fit."""
        upright = _upright(a, b, out)
        compute = None if self._blas is None else self._blas.prepare_products([upright], keep=keep)
        return compute or functools.partial(self.product, *upright, keep)

    def _together(self, compute: Callable[..., None], *arguments: Any) -> None:
        if self.alone:
            self._by_itself(compute, *arguments)
        else:
            compute(*arguments)

    def _by_itself(self, compute: Callable[..., None], *arguments: Any) -> None:
        assert self._blas is not None
        with self._blas.one_thread_each():
            compute(*arguments)

    def product_shares(self, work: int) -> int:
        """Into how many products, each for a thread of its own, one of `work` multiplications should be divided."""
        return 1 if self._blas is None else min(self.shares, self._blas.products_worth(work))

    @property
    def may_be_alone(self) -> bool:
        """Whether there is anything that `alone` changes."""
        return self.product_shares(sys.maxsize) > 1

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


def last_axis_first(array: Array) -> bool:
    """Whether the last of the array's axes, of which it has two or more, is not the innermost in memory."""
    return array.strides[-1] > array.strides[-2]


def _upright(a: Array, b: Array, out: Array) -> tuple[Array, Array, Array]:
    """The same product for who writes a matrix row by row: that of the transposed ones, where `out` lies transposed."""
    return (b.T, a.T, out.T) if last_axis_first(out) else (a, b, out)


def run_all(work: Sequence[Callable[[], None]]) -> None:
    """Do all of `work`, one piece after the other."""
    for piece in work:
        piece()


def _cpu_threads() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
