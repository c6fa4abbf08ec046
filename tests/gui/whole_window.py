"""What the tests of the whole window reach into it with: parts by their names, and the mouse."""

from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gui.application import Application

Kind = TypeVar("Kind", bound=QWidget)


def find(application: Application, name: str, kind: type[Kind] = QWidget) -> Kind:  # type: ignore[assignment]
    """The part of the window that is called `name`."""
    found = application.window.findChild(kind, name)
    assert isinstance(found, kind)
    return found


def click(qtbot: QtBot, application: Application, name: str) -> None:
    """Press the button called `name` as soon as it can be."""
    button = find(application, name, QPushButton)
    qtbot.waitUntil(button.isEnabled, timeout=20_000)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
