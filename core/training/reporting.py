"""When a run tells of the digits it learns from: often enough to be watched, and never of so few that a curve jumps."""

REPORT_EVERY_DIGITS = 1000


def is_report_due(batch_size: int, steps: int, gathered: int, left: int, evaluation_due: bool) -> bool:
    """Whether to report after `steps` of an epoch, with `left` digits of it still to come.

    `gathered`: digits learned from since the last report, this step's among them; `evaluation_due`: whether the
    network is measured after this step. Reports come every thousand digits (every batch, if that is larger), where
    the network is measured, and where the epoch ends; but each is of half a thousand digits at least, and leaves as
    many for the next. So each speaks of half to twice as many, unless the whole epoch is shorter.
    """
    window = max(1, REPORT_EVERY_DIGITS // batch_size)
    enough = batch_size * window / 2
    is_moment = evaluation_due or steps % window == 0
    return left == 0 or (is_moment and gathered >= enough and left >= enough)
