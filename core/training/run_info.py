"""What a kept run was to do, as a value and as JSON: the first file of its folder, and read with suspicion."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.training.hyperparameters import HyperparameterError, Hyperparameters
from core.training.job import MOST_OF_MINE, TrainingJob
from core.training.presets import UnknownPresetError, find_preset

FORMAT, FORMAT_VERSION = "inkling-run", 1
START = "start.safetensors"
"""The network that a run began with, in its folder."""
MAX_NAME, MAX_NOTE = 200, 20_000


@dataclass(frozen=True)
class RunInfo:
    """What was to be done, when, and with what.

    `created` is UTC, ISO 8601; `versions` are those of the programs that took part; `name` and `note` are the user's
    own words, empty until there are some.
    """

    job: TrainingJob
    created: str
    versions: Mapping[str, str]
    name: str = ""
    note: str = ""


def to_json(info: RunInfo) -> bytes:
    """`info` as the file holds it."""
    values = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "preset": info.job.preset,
        "hyperparameters": info.job.hyperparameters.as_dict(),
        "device": info.job.device_key,
        "until_accuracy": info.job.until_accuracy,
        "data": info.job.data,
        "mine": info.job.mine,
        "my_digits": None if info.job.my_digits is None else str(info.job.my_digits),
        "start": info.job.begins_with_network,
        "seed": info.job.hyperparameters.seed,
        "created": info.created,
        "versions": dict(info.versions),
        "name": info.name,
        "note": info.note,
    }
    return json.dumps(values, indent=1, ensure_ascii=False).encode(errors="replace")


def from_json(content: bytes, folder: Path) -> RunInfo:
    """What `content`, from `folder`, says; raises ValueError, in words, if that is no run."""
    try:
        return _info(json.loads(content), folder)
    except (KeyError, TypeError) as error:
        raise ValueError(f"it lacks {error}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def is_device_key(value: object) -> bool:
    """Whether a device could be called so; there need be none."""
    return isinstance(value, str) and re.fullmatch(r"[a-z]{1,20}(:\d{1,3})?", value) is not None


def _info(values: Any, folder: Path) -> RunInfo:
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise ValueError("it describes no run")
    if values.get("format_version") != FORMAT_VERSION:
        raise ValueError("it was written by another version of Inkling")
    versions = values["versions"]
    if not isinstance(versions, dict):
        raise ValueError("its versions are none")
    return RunInfo(
        _job(values, folder),
        _text(values["created"]),
        {_text(name): _text(version) for name, version in versions.items()},
        _text(values["name"])[:MAX_NAME],
        _text(values["note"])[:MAX_NOTE],
    )


def _job(values: dict[str, Any], folder: Path) -> TrainingJob:
    """The run's job; what folders of earlier versions do not say is as it was then."""
    try:
        preset = find_preset(_text(values["preset"])).name
        hyperparameters = Hyperparameters.from_dict(values["hyperparameters"])
    except (HyperparameterError, UnknownPresetError) as error:
        raise ValueError(str(error)) from None
    device, until = values["device"], values["until_accuracy"]
    if not is_device_key(device):
        raise ValueError("its device is none")
    if until is not None and not (isinstance(until, int | float) and 0 < until <= 1):
        raise ValueError("its target accuracy is none")
    data, mine, my_digits = values.get("data", "mnist"), values.get("mine", 0.0), values.get("my_digits")
    if isinstance(mine, bool) or not isinstance(mine, int | float) or not 0 <= mine <= MOST_OF_MINE:
        raise ValueError("its share of own digits is none")
    if not isinstance(start := values.get("start", False), bool):
        raise ValueError("whether it began with a network is not clear")
    return TrainingJob(
        preset,
        hyperparameters,
        device,
        None if until is None else float(until),
        _text(data),
        float(mine),
        None if my_digits is None else Path(_text(my_digits)),
        start_file=folder / START if start else None,
    )


def _text(value: object) -> str:
    """`value`, if it is a text that can be shown and written; raises ValueError if not."""
    if not isinstance(value, str):
        raise ValueError("its notes are no text")
    value.encode()
    return value
