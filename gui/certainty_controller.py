"""How sure the network that answers must be: fitted in the background, and then the user's to choose.

Weights in training change too often to be fitted; once a run has ended, or a network from a file comes without, the
held-out digits are read, and then the test digits, to tell what each threshold would cost. That keeps a core busy for
seconds, so it waits as long as something trains or is measured. Another set in use is measured anew; the calibration is
the network's own, and stays.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from core.device import Device, HostArray
from core.digits.dataset import DigitSets, split
from core.digits.downloads import classes_of
from core.predictor import Predictor, calibrated
from core.training.calibration import Calibration, coverage_at
from core.training.evaluation import EVALUATION_BATCH
from core.training.hyperparameters import Hyperparameters
from core.training.model_file import Model
from gui.background_job import BackgroundJob

PERCENT = np.arange(101)


@dataclass(frozen=True, eq=False)
class Certainty:
    """A network's calibration, and for each threshold of 0 to 100 % what it does to the test digits.

    `coverage`: float64 (101,), the share of them that gets an answer; `accuracy`: (101,), how many of these are right,
    NaN where there are none.
    """

    calibration: Calibration
    coverage: HostArray
    accuracy: HostArray


class CertaintyController(QObject):
    """Emits `known(Calibration)` once for a network that has one or gets one, `unknown` when another is looked at.

    `measured(Certainty)` some seconds later, for the set in use; `unmeasured` when that set has been changed.
    """

    known = Signal(object)
    unknown = Signal()
    measured = Signal(object)
    unmeasured = Signal()
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._sets: DigitSets | None = None
        self._model: Model | None = None
        self._is_free, self._is_measured = True, False
        self._job = BackgroundJob(self)
        self._job.done.connect(self._on_done)
        self._job.failed.connect(self.failed)

    @Slot(object)
    def on_data_loaded(self, sets: DigitSets) -> None:
        self._sets, self._is_measured = sets, False
        self.unmeasured.emit()
        self._start()

    def allow(self, free: bool) -> None:
        """Whether the machine is free for it; what is broken off here is begun anew when it is free again."""
        if free != self._is_free:
            self._is_free = free
            self._start()

    def look_at(self, model: Model | None) -> None:
        """Fit this network, which answers from now on; None as long as its weights still change."""
        self._model, self._is_measured = model, False
        self.unknown.emit()
        if model is not None and (calibration := Calibration.from_facts(model.facts)) is not None:
            self.known.emit(calibration)
        self._start()

    def cancel(self) -> None:
        """Give up what runs, wait for its end, and begin nothing more until `allow` says so."""
        self._is_free = False
        self._job.cancel()

    def _start(self) -> None:
        if self._model is None or self._sets is None or not self._is_free or not self._means_the_same():
            self._job.drop()
            return
        if self._is_measured:
            return
        model, sets = self._model, self._sets
        self._job.start(lambda cancelled: _certainty(model, sets, cancelled))

    def _means_the_same(self) -> bool:
        """Whether the network can be measured at all on the set in use: a dress is no wrong answer to a 3."""
        assert self._model is not None
        assert self._sets is not None
        return classes_of(self._model.trained_on) == classes_of(self._sets.name)

    @Slot(object)
    def _on_done(self, certainty: Certainty | None) -> None:
        if certainty is None or self._model is None:
            return
        self._is_measured = True
        if Calibration.from_facts(self._model.facts) is None:
            self._model = replace(self._model, facts={**self._model.facts, **certainty.calibration.as_facts()})
            self.known.emit(certainty.calibration)
        self.measured.emit(certainty)


def _certainty(model: Model, sets: DigitSets, cancelled: Callable[[], bool]) -> Certainty | None:
    """None if there is nothing to fit it on, or if it is not wanted any more."""
    if Calibration.from_facts(model.facts) is None:
        held_out = split(sets, _held_out(model.hyperparameters, sets)).validation
        if held_out is None:
            return None
        model = calibrated(model, held_out)
    # One thread: it must not take both cores from who draws or trains.
    predictor = Predictor.from_model(model, Device(shares=1))
    answers, confidences = [], []
    for start in range(0, len(sets.test), EVALUATION_BATCH):
        if cancelled():
            return None
        probabilities, sure = predictor.read(sets.test.images[start : start + EVALUATION_BATCH])
        answers.append(probabilities.argmax(axis=1))
        confidences.append(sure)
    right = np.concatenate(answers) == sets.test.labels
    coverage, accuracy = coverage_at(PERCENT / 100, np.concatenate(confidences), right)
    assert predictor.calibration is not None
    return Certainty(predictor.calibration, coverage, accuracy)


def _held_out(chosen: Hyperparameters, sets: DigitSets) -> int:
    return min(chosen.validation_digits, len(sets.train) - 1)
