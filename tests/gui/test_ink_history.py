"""The order of sheets, against the simplest model there is: a list of what was seen and a place in it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.digits.ink import Ink, Stroke
from gui.ink_history import InkHistory, PrintedDigit, Sheet, strokes_touched

DIGIT = PrintedDigit(np.zeros((28, 28), np.uint8), 3, 41)


def dot(x: float = 0.0) -> Stroke:
    return Stroke(np.array([[x, 0.0]]))


class Model:
    """Sheets as tuples, all of them kept; what was undone is cut off by the next change."""

    def __init__(self) -> None:
        self.seen: list[tuple[object, ...]] = [()]
        self.undone: list[tuple[object, ...]] = []

    def change(self, sheet: tuple[object, ...]) -> None:
        self.seen.append(sheet)
        self.undone = []

    def undo(self) -> None:
        if len(self.seen) > 1:
            self.undone.append(self.seen.pop())

    def redo(self) -> None:
        if self.undone:
            self.seen.append(self.undone.pop())


def as_tuple(sheet: Sheet) -> tuple[object, ...]:
    assert sheet.printed is None or sheet.ink.is_empty
    return sheet.ink.strokes if sheet.printed is None else (sheet.printed,)


@given(
    st.lists(st.sampled_from(["add", "add", "erase", "put", "clear", "undo", "undo", "redo"]), max_size=40), st.data()
)
def test_every_order_of_changes_undo_and_redo(moves: list[str], data: st.DataObject) -> None:
    history, model = InkHistory(), Model()
    for number, move in enumerate(moves):
        strokes = [one for one in model.seen[-1] if isinstance(one, Stroke)]
        if move == "add":
            stroke = dot(number)
            history.add(stroke)
            model.change((*strokes, stroke))
        elif move == "erase" and strokes:
            gone = data.draw(st.sampled_from(strokes))
            history.erase(gone)
            model.change(tuple(one for one in strokes if one is not gone))
        elif move == "put":
            history.put(DIGIT)
            model.change((DIGIT,))
        elif move == "clear":
            history.clear()
            if model.seen[-1]:
                model.change(())
        elif move == "undo":
            history.undo()
            model.undo()
        elif move == "redo":
            history.redo()
            model.redo()
        assert as_tuple(history.sheet) == model.seen[-1]
        assert history.can_undo == (len(model.seen) > 1)
        assert history.can_redo == bool(model.undone)
        assert history.sheet.is_empty == (not model.seen[-1])


def least_distance(way: tuple[tuple[float, float], tuple[float, float]], chain: list[tuple[float, float]]) -> float:
    """The oracle: walk along both in small steps."""

    def walk(start: tuple[float, float], end: tuple[float, float]) -> list[tuple[float, float]]:
        shares = [step / 60 for step in range(61)]
        return [(start[0] + t * (end[0] - start[0]), start[1] + t * (end[1] - start[1])) for t in shares]

    dense = [point for start, end in zip(chain, chain[1:] or chain, strict=False) for point in walk(start, end)]
    return min(math.dist(one, other) for one in walk(*way) for other in dense)


places = st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32))


@given(places, places, st.lists(places, min_size=1, max_size=4))
def test_a_stroke_is_touched_where_the_eraser_comes_near(
    start: tuple[float, float], end: tuple[float, float], chain: list[tuple[float, float]]
) -> None:
    stroke = Stroke(np.array(chain))
    distance = least_distance((start, end), chain)
    # Two small steps are at most 0.05 apart.
    assert strokes_touched(Ink((stroke,)), start, end, distance + 1e-6) == [stroke]
    if distance > 0.06:
        assert strokes_touched(Ink((stroke,)), start, end, distance - 0.05) == []


def test_crossing_a_line_between_its_points_is_touching_it() -> None:
    bar = Stroke(np.array([[0.0, 0.5], [1.0, 0.5]]))
    far = Stroke(np.array([[0.0, 0.9], [1.0, 0.9]]))
    assert strokes_touched(Ink((bar, far)), (0.4, 0.1), (0.6, 0.8), 0.01) == [bar]


@pytest.mark.parametrize("chain", [[[0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]])
def test_a_dot_is_touched_too(chain: list[list[float]]) -> None:
    stroke = Stroke(np.array(chain))
    assert strokes_touched(Ink((stroke,)), (0.5, 0.4), (0.5, 0.4), 0.11) == [stroke]
    assert strokes_touched(Ink((stroke,)), (0.5, 0.4), (0.5, 0.4), 0.09) == []
