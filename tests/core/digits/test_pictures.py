"""One picture of one digit, from paper, screen or MNIST itself, to 28x28."""

import os

import numpy as np
import pytest
from PIL import Image, ImageDraw

from core.digits.ink import Ink, Stroke
from core.digits.picture_file import PICTURE_SUFFIXES, PictureError
from core.digits.pictures import find_digits, read_picture
from core.digits.rasterizer import rasterize
from tests.core.digits.sheets import mean_difference, on_paper, saved, seven


def centre(picture):
    levels = picture.astype(float)
    rows, columns = np.indices(picture.shape)
    return (levels * rows).sum() / levels.sum(), (levels * columns).sum() / levels.sum()


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


def test_white_ink_on_nothing_is_seen_on_black(tmp_path, clean):
    layers = np.full((120, 120, 4), 255, np.uint8)
    layers[..., 3] = seven() * 255
    assert np.array_equal(read_picture(saved(tmp_path / "layer.png", layers)), clean)


# Several digits


def test_the_digits_of_a_picture_come_with_their_boxes(tmp_path, clean):
    sheet = np.hstack([on_paper(seven())] * 3)
    found = find_digits(saved(tmp_path / "three.png", sheet))
    for i, digit in enumerate(found):
        assert mean_difference(digit.picture, clean) < 1
        # A seven's box is 0.4 by 0.7 of its 120 pixels, at 0.3 and 0.15.
        assert digit.box == pytest.approx((36 + 120 * i, 18, 84 + 120 * i, 102), abs=2)
    assert len(found) == 3


def test_one_digit_is_found_as_it_is_read(tmp_path):
    path = saved(tmp_path / "one.png", on_paper(seven()))
    (digit,) = find_digits(path)
    assert np.array_equal(digit.picture, read_picture(path))


def test_boxes_are_measured_in_the_upright_picture_at_its_full_size(tmp_path):
    sheet = np.hstack([on_paper(seven(1500, pen=110)), on_paper(seven(1500, pen=110))])
    orientation = Image.Exif()
    orientation[0x0112] = 6
    turned = np.rot90(sheet).copy()
    found = find_digits(saved(tmp_path / "large.jpg", turned, quality=90, exif=orientation))
    assert [digit.box for digit in found] == [
        pytest.approx((450, 225, 1050, 1275), abs=12),
        pytest.approx((1950, 225, 2550, 1275), abs=12),
    ]


def test_a_pasted_picture_is_read_like_a_file(tmp_path):
    path = saved(tmp_path / "a.png", np.hstack([on_paper(seven())] * 2))
    for pasted, opened in zip(find_digits(path.read_bytes()), find_digits(path), strict=True):
        assert np.array_equal(pasted.picture, opened.picture)
        assert pasted.box == opened.box
    with pytest.raises(PictureError, match=r"^this picture is not a picture of a known kind"):
        find_digits(b"no picture")


def test_a_picture_of_mnist_is_found_bit_for_bit(tmp_path, few_digits):
    for pixels in few_digits.test.images[:10]:
        (digit,) = find_digits(saved(tmp_path / "a.png", np.array(pixels)))
        assert np.array_equal(digit.picture, pixels)


def test_a_photo_of_ink_looks_as_the_ink_itself(tmp_path):
    ink = Ink((Stroke([(0, 0), (60, 0), (25, 100)]), Stroke([(15, 52), (62, 50)])))
    sheet = Image.new("L", (400, 400), 210)
    pen = ImageDraw.Draw(sheet)
    for stroke in ink.strokes:
        # As wide for its size as the rasterizer's pen: 2.4 of 17.6 pixels.
        pen.line([(100 + 2 * x, 100 + 2 * y) for x, y in stroke.points], fill=40, width=27, joint="curve")
    sheet.save(tmp_path / "photo.jpg", quality=80)
    assert mean_difference(read_picture(tmp_path / "photo.jpg"), rasterize(ink)) < 6
