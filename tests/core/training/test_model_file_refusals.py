"""Nothing that is not sound is ever taken for a network.

Bad files are built byte by byte with the format's own layout (eight bytes of header length, a JSON header, the data),
so that they owe nothing to the library that reads them.
"""

import contextlib
import json
import pickle
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.training.model_file import ModelFileError, load_model
from tests.core.training.saved_models import (
    CHOSEN,
    GOOD,
    HEADER_END,
    METADATA,
    SHAPES,
    WEIGHTS,
    good_tensors,
    refusal,
    refusal_of,
    safetensors,
)

NO_SAFETENSORS = {
    "empty": b"",
    "text": b"hello",
    "long text": b"this is a letter, not a network\n" * 100,
    "pickle": pickle.dumps(WEIGHTS),
    "zip": b"PK\x03\x04" + bytes(100),
    "huge header": b"\xff" * 8 + b"{}",
    "header of 2 GB": struct.pack("<Q", 2 << 30) + b"{}",
    "only a length": struct.pack("<Q", 2),
    "half a length": b"\x02\0\0",
    "header is a list": struct.pack("<Q", 2) + b"[]",
    "header is not JSON": struct.pack("<Q", 5) + b"{nope",
    "header is not UTF-8": struct.pack("<Q", 4) + b'{"\xff"',
    "header nests deeply": struct.pack("<Q", 200_000) + b"[" * 100_000 + b"]" * 100_000,
    "cut in the header": GOOD[:100],
    "cut after the header": GOOD[:HEADER_END],
    "cut in the data": GOOD[:-100],
    "one byte short": GOOD[:-1],
    "one byte too many": GOOD + b"\0",
}


@pytest.mark.parametrize("kind", NO_SAFETENSORS)
def test_what_is_no_safetensors_file_or_a_damaged_one_is_refused(tmp_path: Path, kind: str) -> None:
    sentence = refusal_of(tmp_path, NO_SAFETENSORS[kind])
    assert "is not a safetensors file, or is damaged" in sentence
    assert "choose a network saved by Inkling" in sentence


def changed(name: str, dtype: str | None = None, shape: list[int] | None = None, content: bytes | None = None) -> bytes:
    """The good file but for one tensor."""
    tensors = good_tensors()
    old = tensors[name]
    tensors[name] = (
        old[0] if dtype is None else dtype,
        old[1] if shape is None else shape,
        old[2] if content is None else content,
    )
    return safetensors(tensors)


def without(name: str) -> bytes:
    return safetensors({n: tensor for n, tensor in good_tensors().items() if n != name})


def with_value(value: float, dtype: str) -> bytes:
    values = np.ones(2, dtype)
    values[1] = value
    return changed("linear1.bias", {"<f2": "F16", "<f4": "F32"}[dtype], content=values.tobytes())


WRONG_TENSORS = {
    "transposed": (
        changed("linear2.weight", shape=[2, 10]),
        r"linear2.weight has the shape \(2, 10\), where \(10, 2\)",
    ),
    "flattened": (changed("linear2.weight", shape=[20]), r"has the shape \(20,\), where \(10, 2\)"),
    "one more axis": (changed("linear1.bias", shape=[2, 1]), r"has the shape \(2, 1\), where \(2,\)"),
    "other size": (changed("linear1.bias", shape=[3], content=bytes(6)), r"has the shape \(3,\), where \(2,\)"),
    "no elements": (changed("linear1.bias", shape=[0], content=b""), r"has the shape \(0,\), where \(2,\)"),
    "single number": (changed("linear1.bias", shape=[], content=bytes(2)), r"has the shape \(\), where \(2,\)"),
    "one missing": (without("linear2.bias"), "lacks weight 'linear2.bias'"),
    "none at all": (safetensors({}), "lacks weight 'linear1.bias'"),
    "one too many": (safetensors({**good_tensors(), "x": ("F16", [1], b"ab")}), "has an unknown weight 'x'"),
    "long name": (safetensors({**good_tensors(), "x" * 5000: ("F16", [1], b"ab")}), "has an unknown weight 'x{60}'"),
    "BF16": (changed("linear1.bias", "BF16"), "stores linear1.bias as BF16; Inkling reads float16 and float32"),
    "F64": (changed("linear1.bias", "F64", content=bytes(16)), "stores linear1.bias as F64"),
    "I8": (changed("linear1.bias", "I8", content=bytes(2)), "stores linear1.bias as I8"),
    "U16": (changed("linear1.bias", "U16"), "stores linear1.bias as U16"),
    "BOOL": (changed("linear1.bias", "BOOL", content=bytes(2)), "stores linear1.bias as BOOL"),
    "F8": (changed("linear1.bias", "F8_E4M3", content=bytes(2)), "stores linear1.bias as F8"),
    "float16 NaN": (with_value(np.nan, "<f2"), r"not finite numbers \(in linear1.bias\)"),
    "float16 infinity": (with_value(np.inf, "<f2"), r"not finite numbers \(in linear1.bias\)"),
    "float32 NaN": (with_value(np.nan, "<f4"), r"not finite numbers \(in linear1.bias\)"),
    "float32 -infinity": (with_value(-np.inf, "<f4"), r"not finite numbers \(in linear1.bias\)"),
}


@pytest.mark.parametrize("kind", WRONG_TENSORS)
def test_tensors_that_do_not_fit_the_file_s_own_description_are_refused(tmp_path: Path, kind: str) -> None:
    content, complaint = WRONG_TENSORS[kind]
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=complaint):
        load_model(path)
    refusal(path)


def entry(**changes: object) -> Callable[[dict], object]:
    return lambda header: header["linear1.bias"].update(changes)


@pytest.mark.parametrize(
    "spoil",
    [
        entry(dtype="F17"),
        entry(dtype=16),
        entry(shape=[-2]),
        entry(shape=[2**63]),
        entry(shape=[2**32, 2**32]),
        entry(shape=["2"]),
        entry(shape=None),
        entry(data_offsets=[0, 4]),
        entry(data_offsets=[4, 0]),
        entry(data_offsets=[0, 2**63]),
        entry(data_offsets=[-4, 0]),
        entry(data_offsets=[]),
        lambda header: header.update({"linear1.bias": None}),
        lambda header: header["linear1.bias"].pop("dtype"),
        lambda header: header.update({"__metadata__": {"format": 1}}),
        lambda header: header.update({"__metadata__": ["format"]}),
        lambda header: header.update({"__metadata__": {"format": {"inkling-network": "2"}}}),
    ],
)
def test_headers_that_lie_about_dtype_shape_offsets_or_kind_are_refused(
    tmp_path: Path, spoil: Callable[[dict], object]
) -> None:
    refusal_of(tmp_path, safetensors(good_tensors(), spoil_header=spoil))


def described(**changes: str | None) -> bytes:
    """The good file with other metadata; None takes an entry out."""
    metadata = {name: value for name, value in {**METADATA, **changes}.items() if value is not None}
    return safetensors(good_tensors(), metadata)


def chosen(**changes: object) -> bytes:
    return described(hyperparameters=json.dumps({**CHOSEN.as_dict(), **changes}))


WRONG_METADATA = {
    "no metadata": (safetensors(good_tensors(), None), "was not saved by Inkling"),
    "another program's": (safetensors(good_tensors(), {"format": "pt"}), "was not saved by Inkling"),
    "no format": (described(format=None), "was not saved by Inkling"),
    "version before": (described(format_version="1"), "saved by another version of Inkling"),
    "later version": (described(format_version="4"), "saved by another version of Inkling"),
    "no version": (described(format_version=None), "saved by another version of Inkling"),
    "no preset": (described(preset=None), "there is no preset ''"),
    "unknown preset": (described(preset="alexnet"), "there is no preset 'alexnet'; choose quick-mlp"),
    "long preset": (described(preset="x" * 9999), "there is no preset 'xxx"),
    "no hyperparameters": (described(hyperparameters=None), "damaged metadata"),
    "empty": (described(hyperparameters=""), "damaged metadata"),
    "cut": (described(hyperparameters='{"network": "linear'), "damaged metadata"),
    "deeply nested": (described(hyperparameters="[" * 200_000), "damaged metadata"),
    "nested": (described(hyperparameters='{"network": ' + "[" * 900 + "]" * 900 + "}"), "network is|damaged metadata"),
    "list": (described(hyperparameters='["linear 2 relu, linear 10"]'), "the hyperparameters are not a table"),
    "null": (described(hyperparameters="null"), "the hyperparameters are not a table"),
    "as in version 1": (described(hyperparameters='{"hidden": [2]}'), "are not a table with a network in it"),
    "network a number": (chosen(network=10), "network is 10; it must be a text"),
    "network a list": (chosen(network=["linear 10"] * 100_000), "network is .*; it must be a text"),
    "network null": (chosen(network=None), "network is None; it must be a text"),
    "network empty": (chosen(network=""), "a layer is missing here"),
    "network of 10^9 layers": (chosen(network="relu, " * 10**6 + "linear 10"), "text is longer than 1000 characters"),
    "network of 65 layers": (chosen(network="relu, " * 63 + "linear 10"), "too large: .* and 64 layers"),
    "network other units": (
        chosen(network="linear 3 relu, linear 10"),
        r"where \((3, 784|3,|10, 3)\)",
    ),
    "network without hidden": (chosen(network="linear 10"), "has an unknown weight 'linear2.bias'"),
    "network of convolutions": (chosen(network="conv 2x3, linear 10"), "lacks weight 'conv1.bias'"),
    "network with statistics": (chosen(network="linear 2 bn relu, linear 10"), "lacks weight 'bn1.bias'"),
    "network beyond memory": (chosen(network="linear 999999999, linear 10"), "units is 999999999; it must be from 1"),
    "network of 400 digits": (chosen(network=f"linear {'9' * 400}, linear 10"), "linear '9{40}': it wants a number"),
    "network the widest": (chosen(network="linear 16384, " * 8 + "linear 10"), "makes the network too large"),
    "network most channels": (chosen(network="conv 1024x1, linear 10"), "makes the network too large"),
    "network many numbers": (chosen(network="conv 1024x1, " * 9 + "linear 10"), "makes the network too large"),
    "network pools nothing": (chosen(network="pool 2, pool 28, linear 10"), "pool 28 after pool 2: a picture of 14x14"),
    "network of other answers": (chosen(network="linear 2 relu, linear 11"), "it must end with linear 10"),
    "network of other words": (chosen(network="__import__('os')"), "is no layer; there are conv"),
    "network with controls": (chosen(network="\u202elinear\x1b[2J 10"), "is no layer; there are conv"),
    "network surrogate": (chosen(network="\ud800 10"), "is no layer; there are conv"),
    "dropout of everything": (chosen(network="linear 2 relu, dropout 1, linear 10"), "dropout '1': it wants a share"),
    "number of 400 digits": (chosen(seed=10**400), "seed is 1000"),
    "number of 5000 digits": (
        described(hyperparameters='{"network": "linear 10", "seed": ' + "9" * 5000 + "}"),
        "damaged",
    ),
    "infinity": (chosen(learning_rate=float("inf")), "learning rate is inf"),
    "NaN": (chosen(momentum=float("nan")), "momentum is nan"),
    "1e999": (described(hyperparameters='{"network": "linear 10", "learning_rate": 1e999}'), "learning rate is inf"),
    "unknown name": (chosen(colour="red"), "unknown hyperparameter 'colour'"),
    "surrogate": (described(hyperparameters='{"network": "linear 10", "\\ud800": 1}'), "unknown hyperparameter"),
    "keep best a number": (chosen(keep_best=1), "keep best is 1; it must be true or false"),
    "wrong kind": (chosen(optimizer=["sgd"]), r"optimizer is \['sgd'\]"),
}


@pytest.mark.parametrize("kind", WRONG_METADATA)
def test_metadata_that_describe_no_network_or_another_one_are_refused(tmp_path: Path, kind: str) -> None:
    content, complaint = WRONG_METADATA[kind]
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=complaint):
        load_model(path)
    refusal(path)


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        ("absent", "is not there; check the name"),
        ("in an absent folder", "is not there; check the name"),
        ("in a file", "is not there; check the name"),
        ("folder", "is a folder"),
        ("name too long", ""),
    ],
)
def test_what_is_no_file_is_refused(tmp_path: Path, kind: str, complaint: str) -> None:
    path = tmp_path / "n.safetensors"
    if kind == "in an absent folder":
        path = tmp_path / "absent" / "n.safetensors"
    elif kind == "in a file":
        (tmp_path / "f").write_bytes(b"")
        path = tmp_path / "f" / "n.safetensors"
    elif kind == "folder":
        path.mkdir()
    elif kind == "name too long":
        path = tmp_path / ("n" * 300)
    assert complaint in refusal(path)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file that opens and cannot be read, even by root")
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "n.safetensors").symlink_to("/proc/self/mem")
    refusal(tmp_path / "n.safetensors")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file that the examples below write over and over."""
    return tmp_path_factory.mktemp("fuzz") / "n.safetensors"


def refused_or_sound(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with contextlib.suppress(ModelFileError):
        model = load_model(path)
        assert {name: w.shape for name, w in model.weights.items()} == SHAPES
        assert all(np.isfinite(w).all() for w in model.weights.values())


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changes=st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_a_file_with_flipped_bytes_is_refused_or_still_a_sound_network(
    scratch: Path, changes: list[tuple[int, int]]
) -> None:
    content = bytearray(GOOD)
    for position, value in changes:
        content[position] = value
    refused_or_sound(scratch, bytes(content))


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    position=st.integers(0, HEADER_END),
    removed=st.integers(0, 6),
    inserted=st.sampled_from(
        [b"", b"0", b"-", b'"', b"[", b"}", b",", b"\\ud800", b"\0", b"\xff", b"1e99", b"9" * 30, b"null", b"{}"]
    ),
    keep_length=st.booleans(),
)
def test_a_file_with_a_rewritten_header_is_refused_or_still_a_sound_network(
    scratch: Path, position: int, removed: int, inserted: bytes, keep_length: bool
) -> None:
    header = GOOD[8:HEADER_END]
    header = header[:position] + inserted + header[position + removed :]
    length = GOOD[:8] if keep_length else struct.pack("<Q", len(header))
    refused_or_sound(scratch, length + header + GOOD[HEADER_END:])
