"""The accuracy against the seconds of training, one curve a device, and where each crossed the finish line."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QLocale

from core.training.race import RacePoint, finish_line, finishes
from gui import theme
from gui.widgets.series_plot import Series, SeriesPlot, View, range_of_accuracies

_STYLES = tuple(theme.CURVE_DASHES)
_ROOM = 1.06


class RacePlot(SeriesPlot):
    """Curves grow while their device runs."""

    def __init__(self) -> None:
        super().__init__(self.tr("Accuracy (%)"), self.tr("Seconds of training"))
        self.canvas.setObjectName("racePlot")
        self.canvas.setAccessibleName(self.tr("Accuracy by seconds of training"))
        explanation = self.tr(
            "The same run on each device: the same first weights, the same batches, so that the curves differ only in "
            "the time they take. The marks show when each read as many digits right as all of them did in the end, or "
            "97 of 100."
        )
        self.canvas.setAccessibleDescription(explanation)
        self.legend.setToolTip(theme.tooltip(explanation))

    def show_points(self, points: Sequence[RacePoint], names: Mapping[str, str]) -> None:
        """Draw `points` of the devices in `names`, by key."""
        series = []
        for number, (key, name) in enumerate(names.items()):
            own = [point for point in points if point.device_key == key]
            x, y = [point.seconds for point in own], [100.0 * point.accuracy for point in own]
            series.append(Series(name, _STYLES[number % len(_STYLES)], x, y))
        longest = max((point.seconds for point in points), default=1.0)
        self.show_series(series, View((0.0, _ROOM * longest), range_of_accuracies(series)))
        line = finish_line(points)
        number_of = QLocale().toString
        words = self.tr("%1 s")
        self.show_marks(
            [(seconds, words.replace("%1", number_of(seconds, "g", 3))) for seconds in finishes(points).values()],
            [] if line is None else [(100.0 * line, "")],
        )
