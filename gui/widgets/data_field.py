"""The choice of what to learn from: the sets that Inkling knows, with what is here and what would have to be fetched.

A room of its own because choosing one costs something: it is read for seconds, or it is not here at all. So the field
always shows the set in use; what is picked becomes a wish, and shows once it has come true.
"""

from collections.abc import Collection

from PySide6.QtCore import QLocale, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from core.digits.downloads import BUILT_IN, SETS, PublishedSet
from gui import theme

_SMALLEST_WIDTH_CHARACTERS = 12
_OPENING_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
_COMMAND_MODIFIERS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier


class DataField(QWidget):
    """`chosen` carries the name of the set that the user picks; `opened` when the list is about to be seen."""

    chosen = Signal(str)
    opened = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.selector = _Selector()
        self._note = QLabel(wordWrap=True)
        self._in_use = BUILT_IN
        for published in SETS.values():
            self.selector.addItem("", published.name)
        self._name_controls()
        self._arrange()
        self.show_here(())
        self.show_in_use(BUILT_IN)
        self.selector.activated.connect(self._on_activated)
        self.selector.opened.connect(self.opened)

    def show_here(self, here: Collection[str]) -> None:
        """Say of each set whether it is on this machine: those called `here` are."""
        for row, published in enumerate(SETS.values()):
            self.selector.setItemText(row, self._words(published, published.name in here))

    def show_in_use(self, name: str) -> None:
        """Show the set called `name` as the one in use; one that Inkling does not know gets a line of its own."""
        self._in_use = name
        while self.selector.count() > len(SETS):
            self.selector.removeItem(self.selector.count() - 1)
        if name not in SETS:
            self.selector.addItem(name, name)
        self.selector.setCurrentIndex(self.selector.findData(name))
        published = SETS.get(name)
        shows_digits = published is None or published.shows_digits
        self._note.setVisible(not shows_digits)
        if published is not None and not shows_digits:
            words = self.tr("No digits: %1. Synthetic ink and digits of your own cannot be mixed in.")
            self._note.setText(words.replace("%1", ", ".join(published.classes)))

    def _words(self, published: PublishedSet, is_here: bool) -> str:
        if published.is_built_in:
            return self.tr("%1 · built in").replace("%1", published.title)
        if is_here:
            return self.tr("%1 · here").replace("%1", published.title)
        megabytes = QLocale().toString(published.size / 1e6, "f", 0)
        return self.tr("%1 · %2 MB to download").replace("%2", megabytes).replace("%1", published.title)

    def _name_controls(self) -> None:
        self.selector.setObjectName("dataField")
        self.selector.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.selector.setMinimumContentsLength(_SMALLEST_WIDTH_CHARACTERS)
        self._note.setObjectName("dataNote")
        self._note.setProperty("muted", True)
        self._note.setFont(theme.small_font(self.font()))

    def _arrange(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(theme.MARGIN)
        label = QLabel(self.tr("Data"))
        label.setBuddy(self.selector)
        row.addWidget(label)
        row.addWidget(self.selector, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACING // 2)
        layout.addLayout(row)
        layout.addWidget(self._note)

    @Slot(int)
    def _on_activated(self, row: int) -> None:
        name = str(self.selector.itemData(row))
        self.selector.setCurrentIndex(self.selector.findData(self._in_use))
        if name in SETS:
            self.chosen.emit(name)


class _Selector(QComboBox):
    """A list that opens before anything is picked: no key and no wheel picks in passing what costs seconds."""

    opened = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Escape):
            super().keyPressEvent(event)
        elif event.key() in _OPENING_KEYS and not event.modifiers() & _COMMAND_MODIFIERS:
            self.showPopup()
        else:
            event.ignore()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def showPopup(self) -> None:
        self.opened.emit()
        # The closed field is narrower than what a line of the list has to say.
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + 3 * theme.MARGIN)
        super().showPopup()
