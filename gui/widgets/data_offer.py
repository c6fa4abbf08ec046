"""The offer to get a set that is not here: from the network or from files at hand; and how far that has come.

A room of its own because it is the one place in the window that asks for the network: what would be fetched, from whom
and how much is said before the button that does it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from core.digits.downloads import PublishedSet
from gui import theme
from gui.widgets.control_names import ControlNames, name_controls

_FINENESS = 1000
_CONTROLS = 4


@dataclass(frozen=True)
class Offer:
    """A set to get. `arrived`: bytes of it that are here already; `is_damaged`: it is here and cannot be read."""

    published: PublishedSet
    arrived: int = 0
    is_damaged: bool = False


class DataOffer(QFrame):
    """Hidden until there is an offer. While something is got, progress and Cancel take the buttons' place."""

    download_requested = Signal()
    open_requested = Signal()
    cancel_requested = Signal()
    declined = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = QLabel(wordWrap=True)
        self._words = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._download = QPushButton(self.tr("Download"))
        self._decline = QPushButton(self.tr("Not now"))
        self._open = QPushButton(self.tr("Open files I already have…"))
        self._bar = QProgressBar(textVisible=False)
        self._amount = QLabel()
        self._cancel = QPushButton(self.tr("Cancel"))
        self._choices, self._progress = QWidget(), QWidget()
        self._name_controls()
        self._arrange()
        for button, wish in (
            (self._download, self.download_requested),
            (self._open, self.open_requested),
            (self._cancel, self.cancel_requested),
            (self._decline, self.declined),
        ):
            button.clicked.connect(wish)
        self.show_offer(None)

    @Slot(object)
    def show_offer(self, offer: Offer | None) -> None:
        """Offer this, or nothing."""
        if offer is None:
            self._hand_back_focus()
            self.hide()
            return
        self.show()
        self._choices.show()
        if self._cancel.hasFocus():
            self._download.setFocus()
        self._progress.hide()
        title, published = self.tr("%1 is not here yet"), offer.published
        if offer.is_damaged:
            title = self.tr("The files of %1 are damaged")
        self._title.setText(title.replace("%1", published.title))
        host = published.files[0].urls[0].split("/")[2]
        size = self.tr("%1 MB from %2 or a mirror.").replace("%1", _megabytes(published.size, 0)).replace("%2", host)
        if offer.arrived:
            here = self.tr("%1 of %2 MB are here; it goes on from there, at %3 or a mirror.")
            here = here.replace("%2", _megabytes(published.size)).replace("%3", host)
            size = here.replace("%1", _megabytes(offer.arrived))
        licence = self.tr("Licence: %1.").replace("%1", published.licence)
        whose = self.tr("By %1.").replace("%1", published.credit)
        self._words.setText(f"{size} {licence} {whose}")

    @Slot(int, int)
    def show_progress(self, done: int, total: int) -> None:
        """So many bytes of a download are here; once all are, they are checked and unpacked."""
        self._begin_progress(done < total)
        self._bar.setRange(0, _FINENESS if done < total else 0)
        self._bar.setValue(round(_FINENESS * done / total))
        words = self.tr("%1 of %2 MB").replace("%1", _megabytes(done)).replace("%2", _megabytes(total))
        self._amount.setText(words if done < total else self.tr("Checking and unpacking…"))

    @Slot()
    def show_reading(self) -> None:
        """Files are being read; that cannot be cancelled."""
        self._begin_progress(False)
        self._bar.setRange(0, 0)
        self._amount.setText(self.tr("Reading the files…"))

    @Slot()
    def show_cancelling(self) -> None:
        """A server that says nothing may take a while to be left."""
        self._begin_progress(False)
        self._amount.setText(self.tr("Cancelling…"))

    def _begin_progress(self, can_cancel: bool) -> None:
        self._progress.show()
        if not can_cancel:
            self._hand_back_focus()
        self._cancel.setEnabled(can_cancel)
        if self._download.hasFocus() or self._open.hasFocus():
            self._cancel.setFocus()
        self._choices.hide()

    def _hand_back_focus(self) -> None:
        """To what comes before: a key that was meant for a button here must not be typed into the next field."""
        for _ in range(_CONTROLS):
            focused = QApplication.focusWidget()
            if focused is not None and self.isAncestorOf(focused):
                self.focusPreviousChild()

    def _name_controls(self) -> None:
        self.setObjectName("dataOffer")
        self.setProperty("card", True)
        for widget, name in ((self._title, "offerTitle"), (self._words, "offerWords"), (self._amount, "offerAmount")):
            widget.setObjectName(name)
        self._title.setFont(theme.title_font(self.font()))
        for widget in (self._words, self._amount):
            widget.setFont(theme.small_font(self.font()))
            widget.setProperty("muted", True)
        self._download.setProperty("primary", True)
        name_controls(self._texts())

    def _texts(self) -> Sequence[ControlNames]:
        return (
            (
                self._download,
                "downloadData",
                self.tr("Download"),
                self.tr("Fetch the set from the network, and check that every byte is as it was published."),
            ),
            (
                self._open,
                "openData",
                self.tr("Open files I already have"),
                self.tr("Take the set from files on this machine: the four of them, or an archive. No network."),
            ),
            (self._decline, "declineData", self.tr("Not now"), self.tr("Stay with the set that is in use.")),
            (
                self._cancel,
                "cancelData",
                self.tr("Cancel the download"),
                self.tr("Stop fetching. What has come is kept, and the next download goes on from there."),
            ),
            (self._bar, "dataProgress", self.tr("Progress of the download"), self.tr("How much has come.")),
        )

    def _arrange(self) -> None:
        buttons, amount = QHBoxLayout(), QHBoxLayout()
        for row in (buttons, amount):
            row.setSpacing(theme.SPACING)
        buttons.addWidget(self._download)
        buttons.addWidget(self._decline)
        buttons.addStretch(1)
        choices = _column(self._choices)
        choices.addLayout(buttons)
        choices.addWidget(self._open, 0, Qt.AlignmentFlag.AlignLeft)
        amount.addWidget(self._amount, 1)
        amount.addWidget(self._cancel)
        progress = _column(self._progress)
        progress.addWidget(self._bar)
        progress.addLayout(amount)
        layout = _column(self)
        layout.setContentsMargins(theme.MARGIN, theme.SPACING, theme.MARGIN, theme.SPACING)
        for part in (self._title, self._words, self._choices, self._progress):
            layout.addWidget(part)


def _column(widget: QWidget) -> QVBoxLayout:
    layout = QVBoxLayout(widget)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(theme.SPACING)
    return layout


def _megabytes(size: int, decimals: int = 1) -> str:
    return QLocale().toString(size / 1e6, "f", decimals)
