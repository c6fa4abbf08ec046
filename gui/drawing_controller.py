"""From a drawing to an answer: ink, picture, probabilities, as often as it changes and no oftener than the eye sees.

It owns the network that answers. New weights are taken over only when an answer is due, so that training with an
empty canvas costs nothing here.
"""

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from core.digits.ink import Ink
from core.digits.rasterizer import rasterize
from core.predictor import Predictor
from core.training.events import Weights

ANSWER_INTERVAL_MS = 4


class DrawingController(QObject):
    """Emits `answered(probabilities float32 (10,) | None, picture uint8 (28, 28) | None)`."""

    answered = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ink = Ink(())
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

    @Slot(object)
    def on_ink_changed(self, ink: Ink) -> None:
        self._ink = ink
        self._answer_soon()

    def _answer_soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    @Slot()
    def _answer(self) -> None:
        if self._ink.is_empty:
            self.answered.emit(None, None)
            return
        picture = rasterize(self._ink)
        if self._predictor is None:
            self.answered.emit(None, picture)
            return
        if self._new_weights is not None:
            self._predictor.load_weights(self._new_weights)
            self._new_weights = None
        self.answered.emit(self._predictor.probabilities(picture[np.newaxis])[0], picture)
