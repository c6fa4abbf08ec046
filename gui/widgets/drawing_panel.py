"""The place to try a network: a canvas, what the network sees of it, and what it answers.

A room of its own because a drawing and its answer belong together; it is the one widget that is made of others.
"""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from core.device import HostArray
from core.digits.downloads import DIGITS
from core.digits.ink import Ink
from core.digits.rasterizer import Trace
from core.predictor import Answer
from gui import theme
from gui.ink_history import OpenedPicture, PrintedDigit
from gui.read_number import ReadNumber
from gui.widgets.answer_words import AnswerWords
from gui.widgets.certainty_row import CertaintyRow
from gui.widgets.drawing_canvas import DrawingCanvas
from gui.widgets.drawing_tools import DrawingTools
from gui.widgets.input_preview import InputPreview
from gui.widgets.meant_digit import MeantDigit
from gui.widgets.number_row import NumberRow
from gui.widgets.picture_details import PictureDetails
from gui.widgets.probability_chart import ProbabilityChart

_GAP_PX = 2


class DrawingPanel(QWidget):
    """What lies on the canvas is told by `ink_changed`, `digit_put` and `picture_put`; answers are shown here.

    These carry an Ink, a PrintedDigit, an OpenedPicture. A picture that was brought here is carried by
    `picture_dropped`, as a path or the content of a file.
    `labelled(digit, Ink)`: the user says what the drawing is. `recipe_changed(Recipe)` and `moved(right, down)`: how
    it is to become a picture. `details_opened(bool)`: whether steps and nearest digits are in sight.
    `example_requested` carries the number of a test digit; `digit_selected` the place of a digit in its number.
    """

    ink_changed = Signal(object)
    digit_put = Signal(object)
    picture_put = Signal(object)
    picture_dropped = Signal(object)
    labelled = Signal(int, object)
    moved = Signal(int, int)
    recipe_changed = Signal(object)
    details_opened = Signal(bool)
    random_example_requested = Signal()
    example_requested = Signal(int)
    digit_selected = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.canvas = DrawingCanvas()
        self._tools = DrawingTools()
        self._preview = InputPreview()
        self._words = AnswerWords()
        self._number_row = NumberRow()
        self._number: ReadNumber | None = None
        self._classes = DIGITS
        self._meant = MeantDigit()
        self._details = PictureDetails()
        self._chart = ProbabilityChart()
        self.certainty = CertaintyRow()
        self._network_name = QLabel(wordWrap=True)
        self._is_drawn_here = False
        self._name_network()
        self._arrange()
        self._connect()
        self.show_answer(None, None)
        self.show_network_name("")

    @Slot(object)
    def show_number(self, number: ReadNumber | None) -> None:
        """Say that there are several digits, before the answer for the selected one; None: there is one at most."""
        self._number = number
        self.canvas.mark_digit(0 if number is None else number.selected)
        self._number_row.show_number(number)
        if number is None:
            self._number_row.hide()
            self._meant.show()
        else:
            self._words.show_number(number.text if self._classes == DIGITS else number.text_in(self._classes))
            # Which digit is meant can be said of one. What is shown is laid out at once, so room is made before.
            self._meant.hide()
            self._number_row.show()

    def show_meanings(self, title: str, classes: tuple[str, ...]) -> None:
        """From the next answer on, 0 to 9 mean these `classes`, which are those of the set of this `title`."""
        self._classes = classes
        self.canvas.setProperty("subject", "" if classes == DIGITS else title)
        self.canvas.update()
        self._words.show_meanings(title, classes)
        for part in (self._chart, self._number_row, self._meant):
            part.show_classes(classes)

    def show_labels(self, classes: tuple[str, ...]) -> None:
        """The labels of training digits mean these `classes`."""
        self._details.nearest.show_classes(classes)

    def show_answer(self, answer: Answer | None, image: HostArray | None) -> None:
        """Show what the network makes of the drawing, and `image`, uint8 (28, 28), what it was given.

        None where there is nothing to show.
        """
        self._preview.show_image(image)
        self._details.steps.show_picture(image)
        self._chart.show_answer(answer)
        if self._number is None:
            self._words.show_answer(answer)
        self._meant.show_answer(None if answer is None else answer.digit)

    @Slot(object, object)
    def show_way(self, ink: Ink | None, trace: Trace | None) -> None:
        """Show how the drawing became what the network sees."""
        self._details.steps.show_drawing(ink, trace)

    @Slot(object, object)
    def show_nearest(self, pictures: HostArray | None, labels: HostArray | None) -> None:
        """Show the training digits, uint8 (n, 28, 28), that are nearest to what the network sees, and their labels."""
        self._details.nearest.show_digits(pictures, labels)

    def show_network_name(self, name: str) -> None:
        """Say which network is answering, such as "the network in training"; "" says nothing."""
        self._network_name.setText(self.tr("Answered by %1").replace("%1", name) if name else "")
        self._network_name.setVisible(bool(name))

    @Slot()
    def allow_examples(self) -> None:
        """There are test digits to be put on the canvas from now on."""
        self._tools.allow_examples()
        self._show_tools()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Whoever has just pressed a button still means the drawing.
        self.canvas.keyPressEvent(event)

    @Slot(object)
    def _on_ink_changed(self, ink: Ink) -> None:
        if ink.is_empty:
            self._meant.show_nothing()
            self._show_tools()
        elif not self._is_drawn_here:
            # The first point of a drawing; what it means has not been said yet.
            self._meant.show_drawing(None)
            self._show_tools()
        self._is_drawn_here = not ink.is_empty
        self.ink_changed.emit(ink)

    @Slot(object)
    def _on_digit_put(self, printed: PrintedDigit) -> None:
        self._is_drawn_here = False
        self._meant.show_printed(printed.number, printed.label, printed.classes)
        self._show_tools()
        self.digit_put.emit(printed)

    @Slot(object)
    def _on_picture_put(self, opened: OpenedPicture) -> None:
        self._is_drawn_here = False
        self._meant.show_nothing()
        self._show_tools()
        self.picture_put.emit(opened)

    @Slot(int)
    def _on_labelled(self, digit: int) -> None:
        ink = self.canvas.ink()
        # Who reads clothes cannot be told which digit a drawing is.
        if not ink.is_empty and self._number is None and self._classes == DIGITS:
            self._meant.show_drawing(digit)
            self.labelled.emit(digit, ink)

    @Slot(int)
    def _on_neighbour_requested(self, step: int) -> None:
        if (printed := self.canvas.printed()) is not None:
            self.example_requested.emit(printed.number + step)

    @Slot()
    def _show_tools(self) -> None:
        self._tools.show_state(
            can_clear=not self.canvas.is_empty,
            can_undo=self.canvas.can_undo,
            can_redo=self.canvas.can_redo,
            can_erase=self.canvas.can_erase,
            has_example=self.canvas.printed() is not None,
        )

    def _connect(self) -> None:
        canvas, tools = self.canvas, self._tools
        canvas.ink_changed.connect(self._on_ink_changed)
        canvas.digit_put.connect(self._on_digit_put)
        canvas.picture_put.connect(self._on_picture_put)
        canvas.picture_dropped.connect(self.picture_dropped)
        canvas.labelled.connect(self._on_labelled)
        canvas.history_changed.connect(self._show_tools)
        canvas.eraser_changed.connect(tools.show_eraser)
        tools.eraser_toggled.connect(canvas.set_eraser)
        tools.line_width_chosen.connect(canvas.set_line_width)
        tools.undo_requested.connect(canvas.undo)
        tools.redo_requested.connect(canvas.redo)
        tools.clear_requested.connect(canvas.clear)
        tools.random_digit_requested.connect(self.random_example_requested)
        tools.neighbour_requested.connect(self._on_neighbour_requested)
        self._number_row.selected.connect(self.digit_selected)
        self._meant.chosen.connect(self._on_labelled)
        self._preview.moved.connect(self._details.show_move)
        self._preview.moved.connect(self.moved)
        self._details.steps.recipe_changed.connect(self.recipe_changed)
        self._details.opened.connect(self.details_opened)
        self.certainty.threshold_shown.connect(self._chart.show_threshold)

    def _name_network(self) -> None:
        explanation = self.tr(
            "Whose weights are used. During training the drawing is read again with each new set of weights."
        )
        self._network_name.setObjectName("networkLabel")
        self._network_name.setAccessibleName(self.tr("Answering network"))
        self._network_name.setAccessibleDescription(explanation)
        self._network_name.setToolTip(theme.tooltip(explanation))
        self._network_name.setProperty("muted", True)
        self._network_name.setFont(theme.small_font(self.font()))
        # Room for the longer names, always: another name must not change the sheet's size under the pen.
        self._network_name.setMinimumHeight(2 * self._network_name.fontMetrics().lineSpacing())
        self._network_name.setAlignment(Qt.AlignmentFlag.AlignTop)
        policy = self._network_name.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._network_name.setSizePolicy(policy)

    def _arrange(self) -> None:
        reading = QWidget()
        # Enough for either content: the sheet must not change its size under the pen.
        line = QFontMetrics(theme.answer_font(self.font())).height()
        reading.setMinimumHeight(line + _GAP_PX + self._number_row.height())
        words = QVBoxLayout(reading)
        words.setContentsMargins(0, 0, 0, 0)
        words.setSpacing(_GAP_PX)
        self._number_row.hide()
        words.addStretch(1)
        words.addWidget(self._words)
        words.addWidget(self._number_row)
        words.addWidget(self._meant)
        words.addStretch(1)
        answer = QHBoxLayout()
        answer.setSpacing(theme.MARGIN)
        answer.addWidget(self._preview, 0, Qt.AlignmentFlag.AlignVCenter)
        answer.addWidget(reading, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.MARGIN, theme.MARGIN, theme.MARGIN, theme.MARGIN)
        layout.setSpacing(theme.SPACING)
        layout.addWidget(self.canvas, 3)
        layout.addWidget(self._tools)
        layout.addLayout(answer)
        layout.addWidget(self._details)
        layout.addWidget(self._chart, 2)
        layout.addWidget(self.certainty)
        layout.addWidget(self._network_name)
        layout.addStretch(0)
