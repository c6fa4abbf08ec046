"""A digit within a sentence."""

from PySide6.QtCore import QCoreApplication


def with_article(digit: int) -> str:
    """ "a 7", and "an 8", which other languages need no word for."""
    translate = QCoreApplication.translate
    article = translate("DigitWords", "an %1") if digit == 8 else translate("DigitWords", "a %1")
    return article.replace("%1", str(digit))
