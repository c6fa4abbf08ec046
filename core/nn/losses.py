"""What training makes small.

A loss takes the network's scores (classes, N) and targets of the same shape, each column of which sums to 1: one-hot,
or smoothed. `forward` gives the sum over the batch, left on the device; `backward` the gradient of the batch's mean by
the scores, so that the learning rate does not depend on the batch size. Both write only arrays the loss owns.
"""

from core.device import Array, Device, DTypeLike
from core.workspace import Workspace


class Loss:
    """A loss on `device`; see the room's plate for the contract."""

    def __init__(self, device: Device, dtype: DTypeLike) -> None:
        self.xp = device.xp
        self.workspace = Workspace(device, dtype)

    def forward(self, scores: Array, targets: Array) -> Array:
        """The loss summed over the batch, a 0-d array."""
        raise NotImplementedError

    def backward(self) -> Array:
        """The gradient of the mean loss of the last `forward` by its scores, (classes, N)."""
        raise NotImplementedError

    def probabilities(self, scores: Array) -> Array:
        """The scores as shares of 1 for each class, (classes, N)."""
        raise NotImplementedError


class SoftmaxCrossEntropy(Loss):
    """p = softmax(scores); loss = -Σ t log p; backward: (p - t) / N."""

    def forward(self, scores: Array, targets: Array) -> Array:
        self._p = self.probabilities(scores)
        self._targets = targets
        # -log p = log of the sum of exponentials - shifted score: never the logarithm of a rounded-off 0.
        terms = self.workspace.array("terms", scores.shape)
        self.xp.subtract(self._log_sum, self._shifted, out=terms)
        self.xp.multiply(terms, targets, out=terms)
        return terms.sum(out=self.workspace.array("loss", ()))

    def backward(self) -> Array:
        dscores = self.workspace.array("dscores", self._p.shape)
        self.xp.subtract(self._p, self._targets, out=dscores)
        return self.xp.multiply(dscores, 1.0 / dscores.shape[1], out=dscores)

    def probabilities(self, scores: Array) -> Array:
        row = (1, scores.shape[1])
        largest = self.workspace.array("largest", row)
        scores.max(axis=0, keepdims=True, out=largest)
        self._shifted = self.workspace.array("shifted", scores.shape)
        self.xp.subtract(scores, largest, out=self._shifted)
        p = self.workspace.array("p", scores.shape)
        self.xp.exp(self._shifted, out=p)
        total = self.workspace.array("total", row)
        p.sum(axis=0, keepdims=True, out=total)
        self._log_sum = self.workspace.array("log_sum", row)
        self.xp.log(total, out=self._log_sum)
        return self.xp.divide(p, total, out=p)


class SquaredError(Loss):
    """loss = ½ Σ (score - t)²; backward: (score - t) / N."""

    def forward(self, scores: Array, targets: Array) -> Array:
        self._error = self.workspace.array("error", scores.shape)
        self.xp.subtract(scores, targets, out=self._error)
        squares = self.workspace.array("squares", scores.shape)
        self.xp.multiply(self._error, self._error, out=squares)
        loss = self.workspace.array("loss", ())
        self.xp.sum(squares, out=loss)
        return self.xp.multiply(loss, 0.5, out=loss)

    def backward(self) -> Array:
        dscores = self.workspace.array("dscores", self._error.shape)
        return self.xp.multiply(self._error, 1.0 / dscores.shape[1], out=dscores)

    def probabilities(self, scores: Array) -> Array:
        """Each score's share of the column's sum, negative ones as 0; all equal where no score is positive."""
        p = self.workspace.array("p", scores.shape)
        self.xp.maximum(scores, 0, out=p)
        # A tiny constant changes no share that can be read, and turns a column of zeros into equal shares.
        self.xp.add(p, 1e-9, out=p)
        total = self.workspace.array("total", (1, scores.shape[1]))
        p.sum(axis=0, keepdims=True, out=total)
        return self.xp.divide(p, total, out=p)
