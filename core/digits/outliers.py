"""Drawings that are no digit, for a network to learn that there are such: letters, signs, little pictures, scribbles.

A network that has met nothing but digits is sure of a digit whatever it sees. One that is also shown other drawings,
and told to find all ten digits equally likely there, grows unsure of drawings it has never met, too (Hendrycks et al.,
2019, Deep Anomaly Detection with Outlier Exposure). The forms are of our own drawing, in the words of
core.digits.stroke_forms, and are bent and drawn as synthetic digits are. Letters that are a digit to somebody (O, I, Z,
S, B, G, Y, b, g, l, o, q, s, y, z) are left out, and so are those that a hasty hand makes of one (C, D, J, U, a, f, t).
"""

from collections.abc import Iterator

import numpy as np

from core.device import HostArray
from core.digits.dataset import OUTLIER
from core.digits.ink import Ink, Stroke
from core.digits.stroke_forms import form
from core.digits.synthetic_ink import pictures_of, write_form

_LETTERS = [
    ("A", 1, "10 100, 50 0^, 90 100 / 26 62, 76 62"),
    ("E", 1, "84 2, 18 2^, 18 100^, 86 100 / 18 50, 72 50"),
    ("F", 1, "18 100, 18 2^, 86 2 / 18 48, 70 48"),
    ("H", 1, "16 0, 16 100 / 84 0, 84 100 / 16 52, 84 50"),
    ("K", 1, "20 0, 20 100 / 82 0, 22 54^, 86 100"),
    ("M", 1, "8 100, 16 0^, 50 64^, 84 0^, 92 100"),
    ("N", 1, "16 100, 18 0^, 82 100^, 84 0"),
    ("P", 1, "22 100, 22 0 / 20 4, 62 0, 84 24, 62 50, 22 52"),
    ("R", 1, "20 100, 20 0 / 18 4, 62 0, 80 24, 58 48, 22 50^, 86 100"),
    ("T", 1, "6 2, 94 2 / 50 2, 50 100"),
    ("V", 1, "10 0, 50 100^, 90 0"),
    ("W", 1, "2 0, 24 100^, 50 34^, 76 100^, 98 0"),
    ("X", 1, "12 0, 88 100 / 88 0, 12 100"),
    ("e", 1, "14 56, 84 50, 76 22, 46 10, 14 48, 24 86, 58 98, 88 82"),
    ("h", 1, "20 0, 20 100 / 20 62, 46 42, 74 52, 76 100"),
    ("k", 1, "22 0, 22 100 / 74 38, 24 68^, 80 100"),
    ("m", 1, "6 30, 8 98 / 8 52, 30 30, 46 44, 48 98 / 48 52, 72 30, 90 44, 92 98"),
    ("n", 1, "16 22, 18 98 / 18 50, 48 22, 78 40, 82 98"),
    ("r", 1, "30 20, 32 98 / 32 52, 50 26, 82 24"),
    ("w", 1, "4 18, 20 88, 38 88, 50 40^, 62 88, 80 88, 96 18"),
    ("x", 1, "14 16, 86 98 / 86 16, 12 100"),
]

_SIGNS = [
    ("a plus", 1, "50 4, 50 96 / 4 50, 96 50"),
    ("equals", 1, "6 34, 94 32 / 6 68, 94 66"),
    ("a hash", 1, "36 0, 28 100 / 72 0, 64 100 / 4 34, 98 32 / 2 68, 96 66"),
    ("an asterisk", 1, "50 2, 50 98 / 8 26, 92 74 / 92 26, 8 74"),
    ("at", 1, "66 40, 46 34, 34 54, 48 68, 64 56, 68 36^, 70 66, 90 58, 86 18, 50 2, 10 24, 6 70, 40 98, 84 90"),
    ("per cent", 1, "90 0, 10 100 / 24 6, 10 18, 24 30, 36 18, 24 6 / 76 70, 62 84, 76 96, 90 84, 76 70"),
    ("an arrow to the right", 1, "2 50, 98 50 / 70 24, 98 50^, 70 76"),
    ("an arrow to the left", 1, "98 50, 2 50 / 30 24, 2 50^, 30 76"),
    ("an arrow up", 0.3, "50 100, 50 2 / 20 34, 50 0^, 80 34"),
    ("an arrow down", 0.3, "50 0, 50 98 / 20 66, 50 100^, 80 66"),
    ("a tick", 1, "4 56, 34 98^, 98 6"),
    ("a tilde", 1, "2 62, 24 36, 50 52, 74 66, 98 38"),
    ("a dash", 1, "2 52, 98 50"),
    ("two dots", 1, "48 8, 54 14 / 48 88, 54 94"),
    ("three dots", 1, "4 50, 8 54 / 48 50, 52 54 / 92 50, 96 54"),
    ("brackets", 1, "30 0, 12 24, 10 74, 30 100 / 70 0, 88 24, 90 74, 70 100"),
    (
        "braces",
        0.7,
        "36 0, 22 12, 24 42, 10 50^, 24 58, 22 88, 36 100 / 64 0, 78 12, 76 42, 90 50^, 76 58, 78 88, 64 100",
    ),
    ("a root", 1, "2 60, 14 52, 30 98^, 44 4^, 98 4"),
    ("pi", 1, "4 12, 22 4, 96 6 / 34 8, 26 96 / 66 8, 66 84, 82 94"),
    ("omega", 0.7, "6 98, 32 96, 12 52, 50 2, 88 52, 68 96, 94 98"),
    ("not equal", 1, "6 36, 94 34 / 6 66, 94 64 / 76 6, 26 96"),
    ("greater", 1, "12 6, 90 50^, 12 94"),
    ("less", 1, "88 6, 10 50^, 88 94"),
]

_PICTURES = [
    ("a square", 1, "8 8, 92 8^, 92 92^, 8 92^, 8 8"),
    ("a crossed box", 1, "8 8, 92 8^, 92 92^, 8 92^, 8 8 / 10 10, 90 90 / 90 10, 10 90"),
    ("a triangle", 1, "50 4, 96 94^, 4 94^, 50 4"),
    ("a heart", 1, "50 96, 6 42, 14 10, 36 6, 50 28^, 64 6, 88 12, 94 42, 50 96"),
    ("a star", 1, "20 98, 50 2^, 80 98^, 4 38^, 96 38^, 20 98"),
    ("a house", 1, "10 100, 10 46^, 50 4^, 90 46^, 90 100^, 10 100 / 40 100, 40 68^, 60 68^, 60 100"),
    ("a face", 1, "50 2, 8 26, 6 70, 50 98, 94 70, 92 26, 50 2 / 34 36, 36 42 / 66 36, 64 42 / 28 64, 50 80, 72 64"),
    ("a man", 1, "50 0, 36 12, 50 26, 64 12, 50 0 / 50 26, 50 66 / 16 42, 84 40 / 22 100, 50 66^, 78 100"),
    ("a sun", 1, "50 28, 28 50, 50 72, 72 50, 50 28 / 50 0, 50 18 / 50 82, 50 100 / 0 50, 18 50 / 82 50, 100 50"),
    (
        "a flower",
        1,
        "50 30, 36 8, 62 6, 52 30^, 76 20, 82 42, 54 36^, 24 20, 18 42, 50 36 / 50 38, 52 100 / 52 78, 78 62",
    ),
    ("a fir", 1, "50 0, 80 36^, 62 36^, 90 72^, 10 72^, 38 36^, 20 36^, 50 0 / 50 72, 50 100"),
    ("a fish", 1, "98 30, 40 78, 4 50, 40 22, 98 74^, 90 52, 98 30 / 22 44, 24 48"),
    ("a cup", 1, "10 14, 16 92^, 66 92^, 72 14^, 10 14 / 70 32, 94 36, 92 66, 68 68"),
    ("a flag", 1, "16 100, 16 2^, 90 12, 80 34^, 92 54, 16 46"),
    ("a boat", 1, "4 66, 22 96^, 78 96^, 96 66^, 4 66 / 48 64, 48 4^, 84 52^, 48 54"),
    (
        "a car",
        1,
        "2 74, 4 50^, 28 46, 38 22^, 68 22, 80 46^, 98 52, 98 74^, 2 74 / 22 74, 30 88, 38 74 / 64 74, 72 88, 80 74",
    ),
    (
        "a cat",
        1,
        "16 60, 14 8^, 36 28^, 64 28^, 86 8^, 84 60, 50 96, 16 60 / 36 52, 38 56 / 62 52, 64 56 / 44 72, 56 72",
    ),
    ("a grid", 1, "34 0, 34 100 / 66 0, 66 100 / 0 34, 100 34 / 0 66, 100 66"),
    ("stairs", 1, "2 98, 2 70^, 34 70^, 34 40^, 66 40^, 66 10^, 98 10"),
    ("waves", 1, "0 40, 16 20, 34 40, 50 20, 68 40, 84 20, 100 40 / 0 80, 16 60, 34 80, 50 60, 68 80, 84 60, 100 80"),
    ("a zigzag", 1, "0 90, 16 10^, 34 90^, 50 10^, 66 90^, 84 10^, 100 90"),
    ("a wide spiral", 1, "50 50, 58 44, 62 56, 44 64, 34 44, 58 28, 80 50, 64 82, 26 80, 12 42, 40 6, 88 14, 100 60"),
    ("hatching", 1, "4 30, 30 4 / 2 66, 66 2 / 6 96, 96 6 / 34 98, 98 34 / 70 98, 98 70"),
]

FORMS = tuple(form(OUTLIER, *row) for row in (*_LETTERS, *_SIGNS, *_PICTURES))
"""What is drawn with intent; the weights say how often beside each other."""

SCRIBBLED, COMPOSED = 0.25, 0.25
"""The shares of outliers that are mere scribbles, and that put rings, arcs and lines together by chance."""


def outlier_pictures(count: int, rng: np.random.Generator) -> HostArray:
    """`count` pictures of no digit, uint8 (count, 28, 28), ink bright, by the pens that draw synthetic digits."""
    scribbled, composed = round(count * SCRIBBLED), round(count * COMPOSED)
    drawings = [*_drawn(count - scribbled - composed, rng)]
    drawings += [_scribble(rng) for _ in range(scribbled)]
    drawings += [_composition(rng) for _ in range(composed)]
    return pictures_of(drawings, rng)


def _drawn(count: int, rng: np.random.Generator) -> Iterator[Ink]:
    weights = np.array([kind.weight for kind in FORMS])
    for kind, times in zip(FORMS, rng.multinomial(count, weights / weights.sum()), strict=True):
        yield from write_form(kind, int(times), rng)


def _scribble(rng: np.random.Generator) -> Ink:
    """One to four strokes that wander about, smoothly or with corners, of any extent, and never few and simple."""
    strokes = []
    count = int(rng.choice([1, 2, 3, 4], p=[0.4, 0.2, 0.2, 0.2]))
    for _ in range(count):
        turns = int(rng.integers(7 if count == 1 else 4, 16))
        reach = rng.uniform(0.2, 1.0, 2)
        corners = rng.uniform(0, 1, 2) + reach * rng.uniform(-0.5, 0.5, (turns, 2))
        strokes.append(Stroke(corners if rng.random() < 0.4 else _rounded(corners)))
    return Ink(tuple(strokes))


def _composition(rng: np.random.Generator) -> Ink:
    """Three to six parts: fewer might well be a digit."""
    strokes = []
    for _ in range(int(rng.integers(3, 7))):
        # An arc of an ellipse, from a nearly straight line to more than a whole round.
        turn = rng.uniform(0.3, 2.2 * np.pi) * np.linspace(-0.5, 0.5, 24) + rng.uniform(0, 2 * np.pi)
        width, height = rng.uniform(0.05, 0.5, 2)
        strokes.append(Stroke(rng.uniform(0, 1, 2) + np.column_stack([width * np.cos(turn), height * np.sin(turn)])))
    return Ink(tuple(strokes))


def _rounded(corners: HostArray) -> HostArray:
    """`corners` (k, 2) as a smooth way through the middles between them (Chaikin, 1974), three times over."""
    for _ in range(3):
        before, after = corners[:-1], corners[1:]
        cut = np.stack([0.75 * before + 0.25 * after, 0.25 * before + 0.75 * after], axis=1).reshape(-1, 2)
        corners = np.concatenate([corners[:1], cut, corners[-1:]])
    return corners
