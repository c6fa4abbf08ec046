"""The arrays that a layer, a loss or an augmentation owns: made once for each shape, written again at each step.

It is a room of its own because it is what keeps a training step from allocating: whoever computes asks for its array
by name, and gets the same one each time it asks with the same shape.
"""

from core.device import Array, Device, DTypeLike


class Workspace:
    """Arrays on `device`, of `dtype` unless another is asked for."""

    def __init__(self, device: Device, dtype: DTypeLike) -> None:
        self._xp = device.xp
        self._dtype = dtype
        self._arrays: dict[tuple[str, tuple[int, ...]], Array] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: DTypeLike | None = None) -> Array:
        """The array called `name` of this shape; what is in it is left from its last use."""
        found = self._arrays.get((name, shape))
        if found is None:
            found = self._arrays[name, shape] = self._xp.empty(shape, dtype or self._dtype)
        return found

    def zeros(self, name: str, shape: tuple[int, ...]) -> Array:
        """As `array`, but full of zeros at first: for arrays of which a part is never written."""
        return self._filled(name, shape, 0)

    def ones(self, name: str, shape: tuple[int, ...]) -> Array:
        """As `array`, but full of ones at first."""
        return self._filled(name, shape, 1)

    def _filled(self, name: str, shape: tuple[int, ...], value: int) -> Array:
        found = self._arrays.get((name, shape))
        if found is None:
            found = self._arrays[name, shape] = self._xp.full(shape, value, self._dtype)
        return found
