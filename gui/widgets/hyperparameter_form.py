"""The form of a training run: every hyperparameter as a field, and in words what it does to learning.

A room of its own because it alone turns what is typed into `Hyperparameters` and back. Ranges and choices are core's;
nothing here repeats a number.
"""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QObject, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from core.training.hyperparameters import (
    MAX_HIDDEN_LAYERS,
    OPTIMIZERS,
    PRECISIONS,
    RANGES,
    SCHEDULES,
    Hyperparameters,
)
from gui import theme
from gui.widgets.hyperparameter_texts import choice_title, label_and_explanation
from gui.widgets.learning_rate_field import DecimalField, LearningRateField

_EXPLANATION_LINES = 6
_FIELD_WIDTH_PX = 104
_WHOLE_NUMBERS = ("batch_size", "epochs", "seed", "validation_digits", "evaluate_every", "shift_px")
_ORDER = (
    "hidden",
    "optimizer",
    "learning_rate",
    "momentum",
    "schedule",
    "batch_size",
    "epochs",
    "seed",
    "validation_digits",
    "evaluate_every",
    "shift_px",
    "augment",
    "precision",
)
_STEPS = {"momentum": 0.01, "augment": 0.1, "validation_digits": 1000, "evaluate_every": 1000}
_ADAPTIVE_STEPS = ("batch_size",)


class HyperparameterForm(QWidget):
    """Shows hyperparameters, lets the user edit them and explains the one at hand."""

    values_changed = Signal()
    validity_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = Hyperparameters(hidden=())
        self._hidden: tuple[int, ...] | None = ()
        self._editable = True
        self._hidden_field = QLineEdit()
        self._numbers = _number_fields()
        self._choices = {
            "optimizer": _choice_field(OPTIMIZERS),
            "schedule": _choice_field(SCHEDULES),
            "precision": _choice_field(PRECISIONS),
        }
        self._fields: dict[str, QWidget] = {"hidden": self._hidden_field, **self._numbers, **self._choices}
        self._lesson = QLabel(wordWrap=True)
        self._hidden_message = QLabel(wordWrap=True)
        self._explained = QLabel()
        self._explanation = QLabel(wordWrap=True)
        self._arrange()
        self._connect()
        self._explain("hidden")
        self._on_hidden_edited()

    def show_values(self, hyperparameters: Hyperparameters) -> None:
        """Put `hyperparameters` into the fields."""
        before = self.values()
        self._shown = hyperparameters
        self.blockSignals(True)
        self._hidden_field.setText(", ".join(str(units) for units in hyperparameters.hidden))
        for name, choice in self._choices.items():
            choice.setCurrentIndex(choice.findData(getattr(hyperparameters, name)))
        for name, number in self._numbers.items():
            number.setValue(getattr(hyperparameters, name))
        self.blockSignals(False)
        if before is None:
            self.validity_changed.emit(True)
        if before != hyperparameters:
            self.values_changed.emit()

    def values(self) -> Hyperparameters | None:
        """What the fields say; None while one of them is invalid."""
        if self._hidden is None:
            return None
        chosen: dict[str, Any] = {"hidden": self._hidden}
        for name, number in self._numbers.items():
            chosen[name] = number.value() if number.decimals() else int(number.value())
        for name, choice in self._choices.items():
            chosen[name] = choice.currentData()
        # What has no field here stays as it was shown.
        return replace(self._shown, **chosen)

    def show_lesson(self, lesson: str) -> None:
        """Show what the preset teaches, above the fields."""
        self._lesson.setText(lesson)

    def set_editable(self, editable: bool) -> None:
        """Whether the fields may be edited; they stay readable, and explained, if not."""
        self._editable = editable
        for field in self._fields.values():
            field.setEnabled(editable)
        self._show_whether_momentum_counts()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Explain the field under the keyboard or the mouse; let the wheel scroll the form unless a field has focus."""
        if event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn):
            self._explain(watched.property("hyperparameter"))
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
        self._hidden_field.setPlaceholderText(self.tr("none"))
        self._lesson.setObjectName("lessonLabel")
        self._lesson.setProperty("muted", True)
        inside.addWidget(self._lesson)
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
            rows.addRow(label, field)
            if name == "hidden":
                self._hidden_message.setObjectName("hiddenMessage")
                self._hidden_message.setProperty("problem", True)
                rows.addRow(self._hidden_message)
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
        self._hidden_field.textChanged.connect(self._on_hidden_edited)
        self._choices["optimizer"].currentIndexChanged.connect(self._show_whether_momentum_counts)
        for choice in self._choices.values():
            choice.currentIndexChanged.connect(self._on_edited)
        for number in self._numbers.values():
            number.valueChanged.connect(self._on_edited)

    @Slot()
    def _on_edited(self) -> None:
        self.values_changed.emit()

    @Slot()
    def _on_hidden_edited(self) -> None:
        was_valid = self._hidden is not None
        self._hidden, problem = _read_hidden(self._hidden_field.text())
        self._hidden_message.setText(problem)
        self._hidden_message.setVisible(bool(problem))
        self._hidden_field.setProperty("problem", bool(problem))
        self._hidden_field.style().polish(self._hidden_field)
        if was_valid != (self._hidden is not None):
            self.validity_changed.emit(self._hidden is not None)
        self.values_changed.emit()

    @Slot()
    def _show_whether_momentum_counts(self) -> None:
        self._numbers["momentum"].setEnabled(self._editable and self._choices["optimizer"].currentData() == "sgd")

    def _explain(self, name: str) -> None:
        label, explanation = label_and_explanation(name)
        self._explained.setText(label)
        self._explanation.setText(explanation)


def _number_fields() -> dict[str, QDoubleSpinBox]:
    fields: dict[str, QDoubleSpinBox] = {"learning_rate": LearningRateField(), "momentum": DecimalField(decimals=3)}
    fields["augment"] = DecimalField(decimals=2)
    # QSpinBox ends at 2^31, the seed does not; a double is exact to 2^53.
    fields |= {name: QDoubleSpinBox(decimals=0) for name in _WHOLE_NUMBERS}
    for name, field in fields.items():
        _limit(field, name)
    return fields


def _limit(field: QDoubleSpinBox, name: str) -> None:
    limits = RANGES[name]
    field.setRange(limits.minimum, limits.maximum)
    if name in _STEPS:
        field.setSingleStep(_STEPS[name])
    if name in _ADAPTIVE_STEPS:
        field.setStepType(QAbstractSpinBox.StepType.AdaptiveDecimalStepType)
    field.setGroupSeparatorShown(name != "seed")
    field.setMinimumWidth(_FIELD_WIDTH_PX)
    # The style sheet's padding does not reach the text of a spin box.
    field.lineEdit().setTextMargins(theme.SPACING - 2, 0, 0, 0)


def _choice_field(choices: tuple[str, ...]) -> QComboBox:
    field = QComboBox()
    for choice in choices:
        field.addItem(choice_title(choice), choice)
    field.setMinimumWidth(_FIELD_WIDTH_PX)
    return field


def _read_hidden(text: str) -> tuple[tuple[int, ...] | None, str]:
    """The layer sizes in `text`, or None and a sentence that says what is wrong with it."""
    sizes = [part for part in re.split(r"[\s,;×]+", text.strip()) if part]
    limits = RANGES["hidden"]
    number = QLocale().toString
    if len(sizes) > MAX_HIDDEN_LAYERS:
        problem = QCoreApplication.translate("HyperparameterForm", "That is %1 hidden layers; give at most %2.")
        return None, problem.replace("%1", number(len(sizes))).replace("%2", number(MAX_HIDDEN_LAYERS))
    for size in sizes:
        # A leading zero is what is left of a number with separators: 1,024 would be read as the layers 1 and 24.
        if not re.fullmatch(r"[1-9][0-9]{0,8}", size) or not limits.minimum <= int(size) <= limits.maximum:
            problem = QCoreApplication.translate(
                "HyperparameterForm", "“%1” is no layer size; give whole numbers from %2 to %3, without separators."
            )
            problem = problem.replace("%2", number(int(limits.minimum))).replace("%3", number(int(limits.maximum)))
            return None, problem.replace("%1", size[:20])
    return tuple(int(size) for size in sizes), ""
