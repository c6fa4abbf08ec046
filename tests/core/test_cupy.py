"""What Inkling asks of CuPy, held against CuPy itself where it is installed: it needs no GPU to be asked what it has.

CuPy is asked in a process of its own, since importing it here would be seen by tests that forbid it.
"""

import ast
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.array_module import DTYPES, FUNCTIONS, UFUNC_KEYWORDS, UFUNCS

CORE = Path(__file__).resolve().parents[2] / "core"
ONLY_FOR_CUPY = {"cuda_device.py", "gpu_probe.py"}

needs_cupy = pytest.mark.skipif(
    importlib.util.find_spec("cupy") is None,
    reason="CuPy is not installed; uv run --isolated --group cupy pytest tests/core/test_cupy.py brings it",
)


@dataclass(frozen=True)
class Use:
    """`name` of an array module, used at this place; `call` is None where it is not called."""

    place: str
    name: str
    call: tuple[int, tuple[str, ...]] | None
    """The number of arguments without a name, and the names of the others."""


def chain_of(node: ast.AST) -> list[str]:
    """["self", "xp", "add"] for self.xp.add; empty for what is no such chain of names."""
    if isinstance(node, ast.Name):
        return [node.id]
    before = chain_of(node.value) if isinstance(node, ast.Attribute) else []
    return [*before, node.attr] if before else []


def uses_of_xp() -> list[Use]:
    found = []
    for path in sorted(CORE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            chain = chain_of(node)
            if len(chain) < 2 or chain[-2] not in ("xp", "_xp"):
                continue
            call = calls.get(id(node))
            given = None if call is None else (len(call.args), tuple(str(k.arg) for k in call.keywords))
            found.append(Use(f"{path.relative_to(CORE.parent)}:{node.lineno}", chain[-1], given))
    return found


def chains_of_cupy() -> Iterator[tuple[str, str]]:
    """(place, "cuda.Stream") for every longest chain of names that begins at the module."""
    for name in sorted(ONLY_FOR_CUPY):
        tree = ast.parse((CORE / name).read_text(encoding="utf-8"))
        inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            chain = [part for part in chain_of(node) if part != "self"]
            if len(chain) > 1 and chain[0] in ("cupy", "_cupy") and id(node) not in inner:
                yield f"core/{name}:{node.lineno}", ".".join(chain[1:])


USES = uses_of_xp()
ON_THE_DOUBLE = [use for use in USES if Path(use.place.partition(":")[0]).name not in ONLY_FOR_CUPY]


def complaint(use: Use, nin: int | None, signature: Signature | None) -> str | None:
    """What is wrong with calling a ufunc of `nin` inputs, or a function of this signature, like that."""
    assert use.call is not None
    count, keywords = use.call
    if signature is None:
        assert nin is not None
        fits = count in (nin, nin + 1) and set(keywords) <= UFUNC_KEYWORDS
        return None if fits else f"{use.place}: {use.name} takes {nin} arrays, {sorted(UFUNC_KEYWORDS)}"
    try:
        signature.bind(*[None] * count, **dict.fromkeys(keywords))
    except TypeError as error:
        return f"{use.place}: {use.name}: {error}"
    return None


def test_the_places_where_core_asks_the_array_module_are_found() -> None:
    assert {"add", "matmul", "bool_", "sum"} <= {use.name for use in USES}
    assert ("sum", (1, ("out",))) in {(use.name, use.call) for use in USES}


def test_all_that_core_asks_of_the_array_module_is_on_the_double_s_lists() -> None:
    complaints = []
    for use in ON_THE_DOUBLE:
        if use.name in DTYPES:
            continue
        if use.name not in UFUNCS and use.name not in FUNCTIONS:
            complaints.append(f"{use.place}: {use.name} is on no list of the double's")
        elif use.call is not None:
            nin = UFUNCS[use.name].nin if use.name in UFUNCS else None
            complaints.append(complaint(use, nin, FUNCTIONS.get(use.name)))
    assert [text for text in complaints if text is not None] == []


QUESTIONS = """
import inspect, json, sys
import cupy

def described(name):
    found = cupy
    for part in name.split("."):
        found = getattr(found, part)
    if isinstance(found, cupy.ufunc):
        def answer(**keywords):
            try:
                found(*[1.0] * found.nin, **keywords)
            except TypeError as error:
                return str(error)
            except cupy.cuda.runtime.CUDARuntimeError:
                pass
        refuses = [k for k, v in {"out": None, "dtype": "f4", "casting": "no", "where": True}.items()
                   if "Wrong arguments" in str(answer(**{k: v}))]
        return {"kind": "ufunc", "nin": found.nin, "refuses": refuses}
    if isinstance(found, type) or not callable(found):
        return {"kind": "other"}
    call = found if inspect.isfunction(found) else type(found).__call__
    try:
        parameters = list(inspect.signature(call).parameters.values())[0 if call is found else 1:]
    except ValueError:
        return {"kind": "other"}
    return {"kind": "function", "parameters": [(p.name, int(p.kind), p.default is not p.empty) for p in parameters]}

answers = {}
for name in json.load(sys.stdin):
    try:
        answers[name] = described(name)
    except AttributeError:
        answers[name] = None
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def cupy() -> dict[str, Any]:
    """CuPy's answers by name; None for a name that it does not have."""
    names = {use.name for use in USES} | {name for _, name in chains_of_cupy()} | DTYPES | {*UFUNCS, *FUNCTIONS}
    command = [sys.executable, "-c", QUESTIONS]
    done = subprocess.run(command, input=json.dumps(sorted(names)), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


KINDS = {kind.value: kind for kind in type(Parameter.KEYWORD_ONLY)}


def signature_of(answer: dict[str, Any]) -> Signature:
    return Signature(
        [
            Parameter(name, KINDS[kind], default=None if has_default else Parameter.empty)
            for name, kind, has_default in answer["parameters"]
        ]
    )


@needs_cupy
def test_cupy_has_all_that_core_asks_of_the_array_module_with_those_arguments(cupy: dict[str, Any]) -> None:
    complaints = []
    for use in USES:
        answer = cupy[use.name]
        if answer is None:
            complaints.append(f"{use.place}: CuPy has no {use.name}")
        elif use.call is not None and answer["kind"] != "other":
            signature = signature_of(answer) if answer["kind"] == "function" else None
            complaints.append(complaint(use, answer.get("nin"), signature))
    assert [text for text in complaints if text is not None] == []


@needs_cupy
def test_cupy_has_all_that_the_gpu_s_rooms_ask_of_it(cupy: dict[str, Any]) -> None:
    chains = list(chains_of_cupy())
    assert len(chains) > 10
    assert [f"{place}: {name}" for place, name in chains if cupy[name] is None] == []


@needs_cupy
@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_the_double_s_ufuncs_are_cupy_s(name: str, cupy: dict[str, Any]) -> None:
    assert cupy[name] == {"kind": "ufunc", "nin": UFUNCS[name].nin, "refuses": ["where"]}


@needs_cupy
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_the_double_s_functions_take_no_argument_that_cupy_s_do_not_and_in_the_same_order(
    name: str, cupy: dict[str, Any]
) -> None:
    theirs, ours = signature_of(cupy[name]).parameters, FUNCTIONS[name].parameters
    if any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in theirs.values()):
        named = [key for key, parameter in ours.items() if parameter.kind is Parameter.KEYWORD_ONLY]
        assert set(named) <= set(theirs)
        return
    assert list(ours) == list(theirs)[: len(ours)]
    for key, parameter in ours.items():
        assert (parameter.default is Parameter.empty) == (theirs[key].default is Parameter.empty)


@needs_cupy
@pytest.mark.parametrize("name", sorted(DTYPES))
def test_the_double_s_dtypes_are_cupy_s(name: str, cupy: dict[str, Any]) -> None:
    assert cupy[name] == {"kind": "other"}
