"""The one queue through which a device double does its work: it counts, and it notes instead of doing while capturing.

It stands for a CUDA stream. Everything a GPU would be asked to do comes by `launch`; everything that would make it
wait, or ask for memory, says so first, so that a captured step can refuse what a CUDA graph cannot hold. And all of it
must come from a thread in which the device is active: CuPy would send it to another stream, and nobody waits for that.
"""

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from core.device import HostArray

Kernel: TypeAlias = Callable[[], object]
"""One piece of work, with all its arrays and numbers already in it: what a launch hands to a GPU."""


class Stream:
    """Counts by name what was asked for: `allocations` are arrays made, `synchronisations` waits of the host.

    `uploads` are copies from the host, `temporaries` arrays that CuPy makes inside a call and drops at its end (see
    `temporary`); `launches` are the kernels that were run or noted, `replays` the runs of a tape.
    """

    def __init__(self) -> None:
        self.allocations: Counter[str] = Counter()
        self.temporaries: Counter[str] = Counter()
        self.synchronisations: Counter[str] = Counter()
        self.uploads: Counter[str] = Counter()
        self.launches = self.replays = 0
        self._tape: list[Kernel] | None = None
        self._current = threading.local()

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        """While this lasts, the calling thread's work comes here."""
        self._current.depth = self._depth() + 1
        try:
            yield
        finally:
            self._current.depth -= 1

    def _depth(self) -> int:
        return getattr(self._current, "depth", 0)

    @property
    def capturing(self) -> bool:
        return self._tape is not None

    def launch(self, kernel: Kernel) -> None:
        """Do `kernel`; while capturing, only note it. A GPU knows no floating-point warnings."""
        self._check_current("a kernel")
        self.launches += 1
        if self._tape is not None:
            self._tape.append(kernel)
            return
        with np.errstate(all="ignore"):
            kernel()

    def make(self, what: str, compute: Callable[[], HostArray]) -> HostArray:
        """The memory of a new array with what `compute` gives."""
        self._check_current(what)
        self._refuse("allocates", what)
        self.allocations[what] += 1
        self.launches += 1
        with np.errstate(all="ignore"):
            return np.asarray(compute())

    def temporary(self, what: str) -> None:
        """Count memory that CuPy takes from its pool for the time of a call.

        It is no error while capturing: the pool has had it since the step before. Every replay will write there again.
        """
        self.temporaries[what] += 1

    def synchronize(self, what: str) -> None:
        """The host waits until everything is done."""
        self._check_current(what)
        self._refuse("waits for the device", what)
        self.synchronisations[what] += 1

    def upload(self, what: str) -> None:
        """Numbers go from the host to the device."""
        self._refuse("reads the host's memory", what)
        self.uploads[what] += 1

    @contextlib.contextmanager
    def capture(self) -> Iterator[list[Kernel]]:
        """While this lasts, nothing is done; what was asked for is then on the tape."""
        assert self._tape is None, "a capture within a capture"
        self._tape = tape = []
        try:
            yield tape
        finally:
            self._tape = None

    def replay(self, tape: list[Kernel]) -> None:
        """Do what is on the tape, and nothing else."""
        assert self._tape is None, "a replay within a capture"
        self.replays += 1
        with np.errstate(all="ignore"):
            for kernel in tape:
                kernel()

    def _check_current(self, what: str) -> None:
        assert self._depth() > 0, f"{what} is asked for where the device is not active"

    def _refuse(self, does: str, what: str) -> None:
        assert self._tape is None, f"{what} {does} inside a captured step"
