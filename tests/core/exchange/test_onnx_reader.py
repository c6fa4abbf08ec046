"""ONNX files come in: Inkling's own, and those that PyTorch and others write."""

from pathlib import Path

import numpy as np
import pytest

from core.device import HostArray
from core.exchange.foreign_file import import_network
from core.exchange.onnx_writer import onnx_file
from core.training.presets import PRESETS
from tests.core.exchange.foreign import CALIBRATED, EVERY_LAYER, answers, random_model, runtime_answers, softmax
from tests.core.exchange.onnx_files import CNN, CNN_TEXT, W, cnn_nodes, drawn, from_array, helper, node, onnx, written


@pytest.mark.parametrize("text", [EVERY_LAYER, "bn, linear 10 nobias", "linear 8, bn, relu, linear 10"])
def test_inkling_s_own_file_comes_back_as_it_went(tmp_path: Path, text: str) -> None:
    model = random_model(text)
    (tmp_path / "n.onnx").write_bytes(onnx_file(model))
    back = import_network(tmp_path / "n.onnx")
    assert (back.preset, back.hyperparameters.network) == (model.preset, text)
    assert {name: w.tolist() for name, w in back.weights.items()} == {n: w.tolist() for n, w in model.weights.items()}
    assert all(w.dtype == np.float32 and not w.flags.writeable for w in back.weights.values())
    assert back.facts == {"imported_from": "n.onnx"}


@pytest.mark.parametrize("preset", ["pycuda-seed", "best-cnn", "deep-conv-net"])
def test_a_preset_comes_back_with_its_dropout_and_its_loss(tmp_path: Path, preset: str) -> None:
    text = PRESETS[preset].hyperparameters.network
    (tmp_path / "n.onnx").write_bytes(onnx_file(random_model(text, preset)))
    back = import_network(tmp_path / "n.onnx")
    assert (back.preset, back.hyperparameters) == (preset, PRESETS[preset].hyperparameters)


@pytest.mark.parametrize("preset", ["quick-mlp", "pycuda-seed"])
def test_a_calibration_comes_back(tmp_path: Path, preset: str) -> None:
    (tmp_path / "n.onnx").write_bytes(onnx_file(random_model("linear 10", preset, CALIBRATED)))
    back = import_network(tmp_path / "n.onnx")
    assert (back.preset, back.facts) == (preset, {"imported_from": "n.onnx", **CALIBRATED})


def without_metadata(content: bytes) -> bytes:
    proto = onnx.load_model_from_string(content)
    del proto.metadata_props[:]
    return proto.SerializeToString()


def test_the_graph_alone_tells_all_but_dropout(tmp_path: Path, pictures: HostArray) -> None:
    model, path = random_model(EVERY_LAYER), tmp_path / "n.onnx"
    path.write_bytes(without_metadata(onnx_file(model)))
    back = import_network(path)
    assert back.hyperparameters.network == (
        "conv 4x3 same bn gelu, pool 2, conv 6x3 nobias leaky-relu, conv 5x2 sigmoid, pool 3, "
        "flatten, bn, linear 12 tanh, linear 9 bn relu, linear 10"
    )
    np.testing.assert_array_equal(answers(back, pictures), answers(model, pictures))
    assert import_network(path, EVERY_LAYER).hyperparameters.network == EVERY_LAYER


def test_shares_are_known_without_metadata(tmp_path: Path, pictures: HostArray) -> None:
    model = random_model("linear 8 nobias relu, linear 10 nobias straight-relu", "pycuda-seed")
    (tmp_path / "n.onnx").write_bytes(without_metadata(onnx_file(model)))
    back = import_network(tmp_path / "n.onnx")
    assert (back.preset, back.hyperparameters.network) == ("pycuda-seed", "linear 8 nobias relu, linear 10 nobias relu")
    np.testing.assert_array_equal(answers(back, pictures), answers(model, pictures))


@pytest.mark.parametrize("end", [None, "Softmax", "LogSoftmax"])
def test_a_network_of_pytorch_answers_as_the_runtime_does(tmp_path: Path, pictures: HostArray, end: str | None) -> None:
    nodes = cnn_nodes() + ([] if end is None else [node(end, "j", "p", axis=1)])
    path = written(tmp_path / "n.onnx", nodes, CNN)
    model = import_network(path)
    assert (model.preset, model.hyperparameters.network) == ("quick-mlp", CNN_TEXT)
    given = runtime_answers(path.read_bytes(), pictures)
    wanted = given if end == "Softmax" else softmax(given)
    np.testing.assert_allclose(answers(model, pictures), wanted, rtol=0, atol=1e-5)


def test_other_ways_to_write_the_same_are_understood(tmp_path: Path, pictures: HostArray) -> None:
    """A row of pixels as input, MatMul and Add with the bias first, dropout, what is passed on, constants as nodes."""
    scale = {name: np.abs(drawn(12)) + 0.5 for name in ("scale", "var")}
    nodes = [
        helper.make_node("Constant", [], ["v"], value=from_array(W["v"])),
        helper.make_node("Identity", ["b"], ["shift"]),
        node("MatMul", "x w", "a"),
        node("Add", "b a", "h"),
        node("BatchNormalization", "h scale shift b var", "n"),
        node("Tanh", "n", "t"),
        node("Dropout", "t", "d"),
        node("Identity", "d", "i"),
        node("Gemm", "i v c", "y", transB=1),
    ]
    path = written(tmp_path / "n.onnx", nodes, {**{n: W[n] for n in "wbc"}, **scale}, (784,))
    model = import_network(path)
    assert model.hyperparameters.network == "linear 12, bn, tanh, linear 10"
    wanted = softmax(runtime_answers(path.read_bytes(), pictures, (784,)))
    np.testing.assert_allclose(answers(model, pictures), wanted, rtol=0, atol=1e-5)


def test_a_reshape_to_rows_is_flattening(tmp_path: Path, pictures: HostArray) -> None:
    nodes = [
        node("Reshape", "x shape", "r"),
        node("Gemm", "r w b", "h"),
        node("Sigmoid", "h", "s"),
        node("Gemm", "s v c", "y", transB=1),
    ]
    path = written(tmp_path / "n.onnx", nodes, {**W, "shape": np.array([-1, 784])})
    model = import_network(path)
    assert model.hyperparameters.network == "linear 12 sigmoid, linear 10"
    wanted = softmax(runtime_answers(path.read_bytes(), pictures))
    np.testing.assert_allclose(answers(model, pictures), wanted, rtol=0, atol=1e-5)
