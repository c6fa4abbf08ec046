"""Of each kept run, the curve that is drawn, and its style of line: it stays, for it follows from the folder's name."""

import zlib
from collections.abc import Mapping, Sequence

from core.training.ledger import Curve, RunSummary
from gui import theme


def with_styles(known: Mapping[str, str], runs: Sequence[RunSummary]) -> dict[str, str]:
    """Which of `theme.RUN_STYLES` belongs to each run, by its folder's name; `known` ones stay.

    Two names may ask for the same: then the older run has it and the newer takes the next that is free, if one is.
    """
    styles = dict(known)
    for run in sorted(runs, key=lambda run: ("" if run.info is None else run.info.created, run.path.name)):
        if run.path.name not in styles:
            styles[run.path.name] = _free_style(run.path.name, set(styles.values()))
    return styles


def _free_style(name: str, taken: set[str]) -> str:
    first = zlib.crc32(name.encode(errors="replace")) % len(theme.RUN_STYLES)
    wanted = theme.RUN_STYLES[first:] + theme.RUN_STYLES[:first]
    return next((style for style in wanted if style not in taken), wanted[0])


def curve_of(run: RunSummary) -> Curve:
    """The one curve of a run that is listed; empty if nothing was measured."""
    return next(iter(run.curves.values()), Curve((), (), ()))
