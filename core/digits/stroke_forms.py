"""The forms in which people write the ten digits, as the few points a pen passes through: a table of our own drawing.

A form is a name, a weight (how common it is beside the other forms of its digit) and its strokes, with a / between two.
A stroke is points "x y" in hundredths of the digit's height, x to the right and y down, in the order of writing:
"25 30, 58 0^, 54 100" is a 1 with an upstroke. The pen passes through the points in a smooth curve, but for points
marked ^, where it turns sharply. A digit about fills the box from 0 to 100 both ways, unless it is a narrow one.

core.digits.synthetic_ink bends these forms at random, so none is here twice for being slanted or narrow, nor for the
order and direction of its strokes, unless another order joins them differently.
"""

from dataclasses import dataclass

import numpy as np

from core.device import HostArray


@dataclass(frozen=True, eq=False)
class Skeleton:
    """One stroke: points float64 (k, 2), k at least 2, 1.0 being the digit's height; bool (k,) which are corners."""

    points: HostArray
    corners: HostArray


@dataclass(frozen=True)
class Form:
    """One way to draw `digit`, or what is none; `weight` above 0 says how common it is among the forms of its kind."""

    digit: int
    name: str
    weight: float
    strokes: tuple[Skeleton, ...]


def form(digit: int, name: str, weight: float, strokes: str) -> Form:
    """A row of a table, `strokes` in the words this room's plate explains."""
    return Form(digit, name, weight, tuple(map(_skeleton, strokes.split("/"))))


def _skeleton(text: str) -> Skeleton:
    points = text.split(",")
    numbers = [[float(number) / 100 for number in point.rstrip("^").split()] for point in points]
    return Skeleton(np.array(numbers), np.array([point.endswith("^") for point in points]))


_ZERO = [
    ("from the top, anticlockwise", 5, "58 2, 30 6, 10 48, 26 90, 52 100, 80 84, 90 46, 76 10, 50 1, 40 4"),
    ("clockwise", 2, "42 2, 70 6, 90 48, 76 90, 50 100, 20 84, 10 46, 24 10, 48 1, 58 4"),
    ("narrow", 2, "54 0, 34 14, 26 52, 36 90, 52 100, 70 84, 76 46, 66 10, 52 0"),
    ("open at the top", 2, "66 8, 40 2, 14 36, 20 80, 50 100, 80 84, 90 46, 84 14"),
    ("from the side", 1, "84 26, 62 2, 26 12, 10 52, 30 94, 66 96, 88 64, 86 34, 78 18"),
    ("curled in at the end", 2, "52 2, 24 12, 10 50, 28 92, 56 99, 84 78, 88 38, 68 8, 44 6, 34 20"),
    ("begun inside", 1, "72 26, 48 16, 22 18, 10 52, 30 94, 62 98, 88 68, 84 26, 58 0, 34 6"),
    ("with a tail", 2, "60 3, 30 6, 10 48, 26 90, 52 100, 80 84, 88 46, 72 14, 50 3, 66 4, 96 -6"),
    ("crossed at the top", 1, "38 -7, 76 14, 88 54, 66 94, 34 96, 12 60, 22 16, 66 -7"),
    ("spiralling in", 1, "6 32, 34 6, 72 6, 94 44, 74 90, 40 100, 18 76, 28 48, 60 34"),
    ("in two strokes", 1, "54 0, 24 12, 10 50, 26 90, 52 100 / 48 1, 78 12, 90 48, 76 88, 46 100"),
    ("slashed", 3, "58 2, 30 6, 12 48, 26 90, 52 100, 78 84, 88 46, 76 10, 50 1, 40 4 / 86 2, 16 98"),
    ("slashed inside", 2, "58 2, 30 6, 10 48, 26 90, 52 100, 80 84, 90 46, 76 10, 50 1, 40 4 / 68 22, 34 78"),
    ("slashed backwards", 0.5, "58 2, 30 6, 10 48, 26 90, 52 100, 80 84, 90 46, 76 10, 50 1 / 22 8, 80 92"),
    ("slashed in one stroke", 1, "54 2, 26 8, 10 50, 28 92, 56 98, 86 74, 86 34, 66 6, 50 2, 74 4^, 20 92"),
    ("dotted", 1, "58 2, 30 6, 10 48, 26 90, 52 100, 80 84, 90 46, 76 10, 50 1, 40 4 / 49 48, 52 54"),
]

_ONE = [
    ("a bar", 4, "50 0, 50 100"),
    ("a bent bar", 1, "54 0, 47 48, 50 100"),
    ("with a short upstroke", 5, "32 22, 55 0^, 52 100"),
    ("with an upstroke", 6, "22 34, 56 0^, 52 100"),
    ("with a long upstroke", 4, "8 46, 56 0^, 53 100"),
    ("with a steep upstroke", 3, "26 62, 54 0^, 52 100"),
    ("with a steep and short upstroke", 2, "38 44, 55 0^, 50 100"),
    ("with a hollow upstroke", 3, "12 36, 38 26, 58 0^, 53 100"),
    ("with an arched upstroke", 3, "16 36, 34 12, 56 0^, 52 100"),
    ("with a rounded top", 2, "22 38, 38 14, 54 1, 60 14, 56 50, 50 100"),
    ("with a hook before the upstroke", 1.5, "20 24, 16 34, 32 26, 56 0^, 52 100"),
    ("with the upstroke along the stem", 2, "40 48, 47 24, 54 0^, 50 50, 47 100"),
    ("with a looped upstroke", 1, "46 30, 32 38, 34 24, 56 0^, 52 100"),
    ("with an upstroke, bent to the left", 2, "20 32, 58 0^, 60 50, 54 84, 36 98"),
    ("with an upstroke, bent to the right", 0.7, "28 26, 52 0^, 49 50, 51 92, 60 98"),
    ("with a low and long upstroke", 1, "0 56, 30 46, 66 8^, 52 92"),
    ("with a hook before a steep upstroke", 1.5, "38 36, 34 44, 44 36, 56 0^, 50 100"),
    ("with a low hook before the upstroke", 1, "38 42, 33 52, 43 45, 58 0^, 49 100"),
    ("with the upstroke apart", 1.5, "54 0, 51 100 / 53 1, 40 18, 24 32"),
    ("a bar with a foot", 1.5, "50 0, 50 100 / 18 100, 82 99"),
    ("with an upstroke and a foot", 4, "22 28, 53 0^, 52 98 / 16 99, 88 98"),
    ("with a flat upstroke and a foot", 1, "24 16, 55 1^, 52 97 / 14 96, 90 95"),
    ("with a short upstroke and a foot", 2, "34 16, 53 0^, 52 98 / 20 98, 84 99"),
    ("with an upstroke and a foot in one stroke", 2, "26 26, 53 0^, 51 98^, 18 98^, 88 97"),
    ("with an upstroke and a high foot", 1.5, "26 26, 53 0^, 51 100 / 8 93, 96 91"),
    ("with a looped upstroke and a foot", 2, "48 28, 32 38, 32 22, 55 0^, 54 40, 50 96 / 14 98, 94 95"),
    ("with a long upstroke and a foot", 1.5, "10 40, 54 0^, 53 98 / 24 99, 84 98"),
    ("in three strokes", 1, "53 0, 52 98 / 52 1, 28 24 / 20 99, 86 98"),
]

_TWO = [
    ("round, with a straight base", 5, "12 24, 32 3, 62 2, 82 24, 66 54, 10 98^, 90 97"),
    ("swan", 3, "14 22, 44 0, 78 20, 60 60, 10 99^, 50 92, 92 99"),
    ("looped", 4, "12 24, 44 0, 80 20, 62 60, 26 94, 8 86, 26 76, 58 92, 96 92"),
    ("with a small loop", 2, "14 22, 46 0, 78 20, 58 62, 20 96, 12 90, 24 86, 56 96, 92 92"),
    ("angular", 2, "12 4, 84 3^, 12 97^, 92 97"),
    ("with a rounded corner", 2, "10 8, 64 1, 84 14, 64 42, 12 97^, 92 97"),
    ("curled at the start", 2, "32 30, 14 24, 28 4, 60 0, 82 22, 66 54, 10 98^, 90 97"),
    ("closed at the start", 1, "44 26, 24 34, 16 18, 42 0, 78 16, 66 52, 10 98^, 92 96"),
    ("without a corner", 1.5, "12 24, 44 0, 80 22, 56 62, 22 88, 36 98, 92 94"),
    ("with a hook at the end", 1, "14 22, 44 0, 78 20, 62 56, 12 97^, 64 92, 82 96, 86 110"),
    ("with a long base", 2, "14 22, 42 1, 70 20, 54 58, 8 98^, 124 96"),
    ("with a short base", 1, "12 24, 44 0, 82 22, 66 58, 30 96^, 78 97"),
    ("with a steep neck", 1, "8 28, 34 0, 62 14, 54 56, 32 98^, 92 95"),
    ("with a small head", 1.5, "24 22, 34 5, 52 3, 58 17, 44 60, 14 98^, 92 94"),
    ("with a knot at the start", 0.7, "48 20, 38 10, 52 1, 62 16, 46 60, 10 97^, 90 95"),
    ("with the base apart", 0.7, "12 24, 44 0, 80 22, 60 58, 12 96 / 10 97, 92 97"),
]

_THREE = [
    ("round", 5, "12 12, 44 0, 76 20, 40 46^, 84 70, 54 100, 8 88"),
    ("with a pointed waist", 2, "14 8, 50 0, 74 22, 30 50^, 70 54, 84 76, 52 100, 8 94"),
    ("with a loop at the waist", 2, "12 10, 48 0, 74 20, 52 46, 34 46, 48 41, 84 70, 52 100, 8 87"),
    ("with a soft waist", 2, "14 10, 48 0, 76 18, 57 44, 82 70, 56 98, 10 92"),
    ("flat-topped", 3, "12 3, 80 3^, 40 42^, 72 48, 86 72, 56 100, 8 90"),
    ("flat-topped with a short neck", 1.5, "14 4, 78 2^, 50 36^, 84 62, 62 98, 10 96"),
    ("curled at both ends", 2, "24 26, 12 16, 38 0, 76 18, 42 46^, 86 72, 52 100, 12 90, 18 76"),
    ("small above", 2, "22 12, 46 0, 66 14, 42 34^, 88 60, 60 100, 6 90"),
    ("small below", 1.5, "10 14, 46 0, 84 26, 44 58^, 76 76, 50 100, 12 92"),
    ("with a long tail", 1, "16 8, 50 0, 74 20, 44 44^, 80 60, 66 86, 10 106"),
    ("in two strokes", 1, "14 8, 50 0, 76 20, 44 44 / 42 46, 84 68, 54 100, 8 90"),
    ("square", 0.7, "14 4, 78 4^, 76 46^, 34 48^, 80 50^, 78 96^, 10 96"),
    ("flat-topped, with hardly a waist", 1, "14 12, 48 2, 72 8, 52 36, 65 52, 63 76, 14 98"),
    ("with hardly a waist", 1.5, "20 20, 28 6, 54 0, 66 16, 50 42, 62 52, 70 72, 54 96, 16 98"),
]

_FOUR = [
    ("open, straight", 5, "30 2, 10 58^, 90 58 / 68 16, 62 100"),
    ("open, upright", 2, "18 2, 14 52^, 86 52 / 78 0, 76 100"),
    ("open, with a short stem", 4, "46 0, 12 66^, 84 64 / 64 42, 58 100"),
    ("open, with a stem hung below", 1.5, "40 0, 10 58^, 78 56 / 60 50, 54 104"),
    ("open, round", 3, "26 2, 14 42, 28 60, 86 54 / 72 8, 62 100"),
    ("open, drawn out", 1.5, "34 0, 8 66^, 120 60 / 74 30, 64 100"),
    ("closed", 4, "60 0, 8 66^, 94 66 / 62 0, 60 100"),
    ("closed in one stroke", 2, "60 100, 62 0^, 8 65^, 94 65"),
    ("closed with a slanted top", 1.5, "70 2, 10 62^, 90 58 / 72 2, 58 100"),
    ("leaning open", 1.5, "52 2, 8 66^, 92 62 / 76 10, 60 100"),
    ("in one stroke, open", 2, "26 2, 12 54^, 62 52, 74 14^, 62 100"),
    ("in one stroke, round", 2, "24 4, 16 40, 40 54, 76 24^, 62 62, 56 100"),
    ("in one stroke, looped", 1.5, "34 0, 10 58, 24 66, 76 46, 80 22^, 62 100"),
    ("closed round", 1, "66 2, 12 52, 24 66, 92 56 / 68 2, 62 100"),
    ("with a foot", 0.6, "58 0, 8 64^, 92 64 / 62 0, 62 98 / 40 99, 86 98"),
    ("with the stem bent", 1, "28 2, 12 56^, 86 54 / 72 14, 66 66, 52 98, 40 96"),
    ("narrow, with a short stem", 4, "46 0, 26 72^, 70 66 / 66 48, 58 100"),
    ("narrow, round, with a short stem", 3, "40 0, 22 50, 30 72, 68 62 / 68 50, 56 100"),
    ("narrow, in one stroke", 3, "46 0, 24 72^, 54 68, 68 48^, 58 100"),
    ("narrow, with a low bar", 2, "38 0, 24 80^, 66 76 / 60 58, 56 104"),
    ("leaning, narrow", 2, "62 0, 26 50^, 74 44 / 70 22, 44 100"),
    ("leaning, closed", 1.5, "62 0, 26 48^, 78 40 / 66 6, 46 100"),
    ("leaning, in one stroke", 2, "62 0, 22 53^, 48 54, 77 24^, 48 100"),
]

_FIVE = [
    ("in two strokes", 5, "26 5, 20 44^, 54 36, 86 66, 56 100, 10 90 / 25 4, 86 3"),
    ("in one stroke", 5, "84 3, 28 4^, 20 44^, 54 36, 86 66, 56 100, 10 90"),
    ("soft", 3, "84 5, 38 4, 22 28, 50 42, 80 66, 52 100, 10 92"),
    ("with the bar apart", 2, "24 6, 20 46^, 56 38, 84 66, 54 100, 10 92 / 40 -2, 94 -5"),
    ("with a long bar", 2, "28 6, 20 46^, 56 38, 78 66, 50 100, 8 94 / 26 4, 122 0"),
    ("narrow, with a long bar", 1.5, "32 6, 26 40^, 60 36, 66 62, 44 92, 14 98 / 24 6, 108 2"),
    ("with the stem above the bar", 1, "28 -6, 20 46^, 56 38, 84 66, 54 100, 10 92 / 26 8, 86 5"),
    ("with a flat belly", 2, "82 3, 28 4^, 22 46^, 66 50, 74 80, 44 98, 6 98"),
    ("with a nearly closed belly", 1.5, "84 3, 30 4^, 22 42^, 58 36, 84 68, 54 100, 22 94, 14 80"),
    ("square", 0.8, "84 4, 22 4^, 20 46^, 82 48^, 80 96^, 10 96"),
    ("with a short neck", 1.5, "80 2, 34 2^, 26 30^, 60 26, 88 62, 56 100, 8 92"),
    ("with a small belly", 1, "80 2, 30 3^, 20 56^, 52 50, 72 74, 48 100, 10 94"),
    ("with the neck retraced", 1, "26 5, 20 50^, 26 38, 60 36, 86 66, 54 100, 8 92 / 26 5, 88 6"),
]

_SIX = [
    ("with a straight stem", 4, "62 0, 28 44, 15 80, 44 100, 78 80, 56 56, 18 74"),
    ("curved", 5, "80 8, 46 10, 14 60, 40 100, 82 78, 56 52, 18 70"),
    ("with a small loop", 3, "56 0, 24 50, 16 86, 42 100, 64 84, 46 68, 18 84"),
    ("with a large loop", 2, "72 2, 30 18, 8 60, 44 100, 92 68, 56 36, 12 60"),
    ("open", 2, "66 0, 24 40, 14 80, 44 100, 78 80, 62 58, 42 66"),
    ("crossing its stem", 2, "60 0, 28 46, 18 84, 46 100, 76 78, 52 58, -2 78"),
    ("curled in", 1.5, "64 0, 24 46, 22 92, 58 98, 78 74, 54 56, 30 70, 40 84"),
    ("in two strokes", 1, "70 4, 24 40, 18 84, 50 100 / 18 66, 54 50, 82 74, 50 100"),
    ("with a hook on top", 1.5, "86 20, 68 2, 32 24, 14 68, 42 100, 80 78, 54 54, 18 70"),
    ("leaning back", 1, "44 0, 18 50, 22 92, 54 100, 80 78, 54 58, 20 76"),
    ("with a flat loop", 1.5, "68 0, 26 50, 12 86, 44 100, 94 88, 58 66, 14 84"),
    ("with a pointed foot", 1, "60 0, 12 96^, 66 92, 80 70, 54 58, 20 78"),
    ("crossing its stem, with a small loop", 2, "78 4, 50 12, 38 50, 42 92, 56 99, 66 84, 50 70, 8 75"),
]

_SEVEN = [
    ("plain", 4, "10 5, 88 5^, 45 100"),
    ("with a bent stem", 3, "10 6, 88 4^, 60 44, 46 100"),
    ("with a serif", 2, "10 24, 13 5^, 88 5^, 46 100"),
    ("with a wavy top", 2, "8 14, 28 2, 58 9, 90 2^, 56 50, 44 100"),
    ("with a rounded corner", 2, "12 10, 56 2, 82 6, 74 34, 48 100"),
    ("with an upright stem", 1, "8 6, 80 4^, 68 100"),
    ("with a falling top", 0.7, "10 0, 86 10^, 50 100"),
    ("in two strokes", 1, "10 5, 84 5 / 86 3, 46 100"),
    ("with a small hook below", 0.7, "10 8, 84 4^, 52 62, 44 92, 50 100"),
    ("barred", 5, "12 5, 86 4^, 44 100 / 28 50, 86 48"),
    ("barred, with a bent stem", 4, "12 6, 84 4^, 58 46, 46 100 / 30 54, 90 50"),
    ("barred, with a serif", 2, "12 24, 14 5^, 86 5^, 46 100 / 30 52, 84 50"),
    ("barred, with a wavy top", 3, "8 16, 26 3, 56 10, 84 2^, 56 50, 44 100 / 26 56, 92 48"),
    ("barred, with a rounded corner", 3, "14 12, 50 2, 78 6, 74 30, 46 100 / 24 54, 92 52"),
    ("barred low", 2, "14 6, 80 4^, 56 50, 36 100 / 14 66, 94 60"),
    ("barred long", 2, "18 8, 78 4^, 46 100 / 4 56, 112 50"),
    ("barred falling", 1.5, "12 6, 84 4^, 46 100 / 34 40, 88 62"),
    ("barred short", 1.5, "10 5, 86 4^, 46 100 / 48 48, 80 50"),
    ("barred, with an upright stem", 1, "12 8, 76 4^, 72 40, 60 100 / 40 52, 96 50"),
    ("barred, with a hooked bar", 1, "14 12, 48 2, 78 6, 72 34, 44 100 / 24 58, 60 50, 88 52, 90 62"),
    ("barred low, with a hook and a rounded corner", 3, "14 26, 22 6, 54 2, 72 12, 66 40, 52 100 / 26 70, 92 64"),
    ("barred to the right", 2, "14 20, 20 6, 54 2, 74 10, 68 40, 46 98 / 42 62, 108 60"),
    ("barred at the foot", 1, "12 10, 60 2, 76 10, 62 50, 48 102 / 30 74, 92 72"),
    ("barred, with a hook before the bar", 1.5, "14 22, 22 6, 54 2, 74 12, 68 40, 50 100 / 26 76, 30 63, 60 59, 92 55"),
]

_EIGHT = [
    ("from the right", 5, "78 14, 46 0, 20 20, 50 46, 82 74, 50 100, 18 76, 46 50, 76 24, 74 8"),
    ("from the top, anticlockwise", 4, "50 0, 22 20, 50 46, 84 74, 50 100, 16 74, 50 46, 78 20, 50 0"),
    ("from the top, clockwise", 2, "48 0, 78 20, 50 46, 16 74, 50 100, 84 74, 50 46, 22 20, 54 0"),
    ("from the middle", 1.5, "50 46, 22 22, 50 0, 78 22, 50 46, 16 74, 50 100, 84 74, 52 48"),
    ("of two rings", 2.5, "50 0, 24 22, 50 46, 76 22, 50 0 / 50 46, 18 74, 50 100, 82 74, 50 46"),
    ("open above", 2, "68 8, 42 2, 22 20, 50 46, 80 74, 50 100, 20 76, 46 50, 90 6"),
    ("open to the left", 1.5, "24 22, 46 0, 76 16, 50 46, 18 74, 48 100, 82 76, 52 50, 28 30"),
    ("with a tail", 1.5, "66 4, 38 2, 22 20, 50 48, 80 76, 50 100, 20 78, 48 48, 74 22, 66 4, 86 -8"),
    ("angular", 1.5, "74 4, 24 10, 30 26, 76 84, 66 98, 28 94, 30 78, 78 16, 72 4"),
    ("small above", 2, "58 6, 44 0, 34 14, 50 32, 86 68, 50 100, 14 68, 46 34, 64 14, 56 4"),
    ("small below", 1.5, "80 14, 48 0, 16 26, 50 58, 70 80, 50 100, 30 82, 50 58, 82 28, 76 10"),
    ("slender", 1.5, "72 10, 54 0, 34 18, 50 46, 66 78, 48 100, 32 80, 50 46, 72 20, 70 8"),
    ("slanted and straight", 1.5, "84 10, 56 0, 32 18, 56 50, 66 80, 44 100, 26 82, 84 12"),
    ("from an S", 1, "74 12, 46 0, 24 20, 50 46, 78 76, 46 100, 18 78 / 18 78, 46 50, 76 26, 74 12"),
    ("with a narrow foot", 1.5, "76 14, 52 0, 30 18, 46 42, 58 80, 48 100, 40 84, 56 46, 74 18, 70 6"),
]

_NINE = [
    ("with a straight stem", 5, "78 14, 44 2, 16 30, 44 52, 78 18^, 72 100"),
    ("with a stem apart from its ring", 2, "50 0, 20 24, 48 50, 78 26, 50 0 / 80 4, 72 100"),
    ("with a bent stem", 4, "78 16, 44 2, 16 30, 44 52, 78 20, 78 66, 34 100"),
    ("open", 2, "68 6, 34 8, 18 32, 44 48, 76 18^, 70 100"),
    ("begun inside", 1.5, "54 28, 76 12, 44 0, 18 26, 44 48, 80 18, 72 100"),
    ("slanted", 2, "84 12, 50 2, 26 30, 52 42, 84 12^, 34 100"),
    ("angular", 1, "74 6, 26 20^, 22 46, 70 40, 78 6^, 70 100"),
    ("with a foot to the right", 0.6, "78 14, 44 2, 16 28, 44 50, 78 18^, 70 88, 80 98, 96 90"),
    ("begun clockwise", 1, "20 40, 24 8, 56 0, 78 22, 58 48, 28 46, 18 30 / 79 14, 72 100"),
    ("curled", 5, "76 14, 44 0, 16 26, 44 48, 78 18, 84 70, 50 100, 12 86"),
    ("hooked", 3, "78 14, 44 2, 18 28, 46 48, 80 16^, 76 80, 54 98, 16 94"),
    ("with a flat foot", 2, "76 12, 46 0, 20 24, 46 44, 78 16^, 76 94^, 12 94"),
    ("curled, with a small ring", 4, "60 14, 42 0, 28 16, 44 32, 64 12, 84 62, 52 100, 8 90"),
    ("curled, with a narrow ring", 2, "66 12, 34 2, 22 22, 44 34, 68 14, 74 60, 54 96, 8 96"),
    ("curled, with a knot", 2, "52 22, 66 6, 40 0, 30 18, 50 34, 70 22, 82 66, 50 100, 10 88"),
    ("curled, angular", 1.5, "72 10, 34 4, 24 26, 66 28, 78 8^, 80 60, 54 98, 6 92"),
    ("curled, its ring to the left", 3, "58 12, 40 0, 24 14, 36 32, 56 22, 61 8, 56 28, 84 70, 56 98, 6 92"),
    ("curled, with a tiny ring", 2, "60 12, 46 0, 34 10, 42 24, 56 18, 62 10, 58 28, 82 66, 60 94, 6 96"),
    ("with a tiny ring and a flat foot", 2, "58 8, 38 0, 24 16, 36 32, 56 20, 62 4, 55 34, 82 84, 70 95, 8 95"),
    ("curled, with a tangled ring", 1.5, "48 18, 60 8, 44 0, 33 13, 50 27, 62 10, 58 30, 84 70, 52 98, 6 94"),
    ("sweeping", 2, "80 4, 54 2, 42 15, 60 22, 86 4^, 64 54, 6 96"),
]

_TABLE = (_ZERO, _ONE, _TWO, _THREE, _FOUR, _FIVE, _SIX, _SEVEN, _EIGHT, _NINE)

FORMS: tuple[tuple[Form, ...], ...] = tuple(
    tuple(form(digit, *row) for row in rows) for digit, rows in enumerate(_TABLE)
)
"""All forms, by digit."""
