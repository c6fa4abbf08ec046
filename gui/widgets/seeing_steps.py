"""How a drawing becomes what the network sees, one small picture a step; most steps can be left out.

A room of its own because this is where it shows why MNIST's makers took these steps: leave one out, and a network that
read every drawing fails.
"""

from dataclasses import dataclass, replace

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from core.device import HostArray
from core.digits.ink import Ink
from core.digits.rasterizer import CENTRE_PIXEL, PICTURE_SIZE, Recipe, Trace
from gui import theme
from gui.widgets.grey_image import to_qimage
from gui.widgets.ink_path import ink_path, ink_pen

_COLUMNS = 3
_SIDE_PX = 74
_HAIR_PX = 0.8
"""The pen of the first steps, in pixels of the finished picture: a line without width could not be seen."""

_GUIDE_PX = 0.35
"""What is no ink but explains it."""

_STEPS = ("raw", "crop", "scale", "thicken", "centre", "picture")
_SWITCHES = _STEPS[1:5]


class SeeingSteps(QWidget):
    """`recipe_changed` carries the `Recipe` that the user puts together."""

    recipe_changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pictures = {step: _StepPicture(step) for step in _STEPS}
        self._switches = {step: QCheckBox() for step in _SWITCHES}
        self._has_picture = False
        self._drawing: tuple[Ink | None, Trace | None] = (None, None)
        self._labels = {step: QLabel() for step in ("raw", "picture")}
        self._name_controls()
        self._arrange()
        for switch in self._switches.values():
            switch.setChecked(True)
            switch.toggled.connect(self._on_toggled)

    def recipe(self) -> Recipe:
        """The steps that are switched on."""
        return replace(Recipe(), **{step: switch.isChecked() for step, switch in self._switches.items()})

    def show_drawing(self, ink: Ink | None, trace: Trace | None) -> None:
        """Show the way of `ink` as `trace` tells it; None where nothing is drawn.

        A picture without ink has all its steps behind it, and none of them can be left out any more.
        """
        for switch in self._switches.values():
            switch.setEnabled(trace is not None or not self._has_picture)
        self._drawing = (ink, trace)
        if self.isVisible():
            self._show_steps()

    def show_picture(self, image: HostArray | None) -> None:
        """Show what the network was given, uint8 (28, 28), as the last step."""
        self._has_picture = image is not None
        self._pictures["picture"].show_picture(image)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_steps()

    def _show_steps(self) -> None:
        ink, trace = self._drawing
        path = QPainterPath() if ink is None else ink_path(ink)
        for picture in self._pictures.values():
            picture.show_drawing(path, trace)

    @Slot()
    def _on_toggled(self) -> None:
        self.recipe_changed.emit(self.recipe())

    def _name_controls(self) -> None:
        for step, (title, explanation) in self._words().items():
            control = self._switches.get(step) or self._labels[step]
            control.setText(title)
            control.setFont(theme.small_font(self.font()))
            for widget in (control, self._pictures[step]):
                widget.setAccessibleName(title)
                widget.setAccessibleDescription(explanation)
                widget.setToolTip(theme.tooltip(explanation))
            self._pictures[step].setObjectName(f"{step}Picture")
            control.setObjectName(f"{step}Switch" if step in _SWITCHES else f"{step}Label")

    def _words(self) -> dict[str, tuple[str, str]]:
        tr = self.tr
        return {
            "raw": (tr("Raw ink"), tr("The path of the pen on the canvas, without any thickness.")),
            "crop": (
                tr("Cropped"),
                tr("Only the box around the ink counts. Left out, it matters where on the canvas you draw."),
            ),
            "scale": (
                tr("Scaled"),
                tr("The box is made 20 pixels long. Left out, it matters how large you draw."),
            ),
            "thicken": (
                tr("Thickened"),
                tr("The pen gets as thick as that of the training digits. Left out, the lines are thin and pale."),
            ),
            "centre": (
                tr("Centred"),
                tr(
                    "The centre of mass comes to the centre of the picture, where the lines cross. Left out, the "
                    "middle of the box lies there: seldom far off, and often enough to change an answer."
                ),
            ),
            "picture": (tr("28 × 28"), tr("What is left: 784 grey levels. The network sees nothing else.")),
        }

    def _arrange(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(theme.SPACING)
        for number, step in enumerate(_STEPS):
            cell = QVBoxLayout()
            cell.setSpacing(3)
            cell.addWidget(self._pictures[step])
            cell.addWidget(self._switches.get(step) or self._labels[step], 0, Qt.AlignmentFlag.AlignHCenter)
            grid.addLayout(cell, number // _COLUMNS, number % _COLUMNS)
            grid.setColumnStretch(number % _COLUMNS, 1)


class _StepPicture(QWidget):
    """One step of a drawing, in a frame of 28 by 28 pixels of the finished picture."""

    def __init__(self, step: str) -> None:
        super().__init__()
        self._step = step
        self._path = QPainterPath()
        self._trace: Trace | None = None
        self._image: HostArray | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_drawing(self, path: QPainterPath, trace: Trace | None) -> None:
        self._path, self._trace = path, trace
        self.update()

    def show_picture(self, image: HostArray | None) -> None:
        self._image = image
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(_SIDE_PX, _SIDE_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        scheme = theme.colours(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side = min(self.width(), self.height())
        frame = QRectF((self.width() - side) / 2, (self.height() - side) / 2, side, side)
        painter.setPen(QPen(QColor(scheme.border), 1))
        painter.setBrush(QColor(scheme.paper))
        painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), theme.RADIUS - 2, theme.RADIUS - 2)
        painter.setClipRect(frame.adjusted(1, 1, -1, -1))
        painter.translate(frame.topLeft())
        painter.scale(side / PICTURE_SIZE, side / PICTURE_SIZE)
        if self._step == "picture":
            self._paint_picture(painter)
        elif self._trace is not None:
            self._paint_step(painter, self._trace, scheme)

    def _paint_picture(self, painter: QPainter) -> None:
        if self._image is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.drawImage(QRectF(0, 0, PICTURE_SIZE, PICTURE_SIZE), to_qimage(self._image))

    def _paint_step(self, painter: QPainter, trace: Trace, scheme: theme.Colours) -> None:
        look = _look(self._step, trace)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.save()
        painter.translate(look.place)
        painter.scale(look.px_per_unit, look.px_per_unit)
        painter.translate(-look.anchor)
        painter.setPen(ink_pen(scheme.ink, look.pen_width_px / look.px_per_unit))
        painter.drawPath(self._path)
        painter.restore()
        painter.setPen(QPen(QColor(scheme.accent), _GUIDE_PX))
        if self._step in ("crop", "scale"):
            low, high = (QPointF(*corner) for corner in trace.box)
            box = QRectF((low - look.anchor) * look.px_per_unit, (high - look.anchor) * look.px_per_unit)
            reach = look.pen_width_px / 2 + _GUIDE_PX
            painter.drawRect(box.translated(look.place).adjusted(-reach, -reach, reach, reach))
        elif self._step == "centre":
            middle = CENTRE_PIXEL + 0.5
            painter.drawLine(QPointF(middle, 0), QPointF(middle, PICTURE_SIZE))
            painter.drawLine(QPointF(0, middle), QPointF(PICTURE_SIZE, middle))


@dataclass(frozen=True)
class _Look:
    """How ink is to be painted: its `anchor` at `place`, so large, and with such a pen."""

    anchor: QPointF
    px_per_unit: float
    pen_width_px: float
    place: QPointF


def _look(step: str, trace: Trace) -> _Look:
    """The drawing as it is after `step`."""
    middle = QPointF(PICTURE_SIZE / 2, PICTURE_SIZE / 2)
    if step == "raw":
        return _Look(QPointF(0.5, 0.5), PICTURE_SIZE, _HAIR_PX, middle)
    anchor = QPointF(*trace.anchor)
    if step == "crop":
        return _Look(anchor, PICTURE_SIZE, _HAIR_PX, middle)
    # A dot cannot be scaled: it keeps its size, which is none.
    zoom = trace.px_per_unit or PICTURE_SIZE
    if step == "scale":
        return _Look(anchor, zoom, _HAIR_PX, middle)
    place = QPointF(*trace.place_px) if step == "centre" else middle
    return _Look(anchor, zoom, trace.pen_width_px, place)
