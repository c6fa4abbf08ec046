"""Which digit a drawing is meant to be, and whether the network reads it so.

A room of its own because only the one who draws knows what is right: without that, an answer can be sure, not correct.
"""

from PySide6.QtCore import QLocale, Signal, Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QWidget

from core.digits.downloads import DIGITS
from core.training.hyperparameters import CLASSES
from gui import theme


class MeantDigit(QWidget):
    """`chosen` carries the digit that the user picks here."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._meant: int | None = None
        self._meant_classes = self._answer_classes = DIGITS
        self._has_drawing = False
        self._answer: int | None = None
        self._selector = QComboBox()
        self._printed = QLabel(wordWrap=True)
        self._verdict = QLabel()
        self._selector.addItem(self.tr("You mean…"))
        for digit in range(CLASSES):
            self._selector.addItem(self.tr("You mean %1").replace("%1", str(digit)))
        self._selector.setMaxVisibleItems(CLASSES + 1)
        self._selector.activated.connect(self._on_activated)
        self._name_controls()
        self._arrange()
        self.show_nothing()

    def show_nothing(self) -> None:
        """There is no drawing that could mean anything."""
        self.show_drawing(None)
        self._has_drawing = False
        self._allow()

    def show_drawing(self, meant: int | None) -> None:
        """There is a drawing, meant to be this digit; None if nobody has said."""
        self._selector.setCurrentIndex(0 if meant is None else meant + 1)
        self._has_drawing, self._meant_classes = True, DIGITS
        self._allow()
        self._show(meant, is_printed=False)

    def show_printed(self, number: int, label: int, classes: tuple[str, ...] = DIGITS) -> None:
        """The test digit of this number (from 0) lies there; its file says which of `classes` it is."""
        words = self.tr("Test digit %1 is a %2") if classes == DIGITS else self.tr("Test picture %1: %2")
        words = words.replace("%1", QLocale().toString(number + 1))
        self._printed.setText(words.replace("%2", classes[label]))
        self._meant_classes = classes
        self._show(label, is_printed=True)

    def show_classes(self, classes: tuple[str, ...]) -> None:
        """The network answers with these; what was meant among others is neither right nor wrong then."""
        self._answer_classes = classes
        self._allow()
        self._show_verdict()

    def show_answer(self, digit: int | None) -> None:
        """What the network reads, if there is anything to read."""
        self._answer = digit
        self._show_verdict()

    @Slot(int)
    def _on_activated(self, place: int) -> None:
        if place > 0:
            self.chosen.emit(place - 1)
        elif self._meant is not None:
            # What has been said can be changed, not unsaid.
            self._selector.setCurrentIndex(self._meant + 1)

    def _show(self, meant: int | None, *, is_printed: bool) -> None:
        self._meant = meant
        self._selector.setVisible(not is_printed)
        self._printed.setVisible(is_printed)
        self._show_verdict()

    def _allow(self) -> None:
        """A digit can be meant where there is a drawing, and a network that reads digits."""
        reads_digits = self._answer_classes == DIGITS
        self._selector.setEnabled(self._has_drawing and reads_digits)
        why_not = self.tr("The network that answers reads no digits, so none can be meant.")
        self._selector.setToolTip(theme.tooltip(self._explanation if reads_digits else why_not))

    def _show_verdict(self) -> None:
        if self._meant is None or self._answer is None or self._meant_classes != self._answer_classes:
            mark, words = "", ""
        elif self._answer == self._meant:
            mark, words = "✓", self.tr("The network agrees.")
        else:
            mark, words = "✗", self.tr("The network reads %1.").replace("%1", self._answer_classes[self._answer])
        if words == self._verdict.accessibleDescription():
            return
        self._verdict.setText(mark)
        self._verdict.setToolTip(theme.tooltip(words))
        self._verdict.setAccessibleDescription(words)

    def _name_controls(self) -> None:
        explanation = self._explanation = self.tr(
            "Which digit your drawing is meant to be; the keys 0 to 9 say the same. The network is not told: it shows "
            "whether the answer is right."
        )
        self._selector.setObjectName("meantSelector")
        self._selector.setAccessibleName(self.tr("Digit you mean"))
        self._selector.setAccessibleDescription(explanation)
        self._selector.setToolTip(theme.tooltip(explanation))
        self._printed.setObjectName("printedLabel")
        self._printed.setToolTip(theme.tooltip(self.tr("Byte for byte as it is in the file, and so is its label.")))
        self._verdict.setObjectName("verdictLabel")
        self._verdict.setAccessibleName(self.tr("Whether the answer is right"))
        self._verdict.setFont(theme.answer_font(self.font()))

    def _arrange(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACING)
        self._printed.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        row.addWidget(self._selector)
        row.addWidget(self._printed, 1)
        row.addWidget(self._verdict)
        row.addStretch(0)
        self.setMinimumHeight(self._selector.sizeHint().height())
