import io
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from core.digits import picture_file as pictures
from core.digits.picture_file import PICTURE_SUFFIXES, PictureError
from core.digits.pictures import read_picture


def seven(side=120, pen=9, left=0.3, top=0.15):
    """A seven, ink 0..1 float32 (side, side), its box 0.4 wide and 0.7 high."""
    y, x = (np.indices((side, side)) + 0.5) / side
    bar = (abs(y - top - pen / side / 2) <= pen / side / 2) & (x >= left) & (x <= left + 0.4)
    stem_x = left + 0.4 - pen / side / 2 - (y - top) * 0.35
    stem = (abs(x - stem_x) <= pen / side / 2) & (y >= top) & (y <= top + 0.7)
    return (bar | stem).astype(np.float32)


def on_paper(ink, paper=255, pen=0):
    return np.round(paper + (pen - paper) * ink).clip(0, 255).astype(np.uint8)


def saved(path, levels, mode=None, **options):
    image = Image.fromarray(levels)
    (image.convert(mode) if mode else image).save(path, **options)
    return path


def mean_difference(one, other):
    return np.abs(one.astype(int) - other).mean()


def centre(picture):
    levels = picture.astype(float)
    rows, columns = np.indices(picture.shape)
    return (levels * rows).sum() / levels.sum(), (levels * columns).sum() / levels.sum()


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


@pytest.fixture
def clean(tmp_path):
    """What becomes of the plain seven: black on white, PNG."""
    return read_picture(saved(tmp_path / "clean.png", on_paper(seven())))


# MNIST's own pictures


@pytest.mark.parametrize("mode", ["L", "RGB", "P", "LA"])
def test_a_picture_of_mnist_passes_bit_for_bit(tmp_path, few_digits, mode):
    for i, pixels in enumerate(few_digits.test.images[:30]):
        digit = np.array(pixels)
        assert np.array_equal(read_picture(saved(tmp_path / f"{i}.png", digit, mode)), digit)


def test_a_picture_of_mnist_s_size_on_grey_paper_is_none_of_mnist_s(tmp_path):
    sheet = on_paper(seven(28, pen=3), paper=130, pen=220)
    picture = read_picture(saved(tmp_path / "small.png", sheet))
    assert not picture[:, :4].any()
    assert picture.max() == 255


@pytest.mark.parametrize("inverted", [False, True])
def test_an_enlarged_picture_of_mnist_comes_back(tmp_path, few_digits, inverted):
    for i, pixels in enumerate(few_digits.test.images[:12]):
        digit = np.array(pixels)
        large = Image.fromarray(255 - digit if inverted else digit).resize((280, 280), Image.Resampling.BICUBIC)
        large.save(tmp_path / f"{i}.png")
        picture = read_picture(tmp_path / f"{i}.png")
        assert centre(picture) == pytest.approx((14, 14), abs=0.3)
        # MNIST's own centre is up to half a pixel off in each direction.
        assert np.corrcoef(picture.ravel(), digit.ravel())[0, 1] > 0.88


# Where and how large the ink is


def test_the_box_is_twenty_pixels_and_the_mass_is_central(clean):
    assert clean.shape == (28, 28)
    assert clean.dtype == np.uint8
    assert clean.max() == 255
    inked = clean >= 128
    assert 19 <= np.ptp(np.flatnonzero(inked.any(axis=1))) + 1 <= 21
    assert np.ptp(np.flatnonzero(inked.any(axis=0))) + 1 == pytest.approx(20 * 0.4 / 0.7, abs=1.5)
    assert centre(clean) == pytest.approx((14, 14), abs=0.1)


def test_the_centre_leans_to_no_side(tmp_path):
    ways = [seven(), seven()[::-1], seven()[:, ::-1], seven()[::-1, ::-1]]
    centres = [centre(read_picture(saved(tmp_path / "a.png", on_paper(ink)))) for ink in ways]
    assert np.mean(centres, axis=0) == pytest.approx([14, 14], abs=0.02)


@pytest.mark.parametrize(
    ("side", "left", "top"), [(120, 0.55, 0.25), (120, 0.05, 0.05), (600, 0.3, 0.15), (60, 0.3, 0.15)]
)
def test_size_and_place_do_not_matter(tmp_path, clean, side, left, top):
    ink = seven(side, pen=9 * side / 120, left=left, top=top)
    assert mean_difference(read_picture(saved(tmp_path / "other.png", on_paper(ink))), clean) < 4


def test_the_longer_side_is_what_is_fitted(tmp_path):
    picture = read_picture(saved(tmp_path / "wide.png", on_paper(seven().T)))
    inked = picture >= 128
    assert 19 <= np.ptp(np.flatnonzero(inked.any(axis=0))) + 1 <= 21
    assert np.ptp(np.flatnonzero(inked.any(axis=1))) + 1 == pytest.approx(20 * 0.4 / 0.7, abs=1.5)


def test_a_small_digit_on_a_large_sheet_is_found(tmp_path, clean):
    sheet = np.pad(on_paper(seven()), ((30, 850), (700, 180)), constant_values=255)
    assert mean_difference(read_picture(saved(tmp_path / "sheet.png", sheet)), clean) < 4


def test_a_fine_pen_is_thickened_and_a_sturdy_one_is_not(tmp_path, clean):
    fine = read_picture(saved(tmp_path / "fine.png", on_paper(seven(600, pen=4))))
    # Shrunk as it is, the stem would be a sixth of a pixel wide.
    assert 1.5 <= fine[14].sum() / 255 <= 3
    assert clean[18].sum() / 255 == pytest.approx(9 / 120 / 0.7 * 20, rel=0.15)


# Paper, light and polarity


@pytest.mark.parametrize(("paper", "pen"), [(255, 0), (0, 255), (130, 40), (130, 220), (255, 190), (20, 70)])
def test_polarity_and_contrast_do_not_matter(tmp_path, clean, paper, pen):
    picture = read_picture(saved(tmp_path / "grey.png", on_paper(seven(), paper, pen)))
    assert mean_difference(picture, clean) < 1


def test_uneven_light_and_noise_are_taken_off(tmp_path, clean):
    y, x = np.indices((240, 240)) / 240
    light = 230 - 110 * x - 40 * x * y + np.random.default_rng(3).normal(0, 5, (240, 240))
    photo = (light * (1 - 0.75 * seven(240, pen=18))).clip(0, 255).astype(np.uint8)
    picture = read_picture(saved(tmp_path / "photo.jpg", photo, quality=70))
    assert mean_difference(picture, clean) < 6
    assert not picture[:, :3].any()


def test_a_reflection_is_not_taken_for_ink(tmp_path, clean):
    # It covers far more paper than the ink and is far less different from it.
    light = np.full((120, 120), 200.0)
    light[40:115, 20:95] += 20
    photo = (light * (1 - 0.4 * seven())).astype(np.uint8)
    assert mean_difference(read_picture(saved(tmp_path / "lamp.png", photo)), clean) < 6


def test_specks_do_not_count(tmp_path, clean):
    sheet = on_paper(seven())
    sheet[2, 3] = sheet[110, 115] = sheet[60, 4] = 0
    assert mean_difference(read_picture(saved(tmp_path / "dust.png", sheet)), clean) < 1


def test_a_separate_stroke_counts(tmp_path):
    ink = np.zeros((120, 120))
    ink[30:100, 40:48] = 1
    ink[30:38, 60:90] = 1
    picture = read_picture(saved(tmp_path / "two.png", on_paper(ink)))
    assert np.ptp(np.flatnonzero((picture >= 128).any(axis=0))) + 1 == pytest.approx(50 / 70 * 20, abs=1.5)


# Kinds of files


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("a.png", "1"),
        ("a.png", "P"),
        ("a.png", "RGB"),
        ("a.png", "RGBA"),
        ("a.png", "LA"),
        ("a.bmp", "L"),
        ("a.gif", "L"),
        ("a.jpg", "CMYK"),
        ("a.jpeg", "RGB"),
        ("a.tif", "CMYK"),
        ("a.tiff", "1"),
        ("a.webp", "RGB"),
        ("a.pgm", "L"),
        ("a.ppm", "RGB"),
        ("a.PNG", "L"),
    ],
)
def test_every_kind_of_file_is_read(tmp_path, clean, name, mode):
    assert os.path.splitext(name.lower())[1] in PICTURE_SUFFIXES
    picture = read_picture(saved(tmp_path / name, on_paper(seven()), mode))
    assert mean_difference(picture, clean) < 3


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.pgm"])
def test_sixteen_bits_are_read_whatever_part_of_them_is_used(tmp_path, clean, name):
    for most in (65535, 4095):
        levels = np.round((1 - seven()) * most).astype(np.uint16)
        assert mean_difference(read_picture(saved(tmp_path / name, levels)), clean) < 1


def test_floats_are_read_even_where_some_are_no_numbers(tmp_path, clean):
    levels = (1 - seven()) * np.float32(3e38)
    levels[seven() > 0] = np.nan
    assert mean_difference(read_picture(saved(tmp_path / "a.tif", levels)), clean) < 1


def test_transparent_places_are_white_paper(tmp_path, clean):
    layers = np.zeros((120, 120, 4), np.uint8)
    layers[..., 3] = seven() * 255
    assert np.array_equal(read_picture(saved(tmp_path / "layer.png", layers)), clean)


def test_the_first_frame_of_several_counts(tmp_path, clean):
    frames = [Image.fromarray(on_paper(seven())), Image.fromarray(on_paper(seven().T))]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    assert mean_difference(read_picture(tmp_path / "a.gif"), clean) < 1


def test_the_camera_s_rotation_is_undone(tmp_path, clean):
    turned = Image.fromarray(np.rot90(on_paper(seven())).copy())
    orientation = Image.Exif()
    orientation[0x0112] = 6  # to be shown turned by 90 degrees clockwise
    turned.save(tmp_path / "a.jpg", quality=95, exif=orientation)
    assert mean_difference(read_picture(tmp_path / "a.jpg"), clean) < 2


# Refusals


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


@pytest.mark.parametrize("suffix", [suffix for suffix in PICTURE_SUFFIXES if suffix not in (".jpeg", ".tiff", ".ppm")])
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

    monkeypatch.setattr(pictures.ImageOps, "exif_transpose", overflow)
    assert "damaged" in refusal(path)
