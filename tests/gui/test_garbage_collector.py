"""The garbage collector runs in the GUI thread, whoever leaves the garbage."""

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gui import garbage_collector
from gui.garbage_collector import GarbageCollector


class Cycle:
    """Refers to itself, and notes in which thread it goes."""

    def __init__(self, gone_in: list[int]) -> None:
        self.me = self
        weakref.finalize(self, lambda: gone_in.append(threading.get_ident()))


@pytest.fixture
def collector(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[GarbageCollector]:
    monkeypatch.setattr(garbage_collector, "INTERVAL_MS", 50)
    collector = GarbageCollector()
    yield collector
    collector.stop()
    assert gc.isenabled()


@pytest.mark.usefixtures("collector")
def test_what_another_thread_leaves_behind_goes_in_the_gui_thread(qtbot: QtBot) -> None:
    gone_in: list[int] = []

    def leave_garbage() -> None:
        Cycle(gone_in)
        # Enough of it to wake a collector that is not kept to its thread.
        kept = [[index] for index in range(20_000)]
        assert kept

    thread = threading.Thread(target=leave_garbage)
    thread.start()
    thread.join()
    assert gone_in == []
    qtbot.waitUntil(lambda: bool(gone_in), timeout=10_000)
    assert gone_in == [threading.get_ident()]


def test_it_also_looks_at_what_is_old(
    qtbot: QtBot, collector: GarbageCollector, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    monkeypatch.setattr(garbage_collector.gc, "collect", looked.append)
    monkeypatch.setattr(garbage_collector, "FULL_EVERY", 3)
    qtbot.waitUntil(lambda: 2 in looked, timeout=10_000)
    assert 1 in looked
