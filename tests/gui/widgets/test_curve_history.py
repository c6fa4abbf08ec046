"""The points of a curve: none that matters is lost, and those worth drawing show every peak and valley."""

import numpy as np
import pytest

from gui.widgets.curve_history import COLUMNS, MOST_POINTS, CurveHistory


def grown(accuracies: np.ndarray) -> CurveHistory:
    history = CurveHistory()
    for i, accuracy in enumerate(accuracies.tolist()):
        history.append(100 * (i + 1), (i + 1) / 600, (i + 1) / 50, accuracy, 1 - accuracy)
    return history


ACCURACIES = np.random.default_rng(5).random(100_003)


@pytest.fixture(scope="module")
def long_history() -> CurveHistory:
    """As long as one of which nothing is forgotten can be."""
    return grown(ACCURACIES[:MOST_POINTS])


@pytest.fixture(scope="module")
def longer_history() -> CurveHistory:
    return grown(ACCURACIES)


def test_points_come_back_as_they_were_given() -> None:
    history = CurveHistory()
    history.append(100, 0.5, 1.5, 0.9, 0.3)
    history.append(200, 1.0, 3.0, 0.8, 0.4)
    assert len(history) == 2
    assert [history.values(name).tolist() for name in COLUMNS] == [
        [100, 200],
        [0.5, 1],
        [1.5, 3],
        [0.9, 0.8],
        [0.3, 0.4],
    ]


def test_an_empty_history_has_nothing_to_draw() -> None:
    assert len(CurveHistory()) == 0
    assert CurveHistory().worth_drawing("samples", "loss", 0, 1).tolist() == []


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_points_that_are_not_finite_are_left_out(bad: float) -> None:
    history = CurveHistory()
    history.append(100, 0.5, 1.5, 0.9, bad)
    history.append(100, 0.5, 1.5, bad, 0.1)
    assert len(history) == 0


def test_it_does_not_grow_with_the_run_and_forgets_in_every_part_alike(longer_history: CurveHistory) -> None:
    assert MOST_POINTS // 4 <= len(longer_history) <= MOST_POINTS
    rooms = [array._room.nbytes for array in (*longer_history._columns.values(), longer_history._numbers)]
    assert sum(rooms) <= 6 * 8 * MOST_POINTS
    places = longer_history.values("samples") / 100 - 1
    assert (places[0], places[-1]) == (0, 100_002)
    # Each point is still one of those that were told, with all its values.
    assert (longer_history.values("accuracy") == ACCURACIES[places.astype(int)]).all()
    assert (np.diff(places) > 0).all()
    assert np.diff(places).max() <= 3 * 8 * 100_003 / MOST_POINTS
    for metric, best in (("accuracy", ACCURACIES.argmax()), ("loss", ACCURACIES.argmax())):
        assert places[longer_history.best(metric)] == best


def test_peaks_and_valleys_outlive_what_is_forgotten() -> None:
    accuracies = np.full(150_000, 0.5)
    accuracies[[40, 77_777, 120_000]] = 0.1, 0.9, 0.05
    history = grown(accuracies)
    assert {0.1, 0.9, 0.05} <= set(history.values("accuracy").tolist())
    assert history.extremes("samples", "accuracy", 0, np.inf) == (0.05, 0.9)
    assert history.values("samples")[history.best("accuracy")] == 7_777_800


def test_few_points_are_all_drawn() -> None:
    history = grown(np.linspace(0, 1, 900))
    assert history.worth_drawing("samples", "accuracy", -np.inf, np.inf).tolist() == list(range(900))


@pytest.mark.parametrize("metric", ["accuracy", "loss"])
@pytest.mark.parametrize(
    ("low", "high"), [(-np.inf, np.inf), (0, 3_276_900), (123_456, 3_000_001), (1_000_000, 1_200_000), (77, 300_000)]
)
def test_of_many_points_a_thousand_are_drawn_every_peak_and_valley_among_them(
    long_history: CurveHistory, metric: str, low: float, high: float
) -> None:
    chosen = long_history.worth_drawing("samples", metric, low, high)
    places, values = long_history.values("samples"), long_history.values(metric)
    inside = np.flatnonzero((places >= low) & (places <= high))
    assert 500 <= len(chosen) <= 1010
    assert (np.diff(chosen) > 0).all()
    assert chosen[0] <= inside[0]
    assert chosen[-1] >= inside[-1]
    assert values[inside].min() >= values[chosen].min()
    assert values[inside].max() <= values[chosen].max()
    # No stretch is left without points: a gap is at most two runs of points wide.
    assert np.diff(chosen).max() <= 2 * 2 ** np.ceil(np.log2(len(inside) / 500) + 0.01) + 2


def test_first_last_and_best_are_never_thinned_away(long_history: CurveHistory) -> None:
    for metric in ("accuracy", "loss"):
        chosen = long_history.worth_drawing("epoch", metric, -np.inf, np.inf)
        assert {0, len(long_history) - 1, long_history.best(metric)} <= set(chosen.tolist())


def test_thinning_while_points_keep_coming_equals_thinning_at_the_end() -> None:
    accuracies = np.random.default_rng(6).random(9_000)
    step_by_step = CurveHistory()
    for i, accuracy in enumerate(accuracies.tolist()):
        step_by_step.append(100 * (i + 1), (i + 1) / 600, (i + 1) / 50, accuracy, 1 - accuracy)
        if i % 331 == 0:
            step_by_step.worth_drawing("samples", "accuracy", 0, np.inf)
    expected = grown(accuracies).worth_drawing("samples", "accuracy", 0, np.inf)
    assert step_by_step.worth_drawing("samples", "accuracy", 0, np.inf).tolist() == expected.tolist()


def test_the_work_of_thinning_does_not_grow_with_the_points(long_history: CurveHistory) -> None:
    """Counted, not timed: values looked at one by one are only those of the runs cut through at the ends."""
    looked_at = 0

    class Counting(np.ndarray):
        def argmin(self, *args: object, **kwargs: object) -> np.intp:
            nonlocal looked_at
            looked_at += self.size
            return super().view(np.ndarray).argmin(*args, **kwargs)  # type: ignore[arg-type]

    long_history.worth_drawing("samples", "accuracy", 0, np.inf)
    values = long_history.values("accuracy").view(Counting)
    long_history._pyramids["accuracy"].extremes(values, 3, len(values) - 5)
    assert looked_at < 2 * 512


def test_the_best_is_the_earliest_of_equals() -> None:
    history = grown(np.array([0.5, 0.9, 0.7, 0.9]))
    assert history.best("accuracy") == 1
    assert history.best("loss") == 1


@pytest.mark.parametrize(("x", "point"), [(-5, 0), (100, 0), (149, 0), (151, 1), (290, 2), (1e9, 2)])
def test_the_nearest_point(x: float, point: int) -> None:
    assert grown(np.array([0.1, 0.2, 0.3])).nearest("samples", x) == point
