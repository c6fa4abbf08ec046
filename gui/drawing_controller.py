"""From a drawing to an answer: ink, picture, probabilities, as often as it changes and no oftener than the eye sees.

It owns the network that answers. New weights are taken over only when an answer is due, so that training with an
empty canvas costs nothing here. Several digits side by side are a number: each is answered, and one of them is looked
at more closely.
"""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from core.device import HostArray
from core.digits.ink import Ink
from core.digits.rasterizer import Recipe, Trace, moved, trace
from core.digits.segmentation import split_ink
from core.predictor import Predictor
from core.training.calibration import Calibration
from core.training.events import Weights
from gui.ink_history import OpenedPicture, PrintedDigit
from gui.read_number import ReadDigit, ReadNumber

ANSWER_INTERVAL_MS = 2


class DrawingController(QObject):
    """Emits `number_read`, `answered(Answer | None, picture uint8 (28, 28) | None)`, then how it came to that.

    `number_read(ReadNumber | None)`: None unless there are several digits; what follows is of the selected one.
    `traced(ink | None, trace | None)`: the drawing and its way to the picture; None where no ink is drawn.
    """

    number_read = Signal(object)
    answered = Signal(object, object)
    traced = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ink = Ink(())
        self._finished: tuple[HostArray, ...] = ()
        self._ways: dict[Ink, Trace] = {}
        self._selected: int | None = None
        self._is_picked = False
        self._count = 0
        self._is_whole = False
        self._recipe = Recipe()
        self._move = (0, 0)
        self._predictor: Predictor | None = None
        self._new_weights: Weights | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(ANSWER_INTERVAL_MS)
        self._timer.timeout.connect(self._answer)

    def read_whole(self, is_whole: bool) -> None:
        """Whether all that is drawn is one thing: only digits stand side by side as a number."""
        self._is_whole = is_whole
        self._answer_soon()

    def use_predictor(self, predictor: Predictor) -> None:
        """Let this network answer from now on."""
        self._predictor, self._new_weights = predictor, None
        self._answer_soon()

    def use_weights(self, weights: Weights) -> None:
        """Let the network that answers go on with these weights of the same shapes."""
        self._new_weights = weights
        self._answer_soon()

    def use_calibration(self, calibration: Calibration) -> None:
        """Let the network that answers know by these numbers, fitted for its weights, when it does not know."""
        if self._predictor is not None:
            self._take_new_weights(self._predictor)
            self._predictor.calibrate(calibration)
            self._answer_soon()

    @Slot(float)
    def set_threshold(self, threshold: float) -> None:
        """The least certainty (0..1) of an answer."""
        if self._predictor is not None:
            self._predictor.threshold = threshold
            self._answer_soon()

    @Slot(object)
    def on_ink_changed(self, ink: Ink) -> None:
        self._ink, self._finished = ink, ()
        if not self._is_picked:
            self._selected = None
        self._answer_soon()

    @Slot(object)
    def on_digit_put(self, printed: PrintedDigit) -> None:
        """This digit of a file is to be read, byte for byte; it went through MNIST's steps long ago."""
        self._put((printed.picture,))

    @Slot(object)
    def on_picture_put(self, opened: OpenedPicture) -> None:
        """The digits that were found in this picture are to be read, as they were found."""
        self._put(opened.digits)

    @Slot(int)
    def select(self, place: int) -> None:
        """Look more closely at the number's digit at this place, from 0, as long as it has so many digits."""
        self._selected, self._is_picked = place, True
        self._answer_soon()

    @Slot(object)
    def on_recipe_changed(self, recipe: Recipe) -> None:
        """Drawings go through these steps from now on."""
        self._recipe = recipe
        self._ways.clear()
        self._answer_soon()

    @Slot(int, int)
    def on_moved(self, right_px: int, down_px: int) -> None:
        """The finished picture is to be moved so far before it is read."""
        self._move = (right_px, down_px)
        self._answer_soon()

    def _answer_soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _put(self, pictures: tuple[HostArray, ...]) -> None:
        self._ink, self._finished = Ink(()), pictures
        self._selected, self._is_picked = None, False
        self._answer_soon()

    @Slot()
    def _answer(self) -> None:
        # Only the digit in the making is drawn afresh; its strokes are others, those of its neighbours the same.
        self._ways = {ink: self._ways.get(ink) or trace(ink, self._recipe) for ink in self._parts()}
        pictures = self._finished or tuple(way.picture for way in self._ways.values())
        if pictures:
            self._show([self._read(moved(picture, *self._move)) for picture in pictures])
        else:
            self._count = 0
            self.number_read.emit(None)
            self.answered.emit(None, None)
            self.traced.emit(None, None)

    def _parts(self) -> Sequence[Ink]:
        """The drawing, digit by digit."""
        if self._is_whole:
            return () if self._ink.is_empty else (self._ink,)
        return split_ink(self._ink)

    def _show(self, digits: Sequence[ReadDigit]) -> None:
        if len(digits) != self._count:
            self._count, self._selected, self._is_picked = len(digits), None, False
        if self._selected is None:
            self._selected = _least_sure(digits)
        chosen = digits[self._selected]
        self.number_read.emit(ReadNumber(tuple(digits), self._selected) if len(digits) > 1 else None)
        self.answered.emit(chosen.answer, chosen.picture)
        ink, way = list(self._ways.items())[self._selected] if self._ways else (None, None)
        self.traced.emit(ink, way)

    def _read(self, picture: HostArray) -> ReadDigit:
        if self._predictor is None:
            return ReadDigit(picture, None)
        self._take_new_weights(self._predictor)
        return ReadDigit(picture, self._predictor.answer(picture))

    def _take_new_weights(self, predictor: Predictor) -> None:
        if self._new_weights is not None:
            predictor.load_weights(self._new_weights)
            self._new_weights = None


def _least_sure(digits: Sequence[ReadDigit]) -> int:
    """The place of the digit that is most worth a closer look."""
    return min(range(len(digits)), key=lambda place: answer.confidence if (answer := digits[place].answer) else 0.0)
