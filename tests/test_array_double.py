"""The device double: that it computes what NumPy computes, and refuses what CuPy and a captured step refuse."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from core.device import HostArray
from tests.doubles.array import DoubleArray
from tests.doubles.device import DoubleDevice

NUMBERS = np.arange(1.0, 7.0).reshape(2, 3)


@pytest.fixture
def double() -> Iterator[DoubleDevice]:
    double = DoubleDevice()
    with double.activate():
        yield double


@pytest.fixture
def a(double: DoubleDevice) -> Any:
    return double.to_device(NUMBERS)


def host(double: DoubleDevice, array: Any) -> HostArray:
    assert type(array) is DoubleArray
    return double.to_host(array)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda a: np.asarray(a),
        lambda a: np.array([a, a]),
        lambda a: np.float64(a),
        lambda a: np.add(a, 1.0),
        lambda a: np.matmul(a, a.T),
        lambda a: np.concatenate([a, a]),
        lambda a: np.shares_memory(a, a),
        lambda a: np.add(NUMBERS, 1.0, out=a),
        lambda a: np.copyto(np.ones((2, 3)), a),
        lambda a: np.ones((2, 3)).__setitem__(..., a),
        lambda a: np.take(np.ones(9), a),
        lambda a: np.testing.assert_allclose(a, NUMBERS),
        lambda a: memoryview(a),
    ],
)
def test_numpy_cannot_take_an_array_of_the_device(a: Any, mistake: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        mistake(a)


@pytest.mark.parametrize("other", [NUMBERS, np.array(2.0), [1.0, 2.0, 3.0], None], ids=["array", "0-d", "list", "None"])
def test_the_device_cannot_take_what_is_no_array_of_its_own_and_no_number(
    double: DoubleDevice, a: Any, other: Any
) -> None:
    for mistake in (lambda: a + other, lambda: other * a, lambda: a == other, lambda: double.xp.add(a, other)):
        with pytest.raises(TypeError, match="Unsupported type"):
            mistake()
    for mistake in (
        lambda: double.xp.add(a, 1.0, out=NUMBERS.copy()),
        lambda: double.xp.sum(NUMBERS),
        lambda: double.xp.matmul(a, NUMBERS.T),
        lambda: double.xp.take(NUMBERS, double.xp.arange(2)),
        lambda: double.xp.take(a, np.arange(2), axis=0),
        lambda: a.__iadd__(other),
    ):
        with pytest.raises((TypeError, AttributeError)):
            mistake()
    np.testing.assert_array_equal(host(double, a), NUMBERS)


def test_numbers_of_python_and_numpy_mix_with_arrays_of_the_device_without_changing_their_dtype(
    double: DoubleDevice,
) -> None:
    narrow = double.to_device(NUMBERS.astype(np.float32))
    for result in (2 * narrow, narrow * 2.0, np.float32(2) * narrow, narrow * np.float32(2), narrow * True * 2):
        assert result.dtype == np.float32
        np.testing.assert_array_equal(host(double, result), 2 * NUMBERS)
    # As in NumPy 2, a number with a dtype of its own brings it along.
    assert (narrow * np.float64(2)).dtype == np.float64


def test_operators_compute_what_numpy_computes(double: DoubleDevice, a: Any) -> None:
    b = double.to_device(NUMBERS[::-1].copy())
    for compute in (
        lambda x, y: x + y * 2 - 1,
        lambda x, y: 3 / x - y**2,
        lambda x, y: x // y + x % 2,
        lambda x, y: (x < y) | (x == 2) & (y >= 3) ^ (x != y),
        lambda x, y: -x,
    ):
        np.testing.assert_array_equal(host(double, compute(a, b)), compute(NUMBERS, NUMBERS[::-1]))
    before = a
    a += b
    a *= 2.0
    assert a is before
    np.testing.assert_array_equal(host(double, a), (NUMBERS + NUMBERS[::-1]) * 2)


@pytest.mark.parametrize(
    "index",
    [0, -1, (1, 2), slice(1, None), (slice(None), 1), (..., None), (None, 0), (slice(None, None, -2), ...), ...],
    ids=str,
)
def test_numbers_and_slices_give_views_of_the_same_memory(double: DoubleDevice, a: Any, index: Any) -> None:
    allocations = double.stream.allocations.total()
    part = a[index]
    assert part.shape == NUMBERS[index].shape
    np.testing.assert_array_equal(host(double, part), NUMBERS[index])
    part[...] = 7.0
    wanted = NUMBERS.copy()
    wanted[index] = 7.0
    np.testing.assert_array_equal(host(double, a), wanted)
    assert double.stream.allocations.total() == allocations


def test_rearranged_views_share_memory_and_only_what_cannot_be_a_view_is_copied(double: DoubleDevice, a: Any) -> None:
    for view, wanted in ((a.T, NUMBERS.T), (a.reshape(-1), NUMBERS.ravel()), (a.reshape(3, 2), NUMBERS.reshape(3, 2))):
        assert double.address(view) == double.address(a)
        assert view.strides == wanted.strides
        np.testing.assert_array_equal(host(double, view), wanted)
    assert double.stream.allocations == {"asarray": 1}
    copied = a.T.reshape(-1)
    np.testing.assert_array_equal(host(double, copied), NUMBERS.T.ravel())
    assert double.address(copied) != double.address(a)
    assert double.stream.allocations == {"asarray": 1, "reshape": 1}
    with pytest.raises(ValueError, match="cannot reshape"):
        a.reshape(4)


def test_an_array_tells_of_itself_what_cupy_s_tells(a: Any) -> None:
    assert (a.shape, a.ndim, a.size, len(a), a.dtype, a.nbytes, a.itemsize) == ((2, 3), 2, 6, 2, np.float64, 48, 8)
    assert (a.flags.c_contiguous, a.flags.f_contiguous) == (True, False)
    assert (a.T.flags.c_contiguous, a.T.flags.f_contiguous) == (False, True)
    with pytest.raises(AttributeError):
        a.flags.writeable = False
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


def test_assignment_takes_arrays_of_the_device_and_numbers_and_casts_them(double: DoubleDevice) -> None:
    index = double.xp.zeros((2, 3), np.int64)
    index[...] = double.to_device(NUMBERS + 0.5)
    assert host(double, index).tolist() == [[1, 2, 3], [4, 5, 6]]
    index[1] = double.to_device(np.array([[9.0, 8.0, 7.0]]))
    index[0] = np.float32(5)
    index[1, 1:] = np.array(4)
    assert host(double, index).tolist() == [[5, 5, 5], [9, 4, 4]]
    with pytest.raises(ValueError, match=r"non-scalar numpy\.ndarray cannot be used for fill"):
        index[...] = NUMBERS
    with pytest.raises(ValueError, match="broadcast"):
        index[...] = double.to_device(np.ones(2))


def test_an_array_as_index_wraps_around_what_is_out_of_range_and_must_be_the_device_s_own(
    double: DoubleDevice, a: Any
) -> None:
    rows = double.to_device(np.array([1, 2, -1]))
    np.testing.assert_array_equal(host(double, a[rows]), NUMBERS[[1, 0, 1]])
    np.testing.assert_array_equal(host(double, double.xp.take(a, rows, axis=0)), NUMBERS[[1, 0, 1]])
    a[double.to_device(np.array([3]))] = 0.0
    np.testing.assert_array_equal(host(double, a), [NUMBERS[0], [0.0, 0.0, 0.0]])
    for index in ([0, 1], np.array([0, 1]), True, a > 2, 1.5, (0, [1])):
        with pytest.raises(IndexError):
            a[index]


def test_every_way_to_the_host_is_counted_as_a_wait(double: DoubleDevice, a: Any) -> None:
    ways = [
        lambda: float(a[0, 0]),
        lambda: int(a[0, 0]),
        lambda: bool(a[0, 0] > 0),
        lambda: a[0, 0].item(),
        lambda: a.tolist(),
        lambda: a.get(),
        lambda: double.to_host(a),
        lambda: range(double.xp.arange(3)[2]),
        double.synchronize,
    ]
    for count, way in enumerate(ways, start=1):
        way()
        assert double.stream.synchronisations.total() == count
    assert (float(a[1, 2]), int(a[0, 1]), a[0].tolist()) == (6.0, 2, [1.0, 2.0, 3.0])
    assert len(repr(a)) > 0
    assert double.stream.synchronisations.total() == len(ways) + 3


def test_what_comes_to_the_host_is_a_copy(double: DoubleDevice, a: Any) -> None:
    before = double.to_host(a)
    a[...] = 0.0
    np.testing.assert_array_equal(before, NUMBERS)
    with pytest.raises(ValueError, match="read-only"):
        before[...] = 1.0


def test_new_arrays_are_counted_and_writing_into_old_ones_is_not(double: DoubleDevice, a: Any) -> None:
    xp, out = double.xp, double.xp.empty((2, 3))
    before = double.stream.allocations.total()
    xp.multiply(a, a, out=out)
    xp.exp(out, out)
    xp.sum(a, axis=0, keepdims=True, out=out[:1])
    xp.take(a, double.xp.arange(2), axis=0, out=out)
    out[...] = a
    out += 1.0
    out.fill(2.0)
    xp.copyto(out, a)
    xp.clip(a, 2.0, 4.0, out=out)
    assert double.stream.allocations.total() == before + 1  # arange
    for make in (lambda: a + 1, a.copy, lambda: a.astype(np.float32), lambda: xp.exp(a), lambda: xp.sum(a), lambda: -a):
        before = double.stream.allocations.total()
        make()
        assert double.stream.allocations.total() == before + 1


def test_a_reduction_gives_an_array_of_shape_nothing_and_no_number(double: DoubleDevice, a: Any) -> None:
    for reduced, wanted in (
        (double.xp.sum(a), 21.0),
        (double.xp.mean(a), 3.5),
        (double.xp.max(a), 6.0),
        (double.xp.argmax(a), 5),
        (double.xp.dot(a[0], a[1]), 32.0),
    ):
        assert reduced.shape == ()
        assert host(double, reduced) == wanted


def test_new_memory_is_full_of_what_nobody_can_have_meant(double: DoubleDevice) -> None:
    assert np.isnan(host(double, double.xp.empty(3, np.float32))).all()
    assert host(double, double.xp.empty(3, np.uint8)).tolist() == [255] * 3


@pytest.mark.parametrize(
    "mistake",
    [
        lambda xp, a: xp.sqrt(a, where=a > 2),
        lambda xp, a: xp.sum(a, where=a > 2),
        lambda xp, a: xp.sum(a, initial=1.0),
        lambda xp, a: xp.take(a, xp.arange(1), axis=0, mode="clip"),
        lambda xp, a: xp.clip(a, 0, 1, dtype=np.float32),
        lambda xp, a: xp.full((2,), 1.0, device="cpu"),
        lambda xp, a: xp.add(a),
        lambda xp, a: xp.add(a, a, a, a),
        lambda xp, a: xp.argmax(a, axis=1, out=xp.empty(2, np.int32)),
        lambda xp, a: xp.add(a, a, out=xp.empty((2, 3), np.int64)),
        lambda xp, a: xp.copyto(xp.empty((2, 3), np.uint8), a),
        lambda xp, a: xp.take(a, xp.arange(1), axis=0, out=xp.empty((1, 3), np.float32)),
        lambda xp, a: xp.take(a, a, axis=0),
    ],
)
def test_arguments_that_cupy_does_not_have_and_casts_that_it_refuses_are_refused(
    double: DoubleDevice, a: Any, mistake: Callable[[Any, Any], Any]
) -> None:
    with pytest.raises((TypeError, IndexError)):
        mistake(double.xp, a)


def test_names_that_are_not_on_the_list_do_not_exist(double: DoubleDevice) -> None:
    for name in ("einsum", "bincount", "errstate", "random", "object_", "float128"):
        with pytest.raises(AttributeError, match=f"no '{name}'"):
            getattr(double.xp, name)
    assert double.xp.float32 is np.float32


def test_shapes_of_given_outputs_are_checked(double: DoubleDevice, a: Any) -> None:
    xp = double.xp
    for mistake in (
        lambda: xp.take(a, xp.arange(2), axis=0, out=xp.empty((2, 4))),
        lambda: xp.add(a, a, out=xp.empty((3, 3))),
        lambda: xp.sum(a, axis=0, out=xp.empty(2)),
        lambda: xp.dot(a, a.T, out=xp.empty((2, 2), np.float32)),
        lambda: xp.dot(a, a.T, out=xp.empty((2, 4))[:, ::2]),
    ):
        with pytest.raises(ValueError, match=r"."):
            mistake()


def test_overflow_and_division_by_zero_warn_nobody(double: DoubleDevice, a: Any) -> None:
    assert np.isinf(host(double, double.xp.divide(a, 0.0))).all()
    out = double.xp.empty((2, 3))
    double.xp.exp(a * 1e6, out=out)
    assert np.isinf(host(double, out)).all()


@pytest.mark.parametrize(
    ("compute", "named"),
    [
        (lambda xp, a: xp.add(a[:1], 1.0, out=a[:1]), "add: input overlaps out"),
        (lambda xp, a: a.__setitem__(slice(None, 1), a[1:]), None),
        (lambda xp, a: a.__setitem__((..., slice(1, None)), a[..., :-1]), "assignment: input overlaps out"),
        (lambda xp, a: xp.add(a, 1.0, out=a), None),
        (lambda xp, a: xp.matmul(a, a.T), None),
        (lambda xp, a: xp.matmul(a[:, :2], a), "matmul: scattered input"),
        (lambda xp, a: xp.matmul(a, a.T, out=xp.empty((2, 4))[:, :2]), "matmul: out is scattered or of another dtype"),
        (lambda xp, a: xp.matmul(xp.ones((4, 2, 2)), a), "matmul: one matrix for a stack of others"),
        (lambda xp, a: xp.dot(a[0], a[1]), "dot: products of a single sum"),
        (lambda xp, a: xp.sum(a), "sum: scratch of CUB"),
        (lambda xp, a: xp.mean(a, axis=1), "mean: scratch of CUB"),
        (lambda xp, a: xp.sum(a, axis=0), None),
        (lambda xp, a: xp.argmax(a, axis=1), None),
    ],
)
def test_copies_that_cupy_makes_for_itself_are_noted(
    double: DoubleDevice, a: Any, compute: Callable[[Any, Any], Any], named: str | None
) -> None:
    compute(double.xp, a)
    assert double.stream.temporaries == ({named: 1} if named else {})


def test_a_recorded_step_is_asked_twice_and_replayed_ever_after(double: DoubleDevice, a: Any) -> None:
    asked, sums = [], double.xp.zeros(())
    rates, product = double.scalars(2, np.float64), double.xp.zeros((2, 2))

    def step() -> None:
        asked.append(len(asked))
        double.xp.multiply(a, rates[0], out=a)
        double.add_scaled(a, rates[1], out=a)
        double.product(a, a.T, product)
        total = double.xp.sum(a, out=sums)
        total += 1.0

    recorded, wanted = double.record(step), NUMBERS.copy()
    for rate in (2.0, 0.5, 3.0, 1.0):
        rates.set(rate, rate + 1)
        recorded()
        wanted *= rate
        wanted += (rate + 1) * wanted
        np.testing.assert_allclose(host(double, a), wanted, rtol=1e-14)
        np.testing.assert_allclose(host(double, product), wanted @ wanted.T, rtol=1e-14)
        assert float(sums) == pytest.approx(wanted.sum() + 1, rel=1e-14)
    assert asked == [0, 1]
    assert double.stream.replays == 3


def test_a_number_of_the_host_is_what_it_was_when_it_was_captured(double: DoubleDevice, a: Any) -> None:
    added = [1.0]
    recorded = double.record(lambda: double.xp.add(a, added[0], out=a))
    recorded()
    recorded()
    added[0] = 100.0
    recorded()
    np.testing.assert_array_equal(host(double, a), NUMBERS + 3)


@pytest.mark.parametrize(
    ("work", "named"),
    [
        (lambda d, a: a + 1.0, "add allocates"),
        (lambda d, a: d.xp.empty(3), "empty allocates"),
        (lambda d, a: a.T.reshape(-1), "reshape allocates"),
        (lambda d, a: a.astype(np.float32), "astype allocates"),
        (lambda d, a: d.xp.sum(a), "sum allocates"),
        (lambda d, a: float(a[0, 0]), "get waits for the device"),
        (lambda d, a: d.to_host(a), "get waits for the device"),
        (lambda d, a: d.synchronize(), "synchronize waits for the device"),
        (lambda d, a: d.to_device(NUMBERS), "asarray reads the host's memory"),
        (lambda d, a: d.upload(NUMBERS, out=a), "upload reads the host's memory"),
        (lambda d, a: d.scalars(1, np.float64), "zeros allocates"),
    ],
)
def test_what_a_captured_step_cannot_hold_is_refused_by_name(
    double: DoubleDevice, a: Any, work: Callable[[Any, Any], Any], named: str
) -> None:
    recorded = double.record(lambda: work(double, a))
    recorded()
    with pytest.raises(AssertionError, match=f"{named} inside a captured step"):
        recorded()


def test_while_capturing_nothing_is_done_and_cupy_asks_cublas_for_nothing(double: DoubleDevice, a: Any) -> None:
    out = double.xp.zeros((2, 2))
    with double.stream.capture() as tape:
        a[...] = 0.0
        double.xp.dot(a[0], a[1], out=out[0, 0])
        with pytest.raises(NotImplementedError, match="cuBLAS"):
            double.xp.matmul(a, a.T, out=out)
    np.testing.assert_array_equal(host(double, a), NUMBERS)
    assert len(tape) == 2
    double.stream.replay(tape)
    assert not host(double, a).any()


def test_a_product_can_be_captured_if_cublas_can_read_and_write_it_where_it_lies(double: DoubleDevice, a: Any) -> None:
    wide, scattered = double.xp.zeros((2, 4)), double.xp.zeros((2, 4))
    with double.stream.capture() as tape:
        double.product(a[:, 1:], a.T[1:], wide[:, 2:])
        for out in (scattered[:, ::2], scattered[:, 2:].T):
            with pytest.raises(NotImplementedError, match="cuBLAS"):
                double.product(a, a.T, out)
    double.stream.replay(tape)
    np.testing.assert_array_equal(host(double, wide)[:, 2:], NUMBERS[:, 1:] @ NUMBERS[:, 1:].T)
    assert not host(double, wide)[:, :2].any()
    double.product(a, a.T, scattered[:, ::2])
    np.testing.assert_array_equal(host(double, scattered)[:, ::2], NUMBERS @ NUMBERS.T)


def test_a_product_keeps_what_it_is_told_to_wherever_it_lies(double: DoubleDevice, a: Any) -> None:
    wide, scattered = double.xp.ones((2, 4)), double.xp.ones((2, 4))
    for out in (wide[:, 2:], scattered[:, ::2]):
        double.product(a, a.T, out, keep=0.25)
        np.testing.assert_allclose(host(double, out), 0.25 + NUMBERS @ NUMBERS.T)


def test_a_capture_that_failed_leaves_the_device_usable(double: DoubleDevice, a: Any) -> None:
    recorded = double.record(lambda: a + 1.0)
    recorded()
    with pytest.raises(AssertionError):
        recorded()
    np.testing.assert_array_equal(host(double, a + 1.0), NUMBERS + 1)


def test_uploads_want_the_shape_and_dtype_that_are_there_and_take_what_the_host_holds_now(
    double: DoubleDevice, a: Any
) -> None:
    numbers = 2 * NUMBERS
    double.upload(numbers, out=a)
    numbers[...] = 0.0
    np.testing.assert_array_equal(host(double, a), 2 * NUMBERS)
    with pytest.raises(TypeError, match="float32 array cannot be set to float64 array"):
        double.upload(NUMBERS.astype(np.float32), out=a)
    with pytest.raises(ValueError, match="Shape mismatch"):
        double.upload(NUMBERS[:1], out=a)
    with pytest.raises(RuntimeError, match="non-contiguous"):
        double.upload(NUMBERS[:, :2].copy(), out=a[:, :2])


def test_the_device_s_own_operations_compute_in_the_dtype_of_their_output(double: DoubleDevice) -> None:
    out = double.to_device(NUMBERS.astype(np.float32))
    x = double.to_device(np.ones((2, 3), np.float32))
    rate = double.scalars(1, np.float32)
    rate.set(-0.5)
    allocations = double.stream.allocations.total()
    double.add_scaled(x, 2.0, out=out)
    double.scale(0.5, out=out)
    double.add_scaled(x, rate[0], out=out)
    assert out.dtype == np.float32
    np.testing.assert_allclose(host(double, out), (NUMBERS + 2) / 2 - 0.5, rtol=1e-6)
    assert double.stream.allocations.total() == allocations


def test_gathering_rows_is_one_launch(double: DoubleDevice, a: Any) -> None:
    rows, out = double.xp.arange(1, -1, -1), double.xp.empty((2, 3))
    launches = double.stream.launches
    assert double.gather(a, rows, out=out) is out
    assert double.stream.launches == launches + 1
    np.testing.assert_array_equal(host(double, out), NUMBERS[::-1])


def test_work_asked_for_where_the_device_is_not_active_is_refused_but_copies_are_not() -> None:
    double = DoubleDevice()
    a = double.to_device(NUMBERS)
    with double.activate():
        b = a + 1.0
        with double.activate():
            pass
        b += 1.0
    for work in (lambda: a + 1.0, lambda: a.fill(0.0), lambda: float(b[0, 0]), lambda: double.xp.zeros(3)):
        with pytest.raises(AssertionError, match="where the device is not active"):
            work()
    double.upload(NUMBERS, out=a)
    double.synchronize()
    np.testing.assert_array_equal(double.to_host(b), NUMBERS + 2.0)


def test_a_device_is_active_in_the_thread_that_made_it_so_alone(double: DoubleDevice, a: Any) -> None:
    seen = []

    def work() -> None:
        try:
            a.fill(0.0)
        except AssertionError as error:
            seen.append(str(error))
        with double.activate():
            a.fill(1.0)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == ["a kernel is asked for where the device is not active"]
    assert (host(double, a) == 1.0).all()
