"""The canvas in the whole window: what lies on it is answered, step by step and beside its neighbours."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel, QListWidget, QPushButton, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from core.device import HostArray
from core.digits.dataset import DigitSets
from core.predictor import Answer
from gui.application import Application
from gui.dialogs import Keep
from gui.training_state import TrainingState
from gui.widgets.grey_image import to_qimage
from tests.gui.whole_window import find

LEFT = Qt.MouseButton.LeftButton
Kind = TypeVar("Kind", bound=QWidget)


@pytest.fixture
def application(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    discard = SimpleNamespace(ask_before_closing=lambda training: Keep.DISCARD)
    monkeypatch.setattr("gui.application.Dialogs", lambda window: discard)
    application = Application()
    application.start()
    qtbot.waitUntil(lambda: application.training.state is TrainingState.IDLE, timeout=20_000)
    yield application
    application.window.close()
    qtbot.waitUntil(lambda: not application.window.isVisible(), timeout=20_000)


@pytest.fixture
def answers(application: Application) -> list[tuple[Answer | None, HostArray | None]]:
    heard: list[tuple[Answer | None, HostArray | None]] = []
    application.drawing.controller.answered.connect(lambda answer, picture: heard.append((answer, picture)))
    return heard


def draw_a_seven(qtbot: QtBot, application: Application) -> None:
    draw(qtbot, application, (0.1, 0.1), (0.35, 0.1), (0.2, 0.5))


def draw(qtbot: QtBot, application: Application, *corners: tuple[float, float]) -> None:
    """A stroke from corner to corner, in shares of the sheet."""
    canvas = application.window.drawing_panel.canvas
    side, left = min(canvas.width(), canvas.height()), (canvas.width() - min(canvas.width(), canvas.height())) // 2
    points = [QPoint(left + int(x * side), int(y * side)) for x, y in corners]
    qtbot.mousePress(canvas, LEFT, pos=points[0])
    for start, end in pairwise(points):
        for step in range(1, 11):
            qtbot.mouseMove(canvas, start + (end - start) * step / 10)
    qtbot.mouseRelease(canvas, LEFT, pos=points[-1])


def test_test_digits_are_seen_byte_for_byte_and_drawing_begins_anew(
    qtbot: QtBot,
    application: Application,
    answers: list[tuple[Answer | None, HostArray | None]],
    mnist: DigitSets,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gui.example_controller.random.randrange", lambda count: count - 1)
    for name, number in (("randomDigitButton", 9999), ("nextDigitButton", 0), ("previousDigitButton", 9999)):
        answers.clear()
        qtbot.mouseClick(find(application, name, QPushButton), LEFT)
        qtbot.waitUntil(lambda: bool(answers))
        assert answers[-1][1] is not None
        assert answers[-1][1].tobytes() == mnist.test.images[number].tobytes()
        label = mnist.test.labels[number]
        assert find(application, "printedLabel", QLabel).text().endswith(f"is a {label}")
        assert find(application, "answerLabel", QLabel).text() == f"It is a {label}"
        assert find(application, "verdictLabel", QLabel).text() == "✓"
    draw_a_seven(qtbot, application)
    qtbot.waitUntil(lambda: find(application, "answerLabel", QLabel).text() == "It is a 7")
    assert not find(application, "printedLabel", QLabel).isVisible()


def test_steps_left_out_change_the_answer_and_neighbours_stand_beside_it(
    qtbot: QtBot, application: Application, answers: list[tuple[Answer | None, HostArray | None]]
) -> None:
    draw_a_seven(qtbot, application)
    qtbot.mouseClick(find(application, "stepsOpener", QWidget), LEFT)
    nearest = find(application, "nearestRow", QWidget)
    qtbot.waitUntil(lambda: nearest.accessibleDescription() == "7, 7, 7, 7, 7", timeout=10_000)
    answer, whole = answers[-1]
    assert answer is not None
    assert whole is not None
    assert answer.guess == 7
    for step in ("crop", "scale", "centre"):
        find(application, f"{step}Switch", QCheckBox).click()
    qtbot.waitUntil(lambda: answers[-1][1] is not None and not answers[-1][1][16:].any())
    picture = answers[-1][1]
    assert picture is not None
    # The drawing lies where it was drawn, in the upper left quarter.
    assert np.flatnonzero(picture.any(axis=0)).max() < 12
    for step in ("crop", "scale", "centre"):
        find(application, f"{step}Switch", QCheckBox).click()
    qtbot.waitUntil(lambda: np.array_equal(answers[-1][1], whole))
    qtbot.keyClick(find(application, "inputPreview", QWidget), Qt.Key.Key_Left)
    qtbot.waitUntil(lambda: np.array_equal(answers[-1][1], np.pad(whole[:, 1:], ((0, 0), (0, 1)))))


def test_the_steps_fit_a_small_screen_by_scrolling(qtbot: QtBot, application: Application) -> None:
    application.window.resize(1366, 700)
    qtbot.mouseClick(find(application, "stepsOpener", QWidget), LEFT)
    panel = application.window.drawing_panel
    area = panel.parentWidget().parentWidget()
    assert isinstance(area, QScrollArea)
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0)
    qtbot.waitUntil(lambda: panel.height() >= panel.minimumSizeHint().height())
    assert panel.width() <= area.viewport().width()
    for name in ("cropSwitch", "nearestRow", "probabilityChart"):
        widget = find(application, name, QWidget)
        area.ensureWidgetVisible(widget)
        assert widget.visibleRegion().boundingRect().width() == widget.width(), name


def answer(application: Application) -> str:
    return find(application, "answerLabel", QLabel).text()


def test_digits_drawn_side_by_side_are_a_number_and_each_can_be_looked_at(
    qtbot: QtBot, application: Application, answers: list[tuple[Answer | None, HostArray | None]]
) -> None:
    draw_a_seven(qtbot, application)
    qtbot.waitUntil(lambda: answer(application) == "It is a 7")
    seven = answers[-1][1]
    draw(qtbot, application, (0.6, 0.12), (0.6, 0.5))
    draw(qtbot, application, (0.75, 0.12), (0.72, 0.33), (0.92, 0.33))
    draw(qtbot, application, (0.86, 0.2), (0.86, 0.52))
    qtbot.waitUntil(lambda: answer(application) == "It is 714")
    row = find(application, "numberRow", QListWidget)
    qtbot.mouseClick(row.viewport(), LEFT, pos=row.visualItemRect(row.item(0)).center())
    qtbot.waitUntil(lambda: np.array_equal(answers[-1][1], seven))
    qtbot.keyClick(row, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: answers[-1][0] is not None and answers[-1][0].digit == 1)
    qtbot.keyClick(row, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(row, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: answer(application) == "It is 71")


def test_a_picture_is_read_dropped_or_pasted_and_a_broken_one_changes_nothing(
    qtbot: QtBot,
    application: Application,
    answers: list[tuple[Answer | None, HostArray | None]],
    mnist: DigitSets,
    tmp_path: Path,
) -> None:
    canvas, status = application.window.drawing_panel.canvas, find(application, "statusLabel", QLabel)
    digits = np.concatenate([np.kron(one, np.ones((3, 3), np.uint8)) for one in mnist.test.images[:3]], axis=1)
    Image.fromarray(255 - np.pad(digits, 20)).save(tmp_path / "number.jpg")
    (tmp_path / "broken.jpg").write_bytes((tmp_path / "number.jpg").read_bytes()[:300])

    def drop(name: str) -> None:
        mime, copy, none = QMimeData(), Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
        mime.setUrls([QUrl.fromLocalFile(str(tmp_path / name))])
        QApplication.sendEvent(canvas, QDragEnterEvent(canvas.rect().center(), copy, mime, LEFT, none))
        QApplication.sendEvent(canvas, QDropEvent(QPointF(canvas.rect().center()), copy, mime, LEFT, none))

    drop("number.jpg")
    qtbot.waitUntil(lambda: answer(application) == "It is 721", timeout=20_000)
    assert status.text() == "Found 3 digits."
    drop("broken.jpg")
    qtbot.waitUntil(lambda: "broken.jpg" in status.text(), timeout=20_000)
    assert answer(application) == "It is 721"
    QGuiApplication.clipboard().setImage(to_qimage(mnist.test.images[3]))
    application.window.paste_picture_action.trigger()
    qtbot.waitUntil(lambda: answer(application) == "It is a 0", timeout=20_000)
    assert answers[-1][1] is not None
    assert answers[-1][1].tobytes() == mnist.test.images[3].tobytes()
    qtbot.keyClick(canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: answer(application) == "It is 721")
    draw_a_seven(qtbot, application)
    qtbot.waitUntil(lambda: answer(application) == "It is a 7")
