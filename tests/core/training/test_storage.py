"""Weights as a file holds them, number by number."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.device import HostArray
from core.training.storage import STORAGE_PRECISIONS, PrecisionError, decode, encode, stored, tensor_kinds

KERNEL, MATRIX, BIAS = "conv1.weight", "linear1.weight", "linear1.bias"


def drawn_weights() -> dict[str, HostArray]:
    """A kernel (k, k, out, in), a matrix (units, inputs) and a bias, whose rows are of very different sizes."""
    rng = np.random.default_rng(8)
    sizes = np.array([1e-5, 0.02, 1, 40, 0], np.float32)[:, np.newaxis]
    return {
        KERNEL: (rng.normal(0, 1, (3, 3, 5, 4)) * sizes).astype(np.float32),
        MATRIX: (rng.normal(0, 1, (5, 70)) * sizes).astype(np.float32),
        BIAS: rng.normal(0, 1, 5).astype(np.float32),
    }


WEIGHTS = drawn_weights()


def row_of(name: str, place: tuple[int, ...]) -> int:
    """The output unit that the weight at `place` belongs to, as the layers say: (k, k, out, in), (units, inputs)."""
    return place[2] if name == KERNEL else place[0]


@pytest.mark.parametrize("name", [KERNEL, MATRIX])
def test_int8_is_off_by_at_most_half_a_scale_of_the_weight_s_own_row(name: str) -> None:
    w, back = WEIGHTS[name], stored(WEIGHTS, "int8")[name]
    largest = [0.0] * 5
    for place in itertools.product(*map(range, w.shape)):
        largest[row_of(name, place)] = max(largest[row_of(name, place)], abs(float(w[place])))
    off = 0.0
    for place in itertools.product(*map(range, w.shape)):
        scale = largest[row_of(name, place)] / 127
        assert abs(float(back[place]) - float(w[place])) <= scale * (0.5 + 1e-4)
        off = max(off, 0.0 if scale == 0 else abs(float(back[place]) - float(w[place])) / scale)
    assert off > 0.4
    assert back.shape == w.shape
    assert not back[..., 4, :].any()


def test_the_scale_is_a_127th_of_a_row_s_largest_and_the_numbers_are_whole() -> None:
    weights = {MATRIX: np.array([[254, -127, 3, 1], [0.5, 1, -2, 0]], np.float32), BIAS: np.ones(2, np.float32)}
    tensors = encode(weights, "int8")
    assert list(tensors) == [MATRIX, BIAS, f"{MATRIX}.scale"]
    assert tensors[f"{MATRIX}.scale"].tolist() == [2.0, pytest.approx(2 / 127)]
    assert tensors[MATRIX].tolist() == [[127, -64, 2, 0], [32, 64, -127, 0]]
    assert {name: tensor.dtype for name, tensor in tensors.items()} == {
        MATRIX: np.int8,
        BIAS: np.float32,
        f"{MATRIX}.scale": np.float32,
    }


def test_int8_leaves_what_has_one_axis_as_it_is() -> None:
    np.testing.assert_array_equal(stored(WEIGHTS, "int8")[BIAS], WEIGHTS[BIAS])


def test_float32_leaves_all_as_it_is_and_float16_keeps_eleven_bits() -> None:
    for name, w in WEIGHTS.items():
        np.testing.assert_array_equal(stored(WEIGHTS, "float32")[name], w)
        back = stored(WEIGHTS, "float16")[name]
        for before, after in zip(w.ravel().tolist(), back.ravel().tolist(), strict=True):
            # The spacing of float16 is 2**-10 of the power of two below, and never less than 2**-24.
            exponent = max(math.frexp(before)[1] - 1, -14)
            assert after == round(before / 2.0 ** (exponent - 10)) * 2.0 ** (exponent - 10)


@pytest.mark.parametrize("precision", STORAGE_PRECISIONS)
def test_what_comes_back_is_read_only_float32_of_its_own(precision: str) -> None:
    before = {name: w.copy() for name, w in WEIGHTS.items()}
    back = stored(WEIGHTS, precision)
    assert list(back) == list(WEIGHTS)
    for name, w in back.items():
        assert (w.dtype, w.shape) == (np.float32, WEIGHTS[name].shape)
        assert not np.shares_memory(w, WEIGHTS[name])
        assert not w.flags.writeable
        np.testing.assert_array_equal(WEIGHTS[name], before[name])


@pytest.mark.parametrize("precision", STORAGE_PRECISIONS)
@given(rows=arrays(np.float32, (3, 6), elements=st.floats(-60_000, 60_000, width=32)))
def test_stored_twice_is_stored_once(precision: str, rows: HostArray) -> None:
    once = stored({MATRIX: rows}, precision)
    np.testing.assert_array_equal(stored(once, precision)[MATRIX], once[MATRIX])


@given(rows=arrays(np.float32, (2, 4), elements=st.floats(-(2.0**127), 2.0**127, width=32)))
def test_any_row_that_int8_takes_has_a_scale_above_0_and_comes_back_close(rows: HostArray) -> None:
    tensors = encode({MATRIX: rows}, "int8")
    scale = tensors[f"{MATRIX}.scale"]
    assert (scale > 0).all()
    assert np.abs(tensors[MATRIX].astype(int)).max() <= 127
    off = np.abs(decode(tensors)[MATRIX].astype(np.float64) - rows)
    assert (off <= scale[:, np.newaxis] * (0.5 + 1e-4)).all()


@pytest.mark.parametrize(
    ("precision", "largest", "too_large"),
    [("float16", 65504.0, 65520.0), ("float16", -65504.0, -1e6), ("int8", 3.4e38, np.inf), ("int8", 65520.0, np.nan)],
)
@pytest.mark.parametrize("name", [MATRIX, BIAS])
def test_weights_never_become_infinity_without_a_word(
    precision: str, largest: float, too_large: float, name: str
) -> None:
    weights = {other: w.copy() for other, w in WEIGHTS.items()}
    weights[name].flat[0] = largest
    assert np.isfinite(stored(weights, precision)[name]).all()
    weights[name].flat[0] = too_large
    with pytest.raises(PrecisionError, match=f"some weights are too large for {precision}"):
        stored(weights, precision)


def test_a_row_whose_largest_would_overflow_when_multiplied_out_is_refused() -> None:
    with pytest.raises(PrecisionError):
        encode({MATRIX: np.full((1, 2), np.finfo(np.float32).max, np.float32)}, "int8")


@pytest.mark.parametrize("precision", STORAGE_PRECISIONS)
def test_tensors_are_of_the_kinds_a_file_is_checked_for(precision: str) -> None:
    tensors = encode(WEIGHTS, precision)
    kinds = tensor_kinds({name: w.shape for name, w in WEIGHTS.items()}, precision == "int8")
    assert tensors.keys() == kinds.keys()
    for name, (dtypes, shape) in kinds.items():
        assert tensors[name].dtype.name in dtypes
        assert tensors[name].shape == shape
