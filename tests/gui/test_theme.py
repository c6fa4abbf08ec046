"""Colours, pens and fonts: readable by number, told apart by more than colour, and following the system."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QApplication, QCheckBox
from pytestqt.qtbot import QtBot

from gui import theme


@pytest.fixture
def app(qapp: QApplication) -> Iterator[QApplication]:
    """The application, undressed again afterwards: other tests see it too."""
    palette, sheet = qapp.palette(), qapp.styleSheet()
    yield qapp
    qapp.setStyleSheet(sheet)
    qapp.setPalette(palette)


def luminance(colour: str) -> float:
    channels = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in rgb(colour)]
    return sum(weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), channels, strict=True))


def rgb(colour: str) -> tuple[float, float, float]:
    qcolor = QColor(colour)
    return qcolor.redF(), qcolor.greenF(), qcolor.blueF()


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
class TestContrast:
    @pytest.mark.parametrize("text", ["text", "muted", "problem"])
    @pytest.mark.parametrize("behind", ["window", "surface", "field"])
    def test_text_can_be_read(self, scheme: theme.Colours, text: str, behind: str) -> None:
        assert contrast(getattr(scheme, text), getattr(scheme, behind)) >= 4.5

    @pytest.mark.parametrize("behind", ["accent", "accent_hover", "accent_pressed"])
    def test_the_main_button_can_be_read(self, scheme: theme.Colours, behind: str) -> None:
        assert contrast(scheme.on_accent, getattr(scheme, behind)) >= 4.5

    @pytest.mark.parametrize("series", ["train", "validation", "test"])
    def test_curves_and_ink_stand_out(self, scheme: theme.Colours, series: str) -> None:
        assert contrast(scheme.curves[series], scheme.surface) >= 3
        assert contrast(scheme.ink, scheme.paper) >= 7


@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark])
@pytest.mark.parametrize("is_enabled", [True, False])
def test_a_ticked_box_has_a_check_mark(
    app: QApplication, qtbot: QtBot, scheme: Qt.ColorScheme, is_enabled: bool
) -> None:
    theme.apply_scheme(app, scheme)
    box = QCheckBox()
    qtbot.addWidget(box)
    box.setEnabled(is_enabled)
    colours = theme.DARK if scheme == Qt.ColorScheme.Dark else theme.LIGHT

    def inside() -> list[QColor]:
        image = box.grab().toImage()
        return [image.pixelColor(x, y) for x in range(3, 13) for y in range(5, image.height() - 5)]

    assert len({colour.name() for colour in inside()}) == 1
    box.setChecked(True)
    behind = QColor(colours.accent if is_enabled else colours.disabled).name()
    assert {QColor(colours.on_accent).name(), behind} <= {colour.name() for colour in inside()}


def test_curves_differ_in_more_than_colour() -> None:
    pens = [theme.curve_pen(series, theme.LIGHT) for series in ("train", "validation", "test")]
    assert len({(pen.style(), tuple(pen.dashPattern())) for pen in pens}) == 3
    assert all(pen.isCosmetic() for pen in pens)


@pytest.mark.parametrize("scheme", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_a_mark_is_told_from_every_curve_and_stays_in_the_background(scheme: theme.Colours) -> None:
    mark = theme.mark_pen(scheme)
    assert mark.isCosmetic()
    assert mark.color() == QColor(scheme.muted)
    curves = [theme.curve_pen(series, scheme) for series in ("train", "validation", "test")]
    assert tuple(mark.dashPattern()) not in {tuple(pen.dashPattern()) for pen in curves}
    assert mark.color() not in [pen.color() for pen in curves]


@pytest.mark.parametrize(
    ("scheme", "expected"), [(Qt.ColorScheme.Dark, theme.DARK), (Qt.ColorScheme.Light, theme.LIGHT)]
)
def test_the_application_is_dressed_in_the_scheme(
    app: QApplication, scheme: Qt.ColorScheme, expected: theme.Colours
) -> None:
    theme.apply_scheme(app, scheme)
    assert theme.colours(app.palette()) is expected
    assert app.palette().color(QPalette.ColorRole.Window) == QColor(expected.window)
    assert expected.accent in app.styleSheet()


def test_the_application_follows_the_system_and_does_so_once(app: QApplication) -> None:
    theme.apply_theme(app)
    theme.apply_theme(app)
    app.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.colours(app.palette()) is theme.DARK
    app.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert theme.colours(app.palette()) is theme.LIGHT
    assert len([child for child in app.children() if type(child).__name__ == "_SchemeFollower"]) == 1


def test_fonts_scale_with_the_system_font_given_in_points_or_pixels() -> None:
    points, pixels = QFont(), QFont()
    points.setPointSizeF(20.0)
    pixels.setPixelSize(20)
    assert theme.headline_font(points).pointSizeF() == 30.0
    assert theme.headline_font(pixels).pixelSize() == 30


def test_a_tooltip_wraps_and_takes_nothing_for_markup() -> None:
    assert theme.tooltip("a < b\nc") == "<p>a &lt; b</p><p>c</p>"


@pytest.mark.parametrize("scheme", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_the_curves_of_runs_stand_out_and_no_two_are_alike(scheme: theme.Colours) -> None:
    pens = [theme.series_pen(style, scheme) for style in theme.RUN_STYLES]
    assert len({(pen.color().name(), tuple(pen.dashPattern())) for pen in pens}) == len(theme.RUN_STYLES)
    assert all(contrast(colour, scheme.surface) >= 3 for colour in scheme.runs)
