"""The choice of a device: only those that can compute can be chosen, and the others say why and what helps."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QLocale, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from core.device import DeviceInfo
from gui.widgets.device_selector import DeviceSelector

CPU = DeviceInfo("cpu", "CPU – 2 threads", available=True)
GPU = DeviceInfo("cuda:0", "Big Card", available=True)
NO_GPU = DeviceInfo(
    "cuda:0", "NVIDIA GPU", available=False, reason="no driver was found", remedy="Install it, then start with: run me"
)


@pytest.fixture
def selector(qtbot: QtBot) -> DeviceSelector:
    selector = DeviceSelector()
    qtbot.addWidget(selector)
    selector.show()
    return selector


def heard(selector: DeviceSelector) -> list[str]:
    keys: list[str] = []
    selector.device_selected.connect(keys.append)
    return keys


def wheel(selector: DeviceSelector) -> None:
    middle = QPointF(selector.rect().center())
    no_button, no_key, phase = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(middle, middle, QPoint(), QPoint(0, -120), no_button, no_key, phase, False)
    QApplication.sendEvent(selector, event)


def test_while_looking_the_cpu_can_be_used_and_nothing_else(qtbot: QtBot, selector: DeviceSelector) -> None:
    keys = heard(selector)
    assert selector.selected_key() == "cpu"
    assert "GPU" in selector.itemText(1)
    qtbot.keyClick(selector, Qt.Key.Key_Down)
    assert (selector.selected_key(), keys) == ("cpu", [])


def test_an_unavailable_device_says_why_and_what_helps_and_cannot_be_chosen(
    qtbot: QtBot, selector: DeviceSelector
) -> None:
    selector.show_devices([CPU, NO_GPU])
    qtbot.keyClick(selector, Qt.Key.Key_Down)
    qtbot.keyClick(selector, Qt.Key.Key_End)
    assert selector.selected_key() == "cpu"
    assert "NVIDIA GPU" in selector.itemText(1)
    assert "not available" in selector.itemText(1)
    for text in ("No driver was found.", "Install it, then start with:"):
        assert text in selector.itemData(1, Qt.ItemDataRole.ToolTipRole)
        assert text in selector.toolTip()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_popup_has_room_for_the_reason_and_the_remedy(qtbot: QtBot, selector: DeviceSelector) -> None:
    selector.show_devices([CPU, NO_GPU])
    option = QStyleOptionViewItem()
    option.font = selector.font()
    heights = [selector.itemDelegate().sizeHint(option, selector.model().index(row, 0)).height() for row in (0, 1)]
    assert heights[1] >= heights[0] + 2 * selector.fontMetrics().height() * 0.8
    selector.showPopup()
    view = selector.view()
    blocked = view.visualRect(selector.model().index(1, 0))
    assert view.rect().contains(blocked)
    picture = view.viewport().grab(blocked).toImage()
    lower_half = {
        picture.pixel(x, y) for x in range(picture.width()) for y in range(picture.height() // 2, picture.height())
    }
    assert len(lower_half) > 1
    selector.hidePopup()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_click_on_an_unavailable_device_chooses_nothing(qtbot: QtBot, selector: DeviceSelector) -> None:
    selector.show_devices([CPU, NO_GPU])
    keys = heard(selector)
    selector.showPopup()
    place = selector.view().visualRect(selector.model().index(1, 0)).center()
    qtbot.mouseClick(selector.view().viewport(), Qt.MouseButton.LeftButton, pos=place)
    selector.hidePopup()
    assert (selector.selected_key(), keys) == ("cpu", [])


def test_choosing_emits_the_key(qtbot: QtBot, selector: DeviceSelector) -> None:
    selector.show_devices([CPU, GPU])
    keys = heard(selector)
    qtbot.keyClick(selector, Qt.Key.Key_Down)
    assert (selector.selected_key(), keys) == ("cuda:0", ["cuda:0"])


def test_a_card_s_memory_stands_behind_its_name_whether_it_can_be_used_or_not(selector: DeviceSelector) -> None:
    selector.setLocale(QLocale(QLocale.Language.German))
    broken = replace(NO_GPU, key="cuda:1", memory_bytes=3 * 2**30)
    selector.show_devices([CPU, replace(GPU, memory_bytes=25_000_000_000), broken])
    names = [selector.itemText(row) for row in range(3)]
    assert names == ["CPU – 2 threads", "Big Card, 23,3 GiB", "NVIDIA GPU, 3,0 GiB (not available)"]


def test_the_choice_survives_a_new_list_without_a_signal(qtbot: QtBot, selector: DeviceSelector) -> None:
    selector.show_devices([CPU, GPU])
    qtbot.keyClick(selector, Qt.Key.Key_Down)
    keys = heard(selector)
    selector.show_devices([CPU, DeviceInfo("cuda:1", "Other", available=True), GPU])
    assert (selector.selected_key(), selector.currentText(), keys) == ("cuda:0", "Big Card", [])


def test_a_device_that_broke_is_given_up_for_the_cpu_and_that_is_told(qtbot: QtBot, selector: DeviceSelector) -> None:
    selector.show_devices([CPU, GPU])
    qtbot.keyClick(selector, Qt.Key.Key_Down)
    keys = heard(selector)
    selector.show_devices([CPU, NO_GPU])
    assert (selector.selected_key(), keys) == ("cpu", ["cpu"])


def test_the_wheel_turns_the_choice_only_with_the_keyboard_here(qtbot: QtBot, selector: DeviceSelector) -> None:
    selector.show_devices([CPU, GPU])
    selector.clearFocus()
    wheel(selector)
    assert selector.selected_key() == "cpu"


def test_names_for_tests_and_screen_readers(selector: DeviceSelector) -> None:
    assert selector.objectName() == "deviceSelector"
    assert selector.accessibleName()


def test_a_device_is_chosen_as_soon_as_it_turns_out_to_be_there(selector: DeviceSelector) -> None:
    selector.select("cuda:0")
    assert selector.selected_key() == "cpu"
    gpu = DeviceInfo("cuda:0", "GPU", available=True)
    selector.show_devices([DeviceInfo("cpu", "CPU", available=True), gpu])
    assert selector.selected_key() == "cuda:0"
    selector.select("cpu")
    assert selector.selected_key() == "cpu"
    selector.select("cuda:7")
    assert selector.selected_key() == "cpu"
