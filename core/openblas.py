"""The OpenBLAS that NumPy brings along, spoken to directly where NumPy's own door to it is too narrow.

It is a room of its own because training wants four things that this library can do and NumPy does not offer: add a
multiple of one array to another in a single pass over all cores; add a matrix product to what is already there, which
spares a convolution every copy of its pictures and Momentum its velocity; give each thread the same rows of a layer's
products at every step; and say how many threads a product may take.
It has to be NumPy's own copy: two BLAS libraries in one process fight over the cores. Where NumPy stands on another
BLAS, `find` gives None and core.device does the same in plain NumPy.
"""

import ctypes
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

HostArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_ROW_MAJOR = 101
_LEAST_SHARE = 2_000_000
"""Multiplications that are worth a share of a batch. Never under 1,000,001: batches of smaller products crash (OpenBLAS
pull request 5980, after 0.3.31)."""

AS_IS, TRANSPOSED = 111, 112
"""How BLAS is to read a matrix."""

_Matrix: TypeAlias = tuple[HostArray, int, int]
"""With how BLAS is to read it, and the step from row to row in elements."""


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
            # OpenBLAS has batches since 0.3.28.
            self._batch[key] = getattr(library, f"{prefix}cblas_{letter}gemm_batch{suffix}", None)
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
        self, a: HostArray, b: HostArray, out: HostArray, *, keep: float = 0.0, shares: int = 1
    ) -> Callable[[], None] | None:
        """A function that computes out = keep out + a b each time it is called, from what the arrays hold then.

        With several `shares`, each thread has the same rows of a and out every time, where they are many enough: what
        it wrote it finds in its cache again. Left to itself, the library divides each kind of product another way.

        None if their strides are not such that BLAS could read them where they are.
        """
        layouts = [layout(matrix) for matrix in (a, b, out)]
        if None in layouts or out.dtype not in self._gemm or not a.dtype == b.dtype == out.dtype:
            return None
        of_a, of_b, of_out = layouts
        if of_out[0] is not AS_IS:  # type: ignore[index]
            return None
        if self._batch[out.dtype] is None or len(out) // shares * out.shape[1] * a.shape[1] < _LEAST_SHARE:
            shares = 1
        return self._prepared((a, *of_a), (b, *of_b), (out, *of_out), keep, shares)  # type: ignore[misc]

    def _prepared(self, of_a: _Matrix, of_b: _Matrix, of_out: _Matrix, keep: float, shares: int) -> Callable[[], None]:
        """The call of the library, as one product or as a batch of `shares`, of which each has rows of its own."""
        (a, a_flag, a_step), (b, b_flag, b_step), (out, _, out_step) = of_a, of_b, of_out
        call, real = self._gemm[out.dtype]
        bounds = [share * len(out) // shares for share in range(shares + 1)]
        whole, flag = self._whole, ctypes.c_int

        def each(kind: Any, *values: Any) -> Any:
            """In C's type, an array of a value for each share, or of one for all; a single product wants no arrays."""
            return kind(*values) if shares == 1 else (kind * shares)(*(values * (shares // len(values))))

        def places(matrix: HostArray, rows: Sequence[int]) -> Any:
            found = each(ctypes.c_void_p, *(matrix.ctypes.data + row * matrix.strides[0] for row in rows))
            found.matrix = matrix  # It lives as long as what points into it.
            return found

        # All is turned into C's types once, which leaves 0.7 µs to each call.
        heights = each(whole, *(stop - start for start, stop in pairwise(bounds)))
        return functools.partial(
            call if shares == 1 else self._batch[out.dtype],
            flag(_ROW_MAJOR),
            *(each(flag, a_flag), each(flag, b_flag)),
            *(heights, each(whole, out.shape[1]), each(whole, a.shape[1])),
            *(each(real, 1.0), places(a, bounds[:-1]), each(whole, a_step), places(b, [0]), each(whole, b_step)),
            *(each(real, keep), places(out, bounds[:-1]), each(whole, out_step)),
            *(() if shares == 1 else (whole(shares), each(whole, 1))),
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
