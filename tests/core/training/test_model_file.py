"""Model files: what is saved comes back, as it was, into memory of its own."""

import json
from pathlib import Path

import numpy as np
import pytest

from core import VERSION
from core.training.hyperparameters import Hyperparameters
from core.training.model_file import SHIPPED_MODEL, Model, load_model, save_model
from tests.core.training.saved_models import CHOSEN, MODEL, WEIGHTS, Tensors, refusal, safetensors


@pytest.mark.parametrize(("stored_as", "dtype", "size"), [("float16", "F16", 2), ("float32", "F32", 4)])
def test_a_model_comes_back_as_it_was_saved(tmp_path: Path, stored_as: str, dtype: str, size: int) -> None:
    path = tmp_path / "n.safetensors"
    save_model(path, MODEL, stored_as)
    model = load_model(path)
    assert (model.preset, model.hyperparameters, model.facts) == ("quick-mlp", CHOSEN, MODEL.facts)
    assert model.weights.keys() == WEIGHTS.keys()
    for name, w in model.weights.items():
        assert w.dtype == np.float32
        np.testing.assert_array_equal(w, WEIGHTS[name].astype(stored_as).astype(np.float32))
        with pytest.raises(ValueError, match="read-only"):
            w[...] = 0
    length = int.from_bytes(path.read_bytes()[:8], "little")
    header = json.loads(path.read_bytes()[8 : 8 + length])
    assert {entry["dtype"] for name, entry in header.items() if name != "__metadata__"} == {dtype}
    assert header["__metadata__"] == {
        **MODEL.facts,
        "format": "inkling-network",
        "format_version": "2",
        "inkling_version": VERSION,
        "preset": "quick-mlp",
        "hyperparameters": json.dumps(CHOSEN.as_dict()),
    }
    assert path.stat().st_size == 8 + length + size * sum(w.size for w in WEIGHTS.values())


def test_half_the_size_is_what_one_gets_without_asking(tmp_path: Path) -> None:
    save_model(tmp_path / "n.safetensors", MODEL)
    np.testing.assert_array_equal(
        load_model(tmp_path / "n.safetensors").weights["linear1.weight"],
        WEIGHTS["linear1.weight"].astype(np.float16).astype(np.float32),
    )


@pytest.mark.parametrize("dtype", ["F16", "F32"])
def test_a_file_built_by_hand_from_the_format_s_page_is_read(tmp_path: Path, dtype: str) -> None:
    path = tmp_path / "hand.safetensors"
    numpy_dtype = {"F16": "<f2", "F32": "<f4"}[dtype]
    tensors: Tensors = {n: (dtype, list(w.shape), w.astype(numpy_dtype).tobytes()) for n, w in WEIGHTS.items()}
    path.write_bytes(safetensors(dict(reversed(tensors.items()))))
    model = load_model(path)
    assert model.hyperparameters == CHOSEN
    assert model.test_accuracy == 0.9871
    for name, w in WEIGHTS.items():
        np.testing.assert_array_equal(model.weights[name], w.astype(numpy_dtype).astype(np.float32))


def test_weights_lie_in_memory_of_their_own_so_the_file_may_go_away(tmp_path: Path) -> None:
    path = tmp_path / "n.safetensors"
    save_model(path, MODEL, "float32")
    model = load_model(path)
    path.write_bytes(bytes(path.stat().st_size))
    path.unlink()
    np.testing.assert_array_equal(model.weights["linear1.weight"], WEIGHTS["linear1.weight"])


CONV = Hyperparameters("conv 2x3 bn relu, pool 2, dropout 0.3, linear 10", optimizer="adamw", averaging=0.99)
CONV_SHAPES = {
    "conv1.weight": (3, 3, 2, 1),
    "bn1.weight": (2,),
    "bn1.bias": (2,),
    "linear1.weight": (10, 2 * 13 * 13),
    "linear1.bias": (10,),
    "bn1.running_mean": (2,),
    "bn1.running_variance": (2,),
}


def test_a_convolutional_network_comes_back_with_its_statistics(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    weights = {name: rng.uniform(0.1, 1, shape).astype(np.float32) for name, shape in CONV_SHAPES.items()}
    save_model(tmp_path / "n.safetensors", Model("quick-cnn", CONV, weights), "float32")
    model = load_model(tmp_path / "n.safetensors")
    assert (model.preset, model.hyperparameters) == ("quick-cnn", CONV)
    assert model.weights.keys() == weights.keys()
    for name, w in weights.items():
        np.testing.assert_array_equal(model.weights[name], w)


@pytest.mark.parametrize("name", CONV_SHAPES)
def test_a_convolutional_network_that_lacks_any_of_its_weights_is_refused(tmp_path: Path, name: str) -> None:
    weights = {n: np.ones(shape, np.float32) for n, shape in CONV_SHAPES.items() if n != name}
    save_model(tmp_path / "n.safetensors", Model("quick-cnn", CONV, weights))
    assert f"lacks weight '{name}'" in refusal(tmp_path / "n.safetensors")


def test_a_kernel_that_lies_otherwise_is_refused(tmp_path: Path) -> None:
    weights = {n: np.ones(shape, np.float32) for n, shape in CONV_SHAPES.items()}
    weights["conv1.weight"] = np.ones((2, 1, 3, 3), np.float32)
    save_model(tmp_path / "n.safetensors", Model("quick-cnn", CONV, weights))
    assert "conv1.weight has the shape (2, 1, 3, 3), where (3, 3, 2, 1) is wanted" in refusal(
        tmp_path / "n.safetensors"
    )


def test_the_shipped_network_is_the_best_one_in_a_file_of_its_size() -> None:
    model = load_model(SHIPPED_MODEL)
    assert model.preset == "best-cnn"
    assert model.test_accuracy is not None
    assert model.test_accuracy > 0.99
    weights = sum(w.size for w in model.weights.values())
    assert 2 * weights < SHIPPED_MODEL.stat().st_size < 2 * weights + 8000


@pytest.mark.parametrize("name", ["netz äöü ✎.safetensors", "no suffix", "a.b.safetensors", " .safetensors"])
def test_any_name_will_do(tmp_path: Path, name: str) -> None:
    save_model(tmp_path / name, MODEL)
    assert load_model(tmp_path / name).preset == "quick-mlp"


@pytest.mark.parametrize(
    ("fact", "accuracy"),
    [("0.9871", 0.9871), ("1", 1.0), ("0", 0.0), ("1.01", None), ("-0.1", None), ("nan", None), ("98 %", None)],
)
def test_the_noted_accuracy_is_a_share_or_not_known(fact: str, accuracy: float | None) -> None:
    assert Model("quick-mlp", CHOSEN, {}, {"test_accuracy": fact}).test_accuracy == accuracy


def test_without_a_noted_accuracy_it_is_not_known() -> None:
    assert Model("quick-mlp", CHOSEN, {}).test_accuracy is None
