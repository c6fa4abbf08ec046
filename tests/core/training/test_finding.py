"""Sentences with numbers in them: in English, and in whatever language and digits someone else brings."""

import pytest

from core.training.finding import Finding, decimals_of, english_number, rounded


def test_names_and_numbers_take_their_places_in_english() -> None:
    finding = Finding("%2 units on %1 take %3 s, 5 % of all.", ("CPU – 2 threads", 8192, 0.29))
    assert finding.say() == "8,192 units on CPU – 2 threads take 0.29 s, 5 % of all."


def test_another_language_may_turn_the_places_round() -> None:
    finding = Finding("%1 takes %2 s.", ("cuda:0", 1234.5))
    words = {"%1 takes %2 s.": "%2 Sekunden braucht %1."}
    assert finding.say(words.__getitem__, lambda value: f"<{value}>") == "<1234.5> Sekunden braucht cuda:0."


def test_a_name_that_looks_like_a_place_stays_as_it_is() -> None:
    assert Finding("%1 and %2.", ("a %2 card", "%1")).say() == "a %2 card and %1."


@pytest.mark.parametrize(
    ("value", "wanted"), [(5, 0), (6.5, 1), (97.0, 0), (0.29, 2), (1000000.0, 0), (1e-05, 5), (0, 0), (0.125, 3)]
)
def test_a_number_is_given_the_decimals_it_has(value: float, wanted: int) -> None:
    assert decimals_of(value) == wanted


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(0.2871, "0.29"), (6.49, "6.5"), (16.04, "16"), (257.3, "257"), (12345.6, "12,346"), (1.0, "1"), (0.0996, "0.1")],
)
def test_rounded_to_two_digits_but_no_whole_number_is_cut(value: float, wanted: str) -> None:
    assert english_number(rounded(value)) == wanted
