"""Model files: what is saved comes back, and nothing that is not sound is ever taken for a network.

Bad files are built byte by byte with the format's own layout (eight bytes of header length, a JSON header, the data),
so that they owe nothing to the library that reads them. Failing writes are real ones: folders that are missing or
none, names taken by a folder, a limit on the size of files set by the system.
"""

import contextlib
import json
import os
import pickle
import stat
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import VERSION
from core.device import HostArray
from core.training.hyperparameters import Hyperparameters
from core.training.model_file import Model, ModelFileError, check_can_save, load_model, save_model

Tensors = dict[str, tuple[str, list[int], bytes]]
"""By name: dtype as the format spells it, shape, data."""

CHOSEN = Hyperparameters(hidden=(2,), seed=7, learning_rate=0.25)
METADATA = {
    "format": "inkling-network",
    "format_version": "1",
    "preset": "quick-mlp",
    "hyperparameters": json.dumps(CHOSEN.as_dict()),
    "test_accuracy": "0.9871",
}
SHAPES = {"linear1.weight": (2, 784), "linear1.bias": (2,), "linear2.weight": (10, 2), "linear2.bias": (10,)}


def random_weights() -> dict[str, HostArray]:
    rng = np.random.default_rng(3)
    return {name: rng.normal(0, 1, shape).astype(np.float32) for name, shape in SHAPES.items()}


WEIGHTS = random_weights()
MODEL = Model("quick-mlp", CHOSEN, WEIGHTS, {"test_accuracy": "0.9871", "command": "uv run main.py train · ✎"})


def good_tensors() -> Tensors:
    return {name: ("F16", list(w.shape), w.astype("<f2").tobytes()) for name, w in WEIGHTS.items()}


def safetensors(tensors: Tensors, metadata: object = METADATA, spoil_header: Callable[[dict], object] = id) -> bytes:
    """A file as the format's page describes it."""
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    data = b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    spoil_header(header)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


GOOD = safetensors(good_tensors())
HEADER_END = 8 + int.from_bytes(GOOD[:8], "little")


def refusal(path: Path) -> str:
    """The one line with which `path` is refused."""
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    sentence = str(caught.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    assert len(sentence) < len(str(path)) + 400
    return sentence


def refusal_of(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "bad.safetensors"
    path.write_bytes(content)
    return refusal(path)


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
        "format_version": "1",
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
        lambda header: header.update({"__metadata__": {"format": {"inkling-network": "1"}}}),
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
    "later version": (described(format_version="2"), "saved by another version of Inkling"),
    "no version": (described(format_version=None), "saved by another version of Inkling"),
    "no preset": (described(preset=None), "there is no preset ''"),
    "unknown preset": (described(preset="alexnet"), "there is no preset 'alexnet'; choose quick-mlp"),
    "long preset": (described(preset="x" * 9999), "there is no preset 'xxx"),
    "other preset": (described(preset="pycuda-seed"), "has an unknown weight 'linear1.bias' for pycuda-seed"),
    "no hyperparameters": (described(hyperparameters=None), "damaged metadata"),
    "empty": (described(hyperparameters=""), "damaged metadata"),
    "cut": (described(hyperparameters='{"hidden": [2'), "damaged metadata"),
    "deeply nested": (described(hyperparameters="[" * 200_000), "damaged metadata"),
    "nested": (described(hyperparameters='{"hidden": [' + "[" * 900 + "]" * 900 + "]}"), "hidden is|damaged metadata"),
    "list": (described(hyperparameters="[2]"), "the hyperparameters are not a table"),
    "null": (described(hyperparameters="null"), "the hyperparameters are not a table"),
    "hidden a number": (chosen(hidden=2), "the hyperparameters are not a table with a list"),
    "hidden another": (chosen(hidden=[3]), r"where \(3, 784\) is wanted|where \(3,\) is wanted|where \(10, 3\) is"),
    "hidden none": (chosen(hidden=[]), "has an unknown weight 'linear2.bias'"),
    "hidden negative": (chosen(hidden=[-2]), "hidden is -2"),
    "hidden beyond memory": (chosen(hidden=[10**15]), "hidden is 1000000000000000;"),
    "hidden very many": (chosen(hidden=[2] * 200_000), "up to 8 layer sizes"),
    "hidden the most": (chosen(hidden=[16384] * 8), "lacks weight|has the shape"),
    "number of 400 digits": (chosen(seed=10**400), "seed is 1000"),
    "number of 5000 digits": (described(hyperparameters='{"hidden": [2], "seed": ' + "9" * 5000 + "}"), "damaged"),
    "infinity": (chosen(learning_rate=float("inf")), "learning rate is inf"),
    "NaN": (chosen(momentum=float("nan")), "momentum is nan"),
    "1e999": (described(hyperparameters='{"hidden": [2], "learning_rate": 1e999}'), "learning rate is inf"),
    "unknown name": (chosen(colour="red"), "unknown hyperparameter 'colour'"),
    "surrogate": (described(hyperparameters='{"hidden": [2], "\\ud800": 1}'), "unknown hyperparameter"),
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


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("value", [65520.0, -1e6, 3e38])
def test_weights_too_large_for_float16_are_refused_with_the_way_out_and_nothing_is_written(
    tmp_path: Path, value: float
) -> None:
    weights = {**WEIGHTS, "linear1.bias": np.array([1, value], np.float32)}
    model = Model("quick-mlp", CHOSEN, weights)
    with pytest.raises(ModelFileError, match=r"too large for float16; save n\.safetensors as float32 instead"):
        save_model(tmp_path / "n.safetensors", model)
    assert files_in(tmp_path) == []
    save_model(tmp_path / "n.safetensors", model, "float32")
    assert load_model(tmp_path / "n.safetensors").weights["linear1.bias"].tolist() == [1, np.float32(value)]


def test_the_largest_float16_is_saved_as_it_is(tmp_path: Path) -> None:
    weights = {**WEIGHTS, "linear1.bias": np.array([65504, -65504], np.float32)}
    save_model(tmp_path / "n.safetensors", Model("quick-mlp", CHOSEN, weights))
    assert load_model(tmp_path / "n.safetensors").weights["linear1.bias"].tolist() == [65504, -65504]


@pytest.mark.parametrize("stored_as", ["float16", "float32"])
def test_weights_that_are_not_finite_are_not_saved(tmp_path: Path, stored_as: str) -> None:
    weights = {**WEIGHTS, "linear1.bias": np.array([1, np.nan], np.float32)}
    with pytest.raises(ModelFileError):
        save_model(tmp_path / "n.safetensors", Model("quick-mlp", CHOSEN, weights), stored_as)
    assert files_in(tmp_path) == []


def test_saving_replaces_the_file_that_was_there_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "n.safetensors"
    path.write_bytes(b"something old")
    save_model(path, MODEL)
    assert load_model(path).preset == "quick-mlp"
    assert files_in(tmp_path) == ["n.safetensors"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of files as POSIX has them")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_saved_file_may_be_read_by_whom_the_user_s_mask_allows(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        save_model(tmp_path / "n.safetensors", MODEL)
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "n.safetensors").stat().st_mode) == mode


@contextlib.contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """Let the system break off any write beyond `size` bytes, as a full disk would."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_write_that_breaks_off_leaves_the_old_file_as_it_was_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "n.safetensors"
    save_model(path, MODEL)
    before = path.read_bytes()
    with files_limited_to(1000), pytest.raises(ModelFileError, match=r"cannot be written: .*; choose another place"):
        save_model(path, Model("quick-mlp", CHOSEN, {name: 2 * w for name, w in WEIGHTS.items()}))
    assert path.read_bytes() == before
    assert files_in(tmp_path) == ["n.safetensors"]


def test_saving_in_place_of_a_folder_is_refused_and_leaves_no_trace(tmp_path: Path) -> None:
    (tmp_path / "n.safetensors").mkdir()
    with pytest.raises(ModelFileError, match=r"n\.safetensors is a folder; name a file in it"):
        save_model(tmp_path / "n.safetensors", MODEL)
    assert files_in(tmp_path) == ["n.safetensors"]


@pytest.mark.skipif(os.name != "posix", reason="asks the system as POSIX does")
def test_the_longest_name_the_system_allows_can_be_saved_to(tmp_path: Path) -> None:
    path = tmp_path / ("n" * os.pathconf(tmp_path, "PC_NAME_MAX"))
    check_can_save(path)
    save_model(path, MODEL)
    assert load_model(path).preset == "quick-mlp"


def test_finding_out_whether_a_file_can_be_saved_leaves_all_as_it_is(tmp_path: Path) -> None:
    check_can_save(tmp_path / "new.safetensors")
    (tmp_path / "old.safetensors").write_bytes(b"old")
    check_can_save(tmp_path / "old.safetensors")
    assert (tmp_path / "old.safetensors").read_bytes() == b"old"
    assert files_in(tmp_path) == ["old.safetensors"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("folder", "is a folder; name a file in it"),
        ("absent/n.safetensors", "does not exist; make it first"),
        ("file/n.safetensors", "does not exist; make it first"),
        ("n" * 300, "cannot be written"),
    ],
    ids=["a folder", "in an absent folder", "in a file", "too long a name"],
)
def test_a_place_where_nothing_can_be_saved_is_known_beforehand(tmp_path: Path, name: str, complaint: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ModelFileError, match=complaint) as caught:
        check_can_save(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize("kind", ["missing", "a file"])
def test_saving_into_a_folder_that_is_none_is_refused(tmp_path: Path, kind: str) -> None:
    if kind == "a file":
        (tmp_path / "sub").write_bytes(b"x")
    path = tmp_path / "sub" / "n.safetensors"
    with pytest.raises(ModelFileError, match=r"cannot be written: .*; choose another place") as caught:
        save_model(path, MODEL)
    assert str(path) in str(caught.value)
    assert files_in(tmp_path) == (["sub"] if kind == "a file" else [])


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder where nobody may write, not even root")
def test_saving_into_a_folder_that_may_not_be_written_is_refused_with_the_system_s_reason() -> None:
    for attempt in (check_can_save, lambda path: save_model(path, MODEL)):
        with pytest.raises(ModelFileError, match=r"cannot be written: (Permission denied|Read-only|Operation not)"):
            attempt(Path("/sys/n.safetensors"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("act", [check_can_save, lambda path: save_model(path, MODEL)])
def test_a_pipe_is_not_replaced_by_a_file(tmp_path: Path, act: Callable[[Path], None]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ModelFileError, match="not a file that can be replaced; choose another name"):
        act(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_and_the_file_it_points_at_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    save_model(link, MODEL)
    assert link.is_symlink()
    assert load_model(target).preset == "quick-mlp"


def test_a_link_into_a_folder_that_is_missing_is_found_out_beforehand(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "absent" / "n.safetensors")
    with pytest.raises(ModelFileError, match=r"the folder of .* does not exist; make it first"):
        check_can_save(tmp_path / "link")
