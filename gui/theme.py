"""Every colour, font and pen width of the window, and nothing else.

A room of its own so that light and dark, contrast and colour-blind safety are decided once. Widgets ask
`colours(self.palette())` whenever they paint or their palette changes; nobody keeps a copy. The colours of the curves
are from the Okabe-Ito set, and each curve has a line style of its own besides.
"""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QColor, QFont, QPalette, QPen
from PySide6.QtWidgets import QApplication

SPACING = 8
MARGIN = 12
RADIUS = 6
_STYLESHEET = Path(__file__).with_name("theme.qss")
"""What Qt draws itself, in Qt's own language, with the names of colours and measures where those belong."""
_CHECKS = (_STYLESHEET.with_name("check_light.svg"), _STYLESHEET.with_name("check_dark.svg"))
"""The mark of a ticked box, in the `on_accent` of either scheme."""

LINE_WIDTH_PX = 1
CURVE_WIDTH_PX = 1.5
INK_WIDTH = 0.075
"""Width of the pen on the canvas, as a share of the canvas's short side."""


@dataclass(frozen=True)
class Colours:
    """One scheme; `text`, `muted` and `problem` have a contrast of at least 4.5 on `window`, `surface` and `field`."""

    window: str
    surface: str
    field: str
    border: str
    text: str
    muted: str
    disabled: str
    accent: str
    accent_hover: str
    accent_pressed: str
    on_accent: str
    hover: str
    problem: str
    paper: str
    ink: str
    track: str
    bar: str
    curves: Mapping[str, str]
    runs: tuple[str, ...]


LIGHT = Colours(
    window="#f4f5f8",
    surface="#ffffff",
    field="#ffffff",
    border="#d3d8e0",
    text="#1a1e27",
    muted="#566070",
    disabled="#8d95a3",
    accent="#3a4bc8",
    accent_hover="#2f3eb0",
    accent_pressed="#263394",
    on_accent="#ffffff",
    hover="#eceef4",
    problem="#a63a00",
    paper="#ffffff",
    ink="#161b2e",
    track="#e8ebf1",
    bar="#8e9ae6",
    curves={"train": "#0072b2", "validation": "#d55e00", "test": "#008a64", "mine": "#b2558f"},
    runs=("#0072b2", "#d55e00", "#008a64", "#b2558f", "#9a6a00", "#4f46a8", "#2a8ab0", "#5a6270"),
)

DARK = Colours(
    window="#15171c",
    surface="#1d2026",
    field="#23272f",
    border="#3a404c",
    text="#e7e9ee",
    muted="#a3abb9",
    disabled="#727b8b",
    accent="#93a0ff",
    accent_hover="#a9b4ff",
    accent_pressed="#7f8df2",
    on_accent="#10131f",
    hover="#2b303a",
    problem="#ffab70",
    paper="#101216",
    ink="#f2f4fa",
    track="#2a2f39",
    bar="#5563b5",
    curves={"train": "#56b4e9", "validation": "#e69f00", "test": "#2cc295", "mine": "#e59ccb"},
    runs=("#56b4e9", "#ff8a4c", "#2cc295", "#e59ccb", "#e6b400", "#a99cff", "#7fe0f0", "#c3c9d4"),
)

CURVE_DASHES: Mapping[str, list[float]] = {"train": [], "validation": [6, 3], "test": [2, 2], "mine": [6, 2, 2, 2]}
REFERENCE_DASHES: Mapping[str, list[float]] = {"reference": [8, 4], "other reference": [2, 4]}
RUN_STYLES = tuple(f"run {number}" for number in range(3 * len(LIGHT.runs)))
"""Enough for all runs that anyone compares: every colour with every line style."""
CURVE_SYMBOLS = {"train": "s", "validation": "o", "test": "d", "mine": "t"}


def colours(palette: QPalette) -> Colours:
    """The scheme that `palette` belongs to."""
    return DARK if palette.color(QPalette.ColorRole.Window).lightness() < 128 else LIGHT


def thin_pen(colour: str) -> QPen:
    """A line of one pixel at every zoom."""
    pen = QPen(QColor(colour), LINE_WIDTH_PX)
    pen.setCosmetic(True)
    return pen


def mark_pen(scheme: Colours) -> QPen:
    """The line that marks a moment of a run."""
    pen = thin_pen(scheme.muted)
    pen.setDashPattern([1, 3])
    return pen


def curve_pen(series: str, scheme: Colours) -> QPen:
    """The pen of a curve: its colour and line style. One pixel wide: whoever draws makes it `CURVE_WIDTH_PX`."""
    pen = thin_pen(scheme.curves[series])
    if CURVE_DASHES[series]:
        pen.setDashPattern(CURVE_DASHES[series])
    return pen


def veil(scheme: Colours) -> QColor:
    """What lies behind words that stand over curves."""
    behind = QColor(scheme.surface)
    behind.setAlphaF(0.8)
    return behind


def series_pen(style: str, scheme: Colours) -> QPen:
    """The pen of a curve, of a run, or of one of the faint "reference" lines that figures from elsewhere get."""
    if style in CURVE_DASHES:
        return curve_pen(style, scheme)
    pen = thin_pen(series_colour(style, scheme))
    if style in RUN_STYLES:
        dashes = [*CURVE_DASHES.values()][RUN_STYLES.index(style) // len(scheme.runs)]
    else:
        dashes = REFERENCE_DASHES[style]
    if dashes:
        pen.setDashPattern(dashes)
    return pen


def series_colour(style: str, scheme: Colours) -> str:
    """The colour of `series_pen`."""
    if style in RUN_STYLES:
        return scheme.runs[RUN_STYLES.index(style) % len(scheme.runs)]
    return scheme.curves.get(style, scheme.disabled)


def title_font(font: QFont) -> QFont:
    """For the name of a panel or a plot."""
    return _scaled(font, 1.0, QFont.Weight.DemiBold)


def headline_font(font: QFont) -> QFont:
    """For the accuracy a run came to."""
    return _scaled(font, 1.5, QFont.Weight.DemiBold)


def answer_font(font: QFont) -> QFont:
    """For the digit the network reads."""
    return _scaled(font, 1.7, QFont.Weight.DemiBold)


def small_font(font: QFont) -> QFont:
    """For explanations that stay in the background."""
    return _scaled(font, 0.93, QFont.Weight.Normal)


def _scaled(font: QFont, factor: float, weight: QFont.Weight) -> QFont:
    scaled = QFont(font)
    if font.pointSizeF() > 0:
        scaled.setPointSizeF(font.pointSizeF() * factor)
    else:
        scaled.setPixelSize(round(font.pixelSize() * factor))
    scaled.setWeight(weight)
    return scaled


def tooltip(text: str) -> str:
    """`text` as a tooltip that wraps, a paragraph a line: Qt leaves plain text on one line, however long."""
    return "".join(f"<p>{html.escape(line)}</p>" for line in text.splitlines())


def apply_theme(app: QApplication) -> None:
    """Dress `app` in the system's light or dark scheme, now and whenever the system changes it."""
    if app.findChild(_SchemeFollower) is None:
        app.setStyle("Fusion")
        _SchemeFollower(app)


def apply_scheme(app: QApplication, scheme: Qt.ColorScheme) -> None:
    """Dress `app` in `scheme`; where the system names none, its own window colour tells light from dark."""
    if scheme == Qt.ColorScheme.Unknown:
        chosen = colours(app.style().standardPalette())
    else:
        chosen = DARK if scheme == Qt.ColorScheme.Dark else LIGHT
    app.setPalette(_palette(chosen))
    app.setStyleSheet(_stylesheet(chosen))


class _SchemeFollower(QObject):
    """Lives as long as the application does."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        app.styleHints().colorSchemeChanged.connect(self._on_color_scheme_changed)
        self._on_color_scheme_changed(app.styleHints().colorScheme())

    @Slot(Qt.ColorScheme)
    def _on_color_scheme_changed(self, scheme: Qt.ColorScheme) -> None:
        apply_scheme(self._app, scheme)


def _palette(scheme: Colours) -> QPalette:
    role = QPalette.ColorRole
    roles = {
        role.Window: scheme.window,
        role.WindowText: scheme.text,
        role.Base: scheme.field,
        role.AlternateBase: scheme.surface,
        role.Text: scheme.text,
        role.Button: scheme.field,
        role.ButtonText: scheme.text,
        role.ToolTipBase: scheme.surface,
        role.ToolTipText: scheme.text,
        role.PlaceholderText: scheme.muted,
        role.Highlight: scheme.accent,
        role.HighlightedText: scheme.on_accent,
        role.Accent: scheme.accent,
        role.Link: scheme.accent,
    }
    palette = QPalette()
    for name, colour in roles.items():
        palette.setColor(name, QColor(colour))
    for name in (role.WindowText, role.Text, role.ButtonText):
        # Muted rather than faint: what a run was started with must stay readable while it may not be edited.
        palette.setColor(QPalette.ColorGroup.Disabled, name, QColor(scheme.muted))
    palette.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(scheme.border))
    return palette


def _arrow(base: str, behind: str) -> str:
    other = "bottom" if base == "top" else "top"
    sides = f"border-left: 4px solid {behind}; border-right: 4px solid {behind}; border-{other}: 0 none"
    return f"width: 0; height: 0; {sides}; border-{base}: 5px solid"


def _stylesheet(scheme: Colours) -> str:
    # An arrow is a box without content and three borders, two of them in the colour of what is behind: it stays sharp
    # at every scale and needs no picture files. (A transparent border would leave the arrow a rectangle.)
    arrows = {
        "down": _arrow("top", scheme.field),
        "up": _arrow("bottom", scheme.field),
        "down_off": _arrow("top", scheme.window),
        "up_off": _arrow("bottom", scheme.window),
    }
    # A mark cannot be put together so: Qt paints it anew from these lines at every scale.
    check = _CHECKS[scheme is DARK].as_posix()
    template = Template(_STYLESHEET.read_text("utf-8"))
    return template.substitute(vars(scheme), radius=RADIUS, card_radius=RADIUS + 2, check=check, **arrows)
