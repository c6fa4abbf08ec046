"""The pieces of code of which core.exchange.numpy_script makes a program: plain NumPy, to be read by people.

They stand alone: whoever gets the program has neither Inkling nor this room. Pictures in them are (N, C, H, W), as most
people know it, and kernels (k, k, out, in).
"""

from collections.abc import Mapping

HEAD = '''\
"""Reads handwritten digits with a network that was trained with Inkling. One file; all it needs is NumPy.

    python {name} picture.png         (needs Pillow as well: pip install pillow)

or in a program of your own:

    from {module} import predict
    predict(pictures)                 (N, 28, 28), 0 paper to 255 ink: probabilities (N, 10)

The network, layer by layer:

{network}
{accuracy}"""

import base64
import io
import sys

import numpy as np


def predict(pictures):
    """Probabilities of the ten digits, float32 (N, 10), for pictures (N, 28, 28), 0 paper to 255 ink.

    Give it a few hundred at once: a thousand digits may take a gigabyte.
    """
    x = np.asarray(pictures, np.float32).reshape(-1, 1, 28, 28) / 255
{steps}
'''

FUNCTIONS: Mapping[str, str] = {
    "convolve": '''\
def convolve(x, kernels, bias=None, border=0):
    """Convolution of pictures x (N, C, H, W) with kernels (k, k, out, in), after a border of zeros was put around x."""
    x = np.pad(x, ((0, 0), (0, 0), (border, border), (border, border)))
    size, channels = kernels.shape[0], kernels.shape[2]
    rows, columns = x.shape[2] - size + 1, x.shape[3] - size + 1
    y = np.zeros((len(x), channels, rows * columns), np.float32)
    for i, j in np.ndindex(size, size):
        y += kernels[i, j] @ x[:, :, i : i + rows, j : j + columns].reshape(*x.shape[:2], rows * columns)
    y = y.reshape(len(x), channels, rows, columns)
    return y if bias is None else y + bias[:, None, None]
''',
    "pool": '''\
def pool(x, size):
    """The largest number of each square of x (N, C, H, W); what fills no square is left out."""
    n, channels, rows, columns = x.shape
    x = x[:, :, : rows // size * size, : columns // size * size]
    return x.reshape(n, channels, rows // size, size, columns // size, size).max(axis=(3, 5))
''',
    "dense": '''\
def dense(x, weight, bias=None):
    """A fully connected layer: x (N, in), weight (out, in), bias (out,)."""
    y = x @ weight.T
    return y if bias is None else y + bias
''',
    "normalize": '''\
def normalize(x, weight, bias, mean, variance):
    """Batch normalization with the mean and variance that were found in training, for each channel or feature."""
    scale = weight / np.sqrt(variance + np.float32({epsilon}))
    wide = (-1,) + (1,) * (x.ndim - 2)
    return (x - mean.reshape(wide)) * scale.reshape(wide) + bias.reshape(wide)
''',
    "relu": """\
def relu(x):
    return np.maximum(x, 0)
""",
    "leaky_relu": """\
def leaky_relu(x):
    return np.maximum(x, np.float32({slope}) * x)
""",
    "sigmoid": """\
def sigmoid(x):
    return 0.5 + 0.5 * np.tanh(0.5 * x)
""",
    "tanh": """\
def tanh(x):
    return np.tanh(x)
""",
    "gelu": '''\
def gelu(x):
    """Its usual approximation by tanh."""
    return 0.5 * x * (1 + np.tanh(np.float32({c}) * (x + np.float32({a}) * x * x * x)))
''',
    "flatten": '''\
def flatten(x):
    """A row of numbers for each sample."""
    return x.reshape(len(x), -1)
''',
    "softmax": '''\
def softmax(scores):
    """Scores (N, 10) as probabilities."""
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
''',
    "shares": '''\
def shares(scores):
    """Each score (N, 10) as its share of their sum; all equal where no score is above 0."""
    positive = np.maximum(scores, 0) + np.float32({tiny})
    return positive / positive.sum(axis=1, keepdims=True)
''',
}
"""By name the functions a program may need; a number in braces is filled in."""

TAIL = '''\
def read_picture(path):
    """A picture file of one digit as MNIST has it: 28x28, ink light on 0, 20 pixels large, its mass in the middle."""
    from PIL import Image

    try:
        grey = np.asarray(Image.open(path).convert("L"), np.float32)
    except OSError as error:
        raise SystemExit(f"{path} cannot be read as a picture: {error}") from None
    edge = np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])
    if grey.shape == (28, 28) and np.median(edge) < 64:
        return grey
    ink = np.abs(grey - np.median(edge))
    ink = np.clip((ink / max(ink.max(), 1) - 0.2) / 0.6, 0, 1)
    rows, columns = np.flatnonzero(ink.max(axis=1) > 0.5), np.flatnonzero(ink.max(axis=0) > 0.5)
    if not len(rows):
        raise SystemExit(f"{path} shows no ink")
    box = Image.fromarray((255 * ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]).astype(np.uint8))
    scale = 20 / max(box.size)
    size = [max(1, round(side * scale)) for side in box.size]
    small = np.asarray(box.resize(size, Image.Resampling.BOX), np.float32)
    y, x = (np.average(places, weights=small) for places in np.indices(small.shape))
    top, left = (int(np.clip(round(14 - c), 0, 28 - side)) for c, side in zip((y, x), small.shape))
    picture = np.zeros((28, 28), np.float32)
    picture[top : top + small.shape[0], left : left + small.shape[1]] = small
    return picture


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    for path in sys.argv[1:]:
        probabilities = predict(read_picture(path))[0]
        digit = probabilities.argmax()
        print(f"{path}: {digit} ({probabilities[digit]:.1%})")


def load_weights(text):
    """The arrays by name: an npz file, written out in letters."""
    with np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False) as arrays:
        return {name: arrays[name].astype(np.float32) for name in arrays.files}
'''

END = '''\
W = load_weights(
    """
{weights}
"""
)

if __name__ == "__main__":
    main()
'''
