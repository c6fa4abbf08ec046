"""cuBLAS, spoken to directly: what it is asked, computed by a stand-in that follows NVIDIA's manual to the letter.

The stand-in is handed addresses and steps only, as the library is, and reads matrices columns first, entry by entry.
"""

import ctypes
from typing import Any

import numpy as np
import pytest

from core import cublas
from core.cublas import CuBLAS
from core.openblas import HostArray


class OnCard:
    """An array as CuPy shows it, with its address at `data.ptr`."""

    def __init__(self, array: HostArray) -> None:
        self.array = array
        self.shape, self.strides, self.dtype = array.shape, array.strides, array.dtype
        self.itemsize, self.ndim = array.itemsize, array.ndim
        self.data = type("Pointer", (), {"ptr": array.ctypes.data})()


class Library:
    """C <- alpha op(A) op(B) + beta C, op(A) m x k, op(B) k x n, C m x n, all columns first with a step of ld."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.status = 0

    def cublasCreate_v2(self, handle: Any) -> int:
        handle._obj.value = 77
        return self.status

    def cublasDestroy_v2(self, handle: ctypes.c_void_p) -> int:
        self.asked.append(("destroyed", handle.value))
        return 0

    def cublasSetStream_v2(self, handle: ctypes.c_void_p, stream: ctypes.c_void_p) -> int:
        self.asked.append(("stream", (handle.value, stream.value)))
        return 0

    def cublasSetWorkspace_v2(self, handle: ctypes.c_void_p, at: ctypes.c_void_p, size: ctypes.c_size_t) -> int:
        self.asked.append(("workspace", (at.value, size.value)))
        return 0

    def cublasSetMathMode(self, handle: ctypes.c_void_p, mode: ctypes.c_int) -> int:
        self.asked.append(("mode", mode.value))
        return 0

    def cublasSgemm_v2(self, *arguments: Any) -> int:
        return self._gemm(ctypes.c_float, *arguments)

    def cublasDgemm_v2(self, *arguments: Any) -> int:
        return self._gemm(ctypes.c_double, *arguments)

    def _gemm(self, real: Any, handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) -> int:
        def at(place: ctypes.c_void_p, index: int) -> Any:
            return real.from_address(place.value + index * ctypes.sizeof(real))

        def entry(place: ctypes.c_void_p, step: ctypes.c_int, turned: ctypes.c_int, row: int, column: int) -> float:
            row, column = (column, row) if turned.value else (row, column)
            return at(place, row + column * step.value).value

        assert alpha._obj.value == 1.0
        assert lda.value >= (k if op_a.value else m).value
        assert ldb.value >= (n if op_b.value else k).value
        assert ldc.value >= m.value
        for row in range(m.value):
            for column in range(n.value):
                terms = (entry(a, lda, op_a, row, i) * entry(b, ldb, op_b, i, column) for i in range(k.value))
                place = at(c, row + column * ldc.value)
                # As cuBLAS says: with 0 what was there counts for nothing, whatever it was.
                place.value = sum(terms) + (beta._obj.value * place.value if beta._obj.value else 0.0)
        return self.status


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    made = Library()
    monkeypatch.setattr(cublas, "_load", lambda: made)
    return made


def as_rows(matrix: HostArray) -> HostArray:
    return matrix.copy()


def turned(matrix: HostArray) -> HostArray:
    return matrix.T.copy().T


def part(matrix: HostArray) -> HostArray:
    wide = np.full((matrix.shape[0], matrix.shape[1] + 3), np.nan, matrix.dtype)
    wide[:, 1 : 1 + matrix.shape[1]] = matrix
    return wide[:, 1 : 1 + matrix.shape[1]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lay_a", [as_rows, turned, part])
@pytest.mark.parametrize("lay_b", [as_rows, turned, part])
@pytest.mark.parametrize("lay_out", [as_rows, part])
@pytest.mark.parametrize("sizes", [(3, 4, 2), (1, 5, 3), (4, 1, 1), (2, 3, 1)])
def test_a_product_is_what_numpy_says_however_the_matrices_lie(
    library: Library, rng: np.random.Generator, dtype, lay_a, lay_b, lay_out, sizes: tuple[int, int, int]
) -> None:
    rows, inner, columns = sizes
    a = lay_a(rng.normal(0, 1, (rows, inner)).astype(dtype))
    b = lay_b(rng.normal(0, 1, (inner, columns)).astype(dtype))
    out = lay_out(np.zeros((rows, columns), dtype))
    card = [OnCard(matrix) for matrix in (a, b, out)]
    assert CuBLAS(1, 2).product(*card)  # type: ignore[arg-type]
    wanted = a.astype("f8") @ b.astype("f8")
    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-6)
    assert CuBLAS(1, 2).product(*card, keep=0.5)  # type: ignore[arg-type]
    np.testing.assert_allclose(out, 1.5 * wanted, rtol=1e-5, atol=1e-6)


def test_a_vector_with_a_new_axis_takes_a_product_too(library: Library) -> None:
    a, ones, sums = np.arange(6.0).reshape(2, 3), np.ones((3, 1)), np.zeros(2)
    assert CuBLAS(1, 2).product(OnCard(a), OnCard(ones), OnCard(sums[:, None]))  # type: ignore[arg-type]
    assert sums.tolist() == [3.0, 12.0]


@pytest.mark.parametrize(
    "odd",
    [
        lambda a, b, out: (a[:, ::2], b[:2], out),
        lambda a, b, out: (a, b, out.T.copy().T),
        lambda a, b, out: (a.astype("f4"), b, out),
        lambda a, b, out: (a.astype(int), b.astype(int), out.astype(int)),
        lambda a, b, out: (a[None], b, out),
    ],
)
def test_what_it_cannot_multiply_is_refused_and_left_alone(library: Library, odd) -> None:
    a, b, out = odd(np.ones((2, 4)), np.ones((4, 3)), np.zeros((2, 3)))
    assert not CuBLAS(1, 2).product(OnCard(a), OnCard(b), OnCard(out))  # type: ignore[arg-type]
    assert not out.any()


def test_it_is_told_its_stream_and_its_memory_and_lets_go_of_its_handle(library: Library) -> None:
    found = CuBLAS(11, 22)
    found.allow_tf32(True)
    found.allow_tf32(False)
    del found
    assert library.asked == [
        ("stream", (77, 11)),
        ("workspace", (22, cublas.WORKSPACE_BYTES)),
        ("mode", 3),
        ("mode", 0),
        ("destroyed", 77),
    ]


def test_a_library_that_refuses_is_an_error_with_the_function_s_name(library: Library) -> None:
    library.status = 13
    with pytest.raises(OSError, match="cublasCreate_v2 answered with status 13"):
        CuBLAS(1, 2)


def test_a_library_that_is_not_there_is_an_error() -> None:
    with pytest.raises(OSError, match="cuBLAS was not found"):
        CuBLAS(1, 2)
