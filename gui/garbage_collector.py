"""Python's garbage collector, kept to the GUI thread.

It may run in whatever thread happens to allocate, and what it finds may hold widgets; Qt's objects must be destroyed in
the thread they live in, or the program dies. So it is switched off, and run by a timer of the GUI thread instead.
"""

import gc

from PySide6.QtCore import QObject, QTimer, Slot

INTERVAL_MS = 1000
FULL_EVERY = 30
"""Most garbage is young; all of it is looked at every so many times."""


class GarbageCollector(QObject):
    """Collects in the thread it was made in, for as long as it lives."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        # What the program is made of stays until its end; looking through it again would only cost time.
        gc.freeze()
        self._turns = 0
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self._collect)
        self._timer.start()

    @Slot()
    def _collect(self) -> None:
        self._turns += 1
        gc.collect(2 if self._turns % FULL_EVERY == 0 else 1)

    def stop(self) -> None:
        """Give the collector back to Python."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()
