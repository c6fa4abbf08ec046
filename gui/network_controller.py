"""Which network answers, where it came from, and whether it has been kept.

It follows training and files: the shipped network first, then an opened one, or the one in training from its first
published weights on. It says what may be saved, and knows when unsaved work would be lost.
"""

import json
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QLocale, QObject, Signal, Slot

from core.device import Device
from core.digits.dataset import DigitSets
from core.digits.downloads import BUILT_IN, SETS, PublishedSet, find_titled, shows_digits
from core.predictor import Predictor
from core.training.events import Evaluated, HyperparametersChanged, TrainingEnded, Weights, WeightsPublished
from core.training.job import TrainingJob
from core.training.model_file import SHIPPED_MODEL, SUFFIX, Model, ModelFileError, load_model, save_model


class NetworkController(QObject):
    """Emits the predictor to use, or new weights for it, and the words that name the network which answers."""

    predictor_changed = Signal(object)
    learned_from = Signal(object)
    """The PublishedSet whose classes the next predictor answers with: MNIST, where its own is not known."""
    weights_changed = Signal(object)
    settled = Signal(object)
    """The network that answers, a Model, once its weights will not change; None as soon as they may."""
    named = Signal(str)
    can_save_changed = Signal(bool)
    notified = Signal(str)
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model: Model | None = None
        self._job: TrainingJob | None = None
        self._data_name = self._trained_on = ""
        self._accuracies: dict[str, float] = {}
        self._unsaved = self._kept = False
        self._changes: list[dict[str, object]] = []
        self._runs, self._answering_run = 0, 0

    @property
    def has_unsaved(self) -> bool:
        """Whether the network that answers was trained here and is in no file and no run's folder."""
        return self._unsaved

    @property
    def model(self) -> Model | None:
        """The network that answers, as it stands now."""
        return self._model

    def model_of_digits(self) -> Model | None:
        """The network that answers, if it reads digits."""
        return self._model if self._model is not None and shows_digits(self._model.trained_on) else None

    def open_shipped(self) -> bool:
        """Let the network that came with Inkling answer; returns whether it can."""
        return self._open(SHIPPED_MODEL, self.tr("the network that came with Inkling"))

    def open_file(self, path: Path, words: str = "") -> None:
        """Let the network in this file answer, named by `words`; one that is not sound changes nothing."""
        if self._open(path, words or path.name):
            self.notified.emit(self.tr("Opened %1.").replace("%1", str(path)))

    def save_file(self, path: Path, precision: str, model: Model) -> bool:
        """Keep `model`, the network as it stands or stood; returns whether that succeeded."""
        try:
            save_model(path, model, precision)
        except ModelFileError as error:
            self.failed.emit(str(error))
            return False
        # A network in training may have gone on while the user was asked.
        if self._model is not None and self._model.weights is model.weights:
            self._unsaved = False
        self.notified.emit(self.tr("Saved %1.").replace("%1", str(path)))
        return True

    def suggested_file_name(self, model: Model | None = None) -> str:
        """A name for `model`, or for the network that answers, that tells the networks of a folder apart."""
        model = model or self._model
        if model is None:
            return f"network{SUFFIX}"
        accuracy, published = model.test_accuracy, _learned_from(model)
        name = model.preset if published.is_built_in else f"{model.preset}-{published.name}"
        return name + ("" if accuracy is None else f"-{accuracy * 100:.2f}") + SUFFIX

    def read_file(self, path: Path) -> Model | None:
        """The network in this file; None, and the reason told, if it is not sound."""
        try:
            return load_model(path)
        except ModelFileError as error:
            self.failed.emit(str(error))
            return None

    @Slot(object)
    def on_data_loaded(self, sets: DigitSets) -> None:
        self._data_name = sets.name

    @Slot(TrainingJob)
    def on_job_accepted(self, job: TrainingJob) -> None:
        self._job, self._accuracies, self._changes = job, {}, []
        # Other data may be opened while this run goes on with its own.
        self._trained_on = self._data_name
        self._runs += 1
        self._kept = False

    @Slot()
    def on_kept(self) -> None:
        """What the run learns is in its folder as it goes."""
        self._kept = True

    @Slot()
    def on_not_kept(self) -> None:
        self._kept = False
        self._unsaved |= self._goes_on()

    @Slot(Evaluated)
    def on_evaluated(self, event: Evaluated) -> None:
        self._accuracies[event.split] = event.accuracy
        if self._model is not None and self._job is not None and self._goes_on():
            self._model = replace(self._model, facts=self._facts())

    @Slot(HyperparametersChanged)
    def on_changed(self, event: HyperparametersChanged) -> None:
        """What was changed on the way belongs to the record of the network."""
        if self._job is not None:
            self._job = replace(self._job, hyperparameters=event.hyperparameters)
            self._changes.append({"step": event.step, **event.changes})

    @Slot(WeightsPublished)
    def on_weights_published(self, event: WeightsPublished) -> None:
        # What was measured so far is of earlier weights; what is measured next is of these.
        self._accuracies = {}
        self._take_over(event.weights, self.tr("the network in training"))

    @Slot(TrainingEnded)
    def on_ended(self, event: TrainingEnded) -> None:
        if not event.learned:
            self._job = None
            return
        for split in ("test", "validation", "mine"):
            accuracy = getattr(event, f"{split}_accuracy")
            if accuracy is not None:
                self._accuracies[split] = accuracy
        self._take_over(event.weights, self.tr("the network you trained"))
        self._name(self.tr("the network you trained"), event.test_accuracy)
        self._job = None
        self.settled.emit(self._model)

    def _take_over(self, weights: Weights, words: str) -> None:
        """Make these weights of the run the network that answers."""
        assert self._job is not None
        fresh = Model(self._job.preset, self._job.hyperparameters, weights, self._facts())
        goes_on = self._goes_on()
        self._model, self._unsaved, self._answering_run = fresh, not self._kept, self._runs
        if goes_on:
            self.weights_changed.emit(weights)
        else:
            self.settled.emit(None)
            self.learned_from.emit(_learned_from(fresh))
            self.predictor_changed.emit(_predictor(fresh))
        self.named.emit(words)
        self.can_save_changed.emit(True)

    def _facts(self) -> dict[str, str]:
        facts = {"trained_on": self._trained_on}
        if self._changes:
            facts["changes"] = json.dumps(self._changes)
        return facts | {f"{split}_accuracy": f"{accuracy:.4f}" for split, accuracy in self._accuracies.items()}

    def _goes_on(self) -> bool:
        """Whether the network that answers is already the one in training."""
        return self._model is not None and self._answering_run == self._runs

    def _open(self, path: Path, words: str) -> bool:
        if (model := self.read_file(path)) is None:
            return False
        self._model, self._unsaved, self._answering_run = model, False, -1
        self.learned_from.emit(_learned_from(model))
        self.predictor_changed.emit(_predictor(model))
        self.settled.emit(model)
        self._name(words, model.test_accuracy)
        self.can_save_changed.emit(True)
        return True

    def _name(self, words: str, accuracy: float | None) -> None:
        if accuracy is not None and self._model is not None:
            published, percent = _learned_from(self._model), f"{QLocale().toString(accuracy * 100, 'f', 2)} %"
            of_which = self.tr("%1 of %2").replace("%2", published.title).replace("%1", percent)
            words += f" ({percent if published.is_built_in else of_which})"
        self.named.emit(words)


def _learned_from(model: Model) -> PublishedSet:
    return find_titled(model.trained_on) or SETS[BUILT_IN]


def _predictor(model: Model) -> Predictor:
    """One digit at a time needs one thread, and leaves the others to training."""
    return Predictor.from_model(model, Device(shares=1))
