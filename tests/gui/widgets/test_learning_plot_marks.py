"""What was changed on the way, marked on the plots: where, in which words, and never one on another."""

from itertools import pairwise

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPalette
from pytestqt.qtbot import QtBot

from gui import theme
from gui.widgets.learning_plot import LearningPlot
from tests.gui.widgets.learning_plots import choose_axis, learn, part, settle, view


def marks(plot: LearningPlot, metric: str) -> list[tuple[float, str]]:
    """Where the lines stand that are drawn in the plot, and what is written beside them."""
    shown = [item for item in part(plot, metric).canvas.getPlotItem().items if isinstance(item, pg.InfiniteLine)]
    lines = [line for line in shown if line is not part(plot, metric)._pointer]
    return [(line.value(), line.label.toPlainText() if hasattr(line, "label") else "") for line in lines]


@pytest.mark.parametrize(
    ("axis", "places"), [("samples", (5000, 9000)), ("epoch", (0.5, 0.9)), ("seconds", (2.5, 4.5))]
)
def test_a_change_is_marked_on_both_plots_and_said_on_the_upper(
    qtbot: QtBot, plot: LearningPlot, axis: str, places: tuple[float, float]
) -> None:
    learn(plot, 10)
    plot.add_mark(5000, 0.5, 2.5, "Learning rate 0.03")
    choose_axis(plot, axis)
    plot.add_mark(9000, 0.9, 4.5, "Epochs 20")
    settle(qtbot, plot)
    assert marks(plot, "accuracy") == [(places[0], "Learning rate 0.03"), (places[1], "Epochs 20")]
    assert marks(plot, "loss") == [(places[0], ""), (places[1], "")]


def test_a_mark_can_be_seen_where_it_stands(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot, 10)
    settle(qtbot, plot)
    canvas = part(plot, "loss").canvas
    before = canvas.grab().toImage()
    plot.add_mark(5000, 0.5, 2.5, "Epochs 20")
    settle(qtbot, plot)
    after = canvas.grab().toImage()
    place = round(canvas.mapFromScene(canvas.getViewBox().mapViewToScene(QPointF(5000, 0.5))).x())
    changed = {
        x for x in range(after.width()) for y in range(after.height()) if after.pixel(x, y) != before.pixel(x, y)
    }
    assert changed
    assert all(abs(x - place) <= 2 for x in changed)


def test_a_mark_moves_no_view(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot, 10)
    settle(qtbot, plot)
    before = view(plot, "accuracy"), view(plot, "loss")
    plot.add_mark(900_000, 90.0, 250.0, "Epochs 20")
    settle(qtbot, plot)
    assert (view(plot, "accuracy"), view(plot, "loss")) == before


def test_a_new_run_has_no_marks(qtbot: QtBot, plot: LearningPlot) -> None:
    plot.add_mark(5000, 0.5, 2.5, "Learning rate 0.03")
    plot.reset()
    settle(qtbot, plot)
    assert marks(plot, "accuracy") == marks(plot, "loss") == []


def words_in_sight(plot: LearningPlot) -> list[tuple[float, float, str]]:
    """Left and right edge, in pixels, of what is written beside the marks of the upper plot."""
    found = []
    for line in part(plot, "accuracy")._marks.lines:
        if line.label.isVisible():
            edges = line.label.mapRectToScene(line.label.boundingRect())
            found.append((edges.left(), edges.right(), line.label.toPlainText()))
    return sorted(found)


def test_words_beside_many_marks_never_lie_on_each_other(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot, 10)
    for number in range(60):
        plot.add_mark(100 * number, 0.01 * number, 0.05 * number, f"Learning rate 0.0{number}")
    settle(qtbot, plot)
    found = words_in_sight(plot)
    assert len(found) > 1
    assert all(right < left for (_, right, _), (left, _, _) in pairwise(found))
    # The newest is told, and each of the others counted.
    assert found[-1][2].startswith("Learning rate 0.059")
    counted = [int(words.split("(+")[1][:-1]) if "(+" in words else 0 for _, _, words in found]
    assert sum(counted) + len(found) == 60
    part(plot, "accuracy").moved_by_user.emit(4950.0, 5050.0)
    settle(qtbot, plot)
    assert [words for _, _, words in words_in_sight(plot)] == ["Learning rate 0.050"]


def test_a_mark_at_the_right_edge_has_its_words_within_the_plot(qtbot: QtBot, plot: LearningPlot) -> None:
    learn(plot, 10)
    settle(qtbot, plot)
    right_edge = part(plot, "accuracy").x_range()[1]
    plot.add_mark(int(right_edge) - 1, 1.0, 5.0, "Learning rate 0.03")
    settle(qtbot, plot)
    ((_, right, _),) = words_in_sight(plot)
    box = part(plot, "accuracy").canvas.getViewBox()
    assert right <= box.mapRectToScene(box.boundingRect()).right() + 1


def test_marks_follow_the_palette(qtbot: QtBot, plot: LearningPlot) -> None:
    plot.add_mark(5000, 0.5, 2.5, "Learning rate 0.03")
    palette = QPalette(plot.palette())
    palette.setColor(QPalette.ColorRole.Window, theme.DARK.window)
    plot.setPalette(palette)
    settle(qtbot, plot)
    for metric in ("accuracy", "loss"):
        assert [line.pen.color().name() for line in part(plot, metric)._marks.lines] == [theme.DARK.muted]
    assert part(plot, "accuracy")._marks.lines[0].label.color.name() == theme.DARK.muted
