"""The choice of a set: every set with what it costs, a wish for the one picked, and the set in use in sight."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from core.digits.downloads import SETS
from gui.widgets.data_field import DataField


@pytest.fixture
def field(qtbot: QtBot) -> DataField:
    field = DataField()
    qtbot.addWidget(field)
    field.show()
    qtbot.waitExposed(field)
    return field


@pytest.fixture
def chosen(field: DataField) -> list[str]:
    heard: list[str] = []
    field.chosen.connect(heard.append)
    return heard


def lines(field: DataField) -> list[str]:
    return [field.selector.itemText(row) for row in range(field.selector.count())]


def note(field: DataField) -> QLabel:
    found = field.findChild(QLabel, "dataNote")
    assert isinstance(found, QLabel)
    return found


def pick(qtbot: QtBot, field: DataField, name: str) -> None:
    """Open the list and go to the line of this set by the keyboard."""
    selector = field.selector
    qtbot.keyClick(selector, Qt.Key.Key_Down)
    qtbot.waitUntil(selector.view().isVisible)
    for _ in range(selector.findData(name) - selector.currentIndex()):
        qtbot.keyClick(selector.view(), Qt.Key.Key_Down)
    qtbot.keyClick(selector.view(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not selector.view().isVisible())


def test_every_set_is_listed_with_what_it_takes_to_have_it(field: DataField) -> None:
    field.show_here({"mnist", "kmnist"})
    listed = lines(field)
    assert len(listed) == len(SETS)
    assert listed[:3] == ["MNIST · built in", "Fashion-MNIST · 31 MB to download", "KMNIST · here"]
    assert "562 MB" in listed[3]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_set_that_is_picked_is_a_wish_and_the_one_in_use_stays_in_sight(
    qtbot: QtBot, field: DataField, chosen: list[str]
) -> None:
    with qtbot.waitSignal(field.opened):
        pick(qtbot, field, "kmnist")
    assert chosen == ["kmnist"]
    assert field.selector.currentData() == "mnist"
    pick(qtbot, field, "mnist")
    assert chosen == ["kmnist", "mnist"]


@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.parametrize("modifier", Qt.KeyboardModifier, ids=lambda modifier: modifier.name)
def test_no_key_picks_in_passing(
    qtbot: QtBot, field: DataField, chosen: list[str], modifier: Qt.KeyboardModifier
) -> None:
    for key in (Qt.Key.Key_Down, Qt.Key.Key_K, Qt.Key.Key_PageDown, Qt.Key.Key_End):
        qtbot.keyClick(field.selector, key, modifier)
        field.selector.hidePopup()
        assert field.selector.currentData() == "mnist"
    assert chosen == []


@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.parametrize(
    "modifier", [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.KeypadModifier]
)
def test_an_arrow_opens_the_list(qtbot: QtBot, field: DataField, modifier: Qt.KeyboardModifier) -> None:
    with qtbot.waitSignal(field.opened):
        qtbot.keyClick(field.selector, Qt.Key.Key_Down, modifier)
    field.selector.hidePopup()


def test_no_wheel_picks_in_passing(field: DataField, chosen: list[str]) -> None:
    place = QPointF(5, 5)
    wheel = QWheelEvent(
        place,
        field.selector.mapToGlobal(place),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(field.selector, wheel)
    assert not wheel.isAccepted()
    assert chosen == []
    assert field.selector.currentData() == "mnist"


def test_of_a_set_without_digits_it_is_said_what_it_shows(field: DataField) -> None:
    assert not note(field).isVisible()
    field.show_in_use("fashion-mnist")
    assert field.selector.currentData() == "fashion-mnist"
    assert note(field).isVisible()
    assert "No digits: T-shirt, trousers" in note(field).text()
    field.show_in_use("qmnist")
    assert not note(field).isVisible()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_set_from_a_folder_has_a_line_while_it_is_in_use(qtbot: QtBot, field: DataField, chosen: list[str]) -> None:
    field.show_in_use("my letters")
    assert field.selector.currentText() == "my letters"
    pick(qtbot, field, "my letters")
    assert chosen == []  # It is in use already, and cannot be asked for by name.
    field.show_in_use("mnist")
    assert len(lines(field)) == len(SETS)
