"""Of each kept run, the curve that is drawn, and its style of line: it follows from the folder's name, and stays.

Only where two runs of one colour are to be seen together does one of them take another.
"""

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


def told_apart(styles: Mapping[str, str], name: str, shown: Sequence[str]) -> str:
    """The style for run `name` beside the runs `shown`: its own, unless one of them has that colour.

    Then it is another colour with the same dashes if there is one left, else other dashes.
    """
    own, beside = styles[name], [styles[other] for other in shown if other != name]
    colours = {_colour(style) for style in beside}
    if _colour(own) not in colours:
        return own
    first = theme.RUN_STYLES.index(own)
    others = theme.RUN_STYLES[first:] + theme.RUN_STYLES[:first]
    same_dashes = [style for style in others if _dashes(style) == _dashes(own)]
    fitting = [style for style in same_dashes if _colour(style) not in colours]
    unused = [style for style in fitting if style not in styles.values()]
    return next(iter(unused + fitting + [style for style in others if style not in beside]), own)


def _colour(style: str) -> int:
    return theme.RUN_STYLES.index(style) % len(theme.LIGHT.runs)


def _dashes(style: str) -> int:
    return theme.RUN_STYLES.index(style) // len(theme.LIGHT.runs)


def curve_of(run: RunSummary) -> Curve:
    """The one curve of a run that is listed; empty if nothing was measured."""
    return next(iter(run.curves.values()), Curve((), (), ()))
