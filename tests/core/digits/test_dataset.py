"""Sets of digits: splits that never overlap, batches that leave nothing out, and bytes that become floats."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.device import Device
from core.digits.dataset import Dataset, DatasetError, DigitSets, minibatches, shuffled, split, to_network_input


@pytest.fixture
def sets() -> DigitSets:
    """Fifty training digits and five test digits; each picture is filled with its position."""

    def dataset(count: int) -> Dataset:
        pictures = np.repeat(np.arange(count, dtype=np.uint8), 28 * 28).reshape(count, 28, 28)
        return Dataset(pictures, np.arange(count, dtype=np.uint8) % 10)

    return DigitSets("fifty", dataset(50), dataset(5))


def positions(dataset: Dataset) -> list[int]:
    return dataset.images[:, 0, 0].tolist()


def test_the_last_training_digits_are_held_out_and_the_others_trained_on(sets: DigitSets) -> None:
    splits = split(sets, 8)
    assert positions(splits.train) == list(range(42))
    assert splits.validation is not None
    assert positions(splits.validation) == list(range(42, 50))
    assert splits.validation.labels.tolist() == [2, 3, 4, 5, 6, 7, 8, 9]
    assert splits.test is sets.test


def test_holding_out_nothing_trains_on_everything(sets: DigitSets) -> None:
    splits = split(sets, 0)
    assert splits.validation is None
    assert positions(splits.train) == list(range(50))


@pytest.mark.parametrize(("limit", "trained"), [(1, 1), (10, 10), (42, 42), (43, 42), (1000, 42), (None, 42)])
def test_a_limit_takes_the_first_digits_and_never_reaches_into_those_held_out(
    sets: DigitSets, limit: int | None, trained: int
) -> None:
    splits = split(sets, 8, limit)
    assert positions(splits.train) == list(range(trained))
    assert splits.validation is not None
    assert positions(splits.validation) == list(range(42, 50))


def test_training_validation_and_test_digits_lie_apart_in_memory(few_digits: DigitSets) -> None:
    splits = split(few_digits, 200)
    assert splits.validation is not None
    parts = [splits.train, splits.validation, splits.test]
    for i, one in enumerate(parts):
        for other in parts[i + 1 :]:
            assert not np.shares_memory(one.images, other.images)
            assert not np.shares_memory(one.labels, other.labels)


@pytest.mark.parametrize("held_out", [50, 51, 5000])
def test_holding_out_everything_is_refused_with_the_numbers_and_what_to_do(sets: DigitSets, held_out: int) -> None:
    with pytest.raises(DatasetError, match=rf"fifty has 50 training digits.* {held_out} held out.*hold out fewer"):
        split(sets, held_out)


def test_one_digit_left_is_enough_to_train_on(sets: DigitSets) -> None:
    assert positions(split(sets, 49).train) == [0]


def test_a_set_is_read_only_and_a_part_shares_its_memory(sets: DigitSets) -> None:
    part = sets.train.part(10, 20)
    assert len(part) == 10
    assert np.shares_memory(part.images, sets.train.images)
    for dataset in (sets.train, part):
        with pytest.raises(ValueError, match="read-only"):
            dataset.images[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            dataset.labels[0] = 1


@settings(deadline=None)
@given(count=st.integers(1, 300), batch_size=st.integers(1, 310))
def test_batches_hold_every_digit_once_in_order_and_only_the_last_is_smaller(count: int, batch_size: int) -> None:
    batches = list(minibatches(np.arange(count), batch_size))
    assert np.concatenate(batches).tolist() == list(range(count))
    assert {len(batch) for batch in batches[:-1]} <= {batch_size}
    assert 1 <= len(batches[-1]) <= batch_size


def test_shuffling_gives_every_position_once_in_an_order_the_generator_decides() -> None:
    first, second = np.random.default_rng(1), np.random.default_rng(1)
    order = shuffled(500, first)
    assert order.dtype == np.intp
    assert sorted(order.tolist()) == list(range(500))
    assert order.tolist() != list(range(500))
    np.testing.assert_array_equal(order, shuffled(500, second))
    assert not np.array_equal(order, shuffled(500, first))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_byte_becomes_its_share_of_255(device: Device, dtype: type) -> None:
    pictures = np.arange(256, dtype=np.uint8).reshape(2, 128)
    out = device.to_device(np.full((2, 128), np.nan, dtype))
    assert to_network_input(device.xp, device.to_device(pictures), out=out) is out
    x = device.to_host(out).ravel()
    np.testing.assert_allclose(x, [byte / 255 for byte in range(256)], rtol=np.finfo(dtype).eps)
    assert x.min() == 0.0
    assert x.max() == 1.0
