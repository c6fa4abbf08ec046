"""The program that needs only NumPy: run as a real process, in a folder where nothing of Inkling is to be found."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from core.device import HostArray
from core.digits.dataset import DigitSets
from core.exchange.numpy_script import numpy_script
from core.training.model_file import SHIPPED_MODEL, Model, as_stored, load_model
from tests.core.exchange.foreign import CALIBRATED, EVERY_LAYER, answers, random_model


def in_a_clean_folder(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A real process that can import what is installed, what lies in `folder`, and nothing else."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "error", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


ASK = """
import sys, numpy as np
from digits import predict
np.save("answers.npy", predict(np.load("pictures.npy")))
foreign = {"core", "PIL", "safetensors", "onnx"} & {name.partition(".")[0] for name in sys.modules}
assert not foreign, foreign
"""


@pytest.mark.parametrize(
    "model",
    [
        random_model(EVERY_LAYER),
        random_model("conv 4x5 same relu, pool 2, linear 10 nobias"),
        random_model("linear 12 nobias relu, linear 10 nobias straight-relu", "pycuda-seed"),
        as_stored(random_model("bn, linear 10"), "float16"),
        random_model("linear 10", "pycuda-seed", CALIBRATED),
        load_model(SHIPPED_MODEL),
    ],
    ids=["every layer", "same", "shares", "float16", "calibrated", "shipped"],
)
def test_it_says_what_inkling_says(tmp_path: Path, pictures: HostArray, model: Model) -> None:
    (tmp_path / "digits.py").write_text(numpy_script(model), "utf-8")
    np.save(tmp_path / "pictures.npy", pictures)
    process = in_a_clean_folder(tmp_path, "-c", ASK)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    found = np.load(tmp_path / "answers.npy")
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, answers(model, pictures), rtol=0, atol=1e-5)


def test_picture_files_are_read_in_whatever_form(tmp_path: Path, mnist: DigitSets) -> None:
    (tmp_path / "digits.py").write_text(numpy_script(load_model(SHIPPED_MODEL)), "utf-8")
    digits = mnist.test.part(0, 12)
    names, wanted = [], []
    for number, (image, label) in enumerate(zip(digits.images, digits.labels, strict=True)):
        as_it_is = Image.fromarray(image)
        # Dark on light, off the middle, and seven times as large: a scan of the same digit.
        scan = ImageOps.invert(
            ImageOps.expand(as_it_is.resize((196, 196), Image.Resampling.BICUBIC), (30, 60, 120, 10))
        )
        for kind, picture in (("as it is", as_it_is), ("scan", scan.convert("RGB"))):
            picture.save(tmp_path / f"{number} {kind}.png")
            names.append(f"{number} {kind}.png")
            wanted.append(f"{number} {kind}.png: {label} (")
    process = in_a_clean_folder(tmp_path, "digits.py", *names)
    assert (process.returncode, process.stderr) == (0, "")
    said = process.stdout.splitlines()
    assert [line[: len(start)] for line, start in zip(said, wanted, strict=True)] == wanted


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "python digits.py picture.png"),
        (["absent.png"], "absent.png cannot be read as a picture"),
        (["digits.py"], "digits.py cannot be read as a picture"),
        (["white.png"], "white.png shows no ink"),
    ],
)
def test_wrong_use_ends_with_a_word_on_it(tmp_path: Path, words: list[str], complaint: str) -> None:
    (tmp_path / "digits.py").write_text(numpy_script(random_model("linear 10")), "utf-8")
    Image.new("L", (40, 30), 255).save(tmp_path / "white.png")
    process = in_a_clean_folder(tmp_path, "digits.py", *words)
    assert (process.returncode, process.stdout) == (1, "")
    assert complaint in process.stderr
    assert "Traceback" not in process.stderr


def test_it_holds_no_more_code_than_its_network_needs() -> None:
    tree = ast.parse(numpy_script(random_model("linear 8 tanh, linear 10")))
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert functions == ["predict", "dense", "tanh", "flatten", "softmax", "read_picture", "main", "load_weights"]


def test_half_the_length_is_enough_where_nothing_is_lost() -> None:
    text = "linear 64 relu, linear 10"
    long, short = (numpy_script(as_stored(random_model(text), kind)) for kind in ("float32", "float16"))
    assert len(short) < 0.6 * len(long)


@pytest.mark.parametrize(("name", "module"), [("reader.py", "reader"), ("my-net.py", "digits"), ('"""x.py', "digits")])
def test_it_calls_itself_by_its_own_name_if_that_can_be_imported(name: str, module: str) -> None:
    documentation = ast.get_docstring(ast.parse(numpy_script(random_model("linear 10"), name)))
    assert documentation is not None
    assert f"from {module} import predict" in documentation
    assert f"python {module}.py picture.png" in documentation


@pytest.mark.parametrize("text", [EVERY_LAYER, "linear 10"])
def test_it_is_written_as_inkling_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "digits.py"
    path.write_text(numpy_script(random_model(text, facts={"test_accuracy": "0.9871"})), "utf-8")
    assert "On the test set it read 98.71% of the digits right." in path.read_text("utf-8")
    for words in (["format", "--check"], ["check", "--select", "E,F,W,I,UP,SIM,N", "--ignore", "N806"]):
        command = [sys.executable, "-m", "ruff", *words, "--isolated", "--line-length", "120", str(path)]
        process = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert process.returncode == 0, process.stdout
