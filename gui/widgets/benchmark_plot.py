"""The seconds of an epoch against the hidden units, both by their magnitude, with the figures of 2017 faint behind."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from PySide6.QtCore import QLocale

from core.training.benchmark import WidthMeasured
from core.training.benchmark_lesson import ARTICLE
from gui import theme
from gui.widgets.series_plot import Series, SeriesPlot, View

_STYLES = tuple(theme.CURVE_DASHES)
_PADDING = 0.05


class BenchmarkPlot(SeriesPlot):
    """One line a device; a mark where one overtakes the CPU."""

    def __init__(self) -> None:
        super().__init__(self.tr("Seconds an epoch"), self.tr("Hidden units"))
        self.canvas.setObjectName("benchmarkPlot")
        self.canvas.setAccessibleName(self.tr("Seconds for one epoch by hidden units"))
        explanation = self.tr(
            "How long one pass over all training digits takes, by the width of the hidden layer, both on logarithmic "
            "scales: a line that is flat at the left and rises at the right is a device that small networks leave "
            "idle. The faint lines are a CPU and a GPU of 2017, from the article this program grew out of."
        )
        self.canvas.setAccessibleDescription(explanation)
        self.legend.setToolTip(theme.tooltip(explanation))

    def show_results(
        self,
        widths: Sequence[int],
        results: Sequence[WidthMeasured],
        names: Mapping[str, str],
        crossovers: Mapping[str, float],
    ) -> None:
        """Draw `results` of the devices in `names`, by key, on paper for `widths` (in order, at least one)."""
        low, high = math.log10(widths[0]), math.log10(widths[-1])
        article = [
            self._article("cpu", self.tr("CPU, 2017"), "reference", widths),
            self._article("gpu", self.tr("GPU, 2017"), "other reference", widths),
        ]
        own = [
            self._device(key, name, _STYLES[number % len(_STYLES)], results)
            for number, (key, name) in enumerate(names.items())
        ]
        shown = [*own, *(series for series in article if series.x)]
        bottom, top = self._decades([y for series in shown for y in series.y])
        padding = _PADDING * (high - low) or 0.3
        number = QLocale().toString
        view = View(
            (low - padding, high + padding),
            (bottom - _PADDING * (top - bottom), top + _PADDING * (top - bottom)),
            [(math.log10(width), number(width)) for width in widths],
            [(decade, number(10.0**decade, "g", 6)) for decade in range(bottom, top + 1)],
        )
        self.show_series(shown, view)
        words = self.tr("%1 is faster from %2 on")
        self.show_marks(
            [
                (math.log10(hidden), words.replace("%2", number(round(hidden))).replace("%1", names[key]))
                for key, hidden in crossovers.items()
            ]
        )

    def _article(self, kind: str, name: str, style: str, widths: Sequence[int]) -> Series:
        """The article's line as far as it lies between the widths shown: its own points, and where it is cut off."""
        known = {math.log10(hidden): math.log10(seconds) for hidden, seconds in ARTICLE[kind].items()}
        low, high = max(math.log10(widths[0]), min(known)), min(math.log10(widths[-1]), max(known))
        x = sorted({low, high, *(place for place in known if low < place < high)}) if low < high else []
        return Series(name, style, x, np.interp(x, list(known), list(known.values())).tolist())

    def _device(self, key: str, name: str, style: str, results: Sequence[WidthMeasured]) -> Series:
        own = [result for result in results if result.device_key == key]
        x, y = [math.log10(result.hidden) for result in own], [math.log10(result.seconds) for result in own]
        return Series(name, style, x, y)

    def _decades(self, logarithms: Sequence[float]) -> tuple[int, int]:
        """Whole powers of ten around all of these; from a tenth of a second to ten without any."""
        if not logarithms:
            return -1, 1
        bottom = math.floor(min(logarithms))
        return bottom, max(math.ceil(max(logarithms)), bottom + 1)
