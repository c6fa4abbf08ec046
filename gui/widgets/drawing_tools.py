"""The row of buttons under the sheet: what else can be done with it than to draw."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QPainterPath, QTransform
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gui import theme
from gui.widgets.drawn_button import DrawnButton, dot, lines

_GAP_PX = 3
_LINE_WIDTHS = (theme.INK_WIDTH, theme.INK_WIDTH * 1.5, theme.INK_WIDTH * 0.5)
_DOT_RADIUS = 70
"""On the button's grid, for a line as wide as the sheet; the widths above make dots that are told apart."""


class DrawingTools(QWidget):
    """Says what is wanted; `neighbour_requested` carries -1 or 1."""

    eraser_toggled = Signal(bool)
    line_width_chosen = Signal(float)
    undo_requested = Signal()
    redo_requested = Signal()
    clear_requested = Signal()
    random_digit_requested = Signal()
    neighbour_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._width_number = 0
        self._eraser = DrawnButton(_eraser())
        self._width = DrawnButton(dot(_LINE_WIDTHS[0] * _DOT_RADIUS), filled=True)
        self._undo = DrawnButton(_undo())
        self._redo = DrawnButton(QTransform(-1, 0, 0, 1, 24, 0).map(_undo()))
        self._clear = DrawnButton(_bin())
        self._previous = DrawnButton(lines(((15, 5), (8, 12), (15, 19))))
        self._random = DrawnButton(_dice())
        self._next = DrawnButton(lines(((9, 5), (16, 12), (9, 19))))
        self._eraser.setCheckable(True)
        self._name_controls()
        self._arrange()
        self._connect()
        self._has_examples = False
        self.show_state(can_clear=False, can_undo=False, can_redo=False, can_erase=False, has_example=False)

    def show_state(
        self, *, can_clear: bool, can_undo: bool, can_redo: bool, can_erase: bool, has_example: bool
    ) -> None:
        """Say what can be done now; `has_example`: whether a digit of the data lies on the sheet."""
        self._undo.setEnabled(can_undo)
        self._redo.setEnabled(can_redo)
        self._clear.setEnabled(can_clear)
        self._eraser.setEnabled(can_erase)
        self._random.setEnabled(self._has_examples)
        for button in (self._previous, self._next):
            button.setEnabled(self._has_examples and has_example)

    def allow_examples(self) -> None:
        """There are digits to be put on the sheet from now on."""
        self._has_examples = True
        self._random.setEnabled(True)

    @Slot(bool)
    def show_eraser(self, erases: bool) -> None:
        self._eraser.setChecked(erases)

    @Slot()
    def _on_width_clicked(self) -> None:
        self._width_number = (self._width_number + 1) % len(_LINE_WIDTHS)
        width = _LINE_WIDTHS[self._width_number]
        self._width.show_drawing(dot(width * _DOT_RADIUS))
        self.line_width_chosen.emit(width)

    @Slot()
    def _on_previous_clicked(self) -> None:
        self.neighbour_requested.emit(-1)

    @Slot()
    def _on_next_clicked(self) -> None:
        self.neighbour_requested.emit(1)

    def _connect(self) -> None:
        self._eraser.toggled.connect(self.eraser_toggled)
        self._width.clicked.connect(self._on_width_clicked)
        self._undo.clicked.connect(self.undo_requested)
        self._redo.clicked.connect(self.redo_requested)
        self._clear.clicked.connect(self.clear_requested)
        self._previous.clicked.connect(self._on_previous_clicked)
        self._random.clicked.connect(self.random_digit_requested)
        self._next.clicked.connect(self._on_next_clicked)

    def _name_controls(self) -> None:
        tr = self.tr
        for button, name, title, explanation in (
            (
                self._eraser,
                "eraserButton",
                tr("Eraser"),
                tr("Take away whole strokes by touching them (E): see what each of them does to the answer."),
            ),
            (
                self._width,
                "lineWidthButton",
                tr("Line width"),
                tr(
                    "How thick lines look here: three widths, a matter of taste. The network always sees the drawing "
                    "with a pen as thick as that of the training digits."
                ),
            ),
            (
                self._undo,
                "undoButton",
                tr("Undo"),
                tr("Take back the last stroke, or Clear (Ctrl+Z): see which stroke changes the answer."),
            ),
            (self._redo, "redoButton", tr("Redo"), tr("Do again what was undone (Ctrl+Shift+Z).")),
            (self._clear, "clearButton", tr("Clear"), tr("Take a fresh sheet (Delete). Undo brings the old one back.")),
            (
                self._previous,
                "previousDigitButton",
                tr("Previous test digit"),
                tr("The test digit before this one in the file."),
            ),
            (
                self._random,
                "randomDigitButton",
                tr("Random test digit"),
                tr(
                    "Put a test digit, drawn by lot, on the canvas. The network sees it byte for byte as it is in the "
                    "file, and has never learned from it. Drawing on it begins a new drawing."
                ),
            ),
            (
                self._next,
                "nextDigitButton",
                tr("Next test digit"),
                tr("The test digit after this one in the file."),
            ),
        ):
            button.setObjectName(name)
            button.setAccessibleName(title)
            button.setAccessibleDescription(explanation)
            button.setToolTip(theme.tooltip(f"{title}\n{explanation}"))

    def _arrange(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_GAP_PX)
        for group in (
            (self._clear, self._undo, self._redo),
            (self._eraser, self._width),
            (self._previous, self._random, self._next),
        ):
            if row.count():
                row.addStretch(1)
            for button in group:
                row.addWidget(button)


def _eraser() -> QPainterPath:
    block = ((8.5, 19.5), (3.5, 14.5), (13, 5), (20.5, 12.5), (13.5, 19.5))
    return lines(block, ((8.5, 9.5), (16, 17)), ((7, 19.5), (21, 19.5)))


def _undo() -> QPainterPath:
    path = lines(((9, 5), (4, 10), (9, 15)))
    path.moveTo(4, 10)
    path.lineTo(14.5, 10)
    path.cubicTo(18, 10, 20.5, 12.2, 20.5, 15)
    path.cubicTo(20.5, 17.8, 18, 20, 14.5, 20)
    path.lineTo(11, 20)
    return path


def _bin() -> QPainterPath:
    lid, body = ((4, 6.5), (20, 6.5)), ((6, 6.5), (7, 20.5), (17, 20.5), (18, 6.5))
    return lines(
        lid, ((9, 6.5), (9, 3.5), (15, 3.5), (15, 6.5)), body, ((10, 10.5), (10, 16.5)), ((14, 10.5), (14, 16.5))
    )


def _dice() -> QPainterPath:
    path = QPainterPath()
    path.addRoundedRect(3.5, 3.5, 17, 17, 4, 4)
    for x, y in ((8.5, 8.5), (15.5, 8.5), (12, 12), (8.5, 15.5), (15.5, 15.5)):
        path.addEllipse(x - 0.4, y - 0.4, 0.8, 0.8)
    return path
