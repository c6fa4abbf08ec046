from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox, QDoubleSpinBox, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from core.training.hyperparameters import MAX_HIDDEN_LAYERS, RANGES, Hyperparameters
from gui.widgets.hyperparameter_form import HyperparameterForm
from gui.widgets.hyperparameter_texts import label_and_explanation

UNUSUAL = Hyperparameters(
    hidden=(512, 128),
    optimizer="adam",
    learning_rate=3e-4,
    momentum=0.5,
    schedule="cosine",
    batch_size=37,
    epochs=3,
    seed=2**32 - 1,
    validation_digits=1234,
    evaluate_every=777,
    shift_px=2,
    augment=0.35,
    precision="float64",
    train_limit=900,
)


@pytest.fixture
def form(qtbot: QtBot) -> HyperparameterForm:
    form = HyperparameterForm()
    qtbot.addWidget(form)
    form.resize(300, 700)
    form.show()
    form.show_values(Hyperparameters(hidden=(256,)))
    return form


def hidden_field(form: HyperparameterForm) -> QLineEdit:
    field = form.findChild(QLineEdit, "hiddenField")
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


def type_hidden(qtbot: QtBot, form: HyperparameterForm, text: str) -> None:
    hidden_field(form).clear()
    qtbot.keyClicks(hidden_field(form), text)


@pytest.mark.parametrize("values", [UNUSUAL, Hyperparameters(hidden=()), Hyperparameters(hidden=(1,) * 8)])
def test_what_is_shown_comes_back_unchanged(form: HyperparameterForm, values: Hyperparameters) -> None:
    form.show_values(values)
    assert form.values() == values


@pytest.mark.parametrize(
    ("text", "hidden"),
    [("256", (256,)), ("512, 128", (512, 128)), ("512 128", (512, 128)), ("64,32,", (64, 32)), ("", ())],
)
def test_layers_may_be_written_in_many_ways(
    qtbot: QtBot, form: HyperparameterForm, text: str, hidden: tuple[int, ...]
) -> None:
    type_hidden(qtbot, form, text)
    values = form.values()
    assert values is not None
    assert values.hidden == hidden
    assert not label(form, "hiddenMessage").isVisible()


@pytest.mark.parametrize(
    "text",
    ["0", "abc", "1,024", "-5", "16385", "1.5", "99999999999999999999", ", ".join(["8"] * (MAX_HIDDEN_LAYERS + 1))],
)
def test_wrong_layers_are_explained_at_once_in_a_sentence(qtbot: QtBot, form: HyperparameterForm, text: str) -> None:
    type_hidden(qtbot, form, text)
    assert form.values() is None
    assert label(form, "hiddenMessage").isVisible()
    assert label(form, "hiddenMessage").text().endswith(".")


def test_validity_is_told_when_it_changes_and_only_then(qtbot: QtBot, form: HyperparameterForm) -> None:
    told: list[bool] = []
    form.validity_changed.connect(told.append)
    type_hidden(qtbot, form, "abc")
    assert told == [False]
    type_hidden(qtbot, form, "64")
    assert told == [False, True]
    type_hidden(qtbot, form, "abc")
    form.show_values(UNUSUAL)
    assert told == [False, True, False, True]


def test_values_shown_are_told_once(qtbot: QtBot, form: HyperparameterForm) -> None:
    told: list[None] = []
    form.values_changed.connect(lambda: told.append(None))
    form.show_values(UNUSUAL)
    assert len(told) == 1
    form.show_values(UNUSUAL)
    assert len(told) == 1


def test_editing_a_number_and_a_choice_is_told(qtbot: QtBot, form: HyperparameterForm) -> None:
    with qtbot.waitSignal(form.values_changed):
        qtbot.keyClick(number_field(form, "epochs"), Qt.Key.Key_Up)
    assert form.values() == replace(Hyperparameters(hidden=(256,)), epochs=11)
    with qtbot.waitSignal(form.values_changed):
        qtbot.keyClick(form.findChild(QComboBox, "scheduleField"), Qt.Key.Key_Down)
    assert form.values() == replace(Hyperparameters(hidden=(256,)), epochs=11, schedule="cosine")


@pytest.mark.parametrize(
    "name",
    ["learning_rate", "momentum", "batch_size", "epochs", "seed", "validation_digits", "evaluate_every", "shift_px"],
)
def test_ranges_are_those_of_the_core(form: HyperparameterForm, name: str) -> None:
    field = number_field(form, name)
    assert (field.minimum(), field.maximum()) == (RANGES[name].minimum, RANGES[name].maximum)


def test_momentum_is_for_sgd_only(form: HyperparameterForm) -> None:
    assert number_field(form, "momentum").isEnabled()
    form.show_values(UNUSUAL)
    assert not number_field(form, "momentum").isEnabled()
    form.set_editable(False)
    form.set_editable(True)
    assert not number_field(form, "momentum").isEnabled()


def test_nothing_can_be_edited_during_a_run(form: HyperparameterForm) -> None:
    form.set_editable(False)
    assert not hidden_field(form).isEnabled()
    assert not number_field(form, "momentum").isEnabled()
    assert form.values() == Hyperparameters(hidden=(256,))
    form.set_editable(True)
    assert hidden_field(form).isEnabled()
    assert number_field(form, "momentum").isEnabled()


def test_the_field_at_hand_is_explained(qtbot: QtBot, form: HyperparameterForm) -> None:
    epochs = number_field(form, "epochs")
    QApplication.sendEvent(epochs, QEvent(QEvent.Type.Enter))
    assert label(form, "explanationLabel").text() == label_and_explanation("epochs")[1]
    form.activateWindow()
    number_field(form, "seed").setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lambda: label(form, "explanationLabel").text() == label_and_explanation("seed")[1])


def test_every_field_has_a_name_an_explanation_and_a_tooltip(form: HyperparameterForm) -> None:
    for name in Hyperparameters.__dataclass_fields__:
        if name == "train_limit":
            continue
        field = form.findChild(QWidget, f"{name}Field")
        assert field is not None
        title, explanation = label_and_explanation(name)
        assert field.accessibleName() == title
        assert explanation[:20] in field.toolTip()


def test_the_longest_explanation_does_not_move_the_form(form: HyperparameterForm) -> None:
    heights = set()
    for name in ("learning_rate", "momentum"):
        QApplication.sendEvent(number_field(form, name), QEvent(QEvent.Type.Enter))
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
    names = ["hidden", "optimizer", "learning_rate", "momentum", "schedule", "batch_size", "epochs", "seed"]
    fields = [form.findChild(QWidget, f"{name}Field") for name in names]
    chain = []
    widget: QWidget | None = fields[0]
    while widget is not None and len(chain) < len(names):
        if widget in fields:
            chain.append(widget)
        widget = widget.nextInFocusChain()
    assert chain == fields


def test_the_lesson_is_shown(form: HyperparameterForm) -> None:
    form.show_lesson("Less is more.")
    assert label(form, "lessonLabel").text() == "Less is more."
