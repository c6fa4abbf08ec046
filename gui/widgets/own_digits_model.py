"""The user's own digits as a list: those of one label or of all, all of them or only those that are read wrongly."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from core.device import HostArray
from core.digits.my_digits import Problem

DIGIT_ROLE = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


@dataclass(frozen=True, eq=False)
class OwnDigit:
    """One digit of the user's: its `picture` uint8 (28, 28), what it is meant to be, and what the network answers.

    `key` tells it from all others; `answer` is None where no network was asked.
    """

    key: str
    label: int
    picture: HostArray
    answer: int | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether the network reads something else."""
        return self.answer is not None and self.answer != self.label


@dataclass(frozen=True, eq=False)
class OwnDigits:
    """What the user's file holds: digits, and lines that are none. `file_name` is for people."""

    file_name: str
    digits: tuple[OwnDigit, ...] = ()
    problems: tuple[Problem, ...] = ()


class OwnDigitsModel(QAbstractListModel):
    """Shows those of the digits that are asked for; each is its own `DIGIT_ROLE`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: Sequence[OwnDigit] = ()
        self._shown: list[OwnDigit] = []
        self._label: int | None = None
        self._only_wrong = False

    def show_digits(self, digits: Sequence[OwnDigit]) -> None:
        """These from now on, in this order."""
        self._all = digits
        self._choose()

    def show_only(self, label: int | None, only_wrong: bool) -> None:
        """Of these only those with this label (None: any), and only those that are read wrongly."""
        self._label, self._only_wrong = label, only_wrong
        self._choose()

    def digit(self, row: int) -> OwnDigit:
        """The digit in this row."""
        return self._shown[row]

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        digit = self._shown[index.row()]
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._words(digit)
        return digit if role == DIGIT_ROLE else None

    def _choose(self) -> None:
        labelled = [digit for digit in self._all if self._label in (None, digit.label)]
        chosen = [digit for digit in labelled if digit.is_wrong] if self._only_wrong else labelled
        # New answers to the same digits must move nothing under the user's hand.
        if [digit.key for digit in chosen] == [digit.key for digit in self._shown]:
            self._shown = chosen
            if chosen:
                self.dataChanged.emit(self.index(0), self.index(len(chosen) - 1))
            return
        self.beginResetModel()
        self._shown = chosen
        self.endResetModel()

    def _words(self, digit: OwnDigit) -> str:
        if digit.answer is None:
            return self.tr("A %1").replace("%1", str(digit.label))
        words = self.tr("A %1, read as a %2 ✗") if digit.is_wrong else self.tr("A %1, read as a %2 ✓")
        return words.replace("%1", str(digit.label)).replace("%2", str(digit.answer))
