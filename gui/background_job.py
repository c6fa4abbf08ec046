"""A single piece of work off the GUI thread: reading data, looking for devices. The latest one asked for counts."""

import threading
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Signal, Slot

from gui.worker_thread import WorkerThread


class BackgroundJob(QObject):
    """`done` with what the work returned, or `failed` with a sentence; of two started in a row, only the later one."""

    done = Signal(object)
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._threads: list[WorkerThread] = []
        self._latest: WorkerThread | None = None
        self._cancelled = threading.Event()

    def start(self, work: Callable[[Callable[[], bool]], object]) -> None:
        """Run `work(cancelled)` in a thread; it may ask `cancelled()` whether its result is still wanted."""
        self._cancelled.set()
        cancelled = self._cancelled = threading.Event()

        def produce() -> Iterator[object]:
            yield work(cancelled.is_set)

        thread = WorkerThread(produce, self)
        thread.produced.connect(self._on_produced)
        thread.failed.connect(self._on_failed)
        thread.finished.connect(self._on_finished)
        self._threads.append(thread)
        self._latest = thread
        thread.start()

    def drop(self) -> None:
        """Give up what runs without waiting for it; nothing is emitted for it any more."""
        self._cancelled.set()
        self._latest = None

    def cancel(self) -> None:
        """Give up what runs and wait until its thread has ended; nothing is emitted for it any more."""
        self.drop()
        for thread in self._threads:
            thread.wait()

    @Slot(object)
    def _on_produced(self, result: object) -> None:
        if self.sender() is self._latest:
            self.done.emit(result)

    @Slot(str)
    def _on_failed(self, sentence: str) -> None:
        if self.sender() is self._latest:
            self.failed.emit(sentence)

    @Slot()
    def _on_finished(self) -> None:
        for thread in [thread for thread in self._threads if thread.isFinished()]:
            self._threads.remove(thread)
            thread.discard()
