"""Pictures from files and from the clipboard: read elsewhere than in the window's thread, refused in one sentence."""

import io
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from core.digits import pictures
from core.digits.dataset import DigitSets
from core.digits.picture_file import PICTURE_SUFFIXES
from core.training.model_file import SHIPPED_MODEL, Model, load_model
from gui.ink_history import OpenedPicture
from gui.picture_controller import PictureController
from gui.widgets.grey_image import to_qimage

SECONDS = 20_000


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model(SHIPPED_MODEL)


@pytest.fixture
def dialogs() -> Any:
    return SimpleNamespace(ask_which_picture=lambda: None)


@pytest.fixture
def controller(qtbot: QtBot, model: Model, dialogs: Any) -> Iterator[PictureController]:
    controller = PictureController(lambda: model, dialogs)
    yield controller
    controller.cancel()


@pytest.fixture
def number(mnist: DigitSets) -> np.ndarray:
    """Dark ink on white paper, uint8 (108, 228): the first three test digits, twice as large, in a row: 7, 2 and 1."""
    ink = np.concatenate([np.kron(one, np.ones((2, 2), np.uint8)) for one in mnist.test.images[:3]], axis=1)
    return 255 - np.pad(ink, ((26, 26), (30, 30)))


def opened_by(qtbot: QtBot, controller: PictureController, source: Path | bytes) -> OpenedPicture:
    with qtbot.waitSignal(controller.opened, timeout=SECONDS) as heard:
        controller.read(source)
    return heard.args[0]


@pytest.mark.parametrize("suffix", [suffix for suffix in PICTURE_SUFFIXES if not suffix.startswith(".hei")])
def test_every_kind_of_file_is_read(
    qtbot: QtBot, controller: PictureController, number: np.ndarray, tmp_path: Path, suffix: str
) -> None:
    Image.fromarray(number).convert("RGB").save(tmp_path / f"number{suffix}")
    opened = opened_by(qtbot, controller, tmp_path / f"number{suffix}")
    assert len(opened.digits) == 3
    assert opened.pixels.shape == (108, 228, 3)
    for place, box in enumerate(opened.boxes):
        left, right = 30 + 56 * place, 30 + 56 * (place + 1)
        assert left <= box[0] * 228 < box[2] * 228 <= right
        ink = np.flatnonzero((number[:, left:right] < 128).any(axis=0)) + left
        assert box[[0, 2]] * 228 == pytest.approx([ink[0], ink[-1] + 1], abs=3)
        rows = np.flatnonzero((number[:, left:right] < 128).any(axis=1))
        assert box[[1, 3]] * 108 == pytest.approx([rows[0], rows[-1] + 1], abs=3)


def test_a_large_photograph_is_shown_small_with_its_boxes_where_they_were(
    qtbot: QtBot, controller: PictureController, number: np.ndarray, tmp_path: Path
) -> None:
    Image.fromarray(number).save(tmp_path / "small.png")
    Image.fromarray(number).resize((2280, 1080), Image.Resampling.BICUBIC).save(tmp_path / "large.png")
    small, large = (opened_by(qtbot, controller, tmp_path / f"{name}.png") for name in ("small", "large"))
    assert max(large.pixels.shape) == 1000
    assert large.boxes == pytest.approx(small.boxes, abs=0.02)


def test_a_picture_of_mnists_form_is_seen_bit_for_bit(
    qtbot: QtBot, controller: PictureController, mnist: DigitSets
) -> None:
    content = io.BytesIO()
    Image.fromarray(mnist.test.images[8]).save(content, "PNG")
    opened = opened_by(qtbot, controller, content.getvalue())
    assert [one.tobytes() for one in opened.digits] == [mnist.test.images[8].tobytes()]
    assert np.array_equal(opened.pixels[..., 1], mnist.test.images[8])
    assert opened.boxes.tolist() == [[0, 0, 1, 1]]


def test_transparent_places_are_white(qtbot: QtBot, controller: PictureController, number: np.ndarray) -> None:
    content = io.BytesIO()
    drawn = np.zeros((*number.shape, 4), np.uint8)
    drawn[..., 3] = 255 - number
    Image.fromarray(drawn).save(content, "PNG")
    assert np.abs(opened_by(qtbot, controller, content.getvalue()).pixels[..., 0].astype(int) - number).max() <= 1


def test_it_is_read_in_another_thread_with_a_network_of_its_own(
    qtbot: QtBot, controller: PictureController, number: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, np.ndarray]] = []
    find_digits = pictures.find_digits

    def find(source: Any, sureness: Any) -> Any:
        seen.append((threading.get_ident(), sureness(np.stack([np.zeros((28, 28), np.uint8)]))))
        return find_digits(source, sureness)

    monkeypatch.setattr(pictures, "find_digits", find)
    content = io.BytesIO()
    Image.fromarray(number).save(content, "PNG")
    opened_by(qtbot, controller, content.getvalue())
    ((thread, sureness),) = seen
    assert thread != threading.get_ident()
    assert sureness.tolist() == [0.0]


def test_without_a_network_digits_are_found_all_the_same(qtbot: QtBot, dialogs: Any, number: np.ndarray) -> None:
    controller = PictureController(lambda: None, dialogs)
    content = io.BytesIO()
    Image.fromarray(number).save(content, "PNG")
    assert len(opened_by(qtbot, controller, content.getvalue()).digits) == 3
    controller.cancel()


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "not a picture of a known kind"), (b"seven", "not a picture of a known kind"), (None, "does not exist")],
)
def test_what_is_no_picture_is_refused_in_one_sentence(
    qtbot: QtBot, controller: PictureController, tmp_path: Path, content: bytes | None, words: str
) -> None:
    opened: list[object] = []
    controller.opened.connect(opened.append)
    path = tmp_path / "seven.png"
    if content is not None:
        path.write_bytes(content)
    with qtbot.waitSignal(controller.failed, timeout=SECONDS) as failed:
        controller.read(path)
    assert failed.args[0].startswith(str(path))
    assert words in failed.args[0]
    assert opened == []


def test_half_a_picture_and_an_empty_page_are_refused(qtbot: QtBot, controller: PictureController, rng: Any) -> None:
    whole, blank = io.BytesIO(), io.BytesIO()
    Image.fromarray(rng.integers(0, 256, (300, 300), np.uint8)).save(whole, "PNG")
    Image.new("L", (300, 300), 240).save(blank, "PNG")
    for content, words in ((whole.getvalue()[:20_000], "cut short or damaged"), (blank.getvalue(), "is blank")):
        with qtbot.waitSignal(controller.failed, timeout=SECONDS) as failed:
            controller.read(content)
        assert failed.args[0].startswith("This picture")
        assert words in failed.args[0]


def test_what_comes_too_late_is_forgotten(qtbot: QtBot, controller: PictureController, number: np.ndarray) -> None:
    told: list[object] = []
    for signal in (controller.opened, controller.failed, controller.notified):
        signal.connect(told.append)
    content = io.BytesIO()
    Image.fromarray(number).save(content, "PNG")
    for given in (content.getvalue(), b"no picture"):
        told.clear()
        controller.read(given)
        assert told.pop() != ""
        controller.forget()
        assert told == [""]
        # What is produced is told before the thread has ended.
        qtbot.waitUntil(lambda: not controller._job._threads, timeout=SECONDS)
        assert told == [""]


def test_the_clipboard_gives_a_picture_or_a_file_of_one(
    qtbot: QtBot, controller: PictureController, mnist: DigitSets, tmp_path: Path
) -> None:
    clipboard = QGuiApplication.clipboard()
    clipboard.setImage(to_qimage(mnist.test.images[3]))
    with qtbot.waitSignal(controller.opened, timeout=SECONDS) as heard:
        controller.paste()
    assert heard.args[0].digits[0].tobytes() == mnist.test.images[3].tobytes()
    Image.fromarray(mnist.test.images[4]).save(tmp_path / "four.bmp")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path / "four.bmp"))])
    clipboard.setMimeData(mime)
    with qtbot.waitSignal(controller.opened, timeout=SECONDS) as heard:
        controller.paste()
    assert heard.args[0].digits[0].tobytes() == mnist.test.images[4].tobytes()
    clipboard.setText("seven")
    with qtbot.waitSignal(controller.failed) as failed:
        controller.paste()
    assert "no picture on the clipboard" in failed.args[0]
    clipboard.clear()


def test_the_dialog_chooses_or_does_not(
    qtbot: QtBot, controller: PictureController, dialogs: Any, mnist: DigitSets, tmp_path: Path
) -> None:
    told: list[str] = []
    controller.notified.connect(told.append)
    controller.ask()
    assert told == []
    Image.fromarray(mnist.test.images[4]).save(tmp_path / "four.png")
    dialogs.ask_which_picture = lambda: tmp_path / "four.png"
    with qtbot.waitSignal(controller.opened, timeout=SECONDS):
        controller.ask()
    assert told == ["Looking for digits in the picture…", "Found one digit."]
