"""New pictures from old ones: a batch changed at random in ways that leave every digit what it was.

Whole batches at once, on the device, (N, 784). What is random is drawn on the host beforehand (`draw`), a few numbers a
batch or a picture, so that every device sees the same pictures; all arrays are made once.
"""

import numpy as np

from core.device import Array, Device, DTypeLike, HostArray
from core.digits.dataset import to_network_input
from core.workspace import Workspace

SIDE = 28
MAX_SHIFT_PX = 4

MAX_ROTATION = np.deg2rad(20.0)
MAX_LOG_SCALE = 0.2
MAX_SHEAR = 0.3
MAX_OFFSET_PX = 2.0
ELASTIC_PX = 1.6
"""Standard deviation of the elastic displacement."""
MAX_THICKNESS = 0.9
NOISE = 0.02
_BUMPS, _BUMP_WIDTH_PX = 6, 5.0
_NOISE_ROWS = 256
_PADDING = 4
_PADDED = SIDE + 2 * _PADDING


class BatchShift:
    """Move all pictures of a batch, bytes, together by up to `max_shift_px` (0 to 4) each way; what leaves is lost.

    It costs next to nothing, and over many batches does most of what moving each picture by itself would do. Whoever
    fetches the batch fetches it from `pixels` further back in memory than where it lies, up to MARGIN; what came from a
    neighbour that way is then cleared.
    """

    MARGIN = MAX_SHIFT_PX * (SIDE + 1)
    """The most that `pixels` may be, either way."""

    def __init__(self, max_shift_px: int) -> None:
        self.max_shift_px = max_shift_px
        self.offset = (0, 0)

    def draw(self, rng: np.random.Generator) -> None:
        """Draw `offset`, by how many pixels down and to the right the next batch is moved."""
        # One number is six times as quick to draw as an array of two, and a float five times as quick as an integer.
        ways = 2 * self.max_shift_px + 1
        down, right = divmod(int(rng.random() * ways * ways), ways)
        self.offset = down - self.max_shift_px, right - self.max_shift_px

    @property
    def pixels(self) -> int:
        """`offset` as one number, of pixels as they lie one after the other."""
        down, right = self.offset
        return down * SIDE + right

    def clear(self, moved: Array) -> Array:
        """`moved` uint8 (N, 784), a batch moved by `pixels`, without what came from neighbours."""
        down, right = self.offset
        pictures = moved.reshape(-1, SIDE, SIDE)
        pictures[:, _vacated(down)] = 0
        pictures[:, :, _vacated(right)] = 0
        return moved


def _vacated(shift: int) -> slice:
    """Where nothing came along one axis, for a move by `shift` pixels."""
    return slice(0, shift) if shift >= 0 else slice(SIDE + shift, SIDE)


class Distortion:
    """Turn, scale, shear, shift and warp each picture by itself, make its lines thicker or thinner, and add noise.

    All of it at most by the constants above times `strength` (0 to 1), which may be changed between batches. Every
    pixel of the result looks up where it came from and takes the bilinear mean of the four pixels there: an affine
    function of its place, plus an elastic displacement, a sum of smooth bumps of random height (Simard et al., 2003,
    smooth a field of random numbers; this is the same with fewer of them).
    """

    def __init__(self, device: Device, dtype: DTypeLike, strength: float) -> None:
        self._device, self._xp = device, device.xp
        self.strength = strength
        self._dtype = np.dtype(dtype)
        self._now = device.scalars(1, dtype)
        self._workspace = Workspace(device, dtype)
        centred = np.arange(SIDE) - (SIDE - 1) / 2
        down, right = np.meshgrid(centred, centred, indexing="ij")
        places = np.stack([np.ones(SIDE * SIDE), right.ravel(), down.ravel()])
        # One product finds the places of all pixels: three coefficients of an affine function, and a height per bump.
        self._terms = device.to_device(np.concatenate([places, _bumps()]).astype(self._dtype))
        noise = np.random.default_rng(0).normal(0.0, NOISE, (_NOISE_ROWS, SIDE * SIDE))
        self._noise = device.to_device(noise.astype(self._dtype))
        self._padded: dict[int, Array] = {}

    def draw(self, count: int, rng: np.random.Generator) -> None:
        """Draw how the next `count` pictures are distorted."""
        self._now.set(self.strength)
        thickness = MAX_THICKNESS * self.strength * rng.uniform(-1, 1, (count, 1))
        noise = rng.integers(0, _NOISE_ROWS, count)
        for name, drawn in (("maps", self._draw_maps(count, rng)), ("thickness", thickness)):
            self._device.upload(drawn.astype(self._dtype), out=self._workspace.array(name, drawn.shape))
        self._device.upload(noise.astype(np.intp), out=self._workspace.array("noise rows", (count,), np.intp))

    def apply(self, x: Array) -> Array:
        """`x` (N, 784), floats 0 to 1, distorted as drawn for N pictures, in an array of this object's own."""
        xp, own = self._xp, self._workspace.array
        source, first = self._pad(x)
        pair = (2, len(x), x.shape[1])
        places, whole = own("places", pair), own("whole", pair)
        maps = own("maps", (2, len(x), len(self._terms))).reshape(2 * len(x), -1)
        self._device.product(maps, self._terms, out=places.reshape(2 * len(x), -1))
        xp.clip(places, 0, _PADDED - 1.01, out=places)
        xp.floor(places, out=whole)
        (right, down), (column, row) = xp.subtract(places, whole, out=places), whole
        xp.multiply(row, _PADDED, out=row)
        xp.add(row, column, out=row)
        xp.add(row, first, out=row)
        index = own("index", x.shape, np.intp)
        index[...] = row
        moved = self._mean_of_four(source.reshape(-1), index, right, down)
        return self._add_noise(self._thicken(moved))

    def _draw_maps(self, count: int, rng: np.random.Generator) -> HostArray:
        """(2, count, terms): for the column and the row of the source, the coefficients of each term."""
        limits = np.array([MAX_ROTATION, MAX_LOG_SCALE, MAX_SHEAR, MAX_OFFSET_PX, MAX_OFFSET_PX])
        turn, log_scale, shear, right, down = (limits * self.strength)[:, None] * rng.uniform(-1, 1, (5, count))
        cosine, sine = np.cos(turn) * np.exp(log_scale), np.sin(turn) * np.exp(log_scale)
        middle = (SIDE - 1) / 2 + _PADDING
        affine = np.stack(
            [
                np.stack([middle + right, cosine, sine + shear], axis=1),
                np.stack([middle + down, -sine, cosine], axis=1),
            ]
        )
        heights = ELASTIC_PX * self.strength * rng.standard_normal((2, count, _BUMPS**2))
        return np.concatenate([affine, heights], axis=2)

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

    def _thicken(self, x: Array) -> Array:
        """x + t x (1 - x), t from -1 to 1 for each picture: paper and full ink stay, the edges between them move."""
        xp = self._xp
        edge = self._workspace.array("edge", x.shape)
        xp.subtract(1.0, x, out=edge)
        xp.multiply(edge, x, out=edge)
        xp.multiply(edge, self._workspace.array("thickness", (len(x), 1)), out=edge)
        return xp.add(x, edge, out=x)

    def _add_noise(self, x: Array) -> Array:
        """For each picture one of some rows of noise, made once; nothing gets lighter than paper."""
        xp, own = self._xp, self._workspace.array
        noise = own("noise", x.shape)
        self._device.gather(self._noise, own("noise rows", (len(x),), np.intp), out=noise)
        xp.multiply(noise, self._now[0], out=noise)
        xp.add(x, noise, out=x)
        return xp.clip(x, 0.0, 1.0, out=x)


def _bumps() -> HostArray:
    """(bumps, 784): bell-shaped hills on a grid over the picture, scaled so that random heights give variance 1."""
    middles = np.linspace(-0.5, SIDE - 0.5, _BUMPS)
    bell = np.exp(-0.5 * ((np.arange(SIDE) - middles[:, None]) / _BUMP_WIDTH_PX) ** 2)
    bumps = np.einsum("ir,jc->ijrc", bell, bell).reshape(_BUMPS**2, SIDE * SIDE)
    return bumps / np.sqrt((bumps**2).sum(axis=0).mean())


def distorted_examples(images: HostArray, strength: float, shift_px: int, seed: int) -> HostArray:
    """`images` uint8 (N, 28, 28) as training would show them, to be looked at; the same seed draws the same."""
    device, rng = Device(), np.random.default_rng(seed)
    pictures = images.reshape(len(images), -1)
    if shift_px:
        shift = BatchShift(shift_px)
        shift.draw(rng)
        pictures = shift.clear(np.roll(pictures, shift.pixels))
    pixels = to_network_input(np, pictures, out=np.empty(pictures.shape, np.float32))
    if strength:
        distortion = Distortion(device, np.float32, strength)
        distortion.draw(len(pixels), rng)
        pixels = distortion.apply(pixels)
    return np.rint(pixels * 255.0).astype(np.uint8).reshape(images.shape)
