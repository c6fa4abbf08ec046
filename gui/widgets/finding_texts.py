"""Findings of core as they are read on screen: in the user's language, with the user's commas."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QLocale

from core.training.finding import Finding, decimals_of


def in_words(findings: Sequence[Finding]) -> str:
    """All of `findings`, one sentence after the other."""
    return " ".join(finding.say(_translated, _written) for finding in findings)


def _translated(text: str) -> str:
    return QCoreApplication.translate("findings", text)


def _written(value: int | float) -> str:
    if isinstance(value, int):
        return QLocale().toString(value)
    return QLocale().toString(value, "f", decimals_of(value))
