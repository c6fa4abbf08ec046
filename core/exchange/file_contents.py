"""What is in a file: a network, a kept run's folder, an ONNX file, ink, or any other safetensors file.

The content decides which of them it is, not the name. Nothing in a file is executed, and nothing it says is believed
without being checked, or else it is shown as a note of its own.
"""

import gzip
import os
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from core.digits.ink import read_ink_file
from core.exchange.foreign_file import check_may_be_onnx, first_bytes, import_network, is_safetensors
from core.exchange.foreign_network import ForeignFileError, check_size, read_bytes
from core.exchange.onnx_package import parse_onnx
from core.nn.architecture import describe
from core.training.hyperparameters import INPUT_SHAPE
from core.training.ledger import summarize
from core.training.model_file import DTYPES, FORMAT, load_model
from core.training.run_folder import RunError, RunFolder

Contents = dict[str, Any]
"""What was found by name, as JSON can hold it; "kind" says what it is. A list has a table for each thing of a sort."""

_INK = (b"{", b"\n", b" ")
"""How ink begins."""


def file_contents(path: Path) -> Contents:
    """What is in the file or folder at `path`.

    Raises ForeignFileError, ModelFileError, InkFileError, RunError or MissingOnnxError where nothing can be told.
    """
    # Not Path.is_dir, which raises where a name is too long for the system.
    if os.path.isdir(path):
        return _run(path)
    start = first_bytes(path)
    if is_safetensors(start):
        return _safetensors(path)
    if start.startswith(b"\x1f\x8b"):
        start = _unpacked(path)
    if start.startswith(_INK):
        return _ink(path)
    check_size(path)
    check_may_be_onnx(path, start)
    return _onnx(path)


def _unpacked(path: Path) -> bytes:
    """How the content of a gzip file begins; where it cannot be unpacked, as ink does, whose reader then says why."""
    try:
        with gzip.open(path) as file:
            return file.read(16)
    except (OSError, EOFError, zlib.error):
        return _INK[0]


def _safetensors(path: Path) -> Contents:
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = dict(file.metadata() or {})
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            tensors = [
                {"name": name, "dtype": part.get_dtype(), "shape": list(part.get_shape())}
                for name, part in slices.items()
            ]
    except (SafetensorError, OSError) as error:
        raise ForeignFileError(f"{path} is damaged ({str(error)[:100]}); choose another file") from None
    size = path.stat().st_size
    if metadata.get("format") != FORMAT:
        return {"kind": "arrays (safetensors)", "bytes": size, **_short(metadata), "arrays": tensors}
    model = load_model(path)
    dtypes = {tensor["dtype"] for tensor in tensors}
    stages = describe(model.hyperparameters.network, INPUT_SHAPE)
    return {
        "kind": "network",
        "bytes": size,
        "saved_as": "int8" if "I8" in dtypes else " and ".join(sorted(DTYPES.get(d, d) for d in dtypes)),
        "preset": model.preset,
        "network": model.hyperparameters.network,
        "weights": sum(stage.parameters for stage in stages),
        **_short(dict(model.facts)),
        "layers": [{"layer": s.words, "output": list(s.output), "weights": s.parameters} for s in stages],
        "hyperparameters": model.hyperparameters.as_dict(),
    }


def _run(path: Path) -> Contents:
    run = summarize(RunFolder(path))
    if run.info is None:
        raise RunError(run.problem)
    return {
        "kind": "run",
        "name": run.info.name,
        "note": run.info.note,
        "state": run.state,
        "created": run.info.created,
        "preset": run.info.job.preset,
        "network": run.info.job.hyperparameters.network,
        "device": run.device_key,
        "steps": run.steps,
        "total_steps": run.total_steps,
        "train_seconds": round(run.train_seconds, 4),
        "validation_accuracy": run.validation_accuracy,
        "test_accuracy": run.test_accuracy,
        "can_go_on": run.can_go_on,
        "files": [{"file": name, "bytes": size} for name, size in _files(path)],
        "hyperparameters": run.info.job.hyperparameters.as_dict(),
    }


def _files(folder: Path) -> list[tuple[str, int]]:
    """The names and bytes of the files in a folder."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.stat().st_size) for entry in entries if entry.is_file())
    except OSError as error:
        raise RunError(f"{folder} cannot be read: {error.strerror or error}; try again") from None


def _ink(path: Path) -> Contents:
    digits = read_ink_file(path)
    labels = Counter(digit.label for digit in digits)
    strokes = [stroke for digit in digits for stroke in digit.ink.strokes]
    return {
        "kind": "ink",
        "bytes": path.stat().st_size,
        "digits": len(digits),
        "strokes": len(strokes),
        "points": sum(len(stroke.points) for stroke in strokes),
        "with_times": sum(stroke.times_ms is not None for stroke in strokes),
        "with_pressures": sum(stroke.pressures is not None for stroke in strokes),
        "labels": [{"digit": digit, "count": labels[digit]} for digit in range(10)],
    }


def _onnx(path: Path) -> Contents:
    content = read_bytes(path)
    try:
        proto = parse_onnx(content)
    except ValueError as error:
        raise ForeignFileError(
            f"{path} is neither a network, a run, ink nor ONNX ({str(error)[:100]}); choose another file"
        ) from None
    kinds = Counter(node.op_type for node in proto.graph.node)
    return {
        "kind": "ONNX",
        "bytes": len(content),
        "written_by": f"{proto.producer_name} {proto.producer_version}".strip()[:100],
        "opset": max((opset.version for opset in proto.opset_import if not opset.domain), default=None),
        "inputs": ", ".join(value.name for value in proto.graph.input)[:200],
        "outputs": ", ".join(value.name for value in proto.graph.output)[:200],
        "arrays": len(proto.graph.initializer),
        **_short({entry.key: entry.value for entry in proto.metadata_props}),
        **_importable(path),
        "nodes": [{"operator": kind, "count": count} for kind, count in kinds.items()],
    }


def _importable(path: Path) -> Contents:
    try:
        return {"importable": True, "network": import_network(path).hyperparameters.network}
    except ForeignFileError as error:
        return {"importable": False, "why_not": str(error)}


def _short(notes: dict[str, str]) -> Contents:
    """A file's own notes under names that cannot be mistaken for ours, the longest cut."""
    return {f"note: {_cut(name, 60)}": _cut(text, 200) for name, text in sorted(notes.items())[:20]}


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
