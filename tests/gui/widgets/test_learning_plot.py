"""The plots, drawn and pointed at for real: what is shown, when it is drawn, and what can be taken out of it."""

import csv
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QImage, QMouseEvent, QPalette, QWheelEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gui import theme
from gui.widgets.learning_plot import LearningPlot
from tests.gui.widgets.learning_plots import choose_axis, find, learn, part, settle, view

LEFT = Qt.MouseButton.LeftButton


def drawn(plot: LearningPlot, metric: str, series: str) -> tuple[np.ndarray, np.ndarray]:
    x, y = part(plot, metric)._curves[series].getData()
    return (np.empty(0), np.empty(0)) if x is None else (x, y)


def colours_in(image: QImage) -> set[str]:
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(0, image.height(), 2)}


class PaintCounter(QObject):
    """Counts the paint events of a widget's viewport."""

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self.count = 0
        viewport.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint
        return False


def test_points_are_drawn_on_both_plots(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot)
    settle(qtbot, plot)
    x, y = drawn(plot, "accuracy", "train")
    assert (x[0], x[-1]) == (1000, 200_000)
    assert y[-1] == pytest.approx(99, abs=0.1)
    assert len(drawn(plot, "loss", "train")[0]) == 200
    scheme = theme.colours(plot.palette())
    assert scheme.curves["train"] in colours_in(part(plot, "accuracy").canvas.grab().toImage())


def test_appending_alone_redraws_nothing(qtbot: QtBot, plot: LearningPlot) -> None:
    before = len(drawn(plot, "accuracy", "train")[0])
    learn(plot, 500)
    assert len(drawn(plot, "accuracy", "train")[0]) == before == 0
    settle(qtbot, plot)
    assert len(drawn(plot, "accuracy", "train")[0]) == 500


def test_the_two_plots_are_drawn_by_different_ticks(plot: LearningPlot) -> None:
    plot._timer.stop()
    learn(plot)
    plot._on_timeout()
    assert (len(drawn(plot, "accuracy", "train")[0]), len(drawn(plot, "loss", "train")[0])) == (200, 0)
    plot._on_timeout()
    assert len(drawn(plot, "loss", "train")[0]) == 200
    assert not plot._timer.isActive()


def test_the_timer_rests_when_there_is_nothing_new(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot)
    settle(qtbot, plot)
    counter = PaintCounter(part(plot, "accuracy").canvas.viewport())
    qtbot.wait(60)
    assert counter.count == 0
    assert not plot._timer.isActive()


def test_out_of_sight_nothing_is_drawn_and_in_sight_again_it_is(qtbot: QtBot, plot: LearningPlot) -> None:
    plot.hide()
    learn(plot)
    assert not plot._timer.isActive()
    plot.show()
    settle(qtbot, plot)
    assert len(drawn(plot, "accuracy", "train")[0]) == 200


def test_a_long_run_is_thinned_for_the_screen_only(qtbot: QtBot, plot: LearningPlot, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    accuracies = random.random(30_000)
    accuracies[12_345] = 1.0
    for i, accuracy in enumerate(accuracies.tolist()):
        plot.add_point("validation", i + 1, i / 100, i / 10, accuracy, 1.5 - accuracy)
    settle(qtbot, plot)
    x, y = drawn(plot, "accuracy", "validation")
    assert len(x) <= 1010
    assert (x[0], x[-1]) == (1, 30_000)
    assert y[x == 12_346] == [100.0]
    plot.export_points(str(tmp_path / "all.csv"))
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 30_001


@pytest.mark.parametrize(("axis", "end"), [("samples", 200_000), ("epoch", 200 / 55), ("seconds", 10.0)])
def test_each_axis(qtbot: QtBot, plot: LearningPlot, axis: str, end: float) -> None:
    learn(plot)
    choose_axis(plot, axis)
    settle(qtbot, plot)
    for metric in ("accuracy", "loss"):
        assert drawn(plot, metric, "train")[0][-1] == pytest.approx(end)
        low, high = view(plot, metric)[0]
        assert low == pytest.approx(0)
        assert end <= high <= end * 1.2


def test_late_in_a_run_the_last_percent_fill_the_plot(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot, 10, until=0.5)
    settle(qtbot, plot)
    assert view(plot, "accuracy")[1][0] == pytest.approx(0)
    plot.reset()
    learn(plot, 300, until=0.985)
    settle(qtbot, plot)
    low, high = view(plot, "accuracy")[1]
    assert low == pytest.approx(90) or low == pytest.approx(95)
    assert 100 <= high < 101


def test_losses_by_their_magnitude(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot)
    plot.add_point("train", 201_000, 3.7, 10.1, 1.0, 0.0)
    find(plot, QCheckBox, "logScale").setChecked(True)
    settle(qtbot, plot)
    y = drawn(plot, "loss", "train")[1]
    assert y[0] == pytest.approx(np.log10(1.01 - 0.99 * (1 - 0.9**0.5)))
    assert np.isfinite(y).all()
    assert part(plot, "loss").canvas.left.tickStrings([-1.0], 1.0, 1.0) == ["0.1"]
    find(plot, QCheckBox, "logScale").setChecked(False)
    settle(qtbot, plot)
    assert drawn(plot, "loss", "train")[1][0] > 0.9


def test_the_best_validation_is_marked_with_its_value(qtbot: QtBot, plot: LearningPlot) -> None:
    for i, accuracy in enumerate((0.9, 0.97, 0.95), start=1):
        plot.add_point("validation", 1000 * i, i, i, accuracy, 1 - accuracy)
        plot.add_point("test", 1000 * i, i, i, 0.99, 0.001)
    settle(qtbot, plot)
    for metric, y, words in (("accuracy", 97.0, "best 97.00 %"), ("loss", 0.03, "best 0.03")):
        mark = part(plot, metric)._best_mark
        assert (mark.data["x"].tolist(), mark.data["y"].tolist()) == ([2000], [pytest.approx(y)])
        assert part(plot, metric)._note.toPlainText() == words


def test_where_nothing_is_held_out_the_best_test_is_marked(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot, 30)
    settle(qtbot, plot)
    assert len(part(plot, "accuracy")._best_mark.data) == 0
    plot.add_point("test", 30_000, 1, 1, 0.98, 0.1)
    settle(qtbot, plot)
    assert part(plot, "accuracy")._best_mark.data["x"].tolist() == [30_000]


def test_a_single_measurement_can_be_seen(qtbot: QtBot, plot: LearningPlot) -> None:
    plot.add_point("test", 50_000, 1, 1, 0.5, 0.5)
    settle(qtbot, plot)
    assert part(plot, "accuracy")._dots["test"].data["y"].tolist() == [50.0]


def test_pointing_reads_all_series_in_both_plots(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot)
    plot.add_point("validation", 100_000, 100 / 55, 5.0, 0.9, 0.25)
    settle(qtbot, plot)
    canvas = part(plot, "loss").canvas
    place = canvas.mapFromScene(canvas.getViewBox().mapViewToScene(QPointF(100_000, 0.5)))
    qtbot.mouseMove(canvas.viewport(), QPoint(place.x() - 3, place.y()))
    qtbot.mouseMove(canvas.viewport(), place)
    qtbot.waitUntil(lambda: find(plot, QLabel, "placeLabel").text() != "")
    assert part(plot, "accuracy").legend.readings()["validation"] == "90.00 %"
    assert part(plot, "loss").legend.readings()["validation"] == "0.25"
    assert part(plot, "accuracy")._pointer.isVisible()
    assert "epoch 1.8" in find(plot, QLabel, "placeLabel").text()
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    assert find(plot, QLabel, "placeLabel").text() == ""
    assert not part(plot, "accuracy")._pointer.isVisible()
    assert part(plot, "accuracy").legend.readings()["train"] == "99.00 %"


def test_pointing_at_an_empty_plot_reads_nothing(qtbot: QtBot, plot: LearningPlot) -> None:
    canvas = part(plot, "accuracy").canvas
    qtbot.mouseMove(canvas.viewport(), canvas.viewport().rect().center())
    QApplication.processEvents()
    assert find(plot, QLabel, "placeLabel").text() == ""


def zoom(plot: LearningPlot) -> None:
    viewport = part(plot, "accuracy").canvas.viewport()
    middle = QPointF(viewport.rect().center())
    globally = QPointF(viewport.mapToGlobal(middle.toPoint()))
    no_button, no_key, phase = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(middle, globally, QPoint(), QPoint(0, 240), no_button, no_key, phase, False)
    QApplication.sendEvent(viewport, event)


def test_zooming_moves_both_plots_and_stays_until_fit(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot)
    settle(qtbot, plot)
    whole = view(plot, "accuracy")[0]
    zoom(plot)
    settle(qtbot, plot)
    near = view(plot, "accuracy")[0]
    assert near[1] - near[0] < whole[1] - whole[0]
    assert view(plot, "loss")[0] == pytest.approx(near)
    plot.add_point("train", 500_000, 9, 25, 0.99, 0.01)
    settle(qtbot, plot)
    assert view(plot, "accuracy")[0] == near
    qtbot.mouseClick(find(plot, QPushButton, "fitButton"), Qt.MouseButton.LeftButton)
    settle(qtbot, plot)
    assert view(plot, "accuracy")[0][1] >= 500_000
    assert view(plot, "loss")[0][1] >= 500_000


def test_a_double_click_fits_too(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot)
    settle(qtbot, plot)
    zoom(plot)
    settle(qtbot, plot)
    viewport = part(plot, "loss").canvas.viewport()
    at = QPointF(viewport.rect().center())
    # QTest's own double click has a press too many: a window system sends the second press as a double click.
    for kind in (
        QEvent.Type.MouseButtonPress,
        QEvent.Type.MouseButtonRelease,
        QEvent.Type.MouseButtonDblClick,
        QEvent.Type.MouseButtonRelease,
    ):
        buttons = LEFT if kind != QEvent.Type.MouseButtonRelease else Qt.MouseButton.NoButton
        globally = QPointF(viewport.mapToGlobal(at))
        event = QMouseEvent(kind, at, globally, LEFT, buttons, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(viewport, event)
    settle(qtbot, plot)
    assert view(plot, "accuracy")[0][0] == pytest.approx(0)
    assert view(plot, "accuracy")[0][1] >= 200_000


def test_reset_forgets_everything(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot)
    plot.add_point("validation", 1000, 1, 1, 0.9, 0.1)
    settle(qtbot, plot)
    plot.reset()
    settle(qtbot, plot)
    for metric in ("accuracy", "loss"):
        assert len(drawn(plot, metric, "train")[0]) == 0
        assert len(part(plot, metric)._best_mark.data) == 0
        assert part(plot, metric).legend.readings() == {}
    assert "Train" in part(plot, "accuracy")._note.toPlainText()


def test_a_diverged_run_does_no_harm(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot, 20)
    plot.add_point("train", 21_000, 0.4, 1.1, 0.1, 1e30)
    plot.add_point("train", 22_000, 0.4, 1.2, float("nan"), float("inf"))
    settle(qtbot, plot)
    assert len(drawn(plot, "loss", "train")[0]) == 21
    for logarithmic in (True, False, True):
        find(plot, QCheckBox, "logScale").setChecked(logarithmic)
        # Painting between the click and the next redraw once counted the decades up to 10^1e30.
        assert not plot.grab().isNull()
        settle(qtbot, plot)
        assert not plot.grab().isNull()


def test_zooming_out_of_magnitudes_ends_somewhere(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot)
    find(plot, QCheckBox, "logScale").setChecked(True)
    settle(qtbot, plot)
    part(plot, "loss").canvas.getViewBox().setYRange(-1e9, 1e9)
    low, high = view(plot, "loss")[1]
    assert -13 < low < high < 41


def test_an_unknown_series_is_an_error(plot: LearningPlot) -> None:
    with pytest.raises(KeyError):
        plot.add_point("typo", 1, 1, 1, 1, 1)


def test_colours_follow_the_palette(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot)
    settle(qtbot, plot)
    palette = QPalette(plot.palette())
    palette.setColor(QPalette.ColorRole.Window, theme.DARK.window)
    plot.setPalette(palette)
    settle(qtbot, plot)
    shown = colours_in(part(plot, "accuracy").canvas.grab().toImage())
    assert {theme.DARK.surface, theme.DARK.curves["train"]} <= shown
    assert theme.LIGHT.curves["train"] not in shown


def test_all_points_are_exported(plot: LearningPlot, tmp_path: Path, qtbot: QtBot) -> None:
    plot.add_point("train", 100, 0.5, 1.25, 0.5, 0.75)
    plot.add_point("test", 200, 1.0, 2.5, 0.875, 0.25)
    with qtbot.waitSignal(plot.exported):
        plot.export_points(str(tmp_path / "points.csv"))
    rows = list(csv.DictReader((tmp_path / "points.csv").read_text().splitlines()))
    assert [row["series"] for row in rows] == ["train", "test"]
    assert rows[1] == {
        "series": "test", "samples": "200", "epoch": "1.0", "seconds": "2.5", "accuracy": "0.875", "loss": "0.25"
    }  # fmt: skip


def test_a_picture_is_exported_at_twice_the_size(plot: LearningPlot, tmp_path: Path, qtbot: QtBot) -> None:
    learn(plot)
    settle(qtbot, plot)
    plot.export_picture(str(tmp_path / "plot.png"))
    image = QImage(str(tmp_path / "plot.png"))
    assert (image.width(), image.height()) == (2 * plot.width(), 2 * plot.height())
    assert theme.colours(plot.palette()).curves["train"] in colours_in(image)


@pytest.mark.parametrize("export", ["export_points", "export_picture"])
def test_what_cannot_be_saved_is_told_in_a_sentence(
    plot: LearningPlot, tmp_path: Path, qtbot: QtBot, export: str
) -> None:
    with qtbot.waitSignal(plot.export_failed) as blocker:
        getattr(plot, export)(str(tmp_path / "no folder" / "file"))
    assert "no folder" in blocker.args[0]
    assert blocker.args[0].endswith(".")


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_right_mouse_button_offers_the_exports(qtbot: QtBot, plot: LearningPlot) -> None:
    viewport = part(plot, "accuracy").canvas.viewport()
    place = viewport.rect().center()
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(viewport, QContextMenuEvent(reason, place, viewport.mapToGlobal(place)))
    menu = plot.findChild(QMenu)
    assert menu is not None
    assert [action.text() for action in menu.actions()] == [
        "Show the whole run", "Save points as CSV…", "Save picture as PNG…"
    ]  # fmt: skip
    menu.close()
    qtbot.waitUntil(lambda: plot.findChild(QMenu) is None)


def test_names_for_tests_and_screen_readers(plot: LearningPlot) -> None:
    for name in ("accuracyPlot", "lossPlot", "xAxis", "logScale", "fitButton"):
        assert find(plot, QWidget, name).accessibleName()
        assert find(plot, QWidget, name).accessibleDescription()


def test_in_a_narrow_window_the_legend_has_a_row_of_its_own(qtbot: QtBot, plot: LearningPlot) -> None:
    legend, canvas = part(plot, "loss").legend, part(plot, "loss").canvas
    assert legend.y() < find(plot, QCheckBox, "logScale").geometry().bottom()
    plot.resize(430, 600)
    QApplication.processEvents()
    assert legend.geometry().top() > find(plot, QCheckBox, "logScale").geometry().center().y()
    assert legend.geometry().bottom() < canvas.geometry().top() + 1
    assert legend.width() > 400
    plot.resize(900, plot.height())
    QApplication.processEvents()
    assert legend.y() < find(plot, QCheckBox, "logScale").geometry().bottom()
    assert legend.width() > 400


def test_it_can_be_told_how_to_show_the_curves(plot: LearningPlot) -> None:
    plot.show_as("seconds", True)
    assert (plot.axis(), plot.is_logarithmic()) == ("seconds", True)
    plot.show_as("moons", False)
    assert (plot.axis(), plot.is_logarithmic()) == ("seconds", False)
