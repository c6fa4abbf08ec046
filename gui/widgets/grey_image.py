"""From a picture as core has it to one that Qt can draw."""

from PySide6.QtGui import QImage

from core.device import HostArray


def to_qimage(picture: HostArray) -> QImage:
    """`picture`, uint8 (rows, columns), as grey levels."""
    rows, columns = picture.shape
    # The copy owns its bytes: a QImage over an array would read memory that NumPy may have given back.
    return QImage(picture.tobytes(), columns, rows, columns, QImage.Format.Format_Grayscale8).copy()
