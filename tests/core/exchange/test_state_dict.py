"""State dicts as PyTorch names and lays them out, held against a forward pass written out in float64."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from core.device import HostArray
from core.exchange.foreign_file import import_network
from core.training.model_file import SHIPPED_MODEL
from tests.core.exchange.foreign import answers, refusal, softmax

Arrays = dict[str, HostArray]
RNG = np.random.default_rng(4)


def drawn(*shape: int) -> HostArray:
    return RNG.normal(0, 1 / np.sqrt(max(np.prod(shape[1:]), 4)), shape).astype(np.float32)


def dense(name: str, inputs: int, units: int) -> Arrays:
    return {f"{name}.weight": drawn(units, inputs), f"{name}.bias": drawn(units)}


CNN: Arrays = {
    "conv1.weight": drawn(4, 1, 3, 3),
    "bn1.weight": drawn(4) + 1,
    "bn1.bias": drawn(4),
    "bn1.running_mean": drawn(4),
    "bn1.running_var": np.abs(drawn(4)) + 0.5,
    "bn1.num_batches_tracked": np.array(7),
    **dense("fc1", 4 * 13 * 13, 12),
    **dense("fc2", 12, 10),
}
CNN_TEXT = "conv 4x3 bn relu, pool 2, linear 12 relu, dropout 0.5, linear 10"


def cnn_answers(w: Arrays, pictures: HostArray) -> HostArray:
    """The same in the layout of PyTorch, (N, C, H, W), tap by tap."""
    w = {name: values.astype(np.float64) for name, values in w.items()}
    x = pictures[:, np.newaxis] / 255.0
    taps = [(i, j) for i in range(3) for j in range(3)]
    x = sum(np.einsum("oc,nchw->nohw", w["conv1.weight"][:, :, i, j], x[:, :, i : i + 26, j : j + 26]) for i, j in taps)
    scale = w["bn1.weight"] / np.sqrt(w["bn1.running_var"] + 1e-5)
    x = (x - w["bn1.running_mean"][:, None, None]) * scale[:, None, None] + w["bn1.bias"][:, None, None]
    x = np.maximum(x, 0).reshape(-1, 4, 13, 2, 13, 2).max(axis=(3, 5)).reshape(len(x), -1)
    x = np.maximum(x @ w["fc1.weight"].T + w["fc1.bias"], 0)
    return softmax(x @ w["fc2.weight"].T + w["fc2.bias"])


def saved(path: Path, arrays: Arrays) -> Path:
    save_file(arrays, path)
    return path


def test_a_convolutional_network_of_pytorch_answers_as_it_did_there(tmp_path: Path, pictures: HostArray) -> None:
    model = import_network(saved(tmp_path / "n.safetensors", CNN), CNN_TEXT)
    np.testing.assert_allclose(answers(model, pictures), cnn_answers(CNN, pictures), rtol=0, atol=1e-5)
    assert (model.hyperparameters.network, model.facts) == (CNN_TEXT, {"imported_from": "n.safetensors"})


def test_names_do_not_matter_where_shapes_tell(tmp_path: Path, pictures: HostArray) -> None:
    names = {"conv1": "net.features.zero", "bn1": "net.norm", "fc1": "net.a", "fc2": "net.A"}
    renamed = {f"{names[name.split('.')[0]]}.{name.split('.')[1]}": values for name, values in CNN.items()}
    model = import_network(saved(tmp_path / "n.safetensors", renamed), CNN_TEXT)
    np.testing.assert_allclose(answers(model, pictures), cnn_answers(CNN, pictures), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "names", [("2", "10", "100"), ("m.fc2", "m.fc10", "m.fc11"), ("block1.fc2", "block2.fc1", "block3.fc0")]
)
def test_layers_of_one_form_are_told_apart_by_their_numbers(
    tmp_path: Path, pictures: HostArray, names: tuple[str, str, str]
) -> None:
    middle = [dense("x", 10, 10) for _ in names]
    first = dense("in", 784, 10)
    arrays = first | {
        f"{name}.{part}": layer[f"x.{part}"]
        for name, layer in zip(names, middle, strict=True)
        for part in ("weight", "bias")
    }
    text = "linear 10 tanh, linear 10 tanh, linear 10 tanh, linear 10"
    model = import_network(saved(tmp_path / "n.safetensors", arrays), text)
    x = pictures.reshape(-1, 784) / 255.0 @ first["in.weight"].T + first["in.bias"]
    for layer in middle:
        x = np.tanh(x) @ layer["x.weight"].T + layer["x.bias"]
    np.testing.assert_allclose(answers(model, pictures), softmax(x), rtol=0, atol=1e-5)


def test_float16_and_float64_are_read_as_float32(tmp_path: Path) -> None:
    arrays = dense("0", 784, 10)
    halves = {"0.weight": arrays["0.weight"].astype(np.float16), "0.bias": arrays["0.bias"].astype(np.float64)}
    weights = import_network(saved(tmp_path / "n.safetensors", halves), "linear 10").weights
    np.testing.assert_array_equal(weights["linear1.weight"], halves["0.weight"].astype(np.float32))
    np.testing.assert_array_equal(weights["linear1.bias"], arrays["0.bias"])
    assert {w.dtype for w in weights.values()} == {np.dtype(np.float32)}


MLP = {**dense("fc1", 784, 12), **dense("fc2", 12, 12), **dense("fc3", 12, 10)}
MLP_TEXT = "linear 12 relu, linear 12 relu, linear 10"
HIDDEN = {**dense("fc1", 784, 12), **dense("hidden", 12, 12), **dense("middle", 12, 12), **dense("fc3", 12, 10)}


@pytest.mark.parametrize(
    ("arrays", "text", "why"),
    [
        (MLP, None, 'holds weights alone, not which layers they belong to; say so with --network, such as "conv'),
        (MLP, "linear 12, linear 9", "is no network that Inkling can build: network: it must end with linear 10"),
        (
            MLP,
            "linear 12 relu, linear 10",
            "also holds 'fc2' with bias (12,) and weight (12, 12), for which the given network has no layer",
        ),
        (
            MLP,
            "linear 14 relu, linear 12 relu, linear 10",
            "holds nothing that fits 'linear1' with weight (14, 784) and bias (14,); it holds 'fc1' with",
        ),
        (
            MLP,
            "linear 12 nobias relu, linear 12 relu, linear 10",
            "has 'fc1' with bias (12,) and weight (12, 784), where 'linear1' with weight (12, 784) is wanted",
        ),
        (
            MLP,
            "linear 12 relu, linear 12 relu, linear 12 relu, linear 10",
            "has 1 modules ('fc2') for 2 layers of one form: 'linear2' with weight (12, 12) and bias (12,)",
        ),
        (
            HIDDEN,
            "linear 12 relu, linear 12 relu, linear 12 relu, linear 10",
            "has 'hidden', 'middle' of the same shapes, and which of them is linear2 and which linear3 cannot be told",
        ),
        ({**MLP, "fc2.bias": np.full(12, np.inf, np.float32)}, MLP_TEXT, "holds numbers in 'fc2.bias' that are not"),
        ({**MLP, "fc2.bias": np.ones(12, np.int32)}, MLP_TEXT, "holds 'fc2.bias' as int32; Inkling reads float16"),
        ({f"{n}.weight": np.ones(1, np.float32) for n in range(1001)}, MLP_TEXT, "holds 1,001 arrays; Inkling reads"),
    ],
)
def test_what_does_not_match_is_named(tmp_path: Path, arrays: Arrays, text: str | None, why: str) -> None:
    assert why in refusal(saved(tmp_path / "n.safetensors", arrays), text)


def test_inkling_s_own_file_is_sent_to_where_it_is_opened() -> None:
    assert refusal(SHIPPED_MODEL, "linear 10") == "is a network of Inkling already; open it as it is"


@pytest.mark.parametrize("start", [b"PK\x03\x04rest of a zip", b"\x80\x02pickled"])
def test_a_pickle_is_never_opened(tmp_path: Path, start: bytes) -> None:
    (tmp_path / "n.pt").write_bytes(start)
    assert "is a pickle, which could run any program" in refusal(tmp_path / "n.pt", "linear 10")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    content = saved(tmp_path / "n.safetensors", MLP).read_bytes()
    (tmp_path / "n.safetensors").write_bytes(content[:-4])
    assert "is no safetensors file that Inkling can read, or is damaged" in refusal(
        tmp_path / "n.safetensors", MLP_TEXT
    )
