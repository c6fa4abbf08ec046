"""The sheet to draw a digit on.

A room of its own because it turns a mouse, a pen or a finger into `Ink` and knows nothing of pixels: points are kept
in units of the sheet's side, so that it may be resized and shown on any screen without the drawing changing.
"""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDropEvent,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.digits.ink import Ink
from gui import theme
from gui.ink_history import InkHistory, OpenedPicture, PrintedDigit, strokes_touched
from gui.widgets.control_names import name_controls
from gui.widgets.growing_line import GrowingLine
from gui.widgets.ink_path import ink_path
from gui.widgets.pen_input import PenInput, PenPoint
from gui.widgets.picture_source import holds_picture, picture_source
from gui.widgets.sheet_painting import paint_digit, paint_hint, paint_lines, paint_paper, paint_picture

_SMALLEST_SIDE_PX = 160
_MODEST_SIDE_PX = 168
_SHIFTED_UNDO = Qt.Modifier.CTRL | Qt.Modifier.SHIFT | Qt.Key.Key_Z
"""Known everywhere as the way to redo, also where the system's own is another."""
_ERASER_REACH = 0.02
"""So far beyond a line's edge the eraser still gets hold of it, as a share of the sheet's side."""


class DrawingCanvas(QWidget):
    """A square sheet; after every change of what lies on it comes word of that.

    It is `ink_changed` (Ink), `digit_put` (PrintedDigit) or `picture_put` (OpenedPicture). `picture_dropped` carries
    a picture's path or the content of its file, which somebody else reads.
    """

    ink_changed = Signal(object)
    digit_put = Signal(object)
    picture_put = Signal(object)
    picture_dropped = Signal(object)
    labelled = Signal(int)
    eraser_changed = Signal(bool)
    history_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._history = InkHistory()
        self._line: GrowingLine | None = None
        self._began_ms = 0
        self._path = QPainterPath()
        self._line_width = theme.INK_WIDTH
        self._erases = False
        self._rubs_from: tuple[float, float] | None = None
        self._held_sheet: QRectF | None = None
        self._selected = 0
        self._pen = PenInput(self)
        self._pen.pressed.connect(self._on_pressed)
        self._pen.moved.connect(self._on_moved)
        self._pen.lifted.connect(self._finish_line)
        self._pen.cancelled.connect(self._on_cancelled)
        explanation = self.tr(
            "Draw a digit with the mouse, a pen or a finger, as large as you like; the network answers while you draw. "
            "Several side by side are read as a number. Delete clears the canvas, Ctrl+Z takes back the last stroke, E "
            "changes between pen and eraser; 0 to 9 say which digit you mean. Pictures can be dropped or pasted here."
        )
        name_controls([(self, "drawingCanvas", self.tr("Drawing canvas"), explanation)])
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(_SMALLEST_SIDE_PX, _SMALLEST_SIDE_PX)
        self.set_eraser(False)

    def ink(self) -> Ink:
        """All that is drawn on the sheet, the stroke being drawn included."""
        strokes = self._history.sheet.ink.strokes
        return Ink((*strokes, self._line.stroke()) if self._line else strokes)

    def printed(self) -> PrintedDigit | None:
        """The digit of a data set that lies on the sheet, if one does."""
        printed = self._printed()
        return printed if isinstance(printed, PrintedDigit) else None

    def _printed(self) -> PrintedDigit | OpenedPicture | None:
        return None if self._line else self._history.sheet.printed

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all lies on the sheet."""
        return not self._line and self._history.sheet.is_empty

    @property
    def can_erase(self) -> bool:
        """Whether there is a stroke to take away."""
        return self._line is not None or not self._history.sheet.ink.is_empty

    @property
    def can_undo(self) -> bool:
        """Whether `undo` would do anything."""
        return bool(self._line) or self._history.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether `redo` would do anything."""
        return not self._line and self._history.can_redo

    def put(self, printed: PrintedDigit | OpenedPicture) -> None:
        """Lay a digit of a data set or a picture on the sheet; whoever draws on it begins a new drawing."""
        self._let_go()
        self._history.put(printed)
        self._show_sheet()

    def clear(self) -> None:
        """Empty the sheet; `undo` brings back what was on it."""
        self._let_go()
        if not self._history.sheet.is_empty:
            self._history.clear()
            self._show_sheet()

    def undo(self) -> None:
        """Take back the last stroke, the last one erased, or the last Clear."""
        self._let_go()
        if self._history.can_undo:
            self._history.undo()
            self._show_sheet()

    def redo(self) -> None:
        """Do again what was undone last."""
        self._let_go()
        if self._history.can_redo:
            self._history.redo()
            self._show_sheet()

    def set_eraser(self, erases: bool) -> None:
        """Whether the pen takes strokes away instead of drawing them; on a sheet without any it always draws."""
        erases = erases and self.can_erase
        self.setCursor(Qt.CursorShape.PointingHandCursor if erases else Qt.CursorShape.CrossCursor)
        if erases != self._erases:
            self._erases = erases
            self.eraser_changed.emit(erases)

    def set_line_width(self, share: float) -> None:
        """How wide lines look, as a share of the sheet's side; a matter of taste that no network sees."""
        self._line_width = share
        self.update()

    def mark_digit(self, place: int) -> None:
        """Mark the picture's digit at this place, from 0, among its boxes."""
        if place != self._selected:
            self._selected = place
            self.update()

    def sizeHint(self) -> QSize:
        # Modest, and the sheet grows into what room there is: scroll areas ask for this much before they scroll.
        return QSize(_MODEST_SIDE_PX, _MODEST_SIDE_PX)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        text, standard = event.text(), QKeySequence.StandardKey
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.clear()
        elif event.matches(standard.Undo):
            self.undo()
        elif event.matches(standard.Redo) or event.keyCombination() == _SHIFTED_UNDO:
            self.redo()
        elif text.lower() == "e":
            self.set_eraser(not self._erases)
        elif text.isascii() and text.isdigit():
            self.labelled.emit(int(text))
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if holds_picture(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if (source := picture_source(event.mimeData())) is not None:
            event.acceptProposedAction()
            self.picture_dropped.emit(source)

    def hideEvent(self, event: QHideEvent) -> None:
        # The release goes elsewhere once the canvas is gone.
        self._let_go()
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # No taller than wide: room above and below the sheet would look like more of it. Never below the size hint, or
        # a scroll area around it would forever ask for less height with its scroll bar and for more without.
        self.setMaximumHeight(max(self.width(), _MODEST_SIDE_PX))

    def paintEvent(self, event: QPaintEvent) -> None:
        scheme = theme.colours(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        sheet = self._sheet()
        paint_paper(painter, sheet, scheme, has_focus=self.hasFocus())
        printed = self._printed()
        if isinstance(printed, PrintedDigit):
            paint_digit(painter, sheet, printed.picture, scheme)
        elif printed is not None:
            paint_picture(painter, sheet, printed, self._selected, scheme)
        elif self.is_empty:
            paint_hint(painter, sheet, self.font(), scheme, str(self.property("subject") or ""))
        else:
            lines = (self._path, self._line.path()) if self._line else (self._path,)
            paint_lines(painter, sheet, lines, self._line_width, scheme)

    def _sheet(self) -> QRectF:
        # A line is drawn on the sheet that it was begun on, even if the window is laid out anew meanwhile.
        if self._held_sheet is not None:
            return self._held_sheet
        side = min(self.width(), self.height())
        return QRectF((self.width() - side) / 2, (self.height() - side) / 2, side, side)

    def _on_sheet(self, position: QPointF) -> tuple[float, float]:
        """Where that is on the sheet, 0 to 1 each way."""
        sheet = self._sheet()
        # Ink beyond the edge could not be seen and would still move the digit away from the centre.
        x = min(max((position.x() - sheet.left()) / sheet.width(), 0.0), 1.0)
        y = min(max((position.y() - sheet.top()) / sheet.height(), 0.0), 1.0)
        return x, y

    def _on_pressed(self, point: PenPoint) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if self._erases or point.erases:
            self._rubs_from = self._on_sheet(point.position)
            self._rub(self._rubs_from)
            return
        if self._history.sheet.ink.is_empty:
            self._began_ms = point.time_ms
            # What is printed goes as soon as something is drawn on it.
            self._path = QPainterPath()
            self.update()
        self._held_sheet = self._sheet()
        self._line = GrowingLine(self._began_ms)
        self._add_point(self._line, point)

    def _on_moved(self, point: PenPoint) -> None:
        if self._rubs_from is not None:
            self._rub(self._on_sheet(point.position))
        elif self._line:
            self._add_point(self._line, point)

    def _on_cancelled(self) -> None:
        self._line = self._rubs_from = self._held_sheet = None
        self._show_sheet()

    def _let_go(self) -> None:
        self._pen.let_go()
        self._finish_line()

    def _finish_line(self) -> None:
        self._rubs_from = self._held_sheet = None
        if self._line:
            self._history.add(self._line.stroke())
            self._path.addPath(self._line.path())
            self._line = None
            self.update()
            self.history_changed.emit()

    def _rub(self, here: tuple[float, float]) -> None:
        assert self._rubs_from is not None
        reach = self._line_width / 2 + _ERASER_REACH
        touched = strokes_touched(self._history.sheet.ink, self._rubs_from, here, reach)
        self._rubs_from = here
        for stroke in touched:
            self._history.erase(stroke)
        if touched:
            self._show_sheet()

    def _add_point(self, line: GrowingLine, point: PenPoint) -> None:
        if line.add(*self._on_sheet(point.position), point.time_ms, point.pressure):
            area, side = line.last_change(self._line_width), self._sheet().width()
            corner = self._sheet().topLeft() + area.topLeft() * side
            self.update(QRectF(corner, area.size() * side).toAlignedRect())
            self.ink_changed.emit(self.ink())

    def _show_sheet(self) -> None:
        """Paint and tell what lies on the sheet now."""
        self._path = ink_path(self._history.sheet.ink)
        self.update()
        self.set_eraser(self._erases)
        self.history_changed.emit()
        printed = self._printed()
        if isinstance(printed, PrintedDigit):
            self.digit_put.emit(printed)
        elif printed is not None:
            self.picture_put.emit(printed)
        else:
            self.ink_changed.emit(self.ink())
