"""The question of the precision, answered by mouse and keyboard."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QRadioButton
from pytestqt.qtbot import QtBot

from core.training.storage import STORAGE_PRECISIONS
from gui.widgets.save_dialog import SaveDialog, StorageFigures

ON_THE_WORDS = QPoint(24, 8)


@pytest.fixture
def dialog(qtbot: QtBot) -> SaveDialog:
    dialog = SaveDialog("On the ten digits of a hand.")
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitExposed(dialog)
    dialog.activateWindow()
    qtbot.waitUntil(choice(dialog, "float16").hasFocus)
    return dialog


def choice(dialog: SaveDialog, precision: str) -> QRadioButton:
    found = dialog.findChild(QRadioButton, f"{precision}Choice")
    assert isinstance(found, QRadioButton)
    return found


def texts(dialog: SaveDialog) -> list[str]:
    return [choice(dialog, precision).text() for precision in STORAGE_PRECISIONS]


def focused(dialog: SaveDialog) -> str:
    widget = dialog.focusWidget()
    assert widget is not None
    return str(widget.objectName())


def test_it_opens_with_float16_chosen_and_tells_sizes_and_accuracies_as_they_come(dialog: SaveDialog) -> None:
    assert dialog.precision() == "float16"
    assert texts(dialog) == ["float32", "float16", "int8"]
    for precision, size in (("float32", 1_328_200), ("float16", 665_572), ("int8", 12_345)):
        dialog.show_figures(StorageFigures(precision, size, None))
    assert texts(dialog) == [
        "float32 – 1.33 MB – measuring…",
        "float16 – 0.666 MB – measuring…",
        "int8 – 0.0123 MB – measuring…",
    ]
    dialog.show_figures(StorageFigures("float32", 1_328_200, 0.9871))
    dialog.show_figures(StorageFigures("float16", 665_572, 0.9870))
    dialog.show_figures(StorageFigures("int8", 12_345, 0.9902))
    assert texts(dialog) == [
        "float32 – 1.33 MB – 98.71 %",
        "float16 – 0.666 MB – 98.70 % (-0.01)",
        "int8 – 0.0123 MB – 99.02 % (+0.31)",
    ]
    assert dialog.precision() == "float16"


def test_a_difference_is_told_once_there_is_something_to_compare_with(dialog: SaveDialog) -> None:
    dialog.show_figures(StorageFigures("int8", 1_000_000, 0.98765))
    assert texts(dialog)[2] == "int8 – 1 MB – 98.77 %"
    dialog.show_figures(StorageFigures("float32", 4_000_000, 0.98767))
    assert texts(dialog)[2] == "int8 – 1 MB – 98.77 % (+0.00)"


def test_without_digits_to_measure_on_nothing_is_promised(qtbot: QtBot) -> None:
    dialog = SaveDialog("")
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.show_figures(StorageFigures("int8", 2_000_000, None))
    assert texts(dialog)[2] == "int8 – 2 MB"
    label = dialog.findChild(QLabel, "measuredOnLabel")
    assert label is not None
    assert not label.isVisible()


def test_what_cannot_hold_the_weights_cannot_be_chosen(qtbot: QtBot, dialog: SaveDialog) -> None:
    dialog.show_figures(StorageFigures("float16", None, None))
    assert texts(dialog)[1] == "float16 – some weights are too large for it"
    assert dialog.precision() == "float32"
    qtbot.mouseClick(choice(dialog, "float16"), Qt.MouseButton.LeftButton, pos=ON_THE_WORDS)
    assert dialog.precision() == "float32"
    qtbot.mouseClick(choice(dialog, "int8"), Qt.MouseButton.LeftButton, pos=ON_THE_WORDS)
    dialog.show_figures(StorageFigures("float16", None, None))
    assert dialog.precision() == "int8"


@pytest.mark.parametrize(("keys", "precision"), [([], "float16"), (["Down"], "int8"), (["Up"], "float32")])
def test_arrows_choose_and_return_saves(qtbot: QtBot, dialog: SaveDialog, keys: list[str], precision: str) -> None:
    for key in keys:
        qtbot.keyClick(dialog.focusWidget(), getattr(Qt.Key, f"Key_{key}"))
    with qtbot.waitSignal(dialog.accepted):
        qtbot.keyClick(dialog.focusWidget(), Qt.Key.Key_Return)
    assert dialog.precision() == precision


def test_tab_goes_from_the_choice_to_the_buttons_and_space_presses_them(qtbot: QtBot, dialog: SaveDialog) -> None:
    order = [focused(dialog)]
    for _ in range(3):
        qtbot.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
        order.append(focused(dialog))
    assert order == ["float16Choice", "saveButton", "cancelButton", "float16Choice"]
    qtbot.keyClick(dialog.focusWidget(), Qt.Key.Key_Backtab)
    with qtbot.waitSignal(dialog.rejected):
        qtbot.keyClick(dialog.focusWidget(), Qt.Key.Key_Space)


def test_escape_cancels(qtbot: QtBot, dialog: SaveDialog) -> None:
    with qtbot.waitSignal(dialog.rejected):
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)


def test_every_control_says_why(dialog: SaveDialog) -> None:
    controls = [*dialog.findChildren(QRadioButton), *dialog.findChildren(QPushButton)]
    assert len(controls) == 5
    tips = {control.toolTip() for control in controls}
    assert len(tips) == 5
    assert all(tip.startswith("<p>") and tip.endswith(".</p>") for tip in tips)
