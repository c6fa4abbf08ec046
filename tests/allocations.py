"""How much memory a piece of work asks for."""

import tracemalloc
from collections.abc import Callable


def peak_bytes(work: Callable[[], object], tries: int = 5) -> int:
    """What `work` needs at its height, in bytes, at the quietest of `tries`.

    All threads of the process are counted, and one of pytest's own may ask for memory in the midst of it; what `work`
    asks for itself, it asks for each time.
    """
    peaks = []
    for _ in range(tries):
        tracemalloc.start()
        try:
            work()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(peaks)
