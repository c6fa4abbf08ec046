"""Saving from the question to the file, with the real dialogs."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt, QThread, QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QPushButton, QRadioButton, QWidget
from pytestqt.qtbot import QtBot
from safetensors import safe_open

from core.digits.dataset import DigitSets
from core.training.hyperparameters import Hyperparameters
from core.training.model_file import Model, load_model, save_model
from gui.dialogs import Dialogs
from gui.file_controller import FileController
from gui.network_controller import NetworkController
from gui.storage_controller import StorageController

ON_THE_WORDS = QPoint(24, 8)


class House:
    """A window with nothing in it, and a network from a file behind it."""

    def __init__(self, qtbot: QtBot, sets: DigitSets, path: Path) -> None:
        self.window = QWidget()
        qtbot.addWidget(self.window)
        self.network, self.storage = NetworkController(), StorageController()
        self.storage.on_data_loaded(sets)
        self.network.open_file(path)
        self.files = FileController(self.network, self.storage, Dialogs(self.window))


@pytest.fixture
def house(qtbot: QtBot, few_digits: DigitSets, tmp_path: Path, rng: np.random.Generator) -> House:
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    chosen = Hyperparameters("linear 1024 relu, linear 10", seed=77)
    shapes = {"linear1.weight": (1024, 784), "linear1.bias": 1024, "linear2.weight": (10, 1024), "linear2.bias": 10}
    weights = {name: rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}
    save_model(tmp_path / "first.safetensors", Model("quick-mlp", chosen, weights))
    return House(qtbot, few_digits, tmp_path / "first.safetensors")


def when_open(kind: type[QWidget] | str, act: Callable[[QWidget], None]) -> None:
    """Run `act` on the dialog of that class or name, once it is open."""

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        if dialog is not None and (dialog.objectName() == kind or (kind is QFileDialog and isinstance(dialog, kind))):
            act(dialog)
        else:
            QTimer.singleShot(20, look)

    QTimer.singleShot(20, look)


def choose_int8_when_it_is_measured(qtbot: QtBot, texts: list[str]) -> Callable[[QWidget], None]:
    def act(dialog: QWidget) -> None:
        choice = dialog.findChild(QRadioButton, "int8Choice")
        assert choice is not None
        qtbot.waitUntil(lambda: "(" in choice.text(), timeout=20_000)
        texts.append(choice.text())
        qtbot.mouseClick(choice, Qt.MouseButton.LeftButton, pos=ON_THE_WORDS)
        qtbot.mouseClick(dialog.findChild(QPushButton, "saveButton"), Qt.MouseButton.LeftButton)

    return act


def save_as(path: Path) -> Callable[[QWidget], None]:
    def act(dialog: QWidget) -> None:
        assert isinstance(dialog, QFileDialog)
        edit = dialog.findChild(QLineEdit)
        assert edit is not None
        edit.setText(str(path))
        dialog.accept()

    return act


def test_a_network_is_saved_as_it_was_chosen_after_its_accuracy_was_seen(
    qtbot: QtBot, house: House, tmp_path: Path
) -> None:
    path, texts = tmp_path / "small.safetensors", []
    when_open("saveDialog", choose_int8_when_it_is_measured(qtbot, texts))
    when_open(QFileDialog, save_as(path))
    house.files.save()
    assert load_model(path).hyperparameters.seed == 77
    with safe_open(path, framework="numpy") as file:
        assert file.get_slice("linear1.weight").get_dtype() == "I8"
    assert texts[0].startswith(f"int8 – {path.stat().st_size / 1e6:.3g} MB – ")


def test_cancelling_while_it_is_still_measured_writes_nothing_and_leaves_no_thread(
    qtbot: QtBot, house: House, mnist: DigitSets
) -> None:
    house.storage.on_data_loaded(mnist)
    told: list[str] = []
    house.network.notified.connect(told.append)
    when_open("saveDialog", lambda dialog: qtbot.keyClick(dialog, Qt.Key.Key_Escape))
    house.files.save()
    assert told == []
    assert not any(thread.isRunning() for thread in house.storage.findChildren(QThread))


def test_cancelling_the_place_writes_nothing(qtbot: QtBot, house: House) -> None:
    told: list[str] = []
    house.network.notified.connect(told.append)
    when_open("saveDialog", lambda dialog: qtbot.keyClick(dialog, Qt.Key.Key_Return))
    when_open(QFileDialog, lambda dialog: dialog.reject())  # type: ignore[attr-defined]
    house.files.save()
    assert told == []
