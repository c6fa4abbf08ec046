"""What every control has besides its looks: a name for tests, one for screen readers, and an explanation for all."""

from collections.abc import Iterable
from typing import TypeAlias

from PySide6.QtWidgets import QWidget

from gui import theme

ControlNames: TypeAlias = tuple[QWidget, str, str, str]
"""A control, its object name, its name for people, and what it does."""


def name_controls(controls: Iterable[ControlNames]) -> None:
    """Give each of `controls` its names; the explanation is its description and its tooltip."""
    for control, name, title, explanation in controls:
        control.setObjectName(name)
        control.setAccessibleName(title)
        control.setAccessibleDescription(explanation)
        control.setToolTip(theme.tooltip(explanation))
