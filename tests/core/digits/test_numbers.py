"""Numbers made of MNIST's test digits, on paper as it is photographed, read by the network that comes with Inkling."""

import io

import numpy as np
import pytest
from PIL import Image

from core.device import Device
from core.digits.dataset import Dataset
from core.digits.pictures import find_digits
from core.predictor import Predictor
from core.training.model_file import SHIPPED_MODEL, load_model

SIZE = 60


@pytest.fixture(scope="module")
def predictor():
    return Predictor.from_model(load_model(SHIPPED_MODEL), Device(shares=1))


def scaled(digit, longer_side):
    inked = digit > 40
    rows, columns = np.flatnonzero(inked.any(axis=1)), np.flatnonzero(inked.any(axis=0))
    box = np.array(digit[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1])
    size = [max(1, round(side * longer_side / max(box.shape))) for side in box.shape[::-1]]
    return np.asarray(Image.fromarray(box).resize(size, Image.Resampling.BICUBIC)) / 255


def number(rng: np.random.Generator, digits: Dataset, count: int, touching: bool = False):
    """Ink 0..1 of `count` digits of different sizes in an uneven row, and the number."""
    ink, x, label = np.zeros((2 * SIZE + 40, (2 * count + 2) * SIZE)), SIZE // 2, ""
    for i in rng.integers(len(digits), size=count):
        digit = scaled(digits.images[i], SIZE * rng.uniform(0.75, 1.25))
        height, width = digit.shape
        y = (ink.shape[0] - height) // 2 + int(rng.integers(-6, 7))
        while touching and label and (np.minimum(ink[y : y + height, x : x + width], digit) <= 0.4).all():
            x -= 1
        there = ink[y : y + height, x : x + width]
        np.maximum(there, digit, out=there)
        x += width + (0 if touching else int(SIZE * rng.uniform(0.1, 0.6)))
        label += str(digits.labels[i])
    return ink[:, : x + SIZE // 2], label


def read(predictor, file: bytes) -> str:
    found = find_digits(file, lambda pictures: predictor.read(pictures)[1])
    pictures = np.stack([digit.picture for digit in found])
    return "".join(str(digit) for digit in predictor.probabilities(pictures).argmax(axis=1))


def saved(levels, kind="PNG", mode=None, **options):
    file = io.BytesIO()
    image = Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8))
    (image.convert(mode) if mode else image).save(file, kind, **options)
    return file.getvalue()


def light(ink, slant=90):
    """A lamp to the left above."""
    y, x = np.indices(ink.shape) / ink.shape[1]
    return 225 - slant * x - slant / 3 * y


def plain(ink, rng):
    return saved(255 * (1 - ink))


def inverted(ink, rng):
    return saved(255 * ink)


def palette(ink, rng):
    return saved(230 - 200 * ink, "GIF", "P")


def dim_and_noisy(ink, rng):
    return saved(light(ink, 130) * (1 - 0.6 * ink) + rng.normal(0, 5, ink.shape), "JPEG", quality=50)


def in_half_shadow(ink, rng):
    y, x = np.indices(ink.shape)
    edge = x - ink.shape[1] * rng.uniform(0.3, 0.7) + (y - ink.shape[0] / 2) * rng.uniform(-1, 1)
    shadow = 1 - 0.5 / (1 + np.exp(-edge / 5))
    return saved(light(ink, 40) * shadow * (1 - 0.75 * ink) + rng.normal(0, 3, ink.shape), "JPEG", quality=75)


def ruled(ink, rng, squared=False):
    y, x = np.indices(ink.shape)
    tilt, start = rng.uniform(-0.02, 0.02), rng.uniform(0, 40)
    level = abs((y + tilt * x + start) % 40 - 20) < 1.2
    upright = abs((x - tilt * y + start) % 40 - 20) < 1.2
    lines = (level | (upright & squared))[..., np.newaxis]
    blue = np.array([0.45, 0.3, 0.1])
    paper = light(ink, 50)[..., np.newaxis] * (1 - blue * lines)
    return saved(paper * (1 - 0.8 * ink[..., np.newaxis]) + rng.normal(0, 3, (*ink.shape, 3)), "JPEG", quality=80)


def squared(ink, rng):
    return ruled(ink, rng, squared=True)


def blue_on_yellow(ink, rng):
    return saved(np.array([250, 230, 120]) + ink[..., np.newaxis] * np.array([-220, -200, 20]), "JPEG", quality=75)


def red_on_green_as_bright(ink, rng):
    # 0.299 red + 0.587 green + 0.114 blue is 120 in both.
    return saved(np.array([40, 176, 40]) + ink[..., np.newaxis] * np.array([190, -97, 0]))


def chalk(ink, rng):
    return saved(45 + light(ink) / 8 + 120 * ink + rng.normal(0, 5, ink.shape), "JPEG", quality=70)


def on_a_dark_table(ink, rng):
    height, width = ink.shape
    levels = rng.normal(55, 8, (height + 80, width + 120))
    levels[40 : 40 + height, 60 : 60 + width] = light(ink, 60) * (1 - 0.8 * ink)
    turned = Image.fromarray(levels.clip(0, 255).astype(np.uint8)).rotate(rng.uniform(-4, 4), fillcolor=55)
    return saved(np.asarray(turned), "JPEG", quality=80)


def test_numbers_are_read_from_left_to_right(predictor, mnist, rng):
    right = 0
    for i in range(60):
        ink, label = number(rng, mnist.test, int(rng.integers(2, 6)))
        right += read(predictor, (plain, inverted)[i % 2](ink, rng)) == label
    assert right >= 57


@pytest.mark.parametrize(
    "sheet",
    [
        palette,
        dim_and_noisy,
        in_half_shadow,
        ruled,
        squared,
        blue_on_yellow,
        red_on_green_as_bright,
        chalk,
        on_a_dark_table,
    ],
)
def test_numbers_are_read_off_any_paper(predictor, mnist, rng, sheet):
    right = 0
    for _ in range(12):
        ink, label = number(rng, mnist.test, int(rng.integers(2, 5)))
        right += read(predictor, sheet(ink, rng)) == label
    assert right >= 10


def test_digits_that_touch_are_mostly_told_apart(predictor, mnist, rng):
    right = 0
    for _ in range(40):
        ink, label = number(rng, mnist.test, 2, touching=True)
        right += len(read(predictor, plain(ink, rng))) == len(label)
    assert right >= 26


def test_a_digit_alone_is_seldom_cut(predictor, mnist, rng):
    cut = 0
    for _ in range(50):
        ink, _ = number(rng, mnist.test, 1)
        cut += len(read(predictor, plain(ink, rng))) > 1
    assert cut <= 1
