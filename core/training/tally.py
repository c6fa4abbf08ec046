"""What training tells of the digits it learns from: their mean loss, and how many of them were answered right."""

import numpy as np

from core.device import Array, Device, DTypeLike
from core.workspace import Workspace


class Tally:
    """Loss and right answers since the last report, summed on the device: reading them is the only synchronisation."""

    def __init__(self, device: Device, dtype: DTypeLike) -> None:
        self._xp = device.xp
        self._loss = self._xp.zeros((), np.float64)
        self._right = self._xp.zeros((), np.int64)
        self._now = self._xp.zeros((), np.int64)
        self.count = self.outliers = 0
        """The pictures of all steps since the last report, and those among them that are no digit; the host counts."""
        self._workspace = Workspace(device, dtype)

    def add(self, loss: Array, scores: Array, labels: Array) -> None:
        """Add a batch: its summed loss, its scores (classes, N) and labels (N,)."""
        xp, n = self._xp, len(labels)
        answers = self._workspace.array("answers", (n,), np.intp)
        right = self._workspace.array("right", (n,), np.bool_)
        xp.add(self._loss, loss, out=self._loss)
        # Along any axis but the last, argmax would make a copy of its own.
        rows = self._workspace.array("rows", scores.shape[::-1])
        rows[...] = scores.T
        rows.argmax(axis=1, out=answers)
        xp.equal(answers, labels, out=right)
        right.sum(out=self._now)
        xp.add(self._right, self._now, out=self._right)

    def sums(self) -> dict[str, Array]:
        """The loss and the right answers of all digits since the last report."""
        return {"loss_sum": self._loss, "right_sum": self._right}

    def read_and_reset(self) -> tuple[float, float]:
        """Mean loss over the pictures since the last call, and accuracy (0..1) over the digits among them."""
        # No answer is an outlier's label, so none of them was counted as right.
        loss, accuracy = float(self._loss) / self.count, float(self._right) / max(self.count - self.outliers, 1)
        self._loss[...] = 0
        self._right[...] = 0
        self.count = self.outliers = 0
        return loss, accuracy
