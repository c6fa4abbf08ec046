"""The training digits nearest to the drawing: looked for off the GUI thread, once the pen rests, and only if wanted."""

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from core.device import HostArray
from core.digits.dataset import Dataset, DigitSets
from core.digits.nearest import nearest_digits
from gui.background_job import BackgroundJob
from gui.widgets.nearest_row import DIGITS

REST_MS = 400


class NearestController(QObject):
    """Emits `found(pictures uint8 (n, 28, 28) | None, labels uint8 (n,) | None)`; None once there is no picture."""

    found = Signal(object, object)
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._data: Dataset | None = None
        self._picture: HostArray | None = None
        self._wanted = False
        self._job = BackgroundJob(self)
        self._job.done.connect(self._on_done)
        self._job.failed.connect(self.failed)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REST_MS)
        self._timer.timeout.connect(self._look)

    @Slot(object)
    def on_data_loaded(self, sets: DigitSets) -> None:
        self._data = sets.train
        # What was found among the others is labelled as they are.
        self._job.drop()
        self.found.emit(None, None)
        self._look_soon()

    @Slot(object, object)
    def on_answered(self, probabilities: object, picture: HostArray | None) -> None:
        """This is what the network sees now; new answers to the same picture are no reason to look again."""
        before, self._picture = self._picture, picture
        if picture is None:
            self._timer.stop()
            self.found.emit(None, None)
        elif before is None or not np.array_equal(before, picture):
            self._look_soon()

    @Slot(bool)
    def set_wanted(self, wanted: bool) -> None:
        """Whether anybody looks at what is found."""
        self._wanted = wanted
        self._look_soon()

    def cancel(self) -> None:
        """Give up what runs, and wait for its end."""
        self._timer.stop()
        self._job.cancel()

    def _look_soon(self) -> None:
        if self._wanted and self._picture is not None and self._data is not None:
            self._timer.start()

    @Slot()
    def _look(self) -> None:
        if self._wanted and self._picture is not None and self._data is not None:
            data, picture = self._data, self._picture
            self._job.start(lambda cancelled: (data, nearest_digits(data, picture, DIGITS, cancelled)))

    @Slot(object)
    def _on_done(self, result: tuple[Dataset, HostArray | None]) -> None:
        data, places = result
        # What was cleared meanwhile has no neighbours any more.
        if places is not None and self._picture is not None:
            self.found.emit(data.images[places], data.labels[places])
