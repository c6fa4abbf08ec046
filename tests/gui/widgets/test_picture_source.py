"""What comes by clipboard and by mouse, as a path or as a file's content."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QImage

from core.digits.dataset import DigitSets
from gui.widgets.grey_image import to_qimage
from gui.widgets.picture_source import holds_picture, picture_source


def test_a_file_is_its_path_also_where_a_picture_comes_with_it(tmp_path: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl("https://example.org/a.png"), QUrl.fromLocalFile(str(tmp_path / "my digits.png"))])
    mime.setImageData(QImage(3, 3, QImage.Format.Format_RGB32))
    assert holds_picture(mime)
    assert picture_source(mime) == tmp_path / "my digits.png"


def test_a_picture_keeps_every_pixel(mnist: DigitSets) -> None:
    mime = QMimeData()
    mime.setImageData(to_qimage(mnist.test.images[5]))
    content = picture_source(mime)
    assert holds_picture(mime)
    assert isinstance(content, bytes)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(content)).convert("L")), mnist.test.images[5])


@pytest.mark.parametrize("url", ["https://example.org/a.png", None])
def test_what_is_neither_is_nothing(url: str | None) -> None:
    mime = QMimeData()
    mime.setText("seven")
    if url:
        mime.setUrls([QUrl(url)])
    assert not holds_picture(mime)
    assert picture_source(mime) is None


def test_a_picture_that_cannot_be_unpacked_is_an_empty_file() -> None:
    mime = QMimeData()
    mime.setImageData(QImage())
    assert picture_source(mime) == b""
