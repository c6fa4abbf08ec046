"""A PyTorch state dict, saved as safetensors, as a network of Inkling.

Such a file has names and arrays and nothing else: neither activations nor pooling, nor the order of the layers, for its
names are sorted as text. So the network's text has to be given, and each of its layers looks for the one module whose
arrays have the shapes it wants. Where several have, their numbers decide ("fc2" before "fc10"); where they have none,
nobody can know, and the file is refused. PyTorch's kernels are (out, in, k, k), Inkling's (k, k, out, in); dense layers
and the order of flattening are the same.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from safetensors import SafetensorError, safe_open

from core.device import HostArray
from core.exchange.foreign_network import (
    USUAL_PRESET,
    ForeignFileError,
    as_weights,
    check_size,
    check_text,
    foreign_model,
)
from core.nn.layers.layer import Shape
from core.nn.network import weight_shapes
from core.training.hyperparameters import INPUT_SHAPE
from core.training.model_file import FORMAT, Model
from core.training.presets import find_preset

Module = Mapping[str, HostArray]
"""What PyTorch keeps of one module, in its own layout, by the names that Inkling has for it ("weight")."""

_OWN_NAMES = {"running_var": "running_variance"}
_UNUSED = "num_batches_tracked"
_MAX_TENSORS = 1000


def read_state_dict(path: Path, text: str | None) -> Model:
    """The network of `text` with the weights of the state dict at `path`; raises ForeignFileError."""
    check_size(path)
    modules = _modules(path, _tensors(path))
    if text is None:
        raise ForeignFileError(
            f"{path} holds weights alone, not which layers they belong to; "
            'say so with --network, such as "conv 16x3 relu, pool 2, linear 10"'
        )
    check_text(path, text)
    wanted: dict[str, dict[str, Shape]] = {}
    for name, shape in weight_shapes(find_preset(USUAL_PRESET).build_layers(text), INPUT_SHAPE).items():
        layer, _, part = name.rpartition(".")
        wanted.setdefault(layer, {})[part] = _as_pytorch_has_it(shape)
    chosen = _match(path, wanted, modules)
    weights = {
        f"{layer}.{part}": _as_inkling_has_it(modules[chosen[layer]][part])
        for layer, parts in wanted.items()
        for part in parts
    }
    return foreign_model(path, USUAL_PRESET, text, weights)


def _tensors(path: Path) -> dict[str, HostArray]:
    """All arrays in the file by name."""
    try:
        with safe_open(path, framework="numpy") as file:
            if (file.metadata() or {}).get("format") == FORMAT:
                raise ForeignFileError(f"{path} is a network of Inkling already; open it as it is")
            names = list(file.keys())
            if len(names) > _MAX_TENSORS:
                raise ForeignFileError(f"{path} holds {len(names):,} arrays; Inkling reads at most {_MAX_TENSORS:,}")
            return {name: file.get_tensor(name) for name in names}
    except (SafetensorError, OSError, KeyError, TypeError, AttributeError, MemoryError) as error:
        raise ForeignFileError(
            f"{path} is no safetensors file that Inkling can read, or is damaged ({str(error)[:100]}); choose another"
        ) from None


def _modules(path: Path, tensors: Mapping[str, HostArray]) -> Mapping[str, Module]:
    """The modules in the file, each with its arrays by Inkling's names."""
    modules: dict[str, dict[str, HostArray]] = {}
    for name, tensor in tensors.items():
        module, _, part = name.rpartition(".")
        if part != _UNUSED:
            values = as_weights(path, f"{name[:60]!r}", tensor)
            modules.setdefault(module, {})[_OWN_NAMES.get(part, part)] = values
    return modules


def _as_pytorch_has_it(shape: Shape) -> Shape:
    return (*shape[2:], *shape[:2]) if len(shape) == 4 else shape


def _as_inkling_has_it(values: HostArray) -> HostArray:
    return values.transpose(2, 3, 0, 1) if values.ndim == 4 else values


def _match(path: Path, wanted: Mapping[str, Mapping[str, Shape]], modules: Mapping[str, Module]) -> dict[str, str]:
    """For each layer of `wanted` the name of the module that is it."""
    shapes = {name: {part: values.shape for part, values in module.items()} for name, module in modules.items()}
    chosen: dict[str, str] = {}
    for layer, parts in wanted.items():
        alike = [other for other in wanted if wanted[other] == parts]
        fitting = [name for name in modules if shapes[name] == parts]
        if len(fitting) != len(alike):
            raise ForeignFileError(f"{path} {_misfit(layer, parts, fitting, alike, shapes)}")
        chosen[layer] = _in_order(path, fitting, alike)[alike.index(layer)]
    left = sorted(set(modules) - set(chosen.values()))
    if left:
        raise ForeignFileError(
            f"{path} also holds {_listed(left[0], shapes[left[0]])}, for which the given network has no layer"
        )
    return chosen


def _misfit(
    layer: str,
    parts: Mapping[str, Shape],
    fitting: Sequence[str],
    alike: Sequence[str],
    shapes: Mapping[str, Mapping[str, Shape]],
) -> str:
    """What is there and what is wanted, for the end of a sentence."""
    wants = _listed(layer, parts)
    if fitting:
        return f"has {len(fitting)} modules ({_names(fitting)}) for {len(alike)} layers of one form: {wants}"
    same = [name for name in shapes if shapes[name].get("weight") == parts.get("weight")]
    if same:
        return (
            f"has {_listed(same[0], shapes[same[0]])}, where {wants} is wanted; "
            'in the network\'s text "linear 8, bn" has a bias before bn, and "linear 8 bn" and "nobias" have none'
        )
    there = "; ".join(_listed(name, shapes[name]) for name in list(shapes)[:8])
    return f"holds nothing that fits {wants}; it holds {there}"


def _in_order(path: Path, fitting: Sequence[str], alike: Sequence[str]) -> list[str]:
    """Modules of the same shapes in the order of their numbers, if it is their numbers by which they differ."""
    if len({re.sub(r"\d+", "#", name) for name in fitting}) > 1:
        raise ForeignFileError(
            f"{path} has {_names(fitting)} of the same shapes, and which of them is {' and which '.join(alike[:4])} "
            "cannot be told; name them by numbers in their order"
        )
    return sorted(fitting, key=lambda name: [int(number) for number in re.findall(r"\d{1,18}", name)])


def _listed(name: str, shapes: Mapping[str, Shape]) -> str:
    return f"{name[:60]!r} with " + " and ".join(f"{part[:40]} {shape}" for part, shape in list(shapes.items())[:5])


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"{name[:40]!r}" for name in names[:5])
