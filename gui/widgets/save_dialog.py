"""The question how exactly to keep a network's weights, with what each answer costs in bytes and in accuracy.

A room of its own because the answer is a lesson: it is seen how few bits a network needs once it has learned.
"""

from dataclasses import dataclass

from PySide6.QtCore import QLocale, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QPushButton, QRadioButton, QVBoxLayout, QWidget

from core.training.storage import STORAGE_PRECISIONS
from gui import theme

_USUAL, _EXACT = "float16", "float32"
_BYTES_PER_MEGABYTE = 1_000_000
_WIDTH_PX = 400


@dataclass(frozen=True)
class StorageFigures:
    """What is known of a network saved as `precision`: its file's `size` in bytes and its `accuracy`, 0 to 1.

    `size` is None if its weights are too large for that; `accuracy` is None as long as it is not measured.
    """

    precision: str
    size: int | None
    accuracy: float | None


class SaveDialog(QDialog):
    """Shows figures as they come; accepted, `precision` is the answer."""

    def __init__(self, measured_on: str, parent: QWidget | None = None) -> None:
        """`measured_on` names the digits that accuracies will come from; empty if none will come."""
        super().__init__(parent)
        self.setObjectName("saveDialog")
        self.setWindowTitle(self.tr("Save network"))
        self._measures = bool(measured_on)
        self._figures: dict[str, StorageFigures] = {}
        self._choices = {precision: QRadioButton(precision) for precision in STORAGE_PRECISIONS}
        self._explanation = QLabel(wordWrap=True)
        self._origin = QLabel(measured_on, wordWrap=True)
        self._explain()
        self._arrange()
        self._choices[_USUAL].setChecked(True)
        self._choices[_USUAL].setFocus()

    def precision(self) -> str:
        """The precision that is chosen."""
        return next(precision for precision, choice in self._choices.items() if choice.isChecked())

    @Slot(StorageFigures)
    def show_figures(self, figures: StorageFigures) -> None:
        """Show what is known of one precision; one that cannot hold the weights cannot be chosen."""
        self._figures[figures.precision] = figures
        for precision in self._figures:
            self._choices[precision].setText(self._words(precision))
        fits = figures.size is not None
        self._choices[figures.precision].setEnabled(fits)
        if not fits and self.precision() == figures.precision:
            self._choices[_EXACT].setChecked(True)

    def _words(self, precision: str) -> str:
        """Such as "int8 – 0.342 MB – 99.72 % (+0.01)"."""
        figures = self._figures[precision]
        if figures.size is None:
            return self.tr("%1 – some weights are too large for it").replace("%1", precision)
        megabytes = QLocale().toString(figures.size / _BYTES_PER_MEGABYTE, "g", 3)
        parts = [precision, self.tr("%1 MB").replace("%1", megabytes)]
        if figures.accuracy is not None:
            percent = QLocale().toString(100 * figures.accuracy, "f", 2)
            parts.append(self.tr("%1 %").replace("%1", percent) + self._difference(figures.accuracy, precision))
        elif self._measures:
            parts.append(self.tr("measuring…"))
        return " – ".join(parts)

    def _difference(self, accuracy: float, precision: str) -> str:
        """In points, against the weights as they are; empty if there is nothing to compare with."""
        exact = self._figures.get(_EXACT)
        if precision == _EXACT or exact is None or exact.accuracy is None:
            return ""
        # Adding 0 makes a plain 0 of the one below 0.
        points = round(100 * (accuracy - exact.accuracy), 2) + 0.0
        sign = "+" if points >= 0 else ""
        return f" ({sign}{QLocale().toString(points, 'f', 2)})"

    def _explain(self) -> None:
        self._explanation.setText(
            self.tr("Learning takes finer numbers than answering does. How exactly shall the weights be kept?")
        )
        lessons = {
            "float32": self.tr("Nothing is rounded: small steps of learning need it, answers hardly ever do."),
            "float16": self.tr(
                "Half the size: each weight keeps its first three digits, mostly enough for every answer."
            ),
            "int8": self.tr("A quarter of the size: the weights of each unit are rounded to 255 even steps."),
        }
        for precision, choice in self._choices.items():
            choice.setToolTip(theme.tooltip(lessons[precision]))
            choice.setObjectName(f"{precision}Choice")
        self._explanation.setProperty("muted", True)
        self._origin.setProperty("muted", True)
        self._origin.setObjectName("measuredOnLabel")
        self._origin.setVisible(self._measures)

    def _arrange(self) -> None:
        save, cancel = QPushButton(self.tr("Save…")), QPushButton(self.tr("Cancel"))
        save.setObjectName("saveButton")
        save.setProperty("primary", True)
        save.setDefault(True)
        save.setToolTip(theme.tooltip(self.tr("Asks where to put the file; the figures need not be waited for.")))
        cancel.setObjectName("cancelButton")
        cancel.setToolTip(theme.tooltip(self.tr("Writes nothing and leaves all as it is.")))
        buttons = QDialogButtonBox()
        buttons.addButton(save, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(cancel, QDialogButtonBox.ButtonRole.RejectRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setSpacing(theme.SPACING)
        self.setMinimumWidth(_WIDTH_PX)
        for widget in (self._explanation, *self._choices.values(), self._origin, buttons):
            layout.addWidget(widget)
