"""A picture from anywhere, opened with suspicion: a file of any common kind, or the bytes of one that was pasted.

Whatever is wrong with one is a PictureError of one sentence, and how many pixels it has is asked before any of them is
unpacked. What comes out is upright, small enough to work with, and of one of four kinds, whatever it was before.
"""

import io
import os
import struct
import warnings
import zlib
from importlib import import_module

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from core.device import HostArray

PICTURE_SUFFIXES = (
    *(".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm"),
    *(".heic", ".heif"),
)
"""What the names of readable files end in; the content decides, not the name."""

MAX_PIXELS = 50_000_000
MAX_FILE_BYTES = 400 * 2**20
"""What so many pixels take unpacked, as red, green and blue of 16 bits, and more."""

WORKING_SIDE = 1000
"""The longer side of what is worked on, in pixels; larger pictures are shrunk to it."""

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

Source = str | os.PathLike[str] | bytes
"""A path, or the content of a file."""


class PictureError(ValueError):
    """A file cannot be used as a picture of digits; the message names it and says why and what to do."""


def name_of(source: Source) -> str:
    """What messages call `source`."""
    return "this picture" if isinstance(source, bytes) else str(source)


def open_picture(source: Source) -> tuple[Image.Image, tuple[int, int]]:
    """The picture, at most WORKING_SIDE a side, of mode L, RGB, RGBA or F (0 to 255); and its full width and height.

    Turned as the camera says; of several frames the first. HEIC is read where the package pillow-heif is installed.

    Raises PictureError if it is missing, damaged, no picture, or larger than 50 megapixels.
    """
    name = name_of(source)
    formats = _formats()
    try:
        # From memory: of a file itself, Pillow takes memory for all that a damaged length promises.
        file = io.BytesIO(source if isinstance(source, bytes) else _content(source))
        # What Pillow merely warns about, we either refuse or can live with.
        with warnings.catch_warnings(action="ignore"), Image.open(file, formats=formats) as image:
            return _upright(image)
    except PictureError:
        raise
    except FileNotFoundError:
        raise PictureError(f"{name} does not exist; check the name and the folder.") from None
    except IsADirectoryError:
        raise PictureError(f"{name} is a folder; choose a picture file in it.") from None
    except PermissionError:
        raise PictureError(f"{name} may not be read; check the file's permissions.") from None
    except UnidentifiedImageError:
        kinds = ", ".join(formats)
        more = "" if "HEIF" in formats else ", or HEIC once the package pillow-heif is installed"
        raise PictureError(f"{name} is not a picture of a known kind; choose one of these: {kinds}{more}.") from None
    except Image.DecompressionBombError:
        limit = MAX_PIXELS // 1_000_000
        raise PictureError(f"{name} is larger than {limit} megapixels; make it smaller or cut the digit out.") from None
    except _DAMAGED:
        raise PictureError(f"{name} is cut short or damaged; save or fetch the picture again.") from None


def to_grey(image: Image.Image, background: str = "white") -> HostArray:
    """Grey levels 0 to 255, float32 (height, width); transparent places show the background."""
    if image.mode == "RGBA":
        image = Image.alpha_composite(Image.new("RGBA", image.size, background), image)
    return np.asarray(image if image.mode == "F" else image.convert("L"), dtype=np.float32)


def _content(path: str | os.PathLike[str]) -> bytes:
    """All of a file; raises OSError, and PictureError if it is too long or none that ends."""
    # Windows answers with a missing permission.
    if os.path.isdir(path):
        raise IsADirectoryError
    if os.path.exists(path) and not os.path.isfile(path):
        raise PictureError(f"{name_of(path)} is no file; choose a picture file.")
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size > MAX_FILE_BYTES:
            raise PictureError(f"{name_of(path)} is longer than {MAX_FILE_BYTES // 2**20} MB; make it smaller.")
        return file.read()


def _formats() -> tuple[str, ...]:
    """What can be read here; that HEIF is among it, is for the user to install."""
    try:
        import_module("pillow_heif").register_heif_opener()
    except ImportError:
        return _FORMATS
    return (*_FORMATS, "HEIF")


def _upright(image: Image.Image) -> tuple[Image.Image, tuple[int, int]]:
    full_size = image.size
    if image.width * image.height > MAX_PIXELS:
        raise Image.DecompressionBombError
    image.draft(None, (WORKING_SIDE, WORKING_SIDE))
    orientation = image.getexif().get(0x0112, 1)
    upright = _plain(ImageOps.exif_transpose(image))
    upright.thumbnail((WORKING_SIDE, WORKING_SIDE), Image.Resampling.BOX)
    return upright, full_size[::-1] if orientation in (5, 6, 7, 8) else full_size


def _plain(image: Image.Image) -> Image.Image:
    if image.mode[0] in "IF":
        # 16 bits and more: seldom all of them are used, so the range found is the range.
        deep = np.nan_to_num(np.array(image, dtype=np.float64), copy=False, posinf=0, neginf=0)
        deep -= deep.min()
        deep *= 255 / (deep.max() or 1)
        return Image.fromarray(deep.astype(np.float32))
    if image.has_transparency_data:
        return image.convert("RGBA")
    return image.copy() if image.mode == "L" else image.convert("RGB")
