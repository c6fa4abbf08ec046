"""What a benchmark teaches: where one device overtakes another, and sentences drawn from the numbers measured.

A room of its own because all of it is known once the numbers are: nothing here measures, and nothing is said that these
numbers do not say.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from core.training.benchmark import WidthMeasured
from core.training.finding import Finding, rounded

Seconds: TypeAlias = Mapping[int, float]
"""The seconds of an epoch by hidden units."""

CPU = "cpu"
ARTICLE: Mapping[str, Seconds] = {
    "cpu": {64: 5.4, 1024: 73.0, 4096: 257.0, 8192: 713.0},
    "gpu": {64: 98.7, 1024: 257.6, 4096: 306.0, 8192: 437.0},
}
"""The figures of the seed, a perceptron 784-H-10 in PyCUDA, from the article of 2017 that it belongs to."""

_ALIKE = 1.25
"""Factor within which time grows as the work does."""


def crossover(cpu: Seconds, gpu: Seconds) -> float | None:
    """The hidden units from which on the GPU is faster than the CPU, up to the last width both were measured at.

    Read off between two measured widths on logarithmic scales. None if it is slower at the largest, or if it is never
    the slower one.
    """
    widths = sorted(cpu.keys() & gpu.keys())
    leads = [math.log(cpu[width] / gpu[width]) for width in widths]
    for (narrow, behind), (wide, ahead) in reversed(list(pairwise(zip(widths, leads, strict=True)))):
        if ahead <= 0:
            return None
        if behind <= 0:
            return float(narrow * (wide / narrow) ** (-behind / (ahead - behind)))
    return None


def _of_the_article() -> float:
    overtook = crossover(ARTICLE["cpu"], ARTICLE["gpu"])
    assert overtook is not None
    return overtook


def crossovers(results: Sequence[WidthMeasured]) -> dict[str, float]:
    """For each device that overtakes the CPU, by its key: the hidden units from which on it is faster."""
    measured = _by_device(results)
    cpu = _seconds(measured.pop(CPU, {}))
    found = {key: crossover(cpu, _seconds(widths)) for key, widths in measured.items()}
    return {key: hidden for key, hidden in found.items() if hidden is not None}


def lesson(results: Sequence[WidthMeasured]) -> list[Finding]:
    """What these results teach, the most general first; empty while there are none."""
    measured = _by_device(results)
    findings = [finding for widths in measured.values() for finding in _growth(widths)]
    cpu = measured.get(CPU, {})
    for key, widths in measured.items():
        if key != CPU:
            findings += _against_cpu(cpu, widths)
    for key, widths in measured.items():
        findings += _since_the_article(key, widths)
    return findings


_Widths: TypeAlias = dict[int, WidthMeasured]


def _by_device(results: Sequence[WidthMeasured]) -> dict[str, _Widths]:
    measured: dict[str, _Widths] = {}
    for result in sorted(results, key=lambda result: result.hidden):
        measured.setdefault(result.device_key, {})[result.hidden] = result
    return measured


def _seconds(widths: _Widths) -> dict[int, float]:
    return {hidden: result.seconds for hidden, result in widths.items()}


def _growth(widths: _Widths) -> list[Finding]:
    """How a device's time grows with the width, and how much of the device that uses."""
    small, large = widths[min(widths)], widths[max(widths)]
    name = small.device_name
    if small is large:
        text = "On %1 an epoch with %2 hidden units takes %3 s: %4 digits a second, %5 % of its peak."
        figures = rounded(small.seconds), _about(small.digits_per_second), _percent(small.share_of_peak)
        return [Finding(text, (name, small.hidden, *figures))]
    time, work = large.seconds / small.seconds, large.hidden / small.hidden
    longer = "%5 times the time" if rounded(time) > 1 else "no more time"
    text = f"On %1 %2 times the work, %3 to %4 hidden units, takes {longer}, %6 s to %7 s: "
    if time * _ALIKE < work and small.share_of_peak < large.share_of_peak:
        text += "small networks leave it idle, at %8 % of its peak instead of %9 %."
    elif time > _ALIKE * work:
        text += "the largest cost it more than their share, at %9 % of its peak after %8 %."
    else:
        text += "it is as busy with small networks as with large ones, at %8 % of its peak and %9 %."
    shares = _percent(small.share_of_peak), _percent(large.share_of_peak)
    seconds = rounded(small.seconds), rounded(large.seconds)
    return [Finding(text, (name, _times(work), small.hidden, large.hidden, rounded(time), *seconds, *shares))]


def _against_cpu(cpu: _Widths, widths: _Widths) -> list[Finding]:
    """Where this device stands beside the CPU, at the widths both were measured at."""
    shared = sorted(cpu.keys() & widths.keys())
    if not shared:
        return []
    small, large = shared[0], shared[-1]
    name = widths[small].device_name
    lead = {hidden: cpu[hidden].seconds / widths[hidden].seconds for hidden in shared}
    overtakes = crossover(_seconds(cpu), _seconds(widths))
    needed = _about(_of_the_article())
    if overtakes is not None:
        text = "%1 overtakes the CPU at about %2 hidden units and is %3 times as fast at %4; in 2017 it took about %5."
        return [Finding(text, (name, _about(overtakes), _times(lead[large]), large, needed))]
    if min(lead.values()) > 1:
        text = (
            "%1 is faster than the CPU at every width measured, %2 times at %3 hidden units and %4 times at %5; "
            "in 2017 it took about %6."
        )
        return [Finding(text, (name, _times(lead[small]), small, _times(lead[large]), large, needed))]
    if max(lead.values()) <= 1:
        text = "%1 is nowhere faster than the CPU: at %2 hidden units it takes %3 times as long, at %4 %5 times."
        return [Finding(text, (name, small, _times(1 / lead[small]), large, _times(1 / lead[large])))]
    text = "%1 is faster than the CPU at some widths but not at %2 hidden units, where it takes %3 times as long."
    return [Finding(text, (name, large, _times(1 / lead[large])))]


def _since_the_article(key: str, widths: _Widths) -> list[Finding]:
    """How this machine compares with that of 2017: a CPU at the smallest width both know, a GPU at the largest."""
    kind = "cpu" if key == CPU else "gpu"
    shared = sorted(ARTICLE[kind].keys() & widths.keys())
    if not shared:
        return []
    hidden = shared[0] if kind == "cpu" else shared[-1]
    faster = ARTICLE[kind][hidden] / widths[hidden].seconds
    ratio = rounded(max(faster, 1 / faster))
    if ratio == 1:
        text = "At %1 hidden units this CPU is about as fast as the article’s of 2017."
        return [Finding(text if kind == "cpu" else text.replace("CPU", "GPU"), (hidden,))]
    words = {
        ("cpu", True): "At %1 hidden units this CPU is %2 times as fast as the article’s of 2017.",
        ("cpu", False): "At %1 hidden units the article’s CPU of 2017 was %2 times as fast as this one.",
        ("gpu", True): "At %1 hidden units this GPU is %2 times as fast as the article’s of 2017.",
        ("gpu", False): "At %1 hidden units the article’s GPU of 2017 was %2 times as fast as this one.",
    }
    return [Finding(words[kind, faster >= 1], (hidden, ratio))]


def _times(factor: float) -> float:
    """By how much, a number above 1, to two digits; but never 1 times, which nobody says: 1.02, 6.5, 257."""
    return max(1.01, rounded(factor, 2 if rounded(factor) > 1 else 3))


def _percent(share: float) -> float:
    """A share as percent, to two digits; what rounds to nothing is nothing."""
    return rounded(100 * share) if share > 0 else 0


def _about(number: float) -> int:
    """A whole number to the two digits that are known of it: 4,923 is about 4,900."""
    return int(float(f"{number:.2g}"))
