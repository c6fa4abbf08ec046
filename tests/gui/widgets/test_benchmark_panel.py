"""The tab of the benchmark and the race: asked for by mouse and keyboard, shown as events come, taken away as files."""

import csv
import io
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QTabBar,
    QTableWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from core.device import DeviceInfo
from core.training.benchmark import BenchmarkEnded, BenchmarkJob, BenchmarkProgress, WidthFailed, WidthMeasured
from core.training.race import LapFailed, LapStarted, RaceEnded, RacePoint, RaceProgress
from gui.widgets.benchmark_panel import BenchmarkPanel

CPU, GPU = "CPU – 2 threads", "NVIDIA H200"
DEVICES = [DeviceInfo("cpu", CPU, available=True), DeviceInfo("cuda:0", GPU, available=True)]


@pytest.fixture
def panel(qtbot: QtBot) -> BenchmarkPanel:
    panel = BenchmarkPanel()
    qtbot.addWidget(panel)
    panel.show_devices(DEVICES)
    panel.show_state(running=False, can_measure=True, can_race=True)
    panel.resize(720, 620)
    panel.show()
    qtbot.waitExposed(panel)
    return panel


def find(panel: BenchmarkPanel, kind: type, name: str) -> QWidget:
    (found,) = panel.findChildren(kind, name)
    return found


def click(qtbot: QtBot, panel: BenchmarkPanel, name: str) -> None:
    qtbot.mouseClick(find(panel, QPushButton, name), Qt.MouseButton.LeftButton)


def text(panel: BenchmarkPanel, name: str) -> str:
    return str(find(panel, QLabel, name).text())  # type: ignore[attr-defined]


def choose_race(qtbot: QtBot, panel: BenchmarkPanel) -> None:
    kinds = find(panel, QTabBar, "benchmarkKinds")
    assert isinstance(kinds, QTabBar)
    qtbot.mouseClick(kinds, Qt.MouseButton.LeftButton, pos=kinds.tabRect(1).center())


def type_widths(qtbot: QtBot, panel: BenchmarkPanel, widths: str) -> None:
    field = find(panel, QLineEdit, "widthsField")
    assert isinstance(field, QLineEdit)
    field.selectAll()
    qtbot.keyClicks(field, widths)


def measured(key: str, hidden: int, seconds: float) -> WidthMeasured:
    name = CPU if key == "cpu" else GPU
    return WidthMeasured(key, name, hidden, seconds, 60000 / seconds, 2e9, 0.125)


def start(qtbot: QtBot, panel: BenchmarkPanel) -> BenchmarkJob:
    with qtbot.waitSignal(panel.benchmark_requested) as asked:
        click(qtbot, panel, "benchmarkStart")
    panel.show_state(running=True, can_measure=False, can_race=False)
    job = asked.args[0]
    assert isinstance(job, BenchmarkJob)
    return job


def table(panel: BenchmarkPanel) -> list[list[str]]:
    shown = find(panel, QTableWidget, "benchmarkTable")
    assert isinstance(shown, QTableWidget)
    cells = [[shown.item(row, column) for column in range(shown.columnCount())] for row in range(shown.rowCount())]
    return [[cell.text() for cell in row if cell is not None] for row in cells]


def test_every_control_has_a_name_and_explains_itself(panel: BenchmarkPanel) -> None:
    controls = [*panel.findChildren(QPushButton), *panel.findChildren(QCheckBox), *panel.findChildren(QComboBox)]
    controls += [find(panel, QLineEdit, "widthsField"), find(panel, QTableWidget, "benchmarkTable")]
    assert len(controls) == 10
    for control in controls:
        assert control.objectName(), control
        assert control.accessibleName(), control.objectName()
        assert control.toolTip(), control.objectName()


def test_start_asks_for_what_is_chosen(qtbot: QtBot, panel: BenchmarkPanel) -> None:
    assert start(qtbot, panel) == BenchmarkJob("pycuda-seed", (64, 1024, 4096, 8192), ("cpu", "cuda:0"))
    panel.show_state(running=False, can_measure=True, can_race=True)
    type_widths(qtbot, panel, "256, 16")
    qtbot.keyClick(find(panel, QComboBox, "benchmarkPreset"), Qt.Key.Key_Down)
    qtbot.mouseClick(find(panel, QCheckBox, "deviceBox-cpu"), Qt.MouseButton.LeftButton, pos=QPoint(8, 10))
    assert start(qtbot, panel) == BenchmarkJob("quick-mlp", (16, 256), ("cuda:0",))


@pytest.mark.parametrize(
    ("widths", "words"), [("64, many", "list whole numbers"), ("0", "from 1 to 16,384"), (" ", "list 1 to 12 of them")]
)
def test_widths_that_cannot_be_are_told_in_a_sentence_and_nothing_starts(
    qtbot: QtBot, panel: BenchmarkPanel, widths: str, words: str
) -> None:
    type_widths(qtbot, panel, widths)
    assert words in text(panel, "widthsProblem")
    assert find(panel, QLabel, "widthsProblem").isVisible()
    assert not find(panel, QPushButton, "benchmarkStart").isEnabled()
    type_widths(qtbot, panel, "64")
    assert not find(panel, QLabel, "widthsProblem").isVisible()
    assert find(panel, QPushButton, "benchmarkStart").isEnabled()


def test_without_a_device_nothing_starts(qtbot: QtBot, panel: BenchmarkPanel) -> None:
    for key in ("cpu", "cuda:0"):
        qtbot.mouseClick(find(panel, QCheckBox, f"deviceBox-{key}"), Qt.MouseButton.LeftButton, pos=QPoint(8, 10))
    assert not find(panel, QPushButton, "benchmarkStart").isEnabled()


def test_while_it_runs_only_cancel_can_be_pressed(qtbot: QtBot, panel: BenchmarkPanel) -> None:
    names = ("widthsField", "benchmarkPreset", "deviceBoxes", "benchmarkStart")
    assert not find(panel, QPushButton, "benchmarkCancel").isEnabled()
    start(qtbot, panel)
    assert not any(find(panel, QWidget, name).isEnabled() for name in names)
    with qtbot.waitSignal(panel.cancel_requested):
        click(qtbot, panel, "benchmarkCancel")
    panel.show_event(BenchmarkEnded("stopped"))
    panel.show_state(running=False, can_measure=True, can_race=True)
    assert all(find(panel, QWidget, name).isEnabled() for name in names)
    assert text(panel, "benchmarkWords").startswith("Cancelled")


def test_while_training_runs_nothing_starts(qtbot: QtBot, panel: BenchmarkPanel) -> None:
    panel.show_state(running=False, can_measure=False, can_race=False)
    assert not find(panel, QPushButton, "benchmarkStart").isEnabled()
    choose_race(qtbot, panel)
    assert not find(panel, QPushButton, "benchmarkStart").isEnabled()


def test_results_fill_the_table_and_write_the_lesson(qtbot: QtBot, panel: BenchmarkPanel) -> None:
    start(qtbot, panel)
    panel.show_event(BenchmarkProgress("cpu", CPU, 64, 0.25))
    assert text(panel, "benchmarkWords") == f"Measuring 64 hidden units on {CPU}…"
    bar = find(panel, QProgressBar, "benchmarkProgress")
    assert isinstance(bar, QProgressBar)
    assert bar.value() / bar.maximum() == 0.25
    for event in (
        measured("cpu", 64, 0.5),
        measured("cuda:0", 64, 1.0),
        measured("cpu", 1024, 8.0),
        WidthFailed("cuda:0", 1024, "cuda:0 has not enough memory for 1,024 hidden units"),
    ):
        panel.show_event(event)
    assert table(panel) == [
        ["64", CPU, "0.50", "120000", "12.5 %"],
        ["64", GPU, "1.00", "60000", "12.5 %"],
        ["1024", CPU, "8.00", "7500", "12.5 %"],
        ["1024", GPU, "cuda:0 has not enough memory for 1,024 hidden units"],
    ]
    lesson = text(panel, "benchmarkLesson")
    assert f"On {CPU} 16 times the work" in lesson
    assert f"{GPU} is nowhere faster than the CPU" in lesson
    assert lesson.endswith("cuda:0 has not enough memory for 1,024 hidden units.")
    panel.show_event(BenchmarkEnded("completed"))
    assert text(panel, "benchmarkWords") == "All measured."


def test_a_new_benchmark_forgets_the_last_one(qtbot: QtBot, panel: BenchmarkPanel) -> None:
    start(qtbot, panel)
    panel.show_event(measured("cpu", 64, 0.5))
    panel.show_state(running=False, can_measure=True, can_race=True)
    start(qtbot, panel)
    assert table(panel) == []
    assert not find(panel, QPushButton, "copyTable").isEnabled()


def test_a_race_is_asked_for_and_judged(qtbot: QtBot, panel: BenchmarkPanel) -> None:
    choose_race(qtbot, panel)
    with qtbot.waitSignal(panel.race_requested) as asked:
        click(qtbot, panel, "benchmarkStart")
    assert tuple(asked.args[0]) == ("cpu", "cuda:0")
    panel.show_event(RaceProgress("cuda:0", 0.5))
    assert text(panel, "benchmarkWords") == f"Training on {GPU}…"
    for key, name, seconds in (("cpu", CPU, 3.0), ("cuda:0", GPU, 0.5)):
        panel.show_event(LapStarted(key, name))
        panel.show_event(RacePoint(key, seconds, 0.98))
    panel.show_event(LapFailed("cuda:1", "cuda:1 cannot be used: it is broken."))
    panel.show_event(RaceEnded("completed"))
    wanted = f"{GPU} reached 97 % after 0.5 s of training. {CPU} took 3 s: {GPU} was 6 times as fast. cuda:1 cannot be"
    qtbot.waitUntil(lambda: text(panel, "raceVerdict").startswith(wanted))


def test_a_problem_is_told_where_progress_was(panel: BenchmarkPanel) -> None:
    panel.show_problem("There are only 50 digits.")
    assert text(panel, "benchmarkWords") == "There are only 50 digits."


@pytest.fixture
def with_results(qtbot: QtBot, panel: BenchmarkPanel) -> BenchmarkPanel:
    start(qtbot, panel)
    panel.show_event(measured("cpu", 64, 0.5))
    panel.show_event(measured("cuda:0", 64, 0.25))
    panel.show_state(running=False, can_measure=True, can_race=True)
    return panel


ROWS = [
    ["device", "device name", "hidden", "seconds", "digits/s", "flop/s", "share of peak"],
    ["cpu", CPU, "64", "0.5", "120000.0", "2000000000.0", "0.125"],
    ["cuda:0", GPU, "64", "0.25", "240000.0", "2000000000.0", "0.125"],
]


def test_the_table_is_copied_with_tabs(qtbot: QtBot, with_results: BenchmarkPanel) -> None:
    with qtbot.waitSignal(with_results.exported):
        click(qtbot, with_results, "copyTable")
    copied = QApplication.clipboard().text()
    assert list(csv.reader(io.StringIO(copied), delimiter="\t")) == ROWS


def answer_with(monkeypatch: pytest.MonkeyPatch, path: Path | None) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path) if path else "", ""))


def test_figures_and_plot_are_saved_as_files(
    qtbot: QtBot, with_results: BenchmarkPanel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer_with(monkeypatch, tmp_path / "figures.csv")
    with qtbot.waitSignal(with_results.exported) as told:
        click(qtbot, with_results, "saveCsv")
    assert told.args == [f"Saved {tmp_path / 'figures.csv'}."]
    assert list(csv.reader(io.StringIO((tmp_path / "figures.csv").read_text("utf-8")))) == ROWS
    answer_with(monkeypatch, tmp_path / "plot.png")
    with qtbot.waitSignal(with_results.exported):
        click(qtbot, with_results, "savePng")
    assert QImage(str(tmp_path / "plot.png")).width() > with_results.width()


def test_a_file_that_cannot_be_written_is_told_of_and_no_name_is_no_file(
    qtbot: QtBot, with_results: BenchmarkPanel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answer_with(monkeypatch, tmp_path / "no-such-folder" / "figures.csv")
    with qtbot.waitSignal(with_results.export_failed) as told:
        click(qtbot, with_results, "saveCsv")
    assert "could not be saved" in told.args[0]
    answer_with(monkeypatch, None)
    with qtbot.assertNotEmitted(with_results.exported):
        click(qtbot, with_results, "saveCsv")


def test_the_points_of_a_race_are_saved_too(
    qtbot: QtBot, panel: BenchmarkPanel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    choose_race(qtbot, panel)
    assert not find(panel, QPushButton, "saveCsv").isEnabled()
    click(qtbot, panel, "benchmarkStart")
    panel.show_event(LapStarted("cpu", CPU))
    panel.show_event(RacePoint("cpu", 3.0, 0.98))
    qtbot.waitUntil(find(panel, QPushButton, "saveCsv").isEnabled)
    answer_with(monkeypatch, tmp_path / "race.csv")
    click(qtbot, panel, "saveCsv")
    assert (tmp_path / "race.csv").read_text("utf-8") == f"device,device name,seconds,accuracy\ncpu,{CPU},3.0,0.98\n"
