"""The commands export, import and inspect, from words to files."""

import gzip
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from core.digits.mnist import load_mnist_test
from core.predictor import Predictor
from core.training.model_file import SHIPPED_MODEL, Model, load_model, save_model
from tests.core.commands import QUICKLY, ROOT, Run, answers, make, the_one_object

MLP = "linear 32 relu, linear 10"


@pytest.mark.parametrize(
    ("name", "form", "start"),
    [
        ("n.onnx", "onnx", b"\x08\x07"),
        ("n.py", "numpy", b'"""Reads handwritten digits'),
        ("n.md", "card", b"# Quick MLP: a network that reads"),
        ("N.ONNX", "onnx", b"\x08\x07"),
    ],
)
def test_the_name_says_what_is_written(
    inkling: Run, model: Path, tmp_path: Path, name: str, form: str, start: bytes
) -> None:
    pytest.importorskip("onnx")
    out = tmp_path / name
    status, stdout, stderr = inkling("export", "--model", model, "--out", out, "--json")
    assert (status, stderr) == (0, "")
    assert the_one_object(stdout) == {"out": str(out), "format": form, "bytes": out.stat().st_size}
    assert out.read_bytes().startswith(start)
    assert inkling("export", "--model", model, "--out", tmp_path / "again", "--format", form)[0] == 0
    if form != "numpy":  # which calls itself by its own name
        assert (tmp_path / "again").read_bytes() == out.read_bytes()


def test_a_card_holds_what_evaluate_measures(inkling: Run, model: Path, tmp_path: Path) -> None:
    inkling("export", "--model", model, "--out", tmp_path / "card.md")
    measured = the_one_object(inkling("evaluate", "--model", model, "--json")[1])
    card = (tmp_path / "card.md").read_text("utf-8")
    assert f"{measured['accuracy']:.2%}" in card
    assert f"| 3 | {measured['per_class'][3]:.1%} |" in card
    assert f"--model {model.name}" in card


def test_without_a_model_the_shipped_one_goes_out(inkling: Run, tmp_path: Path) -> None:
    assert inkling("export", "--out", tmp_path / "n.py")[0] == 0
    assert load_model(SHIPPED_MODEL).hyperparameters.network.split(",")[0] in (tmp_path / "n.py").read_text("utf-8")


def test_a_network_goes_out_as_onnx_and_comes_back(inkling: Run, model: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    inkling("export", "--model", model, "--out", tmp_path / "n.onnx")
    back = tmp_path / "back.safetensors"
    status, stdout, stderr = inkling("import", tmp_path / "n.onnx", "--out", back, "--json")
    assert (status, stderr) == (0, "")
    digits = load_mnist_test()
    found = answers(back, digits.images)
    np.testing.assert_allclose(found[:500], answers(model, digits.images[:500]), rtol=0, atol=1e-6)
    accuracy = float((found.argmax(axis=1) == digits.labels).mean())
    assert the_one_object(stdout) == {"model": str(back), "network": MLP, "test_accuracy": pytest.approx(accuracy)}
    facts = load_model(back).facts
    assert (facts["imported_from"], facts["test_accuracy"]) == ("n.onnx", f"{accuracy:.4f}")


def state_dict(model: Path, path: Path) -> Path:
    """A dense network as PyTorch keeps it, where layer 0 flattens and layer 2 is an activation."""
    weights = load_model(model).weights
    names = {"linear1": "1", "linear2": "3"}
    save_file({f"{names[n.split('.')[0]]}.{n.split('.')[1]}": w for n, w in weights.items()}, path)
    return path


def test_a_state_dict_comes_in_with_its_network_s_text(inkling: Run, model: Path, tmp_path: Path) -> None:
    path, back = state_dict(model, tmp_path / "torch.safetensors"), tmp_path / "back.safetensors"
    status, stdout, stderr = inkling("import", path, "--network", MLP, "--out", back)
    assert (status, stderr) == (0, "")
    assert f"{back}: {MLP}\n" in stdout
    digits = load_mnist_test().part(0, 200)
    same = Model("quick-mlp", load_model(model).hyperparameters, load_model(model).weights)
    wanted = Predictor.from_model(same).probabilities(digits.images)
    np.testing.assert_allclose(answers(back, digits.images), wanted, rtol=0, atol=1e-6)
    status, stdout, stderr = inkling("import", path, "--out", tmp_path / "no.safetensors")
    assert (status, stdout) == (1, "")
    assert "say so with --network" in stderr
    assert not (tmp_path / "no.safetensors").exists()


def test_a_network_that_reads_little_here_is_told_why_that_may_be(inkling: Run, tmp_path: Path) -> None:
    save_file({"0.weight": np.zeros((10, 784), np.float32), "0.bias": np.eye(10, dtype=np.float32)[3]}, tmp_path / "t")
    status, stdout, stderr = inkling(
        "import", tmp_path / "t", "--network", "linear 10", "--out", tmp_path / "o.safetensors"
    )
    assert status == 0
    assert "10.10% of the test digits read right" in stdout
    assert "Inkling's pictures are 0 (paper) to 1 (ink), not shifted or scaled further" in stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("export --out n.txt", "--out is 'n.txt', which says no format; add --format onnx, numpy or card"),
        ("export --out n.onnx --format torch", "--format is 'torch'; choose onnx or numpy or card"),
        ("export", "--out"),
        ("import n.onnx --out n.pt", "--out is 'n.pt'; it wants a file name that ends in .safetensors"),
        ("import n.onnx", "--out"),
        ("inspect", "Missing argument 'file'"),
    ],
)
def test_wrong_use_ends_with_status_2(inkling: Run, words: str, complaint: str) -> None:
    status, stdout, stderr = inkling(*words.split())
    assert (status, stdout) == (2, "")
    assert complaint in stderr


@pytest.mark.parametrize(
    "words", [["export", "--out", "{}/no/n.py"], ["import", "{}/n.onnx", "--out", "{}/no/n.safetensors"]]
)
def test_a_place_that_cannot_be_written_is_one_line(inkling: Run, tmp_path: Path, words: list[str]) -> None:
    status, stdout, stderr = inkling(*(word.format(tmp_path) for word in words))
    assert (status, stdout) == (1, "")
    assert "does not exist; make it first" in stderr
    assert stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["import", "inspect"])
@pytest.mark.parametrize("content", [b"# A text\n", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04 weights", b""])
def test_a_file_of_another_kind_is_refused_before_a_package_is_asked_for(
    inkling: Run, tmp_path: Path, command: str, content: bytes
) -> None:
    (tmp_path / "given").write_bytes(content)
    words = ["--out", tmp_path / "o.safetensors"] if command == "import" else []
    status, stdout, stderr = inkling(command, tmp_path / "given", *words)
    assert (status, stdout, stderr.count("\n")) == (1, "", 1)
    assert ("is a pickle" if b"PK" in content else "neither a network, ink nor ONNX") in stderr


def test_a_packed_file_is_told_by_what_is_in_it(inkling: Run, tmp_path: Path) -> None:
    path = tmp_path / "labels.gz"
    path.write_bytes(gzip.compress(b"\0\0\x08\x01"))
    assert "neither a network, ink nor ONNX" in inkling("inspect", path)[2]
    path.write_bytes(gzip.compress(b'{"label": 3, "strokes": [[[0, 0]]]}\n'))
    assert inspected(inkling, path)["kind"] == "ink"
    path.write_bytes(path.read_bytes()[:12])
    assert "ends early or is damaged" in inkling("inspect", path)[2]


def test_a_note_too_long_to_show_is_cut_where_one_sees_it(inkling: Run, model: Path, tmp_path: Path) -> None:
    network = load_model(model)
    save_model(tmp_path / "n.safetensors", replace(network, facts={"long": "x" * 201, "short": "y" * 200}))
    contents = inspected(inkling, tmp_path / "n.safetensors")
    assert (contents["note: long"], contents["note: short"]) == ("x" * 199 + "…", "y" * 200)


@pytest.mark.parametrize("kind", ["absent", "folder", "text", "empty"])
@pytest.mark.parametrize("command", ["import", "inspect"])
def test_what_cannot_be_read_is_one_line_that_names_it(inkling: Run, tmp_path: Path, command: str, kind: str) -> None:
    path = make(tmp_path / "given", kind)
    words = ["--out", tmp_path / "o.safetensors"] if command == "import" else []
    status, stdout, stderr = inkling(command, path, *words)
    assert (status, stdout) == (1, "")
    assert str(path) in stderr
    assert stderr.count("\n") == 1
    assert "unexpected" not in stderr


def test_without_the_package_onnx_the_rest_works_and_one_line_tells(
    inkling: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx.numpy_helper", None)
    status, stdout, stderr = inkling("export", "--model", model, "--out", tmp_path / "n.onnx")
    assert (status, stdout) == (1, "")
    assert stderr.endswith("which is not installed; run this with: uv run --extra onnx main.py\n")
    assert inkling("export", "--model", model, "--out", tmp_path / "n.py")[0] == 0


def test_the_package_onnx_is_not_loaded_before_it_is_needed() -> None:
    program = "import sys, core.command_line; print('onnx' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert process.stdout == "False\n"


def inspected(inkling: Run, path: Path) -> dict:
    """What inspect says, which must be the same for people and for programs."""
    status, stdout, stderr = inkling("inspect", path, "--json")
    assert (status, stderr) == (0, "")
    contents = the_one_object(stdout)
    assert contents["file"] == str(path)
    shown = inkling("inspect", path)[1]
    assert contents["kind"] in shown
    return contents


def test_a_network_is_told_by_its_layers_and_how_it_was_made(inkling: Run, model: Path) -> None:
    contents = inspected(inkling, model)
    assert (contents["kind"], contents["saved_as"], contents["preset"]) == ("network", "float16", "quick-mlp")
    assert (contents["network"], contents["weights"]) == (MLP, 784 * 32 + 32 + 320 + 10)
    assert contents["bytes"] == model.stat().st_size
    assert contents["note: trained_on"] == "MNIST"
    assert contents["layers"][1] == {"layer": "linear 32", "output": [32], "weights": 25120}
    assert contents["hyperparameters"]["train_limit"] == 20000


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_a_network_s_precision_is_told(inkling: Run, model: Path, tmp_path: Path, precision: str) -> None:
    save_model(tmp_path / "n.safetensors", load_model(model), precision)
    assert inspected(inkling, tmp_path / "n.safetensors")["saved_as"] == precision


def test_an_onnx_file_is_told_by_its_nodes_and_whether_it_can_come_in(
    inkling: Run, model: Path, tmp_path: Path
) -> None:
    onnx = pytest.importorskip("onnx")
    path = tmp_path / "n.onnx"
    inkling("export", "--model", model, "--out", path)
    contents = inspected(inkling, path)
    assert (contents["kind"], contents["opset"], contents["importable"]) == ("ONNX", 13, True)
    assert (contents["inputs"], contents["outputs"], contents["arrays"]) == ("pictures", "probabilities", 5)
    assert contents["network"] == MLP
    assert {"operator": "Gemm", "count": 2} in contents["nodes"]
    proto = onnx.load(path)
    proto.graph.node[1].op_type = "Einsum"
    path.write_bytes(proto.SerializeToString())
    contents = inspected(inkling, path)
    assert contents["importable"] is False
    assert "Einsum 'linear1' is no layer that Inkling has" in contents["why_not"]


def test_other_safetensors_are_told_by_their_arrays(inkling: Run, model: Path, tmp_path: Path) -> None:
    contents = inspected(inkling, state_dict(model, tmp_path / "torch.safetensors"))
    assert contents["kind"] == "arrays (safetensors)"
    assert {"name": "1.weight", "dtype": "F32", "shape": [32, 784]} in contents["arrays"]


def test_a_run_is_told_by_how_far_it_came(inkling: Run, tmp_path: Path) -> None:
    inkling("train", *QUICKLY, "--run", tmp_path / "run", "--json")
    contents = inspected(inkling, tmp_path / "run")
    assert (contents["kind"], contents["state"], contents["preset"]) == ("run", "completed", "quick-mlp")
    assert contents["steps"] == contents["total_steps"] == 10
    assert {"last.safetensors", "events.jsonl"} <= {file["file"] for file in contents["files"]}


def test_ink_is_told_by_its_digits(inkling: Run, tmp_path: Path) -> None:
    path = tmp_path / "digits.jsonl"
    lines = (
        '{"label": 3, "strokes": [[[0, 0], [1, 1]], [[2, 2]]]}',
        '{"label": 3, "strokes": [[[0, 0, 5, 0.5], [1, 1, 9, 1]]]}',
    )
    path.write_text("\n".join(lines))
    contents = inspected(inkling, path)
    counts = {name: contents[name] for name in ("digits", "strokes", "points", "with_times", "with_pressures")}
    assert counts == {"digits": 2, "strokes": 3, "points": 5, "with_times": 1, "with_pressures": 1}
    assert contents["labels"][3] == {"digit": 3, "count": 2}


def test_what_a_file_says_of_itself_cannot_play_with_the_terminal(inkling: Run, model: Path, tmp_path: Path) -> None:
    network = load_model(model)
    facts = {"evil": "\x1b[2J\x1b]0;gotcha\x07[red]stop[/red]"}
    path = tmp_path / "n.safetensors"
    save_model(path, Model(network.preset, network.hyperparameters, network.weights, facts))
    stdout = inkling("inspect", path)[1]
    assert "\x1b" not in stdout
    assert "\x07" not in stdout
    assert "[red]stop[/red]" in stdout
