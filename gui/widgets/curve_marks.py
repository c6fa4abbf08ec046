"""Upright lines that mark moments of a run, with words beside them as far as there is room.

A room of its own because words must not lie on words, however often a run is changed: where they would, the newest
stay and say how many others there are. Spread the axis, and these are seen too.
"""

from collections.abc import Sequence

import pyqtgraph as pg

from gui import theme

_PLACE = 0.06
"""Of the words, above the floor of the plot: there curves of accuracies are rare."""
_GAP_PX = 6.0


class CurveMarks:
    """The marks on `canvas`; they belong to no range and are arranged whenever that was changed."""

    def __init__(self, canvas: pg.PlotWidget) -> None:
        self._canvas = canvas
        self._marks: Sequence[tuple[float, str]] = ()
        self._arranged_for: tuple[float, ...] = ()
        self.lines: list[pg.InfiniteLine] = []

    def show(self, marks: Sequence[tuple[float, str]]) -> None:
        """Draw a line at each of these places of the horizontal axis, which grow, and words beside it, if any."""
        for line in self.lines:
            self._canvas.removeItem(line)
        self._marks, self._arranged_for = marks, ()
        options = {"position": _PLACE, "anchors": [(0, 1), (0, 1)]}
        self.lines = [pg.InfiniteLine(x, angle=90, label=words or None, labelOpts=options) for x, words in marks]
        for line in self.lines:
            self._canvas.addItem(line, ignoreBounds=True)

    def restyle(self, scheme: theme.Colours) -> None:
        """Take the colours of `scheme`."""
        for line in self.lines:
            line.setPen(theme.mark_pen(scheme))
            if (label := getattr(line, "label", None)) is not None:
                label.setColor(scheme.muted)
                label.fill = pg.mkBrush(theme.veil(scheme))

    def arrange(self) -> None:
        """Write words where they have room, the newest first; what is left out is told by the next to the right."""
        box = self._canvas.getViewBox()
        (low, high), width = box.viewRange()[0], box.width()
        # Curves are drawn many times a second, and texts are slow to lay out.
        if self._arranged_for == (low, high, width):
            return
        self._arranged_for = (low, high, width)
        free = width
        told: list[tuple[pg.InfLineLabel, list[str]]] = []
        for line, (x, words) in reversed(list(zip(self.lines, self._marks, strict=True))):
            if (label := getattr(line, "label", None)) is None:
                continue
            place = (x - low) / (high - low) * width
            label.setText(_and_others([words], 9))
            needed = label.textItem.boundingRect().width() + _GAP_PX
            label.setText(words)
            is_left = place + needed > free >= place
            start = place - needed if is_left else place
            is_seen = 0 <= start <= free - needed and place <= width
            label.setVisible(is_seen)
            if is_seen:
                side = 1 if is_left else 0
                label.anchors = [(side, 1), (side, 1)]
                label.updatePosition()
                told.append((label, [words]))
                free = start
            elif told and 0 <= place <= width:
                told[-1][1].append(words)
        for label, all_words in told:
            label.setText(_and_others(all_words[:1], len(all_words) - 1))
            label.setToolTip(theme.tooltip("\n".join(all_words)))


def _and_others(words: Sequence[str], count: int) -> str:
    return f"{words[0]} (+{count})" if count else words[0]
