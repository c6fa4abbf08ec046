"""A generator in a thread: its items arrive in order, its failure as a sentence, and `finished` always comes."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gui.worker_thread import WorkerThread


def run_to_end(qtbot: QtBot, thread: WorkerThread) -> tuple[list[object], list[str]]:
    produced: list[object] = []
    failed: list[str] = []
    thread.produced.connect(produced.append)
    thread.failed.connect(failed.append)
    with qtbot.waitSignal(thread.finished):
        thread.start()
    assert thread.wait(1000)
    qtbot.waitUntil(lambda: bool(produced or failed))
    return produced, failed


def test_items_arrive_in_order(qtbot: QtBot) -> None:
    assert run_to_end(qtbot, WorkerThread(lambda: iter([3, 1, 2]))) == ([3, 1, 2], [])


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("cudaErrorLaunchFailure"), "cudaErrorLaunchFailure"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (MemoryError(), "not enough memory"),
        (RuntimeError("Out of memory allocating 4 bytes"), "not enough memory"),
    ],
)
def test_a_failure_is_told_after_what_came_before_it(qtbot: QtBot, error: Exception, words: str) -> None:
    def produce() -> Iterator[object]:
        yield "before"
        raise error

    produced, failed = run_to_end(qtbot, WorkerThread(produce))
    assert produced == ["before"]
    assert len(failed) == 1
    assert words in failed[0]
