"""The tab of kept runs by mouse and keyboard: what may be done with which run, and the curves that are ticked."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QPushButton, QTableView, QWidget
from pytestqt.qtbot import QtBot

from core.training.job import TrainingJob
from core.training.ledger import Curve, RunSummary
from core.training.presets import find_preset
from core.training.run_info import RunInfo
from gui import theme
from gui.widgets.runs_model import ACCURACY, CURVE, NAME, STATE, STYLE_ROLE, TIME, RunsModel
from gui.widgets.runs_panel import RunsPanel


def run(name: str, state: str = "completed", points: int = 3, own_name: str = "", day: int = 1) -> RunSummary:
    job = TrainingJob("quick-mlp", find_preset("quick-mlp").hyperparameters, "cpu")
    places = range(1, points + 1)
    curve = Curve(
        tuple(1000.0 * place for place in places),
        tuple(0.5 * place for place in places),
        tuple(0.9 + 0.01 * place for place in places),
    )
    return RunSummary(
        Path(name),
        RunInfo(job, f"2026-01-{day:02}T10:45:16+00:00", {}, own_name, "wide" if own_name else ""),
        state,
        "cpu",
        steps=30,
        total_steps=100,
        train_seconds=83.0,
        test_accuracy=0.9712,
        curves={"validation": curve} if points else {},
    )


def damaged() -> RunSummary:
    return RunSummary(Path("bad"), None, "damaged", problem="bad/run.json cannot be read")


@pytest.fixture
def panel(qtbot: QtBot) -> RunsPanel:
    panel = RunsPanel()
    qtbot.addWidget(panel)
    panel.resize(720, 600)
    panel.show()
    qtbot.waitExposed(panel)
    panel.allow(can_train=True, can_use=True)
    return panel


def find(panel: QWidget, name: str, kind: type = QWidget) -> QWidget:
    found: QWidget | None = panel.findChild(kind, name)
    assert found is not None
    return found


def table(panel: RunsPanel) -> QTableView:
    found = find(panel, "runsTable", QTableView)
    assert isinstance(found, QTableView)
    return found


def texts(panel: RunsPanel, row: int, columns: Sequence[int]) -> list[str]:
    model = table(panel).model()
    return [str(model.index(row, column).data()) for column in columns]


def enabled(panel: RunsPanel) -> set[str]:
    names = ("continueRun", "repeatRun", "useRun", "saveRun", "deleteRun")
    return {name.removesuffix("Run") for name in names if find(panel, name, QPushButton).isEnabled()}


def tick(qtbot: QtBot, panel: RunsPanel, row: int) -> None:
    """By a click on the box itself."""
    shown = table(panel)
    place = shown.visualRect(shown.model().index(row, NAME))
    qtbot.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place.left() + 10, place.center().y()))


def test_every_control_says_what_it_does(panel: RunsPanel) -> None:
    for name in ("continueRun", "repeatRun", "useRun", "saveRun", "deleteRun", "moreRun", "exportRuns", "runsAxis"):
        assert find(panel, name).toolTip(), name
    for name in ("runsTable", "runsPlot", "runsAxis"):
        assert find(panel, name).accessibleName(), name


def test_a_run_is_told_in_a_row(panel: RunsPanel) -> None:
    panel.show_runs([run("a", own_name="Wide"), run("b", "interrupted", day=2)])
    assert texts(panel, 0, (NAME, STATE, ACCURACY, TIME)) == ["Wide", "finished", "97.12 %", "1:23"]
    assert texts(panel, 1, (STATE,)) == ["broken off"]
    tooltip = table(panel).model().index(0, NAME).data(Qt.ItemDataRole.ToolTipRole)
    for words in ("wide", "epoch 4 of 10", "linear 256 relu", "seed 0"):
        assert words in tooltip


@pytest.mark.parametrize(
    ("state", "allowed"),
    [
        ("completed", {"repeat", "use", "save", "delete"}),
        ("stopped", {"continue", "repeat", "use", "save", "delete"}),
        ("interrupted", {"continue", "repeat", "delete"}),
        ("running", {"repeat"}),
        ("diverged", {"repeat", "use", "save", "delete"}),
    ],
)
def test_what_may_be_done_with_a_run(panel: RunsPanel, state: str, allowed: set[str]) -> None:
    panel.show_runs([run("a", state)])
    assert enabled(panel) == allowed
    panel.allow(can_train=False, can_use=False)
    assert enabled(panel) == allowed - {"continue", "repeat", "use"}


def test_with_a_damaged_run_nothing_can_be_done_but_to_delete_it(panel: RunsPanel) -> None:
    panel.show_runs([damaged()])
    assert enabled(panel) == {"delete"}
    assert "cannot be read" in table(panel).model().index(0, NAME).data(Qt.ItemDataRole.ToolTipRole)


def test_without_runs_it_says_what_will_be_here(panel: RunsPanel) -> None:
    panel.show_runs([])
    assert enabled(panel) == set()
    assert not table(panel).isVisible()


@pytest.mark.parametrize(
    ("key", "signal"), [(Qt.Key.Key_Return, "use_requested"), (Qt.Key.Key_Delete, "delete_requested")]
)
def test_keys_ask_for_what_the_buttons_ask_for(qtbot: QtBot, panel: RunsPanel, key: Qt.Key, signal: str) -> None:
    first, second = run("a", day=2), run("b")
    panel.show_runs([first, second])
    qtbot.keyClick(table(panel), Qt.Key.Key_Down)
    with qtbot.waitSignal(getattr(panel, signal)) as asked:
        qtbot.keyClick(table(panel), key)
    assert asked.args == [second]


@pytest.mark.parametrize(
    ("button", "signal"),
    [
        ("continueRun", "continue_requested"),
        ("repeatRun", "repeat_requested"),
        ("useRun", "use_requested"),
        ("saveRun", "save_requested"),
        ("deleteRun", "delete_requested"),
    ],
)
def test_buttons_carry_the_run_that_is_chosen(qtbot: QtBot, panel: RunsPanel, button: str, signal: str) -> None:
    stopped = run("a", "stopped")
    panel.show_runs([stopped])
    with qtbot.waitSignal(getattr(panel, signal)) as asked:
        qtbot.mouseClick(find(panel, button), Qt.MouseButton.LeftButton)
    assert asked.args == [stopped]


def test_f2_renames_in_place_and_a_name_left_as_it_was_is_none(qtbot: QtBot, panel: RunsPanel) -> None:
    panel.show_runs([run("a")])
    qtbot.keyClick(table(panel), Qt.Key.Key_F2)
    with qtbot.assertNotEmitted(panel.rename_requested):
        qtbot.keyClick(find(panel, "runName"), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: table(panel).findChild(QWidget, "runName") is None)
    qtbot.keyClick(table(panel), Qt.Key.Key_F2)
    qtbot.keyClicks(find(panel, "runName"), "Deep")
    with qtbot.waitSignal(panel.rename_requested) as asked:
        qtbot.keyClick(find(panel, "runName"), Qt.Key.Key_Return)
    assert asked.args == [run("a"), "Deep"]


def test_ticked_runs_are_drawn_and_stay_ticked_when_the_list_is_read_anew(qtbot: QtBot, panel: RunsPanel) -> None:
    panel.show_runs([run("b", day=2, own_name="B"), run("a", own_name="A")])
    legend = panel.overlay.plot.legend
    assert legend.names() == []
    tick(qtbot, panel, 0)
    assert legend.names() == ["B  93.00 %"]
    qtbot.keyClick(table(panel), Qt.Key.Key_Down)
    qtbot.keyClick(table(panel), Qt.Key.Key_Space)
    assert legend.names() == ["B  93.00 %", "A  93.00 %"]
    panel.show_runs([run("c", day=3), run("b", day=2, own_name="B"), run("a", own_name="A")])
    assert legend.names() == ["B  93.00 %", "A  93.00 %"]
    tick(qtbot, panel, 1)
    assert legend.names() == ["A  93.00 %"]
    panel.show_runs([run("c", day=3)])
    assert legend.names() == []


def test_the_chosen_run_stays_chosen_when_a_newer_one_comes(qtbot: QtBot, panel: RunsPanel) -> None:
    panel.show_runs([run("b", day=2), run("a")])
    qtbot.keyClick(table(panel), Qt.Key.Key_Down)
    panel.show_runs([run("c", day=3), run("b", day=2), run("a")])
    assert table(panel).currentIndex().row() == 2


def test_a_colour_stays_with_its_run_whatever_comes_and_goes(panel: RunsPanel) -> None:
    def styles(model: RunsModel) -> dict[str, str]:
        return {model.run(row).path.name: str(model.index(row, CURVE).data(256)) for row in range(model.rowCount())}

    model = table(panel).model()
    assert isinstance(model, RunsModel)
    many = [run(f"2026-01-{day:02} quick-mlp", day=day) for day in range(1, 13)]
    panel.show_runs(many)
    before = styles(model)
    assert len(set(before.values())) == 12
    panel.show_runs(many[::3])
    assert styles(model).items() <= before.items()
    fresh = RunsModel()
    fresh.show_runs(many)
    assert styles(fresh) == before


def test_no_two_runs_shown_together_have_one_colour_as_long_as_there_are_enough(panel: RunsPanel) -> None:
    def colour(style: str) -> str:
        return theme.series_colour(style, theme.LIGHT)

    def shown() -> list[str]:
        return [style for _, style in model.ticked()]

    model = table(panel).model()
    assert isinstance(model, RunsModel)
    panel.show_runs([run(f"2026-01-{day:02} quick-mlp", day=day) for day in range(1, 17)])
    styles = [str(model.index(row, CURVE).data(STYLE_ROLE)) for row in range(16)]
    rivals = [row for row in range(16) if [colour(style) for style in styles].count(colour(styles[row])) > 1]
    rows = rivals[:1] + [row for row in rivals[1:] if colour(styles[row]) == colour(styles[rivals[0]])][:1]
    rows += [row for row in range(16) if row not in rows]
    for count, row in enumerate(rows, 1):
        before = shown()
        model.setData(model.index(row, NAME), 2, Qt.ItemDataRole.CheckStateRole)
        assert set(before) <= set(shown())
        assert len(set(shown())) == count
        assert len(set(map(colour, shown()))) == min(count, 8)
    assert model.index(rows[0], CURVE).data(STYLE_ROLE) == styles[rows[0]]
    # What a run was given stays with it when the others go.
    given = model.index(rows[1], CURVE).data(STYLE_ROLE)
    for row in rows[:2]:
        model.setData(model.index(row, NAME), 0, Qt.ItemDataRole.CheckStateRole)
    assert model.index(rows[1], CURVE).data(STYLE_ROLE) == given


def test_pointing_reads_every_curve_at_the_nearest_point(qtbot: QtBot, panel: RunsPanel) -> None:
    panel.show_runs([run("a", own_name="A", points=9), run("b", own_name="B", points=1)])
    for row in (0, 1):
        tick(qtbot, panel, row)
    canvas, place = panel.overlay.plot.canvas, find(panel, "runsPlace", QLabel)
    box = canvas.getViewBox()
    scene = box.mapViewToScene(QPointF(2100.0, 95.0))
    qtbot.mouseMove(canvas.viewport(), canvas.mapFromScene(scene))
    qtbot.waitUntil(lambda: panel.overlay.plot.legend.names() == ["A  92.00 %", "B  91.00 %"])
    assert isinstance(place, QLabel)
    assert place.text().endswith("digits")


def test_the_axis_can_be_seconds(qtbot: QtBot, panel: RunsPanel) -> None:
    panel.show_runs([run("a", points=4)])
    tick(qtbot, panel, 0)
    axis = find(panel, "runsAxis", QComboBox)
    assert panel.overlay.plot.canvas.getViewBox().viewRange()[0][1] == pytest.approx(4000 * 1.04)
    qtbot.keyClick(axis, Qt.Key.Key_Down)
    assert panel.overlay.plot.canvas.getViewBox().viewRange()[0][1] == pytest.approx(2 * 1.04)


@pytest.mark.parametrize("kind", ["csv", "png", "svg"])
def test_the_ticked_curves_go_to_a_file(
    qtbot: QtBot, panel: RunsPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    panel.show_runs([run("a", own_name="A"), run("b")])
    export = find(panel, "exportRuns", QPushButton)
    assert isinstance(export, QPushButton)
    assert not export.isEnabled()
    tick(qtbot, panel, 0)
    path = tmp_path / f"curves.{kind}"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    with qtbot.waitSignal(panel.overlay.exported):
        next(action for action in export.menu().actions() if kind.upper() in action.text()).trigger()
    content = path.read_bytes()
    if kind == "csv":
        rows = list(csv.reader(io.StringIO(content.decode())))
        assert rows[0] == ["run", "name", "samples", "seconds", "accuracy"]
        assert rows[1] == ["a", "A", "1000", "0.5", "0.91"]
        assert len(rows) == 4
    else:
        assert content.startswith(b"\x89PNG" if kind == "png" else b"<?xml")


def test_a_file_that_cannot_be_written_is_told(
    qtbot: QtBot, panel: RunsPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel.show_runs([run("a")])
    tick(qtbot, panel, 0)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "absent" / "x.csv"), ""))
    export = find(panel, "exportRuns", QPushButton)
    assert isinstance(export, QPushButton)
    with qtbot.waitSignal(panel.overlay.export_failed) as told:
        export.menu().actions()[0].trigger()
    assert "absent" in told.args[0]


def test_the_spark_line_is_drawn_where_there_is_a_curve(panel: RunsPanel) -> None:
    panel.show_runs([run("a", points=3), run("b", points=1), run("c", points=0)])
    shown = table(panel)
    shown.clearSelection()
    pictures = []
    for row in range(3):
        area = shown.visualRect(shown.model().index(row, CURVE)).adjusted(2, 2, -2, -2)
        picture = shown.viewport().grab(area).toImage()
        colours = {picture.pixel(x, y) for x in range(picture.width()) for y in range(picture.height())}
        pictures.append(len(colours))
    assert pictures[2] == 1
    assert min(pictures[:2]) > 1
