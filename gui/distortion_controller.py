"""What the chosen distortion looks like: eight training digits, drawn anew whenever the choice changes."""

from PySide6.QtCore import QObject, Signal, Slot

from core.device import HostArray
from core.digits.augmentation import distorted_examples
from core.digits.dataset import DigitSets
from core.training.hyperparameters import Hyperparameters
from gui.widgets.distortion_preview import DIGITS


class DistortionController(QObject):
    """Emits the pictures to show, uint8 (8, 28, 28); the same draw for every strength, so that it is seen to grow."""

    previewed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._images: HostArray | None = None
        self._chosen = (0.0, 0)
        self._draw = 0

    @Slot(object)
    def on_data_loaded(self, sets: DigitSets) -> None:
        self._images = sets.train.images[:DIGITS]
        self._show()

    def show(self, hyperparameters: Hyperparameters) -> None:
        """Show the digits distorted as chosen there."""
        chosen = (hyperparameters.augment, hyperparameters.shift_px)
        if chosen != self._chosen:
            self._chosen = chosen
            self._show()

    @Slot()
    def draw_another(self) -> None:
        """The same strength, other dice."""
        self._draw += 1
        self._show()

    def _show(self) -> None:
        if self._images is not None:
            self.previewed.emit(distorted_examples(self._images, *self._chosen, self._draw))
