"""What is read off a benchmark's numbers: made-up ones whose crossover and ratios are known beforehand."""

import pytest

from core.training.benchmark import WidthMeasured
from core.training.benchmark_lesson import ARTICLE, crossover, crossovers, lesson

NAMES = {"cpu": "CPU – 2 threads", "cuda:0": "NVIDIA H200", "cuda:1": "Other card"}


def results(key: str, seconds: dict[int, float], shares: dict[int, float] | None = None) -> list[WidthMeasured]:
    return [
        WidthMeasured(key, NAMES[key], hidden, value, 60000 / value, 1e9, (shares or {}).get(hidden, 0.5))
        for hidden, value in seconds.items()
    ]


def said(measured: list[WidthMeasured]) -> str:
    return " ".join(finding.say() for finding in lesson(measured))


def test_a_crossover_lies_where_the_lines_meet_on_logarithmic_paper() -> None:
    # CPU: seconds = hidden / 100. GPU: seconds = 2, whatever the width. They meet at 200, between 100 and 1000.
    assert crossover({100: 1.0, 1000: 10.0}, {100: 2.0, 1000: 2.0}) == pytest.approx(200)


def test_a_crossover_may_lie_on_a_measured_width() -> None:
    assert crossover({64: 1.0, 128: 2.0, 256: 4.0}, {64: 2.0, 128: 2.0, 256: 2.0}) == pytest.approx(128)


def test_only_widths_measured_on_both_count() -> None:
    assert crossover({64: 1.0, 100: 1.0, 1000: 10.0}, {100: 2.0, 1000: 2.0, 4096: 99.0}) == pytest.approx(200)


@pytest.mark.parametrize(
    ("cpu", "gpu"),
    [
        ({}, {}),
        ({64: 1.0}, {64: 2.0}),
        ({64: 1.0, 128: 2.0}, {256: 1.0, 512: 1.0}),
        ({64: 1.0, 128: 1.0}, {64: 2.0, 128: 2.0}),  # never faster
        ({64: 2.0, 128: 2.0}, {64: 1.0, 128: 1.0}),  # never slower
        ({64: 1.0, 128: 2.0}, {64: 1.0, 128: 2.0}),  # the same
        ({64: 1.0, 128: 3.0, 256: 1.0}, {64: 2.0, 128: 2.0, 256: 2.0}),  # falls behind again
        ({64: 2.0, 128: 1.0}, {64: 1.0, 128: 2.0}),  # the other way round
    ],
)
def test_where_the_gpu_does_not_overtake_for_good_there_is_no_crossover(
    cpu: dict[int, float], gpu: dict[int, float]
) -> None:
    assert crossover(cpu, gpu) is None


def test_of_two_crossovers_the_one_that_holds_counts() -> None:
    cpu = {10: 1.0, 100: 4.0, 1000: 1.0, 10000: 4.0}
    gpu = dict.fromkeys(cpu, 2.0)
    assert crossover(cpu, gpu) == pytest.approx(10**3.5)


def test_the_article_s_gpu_overtook_between_its_last_two_widths() -> None:
    overtook = crossover(ARTICLE["cpu"], ARTICLE["gpu"])
    assert overtook is not None
    assert 4096 < overtook < 8192


def test_each_gpu_has_a_crossover_of_its_own() -> None:
    measured = results("cuda:1", {100: 5.0, 1000: 20.0}) + results("cpu", {100: 1.0, 1000: 10.0})
    measured += results("cuda:0", {100: 2.0, 1000: 2.0})
    assert crossovers(measured) == {"cuda:0": pytest.approx(200)}
    assert crossovers(results("cuda:0", {100: 2.0})) == {}


def test_nothing_measured_teaches_nothing() -> None:
    assert lesson([]) == []


def test_a_single_width_is_told_as_it_is() -> None:
    assert said(results("cpu", {500: 0.5012}, {500: 0.1234})) == (
        "On CPU – 2 threads an epoch with 500 hidden units takes 0.5 s: 120,000 digits a second, 12 % of its peak."
    )


@pytest.mark.parametrize(
    ("large", "words"),
    [
        (
            2.11,
            "7 times the time, 0.3 s to 2.1 s: small networks leave it idle, at 5 % of its peak instead of 80 %.",
        ),
        (
            4.8,
            "16 times the time, 0.3 s to 4.8 s: it is as busy with small networks as with large ones, at 5 % of",
        ),
        (
            9.6,
            "32 times the time, 0.3 s to 9.6 s: the largest cost it more than their share, at 80 % of its peak",
        ),
    ],
)
def test_time_is_held_against_work(large: float, words: str) -> None:
    text = said(results("cpu", {2048: large, 128: 0.3, 500: 1.0}, {128: 0.05, 2048: 0.8}))
    assert text.startswith("On CPU – 2 threads 16 times the work, 128 to 2,048 hidden units, takes ")
    assert words in text


def test_a_gpu_that_overtakes_is_told_with_the_article_s() -> None:
    text = said(results("cpu", {100: 1.0, 1000: 10.0}) + results("cuda:0", {100: 2.0, 1000: 2.0}))
    assert "NVIDIA H200 overtakes the CPU at about 200 hidden units and is 5 times as fast at 1,000; " in text
    assert "in 2017 it took about 4,900." in text


def test_a_gpu_that_is_always_faster_is_told_so() -> None:
    text = said(results("cpu", {100: 3.0, 1000: 10.0}) + results("cuda:0", {100: 2.0, 1000: 2.0}))
    assert "faster than the CPU at every width measured, 1.5 times at 100 hidden units and 5 times at 1,000; " in text
    assert "4,900" in text


def test_a_gpu_that_is_never_faster_is_told_so() -> None:
    text = said(results("cpu", {100: 1.0, 1000: 1.0}) + results("cuda:0", {100: 4.0, 1000: 2.0}))
    assert "nowhere faster than the CPU: at 100 hidden units it takes 4 times as long, at 1,000 2 times." in text
    assert "4,900" not in text


def test_a_gpu_that_falls_behind_again_is_told_so() -> None:
    measured = results("cpu", {10: 1.0, 100: 4.0, 1000: 1.0}) + results("cuda:0", dict.fromkeys((10, 100, 1000), 2.0))
    assert "faster than the CPU at some widths but not at 1,000 hidden units, where it takes 2 times as" in said(
        measured
    )


def test_a_gpu_measured_alone_is_compared_with_no_cpu() -> None:
    text = said(results("cuda:0", {100: 2.0, 1000: 2.0}))
    assert "NVIDIA H200" in text
    assert "the CPU" not in text


def test_this_machine_is_held_against_the_article_s() -> None:
    cpu = said(results("cpu", {64: 0.5, 1024: 73.0}))
    assert "At 64 hidden units this CPU is 11 times as fast as the article’s of 2017." in cpu
    slow = said(results("cpu", {1024: 146.0, 2000: 500.0}))
    assert "At 1,024 hidden units the article’s CPU of 2017 was 2 times as fast as this one." in slow
    gpu = said(results("cuda:0", {64: 98.7, 8192: 4.37}))
    assert "At 8,192 hidden units this GPU is 100 times as fast as the article’s of 2017." in gpu
    assert "2017" not in said(results("cpu", {65: 0.5}))


@pytest.mark.parametrize(
    ("seconds", "key", "device"), [(5.3, "cpu", "CPU"), (5.5, "cpu", "CPU"), (98.0, "cuda:0", "GPU")]
)
def test_a_machine_as_fast_as_the_article_s_is_told_so(seconds: float, key: str, device: str) -> None:
    assert f"At 64 hidden units this {device} is about as fast as the article’s of 2017." in said(
        results(key, {64: seconds})
    )


@pytest.mark.parametrize("ratio", [0.97, 1.0, 1.001, 1.02, 1.04, 1.2, 2.0])
def test_nothing_is_ever_1_times_anything(ratio: float) -> None:
    cpu = results("cpu", {64: 5.4 * ratio, 65: 5.4, 1024: 73.0 * ratio})
    for gpu in ({64: 98.7, 65: 100.0}, {64: 5.4, 65: 5.3, 1024: 73.0}, {64: 5.39, 65: 5.39, 1024: 73.1}):
        text = said(cpu + results("cuda:0", gpu))
        assert text
        assert " 1 times" not in text


def test_more_work_that_takes_no_longer_is_told_so() -> None:
    text = said(results("cuda:0", {64: 0.31, 1024: 0.3}, {64: 0.01, 1024: 0.16}))
    assert "16 times the work, 64 to 1,024 hidden units, takes no more time, 0.31 s to 0.3 s: small networks" in text
