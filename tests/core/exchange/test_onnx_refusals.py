"""ONNX files that are no network for Inkling: each is refused in one sentence that names what is in the way."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.exchange.foreign_file import import_network
from core.exchange.foreign_network import MAX_FILE_BYTES
from core.exchange.onnx_writer import onnx_file
from tests.core.exchange.foreign import CALIBRATED, random_model, refusal
from tests.core.exchange.onnx_files import (
    CNN,
    CNN_TEXT,
    Arrays,
    W,
    cnn_nodes,
    drawn,
    from_array,
    helper,
    node,
    onnx,
    written,
)


def changed(nodes: list[Any], place: int, **settings: Any) -> list[Any]:
    """The nodes with other settings for one of them."""
    old = nodes[place]
    kept = {a.name: helper.get_attribute_value(a) for a in old.attribute if a.name not in settings}
    nodes[place] = helper.make_node(old.op_type, old.input, old.output, old.name, **kept, **settings)
    return nodes


def replaced(nodes: list[Any], place: int, *others: Any) -> list[Any]:
    return [*nodes[:place], *others, *nodes[place + 1 :]]


REFUSED: list[tuple[str, Callable[[], list[Any]], Arrays, str]] = [
    (
        "a stride",
        lambda: changed(cnn_nodes(), 0, strides=[2, 2]),
        {},
        "Conv '/a/Conv' has strides [2, 2], where Inkling",
    ),
    ("half a border", lambda: changed(cnn_nodes(), 3, pads=[1, 1, 0, 0]), {}, "'/d/Conv' has pads [1, 1, 0, 0], where"),
    ("groups", lambda: changed(cnn_nodes(), 3, group=2), {}, "Conv '/d/Conv' has group 2, where Inkling has 1"),
    (
        "overlapping pools",
        lambda: changed(cnn_nodes(), 2, strides=[1, 1]),
        {},
        "'/c/MaxPool' has strides [1, 1], where",
    ),
    ("rounding up", lambda: changed(cnn_nodes(), 5, ceil_mode=1), {}, "'/f/MaxPool' has ceil_mode 1, where"),
    ("half the weights", lambda: changed(cnn_nodes(), 7, alpha=0.5), {}, "'/h/Gemm' has alpha 0.5, where"),
    ("half the bias", lambda: changed(cnn_nodes(), 7, beta=0.5), {}, "'/h/Gemm' has beta 0.5, where"),
    (
        "another layer",
        lambda: replaced(cnn_nodes(), 2, node("AveragePool", "b", "c", kernel_shape=[2, 2], strides=[2, 2])),
        {},
        "AveragePool '/c/AveragePool' is no layer that Inkling has",
    ),
    ("another gelu", lambda: replaced(cnn_nodes(), 1, node("Gelu", "a", "b")), {}, "has approximate b'none', where"),
    (
        "a steeper slope",
        lambda: replaced(cnn_nodes(), 1, node("LeakyRelu", "a", "b", alpha=0.2)),
        {},
        "LeakyRelu '/b/LeakyRelu' has alpha 0.2",
    ),
    (
        "a way around",
        lambda: replaced(cnn_nodes(), 8, node("Relu", "h", "r"), node("Add", "r h", "i")),
        {},
        "Add '/i/Add' takes 'h', which is no array in the file; Inkling has no branches",
    ),
    ("softmax within", lambda: replaced(cnn_nodes(), 8, node("Softmax", "h", "i")), {}, "is not the last layer"),
    (
        "two relus of one",
        lambda: [*cnn_nodes(), node("Relu", "h", "k")],
        {},
        "Relu '/k/Relu' does not follow the layer",
    ),
    (
        "no such array",
        lambda: changed(cnn_nodes()[:7], 0),
        {"conv1.bias": None},
        "takes 'conv1.bias', which is no array",
    ),
    (
        "nothing to add to",
        lambda: replaced(cnn_nodes(), 8, node("Add", "h fc1.bias", "i")),
        {},
        "Add '/i/Add' adds to what is no dense layer without a bias",
    ),
    ("NaN", cnn_nodes, {"fc1.bias": np.full(16, np.nan, np.float32)}, "numbers in '/h/Gemm' that are not finite"),
    ("too large", cnn_nodes, {"fc1.bias": np.full(16, 1e300)}, "numbers in '/h/Gemm' that are not finite as float32"),
    (
        "whole numbers",
        cnn_nodes,
        {"fc1.bias": np.ones(16, np.int64)},
        "holds '/h/Gemm' as int64; Inkling reads float16",
    ),
    ("a bias too short", cnn_nodes, {"fc1.bias": drawn(15)}, "Gemm '/h/Gemm' has weights of the shapes"),
    (
        "another picture size",
        cnn_nodes,
        {"fc1.weight": drawn(16, 150)},
        "does not fit pictures of 28x28: linear1.weight has the shape (16, 150), where (16, 216) is wanted",
    ),
    (
        "eleven digits",
        cnn_nodes,
        {"fc2.weight": drawn(11, 16), "fc2.bias": drawn(11)},
        "is no network that Inkling can build: network: it must end with linear 10",
    ),
    (
        "oblong kernels",
        lambda: changed(cnn_nodes(), 0, kernel_shape=[3, 2]),
        {"conv1.weight": drawn(4, 1, 3, 2)},
        "Conv '/a/Conv' has kernels of 3x2; Inkling has square ones",
    ),
]


@pytest.mark.parametrize(("nodes", "arrays", "why"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_what_inkling_lacks_is_refused_by_its_name(
    tmp_path: Path, nodes: Callable[[], list[Any]], arrays: Arrays, why: str
) -> None:
    given = {name: values for name, values in {**CNN, **arrays}.items() if values is not None}
    assert why in refusal(written(tmp_path / "n.onnx", nodes(), given, opset=20))


@pytest.mark.parametrize("kind", ["Gemm", "MatMul", "Conv", "BatchNormalization", "Reshape"])
def test_a_layer_without_its_weights_is_refused(tmp_path: Path, kind: str) -> None:
    sentence = refusal(written(tmp_path / "n.onnx", [node(kind, "x", "y")], {}))
    assert f"cannot become a network: {kind} '/y/{kind}' " in sentence


def test_a_batch_normalization_of_another_epsilon_is_refused(tmp_path: Path) -> None:
    ones = np.ones(784, np.float32)
    nodes = [
        node("BatchNormalization", "x o o o o", "n", epsilon=1e-3),
        node("Gemm", "n w b", "h"),
        node("Gemm", "h v c", "y", transB=1),
    ]
    sentence = refusal(written(tmp_path / "n.onnx", nodes, {**W, "o": ones}, (784,)))
    assert "BatchNormalization '/n/BatchNormalization' has epsilon 0.001" in sentence


def test_input_of_another_form_is_refused(tmp_path: Path) -> None:
    assert "wants samples of the shape (3, 28, 28)" in refusal(
        written(tmp_path / "n.onnx", cnn_nodes(), CNN, (3, 28, 28))
    )


def test_weights_in_another_file_are_not_fetched(tmp_path: Path) -> None:
    path = written(tmp_path / "n.onnx", cnn_nodes(), CNN)
    onnx.save_model(onnx.load(path), path, save_as_external_data=True, location="w.bin", size_threshold=0)
    assert (tmp_path / "w.bin").stat().st_size > 1000
    assert "has its weights in another file; save the model as one file" in refusal(path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("conv 4x3 relu, pool 2, linear 10", "has conv 6x3 same as layer 4, where the given network has linear 10"),
        (CNN_TEXT.replace(" same", ""), "has conv 6x3 same as layer 4, where the given network has conv 6x3"),
        (CNN_TEXT.replace("linear 10", "linear 10 relu"), "has 9 layers, the given network 10"),
        (CNN_TEXT.replace("linear 16", "linear 16 nobias"), "has linear1.bias, for which there is no place"),
        ("linear ten", "is no network that Inkling can build: network: linear 'ten'"),
    ],
)
def test_a_given_network_that_is_not_the_file_s_is_refused(tmp_path: Path, text: str, why: str) -> None:
    assert why in refusal(written(tmp_path / "n.onnx", cnn_nodes(), CNN), text)


@pytest.mark.parametrize("temperature", [None, "1.5"])
def test_a_temperature_that_metadata_do_not_explain_is_refused(tmp_path: Path, temperature: str | None) -> None:
    proto = onnx.load_model_from_string(onnx_file(random_model("linear 10", facts=CALIBRATED)))
    (entry,) = [entry for entry in proto.metadata_props if entry.key == "inkling.temperature"]
    if temperature is None:
        proto.metadata_props.remove(entry)
    else:
        entry.value = temperature
    (tmp_path / "n.onnx").write_bytes(proto.SerializeToString())
    assert "Div 'tempered' divides by what the file's metadata do not explain" in refusal(tmp_path / "n.onnx")


def test_metadata_that_lie_are_refused(tmp_path: Path) -> None:
    proto = onnx.load_model_from_string(onnx_file(random_model("linear 8 relu, linear 10")))
    proto.metadata_props[0].value = "linear 8 tanh, linear 10"
    (tmp_path / "n.onnx").write_bytes(proto.SerializeToString())
    assert "has relu as layer 2, where the given network has tanh" in refusal(tmp_path / "n.onnx")


@pytest.mark.parametrize("content", [b"", b"hello\n" * 20, b"\x08\x07", bytes(range(256))], ids=len)
def test_what_is_no_onnx_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "n.onnx").write_bytes(content)
    sentence = refusal(tmp_path / "n.onnx")
    may_be = content.startswith(b"\x08")
    assert ("is no ONNX file, or is damaged" if may_be else "is neither a network, ink nor ONNX") in sentence


def test_a_file_cut_short_or_spoilt_anywhere_is_refused_or_harmless(tmp_path: Path) -> None:
    good = onnx_file(random_model("conv 2x3 bn relu, pool 13, linear 10"))
    path = tmp_path / "n.onnx"
    rng = np.random.default_rng(0)
    outcomes = set()
    for _ in range(300):
        content = bytearray(good)
        for place in rng.integers(0, len(good), 3):
            content[place] = rng.integers(0, 256)
        path.write_bytes(content[: rng.integers(1, len(good))] if rng.random() < 0.2 else content)
        try:
            import_network(path)
        except ValueError as error:
            outcomes.add(type(error).__name__)
    assert outcomes == {"ForeignFileError"}


@pytest.mark.parametrize("kind", ["absent", "folder", "huge"])
def test_what_cannot_be_opened_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "n.onnx"
    if kind == "folder":
        path.mkdir()
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(MAX_FILE_BYTES + 1)
    words = {"absent": "is not there", "folder": "is a folder", "huge": "is larger than 201 MB"}
    assert refusal(path).startswith(words[kind])


@pytest.mark.parametrize(
    ("name", "values"),
    [("classes", np.array([0])), ("tiny", np.array(0.1, np.float32)), ("tiny", np.ones(10, np.float32))],
    ids=["of the batch", "far from the scores", "different for each digit"],
)
def test_shares_that_are_made_otherwise_are_refused(tmp_path: Path, name: str, values: np.ndarray) -> None:
    proto = onnx.load_model_from_string(onnx_file(random_model("linear 10", "pycuda-seed")))
    (tensor,) = [tensor for tensor in proto.graph.initializer if tensor.name == name]
    tensor.CopyFrom(from_array(values, name))
    (tmp_path / "n.onnx").write_bytes(proto.SerializeToString())
    assert "is no way to make probabilities that Inkling knows" in refusal(tmp_path / "n.onnx")
