"""The form of a training run: every hyperparameter as a field, and in words what it does to learning.

A room of its own because it alone turns what is typed into `Hyperparameters` and back. Ranges and choices are core's;
nothing here repeats a number.
"""

from itertools import pairwise
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QFormLayout,
    QFrame,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from core.nn.optimizers import OPTIMIZERS
from core.nn.schedules import SCHEDULES
from core.training.hyperparameters import CHANGEABLE, PRECISIONS, Hyperparameters
from gui import theme
from gui.widgets.data_field import DataField
from gui.widgets.data_offer import DataOffer
from gui.widgets.distortion_preview import DistortionPreview
from gui.widgets.hyperparameter_fields import choice_field, number_fields
from gui.widgets.hyperparameter_texts import label_and_explanation
from gui.widgets.network_field import NetworkField

_EXPLANATION_LINES = 6
_MOMENTUM_OPTIMIZERS = ("momentum", "nesterov")
_ORDER = (
    "network",
    "optimizer",
    "learning_rate",
    "momentum",
    "schedule",
    "warmup",
    "batch_size",
    "epochs",
    "shift_px",
    "augment",
    "augment_fade",
    "synthetic",
    "weight_decay",
    "label_smoothing",
    "averaging",
    "clip_norm",
    "patience",
    "keep_best",
    "train_limit",
    "validation_digits",
    "evaluate_every",
    "seed",
    "precision",
)


class HyperparameterForm(QWidget):
    """Shows hyperparameters, lets the user edit them and explains the one at hand."""

    values_changed = Signal()
    validity_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ink_shown = 0.0
        self._running = False
        self._takes_ink = True
        self._was_valid = True
        self._network_waits = False
        self._network = NetworkField()
        self._numbers = number_fields()
        self._choices = {
            "optimizer": choice_field(OPTIMIZERS),
            "schedule": choice_field(SCHEDULES),
            "precision": choice_field(PRECISIONS),
        }
        self._keep_best = QCheckBox()
        self._fields: dict[str, QWidget] = {
            "network": self._network.editor,
            "keep_best": self._keep_best,
            **self._numbers,
            **self._choices,
        }
        self.data_field, self.data_offer = DataField(), DataOffer()
        self.distortion_preview = DistortionPreview()
        self._lesson = QLabel(wordWrap=True)
        self._explained = QLabel()
        self._explanation = QLabel(wordWrap=True)
        self._arrange()
        self.show_values(Hyperparameters(network="linear 10"))
        self._connect()
        self._explain("network")
        self._show_what_counts()

    def show_values(self, hyperparameters: Hyperparameters) -> None:
        """Put `hyperparameters` into the fields."""
        before = self.values()
        self._ink_shown = hyperparameters.synthetic
        self.blockSignals(True)
        self._network.show_network(hyperparameters.network)
        for name, choice in self._choices.items():
            choice.setCurrentIndex(choice.findData(getattr(hyperparameters, name)))
        for name, number in self._numbers.items():
            number.setValue(getattr(hyperparameters, name))
        self._leave_ink_out()
        self._keep_best.setChecked(hyperparameters.keep_best)
        self.blockSignals(False)
        self._tell_validity()
        if before != hyperparameters:
            self.values_changed.emit()

    def values(self) -> Hyperparameters | None:
        """What the fields say; None while one of them is invalid."""
        network = self._network.network()
        if network is None:
            return None
        chosen: dict[str, Any] = {"network": network, "keep_best": self._keep_best.isChecked()}
        for name, number in self._numbers.items():
            chosen[name] = number.value() if number.decimals() else int(number.value())
        for name, choice in self._choices.items():
            chosen[name] = choice.currentData()
        return Hyperparameters(**chosen)

    def show_lesson(self, lesson: str) -> None:
        """Show what the preset teaches, above the fields."""
        self._lesson.setText(lesson)

    def allow_ink(self, allowed: bool) -> None:
        """Whether synthetic ink can be mixed in: it shows digits, and the set in use may not."""
        if allowed == self._takes_ink:
            return
        self._takes_ink = allowed
        if allowed:
            self._numbers["synthetic"].setValue(self._ink_shown)
        self._leave_ink_out()
        self._show_what_counts()

    def set_running(self, running: bool) -> None:
        """While a run goes on, only what may be changed during one can be edited; the rest stays readable."""
        self._running = running
        for name, field in self._fields.items():
            field.setEnabled(not running or name in CHANGEABLE)
        for number in self._numbers.values():
            # During a run each value counts from the next step, so a half-typed one must not.
            number.setKeyboardTracking(not running)
        self._show_what_counts()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Explain the field at hand, apply a network that is left, let the wheel scroll unless a field has focus."""
        if event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn):
            self._explain(watched.property("hyperparameter"))
        if event.type() == QEvent.Type.FocusOut and watched is self._network.editor and self._network_waits:
            self._network_waits = False
            self._on_edited()
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return isinstance(watched, QAbstractSpinBox | QComboBox)
        return super().eventFilter(watched, event)

    def _describe(self, widget: QWidget, name: str) -> None:
        label, explanation = label_and_explanation(name)
        widget.setAccessibleName(label)
        widget.setAccessibleDescription(explanation)
        widget.setToolTip(theme.tooltip(explanation))
        widget.setProperty("hyperparameter", name)
        widget.installEventFilter(self)

    def _arrange(self) -> None:
        scrolled = QWidget()
        scrolled.setObjectName("scrolled")
        inside = QVBoxLayout(scrolled)
        inside.setContentsMargins(theme.MARGIN, 0, theme.MARGIN, theme.MARGIN)
        inside.setSpacing(theme.MARGIN)
        self._lesson.setObjectName("lessonLabel")
        self._lesson.setProperty("muted", True)
        for part in (self._lesson, self.data_field, self.data_offer, self._network):
            inside.addWidget(part)
        inside.addLayout(self._rows())
        inside.addStretch(1)
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(scrolled)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.MARGIN, 0, theme.MARGIN)
        layout.setSpacing(theme.SPACING)
        layout.addWidget(scroll, 1)
        layout.addWidget(self._explanation_card())
        self._describe(self.data_field.selector, "data")
        for before, after in pairwise(_ORDER):
            QWidget.setTabOrder(self._fields[before], self._fields[after])

    def _rows(self) -> QFormLayout:
        rows = QFormLayout()
        rows.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        rows.setHorizontalSpacing(theme.MARGIN)
        rows.setVerticalSpacing(theme.SPACING - 2)
        for name in _ORDER:
            field = self._fields[name]
            label = QLabel(label_and_explanation(name)[0])
            label.setBuddy(field)
            # A form layout hangs labels from the top of their row.
            label.setMinimumHeight(field.sizeHint().height())
            self._describe(label, name)
            self._describe(field, name)
            field.setObjectName(f"{name}Field")
            field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            if name == "network":
                continue
            rows.addRow(label, field)
            if name == "augment":
                rows.addRow(self.distortion_preview)
        return rows

    def _explanation_card(self) -> QWidget:
        card = QFrame()
        card.setProperty("card", True)
        self._explained.setFont(theme.title_font(self.font()))
        self._explanation.setObjectName("explanationLabel")
        self._explanation.setFont(theme.small_font(self.font()))
        self._explanation.setProperty("muted", True)
        self._explanation.setAlignment(Qt.AlignmentFlag.AlignTop)
        # Room for the longest one, so that nothing moves while the mouse wanders over the form.
        self._explanation.setMinimumHeight(_EXPLANATION_LINES * self._explanation.fontMetrics().lineSpacing())
        self._explanation.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(theme.MARGIN, theme.SPACING, theme.MARGIN, theme.SPACING)
        inside.setSpacing(2)
        inside.addWidget(self._explained)
        inside.addWidget(self._explanation)
        framed = QWidget()
        around = QVBoxLayout(framed)
        around.setContentsMargins(theme.MARGIN, 0, theme.MARGIN, 0)
        around.addWidget(card)
        return framed

    def _connect(self) -> None:
        self._network.changed.connect(self._on_network_edited)
        self._keep_best.toggled.connect(self._on_edited)
        self._choices["optimizer"].currentIndexChanged.connect(self._show_what_counts)
        for choice in self._choices.values():
            choice.currentIndexChanged.connect(self._on_edited)
        for number in self._numbers.values():
            number.valueChanged.connect(self._on_edited)

    @Slot()
    def _on_edited(self) -> None:
        # While values are put in, the form is silent; what has changed is told once they are all there.
        if not self.signalsBlocked():
            self._tell_validity()
            self.values_changed.emit()

    @Slot()
    def _on_network_edited(self) -> None:
        # A half-typed rate of dropout must not count during a run either: it counts once the text is left.
        self._network_waits = self._running and self._network.editor.hasFocus()
        if self._network_waits:
            self._tell_validity()
        else:
            self._on_edited()

    def _tell_validity(self) -> None:
        valid = self._network.network() is not None
        if valid != self._was_valid:
            self._was_valid = valid
            self.validity_changed.emit(valid)

    @Slot()
    def _show_what_counts(self) -> None:
        self._numbers["momentum"].setEnabled(self._choices["optimizer"].currentData() in _MOMENTUM_OPTIMIZERS)
        self._numbers["synthetic"].setEnabled(self._takes_ink and not self._running)

    def _leave_ink_out(self) -> None:
        if not self._takes_ink:
            self._numbers["synthetic"].setValue(0.0)

    def _explain(self, name: str) -> None:
        label, explanation = label_and_explanation(name)
        self._explained.setText(label)
        self._explanation.setText(explanation)
