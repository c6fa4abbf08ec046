"""The points of one learning curve, and quickly the few of them that are worth drawing.

A room of its own because a run may report a million points while a plot is a thousand pixels wide. Of more than
`MOST_POINTS` those are forgotten that no plot would show, the same share of them in every part of the run; the run's
folder keeps all. What is left is thinned for the screen, as fast for many points as for few: above them stands a
pyramid, each level of which keeps the lowest and the highest of every two places of the level below.
"""

import numpy as np

from core.device import HostArray

AXES = ("samples", "epoch", "seconds")
METRICS = ("accuracy", "loss")
COLUMNS = AXES + METRICS
MOST_POINTS = 2**15
_BUCKETS = 500
_FIRST_CAPACITY = 256


class CurveHistory:
    """Points in the order of training: each axis grows from point to point, or stays."""

    def __init__(self) -> None:
        self._columns = {name: _GrowingArray(np.float64) for name in COLUMNS}
        self._pyramids = {name: _Pyramid() for name in METRICS}
        self._best: dict[str, int] = {}
        # Which of all points each one was.
        self._numbers = _GrowingArray(np.int64)
        self._told = 0

    def __len__(self) -> int:
        return len(self._columns["samples"].values)

    def append(self, samples: int, epoch: float, seconds: float, accuracy: float, loss: float) -> None:
        """Add a point with `accuracy` 0..1; one that is not finite has no place in a plot and is left out."""
        point = (samples, epoch, seconds, accuracy, loss)
        if not np.isfinite(point).all():
            return
        if len(self) == MOST_POINTS:
            self._forget_some()
        for name, value in zip(COLUMNS, point, strict=True):
            self._columns[name].append(value)
        self._numbers.append(self._told)
        self._told += 1
        newest = len(self) - 1
        best_accuracy = self._best.setdefault("accuracy", newest)
        if accuracy > self.values("accuracy")[best_accuracy]:
            self._best["accuracy"] = newest
        best_loss = self._best.setdefault("loss", newest)
        if loss < self.values("loss")[best_loss]:
            self._best["loss"] = newest

    def values(self, name: str) -> HostArray:
        """One of `COLUMNS`, float64 (points,); a view, to be read and not kept: the next point may change it."""
        return self._columns[name].values

    def best(self, metric: str) -> int:
        """Which point has the highest accuracy or the lowest loss, the earliest of equals; there must be a point."""
        return self._best[metric]

    def nearest(self, axis: str, x: float) -> int:
        """Which point lies nearest to `x` on `axis`; there must be a point."""
        places = self.values(axis)
        right = min(int(np.searchsorted(places, x)), len(places) - 1)
        left = max(right - 1, 0)
        return left if x - places[left] <= places[right] - x else right

    def worth_drawing(self, axis: str, metric: str, low: float, high: float) -> HostArray:
        """Which points to draw between `low` and `high` on `axis`: their numbers, growing, about a thousand at most.

        Always among them: the first and the last point, the best one, and every peak and valley of `metric`. The
        neighbours just outside are included, so that lines run on to the edge.
        """
        places, values = self.values(axis), self.values(metric)
        start = max(int(np.searchsorted(places, low, "left")) - 1, 0)
        stop = min(int(np.searchsorted(places, high, "right")) + 1, len(places))
        if stop - start <= 2 * _BUCKETS:
            return np.arange(start, stop)
        pyramid = self._pyramids[metric]
        pyramid.grow(values)
        always = [start, stop - 1]
        if start <= self.best(metric) < stop:
            always.append(self.best(metric))
        return np.unique(np.concatenate([pyramid.extremes(values, start, stop), always]))

    def extremes(self, axis: str, metric: str, low: float, high: float) -> tuple[float, float]:
        """The lowest and the highest value of `metric` between `low` and `high` on `axis`, and just outside."""
        values = self.values(metric)[self.worth_drawing(axis, metric, low, high)]
        return float(values.min()), float(values.max())

    def _forget_some(self) -> None:
        """Of every stretch of the run, each as long as the others, keep the peaks and valleys: half of all at most."""
        numbers = self._numbers.values
        stretches = numbers * (MOST_POINTS // 8) // self._told
        starts = np.flatnonzero(np.diff(stretches, prepend=-1))
        kept = [np.array([0, len(self) - 1])]
        for values in (self.values(metric) * sign for metric in METRICS for sign in (1, -1)):
            # Stretch by stretch, and the lowest first; the earliest of equals.
            kept.append(np.lexsort((values, stretches))[starts])
        points = np.unique(np.concatenate(kept))
        for array in (*self._columns.values(), self._numbers):
            array.keep(points)
        self._best = {metric: int(np.searchsorted(points, best)) for metric, best in self._best.items()}
        self._pyramids = {name: _Pyramid() for name in METRICS}


class _GrowingArray:
    """An array that doubles its room when it is full."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self._room = np.empty(_FIRST_CAPACITY, dtype)
        self._size = 0

    @property
    def values(self) -> HostArray:
        return self._room[: self._size]

    def append(self, value: float) -> None:
        self._make_room(self._size + 1)
        self._room[self._size] = value
        self._size += 1

    def extend(self, values: HostArray) -> None:
        size = self._size + len(values)
        self._make_room(size)
        self._room[self._size : size] = values
        self._size = size

    def keep(self, places: HostArray) -> None:
        """Forget all but the values at these places, which grow."""
        self._room[: len(places)] = self._room[places]
        self._size = len(places)

    def _make_room(self, size: int) -> None:
        if size > len(self._room):
            room = np.empty(max(size, 2 * len(self._room)), self._room.dtype)
            room[: self._size] = self.values
            self._room = room


class _Pyramid:
    """Level k holds, for each run of 2^(k+1) points, which is the lowest and which the highest."""

    def __init__(self) -> None:
        self._lows: list[_GrowingArray] = []
        self._highs: list[_GrowingArray] = []

    def grow(self, values: HostArray) -> None:
        """Take in the points that came since the last time; only complete runs count."""
        below = len(values)
        level = 0
        while below >= 2:
            if level == len(self._lows):
                self._lows.append(_GrowingArray(np.int32))
                self._highs.append(_GrowingArray(np.int32))
            have, complete = len(self._lows[level].values), below // 2
            if complete > have:
                self._extend_level(level, values, 2 * have, 2 * complete)
            below = complete
            level += 1

    def extremes(self, values: HostArray, start: int, stop: int) -> HostArray:
        """The lowest and the highest point of each of at most `_BUCKETS` runs between `start` and `stop`."""
        level = int(np.ceil(np.log2((stop - start) / _BUCKETS))) - 1
        run = 2 ** (level + 1)
        first, last = -(-start // run), stop // run
        pairs = np.stack([self._lows[level].values[first:last], self._highs[level].values[first:last]], axis=1)
        # The runs cut through at either end are shorter than one bucket: they are looked at point by point.
        ends = [
            end + offset
            for offset, piece in ((start, values[start : first * run]), (last * run, values[last * run : stop]))
            if len(piece)
            for end in (int(piece.argmin()), int(piece.argmax()))
        ]
        return np.concatenate([pairs.ravel(), np.array(ends, np.int32)])

    def _extend_level(self, level: int, values: HostArray, first: int, last: int) -> None:
        if level == 0:
            lows = highs = np.arange(first, last, dtype=np.int32).reshape(-1, 2)
        else:
            lows = self._lows[level - 1].values[first:last].reshape(-1, 2)
            highs = self._highs[level - 1].values[first:last].reshape(-1, 2)
        rows = np.arange(len(lows))
        self._lows[level].extend(lows[rows, values[lows].argmin(axis=1)])
        self._highs[level].extend(highs[rows, values[highs].argmax(axis=1)])
