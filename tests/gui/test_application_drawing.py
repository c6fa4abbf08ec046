"""The canvas in the whole window: what lies on it is answered, step by step and beside its neighbours."""

from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import TypeVar

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from core.device import HostArray
from core.digits.dataset import DigitSets
from core.predictor import Answer
from gui.application import Application
from gui.dialogs import Keep
from gui.training_state import TrainingState

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


def find(application: Application, name: str, kind: type[Kind]) -> Kind:
    found = application.window.findChild(kind, name)
    assert isinstance(found, kind)
    return found


def draw_a_seven(qtbot: QtBot, application: Application) -> None:
    canvas = application.window.drawing_panel.canvas
    side, left = min(canvas.width(), canvas.height()), (canvas.width() - min(canvas.width(), canvas.height())) // 2
    corners = [(0.1, 0.1), (0.35, 0.1), (0.2, 0.5)]
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
    assert panel.height() >= panel.minimumSizeHint().height()
    assert panel.width() <= area.viewport().width()
    for name in ("cropSwitch", "nearestRow", "probabilityChart"):
        widget = find(application, name, QWidget)
        area.ensureWidgetVisible(widget)
        assert widget.visibleRegion().boundingRect().width() == widget.width(), name
