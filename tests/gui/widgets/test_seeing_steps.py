"""The way from ink to picture: every step shows what it did, and can be left out."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QCheckBox, QWidget
from pytestqt.qtbot import QtBot

from core.digits.ink import Ink, Stroke
from core.digits.rasterizer import Recipe, trace
from gui import theme
from gui.widgets.seeing_steps import SeeingSteps

SMALL_BAR = Ink((Stroke(np.array([[0.1, 0.1], [0.3, 0.1]])),))


@pytest.fixture
def steps(qtbot: QtBot) -> SeeingSteps:
    steps = SeeingSteps()
    qtbot.addWidget(steps)
    steps.show()
    qtbot.waitExposed(steps)
    return steps


def switch(steps: SeeingSteps, step: str) -> QCheckBox:
    found = steps.findChild(QCheckBox, f"{step}Switch")
    assert found is not None
    return found


def ink_box(steps: SeeingSteps, step: str) -> tuple[float, float, float, float] | None:
    """Left, top, right and bottom of the ink in that step's picture, in pixels of 28."""
    widget = steps.findChild(QWidget, f"{step}Picture")
    assert widget is not None
    image = widget.grab().toImage()
    ink = QColor(theme.colours(steps.palette()).ink)
    found = [(x, y) for x in range(image.width()) for y in range(image.height()) if image.pixelColor(x, y) == ink]
    if not found:
        return None
    side = min(image.width(), image.height())
    left, top = (image.width() - side) / 2, (image.height() - side) / 2
    xs, ys = [x - left for x, _ in found], [y - top for _, y in found]
    return tuple(place * 28 / side for place in (min(xs), min(ys), max(xs) + 1, max(ys) + 1))


def show(steps: SeeingSteps, ink: Ink, recipe: Recipe) -> None:
    way = trace(ink, recipe)
    steps.show_picture(way.picture)
    steps.show_drawing(ink, way)


def test_every_step_shows_what_it_did(steps: SeeingSteps) -> None:
    show(steps, SMALL_BAR, Recipe())
    raw, cropped, scaled = (ink_box(steps, step) for step in ("raw", "crop", "scale"))
    # A fifth of the sheet, in its corner; then in the middle; then as long as the box without the pen's ends.
    assert raw == pytest.approx((0.1 * 28 - 0.4, 0.1 * 28 - 0.4, 0.3 * 28 + 0.4, 0.1 * 28 + 0.4), abs=0.6)
    assert cropped == pytest.approx((14 - 0.1 * 28, 14, 14 + 0.1 * 28, 14), abs=1)
    assert scaled == pytest.approx((14 - 8.8, 14, 14 + 8.8, 14), abs=1)
    thickened, centred = ink_box(steps, "thicken"), ink_box(steps, "centre")
    assert thickened == pytest.approx((4, 14 - 1.2, 24, 14 + 1.2), abs=0.7)
    # The middle of pixel 14 is half a pixel further than the middle of the picture.
    assert centred is not None
    assert (centred[0] + centred[2]) / 2 == pytest.approx(14.5, abs=0.4)


def test_the_last_step_is_the_picture_itself(steps: SeeingSteps) -> None:
    image = np.zeros((28, 28), np.uint8)
    image[5:12, 3:20] = 130
    steps.show_picture(image)
    widget = steps.findChild(QWidget, "picturePicture")
    assert widget is not None
    shown, side = widget.grab().toImage(), min(widget.width(), widget.height())
    left = (widget.width() - side) / 2

    def grey(row: float, column: float) -> int:
        return shown.pixelColor(int(left + column * side / 28), int(row * side / 28)).red()

    assert [grey(8.5, 10.5), grey(15.5, 10.5), grey(8.5, 24.5)] == [130, 0, 0]


@pytest.mark.parametrize("step", ["crop", "scale", "thicken", "centre"])
def test_a_step_left_out_is_told(qtbot: QtBot, steps: SeeingSteps, step: str) -> None:
    told: list[Recipe] = []
    steps.recipe_changed.connect(told.append)
    assert steps.recipe() == Recipe()
    qtbot.keyClick(switch(steps, step), Qt.Key.Key_Space)
    qtbot.keyClick(switch(steps, step), Qt.Key.Key_Space)
    assert told == [Recipe(**{step: False}), Recipe()]


@pytest.mark.parametrize(("step", "same_as"), [("crop", "raw"), ("scale", "crop"), ("thicken", "scale")])
def test_a_step_left_out_changes_nothing(steps: SeeingSteps, step: str, same_as: str) -> None:
    show(steps, SMALL_BAR, Recipe(**{step: False}))
    before, after = ink_box(steps, same_as), ink_box(steps, step)
    assert before is not None
    assert after == pytest.approx(before, abs=0.6)
    show(steps, SMALL_BAR, Recipe())
    assert ink_box(steps, step) != pytest.approx(before, abs=0.6)


def test_what_was_drawn_while_nobody_looked_is_there_afterwards(qtbot: QtBot, steps: SeeingSteps) -> None:
    show(steps, SMALL_BAR, Recipe())
    drawn = ink_box(steps, "raw")
    steps.hide()
    show(steps, Ink((Stroke(np.array([[0.7, 0.2], [0.7, 0.9]])),)), Recipe())
    steps.show()
    qtbot.waitExposed(steps)
    assert ink_box(steps, "raw") not in (None, drawn)
    assert ink_box(steps, "raw") == pytest.approx((0.7 * 28, 0.2 * 28, 0.7 * 28, 0.9 * 28), abs=1)


def test_an_empty_sheet_empties_the_steps(steps: SeeingSteps) -> None:
    show(steps, SMALL_BAR, Recipe())
    steps.show_picture(None)
    steps.show_drawing(None, None)
    assert ink_box(steps, "raw") is None
    assert switch(steps, "crop").isEnabled()


def test_a_picture_without_ink_has_its_steps_behind_it(steps: SeeingSteps) -> None:
    steps.show_picture(np.zeros((28, 28), np.uint8))
    steps.show_drawing(None, None)
    assert not switch(steps, "centre").isEnabled()
    show(steps, SMALL_BAR, Recipe())
    assert switch(steps, "centre").isEnabled()


def test_a_dot_goes_the_whole_way(steps: SeeingSteps) -> None:
    show(steps, Ink((Stroke(np.array([[0.2, 0.7]])),)), Recipe())
    box = ink_box(steps, "thicken")
    assert box is not None
    assert box == pytest.approx((14 - 1.2, 14 - 1.2, 14 + 1.2, 14 + 1.2), abs=0.7)


def test_names_for_tests_and_screen_readers(steps: SeeingSteps) -> None:
    for step in ("crop", "scale", "thicken", "centre"):
        assert switch(steps, step).accessibleName()
        assert switch(steps, step).toolTip()
