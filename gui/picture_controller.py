"""From a picture file, or a pasted picture, to what lies on the sheet: read and searched for digits off the GUI thread.

What reads pictures is imported only once one is read: it would double the time the window takes to open.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLocale, QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication

from core.device import HostArray
from core.predictor import Predictor
from core.training.model_file import Model
from gui.background_job import BackgroundJob
from gui.dialogs import Dialogs
from gui.ink_history import OpenedPicture
from gui.widgets.picture_source import picture_source

if TYPE_CHECKING:
    from PIL import Image


class PictureController(QObject):
    """Emits `opened(OpenedPicture)`; `notified` and `failed` carry a sentence. `model`: the network that answers."""

    opened = Signal(object)
    notified = Signal(str)
    failed = Signal(str)

    def __init__(self, model: Callable[[], Model | None], dialogs: Dialogs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model, self._dialogs = model, dialogs
        self._is_wanted = False
        self._job = BackgroundJob(self)
        self._job.done.connect(self._on_done)
        self._job.failed.connect(self._on_failed)

    @Slot()
    def ask(self) -> None:
        """Read the picture that the user chooses in a dialog."""
        if (path := self._dialogs.ask_which_picture()) is not None:
            self.read(path)

    @Slot()
    def paste(self) -> None:
        """Read what lies on the clipboard, a picture or a file of one."""
        if (source := picture_source(QGuiApplication.clipboard().mimeData())) is None:
            self.failed.emit(
                self.tr("There is no picture on the clipboard; copy one, or a picture file, and try again.")
            )
        else:
            self.read(source)

    @Slot(object)
    def read(self, source: Path | bytes) -> None:
        """Find the digits in the picture of this path, or with this content of a file."""
        self._is_wanted = True
        self.notified.emit(self.tr("Looking for digits in the picture…"))
        model = self._model()
        self._job.start(lambda cancelled: _read(source, model))

    @Slot()
    def forget(self) -> None:
        """What is being read would come too late: something else lies on the sheet."""
        if self._is_wanted:
            self._is_wanted = False
            self.notified.emit("")

    def cancel(self) -> None:
        """Give up what runs, and wait for its end."""
        self._job.cancel()

    @Slot(object)
    def _on_done(self, opened: OpenedPicture) -> None:
        if not self._is_wanted:
            return
        self._is_wanted = False
        self.opened.emit(opened)
        count = len(opened.digits)
        words = self.tr("Found one digit.") if count == 1 else self.tr("Found %1 digits.")
        self.notified.emit(words.replace("%1", QLocale().toString(count)))

    @Slot(str)
    def _on_failed(self, sentence: str) -> None:
        if self._is_wanted:
            self._is_wanted = False
            self.failed.emit(sentence[:1].upper() + sentence[1:])


def _read(source: Path | bytes, model: Model | None) -> OpenedPicture:
    """What is found in the picture; raises PictureError."""
    from core.digits.picture_file import open_picture
    from core.digits.pictures import find_digits

    # A network of its own: the one that answers is asked in the GUI thread.
    predictor = None if model is None else Predictor.from_model(model)
    found = find_digits(source, None if predictor is None else lambda pictures: predictor.read(pictures)[1])
    image, (width, height) = open_picture(source)
    boxes = np.array([digit.box for digit in found], np.float64) / (width, height, width, height)
    return OpenedPicture(_for_the_eye(image), tuple(digit.picture for digit in found), boxes)


def _for_the_eye(image: "Image.Image") -> HostArray:
    """Its pixels, uint8 (height, width, 3), transparent ones on white."""
    from PIL import Image

    if image.mode == "RGBA":
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return np.asarray(image.convert("RGB"))
