"""Batch normalization: every channel, or every feature, is brought to mean 0 and variance 1 over the batch."""

import numpy as np

from core.device import Array, HostArray
from core.nn.layers.layer import Layer, Shape


class BatchNorm(Layer):
    """Training: x̂ = (x - μ) / √(σ² + 1e-5), with μ and σ² over all of a channel's M numbers in the batch.

    y = γ x̂ + β. Backward: dγ = Σ dy x̂, dβ = Σ dy, dx = γ / √(σ² + 1e-5) (dy - dβ / M - x̂ dγ / M). Otherwise the running
    means of μ and σ² stand in for them, so that an answer does not depend on its neighbours. Ioffe and Szegedy, 2015.
    """

    name = "bn"
    EPSILON = 1e-5
    NEWS = 0.1
    """How much each batch counts in the running means."""

    def parameter_shapes(self, input_shape: Shape) -> dict[str, Shape]:
        return {"weight": input_shape[:1], "bias": input_shape[:1]}

    def initial_parameters(self, input_shape: Shape, rng: np.random.Generator) -> dict[str, HostArray]:
        return {"weight": np.ones(input_shape[:1]), "bias": np.zeros(input_shape[:1])}

    def initial_state(self, input_shape: Shape) -> dict[str, HostArray]:
        return {"running_mean": np.zeros(input_shape[:1]), "running_variance": np.ones(input_shape[:1])}

    def forward(self, x: Array, *, training: bool) -> Array:
        y = self.workspace.array("y", x.shape)
        if training:
            self._normalized = self.workspace.array("normalized", x.shape)
            self._scale = self.workspace.array("scale", x.shape[:1])
            task = self._normalize
        else:
            task = self._apply_running
        self.run_shares(self.shares(len(x), 4.0 * x.size), lambda channels: task(x, y, channels))
        return y

    def _normalize(self, x: Array, y: Array, channels: slice) -> None:
        xp = self.xp
        rows, out, normalized = (_rows(a)[channels] for a in (x, y, self._normalized))
        weight, bias = self.parameters["weight"][channels], self.parameters["bias"][channels]
        mean = self.workspace.array("mean", x.shape[:1])[channels]
        variance = self.workspace.array("variance", x.shape[:1])[channels]
        xp.mean(rows, axis=1, out=mean)
        xp.subtract(rows, mean[:, None], out=normalized)
        xp.multiply(normalized, normalized, out=out)
        xp.mean(out, axis=1, out=variance)
        self._remember(mean, variance, channels)
        scale = self._scale[channels]
        xp.add(variance, self.EPSILON, out=scale)
        xp.sqrt(scale, out=scale)
        xp.divide(1.0, scale, out=scale)
        xp.multiply(normalized, scale[:, None], out=normalized)
        xp.multiply(normalized, weight[:, None], out=out)
        xp.add(out, bias[:, None], out=out)

    def _remember(self, mean: Array, variance: Array, channels: slice) -> None:
        scratch = self.workspace.array("news", self._scale.shape)[channels]
        for name, now in (("running_mean", mean), ("running_variance", variance)):
            running = self.state[name][channels]
            self.xp.subtract(now, running, out=scratch)
            self.xp.multiply(scratch, self.NEWS, out=scratch)
            self.xp.add(running, scratch, out=running)

    def _apply_running(self, x: Array, y: Array, channels: slice) -> None:
        xp = self.xp
        rows, out = _rows(x)[channels], _rows(y)[channels]
        scale = self.workspace.array("running scale", x.shape[:1])[channels]
        xp.add(self.state["running_variance"][channels], self.EPSILON, out=scale)
        xp.sqrt(scale, out=scale)
        xp.divide(self.parameters["weight"][channels], scale, out=scale)
        xp.subtract(rows, self.state["running_mean"][channels, None], out=out)
        xp.multiply(out, scale[:, None], out=out)
        xp.add(out, self.parameters["bias"][channels, None], out=out)

    def backward(self, dy: Array) -> Array:
        if not dy.flags.c_contiguous:  # a part of something larger, as a convolution with `same` returns it
            part, dy = dy, self.workspace.array("dy", dy.shape)
            dy[...] = part
        dx = self.workspace.array("dx", dy.shape)
        self.run_shares(self.shares(len(dy), 4.0 * dy.size), lambda channels: self._spread(dy, dx, channels))
        return dx

    def _spread(self, dy: Array, dx: Array, channels: slice) -> None:
        xp = self.xp
        given, out, normalized = (_rows(a)[channels] for a in (dy, dx, self._normalized))
        dweight, dbias = self.gradients["weight"][channels], self.gradients["bias"][channels]
        share = self.workspace.array("share", dy.shape[:1])[channels]
        xp.multiply(given, normalized, out=out)
        xp.sum(out, axis=1, out=dweight)
        xp.sum(given, axis=1, out=dbias)
        xp.multiply(dweight, -1.0 / given.shape[1], out=share)
        xp.multiply(normalized, share[:, None], out=out)
        xp.multiply(dbias, -1.0 / given.shape[1], out=share)
        xp.add(out, share[:, None], out=out)
        xp.add(out, given, out=out)
        xp.multiply(self.parameters["weight"][channels], self._scale[channels], out=share)
        xp.multiply(out, share[:, None], out=out)


def _rows(batch: Array) -> Array:
    """(C, ..., N) as (C, M): one row for each channel."""
    return batch.reshape(len(batch), -1)
