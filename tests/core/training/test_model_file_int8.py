"""Networks saved as int8: what comes back, what the file takes, and what is refused.

Bad files are built byte by byte from the format's own page, as in test_model_file_refusals.
"""

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import VERSION
from core.digits.dataset import DigitSets
from core.predictor import Predictor
from core.training.hyperparameters import Hyperparameters
from core.training.model_file import Model, ModelFileError, as_stored, file_size, load_model, save_model
from core.training.storage import STORAGE_PRECISIONS, PrecisionError, stored
from tests.core.training.saved_models import METADATA, MODEL, SHAPES, Tensors, good_tensors, refusal, safetensors

INT8_METADATA = {**METADATA, "format_version": "3"}
CONV = Hyperparameters("conv 2x3 bn relu, pool 2, linear 10")
CONV_SHAPES = {
    "conv1.weight": (3, 3, 2, 1),
    "bn1.weight": (2,),
    "bn1.bias": (2,),
    "linear1.weight": (10, 2 * 13 * 13),
    "linear1.bias": (10,),
    "bn1.running_mean": (2,),
    "bn1.running_variance": (2,),
}
ROWS = 2 + 10


def conv_model() -> Model:
    rng = np.random.default_rng(5)
    weights = {name: rng.normal(0.1, 0.3, shape).astype(np.float32) for name, shape in CONV_SHAPES.items()}
    return Model("quick-cnn", CONV, {**weights, "bn1.running_variance": np.array([0.5, 2], np.float32)}, {"note": "✎"})


def int8_tensors() -> Tensors:
    """The small network of the other tests, its matrices as whole numbers counted up, with scales 1/64, 1/32 ..."""
    tensors: Tensors = {}
    for name, shape in SHAPES.items():
        if len(shape) == 1:
            tensors[name] = ("F32", list(shape), np.arange(len_of(shape), dtype="<f4").tobytes())
            continue
        numbers = (np.arange(len_of(shape)) % 255 - 127).astype(np.int8)
        tensors[name] = ("I8", list(shape), numbers.tobytes())
        tensors[f"{name}.scale"] = ("F32", [shape[0]], (np.arange(1, shape[0] + 1) / 64).astype("<f4").tobytes())
    return tensors


def len_of(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape))


GOOD = safetensors(int8_tensors(), INT8_METADATA)
SCALE = "linear1.weight.scale"


def test_a_file_built_by_hand_is_read_number_by_number(tmp_path: Path) -> None:
    path = tmp_path / "hand.safetensors"
    path.write_bytes(GOOD)
    weights = load_model(path).weights
    assert {name: w.shape for name, w in weights.items()} == SHAPES
    assert all(w.dtype == np.float32 and not w.flags.writeable for w in weights.values())
    for unit in range(2):
        for place in range(784):
            assert weights["linear1.weight"][unit, place] == ((784 * unit + place) % 255 - 127) * (unit + 1) / 64
    assert weights["linear2.bias"].tolist() == list(range(10))


@pytest.mark.parametrize("precision", STORAGE_PRECISIONS)
@pytest.mark.parametrize("model", [MODEL, conv_model()], ids=["dense", "conv"])
def test_a_saved_network_comes_back_bit_by_bit_as_stored_says_and_answers_so(
    tmp_path: Path, few_digits: DigitSets, precision: str, model: Model
) -> None:
    path = tmp_path / "n.safetensors"
    save_model(path, model, precision)
    back, wanted = load_model(path), stored(model.weights, precision)
    assert (back.preset, back.hyperparameters, back.facts) == (model.preset, model.hyperparameters, model.facts)
    assert back.weights.keys() == wanted.keys()
    for name, w in wanted.items():
        np.testing.assert_array_equal(back.weights[name], w)
    pictures = few_digits.test.images[:100]
    np.testing.assert_array_equal(
        Predictor.from_model(back).probabilities(pictures),
        Predictor.from_model(as_stored(model, precision)).probabilities(pictures),
    )


@pytest.mark.parametrize(
    ("precision", "of_matrices", "of_the_rest", "of_a_row", "version"),
    [("float32", 4, 4, 0, "2"), ("float16", 2, 2, 0, "2"), ("int8", 1, 4, 4, "3")],
)
def test_a_file_takes_the_bytes_that_were_foretold(
    tmp_path: Path, precision: str, of_matrices: int, of_the_rest: int, of_a_row: int, version: str
) -> None:
    path, model = tmp_path / "n.safetensors", conv_model()
    foretold = file_size(model, precision)
    save_model(path, model, precision)
    length = int.from_bytes(path.read_bytes()[:8], "little")
    matrices = sum(len_of(shape) for shape in CONV_SHAPES.values() if len(shape) > 1)
    rest = sum(len_of(shape) for shape in CONV_SHAPES.values() if len(shape) == 1)
    counted = 8 + length + of_matrices * matrices + of_the_rest * rest + of_a_row * ROWS
    assert foretold == path.stat().st_size == counted
    metadata = json.loads(path.read_bytes()[8 : 8 + length])["__metadata__"]
    assert (metadata["format_version"], metadata["inkling_version"]) == (version, VERSION)


def test_weights_too_large_for_float16_have_no_size_there_and_can_be_saved_as_int8(tmp_path: Path) -> None:
    large = {**MODEL.weights, "linear1.bias": np.array([1, 1e6], np.float32)}
    model = Model(MODEL.preset, MODEL.hyperparameters, large)
    for refused in (file_size, as_stored):
        with pytest.raises(PrecisionError, match="too large for float16"):
            refused(model, "float16")
    save_model(tmp_path / "n.safetensors", model, "int8")
    assert load_model(tmp_path / "n.safetensors").weights["linear1.bias"].tolist() == [1, 1e6]


def changed(name: str, dtype: str | None = None, shape: list[int] | None = None, content: bytes | None = None) -> bytes:
    """The good file but for one tensor."""
    tensors = int8_tensors()
    old = tensors[name]
    tensors[name] = (dtype or old[0], old[1] if shape is None else shape, old[2] if content is None else content)
    return safetensors(tensors, INT8_METADATA)


def without(name: str) -> bytes:
    return safetensors({n: tensor for n, tensor in int8_tensors().items() if n != name}, INT8_METADATA)


def scales(*values: float) -> bytes:
    return changed(SCALE, content=np.array(values, "<f4").tobytes())


NO_SCALES = r"scales that are no numbers above 0 \(in linear1.weight.scale\)"
WRONG = {
    "no scale": (without(SCALE), "lacks weight 'linear1.weight.scale'"),
    "scales without their weight": (without("linear1.weight"), "lacks weight 'linear1.weight'"),
    "scale of a bias": (
        safetensors({**int8_tensors(), "linear1.bias.scale": ("F32", [2], bytes(8))}, INT8_METADATA),
        "has an unknown weight 'linear1.bias.scale'",
    ),
    "one scale for all": (changed(SCALE, shape=[1], content=bytes(4)), r"has the shape \(1,\), where \(2,\)"),
    "a scale for each input": (
        changed(SCALE, shape=[784], content=bytes(4 * 784)),
        r"has the shape \(784,\), where \(2,\)",
    ),
    "scales in a column": (changed(SCALE, shape=[2, 1]), r"has the shape \(2, 1\), where \(2,\)"),
    "transposed": (changed("linear2.weight", shape=[2, 10]), r"has the shape \(2, 10\), where \(10, 2\)"),
    "NaN": (scales(1, np.nan), NO_SCALES),
    "infinity": (scales(1, np.inf), NO_SCALES),
    "zero": (scales(1, 0), NO_SCALES),
    "below zero": (scales(1, -0.5), NO_SCALES),
    "a scale that overflows": (scales(1, 3e38), r"not finite numbers \(in linear1.weight\)"),
    "scales as float16": (changed(SCALE, "F16", content=bytes(4)), "stores linear1.weight.scale as F16"),
    "scales as int8": (changed(SCALE, "I8", content=bytes(2)), "stores linear1.weight.scale as I8"),
    "weights without a sign": (changed("linear1.weight", "U8"), "stores linear1.weight as U8; Inkling reads int8"),
    "weights as float16": (
        changed("linear1.weight", "F16", content=bytes(2 * 2 * 784)),
        "stores linear1.weight as F16; Inkling reads int8",
    ),
    "bias as int8": (
        changed("linear1.bias", "I8", content=bytes(2)),
        "stores linear1.bias as I8; Inkling reads float16 and float32",
    ),
    "bias not finite": (
        changed("linear1.bias", content=np.array([1, np.nan], "<f4").tobytes()),
        r"not finite numbers \(in linear1.bias\)",
    ),
    "int8 in a file of the older version": (safetensors(int8_tensors(), METADATA), "has an unknown weight"),
    "floats in a file of the newer version": (safetensors(good_tensors(), INT8_METADATA), "lacks weight"),
    "cut short": (GOOD[:-1], "is not a safetensors file, or is damaged"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_not_sound_is_refused_in_one_sentence(tmp_path: Path, kind: str) -> None:
    content, complaint = WRONG[kind]
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=complaint):
        load_model(path)
    refusal(path)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file that the examples below write over and over."""
    return tmp_path_factory.mktemp("fuzz") / "n.safetensors"


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changes=st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_a_file_with_flipped_bytes_is_refused_or_still_a_sound_network(
    scratch: Path, changes: list[tuple[int, int]]
) -> None:
    content = bytearray(GOOD)
    for position, value in changes:
        content[position] = value
    scratch.write_bytes(bytes(content))
    with contextlib.suppress(ModelFileError):
        model = load_model(scratch)
        assert {name: w.shape for name, w in model.weights.items()} == SHAPES
        assert all(np.isfinite(w).all() for w in model.weights.values())
