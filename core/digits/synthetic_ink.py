"""Digits that nobody wrote: the forms of core.digits.stroke_forms, bent at random as hands bend them.

MNIST's writers were Americans of 1990; other people put an upstroke and a foot to the 1, bar the 7, curl the tail of
the 9. A network that has never seen such forms cannot read them, however well it reads MNIST, so training mixes these
in. They take the same road to a picture as ink from the canvas: core.digits.rasterizer.

All digits of one form are bent together: every array of points is (count, p, 2), x right and y down, 1.0 being the
height of a digit.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.device import HostArray
from core.digits.ink import Ink, LabelledInk, Stroke
from core.digits.rasterizer import PICTURE_SIZE, rasterize
from core.digits.stroke_forms import FORMS, Form
from core.digits.stroke_path import StrokePath, path_of

END_REACH = 0.22
"""How far from a stroke's end what happens to the end is felt."""

PEN_WIDTHS_PX = (1.7, 2.4, 3.7)
"""The finest, the most common and the widest pen of the pictures: those of MNIST's own strokes."""


@dataclass(frozen=True)
class Bending:
    """How strongly digits are bent: standard deviations, in heights of a digit where not said otherwise."""

    jitter: float = 0.030
    displacement: float = 0.035
    """Of whole strokes against each other."""
    overshoot: float = 0.050
    hook: float = 0.030
    tremor: float = 0.0025
    warp: float = 0.035
    aspect: float = 0.18
    """Of the logarithm of width to height."""
    slant: float = 0.20
    """Sideways a height."""
    rotation: float = 0.08
    """In radians."""
    hurry: float = 1.0
    """How much of its corners the hastiest hand rounds, 0 to 1."""


USUAL = Bending()
UNBENT = Bending(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


class _Hands:
    """Those who write `count` digits, one each: how wild and how hurried they are, (count, 1, 1)."""

    def __init__(self, count: int, bending: Bending, rng: np.random.Generator) -> None:
        self.count, self.bending, self.rng = count, bending, rng
        # One hand is steady and another is not, in everything.
        self.wildness = rng.uniform(0.2, 1.5, (count, 1, 1))
        self.hurry = bending.hurry * rng.uniform(0, 1, (count, 1, 1)) ** 2

    def sway(self, axes: int, points: int = 1) -> HostArray:
        """(count, points, axes): normal numbers times each hand's wildness, none beyond two deviations."""
        return np.clip(self.rng.standard_normal((self.count, points, axes)), -2, 2) * self.wildness


def write_digits(labels: HostArray, rng: np.random.Generator) -> list[LabelledInk]:
    """One digit for each of `labels` uint8 (N,), 0 to 9, each in a form drawn by weight, bent anew."""
    chosen = np.array([_choose_form(int(label), rng) for label in labels], np.intp).reshape(-1)
    written: dict[int, LabelledInk] = {}
    for label, form in sorted(set(zip(labels.tolist(), chosen.tolist(), strict=True))):
        rows = np.flatnonzero((labels == label) & (chosen == form))
        for row, ink in zip(rows.tolist(), write_form(FORMS[label][form], len(rows), rng), strict=True):
            written[row] = LabelledInk(label, ink)
    return [written[row] for row in range(len(labels))]


def synthetic_pictures(labels: HostArray, rng: np.random.Generator) -> HostArray:
    """A picture for each of `labels` uint8 (N,), 0 to 9: uint8 (N, 28, 28), ink bright, by pens of any usual width."""
    return pictures_of([digit.ink for digit in write_digits(labels, rng)], rng)


def pictures_of(inks: Sequence[Ink], rng: np.random.Generator) -> HostArray:
    """`inks` by pens of any usual width: uint8 (N, 28, 28), ink bright."""
    pens = rng.triangular(*PEN_WIDTHS_PX, len(inks))
    pictures = np.empty((len(inks), PICTURE_SIZE, PICTURE_SIZE), np.uint8)
    for picture, ink, pen in zip(pictures, inks, pens, strict=True):
        picture[...] = rasterize(ink, pen)
    return pictures


def _choose_form(label: int, rng: np.random.Generator) -> int:
    return int(np.searchsorted(_cumulative_weights(label), rng.random(), side="right"))


@functools.cache
def _cumulative_weights(label: int) -> HostArray:
    weights = np.cumsum([form.weight for form in FORMS[label]])
    return weights / weights[-1]


def write_form(form: Form, count: int, rng: np.random.Generator, bending: Bending = USUAL) -> Iterator[Ink]:
    """`count` digits of one form, each bent anew."""
    hands = _Hands(count, bending, rng)
    strokes = [_bent_stroke(path_of(skeleton), hands) for skeleton in form.strokes]
    if len(strokes) > 1:
        strokes = [points + bending.displacement * hands.sway(2) for points in strokes]
    ends = np.cumsum([points.shape[1] for points in strokes])[:-1]
    points = _bent_plane(np.concatenate(strokes, axis=1), hands)
    # The faster a hand, the fewer points its device reports of it.
    every = 1 + (2.5 * hands.hurry.ravel()).astype(np.intp)
    for digit, skip in zip(points, every, strict=True):
        yield Ink(tuple(Stroke(_thinned(stroke, skip)) for stroke in np.split(digit, ends)))


def _thinned(stroke: HostArray, skip: int) -> HostArray:
    """Every `skip`-th point and the last."""
    return np.concatenate([stroke[:-1:skip], stroke[-1:]])


def _bent_stroke(path: StrokePath, hands: _Hands) -> HostArray:
    """One stroke of every digit, (count, p, 2): what the hand does to it, before the plane is bent."""
    bending = hands.bending
    points = path.curve @ (path.skeleton.points + bending.jitter * hands.sway(2, len(path.skeleton.points)))
    points += hands.hurry * (path.rounding @ points - points)
    for way in (path.along, path.along[-1] - path.along):
        points += _end_moved(points, way, hands)
    return points + bending.tremor * _tremor(path.along, hands)


def _end_moved(points: HostArray, way: HostArray, hands: _Hands) -> HostArray:
    """The moves of `points` by which one end, where `way` is 0, comes too late or too early and is hooked."""
    reach = min(END_REACH, way.max() / 2)
    pull = np.clip(1 - way / reach, 0, 1)[:, None]
    end, inner = int(way.argmin()), int(np.abs(way - reach / 2).argmin())
    out = points[:, end] - points[:, inner]
    out /= np.hypot(*out.T)[:, None] + 1e-9
    across = out[:, ::-1] * (-1, 1)
    longer = hands.bending.overshoot * hands.sway(1)
    hooked = hands.bending.hook * hands.sway(1)
    return longer * pull * out[:, None] + hooked * pull**2 * across[:, None]


def _tremor(along: HostArray, hands: _Hands) -> HostArray:
    """Three waves along the way, (count, p, 2), of about unit strength."""
    rng, shape = hands.rng, (hands.count, 1, 2)
    waves = [np.sin(rng.uniform(8, 40, shape) * along[:, None] + rng.uniform(0, 2 * np.pi, shape)) for _ in range(3)]
    return hands.sway(1) * np.sum(waves, axis=0)


def _bent_plane(points: HostArray, hands: _Hands) -> HostArray:
    """All points of every digit, (count, p, 2): the plane bent, then stretched, slanted and turned."""
    bending, rng, count = hands.bending, hands.rng, hands.count
    points = points - 0.5
    for _ in range(3):
        direction = rng.uniform(-5, 5, (count, 2, 1))
        wave = np.sin(points @ direction + rng.uniform(0, 2 * np.pi, (count, 1, 1)))
        points = points + bending.warp * hands.sway(2) * wave
    wider, slanted, turned = np.clip(rng.standard_normal((3, count)), -2, 2)
    stretch, turn = np.exp(bending.aspect * wider), bending.rotation * turned
    # Hands lean to the right more often than to the left.
    slant = bending.slant * (0.4 + slanted)
    # Points are rows: x' = stretch x - slant y moves what is above to the right.
    lean = np.array([[stretch, np.zeros(count)], [-slant, np.ones(count)]])
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return points @ lean.transpose(2, 0, 1) @ rotation.transpose(2, 0, 1)
