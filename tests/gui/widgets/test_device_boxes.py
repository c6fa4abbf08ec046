"""The boxes of the devices: ticked, unticked, and grey with a reason."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel
from pytestqt.qtbot import QtBot

from core.device import DeviceInfo
from gui.widgets.device_boxes import DeviceBoxes

CPU = DeviceInfo("cpu", "CPU – 2 threads", available=True)
GPU = DeviceInfo("cuda:0", "NVIDIA H200", available=True)
NO_GPU = DeviceInfo("cuda:0", "NVIDIA GPU", available=False, reason="no driver was found", remedy="Install one.")


@pytest.fixture
def boxes(qtbot: QtBot) -> DeviceBoxes:
    boxes = DeviceBoxes()
    qtbot.addWidget(boxes)
    boxes.show()
    qtbot.waitExposed(boxes)
    return boxes


def box(boxes: DeviceBoxes, key: str) -> QCheckBox:
    QApplication.processEvents()
    (found,) = boxes.findChildren(QCheckBox, f"deviceBox-{key}")
    return found


def click(qtbot: QtBot, box: QCheckBox) -> None:
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))


def test_before_devices_are_known_there_is_the_cpu(boxes: DeviceBoxes) -> None:
    assert boxes.chosen_keys() == ("cpu",)


def test_all_that_can_compute_are_ticked_and_a_click_takes_a_tick_away(qtbot: QtBot, boxes: DeviceBoxes) -> None:
    boxes.show_devices([CPU, GPU])
    assert boxes.chosen_keys() == ("cpu", "cuda:0")
    assert boxes.names() == {"cpu": "CPU – 2 threads", "cuda:0": "NVIDIA H200"}
    with qtbot.waitSignal(boxes.changed):
        click(qtbot, box(boxes, "cpu"))
    assert boxes.chosen_keys() == ("cuda:0",)


def test_one_that_cannot_compute_is_grey_unticked_and_says_why(qtbot: QtBot, boxes: DeviceBoxes) -> None:
    boxes.show_devices([CPU, NO_GPU])
    grey = box(boxes, "cuda:0")
    assert not grey.isEnabled()
    assert grey.text() == "NVIDIA GPU (not available)"
    assert "No driver was found. Install one." in grey.toolTip()
    assert "No driver was found. Install one." in [label.text() for label in boxes.findChildren(QLabel)]
    click(qtbot, grey)
    assert boxes.chosen_keys() == ("cpu",)


def test_a_tick_taken_away_stays_away_when_devices_are_looked_for_again(qtbot: QtBot, boxes: DeviceBoxes) -> None:
    boxes.show_devices([CPU, NO_GPU])
    click(qtbot, box(boxes, "cpu"))
    boxes.show_devices([CPU, GPU])
    assert boxes.chosen_keys() == ("cuda:0",)
