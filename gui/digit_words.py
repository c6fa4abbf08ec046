"""A digit within a sentence."""

from PySide6.QtCore import QCoreApplication


def with_article(digit: int) -> str:
    """The digit as "a 7" or "an 8"; other languages have other words for it, or none."""
    translate = QCoreApplication.translate
    article = translate("DigitWords", "an %1") if digit == 8 else translate("DigitWords", "a %1")
    return article.replace("%1", str(digit))
