"""Which set is in use, and the way to another: read if it is here, got from the network or from files if it is not.

Nothing is fetched unless `fetch` is called. What is in use stays so until another set has been read to its end.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from core.digits.dataset import DatasetError, DigitSets
from core.digits.dataset_files import arrived_bytes, fetch_set, is_here, load_digit_sets, open_set
from core.digits.downloads import BUILT_IN, SETS, PublishedSet, find_set
from core.digits.fetching import STALL_SECONDS, DownloadError
from core.digits.mnist import load_mnist
from gui.background_job import BackgroundJob
from gui.widgets.data_offer import Offer

PROGRESS_INTERVAL_MS = 100


class DataController(QObject):
    """`loaded(DigitSets)` when another set is in use, or `not_loaded` when the one asked for cannot be; `failed` why.

    `offered(Offer | None)`: a set to get; `progressed(bytes, bytes in all)`, `reading_files` and `cancelling` while it
    is got, between `running_changed(True)` and `(False)`. `listed(names)`: the sets that are here. `reading_began`.
    """

    loaded = Signal(object)
    not_loaded = Signal()
    reading_began = Signal()
    listed = Signal(object)
    offered = Signal(object)
    progressed = Signal(int, int)
    reading_files = Signal()
    cancelling = Signal()
    running_changed = Signal(bool)
    notified = Signal(str)
    failed = Signal(str)

    def __init__(self, stall_seconds: float = STALL_SECONDS, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stall_seconds = stall_seconds
        self._is_free = self._is_reading = False
        self._reading = self._in_use = ""
        self._is_proved = True
        self._offer: Offer | None = None
        self._running: PublishedSet | None = None
        self._is_wanted = False
        self._cancelled = threading.Event()
        self._arrived = (0, 1)
        self._reader, self._getter = BackgroundJob(self), BackgroundJob(self)
        self._reader.done.connect(self._on_read)
        self._reader.failed.connect(self._on_not_read)
        self._getter.done.connect(self._on_got)
        self._getter.failed.connect(self._on_not_got)
        self._timer = QTimer(self)
        self._timer.setInterval(PROGRESS_INTERVAL_MS)
        self._timer.timeout.connect(self._show_progress)

    @property
    def is_running(self) -> bool:
        """Whether a set is being got."""
        return self._running is not None

    @property
    def is_reading(self) -> bool:
        """Whether another set is about to be in use; a run that began now would learn from the last one."""
        return self._is_reading

    def begin(self) -> None:
        """Read the built-in set."""
        self._start_reading(BUILT_IN, lambda cancelled: load_digit_sets(BUILT_IN))

    def allow(self, free: bool) -> None:
        """Whether a set that has just been got may be taken into use."""
        self._is_free = free

    @Slot()
    def look(self) -> None:
        """See which sets are here; `listed` follows."""
        self.listed.emit(frozenset(name for name in SETS if is_here(name)))

    @Slot(str)
    def choose(self, name: str) -> None:
        """Use the set called `name`, or offer to get it; while one is being got, no other is offered."""
        published = find_set(name)
        if self._running is not None:
            self._is_wanted = self._running is published
            if not self._is_wanted and not is_here(name):
                words = self.tr("%1 is still on its way; one set at a time.")
                self.notified.emit(words.replace("%1", self._running.title))
        elif not is_here(name):
            self._show_offer(Offer(published, arrived_bytes(name)))
        else:
            self._show_offer(None)
        if is_here(name) and (name != self._in_use or self._is_reading):
            self._read(name)

    def open_folder(self, folder: Path) -> None:
        """Use the set in this folder, called as the folder is."""
        self._is_wanted = False
        name = self.tr("%1 (folder)").replace("%1", folder.resolve().name)
        self._start_reading("", lambda cancelled: _in_folder(folder, name))

    @Slot()
    def decline(self) -> None:
        """The offered set is not wanted now."""
        if self._running is None:
            self._show_offer(None)

    @Slot()
    def fetch(self) -> None:
        """Get the offered set from the network, and use it then."""
        if self._offer is None or self._running is not None:
            return
        offer, cancelled = self._offer, threading.Event()
        self._arrived = (offer.arrived, offer.published.size)
        self._run(partial(_fetched, offer, self._tell, cancelled.is_set, self._stall_seconds), cancelled)
        self._timer.start()
        self._show_progress()

    def open_files(self, paths: Sequence[Path]) -> None:
        """Take the offered set from files at hand, and use it then."""
        if self._offer is None or self._running is not None:
            return
        self._run(partial(open_set, self._offer.published.name, tuple(paths)), threading.Event())
        self.reading_files.emit()

    @property
    def offered_set(self) -> PublishedSet | None:
        """The set that is offered, or being got."""
        return None if self._offer is None else self._offer.published

    @Slot()
    def stop(self) -> None:
        """Ask the download for an end; `running_changed` tells of it, some seconds later if a server says nothing."""
        if self._running is not None and not self._cancelled.is_set():
            self._cancelled.set()
            self._is_wanted = False
            self._timer.stop()
            self.cancelling.emit()

    def cancel(self) -> None:
        """Give up what is read, and wait for its end; what is being got has to be stopped, and to end, before."""
        self._reader.cancel()
        if self._running is None:
            self._getter.cancel()

    def _read(self, name: str) -> None:
        self.notified.emit(self.tr("Reading %1…").replace("%1", find_set(name).title))
        self._start_reading(name, lambda cancelled: load_digit_sets(name))

    def _start_reading(self, name: str, work: Callable[[Callable[[], bool]], DigitSets]) -> None:
        self._reading, self._is_reading, self._is_proved = name, True, True
        self._reader.start(work)
        self.reading_began.emit()

    def _run(self, work: Callable[[], bool | None], cancelled: threading.Event) -> None:
        assert self._offer is not None
        self._cancelled = cancelled
        self._running, self._is_wanted = self._offer.published, True
        self.running_changed.emit(True)
        self._getter.start(lambda _: work())

    def _tell(self, done: int, total: int) -> None:
        """Called in the thread that fetches; the timer looks here."""
        self._arrived = (done, total)

    def _show_offer(self, offer: Offer | None) -> None:
        self._offer = offer
        self.offered.emit(offer)

    @Slot()
    def _show_progress(self) -> None:
        self.progressed.emit(*self._arrived)

    @Slot(object)
    def _on_read(self, sets: DigitSets) -> None:
        self._is_reading, self._in_use = False, self._reading
        self.look()
        self.loaded.emit(sets)
        if not self._is_proved:
            words = self.tr("%1 is in use; its checksums are not those on record, its form and its counts are right.")
            self.notified.emit(words.replace("%1", sets.name))

    @Slot(str)
    def _on_not_read(self, sentence: str) -> None:
        self._is_reading = False
        # A set that is here and cannot be read can be got again; the one in use is not touched.
        if self._reading not in ("", BUILT_IN) and self._running is None:
            self._show_offer(Offer(find_set(self._reading), is_damaged=is_here(self._reading)))
        self.failed.emit(sentence)
        self.not_loaded.emit()

    @Slot(object)
    def _on_got(self, is_proved: bool | None) -> None:
        published, is_wanted = self._running, self._is_wanted
        assert published is not None
        self._end()
        if is_proved is None:
            self._show_offer(Offer(published, arrived_bytes(published.name)))
            self.notified.emit(self.tr("Cancelled; what has come of %1 is kept.").replace("%1", published.title))
        elif is_wanted and self._is_free:
            self._show_offer(None)
            self._read(published.name)
            self._is_proved = is_proved
        else:
            self._show_offer(None)
            self.notified.emit(self.tr("%1 is here now, to be chosen under Data.").replace("%1", published.title))
        self.running_changed.emit(False)

    @Slot(str)
    def _on_not_got(self, sentence: str) -> None:
        published = self._running
        assert published is not None
        self._end()
        damaged = is_here(published.name)
        self._show_offer(Offer(published, arrived_bytes(published.name), damaged))
        self.failed.emit(sentence)
        self.running_changed.emit(False)

    def _end(self) -> None:
        self._timer.stop()
        self._running = None
        self.look()


def _fetched(
    offer: Offer, tell: Callable[[int, int], None], cancelled: Callable[[], bool], stall_seconds: float
) -> bool | None:
    """True once the set is here, None if that was cancelled; raises DatasetError in the window's words."""
    title, name = offer.published.title, offer.published.name
    try:
        return fetch_set(name, tell, cancelled, stall_seconds) or None
    except DownloadError as error:
        if cancelled():
            return None
        raise DatasetError(f"{title}: {error.problem}; try again later, which goes on from here") from None


def _in_folder(folder: Path, other_name: str) -> DigitSets:
    """The set in `folder`; called `other_name` where its own is that of a set which need not be the same."""
    sets = load_mnist(folder)
    known = {words.lower() for published in SETS.values() for words in (published.name, published.title)}
    return DigitSets(other_name, sets.train, sets.test) if sets.name.lower() in known else sets
