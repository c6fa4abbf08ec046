"""Every colour, font and pen width of the window, and nothing else.

A room of its own so that light and dark, contrast and colour-blind safety are decided once. Widgets ask
`colours(self.palette())` whenever they paint or their palette changes; nobody keeps a copy. The colours of the curves
are from the Okabe-Ito set, and each curve has a line style of its own besides.
"""

import html
from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QColor, QFont, QPalette, QPen
from PySide6.QtWidgets import QApplication

SPACING = 8
MARGIN = 12
RADIUS = 6

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
    down, up = _arrow("top", scheme.field), _arrow("bottom", scheme.field)
    down_off, up_off = _arrow("top", scheme.window), _arrow("bottom", scheme.window)
    return f"""
    QComboBox, QAbstractSpinBox, QLineEdit, QPlainTextEdit {{
        background: {scheme.field}; border: 1px solid {scheme.border}; border-radius: {RADIUS}px;
        padding: 3px 8px; min-height: 20px; selection-background-color: {scheme.accent};
        selection-color: {scheme.on_accent};
    }}
    QComboBox {{ combobox-popup: 0; }}
    QLineEdit, QPlainTextEdit {{ padding: 3px 6px; }}
    QAbstractSpinBox > QLineEdit {{ background: transparent; border: none; padding: 0; min-height: 0; }}
    QAbstractSpinBox {{ padding: 1px 4px 2px 8px; }}
    QComboBox:hover, QAbstractSpinBox:hover, QLineEdit:hover,
    QPlainTextEdit:hover {{ border-color: {scheme.disabled}; }}
    QComboBox:focus, QAbstractSpinBox:focus, QLineEdit:focus,
    QPlainTextEdit:focus {{ border: 1px solid {scheme.accent}; }}
    QComboBox:disabled, QAbstractSpinBox:disabled, QLineEdit:disabled,
    QPlainTextEdit:disabled {{
        background: {scheme.window}; color: {scheme.muted};
    }}
    QComboBox::drop-down {{ border: none; width: 22px; }}
    QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {{ border: none; width: 20px; }}
    QAbstractSpinBox::up-arrow {{ {up} {scheme.muted}; }}
    QComboBox::down-arrow, QAbstractSpinBox::down-arrow {{ {down} {scheme.muted}; }}
    QAbstractSpinBox::up-arrow:off {{ {up} {scheme.border}; }}
    QAbstractSpinBox::down-arrow:off {{ {down} {scheme.border}; }}
    QAbstractSpinBox::up-arrow:disabled {{ {up_off} {scheme.border}; }}
    QComboBox::down-arrow:disabled, QAbstractSpinBox::down-arrow:disabled {{ {down_off} {scheme.border}; }}
    QComboBox QAbstractItemView {{
        background: {scheme.surface}; border: 1px solid {scheme.border}; outline: none; padding: 4px;
        selection-background-color: {scheme.hover}; selection-color: {scheme.text};
    }}
    QComboBox QAbstractItemView::item {{ min-height: 26px; padding: 0 6px; }}
    QPushButton {{
        background: {scheme.field}; border: 1px solid {scheme.border}; border-radius: {RADIUS}px;
        padding: 4px 12px; min-height: 20px;
    }}
    QPushButton:hover {{ background: {scheme.hover}; }}
    QPushButton:pressed {{ background: {scheme.track}; }}
    QPushButton:focus {{ border: 1px solid {scheme.accent}; }}
    QPushButton:disabled {{ background: {scheme.window}; color: {scheme.disabled}; }}
    QPushButton[primary="true"] {{
        background: {scheme.accent}; border: 1px solid {scheme.accent}; color: {scheme.on_accent}; font-weight: 600;
    }}
    QPushButton[primary="true"]:hover {{ background: {scheme.accent_hover}; }}
    QPushButton[primary="true"]:pressed {{ background: {scheme.accent_pressed}; }}
    QPushButton[primary="true"]:focus {{ border: 2px solid {scheme.text}; padding: 3px 11px; }}
    QPushButton[primary="true"]:disabled {{
        background: {scheme.track}; border: 1px solid {scheme.track}; color: {scheme.disabled};
    }}
    QToolButton {{
        background: transparent; border: 1px solid transparent; border-radius: {RADIUS}px; padding: 2px 6px 2px 0;
    }}
    QToolButton:hover {{ background: {scheme.hover}; }}
    QToolButton:focus {{ border-color: {scheme.accent}; }}
    QCheckBox::indicator, QTableView::indicator {{
        width: 14px; height: 14px; background: {scheme.field}; border: 1px solid {scheme.disabled}; border-radius: 4px;
    }}
    QCheckBox::indicator:hover, QCheckBox:focus::indicator {{ border-color: {scheme.accent}; }}
    QCheckBox::indicator:checked, QTableView::indicator:checked {{
        border-color: {scheme.accent};
        background: qradialgradient(cx: 0.5, cy: 0.5, radius: 0.5, fx: 0.5, fy: 0.5,
            stop: 0 {scheme.accent}, stop: 0.62 {scheme.accent}, stop: 0.7 {scheme.field}, stop: 1 {scheme.field});
    }}
    QFrame[card="true"] {{
        background: {scheme.surface}; border: 1px solid {scheme.border}; border-radius: {RADIUS + 2}px;
    }}
    QLabel[muted="true"] {{ color: {scheme.muted}; }}
    QLabel[problem="true"] {{ color: {scheme.problem}; }}
    QProgressBar {{ background: {scheme.track}; border: none; border-radius: 4px; min-height: 8px; max-height: 8px; }}
    QProgressBar::chunk {{ background: {scheme.accent}; border-radius: 4px; }}
    QToolTip {{ background: {scheme.surface}; color: {scheme.text}; border: 1px solid {scheme.border}; padding: 6px; }}
    QScrollArea, QScrollArea > QWidget > QWidget#scrolled {{ background: transparent; border: none; }}
    QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
    QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; }}
    QScrollBar::handle {{ background: {scheme.border}; border-radius: 3px; margin: 2px; }}
    QScrollBar::handle:vertical {{ min-height: 28px; }}
    QScrollBar::handle:horizontal {{ min-width: 28px; }}
    QScrollBar::handle:hover {{ background: {scheme.disabled}; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
    QScrollBar::add-page, QScrollBar::sub-page, QSplitter::handle {{ background: transparent; }}
    QSplitter::handle:hover {{ background: {scheme.border}; }}
    QTabWidget::pane {{ border: none; }}
    QTabBar::tab {{
        background: transparent; color: {scheme.muted}; border: none; border-bottom: 2px solid transparent;
        padding: 6px 10px 4px 10px; margin-left: 2px;
    }}
    QTabBar::tab:hover {{ color: {scheme.text}; }}
    QTabBar::tab:selected {{ color: {scheme.text}; border-bottom: 2px solid {scheme.accent}; }}
    QTabBar::tab:selected:focus {{ background: {scheme.hover}; }}
    QTableView {{
        background: transparent; selection-background-color: {scheme.hover}; selection-color: {scheme.text};
    }}
    QTableView:focus {{ selection-background-color: {scheme.track}; }}
    QTableView QLineEdit {{ min-height: 0; padding: 0 4px; border-radius: 0; }}
    QHeaderView {{ background: transparent; }}
    QHeaderView::section {{
        background: transparent; color: {scheme.muted}; border: none; border-bottom: 1px solid {scheme.border};
        padding: 2px 6px;
    }}
    QMenuBar {{ background: {scheme.window}; }}
    QMenu {{ background: {scheme.surface}; border: 1px solid {scheme.border}; padding: 4px; }}
    QMenu::item {{ padding: 5px 24px 5px 12px; border-radius: 4px; }}
    QMenu::item:selected, QMenuBar::item:selected {{ background: {scheme.hover}; color: {scheme.text}; }}
    """
