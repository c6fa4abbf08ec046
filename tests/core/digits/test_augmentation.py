"""Pictures changed at random: shifts held against slices and np.pad, distortions against what they must leave as it is.

Where a distortion is to be foreseen, the generator is one that draws what the test says.
"""

from typing import Any

import numpy as np
import pytest

from core.device import Array, Device, HostArray
from core.digits import augmentation
from core.digits.augmentation import BatchShift, Distortion, distorted_examples
from core.digits.dataset import Dataset, DigitSets
from core.training.evaluation import DeviceDataset

MIDDLE = 13.5


class Draws:
    """A generator whose uniform numbers are given; what it draws besides is nothing at all."""

    def __init__(self, uniform: HostArray | None = None, thickness: float = 0) -> None:
        self._uniform, self._thickness = uniform, thickness

    def integers(self, low: int, high: int, size: int) -> Any:
        return np.arange(size) % high

    def uniform(self, low: float, high: float, shape: tuple[int, ...]) -> HostArray:
        assert (low, high) == (-1, 1)
        if shape[0] == 5:
            return np.zeros(shape) if self._uniform is None else np.broadcast_to(self._uniform[:, np.newaxis], shape)
        return np.full(shape, self._thickness)

    def standard_normal(self, shape: tuple[int, ...]) -> HostArray:
        return np.zeros(shape)


def drawn(turn: float = 0, log_scale: float = 0, shear: float = 0, right: float = 0, down: float = 0) -> Any:
    """A generator of one affine change for every picture, each share -1 to 1 of the most there is."""
    return Draws(uniform=np.array([turn, log_scale, shear, right, down]))


@pytest.fixture
def pictures(few_digits: DigitSets) -> HostArray:
    return few_digits.train.images[:40].reshape(40, 784)


@pytest.fixture
def pixels(pictures: HostArray) -> HostArray:
    return (pictures / 255).astype(np.float32)


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No noise, so that what moved can be seen exactly."""
    monkeypatch.setattr(augmentation, "NOISE", 0.0)


def changed(distortion: Distortion, x: Array, rng: Any) -> Array:
    """`x` as `distortion` makes it once it has drawn from `rng`."""
    distortion.draw(len(x), rng)
    return distortion.apply(x)


def moved(shift: BatchShift, device: Device, pictures: HostArray) -> Array:
    """`pictures` (N, 784) fetched from where `shift` says, and cleared of what came from neighbours."""
    data = DeviceDataset(as_digits(pictures), device, np.dtype(np.float32), 10)
    return shift.clear(data.batch(device.to_device(np.arange(len(pictures))), shift.pixels)[0])


def as_digits(pictures: HostArray) -> Dataset:
    return Dataset(pictures.reshape(-1, 28, 28), np.arange(len(pictures), dtype=np.uint8) % 10)


def shifted(pictures: HostArray, down: int, right: int) -> HostArray:
    """As np.pad and a slice have it."""
    padded = np.pad(pictures.reshape(-1, 28, 28), ((0, 0), (4, 4), (4, 4)))
    return padded[:, 4 - down : 32 - down, 4 - right : 32 - right].reshape(-1, 784)


@pytest.mark.parametrize("down", range(-4, 5))
@pytest.mark.parametrize("right", [-4, -2, -1, 0, 1, 3, 4])
def test_a_batch_is_moved_exactly_and_nothing_comes_in_from_a_neighbour(device: Device, down: int, right: int) -> None:
    full = np.random.default_rng(1).integers(1, 256, (5, 784), dtype=np.uint8)
    shift = BatchShift(4)
    shift.offset = down, right
    pictures = moved(shift, device, full)
    assert pictures.dtype == np.uint8
    np.testing.assert_array_equal(device.to_host(pictures), shifted(full, down, right))


def test_pictures_of_a_set_are_moved_in_whatever_order_and_the_set_stays_as_it_is(
    device: Device, pictures: HostArray
) -> None:
    data, shift = DeviceDataset(as_digits(pictures), device, np.dtype(np.float32), 10), BatchShift(4)
    for offset, rows in (((4, 4), [39, 0]), ((-4, -4), [0, 39, 7]), ((0, 0), [5]), ((-2, 3), [39, 39, 0])):
        shift.offset = offset
        fetched, labels, _ = data.batch(device.to_device(np.array(rows)), shift.pixels)
        np.testing.assert_array_equal(device.to_host(shift.clear(fetched)), shifted(pictures[rows], *offset))
        assert device.to_host(labels).tolist() == [row % 10 for row in rows]
    np.testing.assert_array_equal(device.to_host(data.images), pictures)


@pytest.mark.parametrize("most", [0, 1, 2, 4])
def test_shifts_take_every_way_there_is_up_to_the_most_and_no_other(rng: np.random.Generator, most: int) -> None:
    shift, seen = BatchShift(most), []
    for _ in range(400 * (2 * most + 1) ** 2):
        shift.draw(rng)
        seen.append(shift.offset)
    ways = range(-most, most + 1)
    counts = {(down, right): seen.count((down, right)) for down in ways for right in ways}
    assert sum(counts.values()) == len(seen)
    assert all(300 < count < 500 for count in counts.values())


def test_the_most_pixels_may_be_changed_between_two_batches(rng: np.random.Generator) -> None:
    shift = BatchShift(4)
    shift.max_shift_px = 0
    for _ in range(5):
        shift.draw(rng)
        assert shift.offset == (0, 0)


@pytest.mark.parametrize("shift_px", [1, 4])
def test_examples_show_digits_moved_as_training_moves_them(pictures: HostArray, device: Device, shift_px: int) -> None:
    shift, offsets = BatchShift(shift_px), set()
    for seed in range(12):
        shown = distorted_examples(pictures.reshape(-1, 28, 28), 0.0, shift_px, seed)
        shift.draw(np.random.default_rng(seed))
        offsets.add(shift.offset)
        np.testing.assert_array_equal(shown.reshape(-1, 784), shifted(pictures, *shift.offset))
    assert len(offsets) > 3


def test_what_is_given_to_be_distorted_stays_as_it_is(device: Device, pixels: HostArray) -> None:
    given = device.to_device(pixels)
    changed(Distortion(device, np.float32, 1.0), given, np.random.default_rng(0))
    np.testing.assert_array_equal(device.to_host(given), pixels)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_strength_nothing_changes(device: Device, pixels: HostArray, dtype: type[np.generic]) -> None:
    distortion = Distortion(device, dtype, 0.0)
    for count in (40, 3, 40):
        result = changed(distortion, device.to_device(pixels[:count].astype(dtype)), np.random.default_rng(count))
        assert result.dtype == dtype
        np.testing.assert_allclose(device.to_host(result), pixels[:count], rtol=0, atol=1e-6)


@pytest.mark.parametrize("strength", [0.1, 0.5, 1.0])
def test_values_stay_within_0_and_1_and_each_picture_is_distorted_by_itself(
    device: Device, pixels: HostArray, strength: float
) -> None:
    alike = np.repeat(pixels[:1], 30, axis=0)
    result = device.to_host(
        changed(Distortion(device, np.float32, strength), device.to_device(alike), np.random.default_rng(3))
    )
    assert np.isfinite(result).all()
    assert result.min() >= 0
    assert result.max() <= 1
    assert len({picture.tobytes() for picture in result}) == 30
    assert np.abs(result - alike).mean() > 0.02 * strength


def test_more_strength_distorts_more_and_may_be_changed_between_two_batches(device: Device, pixels: HostArray) -> None:
    distortion, given = Distortion(device, np.float32, 0.0), device.to_device(pixels)
    changes = []
    for strength in (0.0, 0.2, 0.5, 1.0):
        distortion.strength = strength
        result = device.to_host(changed(distortion, given, np.random.default_rng(3)))
        fresh = changed(Distortion(device, np.float32, strength), given, np.random.default_rng(3))
        np.testing.assert_array_equal(result, device.to_host(fresh))
        changes.append(float(np.abs(result - pixels).mean()))
    assert changes == sorted(changes)
    assert changes[-1] > 2 * changes[1] > 0


def test_the_same_seed_distorts_alike_in_either_precision(device: Device, pixels: HostArray) -> None:
    once, again, precise, other = (
        device.to_host(
            changed(Distortion(device, dtype, 0.7), device.to_device(pixels.astype(dtype)), np.random.default_rng(seed))
        )
        for dtype, seed in ((np.float32, 1), (np.float32, 1), (np.float64, 1), (np.float32, 2))
    )
    np.testing.assert_array_equal(once, again)
    np.testing.assert_allclose(once, precise, atol=1e-3)
    assert np.abs(once - other).max() > 0.1


def test_a_batch_of_another_size_is_distorted_as_it_would_be_alone(device: Device, pixels: HostArray) -> None:
    used = Distortion(device, np.float32, 0.8)
    addresses = []
    for count in (40, 1, 13, 40):
        given = device.to_device(pixels[:count])
        result = changed(used, given, np.random.default_rng(count))
        addresses.append(device.address(result))
        alone = changed(Distortion(device, np.float32, 0.8), given, np.random.default_rng(count))
        np.testing.assert_array_equal(device.to_host(result), device.to_host(alone))
    assert addresses[0] == addresses[-1]


def distort(device: Device, x: HostArray, rng: Any, strength: float = 1.0) -> HostArray:
    return device.to_host(
        changed(Distortion(device, np.float64, strength), device.to_device(x.astype(np.float64)), rng)
    )


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("down", "right"), [(1, 0), (0, 1), (-1, 0.5), (0.5, -1)])
def test_an_offset_of_whole_pixels_is_a_slice(device: Device, pixels: HostArray, down: float, right: float) -> None:
    result = distort(device, pixels, drawn(down=down, right=right))
    # A pixel looks up what lies that far down and right of it: what is seen moves the other way, 2 pixels at most.
    wanted = shifted(pixels, -round(2 * down), -round(2 * right))
    np.testing.assert_allclose(result, wanted, atol=1e-6)


@pytest.mark.usefixtures("quiet")
def test_an_offset_of_half_a_pixel_is_the_mean_of_two(device: Device, pixels: HostArray) -> None:
    result = distort(device, pixels, drawn(right=0.25))
    np.testing.assert_allclose(result, (pixels + shifted(pixels, 0, -1)) / 2, atol=1e-6)


def blob(row: float, column: float) -> HostArray:
    """A smooth dot at this place, as a picture."""
    rows, columns = np.mgrid[:28, :28]
    return np.exp(-((rows - row) ** 2 + (columns - column) ** 2) / 8).reshape(1, 784)


def centre(picture: HostArray) -> HostArray:
    """(down, right) of the mean place of ink from the picture's middle."""
    rows, columns = np.mgrid[:28, :28]
    ink = picture.reshape(28, 28)
    return np.array([(ink * rows).sum(), (ink * columns).sum()]) / ink.sum() - MIDDLE


SHARE = 0.5
TURN, SCALE = np.deg2rad(20) * SHARE, np.exp(0.2 * SHARE)
COSINE, SINE = np.cos(TURN), np.sin(TURN)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(
    ("change", "source_from_place"),
    [
        ({"turn": 1}, [[COSINE, -SINE], [SINE, COSINE]]),
        ({"turn": -1}, [[COSINE, SINE], [-SINE, COSINE]]),
        ({"log_scale": 1}, [[SCALE, 0], [0, SCALE]]),
        ({"log_scale": -1}, [[1 / SCALE, 0], [0, 1 / SCALE]]),
        ({"shear": 1}, [[1, 0], [0.3 * SHARE, 1]]),
    ],
    ids=str,
)
def test_a_dot_goes_where_turning_scaling_and_shearing_about_the_middle_take_it(
    device: Device, change: dict[str, float], source_from_place: list[list[float]]
) -> None:
    for place in ([-5.0, 3.0], [4.0, 4.0], [0.0, 0.0], [2.0, -6.0]):
        result = distort(device, blob(MIDDLE + place[0], MIDDLE + place[1]), drawn(**change), strength=SHARE)
        np.testing.assert_allclose(centre(result), np.linalg.solve(source_from_place, place), atol=0.02)


def test_turns_and_shifts_are_on_average_none(device: Device) -> None:
    dots = np.repeat(blob(MIDDLE - 6, MIDDLE), 1500, axis=0)
    result = distort(device, dots, np.random.default_rng(5), strength=0.5)
    places = np.array([centre(np.where(picture > 0.2, picture, 0)) for picture in result])
    np.testing.assert_allclose(places.mean(axis=0), [-6, 0], atol=0.2)
    assert (places.std(axis=0) > 0.5).all()
    assert (np.abs(places - [-6, 0]).max(axis=0) < 6).all()


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("thickness", [-1.0, -0.4, 0.7, 1.0])
def test_thickness_bends_grey_and_leaves_paper_and_full_ink(device: Device, thickness: float) -> None:
    greys = np.tile(np.linspace(0, 1, 28), 28).reshape(1, 784)
    result = distort(device, greys, Draws(thickness=thickness), strength=0.5)
    np.testing.assert_allclose(result, greys + 0.9 * 0.5 * thickness * greys * (1 - greys), atol=1e-9)
    assert (result[:, ::28] == 0).all()


def test_noise_is_small_differs_from_pixel_to_pixel_and_never_lighter_than_paper(device: Device) -> None:
    grey = np.full((400, 784), 0.5)
    noise = distort(device, grey, Draws(), strength=0.5) - grey
    assert noise.std() == pytest.approx(0.01, rel=0.02)
    assert noise.mean() == pytest.approx(0, abs=2e-4)
    assert np.abs(np.corrcoef(noise[0], noise[1])[0, 1]) < 0.15
    paper = distort(device, np.zeros((4, 784)), Draws(), strength=1.0)
    assert paper.min() == 0
    assert 0.3 < (paper > 0).mean() < 0.7


@pytest.mark.usefixtures("quiet")
def test_the_elastic_displacement_has_the_deviation_it_is_named_by_and_is_smooth(device: Device) -> None:
    """A picture that rises evenly to the right tells by how much each pixel looked beside itself."""
    slope = 1 / 60
    rising = np.tile(np.arange(28) * slope + 0.2, (28, 1)).reshape(1, 784)

    class Elastic(Draws):
        """Draws nothing but the heights of bumps."""

        def standard_normal(self, shape: tuple[int, ...]) -> HostArray:
            return np.random.default_rng(8).standard_normal(shape)

    result = distort(device, np.repeat(rising, 600, axis=0), Elastic(), strength=0.5).reshape(-1, 28, 28)
    inside = (result - rising.reshape(28, 28))[:, 6:22, 6:22] / slope
    assert inside.std() == pytest.approx(1.6 * 0.5, rel=0.15)
    assert np.abs(np.diff(inside, axis=1)).mean() < 0.35 * inside.std()
