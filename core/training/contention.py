"""What to do where another program keeps a core busy: compute with one thread for a while.

The threads of a step wait for each other at every product. Where one of them has to wait for its core until the system
takes it from somebody else, all do, some milliseconds each time: on two cores a step of a small network can take 25
times as long. One thread alone takes hardly more than twice as long, and gives the same numbers, bit for bit
(`Device.alone`). So it does not matter when it is changed, and a run can be resumed exactly all the same.
"""

from core.device import Device

_WINDOW, _TRIAL = 12, 4
"""Steps that are judged together: usually, and where the other way is tried or there is no doubt."""
_SLOW, _SLOW_WINDOWS = 2.0, 3
"""So many times as slow as the fastest one, steps are suspect; and so many such windows in a row are no chance."""
_BETTER = 0.8
"""Share of the usual time that another way must not take more than, to be worth changing to."""
_PATIENCE, _MOST_PATIENCE = 0.25, 30.0
"""Seconds of steps until the other way is tried again; twice as long each time that it was no better."""


class Contention:
    """Watches how long the steps of a run take, all of one size, and sets `device.alone` where that is quicker."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._fastest = float("inf")
        self._seconds: list[float] = []
        self._slow: list[float] = []
        """The mean times of the last windows, one after the other, that were suspect."""
        self._usual: float | None = None
        """While the other way is on trial, the mean time of a step the way it was done before."""
        self._elapsed, self._next_trial, self._patience = 0.0, 0.0, _PATIENCE

    def note(self, seconds: float) -> None:
        """A step has taken so long."""
        self._elapsed += seconds
        self._seconds.append(seconds)
        if not self._device.alone:
            self._fastest = min(self._fastest, seconds)
        steps, total = len(self._seconds), sum(self._seconds)
        if steps < _TRIAL or (self._usual is None and steps < _WINDOW and total < _WINDOW * _SLOW * self._fastest):
            return
        self._seconds.clear()
        if self._usual is not None:
            self._judge(total / steps, self._usual)
        else:
            self._look(total / steps)

    def _look(self, mean: float) -> None:
        """Try the other way, if it is time to: alone, one would rather not be; together, only if it is slow."""
        is_suspect = self._device.alone or mean > _SLOW * self._fastest
        self._slow = [*self._slow[1 - _SLOW_WINDOWS :], mean] if is_suspect else []
        if len(self._slow) == _SLOW_WINDOWS and self._elapsed >= self._next_trial:
            self._usual = sum(self._slow) / _SLOW_WINDOWS
            self._device.alone = not self._device.alone

    def _judge(self, mean: float, usual: float) -> None:
        if mean < _BETTER * usual:
            self._patience = _PATIENCE
        else:
            self._device.alone = not self._device.alone
            self._patience = min(2 * self._patience, _MOST_PATIENCE)
        self._usual, self._slow = None, []
        self._next_trial = self._elapsed + self._patience
