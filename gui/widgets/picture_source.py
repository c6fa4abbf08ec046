"""What is dropped or pasted, as far as it is a picture: the path of a file, or the content of one."""

from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QMimeData
from PySide6.QtGui import QImage

_NOT_PACKED = 100
"""Qt's "quality" of a PNG file that takes no time to pack."""


def holds_picture(mime: QMimeData) -> bool:
    """Whether there is a file, which may be a picture, or a picture."""
    return mime.hasImage() or any(url.isLocalFile() for url in mime.urls())


def picture_source(mime: QMimeData) -> Path | bytes | None:
    """The first file's path, or else the picture as a PNG file of the same pixels; None if there is neither."""
    for url in mime.urls():
        if url.isLocalFile():
            return Path(url.toLocalFile())
    if not mime.hasImage():
        return None
    # One that Qt cannot unpack becomes an empty file, which is refused like any other broken one.
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImage(mime.imageData()).save(buffer, "PNG", _NOT_PACKED)  # type: ignore[call-overload]
    return bytes(buffer.data().data())
