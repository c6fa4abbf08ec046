"""A model card: what a network is, what it was trained on, how good it is and at what, and what it is not for.

In Markdown, for the page beside the file. The sections follow Mitchell et al., "Model Cards for Model Reporting", 2019.
"""

import math
from collections.abc import Iterable
from dataclasses import fields

import numpy as np

from core.device import HostArray
from core.nn.architecture import describe
from core.training.calibration import Calibration
from core.training.evaluation import accuracy_of, accuracy_per_class
from core.training.hyperparameters import CLASSES, INPUT_SHAPE, Hyperparameters
from core.training.model_file import Model, file_size
from core.training.presets import find_preset
from core.training.storage import STORAGE_PRECISIONS, PrecisionError

_PAIRS = 5
"""How many of the most frequent confusions are named."""

_NOT_SHOWN = ("network", "evaluate_every")
_LIMITS = """\
It reads one digit at a time, light on dark, 28x28 pixels, sized and centred as MNIST's are; `classify` brings pictures
into that form. It was measured on the hands of the people who wrote the test set, and other hands may be read worse.
Its probabilities add up to 1 for everything, a scribble or a letter too: they say which digit it would be, not whether
it is one. Nothing of importance should rest on its answer alone."""
_LICENCE = """\
MNIST is by Yann LeCun and Corinna Cortes, derived from NIST's Special Databases 1 and 3, under the Creative Commons
Attribution-ShareAlike 3.0 licence (https://creativecommons.org/licenses/by-sa/3.0/). Inkling is under the MIT
licence."""


def model_card(model: Model, confusion: HostArray, file_name: str = "model.safetensors") -> str:
    """The card of `model`, saved as `file_name`, in Markdown.

    `confusion`: int64 (10, 10), measured on MNIST's test set, rows true, columns answered.
    """
    sections = {
        "What it is": _what(model),
        "Trained on": _trained(model),
        "How good it is": _quality(confusion, Calibration.from_facts(model.facts)),
        "Size": _sizes(model),
        "How to use it": _use(file_name),
        "Limits": _LIMITS,
        "Licence": _LICENCE,
    }
    accuracy = f"{accuracy_of(confusion):.2%}"
    title = f"# {find_preset(model.preset).title}: a network that reads {accuracy} of MNIST's test digits right"
    return "\n\n".join([title, *(f"## {name}\n\n{text}" for name, text in sections.items())]) + "\n"


def _what(model: Model) -> str:
    stages = describe(model.hyperparameters.network, INPUT_SHAPE)
    rows = [(s.words, "x".join(map(str, s.output)), f"{s.parameters:,}" if s.parameters else "") for s in stages]
    total = sum(stage.parameters for stage in stages)
    return (
        "It takes a picture of a handwritten digit, 28x28 grey levels, and gives a probability for each of the ten "
        f"digits. It has {total:,} weights, in the network\n\n    {model.hyperparameters.network}\n\n"
        + _table(("layer", "output", "weights"), rows)
    )


def _trained(model: Model) -> str:
    elsewhere = {field.name for field in fields(Calibration)} if Calibration.from_facts(model.facts) else set()
    known = sorted((name, value) for name, value in model.facts.items() if name not in elsewhere)
    facts = {name.replace("_", " "): value for name, value in known}
    if "imported from" in facts:
        lead = "It was made by another program; how it was trained is not known."
        return f"{lead}\n\n{_table(('', ''), facts.items())}"
    chosen = model.hyperparameters.as_dict()
    usual = Hyperparameters(model.hyperparameters.network).as_dict()
    settings = [
        (name.replace("_", " "), value)
        for name, value in chosen.items()
        if name not in _NOT_SHOWN and (value != usual[name] or name in ("optimizer", "learning_rate", "epochs", "seed"))
    ]
    return _table(("", ""), [("recipe", find_preset(model.preset).title), *facts.items(), *settings])


def _quality(confusion: HostArray, calibration: Calibration | None) -> str:
    right = f"{np.trace(confusion):,} of {confusion.sum():,} test digits are read right: {accuracy_of(confusion):.2%}."
    shares = accuracy_per_class(confusion)
    rows = [
        (digit, "–" if shares[digit] is None else f"{shares[digit]:.1%}", *(count or "·" for count in confusion[digit]))
        for digit in range(CLASSES)
    ]
    table = _table(("digit", "right", *map(str, range(CLASSES))), rows)
    text = f"{right} A row for each digit, a column for each answer:\n\n{table}\n\n{_confusions(confusion)}"
    return text if calibration is None else f"{text}\n\n{_trust(calibration)}"


def _trust(calibration: Calibration) -> str:
    return (
        "On digits held out from training, its probabilities were calibrated: there they differ from how often it is "
        f"right by {100 * calibration.calibration_error:.2f} points in the mean (expected calibration error). Where "
        f"its confidence is below {calibration.threshold:.1%}, Inkling answers that it does not know; other programs "
        "get the probabilities alone."
    )


def _confusions(confusion: HostArray) -> str:
    wrong = np.where(np.eye(CLASSES, dtype=bool), 0, confusion)
    order = np.argsort(-wrong, axis=None, kind="stable")[:_PAIRS]
    pairs = [(*divmod(int(place), CLASSES), int(wrong.flat[place])) for place in order if wrong.flat[place]]
    if not pairs:
        return "It made no mistake there."
    return "Most often confused: " + ", ".join(f"{a} read as {b} ({count} times)" for a, b, count in pairs) + "."


def _sizes(model: Model) -> str:
    rows = []
    for precision in STORAGE_PRECISIONS:
        try:
            rows.append((precision, f"{file_size(model, precision):,} bytes"))
        except PrecisionError:
            rows.append((precision, "its weights are too large for it"))
    total = sum(math.prod(w.shape) for w in model.weights.values())
    return f"{total:,} numbers in all, running statistics included.\n\n{_table(('saved as', 'file'), rows)}"


def _use(file_name: str) -> str:
    quoted = f'"{file_name}"' if " " in file_name else file_name
    commands = "\n".join(
        f"    uv run main.py {words}"
        for words in (
            f"classify picture.png --model {quoted}",
            f"evaluate --model {quoted}",
            f"export --model {quoted} --out digits.py",
            f"export --model {quoted} --out digits.onnx",
        )
    )
    return f"In Inkling's folder, or with File > Open network in its window:\n\n{commands}"


def _table(head: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(_cell(value) for value in line) + " |" for line in lines)


def _cell(value: object) -> str:
    """A value as it may stand in a table, however strange a file's own notes are."""
    text = "".join(c if c.isprintable() else " " for c in str(value))
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
