"""From which certainty on the network answers: a slider, and what its position would do to the test digits."""

import math

from PySide6.QtCore import QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSlider, QVBoxLayout, QWidget

from core.device import HostArray
from gui import theme
from gui.widgets.control_names import name_controls


class CertaintyRow(QWidget):
    """Emits `threshold_changed(0..1)`, below which the network says that it does not know; hidden until it can.

    `threshold_shown` also when nobody has moved it; 0 where there is none.
    """

    threshold_changed = Signal(float)
    threshold_shown = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._coverage: HostArray | None = None
        self._accuracy: HostArray | None = None
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(0, 100)
        explanation = self.tr(
            "How sure the network must be to answer. Higher, it keeps silent about more scribbles and about more "
            "digits too; what it still says is right more often. It starts where 99 of 100 digits are answered. The "
            "dotted line across the bars shows the place.\nBelow: how many of the test digits get an answer, and how "
            "many of these answers are right."
        )
        name_controls([(self._slider, "certaintySlider", self.tr("Least certainty of an answer"), explanation)])
        self._percent = QLabel()
        self._percent.setObjectName("certaintyPercent")
        self._effect = QLabel(wordWrap=True)
        self._effect.setObjectName("certaintyEffect")
        self._effect.setProperty("muted", True)
        self._effect.setFont(theme.small_font(self.font()))
        name = QLabel(self.tr("Answers from"))
        row = QHBoxLayout()
        row.setSpacing(theme.SPACING)
        row.addWidget(name)
        row.addWidget(self._slider, 1)
        row.addWidget(self._percent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addLayout(row)
        layout.addWidget(self._effect)
        self._slider.valueChanged.connect(self._on_moved)
        # Nothing else on this side may move when it appears: somebody may be drawing.
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        self._effect.setMinimumHeight(self._effect.fontMetrics().lineSpacing())
        self.show_nothing()

    @Slot()
    def show_nothing(self) -> None:
        """The network that answers has no calibration; it always answers."""
        self.forget_effect()
        self.setVisible(False)
        self.threshold_shown.emit(0.0)

    @property
    def threshold(self) -> float:
        """Where the slider stands, 0..1."""
        return self._slider.value() / 100

    def show_threshold(self, threshold: float) -> None:
        """Offer the choice, beginning with `threshold`, 0..1."""
        self._slider.blockSignals(True)
        # Rounded down: no digit that the fitted threshold answers may lose its answer to rounding.
        self._slider.setValue(math.floor(threshold * 100))
        self._slider.blockSignals(False)
        self._show()
        self.setVisible(True)
        self.threshold_shown.emit(self.threshold)

    def show_effect(self, coverage: HostArray, accuracy: HostArray) -> None:
        """Say what the threshold does to the test digits; the arrays (101,), 0..1, tell it of each per cent."""
        self._coverage, self._accuracy = coverage, accuracy
        self._show()

    @Slot()
    def forget_effect(self) -> None:
        """What the threshold does to the digits now in use is not known, or cannot be; the threshold stands."""
        self._coverage = self._accuracy = None
        self._show()

    @Slot(int)
    def _on_moved(self, percent: int) -> None:
        self._show()
        self.threshold_shown.emit(self.threshold)
        self.threshold_changed.emit(self.threshold)

    def _show(self) -> None:
        percent = self._slider.value()
        number = QLocale().toString
        self._percent.setText(self.tr("%1 %").replace("%1", number(percent)))
        if self._coverage is None or self._accuracy is None:
            self._effect.clear()
            return
        covered, right = float(self._coverage[percent]), float(self._accuracy[percent])
        if math.isnan(right):
            self._effect.setText(self.tr("No test digit would be answered."))
            return
        words = self.tr("Test set: %1 % answered, %2 % right.")
        self._effect.setText(
            words.replace("%1", number(covered * 100, "f", 1)).replace("%2", number(right * 100, "f", 2))
        )
