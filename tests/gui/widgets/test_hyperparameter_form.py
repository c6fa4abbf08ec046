"""The form, typed into as people type: values go in and out unchanged, and a run leaves open what may be changed."""

from dataclasses import fields, replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QPlainTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from core.training.hyperparameters import CHANGEABLE, RANGES, Hyperparameters
from core.training.presets import PRESETS
from gui.widgets.hyperparameter_form import HyperparameterForm
from gui.widgets.hyperparameter_texts import label_and_explanation

PLAIN = Hyperparameters(network="linear 256 relu, linear 10")
UNUSUAL = Hyperparameters(
    network="conv 8x3 bn relu, pool 2, dropout 0.25, linear 10",
    optimizer="adam",
    learning_rate=3e-4,
    momentum=0.512,
    weight_decay=0.00125,
    clip_norm=2.25,
    schedule="one-cycle",
    warmup=0.05,
    batch_size=37,
    epochs=3,
    seed=2**32 - 1,
    shift_px=2,
    augment=0.35,
    augment_fade=0.15,
    synthetic=0.2,
    label_smoothing=0.05,
    averaging=0.9995,
    patience=7,
    keep_best=True,
    validation_digits=1234,
    evaluate_every=777,
    precision="float64",
    train_limit=900,
)
ALL = [field.name for field in fields(Hyperparameters)]
NUMBERS = list(RANGES)


@pytest.fixture
def form(qtbot: QtBot) -> HyperparameterForm:
    form = HyperparameterForm()
    qtbot.addWidget(form)
    form.resize(300, 700)
    form.show()
    form.show_values(PLAIN)
    return form


def network_field(form: HyperparameterForm) -> QPlainTextEdit:
    field = form.findChild(QPlainTextEdit, "networkField")
    assert field is not None
    return field


def any_field(form: HyperparameterForm, name: str) -> QWidget:
    field = form.findChild(QWidget, f"{name}Field")
    assert field is not None
    return field


def number_field(form: HyperparameterForm, name: str) -> QDoubleSpinBox:
    field = form.findChild(QDoubleSpinBox, f"{name}Field")
    assert field is not None
    return field


def label(form: HyperparameterForm, name: str) -> QLabel:
    found = form.findChild(QLabel, name)
    assert found is not None
    return found


def type_network(qtbot: QtBot, form: HyperparameterForm, text: str) -> None:
    network_field(form).clear()
    qtbot.keyClicks(network_field(form), text)


def focus(qtbot: QtBot, form: HyperparameterForm, field: QWidget) -> None:
    form.activateWindow()
    field.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(field.hasFocus)


def type_number(qtbot: QtBot, field: QDoubleSpinBox, text: str) -> None:
    """Type, and leave the number unfinished."""
    field.selectAll()
    qtbot.keyClicks(field, text)


def told_by(form: HyperparameterForm) -> list[Hyperparameters | None]:
    """The values that stood in the form each time a change was told."""
    told: list[Hyperparameters | None] = []
    form.values_changed.connect(lambda: told.append(form.values()))
    return told


@pytest.mark.parametrize("name", ALL)
def test_each_field_takes_a_value_and_gives_it_back_unchanged(form: HyperparameterForm, name: str) -> None:
    values = replace(PLAIN, **{name: getattr(UNUSUAL, name)})
    assert values != PLAIN
    form.show_values(values)
    assert form.values() == values


@pytest.mark.parametrize("name", NUMBERS)
def test_both_ends_of_each_range_come_back_unchanged(form: HyperparameterForm, name: str) -> None:
    kind = type(getattr(PLAIN, name))
    for value in (RANGES[name].minimum, RANGES[name].maximum):
        values = replace(PLAIN, **{name: kind(value)})
        form.show_values(values)
        assert form.values() == values
        assert type(getattr(form.values(), name)) is kind


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_preset_comes_back_unchanged(form: HyperparameterForm, name: str) -> None:
    form.show_values(UNUSUAL)
    form.show_values(PRESETS[name].hyperparameters)
    assert form.values() == PRESETS[name].hyperparameters


@pytest.mark.parametrize("name", NUMBERS)
def test_each_number_can_be_typed(qtbot: QtBot, form: HyperparameterForm, name: str) -> None:
    form.show_values(replace(PLAIN, optimizer="nesterov"))
    value = getattr(UNUSUAL, name)
    type_number(qtbot, number_field(form, name), number_field(form, name).locale().toString(value).replace(",", ""))
    assert form.values() == replace(PLAIN, optimizer="nesterov", **{name: value})


@pytest.mark.parametrize("name", ["optimizer", "schedule", "precision"])
def test_each_choice_can_be_made_by_key(qtbot: QtBot, form: HyperparameterForm, name: str) -> None:
    choice = form.findChild(QComboBox, f"{name}Field")
    assert choice is not None
    choice.setCurrentIndex(0)
    seen = [getattr(form.values(), name)]
    for _ in range(choice.count() - 1):
        qtbot.keyClick(choice, Qt.Key.Key_Down)
        seen.append(getattr(form.values(), name))
    assert len(set(seen)) == len(seen) == choice.count()


def test_keeping_the_best_is_a_box_to_tick(qtbot: QtBot, form: HyperparameterForm) -> None:
    box = form.findChild(QCheckBox, "keep_bestField")
    assert box is not None
    told = told_by(form)
    qtbot.keyClick(box, Qt.Key.Key_Space)
    assert told == [replace(PLAIN, keep_best=True)]


def test_a_typed_network_is_among_the_values(qtbot: QtBot, form: HyperparameterForm) -> None:
    type_network(qtbot, form, "conv 4x3 relu, linear 10")
    assert form.values() == replace(PLAIN, network="conv 4x3 relu, linear 10")
    type_network(qtbot, form, "conv 4x3 relu, linear 11")
    assert form.values() is None
    assert label(form, "networkMessage").text().endswith(".")


def test_validity_is_told_when_it_changes_and_only_then(qtbot: QtBot, form: HyperparameterForm) -> None:
    told: list[bool] = []
    form.validity_changed.connect(told.append)
    type_network(qtbot, form, "abc")
    assert told == [False]
    type_network(qtbot, form, "linear 10")
    assert told == [False, True]
    type_network(qtbot, form, "abc")
    form.show_values(UNUSUAL)
    assert told == [False, True, False, True]


def test_values_shown_are_told_once(qtbot: QtBot, form: HyperparameterForm) -> None:
    told = told_by(form)
    form.show_values(UNUSUAL)
    assert told == [UNUSUAL]
    form.show_values(UNUSUAL)
    assert told == [UNUSUAL]


def test_editing_a_number_and_a_choice_is_told(qtbot: QtBot, form: HyperparameterForm) -> None:
    with qtbot.waitSignal(form.values_changed):
        qtbot.keyClick(number_field(form, "epochs"), Qt.Key.Key_Up)
    assert form.values() == replace(PLAIN, epochs=11)
    with qtbot.waitSignal(form.values_changed):
        qtbot.keyClick(form.findChild(QComboBox, "scheduleField"), Qt.Key.Key_Down)
    assert form.values() == replace(PLAIN, epochs=11, schedule="step")


@pytest.mark.parametrize("name", NUMBERS)
def test_ranges_are_those_of_the_core(form: HyperparameterForm, name: str) -> None:
    field = number_field(form, name)
    assert (field.minimum(), field.maximum()) == (RANGES[name].minimum, RANGES[name].maximum)


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize(
    ("optimizer", "counts"), [("momentum", True), ("nesterov", True), ("sgd", False), ("adam", False)]
)
def test_momentum_is_for_those_optimizers_that_use_it(
    form: HyperparameterForm, optimizer: str, counts: bool, running: bool
) -> None:
    form.set_running(running)
    form.show_values(replace(PLAIN, optimizer=optimizer))
    assert number_field(form, "momentum").isEnabled() is counts
    form.set_running(not running)
    assert number_field(form, "momentum").isEnabled() is counts


@pytest.mark.parametrize("name", ALL)
def test_during_a_run_only_what_may_change_can_be_edited(form: HyperparameterForm, name: str) -> None:
    form.set_running(True)
    assert any_field(form, name).isEnabled() is (name in CHANGEABLE)
    assert form.values() == PLAIN
    form.set_running(False)
    assert any_field(form, name).isEnabled()


@pytest.mark.parametrize("finish", [Qt.Key.Key_Return, Qt.Key.Key_Tab])
@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("learning_rate", "3e-2", 0.03),
        ("epochs", "250", 250),
        ("augment", "0.25", 0.25),
        ("momentum", "0.55", 0.55),
    ],
)
def test_during_a_run_a_half_typed_number_counts_only_once_it_is_finished(
    qtbot: QtBot, form: HyperparameterForm, name: str, text: str, value: float, finish: Qt.Key
) -> None:
    form.set_running(True)
    focus(qtbot, form, number_field(form, name))
    told = told_by(form)
    type_number(qtbot, number_field(form, name), text)
    assert told == []
    assert form.values() == PLAIN
    qtbot.keyClick(number_field(form, name), finish)
    assert told == [replace(PLAIN, **{name: value})]


def test_between_runs_a_number_counts_as_it_is_typed(qtbot: QtBot, form: HyperparameterForm) -> None:
    form.set_running(True)
    form.set_running(False)
    told = told_by(form)
    type_number(qtbot, number_field(form, "epochs"), "25")
    assert [values.epochs for values in told if values is not None] == [2, 25]


def test_during_a_run_a_half_typed_dropout_counts_only_once_the_text_is_left(
    qtbot: QtBot, form: HyperparameterForm
) -> None:
    form.show_values(replace(PLAIN, network="linear 32 relu, linear 10, dropout 0.5"))
    form.set_running(True)
    focus(qtbot, form, network_field(form))
    told = told_by(form)
    qtbot.keyClick(network_field(form), Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(network_field(form), Qt.Key.Key_Backspace)
    qtbot.keyClicks(network_field(form), "25")
    assert told == []
    qtbot.keyClick(network_field(form), Qt.Key.Key_Tab)
    assert told == [replace(PLAIN, network="linear 32 relu, linear 10, dropout 0.25")]
    focus(qtbot, form, network_field(form))
    qtbot.keyClick(network_field(form), Qt.Key.Key_Tab)
    assert len(told) == 1


def test_during_a_run_a_mistake_in_the_network_is_told_while_it_is_typed(
    qtbot: QtBot, form: HyperparameterForm
) -> None:
    form.set_running(True)
    focus(qtbot, form, network_field(form))
    with qtbot.waitSignal(form.validity_changed, check_params_cb=lambda valid: not valid):
        qtbot.keyClicks(network_field(form), "x")
    assert form.values() is None


def test_the_preview_of_distortion_stands_below_its_field(form: HyperparameterForm) -> None:
    preview = form.distortion_preview
    assert preview.isVisibleTo(form)
    field = number_field(form, "augment")
    top = preview.mapTo(form, preview.rect().topLeft()).y()
    assert field.mapTo(form, field.rect().bottomLeft()).y() <= top
    below = number_field(form, "weight_decay")
    assert preview.mapTo(form, preview.rect().bottomLeft()).y() <= below.mapTo(form, below.rect().topLeft()).y()


def test_the_field_at_hand_is_explained(qtbot: QtBot, form: HyperparameterForm) -> None:
    epochs = number_field(form, "epochs")
    QApplication.sendEvent(epochs, QEvent(QEvent.Type.Enter))
    assert label(form, "explanationLabel").text() == label_and_explanation("epochs")[1]
    form.activateWindow()
    number_field(form, "seed").setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lambda: label(form, "explanationLabel").text() == label_and_explanation("seed")[1])


def test_every_field_has_a_name_an_explanation_and_a_tooltip(form: HyperparameterForm) -> None:
    for name in ALL:
        field = any_field(form, name)
        title, explanation = label_and_explanation(name)
        assert field.accessibleName() == title
        assert explanation[:20] in field.toolTip()


def test_the_longest_explanation_does_not_move_the_form(form: HyperparameterForm) -> None:
    heights = set()
    for name in ALL:
        QApplication.sendEvent(any_field(form, name), QEvent(QEvent.Type.Enter))
        QApplication.processEvents()
        heights.add(label(form, "explanationLabel").height())
    assert len(heights) == 1


def test_the_wheel_scrolls_past_fields_instead_of_changing_them(form: HyperparameterForm) -> None:
    field = number_field(form, "epochs")
    middle = QPointF(field.rect().center())
    no_button, no_key, phase = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    QApplication.sendEvent(
        field, QWheelEvent(middle, middle, QPoint(), QPoint(0, 120), no_button, no_key, phase, False)
    )
    assert field.value() == 10


def test_the_tab_key_goes_from_field_to_field_downwards(qtbot: QtBot, form: HyperparameterForm) -> None:
    names = ["network", "optimizer", "learning_rate", "momentum", "schedule", "warmup", "batch_size", "epochs"]
    names += [
        "shift_px",
        "augment",
        "augment_fade",
        "synthetic",
        "weight_decay",
        "label_smoothing",
        "averaging",
        "clip_norm",
        "patience",
    ]
    names += ["keep_best", "train_limit", "validation_digits", "evaluate_every", "seed", "precision"]
    assert sorted(names) == sorted(ALL)
    in_order = [any_field(form, name) for name in names]
    chain = []
    widget: QWidget | None = in_order[0]
    while widget is not None and len(chain) < len(names):
        if widget in in_order:
            chain.append(widget)
        widget = widget.nextInFocusChain()
    assert chain == in_order


def test_the_lesson_is_shown(form: HyperparameterForm) -> None:
    form.show_lesson("Less is more.")
    assert label(form, "lessonLabel").text() == "Less is more."
