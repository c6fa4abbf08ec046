"""Files that are no picture, too large, or harmful are refused in a sentence."""

import importlib.util
import io
import os
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from PIL import Image

from core.digits import picture_file
from core.digits.picture_file import PICTURE_SUFFIXES, PictureError, open_picture
from core.digits.pictures import read_picture
from tests.core.digits.sheets import on_paper, saved, seven


def refusal(path):
    """The message with which `path` is refused, after checking that it is one sentence that names the file."""
    with pytest.raises(PictureError) as caught:
        read_picture(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert message.endswith(".")
    assert message.replace(str(path), "").count(". ") == 0
    return message


def png_that_claims(width, height):
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    end = b"IEND"
    chunks = [
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in (header, end)
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize("size", [(7072, 7072), (10_000, 10_000), (100_000, 100_000), (50_000_001, 1)])
def test_too_many_pixels_are_refused_before_they_are_unpacked(tmp_path, size):
    path = tmp_path / "huge.png"
    path.write_bytes(png_that_claims(*size))
    assert "larger than 50 megapixels" in refusal(path)


def test_refusing_a_huge_picture_takes_no_memory(tmp_path):
    path = tmp_path / "huge.png"
    path.write_bytes(png_that_claims(20_000, 20_000))
    tracemalloc.start()
    try:
        assert "larger than 50 megapixels" in refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_no_memory_is_taken_for_what_a_damaged_length_promises(tmp_path):
    path = tmp_path / "long.png"
    content = png_that_claims(90, 60)
    path.write_bytes(content[:33] + struct.pack(">I", 2**32 - 2) + b"IDAT" + zlib.compress(bytes(91 * 60)))
    tracemalloc.start()
    try:
        assert open_picture(path)[1] == (90, 60)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_a_file_longer_than_any_such_picture_is_not_even_read(tmp_path):
    path = tmp_path / "long.png"
    with path.open("wb") as file:
        file.truncate(picture_file.MAX_FILE_BYTES + 1)
    assert "is longer than 400 MB" in refusal(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are none here")
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    assert "is no file" in refusal(tmp_path / "pipe.png")


def test_just_few_enough_pixels_are_not_the_reason(tmp_path):
    path = tmp_path / "hollow.png"
    path.write_bytes(png_that_claims(7071, 7071))
    assert "damaged" in refusal(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    assert "does not exist" in refusal(tmp_path / "absent.png")
    assert "folder" in refusal(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="everything is readable here")
def test_an_unreadable_file_is_refused(tmp_path):
    path = saved(tmp_path / "a.png", on_paper(seven()))
    path.chmod(0)
    assert "permissions" in refusal(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"\x89PNG\r\n\x1a\n",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n",
        b"\x00" * 500,
    ],
)
def test_what_is_no_picture_is_refused(tmp_path, content):
    path = tmp_path / "text.png"
    path.write_bytes(content)
    assert "known kind" in refusal(path)


@pytest.mark.parametrize(
    "suffix", [suffix for suffix in PICTURE_SUFFIXES if suffix not in (".jpeg", ".tiff", ".ppm", ".heic", ".heif")]
)
def test_a_file_cut_short_is_refused(tmp_path, suffix):
    whole = io.BytesIO()
    noisy = np.random.default_rng(4).integers(0, 255, (90, 90)).astype(np.uint8)
    Image.fromarray(noisy).save(whole, format=Image.registered_extensions()[suffix])
    path = tmp_path / f"cut{suffix}"
    path.write_bytes(whole.getvalue()[: len(whole.getvalue()) // 2])
    assert "damaged" in refusal(path)


@pytest.mark.parametrize("level", [0, 128, 255])
@pytest.mark.parametrize("shape", [(28, 28), (200, 150), (1, 1), (1, 300)])
def test_a_blank_picture_is_refused(tmp_path, level, shape):
    assert "blank" in refusal(saved(tmp_path / "blank.png", np.full(shape, level, np.uint8)))


def test_paper_with_noise_and_uneven_light_is_blank(tmp_path):
    y, x = np.indices((300, 200)) / 200
    sheet = 200 - 90 * x + 20 * y + np.random.default_rng(8).normal(0, 6, (300, 200))
    assert "blank" in refusal(saved(tmp_path / "sheet.png", sheet.clip(0, 255).astype(np.uint8)))


def test_a_damaged_reader_s_error_does_not_escape(tmp_path, monkeypatch):
    path = saved(tmp_path / "a.png", on_paper(seven()))

    def overflow(_image):
        raise struct.error("unpack requires a buffer of 4 bytes")

    monkeypatch.setattr(picture_file.ImageOps, "exif_transpose", overflow)
    assert "damaged" in refusal(path)


def test_heic_is_refused_where_its_library_is_missing_and_read_where_it_is(tmp_path):
    path = tmp_path / "a.heic"
    path.write_bytes(b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes(100))
    readable = importlib.util.find_spec("pillow_heif") is not None
    assert ("damaged" if readable else "pillow-heif") in refusal(path)
