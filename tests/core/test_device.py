"""Devices: what the CPU promises."""

import contextlib
import functools
import gc
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from core.device import Device, HostArray
from tests.allocations import peak_bytes

ROOT = Path(__file__).resolve().parents[2]


def test_a_copy_on_the_device_comes_back_as_it_went_and_is_nobody_else_s(device: Device) -> None:
    source = np.arange(6, dtype=np.float32).reshape(2, 3)
    on_device = device.to_device(source)
    source[0, 0] = 99
    host = device.to_host(on_device)
    on_device[...] = -1
    assert type(host) is np.ndarray
    assert host.dtype == np.float32
    assert host.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match="read-only"):
        host[0, 0] = 1


@pytest.mark.parametrize("dtype", [np.uint8, np.intp, np.float32])
def test_gathering_picks_rows_into_the_array_given(device: Device, dtype: type) -> None:
    source = np.arange(20).reshape(5, 4).astype(dtype)
    rows = np.array([4, 0, 0, 3])
    out = device.to_device(np.zeros((4, 4), dtype))
    device.gather(device.to_device(source), device.to_device(rows), out=out)
    assert device.to_host(out).tolist() == [source[row].tolist() for row in rows]


def test_gathering_on_the_cpu_allocates_nothing() -> None:
    cpu, source, out = Device(), np.ones((5000, 10)), np.empty((5000, 10))
    rows = np.arange(5000)
    assert peak_bytes(lambda: cpu.gather(source, rows, out=out)) < 2000


def test_while_a_device_is_active_overflow_gives_infinity_without_a_warning(device: Device) -> None:
    huge = device.to_device(np.array([3e38], np.float32))
    with device.activate():
        assert device.to_host(huge * 10).tolist() == [np.inf]
        assert np.isnan(device.to_host(huge * 10 - huge * 10)).all()
    device.synchronize()


@pytest.fixture(params=["with its BLAS", "with NumPy alone"])
def cpu(request: pytest.FixtureRequest) -> Device:
    """The CPU, once as it is and once as where NumPy stands on a BLAS that cannot be called."""
    cpu = Device()
    if request.param == "with NumPy alone":
        cpu._blas = None
    return cpu


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_adding_a_multiple_changes_the_sum_and_nothing_else(cpu: Device, rng: np.random.Generator, dtype: type) -> None:
    x, out = rng.normal(0, 1, 1001).astype(dtype), rng.normal(0, 1, 1001).astype(dtype)
    x_before, wanted = x.copy(), [float(o) - 0.75 * float(v) for o, v in zip(out, x, strict=True)]
    cpu.add_scaled(x, -0.75, out=out)
    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(x, x_before)


def test_whole_numbers_are_added_by_numpy(cpu: Device) -> None:
    out = np.array([1, 2, 3])
    cpu.add_scaled(np.array([10, 20, 30]), 2, out=out)
    assert out.tolist() == [21, 42, 63]


@pytest.mark.parametrize("keep", [0.0, 1.0, 0.9])
@pytest.mark.parametrize("odd", [False, True], ids=["plain strides", "odd strides"])
def test_a_prepared_product_is_computed_anew_at_each_call_from_what_the_arrays_hold_then(
    cpu: Device, rng: np.random.Generator, odd: bool, keep: float
) -> None:
    wide = rng.normal(0, 1, (5, 14)).astype(np.float32)
    a = wide[:, ::2] if odd else wide[:, :7]
    b, out = rng.normal(0, 1, (7, 4)).astype(np.float32), np.ones((5, 4), np.float32)
    compute = cpu.prepare_product(a, b, out, keep=keep)
    np.testing.assert_array_equal(out, 1)
    for _ in range(2):
        b += 1
        before = out.astype(np.float64)
        compute()
        np.testing.assert_allclose(out, plain_product(a, b) + keep * before, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("keep", [0.0, 0.9])
def test_a_product_may_be_written_into_a_matrix_that_lies_column_by_column(
    device: Device, rng: np.random.Generator, keep: float
) -> None:
    a, b, out = rng.normal(0, 1, (5, 7)), rng.normal(0, 1, (7, 4)), rng.normal(0, 1, (4, 5)).T
    target = device.to_device(out.T.copy()).T
    device.prepare_product(device.to_device(a), device.to_device(b), target, keep=keep)()
    np.testing.assert_allclose(device.to_host(target), plain_product(a, b) + keep * out, rtol=1e-12, atol=1e-12)


def test_several_products_are_all_computed(device: Device, rng: np.random.Generator) -> None:
    sizes = ((2, 3, 4), (5, 1, 2))
    pairs = [(rng.normal(0, 1, (m, k)), rng.normal(0, 1, (k, n))) for m, k, n in sizes]
    products = [
        (device.to_device(a), device.to_device(b), device.to_device(np.ones((len(a), b.shape[1])))) for a, b in pairs
    ]
    device.prepare_products(products, keep=1.0)()
    for (a, b), (_, _, out) in zip(pairs, products, strict=True):
        np.testing.assert_allclose(device.to_host(out), plain_product(a, b) + 1, rtol=1e-12, atol=1e-12)


def test_only_large_products_are_divided_into_as_many_as_they_are_worth() -> None:
    device = Device(shares=4)
    device._blas = Products(most=100)
    assert [device.product_shares(work) for work in (0, 10, 29, 35, 40, 10**9)] == [1, 1, 2, 3, 4, 4]
    assert device.may_be_alone
    device._blas = Products(most=1)
    assert device.product_shares(10**9) == 1
    assert not device.may_be_alone
    device._blas = None
    assert device.product_shares(10**9) == 1
    assert not Device(shares=1).may_be_alone


class Products:
    """Stands for a BLAS: of ten multiplications each, it computes up to `most` products together."""

    def __init__(self, most: int) -> None:
        self.most, self.regions, self.calls = most, 0, []

    def products_worth(self, work: int) -> int:
        return min(self.most, max(1, work // 10))

    def prepare_products(self, products, keep):
        return lambda: self.calls.append((len(products), self.regions))

    @contextlib.contextmanager
    def one_thread_each(self):
        self.regions += 1
        yield
        self.regions -= 1


@pytest.mark.parametrize(
    ("shapes", "alone_in_one_thread", "together_in_one_thread"),
    [
        ([(100, 784, 100)] * 2, True, False),
        ([(100, 100, 784)], True, False),
        ([(10, 784, 100)], True, True),  # 784 terms are added up in another order where the library divides them.
        ([(2, 784, 100)], False, False),
    ],
    ids=["several", "one", "long sums", "small"],
)
def test_alone_the_calling_thread_computes_what_several_would(
    shapes: list[tuple[int, int, int]], alone_in_one_thread: bool, together_in_one_thread: bool
) -> None:
    device = Device(shares=2)
    device._blas = blas = Products(most=2)
    products = [(np.ones((m, k)), np.ones((k, n)), np.ones((m, n))) for m, k, n in shapes]
    compute = device.prepare_products(products)
    for alone in (False, True):
        device.alone = alone
        compute()
    assert blas.calls == [(len(shapes), int(together_in_one_thread)), (len(shapes), int(alone_in_one_thread))]


def plain_product(a: HostArray, b: HostArray) -> HostArray:
    rows, columns = a.tolist(), b.T.tolist()
    return np.array([[sum(v * w for v, w in zip(row, column, strict=True)) for column in columns] for row in rows])


def test_the_address_tells_arrays_apart_and_views_of_one_beginning_together() -> None:
    cpu, array = Device(), np.zeros((4, 3))
    assert cpu.address(array) == cpu.address(array[:2]) == cpu.address(array.T)
    assert len({cpu.address(array), cpu.address(array[1:]), cpu.address(np.zeros((4, 3)))}) == 3


def test_work_for_several_is_all_done_when_it_returns_each_piece_in_a_thread_of_its_own() -> None:
    cpu, done, meeting = Device(), [], threading.Barrier(3, timeout=20)
    cpu.shares = 3

    def piece(number: int) -> None:
        meeting.wait()  # nobody passes before all three are here
        done.append((number, threading.current_thread()))

    for _ in range(2):
        cpu.run_together([functools.partial(piece, number) for number in range(3)])
    assert sorted(number for number, _ in done) == [0, 0, 1, 1, 2, 2]
    assert {thread for number, thread in done if number == 0} == {threading.current_thread()}
    assert len({thread for _, thread in done}) == 3


def test_work_for_one_is_done_by_the_caller_and_no_thread_is_started() -> None:
    threads, seen = threading.active_count(), []
    Device().run_together([lambda: seen.append(threading.current_thread())])
    assert seen == [threading.current_thread()]
    assert threading.active_count() == threads


def test_what_a_helper_s_piece_raises_reaches_the_caller() -> None:
    cpu = Device()
    cpu.shares = 2
    with pytest.raises(ZeroDivisionError):
        cpu.run_together([lambda: None, lambda: 1 // 0])


def test_a_device_s_helpers_end_with_it() -> None:
    cpu, helpers = Device(), []
    cpu.shares = 2
    cpu.run_together([lambda: None, lambda: helpers.append(threading.current_thread())])
    assert helpers[0].is_alive()
    del cpu
    gc.collect()
    helpers[0].join(20)
    assert not helpers[0].is_alive()


def test_while_work_is_divided_the_library_takes_one_thread_and_otherwise_it_is_left_alone() -> None:
    cpu, said = Device(), []

    class Library:
        @contextlib.contextmanager
        def one_thread_each(self):
            said.append("one")
            yield
            said.append("all")

    cpu._blas, cpu.shares = Library(), 2
    with cpu.dividing(True):
        assert said == ["one"]
    assert said == ["one", "all"]
    with cpu.dividing(False):
        assert said == ["one", "all"]
    cpu._blas = None
    with cpu.dividing(True):
        assert said == ["one", "all"]


def test_importing_all_of_core_imports_neither_cupy_nor_qt() -> None:
    script = (
        "import importlib, pkgutil, sys, core\n"
        "names = [module.name for module in pkgutil.walk_packages(core.__path__, 'core.')]\n"
        "assert 'core.command_line' in names and 'core.nn.layers.linear' in names, names\n"
        "for name in names: importlib.import_module(name)\n"
        "unwanted = {'cupy', 'PySide6', 'shiboken6', 'pyqtgraph', 'matplotlib'}\n"
        "print(sorted(unwanted & {name.partition('.')[0] for name in sys.modules}))\n"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
