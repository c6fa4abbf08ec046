"""The offer to get a set: what would be fetched and from whom, the wishes of its buttons, and how far it has come."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtWidgets import QLabel, QLineEdit, QProgressBar, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from core.digits.downloads import find_set
from gui.widgets.data_offer import DataOffer, Offer

CLOTHES = find_set("fashion-mnist")


@pytest.fixture
def offer(qtbot: QtBot) -> DataOffer:
    offer = DataOffer()
    qtbot.addWidget(offer)
    offer.show_offer(Offer(CLOTHES))
    qtbot.waitExposed(offer)
    return offer


def button(offer: DataOffer, name: str) -> QPushButton:
    found = offer.findChild(QPushButton, name)
    assert isinstance(found, QPushButton)
    return found


def words(offer: DataOffer, name: str) -> str:
    found = offer.findChild(QLabel, name)
    assert isinstance(found, QLabel)
    return found.text()


def bar(offer: DataOffer) -> QProgressBar:
    found = offer.findChild(QProgressBar, "dataProgress")
    assert isinstance(found, QProgressBar)
    return found


def test_how_much_from_whom_and_whose_it_is_stands_above_the_button(offer: DataOffer) -> None:
    assert words(offer, "offerTitle") == "Fashion-MNIST is not here yet"
    for part in ("31 MB", "raw.githubusercontent.com", "MIT", "Zalando Research"):
        assert part in words(offer, "offerWords")


def test_of_a_download_that_was_cut_it_is_said_how_much_is_here(offer: DataOffer) -> None:
    offer.show_offer(Offer(CLOTHES, arrived=12_345_678))
    assert "12.3 of 30.9 MB are here; it goes on from there" in words(offer, "offerWords")
    offer.show_offer(Offer(CLOTHES, is_damaged=True))
    assert words(offer, "offerTitle") == "The files of Fashion-MNIST are damaged"


@pytest.mark.parametrize(
    ("name", "wish"),
    [
        ("downloadData", lambda offer: offer.download_requested),
        ("openData", lambda offer: offer.open_requested),
        ("declineData", lambda offer: offer.declined),
    ],
)
def test_each_button_is_a_wish(
    qtbot: QtBot, offer: DataOffer, name: str, wish: Callable[[DataOffer], SignalInstance]
) -> None:
    assert button(offer, name).accessibleDescription()
    with qtbot.waitSignal(wish(offer)):
        qtbot.mouseClick(button(offer, name), Qt.MouseButton.LeftButton)


def test_progress_is_told_in_bytes_and_can_be_cancelled_until_all_are_here(qtbot: QtBot, offer: DataOffer) -> None:
    offer.activateWindow()
    button(offer, "downloadData").setFocus()
    offer.show_progress(15_443_000, CLOTHES.size)
    assert words(offer, "offerAmount") == "15.4 of 30.9 MB"
    assert bar(offer).value() == pytest.approx(500, abs=2)
    assert not button(offer, "downloadData").isVisible()
    with qtbot.waitSignal(offer.cancel_requested):
        qtbot.mouseClick(button(offer, "cancelData"), Qt.MouseButton.LeftButton)
    offer.show_cancelling()
    assert words(offer, "offerAmount") == "Cancelling…"
    offer.show_progress(CLOTHES.size, CLOTHES.size)
    assert words(offer, "offerAmount") == "Checking and unpacking…"
    assert not button(offer, "cancelData").isEnabled()


def test_files_that_are_read_cannot_be_cancelled_and_the_next_offer_has_its_buttons(offer: DataOffer) -> None:
    offer.show_reading()
    assert bar(offer).maximum() == 0
    assert not button(offer, "cancelData").isEnabled()
    offer.show_offer(Offer(CLOTHES))
    assert button(offer, "downloadData").isVisible()
    assert not bar(offer).isVisible()
    offer.show_offer(None)
    assert offer.isHidden()


def test_the_focus_of_what_goes_is_never_handed_on_to_the_next_field(qtbot: QtBot) -> None:
    window, before, offer, after = QWidget(), QLineEdit(), DataOffer(), QLineEdit()
    qtbot.addWidget(window)
    layout = QVBoxLayout(window)
    for widget in (before, offer, after):
        layout.addWidget(widget)
    window.show()
    window.activateWindow()
    offer.show_offer(Offer(CLOTHES))
    button(offer, "downloadData").setFocus()
    qtbot.waitUntil(button(offer, "downloadData").hasFocus)
    offer.show_progress(1, CLOTHES.size)
    assert button(offer, "cancelData").hasFocus()
    offer.show_offer(Offer(CLOTHES, arrived=1))
    assert button(offer, "downloadData").hasFocus()
    button(offer, "openData").setFocus()
    offer.show_progress(1, CLOTHES.size)
    offer.show_cancelling()
    assert before.hasFocus()
    offer.show_offer(Offer(CLOTHES))
    button(offer, "openData").setFocus()
    offer.show_offer(None)
    assert before.hasFocus()
