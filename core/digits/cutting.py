"""Touching digits in a picture, cut apart where a path from top to bottom crosses little ink.

Every path between the digits is tried together with the others, and the best way to cut wins: pieces as wide as digits
are, that their reader is sure of, with little ink cut. Who reads is the caller's matter; without a reader the widths
and the ink decide alone.
"""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from PIL import Image

from core.device import HostArray
from core.digits.segmentation import Part

Sureness = Callable[[Sequence[Part]], HostArray]
"""How sure a reader is that each part is the digit it reads: float (n,), 0 to 1."""

_ROWS = 48  # so high is the picture in which paths are sought
_LEAST_WIDTH = 0.12  # of the height; no digit is narrower, but its neighbour's bar may hang over it
_LEAST_HEIGHT = 0.4  # of the whole's
_USUAL_WIDTH = 0.9  # of the height, at most: what is wider may still be one digit, but is less likely to be
_WIDTH_SPREAD = 0.3
_TURN = 0.3  # what a step aside costs, in rows of ink
_PRICE = 0.1  # in nats for each row of ink cut
_MOST_CUTS = 7


def cut_touching(part: Part, sureness: Sureness) -> list[Part]:
    """The digits of `part` from left to right: itself where cutting makes nothing better."""
    height, width = part.ink.shape
    if width < 0.5 * height:
        return [part]
    paths, prices = _paths(part.ink)
    # The whole is read first, for most parts are one digit and need no more.
    if not paths or _worth([part], sureness)[0] >= -min(prices):
        return [part]
    edges = np.vstack([np.zeros(height), *paths, np.full(height, width)])
    pieces = {
        (i, j): piece
        for i, j in combinations(range(len(edges)), 2)
        if (piece := _between(part, edges[i], edges[j])) is not None
    }
    pieces[0, len(edges) - 1] = part
    worth = dict(zip(pieces, _worth(list(pieces.values()), sureness), strict=True))
    return [pieces[span] for span in _best_way(worth, [0.0, *prices, 0.0])]


def _worth(pieces: Sequence[Part], sureness: Sureness) -> list[float]:
    """How likely each piece is to be one digit, in nats, at most 0: by its width and by how surely it is read."""
    sure = np.log(np.maximum(sureness(pieces), 1e-6))
    aspects = np.array([piece.ink.shape[1] / piece.ink.shape[0] for piece in pieces])
    return list(sure - (np.maximum(0, aspects - _USUAL_WIDTH) / _WIDTH_SPREAD) ** 2 / 2)


def _best_way(worth: dict[tuple[int, int], float], prices: Sequence[float]) -> list[tuple[int, int]]:
    """The chain of spans from the first edge to the last that is worth most, each cut costing its price."""
    ways: list[tuple[float, list[tuple[int, int]]]] = [(0.0, [])]
    for end in range(1, len(prices)):
        reached = [
            (ways[start][0] + worth[start, end] - prices[end], [*ways[start][1], (start, end)])
            for start in range(end)
            if (start, end) in worth
        ]
        ways.append(max(reached, default=(-np.inf, [])))
    return ways[-1][1]


def _between(part: Part, left: HostArray, right: HostArray) -> Part | None:
    """What of `part` lies from `left` to `right`, the column of each row (height,); None if too low for a digit."""
    columns = np.arange(part.ink.shape[1])
    ink = np.where((columns >= left[:, np.newaxis]) & (columns < right[:, np.newaxis]), part.ink, 0)
    marked = ink > part.ink.max() // 4
    rows, columns = np.flatnonzero(marked.any(axis=1)), np.flatnonzero(marked.any(axis=0))
    if len(rows) == 0 or rows[-1] + 1 - rows[0] < _LEAST_HEIGHT * part.ink.shape[0]:
        return None
    window = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return Part(part.left + int(columns[0]), part.top + int(rows[0]), ink[window])


def _paths(ink: HostArray) -> tuple[list[HostArray], list[float]]:
    """Ways to cut `ink` from top to bottom, leftmost first: the column of each row, (height,), and what each costs."""
    height, width = ink.shape
    size = max(1, round(width * _ROWS / height)), _ROWS
    cost = np.asarray(Image.fromarray(ink).resize(size, Image.Resampling.BOX), dtype=np.float64) / 255
    middle = _ROWS // 2
    above, below = _swept(cost[: middle + 1]), _swept(cost[middle:][::-1])
    total = above[-1] + below[-1] - cost[middle]
    paths, prices = [], []
    for column in _valleys(total):
        way = [*_walk_back(above, column), *_walk_back(below, column)[-2::-1]]
        paths.append(
            np.interp((np.arange(height) + 0.5) * _ROWS / height - 0.5, np.arange(_ROWS), way) * width / size[0]
        )
        prices.append(_PRICE * float(cost[np.arange(_ROWS), way].sum()))
    return list(np.maximum.accumulate(paths)) if paths else [], prices


def _valleys(total: HostArray) -> list[int]:
    """The middles of the lowest local minima of `total` (n,), none of them near an end, from left to right."""
    least = max(1, round(_LEAST_WIDTH * _ROWS))
    changes = np.flatnonzero(np.diff(total)) + 1
    starts, ends = np.concatenate([[0], changes]), np.concatenate([changes, [len(total)]])
    levels = total[starts]
    low = np.flatnonzero((levels[1:-1] < levels[:-2]) & (levels[1:-1] < levels[2:])) + 1
    middles = [(float(levels[i]), int(starts[i] + ends[i] - 1) // 2) for i in low]
    inner = sorted(valley for valley in middles if least <= valley[1] < len(total) - least)
    return sorted(column for _, column in inner[:_MOST_CUTS])


def _swept(cost: HostArray) -> HostArray:
    """The least cost of a path from the first row to each pixel, float64 (rows, n)."""
    swept = cost.copy()
    for row in range(1, len(cost)):
        before = np.pad(swept[row - 1], 1, constant_values=np.inf)
        swept[row] += np.minimum(before[1:-1], _TURN + np.minimum(before[:-2], before[2:]))
    return swept


def _walk_back(swept: HostArray, column: int) -> list[int]:
    """The columns, first row first, of the best path that ends in the last row at `column`."""
    way = [column]
    for row in swept[-2::-1]:
        near = range(max(0, way[-1] - 1), min(len(row), way[-1] + 2))
        way.append(min(near, key=lambda x: row[x] + _TURN * (x != way[-1])))
    return way[::-1]
