"""The fields of the form: one for each number among the hyperparameters, and one for a choice.

A room of its own because the form should read as what it does; how many digits a field has and how far it steps is
said here.
"""

from collections.abc import Iterable

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QDoubleSpinBox

from core.training.hyperparameters import RANGES
from gui import theme
from gui.widgets.hyperparameter_texts import choice_title
from gui.widgets.learning_rate_field import DecimalField, LearningRateField

_FIELD_WIDTH_PX = 104
_WHOLE_NUMBERS = (
    "batch_size",
    "epochs",
    "seed",
    "shift_px",
    "patience",
    "train_limit",
    "validation_digits",
    "evaluate_every",
)
_SHARES = {
    "momentum": 3,
    "weight_decay": 5,
    "clip_norm": 2,
    "warmup": 2,
    "augment": 2,
    "augment_fade": 2,
    "synthetic": 2,
    "label_smoothing": 2,
    "averaging": 4,
}
"""Fields for fractions, with the digits behind the point."""
_STEPS = {
    "momentum": 0.01,
    "augment": 0.05,
    "augment_fade": 0.05,
    "synthetic": 0.05,
    "warmup": 0.05,
    "weight_decay": 0.001,
    "label_smoothing": 0.01,
    "averaging": 0.01,
    "clip_norm": 0.5,
    "train_limit": 1000,
    "validation_digits": 1000,
    "evaluate_every": 1000,
}
_ADAPTIVE_STEPS = ("batch_size",)


def number_fields() -> dict[str, QDoubleSpinBox]:
    """A field for every number among the hyperparameters, by name."""
    fields: dict[str, QDoubleSpinBox] = {"learning_rate": LearningRateField()}
    fields |= {name: DecimalField(decimals=decimals) for name, decimals in _SHARES.items()}
    # QSpinBox ends at 2^31, the seed does not; a double is exact to 2^53.
    fields |= {name: QDoubleSpinBox(decimals=0) for name in _WHOLE_NUMBERS}
    for name, field in fields.items():
        _limit(field, name)
    fields["train_limit"].setSpecialValueText(QCoreApplication.translate("HyperparameterForm", "all"))
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


def choice_field(choices: Iterable[str]) -> QComboBox:
    """A field for one of `choices`, shown by their titles; its data are the choices themselves."""
    field = QComboBox()
    for choice in choices:
        field.addItem(choice_title(choice), choice)
    field.setMinimumWidth(_FIELD_WIDTH_PX)
    return field
