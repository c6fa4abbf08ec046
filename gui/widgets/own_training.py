"""How to train on the user's own digits: with what share of them, and from where."""

from PySide6.QtCore import QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QPushButton, QSlider, QVBoxLayout, QWidget

from core.training.job import MOST_OF_MINE
from gui import theme

_STEP, _USUAL = 10, 30
_SLIDER_PX = 110


class OwnTraining(QWidget):
    """`train_requested(share 0.1..0.9, with the network in use)`."""

    train_requested = Signal(float, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._train = QPushButton()
        self._share = QSlider(Qt.Orientation.Horizontal)
        self._words = QLabel()
        self._from_network = QCheckBox(self.tr("From the network in use"))
        self._why_not = QLabel(wordWrap=True)
        self._offered = QWidget()
        # In tens: nobody can tell 31 % from 30 %.
        self._share.setRange(1, round(MOST_OF_MINE * 100) // _STEP)
        self._share.setPageStep(1)
        self._share.setFixedWidth(_SLIDER_PX)
        self._from_network.setChecked(True)
        self._name_controls()
        self._arrange()
        self.show_data("MNIST", True)
        self._train.clicked.connect(self._on_train_clicked)
        self._share.valueChanged.connect(self._show_share)
        self._share.setValue(_USUAL // _STEP)

    def allow(self, can_train: bool) -> None:
        """Whether a training could begin now."""
        self._train.setEnabled(can_train)

    def show_data(self, title: str, can_mix: bool) -> None:
        """Name the set that is mixed with; one that shows no digits cannot be, and that is said instead."""
        words = self.tr("Train on %1 and mine").replace("%1", title)
        self._train.setText(words)
        self._train.setAccessibleName(words)
        reason = self.tr("%1, which is chosen under Data, shows no digits: yours cannot be mixed in.")
        self._why_not.setText(reason.replace("%1", title))
        self._why_not.setVisible(not can_mix)
        self._offered.setVisible(can_mix)

    def _arrange(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(theme.SPACING)
        for widget in (self._train, self._share, self._words):
            row.addWidget(widget)
        row.addStretch(1)
        self._why_not.setObjectName("whyNotMixed")
        self._why_not.setProperty("muted", True)
        inside, layout = QVBoxLayout(self._offered), QVBoxLayout(self)
        inside.addLayout(row)
        inside.addWidget(self._from_network)
        for column in (inside, layout):
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(theme.SPACING)
        layout.addWidget(self._why_not)
        layout.addWidget(self._offered)

    def _name_controls(self) -> None:
        for control, name, title, explanation in (
            (
                self._train,
                "trainOnMine",
                self.tr("Train on your digits too"),
                self.tr(
                    "Let a network learn from the training digits and from yours. Every fifth of yours is held out: "
                    "the accuracy on those is the curve “yours”."
                ),
            ),
            (
                self._share,
                "shareOfMine",
                self.tr("Share of your digits"),
                self.tr(
                    "How many of the digits it learns from are yours; they are repeated as often as that takes. Too "
                    "many of them, and what the others taught is forgotten."
                ),
            ),
            (
                self._from_network,
                "fromNetwork",
                self.tr("Begin with the network in use"),
                self.tr(
                    "Let the network that answers learn on, instead of a new one. If the form is about another "
                    "network, it takes over this one's recipe, for one epoch at a tenth of its rate."
                ),
            ),
        ):
            control.setObjectName(name)
            control.setAccessibleName(title)
            control.setAccessibleDescription(explanation)
            control.setToolTip(theme.tooltip(explanation))

    @Slot()
    def _show_share(self) -> None:
        share = QLocale().toString(self._share.value() * _STEP)
        self._words.setText(self.tr("%1 % mine").replace("%1", share))

    @Slot()
    def _on_train_clicked(self) -> None:
        self.train_requested.emit(self._share.value() * _STEP / 100, self._from_network.isChecked())
