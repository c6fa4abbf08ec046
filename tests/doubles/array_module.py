"""As much of CuPy's module as Inkling uses, with CuPy's own arguments and no others.

A name that is not here, or an argument that CuPy 14 does not have, fails on the double as it would on a GPU; that both
are right is checked against CuPy itself by tests/core/test_cupy.py. Whoever needs another function adds it here, after
looking it up in CuPy's reference.
"""

import functools
import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from core.device import DTypeLike
from tests.doubles.array import DoubleArray, elementwise, integers, note_overlap, operand, reduction
from tests.doubles.stream import Stream

DTYPES = frozenset({"bool_", "uint8", "int32", "int64", "intp", "float32", "float64"})
ARITHMETIC = (np.add, np.subtract, np.multiply, np.divide, np.negative, np.maximum, np.minimum)
FORMULAS = (np.exp, np.log, np.sqrt, np.tanh, np.floor)
COMPARISONS = (np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal)
UFUNCS: Mapping[str, np.ufunc] = {ufunc.__name__: ufunc for ufunc in (*ARITHMETIC, *FORMULAS, *COMPARISONS)}
UFUNC_KEYWORDS = frozenset({"out", "dtype", "casting"})
"""`where` is not among them: CuPy's ufuncs refuse it."""


class ArrayModule:
    """The array module of a device double whose work goes through `stream`."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        if name in DTYPES:
            return getattr(np, name)
        if name in UFUNCS:
            return functools.partial(self._apply, UFUNCS[name])
        raise AttributeError(f"the device double has no {name!r}, and CuPy may lack it too: see {__name__}")

    def _apply(self, ufunc: np.ufunc, *args: Any, **keywords: Any) -> DoubleArray:
        if not set(keywords) <= UFUNC_KEYWORDS:
            raise TypeError(f"Wrong arguments {set(keywords) - UFUNC_KEYWORDS}")
        if len(args) == ufunc.nin + 1:
            *args, keywords["out"] = args  # type: ignore[assignment]
        return elementwise(self._stream, ufunc, *args, **keywords)

    # New arrays.

    def empty(self, shape: Any, dtype: DTypeLike = float) -> DoubleArray:
        """Full of what nobody can have meant: a GPU's memory is not empty."""
        kind = np.dtype(dtype)
        left = np.nan if kind.kind == "f" else True if kind.kind == "b" else np.iinfo(kind).max
        return self._make("empty", lambda: np.full(shape, left, kind))

    def empty_like(self, prototype: DoubleArray, dtype: DTypeLike | None = None) -> DoubleArray:
        return self.empty(memory(prototype).shape, dtype or prototype.dtype)

    def zeros(self, shape: Any, dtype: DTypeLike = float) -> DoubleArray:
        return self._make("zeros", lambda: np.zeros(shape, dtype))

    def ones(self, shape: Any, dtype: DTypeLike = float) -> DoubleArray:
        return self._make("ones", lambda: np.ones(shape, dtype))

    def full(self, shape: Any, fill_value: Any, dtype: DTypeLike | None = None) -> DoubleArray:
        number = operand(fill_value)
        return self._make("full", lambda: np.full(shape, number, dtype))

    def zeros_like(self, a: DoubleArray, dtype: DTypeLike | None = None) -> DoubleArray:
        return self._make("zeros_like", lambda: np.zeros_like(memory(a), dtype))

    def arange(self, start: Any, stop: Any = None, step: Any = 1, dtype: DTypeLike | None = None) -> DoubleArray:
        return self._make("arange", lambda: np.arange(start, stop, step, dtype))

    def asarray(self, a: Any, dtype: DTypeLike | None = None) -> DoubleArray:
        if isinstance(a, DoubleArray):
            return a if dtype is None else a.astype(dtype, copy=False)
        self._stream.upload("asarray")
        return self._make("asarray", lambda: np.array(a, dtype))

    def ascontiguousarray(self, a: DoubleArray, dtype: DTypeLike | None = None) -> DoubleArray:
        if a.flags.c_contiguous and dtype in (None, a.dtype):
            return a
        return self._make("ascontiguousarray", lambda: np.ascontiguousarray(memory(a), dtype))

    def _make(self, what: str, compute: Any) -> DoubleArray:
        return DoubleArray(self._stream.make(what, compute), self._stream)

    # Copies and choices.

    def copyto(self, dst: DoubleArray, src: Any, casting: str = "same_kind") -> None:
        target, source = memory(dst), operand(src)
        note_overlap(self._stream, "copyto", src, dst)
        self._stream.launch(lambda: np.copyto(target, source, casting=casting))  # type: ignore[arg-type]

    def clip(self, a: DoubleArray, a_min: Any, a_max: Any, out: DoubleArray | None = None) -> DoubleArray:
        memory(a)
        return elementwise(self._stream, np.clip, a, a_min, a_max, out=out)  # type: ignore[arg-type]

    def take(self, a: DoubleArray, indices: DoubleArray, axis: int | None = None, out: Any = None) -> DoubleArray:
        """Out of range is no error: it wraps around. `out` is of the very dtype and shape of the result."""
        source, rows = memory(a), integers(indices)
        if out is None:
            return self._make("take", lambda: np.take(source, rows, axis=axis, mode="wrap"))
        target = memory(out)
        if target.dtype != source.dtype:
            raise TypeError("Output dtype mismatch")
        before, after = ((), ()) if axis is None else (source.shape[:axis], source.shape[axis + 1 :])
        if target.shape != before + rows.shape + after:
            raise ValueError("Output shape mismatch")
        self._stream.launch(lambda: np.take(source, rows, axis=axis, out=target, mode="wrap"))
        return out

    # Reductions.

    def sum(
        self, a: DoubleArray, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False
    ) -> DoubleArray:
        memory(a)
        return a.sum(axis, dtype, out, keepdims)

    def mean(
        self, a: DoubleArray, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False
    ) -> DoubleArray:
        memory(a)
        return reduction(np.mean, a, out, axis=axis, dtype=dtype, keepdims=keepdims)

    def max(self, a: DoubleArray, axis: Any = None, out: Any = None, keepdims: bool = False) -> DoubleArray:
        memory(a)
        return a.max(axis, out, keepdims)

    def argmax(
        self, a: DoubleArray, axis: int | None = None, dtype: None = None, out: Any = None, keepdims: bool = False
    ) -> DoubleArray:
        memory(a)
        return a.argmax(axis, out, dtype, keepdims)

    # Products.

    def dot(self, a: DoubleArray, b: DoubleArray, out: Any = None) -> DoubleArray:
        if out is not None:
            if np.result_type(memory(a), memory(b)) != memory(out).dtype:
                raise ValueError("Not supported dtype combination.")
            if not memory(out).flags.c_contiguous:
                raise ValueError("Output array must be C-contiguous")
        return self._product(np.dot, a, b, out)

    def matmul(self, a: DoubleArray, b: DoubleArray, *, out: Any = None) -> DoubleArray:
        return self._product(np.matmul, a, b, out)

    def _product(self, function: Any, a: DoubleArray, b: DoubleArray, out: Any) -> DoubleArray:
        left, right = memory(a), memory(b)
        if self._stream.capturing and not is_single_sum(left, right):
            raise NotImplementedError("calling cuBLAS API during stream capture is currently unsupported")
        self._note_temporaries(function.__name__, left, right, None if out is None else memory(out))
        if out is None:
            return self._make(function.__name__, lambda: function(left, right))
        target = memory(out)
        self._stream.launch(lambda: function(left, right, out=target))
        return out

    def _note_temporaries(self, name: str, left: Any, right: Any, out: Any) -> None:
        """cuBLAS takes whole matrices, by rows or by columns, and writes them by rows; CuPy copies what is not so."""
        stacked = max(left.ndim, right.ndim) > 2
        for matrix in (left, right):
            if not (matrix.flags.c_contiguous or (matrix.flags.f_contiguous and not stacked)):
                self._stream.temporary(f"{name}: scattered input")
        if out is not None and not (out.flags.c_contiguous and out.dtype == np.result_type(left, right)):
            self._stream.temporary(f"{name}: out is scattered or of another dtype")
        if stacked and left.shape[:-2] != right.shape[:-2]:
            self._stream.temporary(f"{name}: one matrix for a stack of others")
        if is_single_sum(left, right):
            self._stream.temporary(f"{name}: products of a single sum")


def is_single_sum(left: Any, right: Any) -> bool:
    """Of such a product CuPy makes a plain one and a sum; all others are cuBLAS's."""
    return max(left.ndim, right.ndim) <= 2 and left.size == right.size == left.shape[-1]


def memory(array: Any) -> Any:
    """An array's memory, where nothing but an array will do."""
    if not isinstance(array, DoubleArray):
        raise TypeError(f"an array of the device is wanted, not {type(array)}")
    return array.device_memory


FUNCTIONS: Mapping[str, inspect.Signature] = {
    name: inspect.signature(functools.partial(function, None))
    for name, function in vars(ArrayModule).items()
    if inspect.isfunction(function) and not name.startswith("_")
}
"""What there is besides ufuncs and dtypes, with the arguments each takes."""
