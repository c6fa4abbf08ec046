"""The picture of a network: said in words, drawn in pixels, and never wider than its room."""

from itertools import pairwise

import pytest
from PySide6.QtGui import QImage, QPalette
from pytestqt.qtbot import QtBot

from core.nn.architecture import describe
from core.training.hyperparameters import INPUT_SHAPE
from core.training.presets import PRESETS
from gui import theme
from gui.widgets.network_picture import NetworkPicture


@pytest.fixture
def picture(qtbot: QtBot) -> NetworkPicture:
    picture = NetworkPicture()
    qtbot.addWidget(picture)
    picture.resize(264, 10)
    picture.show()
    return picture


def show(picture: NetworkPicture, network: str) -> None:
    picture.show_stages(INPUT_SHAPE, describe(network, INPUT_SHAPE))


def grab(picture: NetworkPicture) -> QImage:
    return picture.grab().toImage()


def columns_with(image: QImage, colour: str) -> list[int]:
    return [x for x in range(image.width()) if any(image.pixelColor(x, y).name() == colour for y in range(84))]


def filled_columns(image: QImage, background: str, top: int, bottom: int) -> list[int]:
    """Where there is anything between `top` and `bottom`."""
    rows = range(top, bottom)
    return [x for x in range(image.width()) if any(image.pixelColor(x, y).name() != background for y in rows)]


def first_filled_row(image: QImage, x: int) -> int:
    """The highest row below the name that is not background."""
    background = image.pixelColor(0, 0).name()
    return next(y for y in range(18, 62) if image.pixelColor(x, y).name() != background)


def height_of(image: QImage, colour: str, x: int) -> int:
    return sum(image.pixelColor(x, y).name() == colour for y in range(84))


@pytest.mark.parametrize(
    ("network", "words"),
    [
        ("linear 10", "input 1×28², linear 10"),
        ("linear 256 bn relu, dropout 0.2, linear 10", "input 1×28², linear 256, linear 10"),
        ("conv 16x3 relu, pool 2, linear 10", "input 1×28², conv 16×26², pool 16×13², linear 10"),
        ("conv 16x3 same bn gelu, flatten, linear 10", "input 1×28², conv 16×28², linear 10"),
    ],
)
def test_it_is_said_in_words_stage_by_stage(picture: NetworkPicture, network: str, words: str) -> None:
    show(picture, network)
    assert picture.accessibleDescription() == words
    assert picture.accessibleName()


def test_the_tooltip_names_every_layer_those_not_drawn_too(picture: NetworkPicture) -> None:
    show(picture, "linear 256 bn relu, dropout 0.2, linear 10")
    for words in ("linear 256", "bn", "relu", "dropout 0.2", "linear 10"):
        assert f"<p>{words}</p>" in picture.toolTip()


def test_what_is_said_is_drawn_from_left_to_right(picture: NetworkPicture) -> None:
    bar = theme.colours(picture.palette()).bar
    show(picture, "linear 10")
    two = columns_with(grab(picture), bar)
    show(picture, "linear 64, linear 64, linear 10")
    four = columns_with(grab(picture), bar)
    assert max(two) < 2 * 44
    assert 3 * 44 < max(four) < 4 * 44


def test_more_units_make_a_higher_bar_and_a_larger_picture_a_larger_square(picture: NetworkPicture) -> None:
    bar = theme.colours(picture.palette()).bar
    middle = 44 + 22
    heights = []
    for network in ("linear 10", "linear 100, linear 10", "linear 1000, linear 10", "linear 16384, linear 10"):
        show(picture, network)
        heights.append(height_of(grab(picture), bar, middle))
    assert heights == sorted(set(heights))
    show(picture, "conv 1x3, linear 10")
    large = height_of(grab(picture), bar, middle)
    show(picture, "conv 1x15, linear 10")
    assert 0 < height_of(grab(picture), bar, middle) < large


def test_one_picture_is_one_sheet_and_many_are_a_stack(picture: NetworkPicture) -> None:
    steps = []
    for channels in (1, 2, 8, 32):
        show(picture, f"conv {channels}x3, linear 10")
        stack = grab(picture).copy(44, 0, 44, 84)
        tops = [first_filled_row(stack, x) for x in filled_columns(stack, stack.pixelColor(0, 0).name(), 18, 62)]
        steps.append(len(set(tops)))
    assert steps[0] < steps[2] == steps[3]
    assert steps[1] <= steps[2]


def test_long_sizes_do_not_run_into_each_other(picture: NetworkPicture) -> None:
    show(picture, "conv 256x3, conv 256x3 same, linear 10")
    image = grab(picture)
    written = filled_columns(image, image.pixelColor(0, 0).name(), 64, 81)
    gaps = [after - before for before, after in pairwise(written) if after - before > 5]
    assert len(gaps) == 3


def test_a_long_network_goes_on_in_the_next_row(qtbot: QtBot, picture: NetworkPicture) -> None:
    picture.resize(1000, 10)
    show(picture, PRESETS["deep-conv-net"].hyperparameters.network)
    row = picture.height()
    assert len(columns_with(grab(picture), theme.colours(picture.palette()).bar)) > 100
    picture.resize(264, row)
    qtbot.waitUntil(lambda: picture.height() == 3 * row)
    for top in (0, row, 2 * row):
        part = grab(picture).copy(0, top, picture.width(), row)
        assert columns_with(part, theme.colours(picture.palette()).bar)


def test_of_no_network_nothing_is_drawn_or_said(picture: NetworkPicture) -> None:
    show(picture, "linear 10")
    picture.show_stages(INPUT_SHAPE, [])
    assert picture.height() == 0
    assert picture.accessibleDescription() == ""
    assert picture.toolTip() == ""


def test_colours_follow_the_palette(picture: NetworkPicture) -> None:
    show(picture, "linear 10")
    palette = QPalette(picture.palette())
    palette.setColor(QPalette.ColorRole.Window, theme.DARK.window)
    picture.setPalette(palette)
    assert columns_with(grab(picture), theme.DARK.bar)
    assert not columns_with(grab(picture), theme.LIGHT.bar)


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_preset_can_be_drawn(picture: NetworkPicture, name: str) -> None:
    show(picture, PRESETS[name].hyperparameters.network)
    assert columns_with(grab(picture), theme.colours(picture.palette()).bar)
    assert picture.accessibleDescription().endswith("linear 10")
