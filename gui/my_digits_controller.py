"""The user's own digits between their file and the window: read, answered, kept, put right, deleted and brought back.

Everything that touches the file happens in the background, one thing after the other, so that no change is ever made
to a file that another is just changing.
"""

import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QLocale, QObject, Signal, Slot

from core.device import Device, HostArray
from core.digits.ink import Ink, LabelledInk
from core.digits.my_digits import Added, MyDigits, MyDigitsError, key_of
from core.digits.rasterizer import rasterize
from core.predictor import Predictor
from core.training.checkpoint import Weights
from core.training.model_file import Model
from gui.background_job import BackgroundJob
from gui.dialogs import Dialogs
from gui.digit_words import with_article
from gui.widgets.own_digits_model import OwnDigit, OwnDigits


@dataclass(frozen=True)
class _Task:
    """`work` is done in the background, and what it returns is `told` in the GUI thread."""

    work: Callable[[], Any]
    told: Callable[[Any], None]
    changes: bool = True


class MyDigitsController(QObject):
    """`listed` carries OwnDigits; `notified` and `failed` a sentence; `undo_changed` whether a deletion can be undone.

    `changed` after the file was changed. `model` tells which network is to be asked.
    """

    listed = Signal(OwnDigits)
    changed = Signal()
    undo_changed = Signal(bool)
    notified = Signal(str)
    failed = Signal(str)

    def __init__(
        self, path: Path, model: Callable[[], Model | None], dialogs: Dialogs, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._mine, self._model, self._dialogs = MyDigits(path), model, dialogs
        self._own = OwnDigits(path.name)
        self._pictures: dict[str, HostArray] = {}
        self._answers: dict[str, int] = {}
        self._answered_by: Weights | None = None
        self._deleted: Sequence[LabelledInk] = ()
        self._tasks: deque[_Task] = deque()
        self._current: _Task | None = None
        self._job = BackgroundJob(self)
        self._job.done.connect(self._on_done)
        self._job.failed.connect(self._on_failed)

    @property
    def path(self) -> Path:
        """Where the digits are kept."""
        return self._mine.path

    @Slot()
    def refresh(self) -> None:
        """Read all digits anew; `listed` follows, and again once the network has answered those it does not know."""
        if not any(task.told == self._on_read for task in self._tasks):
            self._do(self._read, self._on_read, changes=False)

    @Slot()
    def ask_network(self) -> None:
        """Have the network answer the digits listed last; `listed` follows. Old answers stand until there are new."""
        if (model := self._model()) is None or any(task.told == self._on_answered for task in self._tasks):
            return
        known = self._answers if model.weights is self._answered_by else {}
        if unknown := [digit for digit in self._own.digits if digit.key not in known]:
            self._do(lambda: (model.weights, known | _answers(model, unknown)), self._on_answered, changes=False)

    @Slot(int, object)
    def keep(self, digit: int, ink: Ink) -> None:
        """Keep this drawing of a digit; one that is kept already is given the label it has now."""

        def work() -> tuple[int, int | None, int]:
            samples = self._mine.samples()
            before = next((one.digit.label for one in samples if one.key == key_of(ink)), None)
            if before is None:
                self._mine.add([LabelledInk(digit, ink)])
            elif before != digit:
                self._mine.relabel({key_of(ink): digit})
            return digit, before, len(samples) + (before is None)

        self._do(work, self._on_kept)

    @Slot(list, int)
    def relabel(self, keys: Sequence[str], label: int) -> None:
        """Say that these digits are a `label`."""
        self._do(lambda: self._mine.relabel(dict.fromkeys(keys, label)), self._on_changed)

    @Slot(list)
    def ask_to_delete(self, keys: Sequence[str]) -> None:
        """Delete these digits, if that is what the user wants."""
        if not self._dialogs.ask_before_deleting_digits(len(keys)):
            return

        def work() -> list[LabelledInk]:
            gone = [sample.digit for sample in self._mine.samples() if sample.key in set(keys)]
            self._mine.delete(keys)
            return gone

        self._do(work, self._on_deleted)

    @Slot()
    def undo(self) -> None:
        """Bring back what was deleted last, as the latest digits."""
        if deleted := self._deleted:
            self._keep_for_undo(())
            self._do(lambda: self._mine.add(deleted), self._on_brought_back)

    @Slot()
    def import_file(self) -> None:
        """Ask for a file, and add the digits in it."""
        if (path := self._dialogs.ask_which_ink()) is not None:
            self._do(lambda: self._mine.import_file(path), self._on_imported)

    @Slot()
    def export_file(self) -> None:
        """Ask for a place, and write all digits there."""
        if (path := self._dialogs.ask_where_to_put_ink()) is not None:
            self._do(lambda: (self._mine.export_file(path), path), self._on_exported, changes=False)

    def finish(self) -> None:
        """Do what still has to be done to the file; nothing is told any more."""
        self._job.cancel()
        while self._tasks:
            if (task := self._tasks.popleft()).changes:
                with contextlib.suppress(MyDigitsError):
                    task.work()

    def _do(self, work: Callable[[], Any], told: Callable[[Any], None], changes: bool = True) -> None:
        self._tasks.append(_Task(work, told, changes))
        if self._current is None:
            self._next()

    def _next(self) -> None:
        self._current = self._tasks.popleft() if self._tasks else None
        if (task := self._current) is not None:
            self._job.start(lambda cancelled: task.work())

    @Slot(object)
    def _on_done(self, result: object) -> None:
        assert self._current is not None
        self._current.told(result)
        self._next()

    @Slot(str)
    def _on_failed(self, sentence: str) -> None:
        self.failed.emit(sentence)
        self._next()

    def _read(self) -> OwnDigits:
        samples, problems = self._mine.samples(), self._mine.problems()
        known = self._pictures
        self._pictures = {
            sample.key: known[sample.key] if sample.key in known else rasterize(sample.digit.ink) for sample in samples
        }
        digits = (OwnDigit(sample.key, sample.digit.label, self._pictures[sample.key]) for sample in samples)
        return OwnDigits(self._mine.path.name, tuple(digits), tuple(problems))

    def _on_read(self, own: OwnDigits) -> None:
        self._own = own
        self._list()
        self.ask_network()

    def _on_answered(self, answered: tuple[Weights, dict[str, int]]) -> None:
        self._answered_by, self._answers = answered
        self._list()

    def _list(self) -> None:
        digits = (replace(digit, answer=self._answers.get(digit.key)) for digit in self._own.digits)
        self.listed.emit(replace(self._own, digits=tuple(digits)))

    def _on_kept(self, kept: tuple[int, int | None, int]) -> None:
        digit, before, count = kept
        if before is None:
            words = self.tr("Kept as %1: %2 digits of yours.") if count > 1 else self.tr("Kept as %1: your first.")
        elif before == digit:
            words = self.tr("This drawing is kept already, as %1: %2 digits of yours.")
        else:
            words = self.tr("This drawing is %1 now: %2 digits of yours.")
        self.notified.emit(words.replace("%1", with_article(digit)).replace("%2", _whole(count)))
        self.changed.emit()

    def _on_changed(self, _nothing: None) -> None:
        self.changed.emit()

    def _on_deleted(self, gone: Sequence[LabelledInk]) -> None:
        self._keep_for_undo(gone)
        self.changed.emit()

    def _on_brought_back(self, added: Added) -> None:
        self.notified.emit(self.tr("%1 digits are back.").replace("%1", _whole(added.new)))
        self.changed.emit()

    def _on_imported(self, added: Added) -> None:
        words = self.tr("%1 digits added, %2 were there already.")
        words = words.replace("%1", _whole(added.new)).replace("%2", _whole(added.known))
        if added.problems:
            lines = ", ".join(_whole(problem.line) for problem in added.problems[:8])
            words += " " + self.tr("Lines that are no digits were left out: %1.").replace("%1", lines)
        self.notified.emit(words)
        self.changed.emit()

    def _on_exported(self, exported: tuple[int, Path]) -> None:
        count, path = exported
        self.notified.emit(self.tr("%1 digits saved to %2.").replace("%1", _whole(count)).replace("%2", str(path)))

    def _keep_for_undo(self, deleted: Sequence[LabelledInk]) -> None:
        self._deleted = deleted
        self.undo_changed.emit(bool(deleted))


def _answers(model: Model, digits: Sequence[OwnDigit]) -> dict[str, int]:
    """What the network reads, by key."""
    # One thread, and the others are left to training.
    predictor = Predictor.from_model(model, Device(shares=1))
    read = predictor.probabilities(np.stack([digit.picture for digit in digits])).argmax(axis=1)
    return {digit.key: int(answer) for digit, answer in zip(digits, read, strict=True)}


def _whole(number: int) -> str:
    return QLocale().toString(number)
