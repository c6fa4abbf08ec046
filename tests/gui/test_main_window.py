"""The window by itself: everything is there, in sight at every size, and reached by the keyboard."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMessageBox, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from core.training.ledger import RunSummary
from gui import theme
from gui.main_window import MainWindow


@pytest.fixture(params=[False, True], ids=["plain", "dressed"])
def window(request: pytest.FixtureRequest, qtbot: QtBot, qapp: QApplication) -> Iterator[MainWindow]:
    palette, sheet = qapp.palette(), qapp.styleSheet()
    if request.param:
        theme.apply_scheme(qapp, Qt.ColorScheme.Light)
    window = MainWindow()
    qtbot.addWidget(window, before_close_func=MainWindow.allow_close)
    window.show()
    qtbot.waitExposed(window)
    yield window
    qapp.setStyleSheet(sheet)
    qapp.setPalette(palette)


def find(window: MainWindow, name: str) -> QWidget:
    found = window.findChild(QWidget, name)
    assert found is not None
    return found


def lies_inside(window: MainWindow, widget: QWidget) -> bool:
    top_left = widget.mapTo(window, widget.rect().topLeft())
    bottom_right = widget.mapTo(window, widget.rect().bottomRight())
    return window.rect().contains(top_left) and window.rect().contains(bottom_right)


def test_it_opens_at_its_size_with_its_name(window: MainWindow) -> None:
    assert (window.width(), window.height()) == (1280, 760)
    assert window.windowTitle() == "Inkling"


def test_every_control_is_there_by_name_and_explains_itself(window: MainWindow, control_names: list[str]) -> None:
    for name in control_names:
        control = find(window, name)
        assert control.accessibleName(), name
        assert control.toolTip() or control.accessibleDescription(), name


@pytest.mark.parametrize("size", [(1280, 760), (1366, 700)])
def test_everything_is_in_sight(window: MainWindow, size: tuple[int, int], control_names: list[str]) -> None:
    window.resize(*size)
    window.drawing_panel.show_network_name("the network in training, after 212,000 digits")
    QApplication.processEvents()
    for name in control_names[:-1]:
        assert lies_inside(window, find(window, name)), name


@pytest.mark.parametrize("size", [(1160, 640), (1160, 600)])
def test_in_a_small_window_the_side_panels_scroll(window: MainWindow, size: tuple[int, int]) -> None:
    window.resize(*size)
    QApplication.processEvents()
    assert (window.width(), window.height()) == size
    for name in ("trainButton", "stopButton", "accuracyPlot", "lossPlot", "statusLabel"):
        assert lies_inside(window, find(window, name)), name
    # What lies in a tab behind another has no size yet.
    all_areas = [area for area in window.findChildren(QScrollArea) if area.widget().objectName() == "scrolled"]
    areas = [area for area in all_areas if area.isVisible()]
    assert len(areas) == 2
    assert size[1] > 600 or any(area.verticalScrollBar().maximum() > 0 for area in areas)
    for area in areas:
        # Nothing is squeezed below what it needs, and nothing is cut off at the side.
        assert area.widget().height() >= area.widget().minimumSizeHint().height()
        assert area.widget().width() <= area.viewport().width()


def test_on_a_small_laptop_the_drawing_side_needs_no_scroll_bar(window: MainWindow) -> None:
    panel = window.drawing_panel
    panel.show_network_name("the network that came with Inkling (99.71 %)")
    panel.certainty.show_threshold(0.44)
    panel.certainty.show_effect(np.full(101, 1.0), np.full(101, 1.0))
    window.resize(1366, 700)
    QApplication.processEvents()
    (area,) = (area for area in window.findChildren(QScrollArea) if area.widget() is panel)
    assert area.verticalScrollBar().maximum() == 0


def test_no_size_sets_the_layout_spinning(window: MainWindow) -> None:
    """A sheet that shrank with its scroll bar once sent layout and scroll bar after each other for ever."""
    window.drawing_panel.show_network_name("the network in training, which was told to take its time over everything")
    for width in (1024, 1111, 1280):
        for height in range(600, 900, 17):
            window.resize(width, height)
            QApplication.processEvents()


def test_closing_asks_first(qtbot: QtBot, window: MainWindow) -> None:
    with qtbot.waitSignal(window.close_requested):
        assert not window.close()
    assert window.isVisible()
    window.allow_close()
    with qtbot.assertNotEmitted(window.close_requested):
        assert window.close()
    assert not window.isVisible()


def test_the_menus_hold_the_actions(window: MainWindow) -> None:
    files, training, help_menu = (action.menu() for action in window.menuBar().actions())
    networks = (window.open_data_action, window.open_network_action, window.save_network_action)
    actions = (*networks, window.open_picture_action, window.paste_picture_action, window.quit_action)
    assert [action for action in files.actions() if not action.isSeparator()] == list(actions)
    assert training.actions() == [window.find_rate_action]
    assert help_menu.actions() == [window.reset_action, window.about_action]
    assert all(isinstance(action, QAction) and action.text() for action in actions)


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_about_names_the_licences_and_holds_up_nothing(qtbot: QtBot, window: MainWindow) -> None:
    window.about_action.trigger()
    about = window.findChild(QMessageBox)
    assert about is not None
    assert not about.isModal()
    text = about.informativeText()
    for words in ("MNIST", "LeCun", "Cortes", "CC BY-SA 3.0", "MIT"):
        assert words in text
    about.close()
    qtbot.waitUntil(lambda: window.findChild(QMessageBox) is None)


def test_the_tab_key_starts_at_the_top_and_reaches_the_canvas(window: MainWindow) -> None:
    order = []
    widget = window.device_selector.nextInFocusChain()
    while widget is not window.device_selector:
        if widget.objectName() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            order.append(widget.objectName())
        widget = widget.nextInFocusChain()
    wanted = [
        "presetSelector",
        "trainButton",
        "networkField",
        "epochsField",
        "logScale",
        "drawingCanvas",
        "clearButton",
    ]
    assert [name for name in order if name in wanted] == wanted


@pytest.mark.parametrize("width", [1160, 1200, 1280])
def test_no_panel_is_wider_than_the_card_it_lies_on(window: MainWindow, width: int) -> None:
    window.resize(width, 700)
    QApplication.processEvents()
    cards = [window.splitter.widget(place) for place in range(window.splitter.count())]
    assert all(card.width() >= card.minimumSizeHint().width() for card in cards)
    assert cards[1].rect().contains(window.tabs.geometry())
    for panel in (window.learning_plot, window.my_digits_panel, window.runs_panel, window.benchmark_panel):
        assert window.tabs.currentWidget().width() >= panel.minimumSizeHint().width()
    assert sum(card.width() for card in cards) < width


@pytest.mark.parametrize("size", [(1280, 760), (1366, 738), (1160, 600)])
def test_in_the_tab_of_the_benchmark_nothing_is_cut_off(window: MainWindow, size: tuple[int, int]) -> None:
    window.resize(*size)
    window.tabs.setCurrentIndex(window.tabs.count() - 1)
    QApplication.processEvents()
    names = ["benchmarkStart", "benchmarkCancel", "widthsField", "benchmarkPreset", "deviceBoxes"]
    foot = [
        "benchmarkPlot",
        "benchmarkTable",
        "benchmarkLesson",
        "benchmarkProgress",
        "copyTable",
        "saveCsv",
        "savePng",
    ]
    for name in names + (foot if size[1] > 600 else []):
        assert lies_inside(window, find(window, name)), name
    panel = window.benchmark_panel
    assert panel.width() >= panel.minimumSizeHint().width()
    assert find(window, "benchmarkPlot").height() >= 150


@pytest.mark.parametrize("size", [(1280, 760), (1366, 738), (1160, 600)])
def test_in_the_tab_of_the_runs_nothing_is_cut_off(window: MainWindow, size: tuple[int, int]) -> None:
    window.resize(*size)
    window.tabs.setCurrentIndex(window.tabs.count() - 2)
    window.runs_panel.show_runs([RunSummary(Path("a run"), None, "damaged", problem="it is cut short")])
    QApplication.processEvents()
    names = ["continueRun", "repeatRun", "useRun", "saveRun", "deleteRun", "moreRun", "runsTable"]
    foot = ["runsPlot", "runsAxis", "exportRuns"]
    for name in names + (foot if size[1] > 600 else []):
        assert lies_inside(window, find(window, name)), name
    assert window.runs_panel.width() >= window.runs_panel.minimumSizeHint().width()
