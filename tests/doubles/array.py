"""An array that behaves as CuPy's does towards the host: it neither turns into NumPy's by itself nor mixes with it.

What it computes, NumPy computes in memory of its own; how it may be used is CuPy 14's. Where CuPy would accept
something at the price of a silent copy from the host (lists and host arrays as indices), it refuses.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.device import DTypeLike, HostArray
from tests.doubles.stream import Stream

SCALARS = (bool, int, float, complex, np.bool_, np.number)


@dataclass(frozen=True)
class Flags:
    """As much as CuPy's arrays tell of their memory; there is no `writeable`."""

    c_contiguous: bool
    f_contiguous: bool
    owndata: bool


class DoubleArray:
    """An array on a device double; `device_memory` is for the double itself to look into."""

    # NumPy's operators then leave mixed operations to this class, and NumPy's functions refuse it.
    __array_ufunc__ = None

    def __init__(self, device_memory: HostArray, stream: Stream) -> None:
        self.device_memory, self._stream = device_memory, stream

    shape = property(lambda self: self.device_memory.shape)
    dtype = property(lambda self: self.device_memory.dtype)
    strides = property(lambda self: self.device_memory.strides)
    size = property(lambda self: self.device_memory.size)
    ndim = property(lambda self: self.device_memory.ndim)
    nbytes = property(lambda self: self.device_memory.nbytes)
    itemsize = property(lambda self: self.device_memory.itemsize)

    @property
    def T(self) -> "DoubleArray":
        return self.transpose()

    @property
    def flags(self) -> Flags:
        flags = self.device_memory.flags
        return Flags(flags.c_contiguous, flags.f_contiguous, flags.owndata)

    # Views, and copies where there can be none.

    def _view(self, memory: HostArray) -> "DoubleArray":
        return DoubleArray(memory, self._stream)

    def _new(self, what: str, compute: Callable[[], HostArray]) -> "DoubleArray":
        return DoubleArray(self._stream.make(what, compute), self._stream)

    def transpose(self, *axes: Any) -> "DoubleArray":
        return self._view(self.device_memory.transpose(*axes))

    def swapaxes(self, axis1: int, axis2: int) -> "DoubleArray":
        return self._view(self.device_memory.swapaxes(axis1, axis2))

    def reshape(self, *shape: Any) -> "DoubleArray":
        wanted = shape[0] if len(shape) == 1 else shape
        try:
            return self._view(np.reshape(self.device_memory, wanted, copy=False))
        except ValueError:
            return self._new("reshape", lambda: self.device_memory.reshape(wanted))

    def ravel(self) -> "DoubleArray":
        return self.reshape(-1)

    def copy(self) -> "DoubleArray":
        return self._new("copy", self.device_memory.copy)

    def astype(self, dtype: DTypeLike, copy: bool = True) -> "DoubleArray":
        if not copy and self.dtype == dtype:
            return self
        return self._new("astype", lambda: self.device_memory.astype(dtype))

    # Reading and writing parts.

    def __len__(self) -> int:
        return len(self.device_memory)

    def __iter__(self) -> Iterator["DoubleArray"]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: Any) -> "DoubleArray":
        if isinstance(index, DoubleArray):
            rows = integers(index)
            return self._new("indexing by an array", lambda: np.take(self.device_memory, rows, axis=0, mode="wrap"))
        # With an ellipsis a single element is a view of shape (), as it is on a GPU, and no number.
        return self._view(self.device_memory[with_ellipsis(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, DoubleArray):
            memory, rows, given = self.device_memory, integers(index), operand(value)
            self._stream.launch(lambda: memory.__setitem__(rows % len(memory), given))
            return
        part = self[index]
        if not isinstance(value, DoubleArray):
            part.fill(value)
            return
        target, source = part.device_memory, value.device_memory
        if target.__array_interface__ == source.__array_interface__:
            return  # As after x[i] += 1, which has already been written.
        note_overlap(self._stream, "assignment", value, part)
        self._stream.launch(lambda: np.copyto(target, source, casting="unsafe"))

    def fill(self, value: Any) -> None:
        if isinstance(value, np.ndarray):
            if value.shape != ():
                raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
            value = value.item()
        memory, number = self.device_memory, operand(value)
        self._stream.launch(lambda: memory.fill(number))

    # Reductions, with CuPy's arguments in CuPy's order.

    def sum(
        self, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: bool = False
    ) -> "DoubleArray":
        return reduction(np.sum, self, out, axis=axis, dtype=dtype, keepdims=keepdims)

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> "DoubleArray":
        return reduction(np.max, self, out, axis=axis, keepdims=keepdims)

    def argmax(
        self, axis: int | None = None, out: Any = None, dtype: None = None, keepdims: bool = False
    ) -> "DoubleArray":
        if out is not None and operand(out).dtype != np.int64:
            raise TypeError(f"argmax gives int64, not {operand(out).dtype}")
        return reduction(np.argmax, self, out, axis=axis, keepdims=keepdims)

    # To the host.

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> HostArray:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> None:
        raise TypeError(f"numpy.{function.__name__} was given an array of the device; use the device's own module")

    def get(self) -> HostArray:
        self._stream.synchronize("get")
        return self.device_memory.copy()

    def item(self) -> Any:
        return self.get().item()

    def tolist(self) -> Any:
        return self.get().tolist()

    def __float__(self) -> float:
        return float(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __index__(self) -> int:
        return self.get().__index__()

    def __bool__(self) -> bool:
        return bool(self.get())

    def __repr__(self) -> str:
        return f"DoubleArray(shape={self.shape}, dtype={self.dtype})"


def with_ellipsis(index: Any) -> tuple[Any, ...]:
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        if isinstance(part, bool) or not (
            part is None or part is Ellipsis or isinstance(part, int | np.integer | slice)
        ):
            raise IndexError(f"the double takes numbers, slices, None and ... as an index, or one array, not {part!r}")
    return parts if any(part is Ellipsis for part in parts) else (*parts, ...)


def integers(index: DoubleArray) -> HostArray:
    """What an array used as an index holds; CuPy wraps what is out of range around, and never complains."""
    if index.dtype.kind not in "iu":
        raise IndexError(f"arrays used as indices must be of integer type, not {index.dtype}")
    return index.device_memory


def operand(value: Any) -> Any:
    """What NumPy is to compute with for this argument; host arrays, lists and the like are refused."""
    if isinstance(value, DoubleArray):
        return value.device_memory
    if isinstance(value, SCALARS):
        return value
    raise TypeError(f"Unsupported type {type(value)}")


def note_overlap(stream: Stream, what: str, source: Any, out: DoubleArray) -> None:
    """CuPy copies an input first whose memory may meet the output's, unless it is the very same object."""
    if not isinstance(source, DoubleArray) or source is out:
        return
    if np.may_share_memory(source.device_memory, out.device_memory):
        stream.temporary(f"{what}: input overlaps out")


def reduction(function: Any, a: DoubleArray, out: Any, **options: Any) -> DoubleArray:
    """`function` of `a` into `out`, or into a new array, of shape () if nothing is left of the axes."""
    source, axis, stream = a.device_memory, options["axis"], a._stream
    if function is not np.argmax and (axis is None or source.ndim - 1 in np.atleast_1d(axis) % source.ndim):
        stream.temporary(f"{function.__name__}: scratch of CUB")
    if out is None:
        return DoubleArray(stream.make(function.__name__, lambda: function(source, **options)), stream)
    if not isinstance(out, DoubleArray):
        raise TypeError("Output arguments type must be cupy.ndarray")
    stream.launch(lambda: function(source, out=out.device_memory, **options))
    return out


def elementwise(stream: Stream, ufunc: np.ufunc, *inputs: Any, out: Any = None, **options: Any) -> DoubleArray:
    """`ufunc` of `inputs` into `out`, or into a new array; what cannot be cast by the same-kind rule is refused."""
    values = [operand(value) for value in inputs]
    if out is None:
        return DoubleArray(stream.make(ufunc.__name__, lambda: ufunc(*values, **options)), stream)
    if not isinstance(out, DoubleArray):
        raise TypeError("Output arguments type must be cupy.ndarray")
    for value in inputs:
        note_overlap(stream, ufunc.__name__, value, out)
    stream.launch(lambda: ufunc(*values, out=out.device_memory, **options))
    return out


def _operators(ufunc: np.ufunc) -> tuple[Callable[..., DoubleArray], ...]:
    """x op y, y op x and x op= y."""

    def forward(self: DoubleArray, other: Any) -> DoubleArray:
        return elementwise(self._stream, ufunc, self, other)

    def reflected(self: DoubleArray, other: Any) -> DoubleArray:
        return elementwise(self._stream, ufunc, other, self)

    def in_place(self: DoubleArray, other: Any) -> DoubleArray:
        return elementwise(self._stream, ufunc, self, other, out=self)

    return forward, reflected, in_place


ARITHMETIC = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
for _name, _ufunc in ARITHMETIC.items():
    for _prefix, _operator in zip(("", "r", "i"), _operators(_ufunc), strict=True):
        setattr(DoubleArray, f"__{_prefix}{_name}__", _operator)
for _name, _ufunc in COMPARISONS.items():
    setattr(DoubleArray, f"__{_name}__", _operators(_ufunc)[0])
DoubleArray.__neg__ = lambda self: elementwise(self._stream, np.negative, self)  # type: ignore[attr-defined]
DoubleArray.__hash__ = None  # type: ignore[assignment]
