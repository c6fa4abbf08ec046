"""A network as a program: one Python file, its weights in it, that needs nothing but NumPy.

It is for where neither Inkling nor a runtime for ONNX can be installed, and for whoever wants to see all there is to
such a network on two screens of code. What is written is pieces of core.exchange.script_parts, only those this network
needs, and one line of code for each of its layers.
"""

import base64
import io

import numpy as np

from core.exchange.model_layers import TINY, model_layers
from core.exchange.script_parts import END, FUNCTIONS, HEAD, TAIL
from core.nn.layers.activations import GELU, LeakyReLU, ReLU, StraightThroughReLU
from core.nn.layers.batch_norm import BatchNorm
from core.nn.layers.conv2d import Conv2d
from core.nn.layers.dropout import Dropout
from core.nn.layers.layer import Layer
from core.nn.layers.linear import Linear
from core.nn.layers.max_pool2d import MaxPool2d
from core.nn.losses import SoftmaxCrossEntropy
from core.training.calibration import Calibration
from core.training.events import Weights
from core.training.model_file import Model
from core.training.presets import find_preset

_NUMBERS = {"epsilon": BatchNorm.EPSILON, "slope": LeakyReLU.SLOPE, "c": GELU.C, "a": GELU.A, "tiny": TINY}
_LINE = 116


def numpy_script(model: Model, name: str = "digits.py") -> str:
    """The text of a program called `name` (digits.py, if that is no name to import) that reads digits with `model`."""
    module = name.removesuffix(".py") if name.removesuffix(".py").isidentifier() else "digits"
    calls = [call for prefix, layer in model_layers(model) for call in _calls(prefix, layer, model.weights)]
    calls.append(_probabilities(model))
    accuracy = model.test_accuracy
    needed = {call.partition("(")[0] for call in calls}
    steps = "\n".join([*(f"    x = {call}" for call in calls[:-1]), f"    return {calls[-1]}"])
    head = HEAD.format(
        name=f"{module}.py",
        module=module,
        network="\n".join(f"    {item.strip()}" for item in model.hyperparameters.network.split(",")),
        accuracy="" if accuracy is None else f"\nOn the test set it read {accuracy:.2%} of the digits right.\n",
        steps=steps,
    )
    functions = [text.format(**_NUMBERS) for function, text in FUNCTIONS.items() if function in needed]
    return "\n\n".join([head, *functions, TAIL, END.format(weights=_as_text(model.weights))])


def _calls(prefix: str, layer: Layer, weights: Weights) -> list[str]:
    """The line of code that does what `layer` does; none for what changes no answer."""
    own = [name for name in ("weight", "bias", "running_mean", "running_variance") if f"{prefix}.{name}" in weights]
    arguments = ", ".join(["x", *(f'W["{prefix}.{name}"]' for name in own)])
    match layer:
        case Dropout():
            return []
        case Linear():
            return [f"dense({arguments})"]
        case Conv2d(size=size, same=same):
            border = f", border={(size - 1) // 2}" if same and size > 1 else ""
            return [f"convolve({arguments}{border})"]
        case MaxPool2d(size=size):
            return [f"pool(x, {size})"]
        case BatchNorm():
            return [f"normalize({arguments})"]
        case ReLU() | StraightThroughReLU():
            return ["relu(x)"]
        case _:
            return [f"{layer.name.replace('-', '_')}(x)"]


def _probabilities(model: Model) -> str:
    """What makes probabilities of scores: as they were calibrated, or as the preset's loss does it."""
    calibration = Calibration.from_facts(model.facts)
    if calibration is not None:
        return f"softmax(x / {calibration.temperature!r})"
    return "softmax(x)" if find_preset(model.preset).loss is SoftmaxCrossEntropy else "shares(x)"


def _as_text(weights: Weights) -> str:
    """The weights as an npz file in base64, in lines; as float16 where that loses nothing, half as long then."""
    with np.errstate(over="ignore"):
        halves = {name: w.astype(np.float16) for name, w in weights.items()}
    lossless = all(np.array_equal(halves[name], w) for name, w in weights.items())
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **(halves if lossless else dict(weights)))
    text = base64.b64encode(content.getvalue()).decode()
    return "\n".join(text[start : start + _LINE] for start in range(0, max(len(text), 1), _LINE))
