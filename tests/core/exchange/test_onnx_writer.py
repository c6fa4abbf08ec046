"""ONNX files, run by ONNX Runtime, say what Inkling says."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from core.device import HostArray
from core.exchange.onnx_package import MissingOnnxError
from core.exchange.onnx_writer import onnx_file
from core.training.model_file import SHIPPED_MODEL, load_model
from core.training.presets import PRESETS
from tests.core.exchange.foreign import CALIBRATED, EVERY_LAYER, answers, random_model, runtime_answers

onnx = pytest.importorskip("onnx")

TEXTS = [
    EVERY_LAYER,
    "linear 10",
    "bn, linear 10 nobias",
    "conv 3x28 relu, linear 10",
    "conv 4x5 same, pool 2, tanh, linear 10",
    "linear 8 nobias relu, linear 10 straight-relu",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_runtime_gives_the_same_probabilities(pictures: HostArray, text: str) -> None:
    model = random_model(text)
    wanted = answers(model, pictures)
    assert np.ptp(wanted, axis=0).max() > 0.05  # it tells digits apart, so that there is something to compare
    found = runtime_answers(onnx_file(model), pictures)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5)


def test_a_network_without_softmax_gives_shares(pictures: HostArray) -> None:
    model = random_model("linear 12 nobias relu, linear 10 nobias straight-relu", "pycuda-seed")
    silent = np.zeros_like(pictures[:1])  # no score is positive then, and all shares are equal
    shown = np.concatenate([silent, pictures])
    found = runtime_answers(onnx_file(model), shown)
    np.testing.assert_allclose(found, answers(model, shown), rtol=0, atol=1e-5)
    np.testing.assert_allclose(found[0], 0.1, atol=1e-6)


@pytest.mark.parametrize("preset", ["quick-mlp", "pycuda-seed"])
def test_calibrated_probabilities_go_out_calibrated(pictures: HostArray, preset: str) -> None:
    plain = random_model("linear 10", preset)
    model = replace(plain, facts=CALIBRATED)
    wanted = answers(model, pictures)
    assert np.abs(wanted - answers(plain, pictures)).max() > 0.01
    np.testing.assert_allclose(runtime_answers(onnx_file(model), pictures), wanted, rtol=0, atol=1e-5)


def test_scores_below_0_have_no_share(pictures: HostArray) -> None:
    model = random_model("linear 10", "pycuda-seed")
    found = runtime_answers(onnx_file(model), pictures)
    np.testing.assert_allclose(found, answers(model, pictures), rtol=0, atol=1e-5)
    assert found.min() >= 0


def test_the_shipped_network_goes_out_unchanged(pictures: HostArray) -> None:
    model = load_model(SHIPPED_MODEL)
    np.testing.assert_allclose(runtime_answers(onnx_file(model), pictures), answers(model, pictures), rtol=0, atol=1e-5)


@pytest.mark.parametrize("count", [1, 7])
def test_any_number_of_pictures_is_taken_at_once(pictures: HostArray, count: int) -> None:
    model = random_model("conv 4x3 relu, pool 2, linear 10")
    assert runtime_answers(onnx_file(model), pictures[:count]).shape == (count, 10)


@pytest.mark.parametrize(
    ("text", "opset"), [(text, 20 if "gelu" in text else 13) for text in [EVERY_LAYER, "linear 10"]]
)
def test_the_file_is_sound_and_asks_for_no_newer_runtime_than_it_needs(text: str, opset: int) -> None:
    proto = onnx.load_model_from_string(onnx_file(random_model(text)))
    onnx.checker.check_model(proto, full_check=True)
    assert [(o.domain, o.version) for o in proto.opset_import] == [("", opset)]
    assert proto.ir_version <= 9
    assert [value.name for value in proto.graph.input] == ["pictures"]
    assert [value.name for value in proto.graph.output] == ["probabilities"]
    dims = proto.graph.input[0].type.tensor_type.shape.dim
    assert (dims[0].dim_param, [dim.dim_value for dim in dims[1:]]) == ("N", [1, 28, 28])


def test_what_it_was_trained_on_goes_with_it_but_not_the_command() -> None:
    facts = {"trained_on": "MNIST", "test_accuracy": "0.9712", "command": "uv run main.py --out /home/me/secret"}
    content = onnx_file(random_model("linear 10", "linear-softmax", facts))
    metadata = {entry.key: entry.value for entry in onnx.load_model_from_string(content).metadata_props}
    assert metadata == {
        "inkling.network": "linear 10",
        "inkling.preset": "linear-softmax",
        "inkling.trained_on": "MNIST",
        "inkling.test_accuracy": "0.9712",
    }
    assert b"secret" not in content


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_has_a_sound_file(preset: str) -> None:
    proto = onnx.load_model_from_string(onnx_file(random_model(PRESETS[preset].hyperparameters.network, preset)))
    onnx.checker.check_model(proto)


def test_without_the_package_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx.numpy_helper", None)
    with pytest.raises(MissingOnnxError, match=r"uv run --extra onnx main\.py"):
        onnx_file(random_model("linear 10"))
