"""What the tests of the two plots feed them with, wait for and reach into."""

from PySide6.QtWidgets import QApplication, QComboBox, QWidget
from pytestqt.qtbot import QtBot

from gui.widgets.curve_plot import CurvePlot
from gui.widgets.learning_plot import LearningPlot


def settle(qtbot: QtBot, plot: LearningPlot) -> None:
    qtbot.waitUntil(lambda: not plot._timer.isActive())
    QApplication.processEvents()  # What was put in anew is still to be painted.


def learn(plot: LearningPlot, points: int = 200, series: str = "train", until: float = 0.99) -> None:
    for i in range(1, points + 1):
        accuracy = until * (1 - 0.9 ** (100 * i / points))
        plot.add_point(series, 1000 * i, i / 55, i / 20, accuracy, 1.01 - accuracy)


def part(plot: LearningPlot, metric: str) -> CurvePlot:
    return next(child for child in plot.findChildren(CurvePlot) if child.canvas.objectName() == f"{metric}Plot")


def view(plot: LearningPlot, metric: str) -> tuple[list[float], list[float]]:
    x, y = part(plot, metric).canvas.getViewBox().viewRange()
    return x, y


def find(plot: LearningPlot, kind: type, name: str) -> QWidget:
    found = plot.findChild(kind, name)
    assert found is not None
    return found


def choose_axis(plot: LearningPlot, column: str) -> None:
    combo = find(plot, QComboBox, "xAxis")
    combo.setCurrentIndex(combo.findData(column))
