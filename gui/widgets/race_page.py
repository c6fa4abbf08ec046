"""A race while it is run: the plot, and in words who was first.

A room of its own because it keeps the points: plot, verdict and file all show the same ones.
"""

from collections.abc import Mapping

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from core.training.race import LapFailed, LapStarted, RacePoint, verdict
from gui import theme
from gui.widgets.file_export import Row
from gui.widgets.finding_texts import in_words
from gui.widgets.race_plot import RacePlot

REDRAW_INTERVAL_MS = 200


class RacePage(QWidget):
    """`changed` when there is something new to save; points are drawn a little after they come."""

    changed = Signal()
    file_name = "race"

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[str, str] = {}
        self._points: list[RacePoint] = []
        self._failures: list[str] = []
        self._explanation = QLabel(wordWrap=True)
        self.plot = RacePlot()
        self._verdict = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REDRAW_INTERVAL_MS)
        self._timer.timeout.connect(self._show)
        self._arrange()
        self._show()

    def begin(self, names: Mapping[str, str]) -> None:
        """A new race of the devices of these `names`, by key: what was there goes."""
        self._names, self._points, self._failures = dict(names), [], []
        self._show()

    def add(self, event: LapStarted | RacePoint | LapFailed) -> None:
        """Take in what happened."""
        if isinstance(event, LapStarted):
            self._names[event.device_key] = event.device_name
        elif isinstance(event, RacePoint):
            self._points.append(event)
        else:
            self._failures.append(event.reason)
        if not self._timer.isActive():
            self._timer.start()

    def rows(self) -> list[Row]:
        """All points, under the names of the columns."""
        rows: list[Row] = [["device", "device name", "seconds", "accuracy"]]
        for point in self._points:
            rows.append([point.device_key, self._names[point.device_key], point.seconds, point.accuracy])
        return rows

    def _arrange(self) -> None:
        self._explanation.setProperty("muted", True)
        self._explanation.setText(
            self.tr(
                "Trains the network that is set up at the left on each ticked device in turn: the same seed, the same "
                "batches. What they learn is not kept."
            )
        )
        self._verdict.setObjectName("raceVerdict")
        self._verdict.setAccessibleName(self.tr("Who was first"))
        self._verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACING)
        layout.addWidget(self._explanation)
        layout.addWidget(self.plot, 1)
        layout.addWidget(self._verdict)

    @Slot()
    def _show(self) -> None:
        self.plot.show_points(self._points, self._names)
        words = [in_words(verdict(self._points, self._names)), *self._failures]
        self._verdict.setText(" ".join(filter(None, words)))
        self._verdict.setVisible(bool(self._verdict.text()))
        self.changed.emit()
