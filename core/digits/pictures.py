"""From a picture file of one digit to the 28x28 picture a network knows: any format, size, polarity and paper.

A picture that has MNIST's form already, 28x28 with a dark border, passes unchanged, bit for bit. Every other one takes
the road MNIST's own scans took: find the ink on its paper, fit its box to 20x20 pixels, put its centre of mass on pixel
(14, 14). The road is a room apart from core.digits.rasterizer because a picture, unlike ink, has paper, light and
noise in it, and its pen is as thick as it is: one too thin to survive the shrinking is thickened, no other is changed.

Files come from anywhere: whatever is wrong with one is a PictureError of one sentence, and how many pixels it has is
asked before any of them is unpacked.
"""

import os
import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter, ImageOps, UnidentifiedImageError

from core.device import HostArray
from core.digits.rasterizer import BOX_SIZE, CENTRE_PIXEL, PICTURE_SIZE, centre_of_mass

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
"""What the names of readable files end in; the content decides, not the name."""

MAX_PIXELS = 50_000_000

# Only these: some of Pillow's other readers start programs or fetch pieces from elsewhere.
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")

# Pillow's readers do not agree on what to raise about damaged data.
_DAMAGED = (
    OSError,
    EOFError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RuntimeError,
    MemoryError,
    struct.error,
    zlib.error,
)

_WORKING_SIDE = 1000
_PAPER_SIDE = 64
_INK_SIDE = 160  # of the ink's box, before the last step: eight times what becomes of it
_FINEST_PEN_PX = 2.0  # in the finished picture; one MNIST picture in six has a finer one
_LEAST_CONTRAST = 20  # grey levels of 255


class PictureError(ValueError):
    """A file cannot be used as a picture of a digit; the message names it and says why and what to do."""


def read_picture(path: str | os.PathLike[str]) -> HostArray:
    """The digit in the picture file at `path`: uint8 (28, 28), ink bright (255) on 0.

    Of a file with several frames the first counts; transparent places are white paper.

    Raises PictureError if the file is missing, damaged, no picture, larger than 50 megapixels, or shows no ink.
    """
    grey = _read_grey(Path(path))
    if grey.shape == (PICTURE_SIZE, PICTURE_SIZE) and _has_dark_border(grey):
        return grey.astype(np.uint8)
    ink = _ink_on_paper(grey)
    if ink is None:
        raise PictureError(f"{path} is blank: no ink stands out from its background; choose a picture of a digit.")
    return _fit(_without_specks(ink))


def _read_grey(path: Path) -> HostArray:
    """Grey levels 0 to 255, float32 (height, width), of at most _WORKING_SIDE a side."""
    if path.is_dir():
        raise PictureError(f"{path} is a folder; choose a picture file in it.")
    try:
        # What Pillow merely warns about, we either refuse or can live with.
        with warnings.catch_warnings(action="ignore"), Image.open(path, formats=_FORMATS) as image:
            if image.width * image.height > MAX_PIXELS:
                raise Image.DecompressionBombError
            image.draft(None, (_WORKING_SIDE, _WORKING_SIDE))
            return _to_grey(ImageOps.exif_transpose(image))
    except FileNotFoundError:
        raise PictureError(f"{path} does not exist; check the name and the folder.") from None
    except PermissionError:
        raise PictureError(f"{path} may not be read; check the file's permissions.") from None
    except UnidentifiedImageError:
        kinds = ", ".join(_FORMATS)
        raise PictureError(f"{path} is not a picture of a known kind; choose one of these: {kinds}.") from None
    except Image.DecompressionBombError:
        limit = MAX_PIXELS // 1_000_000
        raise PictureError(f"{path} is larger than {limit} megapixels; make it smaller or cut the digit out.") from None
    except _DAMAGED:
        raise PictureError(f"{path} is cut short or damaged; save or fetch the picture again.") from None


def _to_grey(image: Image.Image) -> HostArray:
    if image.mode[0] in "IF":
        # 16 bits and more: seldom all of them are used, so the range found is the range.
        deep = np.nan_to_num(np.asarray(image, dtype=np.float64), posinf=0, neginf=0)
        deep = (deep - deep.min()) * (255 / (np.ptp(deep) or 1))
        image = Image.fromarray(deep.astype(np.float32))
    elif image.has_transparency_data:
        layer = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("L")
    else:
        image = image.convert("RGB").convert("L") if image.mode != "L" else image
    image.thumbnail((_WORKING_SIDE, _WORKING_SIDE), Image.Resampling.BOX)
    return np.asarray(image, dtype=np.float32)


def _border(picture: HostArray) -> HostArray:
    return np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])


def _has_dark_border(grey: HostArray) -> bool:
    dark = float(np.median(_border(grey)))
    return dark < 64 and float(grey.max()) - dark >= _LEAST_CONTRAST


def _ink_on_paper(grey: HostArray) -> HostArray | None:
    """Ink 0..1 (height, width), whichever of ink and paper is the darker; None where there is no ink."""
    depth = grey - _paper(grey)
    # Paper is what most of the picture is, so the ink is where the differences are few and large.
    if (depth**3).sum() < 0:
        depth = -depth
    noise = 1.5 * float(np.median(np.abs(depth)))
    peak = float(depth.max())
    if peak < max(_LEAST_CONTRAST, 8 * noise):
        return None
    full = float(np.median(depth[depth > peak / 2]))
    faint = max(0.15 * full, min(4 * noise, 0.5 * full))
    return np.clip((depth - faint) / (full - faint), 0, 1)


def _paper(grey: HostArray) -> HostArray:
    """The paper's grey levels under the ink: a quadratic surface through what is like the border."""
    height, width = grey.shape
    scale = min(1.0, _PAPER_SIDE / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    small = np.asarray(Image.fromarray(grey).resize(size, Image.Resampling.BOX))
    off_border = np.abs(small - np.median(_border(small)))
    paper = off_border <= max(4 * float(np.median(_border(off_border))), 16)
    shape = _quadratic_shape(small)
    for _ in range(5):
        points = shape[paper]
        # The normal equations are six by six, however large the paper; lstsq bears with a picture of one row.
        weights = np.linalg.lstsq(points.T @ points, points.T @ small[paper], rcond=None)[0]
        off = np.abs(small - shape @ weights)
        paper = off <= max(4 * float(np.median(off[paper])), 4)
    return _quadratic_shape(grey) @ weights


def _quadratic_shape(picture: HostArray) -> HostArray:
    """1, x, y, x*x, x*y, y*y of each pixel, float32 (height, width, 6), x and y from -1 to 1."""
    height, width = picture.shape
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1).astype(np.float32)


def _without_specks(ink: HostArray) -> HostArray:
    """`ink` without the parts that carry less than a fiftieth of what the largest part carries."""
    height, width = ink.shape
    cell = -(-max(height, width) // 128)
    padded = np.pad(ink, ((0, -height % cell), (0, -width % cell)))
    mass = padded.reshape(padded.shape[0] // cell, cell, -1, cell).sum(axis=(1, 3))
    inked = mass > 0
    part = np.where(inked, np.arange(1, mass.size + 1).reshape(mass.shape), 0)
    while True:
        rows = np.pad(part, ((1, 1), (0, 0)))
        tall = np.maximum(np.maximum(rows[:-2], rows[1:-1]), rows[2:])
        columns = np.pad(tall, ((0, 0), (1, 1)))
        grown = np.maximum(np.maximum(columns[:, :-2], columns[:, 1:-1]), columns[:, 2:]) * inked
        if np.array_equal(grown, part):
            break
        part = grown
    carried = np.bincount(part.ravel(), weights=mass.ravel())
    kept = (carried >= carried.max() / 50)[part]
    return ink * kept.repeat(cell, axis=0).repeat(cell, axis=1)[:height, :width]


def _fit(ink: HostArray) -> HostArray:
    """The finished picture, uint8 (28, 28), of `ink` 0..1 (height, width)."""
    marked = ink > ink.max() / 2
    rows, columns = np.flatnonzero(marked.any(axis=1)), np.flatnonzero(marked.any(axis=0))
    box = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = _INK_SIDE / max(box.shape)
    size = max(1, round(box.shape[1] * scale)), max(1, round(box.shape[0] * scale))
    enlarged = Image.fromarray((box * 255).astype(np.uint8)).resize(size, Image.Resampling.BILINEAR)
    enlarged = _with_sturdy_pen(ImageOps.expand(enlarged, border=_INK_SIDE))
    left, top, right, bottom = enlarged.getbbox() or (0, 0, 1, 1)
    pixel = max(right - left, bottom - top) / BOX_SIZE
    # The window's corner, such that the centre of mass comes to the middle of the centre pixel.
    corner = centre_of_mass(np.asarray(enlarged)) + 0.5 - (CENTRE_PIXEL + 0.5) * pixel
    window = (*corner, *(corner + PICTURE_SIZE * pixel))
    return np.asarray(enlarged.resize((PICTURE_SIZE, PICTURE_SIZE), Image.Resampling.HAMMING, box=window))


def _with_sturdy_pen(ink: Image.Image) -> Image.Image:
    levels = np.asarray(ink, dtype=np.float32) / 255
    edges = np.hypot(*np.gradient(levels)).sum()
    width = 2 * levels.sum() / edges * BOX_SIZE / _INK_SIDE
    missing = (_FINEST_PEN_PX - width) * _INK_SIDE / BOX_SIZE
    return ink.filter(ImageFilter.MaxFilter(2 * round(missing / 2) + 1)) if missing > 1 else ink
