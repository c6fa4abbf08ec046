"""Work off the GUI thread: of two pieces asked for in a row the later one counts, and giving up leaves no thread."""

import threading
import time
from collections.abc import Callable

from PySide6.QtCore import QThread
from pytestqt.qtbot import QtBot

from gui.background_job import BackgroundJob


def test_the_result_arrives_from_another_thread(qtbot: QtBot) -> None:
    job = BackgroundJob()
    with qtbot.waitSignal(job.done) as done:
        job.start(lambda cancelled: QThread.currentThread())
    assert done.args[0] is not QThread.currentThread()
    job.cancel()


def test_a_failure_arrives_as_a_sentence(qtbot: QtBot) -> None:
    job = BackgroundJob()
    with qtbot.waitSignal(job.failed) as failed:
        job.start(lambda cancelled: int("seven"))
    assert "seven" in failed.args[0]
    job.cancel()


def test_of_two_started_in_a_row_only_the_later_one_counts(qtbot: QtBot) -> None:
    job = BackgroundJob()
    results: list[object] = []
    job.done.connect(results.append)
    release = threading.Event()

    def slow(cancelled: Callable[[], bool]) -> str:
        release.wait(5)
        return "old, cancelled" if cancelled() else "old"

    job.start(slow)
    with qtbot.waitSignal(job.done):
        job.start(lambda cancelled: "new")
    release.set()
    qtbot.wait(50)
    job.cancel()
    assert results == ["new"]


def test_cancelling_waits_for_the_work_to_notice(qtbot: QtBot) -> None:
    job = BackgroundJob()
    ended = threading.Event()

    def until_cancelled(cancelled: Callable[[], bool]) -> None:
        while not cancelled():
            time.sleep(0.005)
        ended.set()

    job.start(until_cancelled)
    job.cancel()
    assert ended.is_set()
