"""Eight pictures in two rows, each where it belongs, and a click for others."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gui import theme
from gui.widgets.distortion_preview import DIGITS, DistortionPreview

SIDE, GAP = 56, 3


@pytest.fixture
def preview(qtbot: QtBot) -> DistortionPreview:
    preview = DistortionPreview()
    qtbot.addWidget(preview)
    preview.resize(4 * SIDE + 3 * GAP, 2 * SIDE + GAP)
    preview.show()
    return preview


def colour_at(preview: DistortionPreview, number: int, row: int = 14, column: int = 14) -> str:
    """The colour of one pixel of picture `number`, which is shown at twice its size."""
    down, right = divmod(number, 4)
    x, y = right * (SIDE + GAP) + 2 * column, down * (SIDE + GAP) + 2 * row
    return preview.grab().toImage().pixelColor(x, y).name()


def grey(value: int) -> str:
    return QColor(value, value, value).name()


def flat(*values: int) -> np.ndarray:
    return np.stack([np.full((28, 28), value, np.uint8) for value in values])


def test_every_picture_is_shown_in_its_place(preview: DistortionPreview) -> None:
    values = range(20, 180, 20)
    preview.show_pictures(flat(*values))
    assert [colour_at(preview, number) for number in range(DIGITS)] == [grey(value) for value in values]


def test_a_picture_stands_upright(preview: DistortionPreview, rng: np.random.Generator) -> None:
    pictures = rng.integers(0, 256, (DIGITS, 28, 28), dtype=np.uint8)
    preview.show_pictures(pictures)
    for row, column in ((3, 20), (20, 3), (10, 11)):
        assert colour_at(preview, 5, row, column) == grey(int(pictures[5, row, column]))


def test_where_there_is_no_picture_the_place_is_kept(preview: DistortionPreview) -> None:
    track = QColor(theme.colours(preview.palette()).track).name()
    assert {colour_at(preview, number) for number in range(DIGITS)} == {track}
    preview.show_pictures(flat(10, 200))
    assert [colour_at(preview, number) for number in (0, 1, 2, 7)] == [grey(10), grey(200), track, track]


def test_more_than_eight_are_not_shown(preview: DistortionPreview) -> None:
    preview.show_pictures(flat(*range(10, 130, 10)))
    assert colour_at(preview, 7) == grey(80)


def test_it_keeps_what_it_was_shown(preview: DistortionPreview) -> None:
    pictures = flat(200)
    preview.show_pictures(pictures)
    pictures[:] = 0
    assert colour_at(preview, 0) == grey(200)


def test_views_that_are_not_contiguous_are_shown_rightly(preview: DistortionPreview) -> None:
    pictures = np.zeros((1, 28, 56), np.uint8)
    pictures[0, :, ::2] = np.arange(28, dtype=np.uint8)[:, None] * 9
    preview.show_pictures(pictures[:, :, ::2])
    assert colour_at(preview, 0, 20) == grey(180)


def test_a_click_asks_for_another_draw_and_another_button_does_not(qtbot: QtBot, preview: DistortionPreview) -> None:
    with qtbot.waitSignal(preview.another_requested):
        qtbot.mouseClick(preview, Qt.MouseButton.LeftButton)
    with qtbot.assertNotEmitted(preview.another_requested):
        qtbot.mouseClick(preview, Qt.MouseButton.RightButton)


def test_it_explains_itself(preview: DistortionPreview) -> None:
    assert preview.objectName() == "distortionPreview"
    assert preview.accessibleName()
    assert "network learns nonsense" in preview.accessibleDescription()
    assert "another draw" in preview.toolTip()


def test_space_asks_for_another_draw_as_a_click_does(qtbot: QtBot, preview: DistortionPreview) -> None:
    with qtbot.waitSignal(preview.another_requested):
        qtbot.keyClick(preview, Qt.Key.Key_Space)
