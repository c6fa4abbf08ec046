"""The thread that works while the window stays awake, and the window's one broad `except`.

It runs a plain generator and sends on what that yields. Whatever goes wrong inside becomes one sentence, and Qt's own
`finished` follows in every case, so that whoever waits for it always comes home. Items must be values: frozen, and of
the host.
"""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QCoreApplication, QObject, QThread, Signal


class WorkerThread(QThread):
    """Runs `produce()` in a thread of its own: `produced` for every item, `failed` with a sentence if it raised."""

    produced = Signal(object)
    failed = Signal(str)

    def __init__(self, produce: Callable[[], Iterable[object]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._produce = produce

    def discard(self) -> None:
        """Delete it once it has `finished`: it says so a moment before it has ended, which is waited for."""
        self.wait()
        self.deleteLater()

    def run(self) -> None:
        try:
            for item in self._produce():
                self.produced.emit(item)
        except Exception as error:
            self.failed.emit(_sentence(error))


def _sentence(error: Exception) -> str:
    if isinstance(error, MemoryError) or "out of memory" in str(error).lower():
        return QCoreApplication.translate(
            "WorkerThread", "There is not enough memory for this; choose fewer hidden units or a smaller batch."
        )
    return str(error) or type(error).__name__
