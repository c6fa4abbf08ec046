"""New pictures from old ones: a batch changed at random in ways that leave every digit what it was.

Whole batches at once, on the device, from network input to network input. What is random is drawn on the host, a few
numbers a batch or a picture, so that every device sees the same pictures; all arrays are made once.
"""

import numpy as np

from core.device import Array, Device, DTypeLike, HostArray
from core.workspace import Workspace

SIDE = 28

MAX_ROTATION = np.deg2rad(20.0)
MAX_LOG_SCALE = 0.2
MAX_SHEAR = 0.3
MAX_OFFSET_PX = 2.0
_PADDING = 4
_PADDED = SIDE + 2 * _PADDING


class BatchShift:
    """Move all pictures of a batch together by up to `max_shift_px` (1 to 4) in both directions; what leaves is lost.

    It costs next to nothing, and over many batches does most of what moving each picture by itself would do.
    """

    def __init__(self, device: Device, dtype: DTypeLike, max_shift_px: int) -> None:
        self._max = max_shift_px
        self._workspace = Workspace(device, dtype)

    def apply(self, x: Array, rng: np.random.Generator) -> Array:
        """`x` (N, 784) moved, in an array of this object's own."""
        down, right = (int(shift) for shift in rng.integers(-self._max, self._max + 1, 2))
        moved = self._workspace.array("moved", x.shape)
        moved.fill(0)
        to_rows, from_rows = _overlap(down)
        to_columns, from_columns = _overlap(right)
        pictures, target = x.reshape(-1, SIDE, SIDE), moved.reshape(-1, SIDE, SIDE)
        target[:, to_rows, to_columns] = pictures[:, from_rows, from_columns]
        return moved


def _overlap(shift: int) -> tuple[slice, slice]:
    """Where to and where from along one axis, for a move by `shift` pixels."""
    here = slice(max(0, shift), SIDE + min(0, shift))
    return here, slice(here.start - shift, here.stop - shift)


class Distortion:
    """Turn, scale, shear and shift each picture by itself, at most by the constants above times `strength` (0 to 1).

    Every pixel of the result looks up where it came from, an affine function of its place, and takes the bilinear mean
    of the four pixels there.
    """

    def __init__(self, device: Device, dtype: DTypeLike, strength: float) -> None:
        self._device, self._xp = device, device.xp
        self._strength = strength
        self._dtype = np.dtype(dtype)
        self._workspace = Workspace(device, dtype)
        centred = np.arange(SIDE) - (SIDE - 1) / 2
        down, right = np.meshgrid(centred, centred, indexing="ij")
        places = np.stack([np.ones(SIDE * SIDE), right.ravel(), down.ravel()])
        self._places = device.to_device(places.astype(self._dtype))
        self._padded: dict[int, Array] = {}

    def apply(self, x: Array, rng: np.random.Generator) -> Array:
        """`x` (N, 784) distorted, in an array of this object's own."""
        xp, own = self._xp, self._workspace.array
        source, first = self._pad(x)
        maps = self._device.to_device(self._draw_maps(len(x), rng).astype(self._dtype))
        pair = (2, len(x), x.shape[1])
        places, whole = own("places", pair), own("whole", pair)
        xp.matmul(maps, self._places, out=places)
        xp.clip(places, 0, _PADDED - 1.01, out=places)
        xp.floor(places, out=whole)
        (right, down), (column, row) = xp.subtract(places, whole, out=places), whole
        xp.multiply(row, _PADDED, out=row)
        xp.add(row, column, out=row)
        xp.add(row, first, out=row)
        index = own("index", x.shape, np.intp)
        index[...] = row
        return self._mean_of_four(source.reshape(-1), index, right, down)

    def _draw_maps(self, count: int, rng: np.random.Generator) -> HostArray:
        """(2, count, 3): for the column and the row of the source, the coefficients of 1, right and down."""
        limits = np.array([MAX_ROTATION, MAX_LOG_SCALE, MAX_SHEAR, MAX_OFFSET_PX, MAX_OFFSET_PX])
        turn, log_scale, shear, right, down = (limits * self._strength)[:, None] * rng.uniform(-1, 1, (5, count))
        cosine, sine = np.cos(turn) * np.exp(log_scale), np.sin(turn) * np.exp(log_scale)
        middle = (SIDE - 1) / 2 + _PADDING
        return np.stack(
            [
                np.stack([middle + right, cosine, sine + shear], axis=1),
                np.stack([middle + down, -sine, cosine], axis=1),
            ]
        )

    def _pad(self, x: Array) -> tuple[Array, Array]:
        """`x` with an empty border, and where each picture starts in it; the border is written once."""
        n = len(x)
        if n not in self._padded:
            self._padded[n] = self._xp.zeros((n, _PADDED, _PADDED), self._dtype)
            starts = self._workspace.array("starts", (n, 1))
            starts[...] = self._device.to_device(np.arange(n).reshape(n, 1) * _PADDED**2)
        inside = slice(_PADDING, _PADDING + SIDE)
        self._padded[n][:, inside, inside] = x.reshape(n, SIDE, SIDE)
        return self._padded[n], self._workspace.array("starts", (n, 1))

    def _mean_of_four(self, source: Array, index: Array, right: Array, down: Array) -> Array:
        """Bilinear mean of the pixels at `index`, to its right, below, and below to the right."""
        xp, own = self._xp, self._workspace.array
        rows = []
        for name, start in (("upper", 0), ("lower", _PADDED)):
            mean, beside = own(name, index.shape), own("beside", index.shape)
            self._device.gather(source[start:], index, out=mean)
            self._device.gather(source[start + 1 :], index, out=beside)
            xp.subtract(beside, mean, out=beside)
            xp.multiply(beside, right, out=beside)
            rows.append(xp.add(mean, beside, out=mean))
        upper, lower = rows
        xp.subtract(lower, upper, out=lower)
        xp.multiply(lower, down, out=lower)
        return xp.add(upper, lower, out=upper)
