"""What it costs to save a network at each precision, found out in the background while the user is asked."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QLocale, QObject, Signal, Slot

from core.digits.dataset import Dataset, DigitSets
from core.digits.downloads import classes_of
from core.predictor import Predictor
from core.training.evaluation import accuracy_of
from core.training.model_file import Model, as_stored, file_size
from core.training.storage import STORAGE_PRECISIONS, PrecisionError
from gui.background_job import BackgroundJob
from gui.widgets.save_dialog import StorageFigures


class StorageController(QObject):
    """Emits `measured` twice for each precision: with its size at once, and again with its accuracy."""

    measured = Signal(StorageFigures)
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sets: DigitSets | None = None
        self._can_measure = True
        self._waiting: list[Callable[[Callable[[], bool]], StorageFigures]] = []
        self._job = BackgroundJob(self)
        self._job.done.connect(self._on_done)
        self._job.failed.connect(self.failed)

    @property
    def measured_on(self) -> str:
        """A sentence that names the digits the accuracies come from; empty where none suit the network."""
        if self._sets is None or not self._can_measure:
            return ""
        words = self.tr("Accuracy on the %1 test digits of %2, and by how many points it differs from float32.")
        return words.replace("%1", QLocale().toString(len(self._sets.test))).replace("%2", self._sets.name)

    @Slot(object)
    def on_data_loaded(self, sets: DigitSets) -> None:
        self._sets = sets

    def start(self, model: Model) -> None:
        """Look at `model` from now on."""
        self._waiting = [partial(_figures, model, precision, None) for precision in STORAGE_PRECISIONS]
        name = "" if self._sets is None else self._sets.name
        self._can_measure = classes_of(model.trained_on) == classes_of(name)
        if self._sets is not None and self._can_measure:
            test = self._sets.test
            self._waiting += [partial(_figures, model, precision, test) for precision in STORAGE_PRECISIONS]
        self._next()

    def stop(self) -> None:
        """Nothing more is wanted; waits for the batch of digits that is being read."""
        self._waiting = []
        self._job.cancel()

    def _next(self) -> None:
        if self._waiting:
            self._job.start(self._waiting.pop(0))

    @Slot(object)
    def _on_done(self, figures: StorageFigures) -> None:
        self.measured.emit(figures)
        self._next()


def _figures(model: Model, precision: str, data: Dataset | None, cancelled: Callable[[], bool]) -> StorageFigures:
    """Without `data` no more than the size."""
    try:
        size = file_size(model, precision)
    except PrecisionError:
        return StorageFigures(precision, None, None)
    if data is None:
        return StorageFigures(precision, size, None)
    confusion = Predictor.from_model(as_stored(model, precision)).confusion(data, cancelled)
    return StorageFigures(precision, size, None if confusion is None else accuracy_of(confusion))
