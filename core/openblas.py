"""The OpenBLAS that NumPy brings along, spoken to directly where NumPy's own door to it is too narrow.

It is a room of its own because training wants four things that this library can do and NumPy does not offer: add a
multiple of one array to another in a single pass over all cores; add a matrix product to what is already there, which
spares a convolution every copy of its pictures and Momentum its velocity; give each thread the same part of a layer's
products at every step; and say how many threads a product may take.
It has to be NumPy's own copy: two BLAS libraries in one process fight over the cores. Where NumPy stands on another
BLAS, `find` gives None and core.device does the same in plain NumPy.
"""

import ctypes
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

HostArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_ROW_MAJOR = 101
_LEAST_WORK = 1_250_000
"""Multiplications that are worth a thread of their own."""
_LEAST_SAFE_WORK = 1_000_001
"""Multiplications of the smallest product that may be computed together with others: smaller ones crash the library
(OpenBLAS pull request 5980, after 0.3.31)."""

DIVIDED_FROM = 262_144
"""Multiplications from which on the library divides a single product (interface/gemm.c)."""
SAME_SUMS = 256
"""So many terms it adds up in one go, whether a product is divided or not: more make other roundings (as few as 320 are
a block of its kernels)."""

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
        self._batch: dict[np.dtype[Any], Any] = {}
        for dtype, letter, real in (("float32", "s", ctypes.c_float), ("float64", "d", ctypes.c_double)):
            key = np.dtype(dtype)
            self._gemm[key] = (getattr(library, f"{prefix}cblas_{letter}gemm{suffix}"), real)
            self._gemm[key][0].restype = None
            # OpenBLAS computes several products together since 0.3.28.
            self._batch[key] = getattr(library, f"{prefix}cblas_{letter}gemm_batch{suffix}", None)
            self._axpy[key] = function(f"cblas_{letter}axpy", None, whole, real, place, whole, place, whole)
            self._scal[key] = function(f"cblas_{letter}scal", None, whole, real, place, whole)
        self._set_threads = function("openblas_set_num_threads", None, flag)
        self.threads = int(function("openblas_get_num_threads", flag)())
        self._lock = threading.Lock()
        self._quiet_regions = 0

    def products_worth(self, work: int) -> int:
        """How many products computed together `work` multiplications are worth; 1 where there is no such call."""
        return max(1, work // _LEAST_WORK) if all(self._batch.values()) else 1

    def add_scaled(self, x: HostArray, factor: float, out: HostArray) -> None:
        """out += factor x, for contiguous arrays of one size and dtype, float32 or float64."""
        self._axpy[out.dtype](out.size, factor, x.ctypes.data, 1, out.ctypes.data, 1)

    def scale(self, factor: float, out: HostArray) -> None:
        """out *= factor, for a contiguous array, float32 or float64."""
        self._scal[out.dtype](out.size, factor, out.ctypes.data, 1)

    def prepare_products(
        self, products: Sequence[tuple[HostArray, HostArray, HostArray]], *, keep: float = 0.0
    ) -> Callable[[], None] | None:
        """A function that computes out = keep out + a b for each (a, b, out) at each call, from what they hold then.

        A single product is divided among all threads, in the library's own way. Several are computed together, one by
        each thread, which then has the same arrays every time and finds in its cache what it wrote.

        None if the library cannot do that: for the dtypes or strides, or because several are too small.
        """
        count, dtype = len(products), products[0][2].dtype
        if dtype not in self._gemm or any(matrix.dtype != dtype for each in products for matrix in each):
            return None
        rows = [_arguments(*product, keep) for product in products]
        if None in rows:
            return None
        if count > 1 and (
            self._batch[dtype] is None or min(a.size * b.shape[1] for a, b, _ in products) < _LEAST_SAFE_WORK
        ):
            return None
        gemm, real = self._gemm[dtype]
        whole, flag, place = self._whole, ctypes.c_int, ctypes.c_void_p
        kinds = (flag, flag, whole, whole, whole, real, place, whole, place, whole, real, place, whole)
        # All is turned into C's types once, which leaves 0.7 µs to each call.
        values: list[Any]
        if count == 1:
            values = [kind(value) for kind, value in zip(kinds, rows[0], strict=True)]  # type: ignore[arg-type]
        else:
            columns = zip(kinds, zip(*rows, strict=True), strict=True)
            values = [(kind * count)(*column) for kind, column in columns]
            values += [whole(count), (whole * count)(*[1] * count)]
        values[0].matrices = products  # They live as long as what points into them.
        return functools.partial(gemm if count == 1 else self._batch[dtype], flag(_ROW_MAJOR), *values)

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


def _arguments(a: HostArray, b: HostArray, out: HostArray, keep: float) -> tuple[Any, ...] | None:
    """What gemm wants to know of out = keep out + a b, in its order; None if it cannot read or write them there."""
    of_a, of_b, of_out = layout(a), layout(b), layout(out)
    if of_a is None or of_b is None or of_out is None or of_out[0] is not AS_IS:
        return None
    factors = (1.0, a.ctypes.data, of_a[1], b.ctypes.data, of_b[1])
    return (of_a[0], of_b[0], *out.shape, a.shape[1], *factors, keep, out.ctypes.data, of_out[1])


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
