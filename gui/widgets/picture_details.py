"""What lies behind the picture that the network sees: the steps that made it, and the training digits most like it.

Closed at first, for the canvas wants the room; its title says so while a step is left out or the picture is moved.
"""

from PySide6.QtCore import QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from core.digits.rasterizer import Recipe
from gui import theme
from gui.widgets.nearest_row import NearestRow
from gui.widgets.seeing_steps import SeeingSteps


class PictureDetails(QWidget):
    """Holds `steps` and `nearest`; `opened` says whether they are in sight."""

    opened = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.steps = SeeingSteps()
        self.nearest = NearestRow()
        self._opener = QToolButton()
        self._move = QLabel()
        self._inside = QWidget()
        self._name_controls()
        self._arrange()
        self.steps.recipe_changed.connect(self._show_title)
        self._opener.toggled.connect(self._on_toggled)
        self._show_title(self.steps.recipe())
        self._on_toggled(False)
        self.show_move(0, 0)

    def show_move(self, right_px: int, down_px: int) -> None:
        """Say how far the picture is moved, in its own pixels."""
        number = QLocale().toString
        words = self.tr("moved %1, %2").replace("%1", number(right_px)).replace("%2", number(down_px))
        self._move.setText(words)
        self._move.setVisible((right_px, down_px) != (0, 0))

    @Slot(object)
    def _show_title(self, recipe: Recipe) -> None:
        left_out = [recipe.crop, recipe.scale, recipe.thicken, recipe.centre].count(False)
        words = self.tr("From ink to picture")
        if left_out:
            words = self.tr("From ink to picture (%1 left out)").replace("%1", QLocale().toString(left_out))
        self._opener.setText(words)

    @Slot(bool)
    def _on_toggled(self, is_open: bool) -> None:
        self._opener.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        self._inside.setVisible(is_open)
        self.opened.emit(is_open)

    def _name_controls(self) -> None:
        for control, name, title, explanation in (
            (
                self._opener,
                "stepsOpener",
                self.tr("From ink to picture"),
                self.tr(
                    "How the drawing becomes what the network sees, step by step, with a switch for each step; and the "
                    "training digits that look most like it."
                ),
            ),
            (
                self._move,
                "moveLabel",
                self.tr("Move"),
                self.tr("Pixels to the right and down; a double click on the picture puts it back."),
            ),
        ):
            control.setObjectName(name)
            control.setAccessibleName(title)
            control.setAccessibleDescription(explanation)
            control.setToolTip(theme.tooltip(explanation))
        self._opener.setCheckable(True)
        self._opener.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._move.setProperty("muted", True)
        self._move.setFont(theme.small_font(self.font()))

    def _arrange(self) -> None:
        title = QHBoxLayout()
        title.addWidget(self._opener)
        title.addStretch(1)
        title.addWidget(self._move)
        nearest_title = QLabel(self.tr("Nearest training digits"))
        nearest_title.setProperty("muted", True)
        inside = QVBoxLayout(self._inside)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(theme.SPACING)
        for part in (self.steps, nearest_title, self.nearest):
            inside.addWidget(part)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACING)
        layout.addLayout(title)
        layout.addWidget(self._inside)
