"""Findings on screen: the user's language, commas and points."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from core.training.finding import Finding
from gui.widgets.finding_texts import in_words


class German(QTranslator):
    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str:
        return "%2 s braucht %1." if (context, source) == ("findings", "%1 takes %2 s.") else source

    def isEmpty(self) -> bool:
        return False


@pytest.fixture
def germany(qapp: QApplication) -> Iterator[None]:
    before, german = QLocale(), German()
    QLocale.setDefault(QLocale(QLocale.Language.German, QLocale.Country.Germany))
    qapp.installTranslator(german)
    yield
    qapp.removeTranslator(german)
    QLocale.setDefault(before)


@pytest.mark.usefixtures("germany")
def test_they_follow_language_and_locale() -> None:
    assert in_words([Finding("%1 takes %2 s.", ("cuda:0", 1234.5)), Finding("%1 units.", (8192,))]) == (
        "1.234,5 s braucht cuda:0. 8.192 units."
    )


def test_nothing_found_is_nothing_said() -> None:
    assert in_words([]) == ""
