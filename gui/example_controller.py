"""Digits of the test set for the canvas: one by lot, or the neighbour of the one that lies there."""

import random

from PySide6.QtCore import QObject, Signal, Slot

from core.digits.dataset import Dataset, DigitSets
from core.digits.downloads import DIGITS, classes_of
from gui.ink_history import PrintedDigit


class ExampleController(QObject):
    """Emits `chosen(PrintedDigit)`; `ready` once there are digits to choose from."""

    ready = Signal()
    chosen = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._test: Dataset | None = None
        self._classes = DIGITS

    @Slot(object)
    def on_data_loaded(self, sets: DigitSets) -> None:
        self._test, self._classes = sets.test, classes_of(sets.name)
        self.ready.emit()

    @Slot()
    def choose_by_lot(self) -> None:
        """Any test digit."""
        if self._test is not None:
            self.choose(random.randrange(len(self._test)))

    @Slot(int)
    def choose(self, number: int) -> None:
        """The test digit of this number, from 0; after the last one comes the first."""
        if self._test is not None:
            place = number % len(self._test)
            label = int(self._test.labels[place])
            self.chosen.emit(PrintedDigit(self._test.images[place], label, place, self._classes))
