"""The OpenBLAS that NumPy brings along, spoken to directly where NumPy's own door to it is too narrow.

It is a room of its own because training wants three things that this library can do and NumPy does not offer: add a
multiple of one array to another in a single pass over all cores; add a matrix product to what is already there, which
spares a convolution every copy of its pictures and Momentum its velocity; and say how many threads a product may take.
It has to be NumPy's own copy: two BLAS libraries in one process fight over the cores. Where NumPy stands on another
BLAS, `find` gives None and core.device does the same in plain NumPy.
"""

import ctypes
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

HostArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_ROW_MAJOR = 101
AS_IS, TRANSPOSED = 111, 112
"""How BLAS is to read a matrix."""


@functools.cache
def find() -> "OpenBLAS | None":
    """NumPy's OpenBLAS, or None if it has none that can be called."""
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            for prefix, suffix in (("scipy_", "64_"), ("scipy_", ""), ("", "")):
                try:
                    return OpenBLAS(ctypes.CDLL(str(path)), prefix, suffix)
                except (OSError, AttributeError):
                    continue
    return None


class OpenBLAS:
    """The functions of `library`, whose names all begin with `prefix` and end with `suffix`."""

    def __init__(self, library: ctypes.CDLL, prefix: str, suffix: str) -> None:
        def function(name: str, result: Any, *arguments: Any) -> Any:
            found = getattr(library, f"{prefix}{name}{suffix}")
            found.restype, found.argtypes = result, arguments
            return found

        self._whole = whole = ctypes.c_int64 if suffix else ctypes.c_int
        flag, place = ctypes.c_int, ctypes.c_void_p
        self._gemm, self._axpy, self._scal = {}, {}, {}
        for dtype, letter, real in (("float32", "s", ctypes.c_float), ("float64", "d", ctypes.c_double)):
            key = np.dtype(dtype)
            self._gemm[key] = (getattr(library, f"{prefix}cblas_{letter}gemm{suffix}"), real)
            self._gemm[key][0].restype = None
            self._axpy[key] = function(f"cblas_{letter}axpy", None, whole, real, place, whole, place, whole)
            self._scal[key] = function(f"cblas_{letter}scal", None, whole, real, place, whole)
        self._set_threads = function("openblas_set_num_threads", None, flag)
        self.threads = int(function("openblas_get_num_threads", flag)())
        self._lock = threading.Lock()
        self._quiet_regions = 0

    def add_scaled(self, x: HostArray, factor: float, out: HostArray) -> None:
        """out += factor x, for contiguous arrays of one size and dtype, float32 or float64."""
        self._axpy[out.dtype](out.size, factor, x.ctypes.data, 1, out.ctypes.data, 1)

    def scale(self, factor: float, out: HostArray) -> None:
        """out *= factor, for a contiguous array, float32 or float64."""
        self._scal[out.dtype](out.size, factor, out.ctypes.data, 1)

    def prepare_product(
        self, a: HostArray, b: HostArray, out: HostArray, *, keep: float = 0.0
    ) -> Callable[[], None] | None:
        """A function that computes out = keep out + a b each time it is called, from what the arrays hold then.

        None if their strides are not such that BLAS could read them where they are.
        """
        layouts = [layout(matrix) for matrix in (a, b, out)]
        if None in layouts or out.dtype not in self._gemm or not a.dtype == b.dtype == out.dtype:
            return None
        (a_flag, a_step), (b_flag, b_step), (out_flag, out_step) = layouts  # type: ignore[misc]
        if out_flag is not AS_IS:
            return None
        call, real = self._gemm[out.dtype]
        # All is turned into C's types once, which leaves 0.7 µs to each call. The pointers keep their arrays alive.
        flags = (ctypes.c_int(flag) for flag in (_ROW_MAJOR, a_flag, b_flag))
        sizes = (self._whole(size) for size in (*out.shape, a.shape[1]))
        places = [matrix.ctypes.data_as(ctypes.c_void_p) for matrix in (a, b, out)]
        steps = [self._whole(step) for step in (a_step, b_step, out_step)]
        one, kept = real(1.0), real(keep)
        return functools.partial(
            call, *flags, *sizes, one, places[0], steps[0], places[1], steps[1], kept, places[2], steps[2]
        )

    @contextmanager
    def one_thread_each(self) -> Iterator[None]:
        """While this lasts, a product takes the calling thread alone: for callers that are several themselves."""
        with self._lock:
            self._quiet_regions += 1
            self._set_threads(1)
        try:
            yield
        finally:
            with self._lock:
                self._quiet_regions -= 1
                if self._quiet_regions == 0:
                    self._set_threads(self.threads)


def layout(matrix: HostArray) -> tuple[int, int] | None:
    """How BLAS reads it: as it is or transposed, and the step from row to row in elements; None if it cannot."""
    size = matrix.itemsize
    (rows, columns), (down, right) = matrix.shape, matrix.strides
    # Along an axis of length 1 nothing is stepped, and NumPy may call its stride anything.
    if (right == size or columns == 1) and (down >= columns * size or rows == 1):
        return AS_IS, down // size if rows > 1 else columns
    if (down == size or rows == 1) and (right >= rows * size or columns == 1):
        return TRANSPOSED, right // size if columns > 1 else rows
    return None
