"""What is shown, as a file: a widget as PNG or SVG, rows as CSV; written so that no half of a file is ever left.

A room of its own because a plot should know nothing of files, and because pictures are made larger than they are seen.
"""

import csv
import io
from collections.abc import Sequence
from typing import TypeAlias

from PySide6.QtCore import QBuffer, QCoreApplication, QIODevice, QPoint, QSaveFile
from PySide6.QtGui import QColor, QPainter, QPixmap, QRegion
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from gui import theme

_PICTURE_SCALE = 2

Row: TypeAlias = list[str | int | float]


def as_csv(rows: Sequence[Row], delimiter: str = ",") -> str:
    """`rows`, the names of the columns first, with `delimiter` between cells and numbers as programs read them."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


def as_png(widget: QWidget) -> bytes:
    """`widget` as it stands, sharp enough to print."""
    picture = QPixmap(widget.size() * _PICTURE_SCALE)
    picture.setDevicePixelRatio(_PICTURE_SCALE)
    picture.fill(theme.colours(widget.palette()).surface)
    widget.render(picture)
    encoded = QBuffer()
    encoded.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(encoded, "PNG")
    return bytes(encoded.data().data())


def as_svg(widget: QWidget) -> bytes:
    """`widget` as it stands, in lines and letters that stay sharp at every size."""
    encoded = QBuffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(encoded)
    generator.setSize(widget.size())
    generator.setViewBox(widget.rect())
    painter = QPainter(generator)
    painter.fillRect(widget.rect(), QColor(theme.colours(widget.palette()).surface))
    widget.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)
    painter.end()
    return bytes(encoded.data().data())


def write(path: str, content: bytes) -> tuple[bool, str]:
    """Write `content` to `path`; returns whether it was, and the sentence to tell that with.

    What was there stays until all of the new is.
    """
    translate, file = QCoreApplication.translate, QSaveFile(path)
    if file.open(QIODevice.OpenModeFlag.WriteOnly) and file.write(content) == len(content) and file.commit():
        return True, translate("file_export", "Saved %1.").replace("%1", path)
    text = translate("file_export", "%1 could not be saved (%2); choose another folder or free some space.")
    return False, text.replace("%2", file.errorString()).replace("%1", path)
