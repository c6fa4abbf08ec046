"""From a drawing to an answer: ink, picture, probabilities, as often as it changes and no oftener than the eye sees.

It owns the network that answers. New weights are taken over only when an answer is due, so that training with an
empty canvas costs nothing here.
"""

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from core.device import HostArray
from core.digits.ink import Ink
from core.digits.rasterizer import Recipe, Trace, moved, trace
from core.predictor import Answer, Predictor
from core.training.calibration import Calibration
from core.training.events import Weights
from gui.ink_history import PrintedDigit

ANSWER_INTERVAL_MS = 4


class DrawingController(QObject):
    """Emits `answered(Answer | None, picture uint8 (28, 28) | None)`, then how it came to that.

    `traced(ink | None, trace | None)`: the drawing and its way to the picture; None where no ink is drawn.
    """

    answered = Signal(object, object)
    traced = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ink = Ink(())
        self._printed: PrintedDigit | None = None
        self._recipe = Recipe()
        self._move = (0, 0)
        self._predictor: Predictor | None = None
        self._new_weights: Weights | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(ANSWER_INTERVAL_MS)
        self._timer.timeout.connect(self._answer)

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
        self._ink, self._printed = ink, None
        self._answer_soon()

    @Slot(object)
    def on_digit_put(self, printed: PrintedDigit) -> None:
        """This digit of a file is to be read, byte for byte; it went through MNIST's steps long ago."""
        self._ink, self._printed = Ink(()), printed
        self._answer_soon()

    @Slot(object)
    def on_recipe_changed(self, recipe: Recipe) -> None:
        """Drawings go through these steps from now on."""
        self._recipe = recipe
        self._answer_soon()

    @Slot(int, int)
    def on_moved(self, right_px: int, down_px: int) -> None:
        """The finished picture is to be moved so far before it is read."""
        self._move = (right_px, down_px)
        self._answer_soon()

    def _answer_soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    @Slot()
    def _answer(self) -> None:
        if self._printed is not None:
            self._show(self._printed.picture, None)
        elif self._ink.is_empty:
            self.answered.emit(None, None)
            self.traced.emit(None, None)
        else:
            way = trace(self._ink, self._recipe)
            self._show(way.picture, way)

    def _show(self, picture: HostArray, way: Trace | None) -> None:
        picture = moved(picture, *self._move)
        self.answered.emit(self._read(picture), picture)
        self.traced.emit(None if way is None else self._ink, way)

    def _read(self, picture: HostArray) -> Answer | None:
        if self._predictor is None:
            return None
        self._take_new_weights(self._predictor)
        return self._predictor.answer(picture)

    def _take_new_weights(self, predictor: Predictor) -> None:
        if self._new_weights is not None:
            predictor.load_weights(self._new_weights)
            self._new_weights = None
