"""What the tests of kept runs share: a small run in a folder, whole or cut short, and ways to spoil a file."""

import json
import struct
from pathlib import Path
from typing import Any

from core.digits.dataset import Splits
from core.training.events import Event
from core.training.job import TrainingControl, TrainingJob
from core.training.run_folder import RunFolder
from core.training.run_recorder import RunRecorder
from core.training.trainer import train
from tests.core.training.runs import job

SMALL: dict[str, Any] = {"hidden": (4,), "batch_size": 100, "epochs": 2, "evaluate_every": 500}
"""Ten steps an epoch, a report and an evaluation after each five."""


def small_job(**choices: Any) -> TrainingJob:
    return job("quick-mlp", **{**SMALL, **choices})


def keep(folder: RunFolder, run: TrainingJob, splits: Splits, control: TrainingControl | None = None) -> list[Event]:
    """All events of `run`, kept in `folder`, which is made for it, or goes on with the run in it."""
    if not folder.path.exists():
        folder.create(run)
    control, since = control or TrainingControl(), folder.checkpoint()
    return list(RunRecorder(folder, run, control, since).record(train(run, splits, control, since)))


def lines(folder: RunFolder) -> list[dict[str, Any]]:
    """What the events' file says, read by hand."""
    text = (folder.path / "events.jsonl").read_text("utf-8")
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def with_header(content: bytes, **changes: Any) -> bytes:
    """A safetensors file with other metadata; what is None is taken out."""
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"] = {k: v for k, v in {**header["__metadata__"], **changes}.items() if v is not None}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + length :]


def spoiled(path: Path) -> dict[str, bytes]:
    """Some of the ways in which a file is damaged, by name."""
    content = path.read_bytes()
    return {
        "empty": b"",
        "cut": content[: len(content) // 2],
        "a byte": b"{",
        "zeros": bytes(len(content)),
        "not UTF-8": b"\xff\xfe" + content,
        "text": b"hello\n",
        "deeply nested": b"[" * 100_000,
        "a number of 5,000 digits": b"9" * 5000,
    }
