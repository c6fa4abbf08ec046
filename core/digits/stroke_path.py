"""From the few points of a skeleton to the many of a stroke.

A curve through k control points is a matrix (p, k) times them, made once for a skeleton: the control points of a
thousand digits can be shaken, and curves be drawn through all of them, in one product.
"""

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from core.device import HostArray
from core.digits.stroke_forms import Skeleton

SPACING = 0.04
"""Between neighbouring points of a path, 1.0 being the height of a digit: some 0.7 pixels of the finished picture."""

ROUNDING = 0.06
"""How far around a point the most hurried hand takes its mean: a standard deviation, in heights of a digit."""


@dataclass(frozen=True, eq=False)
class StrokePath:
    """A skeleton made ready to be bent.

    `curve` (p, k) times its control points gives p points along the stroke; `rounding` (p, p) times those gives the
    same points as the most hurried hand takes them; `along` (p,) is the way to each point, 0.0 at the start. All
    float64, in heights of a digit.
    """

    skeleton: Skeleton
    curve: HostArray
    rounding: HostArray
    along: HostArray


@functools.cache
def path_of(skeleton: Skeleton) -> StrokePath:
    """The path of `skeleton`, made once."""
    curve = _curve(skeleton)
    steps = np.diff(curve @ skeleton.points, axis=0)
    along = np.concatenate([[0.0], np.hypot(*steps.T).cumsum()])
    nearness = np.exp(-0.5 * ((along[:, None] - along) / ROUNDING) ** 2)
    # The ends stay where they are: the window shrinks towards them.
    room = np.minimum(along, along[-1] - along)[:, None]
    nearness *= np.abs(along[:, None] - along) <= room + 1e-9
    return StrokePath(skeleton, curve, nearness / nearness.sum(axis=1, keepdims=True), along)


def _curve(skeleton: Skeleton) -> HostArray:
    """The matrix (p, k) from control points to a path: a smooth curve from corner to corner."""
    count = len(skeleton.points)
    turns = [0, *np.flatnonzero(skeleton.corners[1:-1]) + 1, count - 1]
    rows = []
    for first, last in itertools.pairwise(turns):
        points = skeleton.points[first : last + 1]
        part = np.zeros((max(2, round(_length(points) / SPACING)), count))
        part[:, first : last + 1] = _spline(points, len(part), endpoint=last == turns[-1])
        rows.append(part)
    return np.concatenate(rows)


def _length(points: HostArray) -> float:
    return float(np.hypot(*np.diff(points, axis=0).T).sum())


def _spline(points: HostArray, samples: int, endpoint: bool) -> HostArray:
    """The matrix (samples, k) of the Catmull-Rom curve through `points` (k, 2), with centripetal knots.

    The knots are those of the given points, so that the curve through shaken points is the same matrix times those.
    """
    chords = np.hypot(*np.diff(points, axis=0).T)
    ways, knots = (np.concatenate([[0.0], steps.cumsum()]) for steps in (chords, np.sqrt(chords)))
    values = np.eye(len(points))
    # np.gradient gives the slope of the parabola through three neighbours, as Catmull-Rom wants it.
    slopes = np.gradient(values, knots, axis=0, edge_order=1 if len(points) == 2 else 2)
    at = np.interp(np.linspace(0, ways[-1], samples, endpoint=endpoint), ways, knots)
    left = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
    width = np.diff(knots)[left, None]
    t = (at[:, None] - knots[left, None]) / width
    return (
        (1 + 2 * t) * (1 - t) ** 2 * values[left]
        + t * (1 - t) ** 2 * width * slopes[left]
        + t**2 * (3 - 2 * t) * values[left + 1]
        + t**2 * (t - 1) * width * slopes[left + 1]
    )
