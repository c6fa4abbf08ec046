"""NumPy's OpenBLAS, spoken to directly: held against sums written out in plain Python, wherever the matrices lie.

Where NumPy stands on another BLAS there is nothing to speak to, and what needs the library is passed over. How many
threads it is told to take is read from a library made up for the occasion, which only writes down what it is told.
"""

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core import openblas
from core.openblas import HostArray, OpenBLAS

DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@pytest.fixture
def blas() -> OpenBLAS:
    found = openblas.find()
    if found is None:
        pytest.skip("NumPy stands on another BLAS here")
    return found


def plain_product(a: HostArray, b: HostArray) -> HostArray:
    rows, columns = a.tolist(), b.T.tolist()
    return np.array([[sum(v * w for v, w in zip(row, column, strict=True)) for column in columns] for row in rows])


def precision(dtype: type) -> dict[str, float]:
    return {"rtol": 1e-5, "atol": 1e-5} if dtype is np.float32 else {"rtol": 1e-13, "atol": 1e-13}


@DTYPES
@pytest.mark.parametrize("shape", [(1,), (1000,), (7, 11), (0,)], ids=str)
def test_a_multiple_of_x_is_added(
    blas: OpenBLAS, rng: np.random.Generator, dtype: type, shape: tuple[int, ...]
) -> None:
    x, out = rng.normal(0, 1, shape).astype(dtype), rng.normal(0, 1, shape).astype(dtype)
    sums = [float(o) + 0.3 * float(v) for o, v in zip(out.ravel(), x.ravel(), strict=True)]
    wanted, x_before = np.array(sums).reshape(shape), x.copy()
    blas.add_scaled(x, 0.3, out)
    np.testing.assert_allclose(out, wanted, **precision(dtype))
    np.testing.assert_array_equal(x, x_before)


def test_a_multiple_is_added_to_a_part_of_an_array_and_to_nothing_beside_it(blas: OpenBLAS) -> None:
    out = np.zeros(10)
    blas.add_scaled(np.ones(4), 2.0, out[3:7])
    assert out.tolist() == [0, 0, 0, 2, 2, 2, 2, 0, 0, 0]


@DTYPES
def test_an_array_is_scaled_in_place(blas: OpenBLAS, rng: np.random.Generator, dtype: type) -> None:
    out = rng.normal(0, 1, (7, 11)).astype(dtype)
    wanted = [[0.9 * float(v) for v in row] for row in out]
    blas.scale(0.9, out)
    np.testing.assert_allclose(out, wanted, **precision(dtype))


Maker = Callable[[np.random.Generator, tuple[int, int]], HostArray]


def plain(rng: np.random.Generator, shape: tuple[int, int]) -> HostArray:
    return rng.normal(0, 1, shape)


def transposed(rng: np.random.Generator, shape: tuple[int, int]) -> HostArray:
    return rng.normal(0, 1, shape[::-1]).T


def part_of_rows(rng: np.random.Generator, shape: tuple[int, int]) -> HostArray:
    return rng.normal(0, 1, (shape[0], shape[1] + 5))[:, 2:-3]


def transposed_part(rng: np.random.Generator, shape: tuple[int, int]) -> HostArray:
    return rng.normal(0, 1, (shape[1], shape[0] + 3))[:, 1:-2].T


def every_second_row(rng: np.random.Generator, shape: tuple[int, int]) -> HostArray:
    return rng.normal(0, 1, (2 * shape[0], shape[1]))[::2]


def narrowed(matrix: HostArray, dtype: type) -> HostArray:
    """`matrix` in `dtype`, with as much room between its numbers as before."""
    steps = tuple(step // matrix.itemsize for step in matrix.strides)
    room = np.zeros(sum((n - 1) * step for n, step in zip(matrix.shape, steps, strict=True)) + 1, dtype)
    view = np.lib.stride_tricks.as_strided(room, matrix.shape, [step * room.itemsize for step in steps])
    view[...] = matrix
    return view


LAYOUTS = [plain, transposed, part_of_rows, transposed_part, every_second_row]


@DTYPES
@pytest.mark.parametrize("keep", [0.0, 1.0, 0.9])
@pytest.mark.parametrize("of_b", LAYOUTS)
@pytest.mark.parametrize("of_a", LAYOUTS)
def test_a_product_is_read_where_its_matrices_lie(
    blas: OpenBLAS, rng: np.random.Generator, of_a: Maker, of_b: Maker, keep: float, dtype: type
) -> None:
    for rows, inner, columns in ((4, 7, 5), (1, 3, 6), (6, 1, 2), (3, 4, 1), (1, 1, 1)):
        a, b = narrowed(of_a(rng, (rows, inner)), dtype), narrowed(of_b(rng, (inner, columns)), dtype)
        out = rng.normal(0, 1, (rows, columns)).astype(dtype)
        wanted = plain_product(a, b) + keep * out.astype(np.float64)
        compute = blas.prepare_products([(a, b, out)], keep=keep)
        assert compute is not None
        compute()
        np.testing.assert_allclose(out, wanted, **precision(dtype))


@pytest.mark.parametrize("keep", [0.0, 1.0, 0.9])
def test_a_product_is_written_into_rows_with_room_between_them_and_leaves_the_room_alone(
    blas: OpenBLAS, rng: np.random.Generator, keep: float
) -> None:
    a, b, around = rng.normal(0, 1, (4, 3)), rng.normal(0, 1, (3, 5)), np.full((9, 8), 2.0)
    out = around[1::2, 2:7]
    compute = blas.prepare_products([(a, b, out)], keep=keep)
    assert compute is not None
    compute()
    np.testing.assert_allclose(out, plain_product(a, b) + 2.0 * keep, rtol=1e-13, atol=1e-13)
    out[...] = 2.0
    np.testing.assert_array_equal(around, 2.0)


def test_a_product_that_is_not_to_be_added_forgets_what_was_there_even_what_is_no_number(blas: OpenBLAS) -> None:
    out = np.full((2, 2), np.nan)
    compute = blas.prepare_products([(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]), out)], keep=0.0)
    assert compute is not None
    compute()
    assert out.tolist() == [[1, 2], [3, 4]]


def test_each_call_computes_from_what_the_arrays_hold_then_and_keeps_them_alive(blas: OpenBLAS) -> None:
    a, b, out = np.eye(300), np.ones((300, 2)), np.zeros((300, 2))
    compute = blas.prepare_products([(a, b, out)], keep=1.0)
    assert compute is not None
    compute()
    a *= 3
    b[:, 1] = 5
    del a, b
    gc.collect()
    taken = [np.full((300, 300), np.nan) for _ in range(5)]  # would lie where a was, had it been given back
    compute()
    assert len(taken) == 5
    assert (out == [4, 16]).all()


SIZES = {"large enough": (100, 150, 160), "uneven": (126, 251, 101), "few rows": (3, 1000, 500)}


@DTYPES
@pytest.mark.parametrize("keep", [0.0, 0.9])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("of_b", [plain, transposed, part_of_rows])
@pytest.mark.parametrize("of_a", [plain, transposed, part_of_rows])
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_several_products_are_each_what_it_would_be_by_itself(
    blas: OpenBLAS,
    rng: np.random.Generator,
    size: tuple[int, int, int],
    of_a: Maker,
    of_b: Maker,
    count: int,
    keep: float,
    dtype: type,
) -> None:
    products, wanted, around = [], [], []
    for number in range(count):
        rows, inner, columns = (length + number for length in size)
        a, b = narrowed(of_a(rng, (rows, inner)), dtype), narrowed(of_b(rng, (inner, columns)), dtype)
        around.append(rng.normal(0, 1, (rows, columns + 4)).astype(dtype))
        out = around[-1][:, 2:-2]
        wanted.append(around[-1].astype(np.float64))
        wanted[-1][:, 2:-2] = np.einsum("ij,jk->ik", a, b, dtype=np.float64) + keep * wanted[-1][:, 2:-2]
        products.append((a, b, out))
    compute = blas.prepare_products(products, keep=keep)
    assert compute is not None
    compute()
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype is np.float32 else {"rtol": 1e-12, "atol": 1e-12}
    for result, right in zip(around, wanted, strict=True):
        np.testing.assert_allclose(result[:, 2:-2], right[:, 2:-2], **close)
        np.testing.assert_array_equal(result[:, :2], right[:, :2])
        np.testing.assert_array_equal(result[:, -2:], right[:, -2:])


def large_products(rng: np.random.Generator) -> list[tuple[HostArray, HostArray, HostArray]]:
    sizes = ((rng.normal(0, 1, (100, 150)), rng.normal(0, 1, (150, 160))) for _ in range(2))
    return [(a, b, np.full((100, 160), np.nan)) for a, b in sizes]


def test_several_products_are_one_call_of_the_library_and_small_ones_are_refused(
    blas: OpenBLAS, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    together, alone = Function(0), Function(0)
    monkeypatch.setitem(blas._batch, np.dtype(np.float64), together)
    monkeypatch.setitem(blas._gemm, np.dtype(np.float64), (alone, ctypes.c_double))
    large = large_products(rng)
    blas.prepare_products(large)()
    assert (len(together.calls), len(alone.calls)) == (1, 0)
    blas.prepare_products([large[0]])()
    assert (len(together.calls), len(alone.calls)) == (1, 1)
    # Smaller ones crash the library: OpenBLAS pull request 5980.
    just_too_small = np.ones((100, 100)), np.ones((100, 100)), np.ones((100, 100))
    assert blas.prepare_products([large[0], just_too_small]) is None


def test_a_library_that_computes_nothing_together_refuses_several(
    blas: OpenBLAS, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(blas._batch, np.dtype(np.float64), None)
    assert blas.products_worth(10**9) == 1
    assert blas.prepare_products(large_products(rng)) is None
    assert blas.prepare_products(large_products(rng)[:1]) is not None


def test_products_that_are_worth_it_are_large(blas: OpenBLAS) -> None:
    assert blas.products_worth(0) == blas.products_worth(2_000_000) == 1
    assert blas.products_worth(10**8) == 80


def test_several_products_keep_their_arrays_alive_and_forget_what_is_no_number(blas: OpenBLAS) -> None:
    a, b, out = [np.eye(150), np.eye(150)], np.ones((150, 120)), np.full((2, 150, 120), np.nan)
    compute = blas.prepare_products([(each, b, target) for each, target in zip(a, out, strict=True)])
    assert compute is not None
    a[0] *= 3
    a[1] *= 5
    del a, b
    gc.collect()
    taken = [np.full((150, 150), np.nan) for _ in range(5)]
    compute()
    assert len(taken) == 5
    assert (out[0] == 3).all()
    assert (out[1] == 5).all()


@pytest.mark.parametrize("odd", ["a", "b", "out", "out transposed"])
def test_strides_that_blas_cannot_read_are_refused(blas: OpenBLAS, odd: str) -> None:
    a, b, out = np.ones((4, 6)), np.ones((6, 5)), np.ones((4, 5))
    if odd == "a":
        a = np.ones((4, 12))[:, ::2]
    elif odd == "b":
        b = np.ones((6, 5))[:, ::-1]
    else:
        out = np.ones((4, 10))[:, ::2] if odd == "out" else np.ones((5, 4)).T
    assert blas.prepare_products([(a, b, out)], keep=0.0) is None


def test_rows_that_are_one_and_the_same_or_run_backwards_are_refused(blas: OpenBLAS) -> None:
    repeated = np.broadcast_to(np.ones((1, 6)), (4, 6))
    assert blas.prepare_products([(repeated, np.ones((6, 5)), np.ones((4, 5)))], keep=0.0) is None
    assert blas.prepare_products([(np.ones((4, 6))[::-1], np.ones((6, 5)), np.ones((4, 5)))], keep=0.0) is None


@pytest.mark.parametrize("dtypes", [("f4", "f8", "f8"), ("f8", "f8", "f4"), ("i4", "i4", "i4"), ("f2", "f2", "f2")])
def test_numbers_of_other_or_of_different_types_are_refused(blas: OpenBLAS, dtypes: tuple[str, str, str]) -> None:
    a, b, out = (np.ones((3, 3), dtype) for dtype in dtypes)
    assert blas.prepare_products([(a, b, out)], keep=0.0) is None


class Function:
    """Stands for a function of a library; writes down what it is called with."""

    def __init__(self, answer: int) -> None:
        self.answer = answer
        self.calls: list[tuple[object, ...]] = []

    def __call__(self, *arguments: object) -> int:
        self.calls.append(arguments)
        return self.answer


class Library:
    """Stands for an OpenBLAS that takes four threads."""

    def __init__(self) -> None:
        self.functions: dict[str, Function] = {}

    def __getattr__(self, name: str) -> Function:
        return self.functions.setdefault(name, Function(4))


def test_one_thread_each_lasts_until_the_last_region_ends_and_then_all_threads_are_back() -> None:
    library = Library()
    blas = OpenBLAS(library, "scipy_", "64_")
    told = library.functions["scipy_openblas_set_num_threads64_"].calls
    with blas.one_thread_each():
        assert told[-1] == (1,)
        with blas.one_thread_each():
            assert told[-1] == (1,)
        assert told[-1] == (1,)
    assert told[-1] == (4,)


def test_all_threads_are_back_after_an_error_too() -> None:
    library = Library()
    blas = OpenBLAS(library, "", "")
    with pytest.raises(ZeroDivisionError), blas.one_thread_each():
        raise ZeroDivisionError
    assert library.functions["openblas_set_num_threads"].calls == [(1,), (4,)]


def test_where_numpy_brings_no_openblas_that_can_be_called_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(np, "__file__", str(tmp_path / "numpy" / "__init__.py"))
    assert openblas.find.__wrapped__() is None
    (tmp_path / "numpy.libs").mkdir()
    (tmp_path / "numpy.libs" / "libopenblas.so").write_text("no library at all")
    assert openblas.find.__wrapped__() is None


def test_the_library_is_looked_for_once() -> None:
    assert openblas.find() is openblas.find()
