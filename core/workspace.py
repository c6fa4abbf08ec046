"""The arrays that a layer, a loss or an augmentation owns: made once for each shape, written again at each step.

It is a room of its own because it is what keeps a training step from allocating: whoever computes asks for its array
by name, and gets the same one each time it asks with the same shape.
"""

from core.device import Array, Device, DTypeLike, last_axis_first


class Workspace:
    """Arrays on `device`, of `dtype` unless another is asked for.

    They lie in memory as their axes say; with `like`, an array of samples along the last axis has them first or last in
    memory as `like` has them, so that work on both runs through them in one direction.
    """

    def __init__(self, device: Device, dtype: DTypeLike) -> None:
        self._xp = device.xp
        self._dtype = dtype
        self._arrays: dict[tuple[str, tuple[int, ...], bool], Array] = {}

    def array(
        self, name: str, shape: tuple[int, ...], dtype: DTypeLike | None = None, *, like: Array | None = None
    ) -> Array:
        """The array called `name` of this shape; what is in it is left from its last use."""
        key = (name, shape, like is not None and last_axis_first(like))
        found = self._arrays.get(key)
        return self._make(key, dtype) if found is None else found

    def zeros(self, name: str, shape: tuple[int, ...], *, like: Array | None = None) -> Array:
        """As `array`, but full of zeros at first: for arrays of which a part is never written."""
        return self._filled(name, shape, 0, like)

    def ones(self, name: str, shape: tuple[int, ...]) -> Array:
        """As `array`, but full of ones at first."""
        return self._filled(name, shape, 1)

    def _filled(self, name: str, shape: tuple[int, ...], value: int, like: Array | None = None) -> Array:
        key = (name, shape, like is not None and last_axis_first(like))
        found = self._arrays.get(key)
        if found is None:
            found = self._make(key)
            found[...] = value
        return found

    def _make(self, key: tuple[str, tuple[int, ...], bool], dtype: DTypeLike | None = None) -> Array:
        _, shape, samples_first = key
        made = self._xp.empty((shape[-1], *shape[:-1]) if samples_first else shape, dtype or self._dtype)
        self._arrays[key] = made = made.transpose(*range(1, len(shape)), 0) if samples_first else made
        return made
