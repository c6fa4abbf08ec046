"""Strokes and ink as values, and the ink file, sound and broken."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.digits import ink as ink_room
from core.digits.ink import Ink, InkFileError, LabelledInk, Stroke, ink_line, read_ink_file

GOOD_LINE = json.dumps({"label": 3, "strokes": [[[0, 1], [2.5, -3]], [[7, 7]]]})


def written(path, *lines):
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def refusal(path):
    """The message with which `path` is refused, after checking that it is one sentence that names the file."""
    with pytest.raises(InkFileError) as caught:
        read_ink_file(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert message.endswith(".")
    assert message.replace(str(path), "").count(". ") == 0
    return message


def test_a_stroke_keeps_a_read_only_copy_of_its_points():
    given = np.array([[1, 2], [3, 4]], dtype=np.float64)
    stroke = Stroke(given)
    given[0, 0] = 99
    assert stroke.points.dtype == np.float32
    assert stroke.points.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="read-only"):
        stroke.points[0, 0] = 5


@pytest.mark.parametrize("points", [np.zeros((0, 2)), np.zeros(2), np.zeros((3, 3)), np.zeros((1, 2, 2))])
def test_a_stroke_refuses_other_shapes(points):
    with pytest.raises(ValueError, match="shape"):
        Stroke(points)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e300])
def test_a_stroke_refuses_numbers_that_are_not_finite_as_float32(number):
    with pytest.raises(ValueError, match="finite"):
        Stroke(np.array([[0.0, number]]))


def test_a_stroke_keeps_times_and_pressures_read_only():
    times = np.array([0.0, 8.0])
    stroke = Stroke(np.zeros((2, 2)), times, [0.5, 1.0])
    times[0] = 5
    assert stroke.times_ms.tolist() == [0, 8]
    assert stroke.pressures.tolist() == [0.5, 1.0]
    for numbers in (stroke.times_ms, stroke.pressures):
        assert numbers.dtype == np.float32
        with pytest.raises(ValueError, match="read-only"):
            numbers[0] = 1


@pytest.mark.parametrize(
    ("times", "pressures", "complaint"),
    [
        ([0], None, "2 points"),
        ([0, np.nan], None, "finite"),
        ([0, 1e39], None, "finite"),
        ([5, 4], None, "never fall"),
        ([-1, 4], None, "from 0"),
        ([0, 1], [0.5], "2 points"),
        ([0, 1], [0.5, np.inf], "finite"),
        ([0, 1], [0.5, 1.1], "0 to 1"),
        ([0, 1], [-0.1, 1], "0 to 1"),
        (None, [0.5, 1], "times with them"),
    ],
)
def test_a_stroke_refuses_what_no_pen_can_say(times, pressures, complaint):
    with pytest.raises(ValueError, match=complaint):
        Stroke(np.zeros((2, 2)), times, pressures)


coordinates = st.floats(-(2.0**100), 2.0**100, width=32)
strokes = st.integers(1, 5).flatmap(
    lambda n: st.tuples(
        st.lists(st.tuples(coordinates, coordinates), min_size=n, max_size=n),
        st.none() | st.lists(st.floats(0, 1e6, width=32), min_size=n, max_size=n).map(sorted),
        st.none() | st.lists(st.floats(0, 1, width=32), min_size=n, max_size=n),
    )
)


@given(st.integers(0, 9), st.lists(strokes, min_size=1, max_size=3))
def test_what_is_written_is_read_bit_for_bit(tmp_path_factory, label, parts):
    given_strokes = [Stroke(np.array(p), times, pressures if times else None) for p, times, pressures in parts]
    path = tmp_path_factory.mktemp("ink") / "mine.jsonl"
    path.write_text(ink_line(LabelledInk(label, Ink(tuple(given_strokes)))) + "\n", encoding="utf-8")
    (read,) = read_ink_file(path)
    assert read.label == label
    assert len(read.ink.strokes) == len(given_strokes)
    for one, other in zip(read.ink.strokes, given_strokes, strict=True):
        for name in ("points", "times_ms", "pressures"):
            before, after = getattr(other, name), getattr(one, name)
            assert (before is None) == (after is None)
            # -0.0 is 0.0 to whoever draws it.
            assert before is None or np.array_equal(before, after)


def test_a_line_is_as_short_as_its_numbers():
    stroke = Stroke(np.array([[0.1, 0.25]]), [16], [0.7])
    line = ink_line(LabelledInk(4, Ink((stroke, Stroke(np.array([[0.1, 1 / 3]]))))))
    assert line == '{"label":4,"strokes":[[[0.1,0.25,16.0,0.7]],[[0.1,0.33333334]]]}'


def test_ink_is_empty_only_without_strokes():
    assert Ink().is_empty
    assert not Ink((Stroke(np.zeros((1, 2))),)).is_empty


@pytest.mark.parametrize("name", ["digits.jsonl", "digits.jsonl.gz", "DIGITS.JSONL.GZ"])
def test_reads_what_was_written_plain_or_packed(tmp_path, name):
    path = tmp_path / name
    data = "\n".join([GOOD_LINE, '{"label": 0, "writer": "ann", "strokes": [[[5, 6]]]}', ""]).encode()
    path.write_bytes(gzip.compress(data) if name.lower().endswith("gz") else data)
    three, nought = read_ink_file(path)
    assert (three.label, nought.label) == (3, 0)
    assert [stroke.points.tolist() for stroke in three.ink.strokes] == [[[0, 1], [2.5, -3]], [[7, 7]]]
    assert [stroke.points.tolist() for stroke in nought.ink.strokes] == [[[5, 6]]]


@pytest.mark.parametrize(
    "points",
    [
        "[[1, 2, 0.5, 99], [3, 4, 0.25, 98]]",
        "[[1, 2, 5], [3, 4, 4]]",
        "[[1, 2], [3, 4, 0.5]]",
        "[[1, 2, NaN], [3, 4, null]]",
        "[[1, 2, 1e999], [3, 4, 0]]",
    ],
)
def test_what_can_be_neither_time_nor_pressure_is_ignored(tmp_path, points):
    path = written(tmp_path / "pressure.jsonl", f'{{"label": 1, "strokes": [{points}]}}')
    (digit,) = read_ink_file(path)
    assert digit.ink.strokes[0].points.tolist() == [[1, 2], [3, 4]]
    assert digit.ink.strokes[0].times_ms is None
    assert digit.ink.strokes[0].pressures is None


@pytest.mark.parametrize(
    ("points", "times", "pressures"),
    [
        ("[[1, 2, 0], [3, 4, 9.5]]", [0, 9.5], None),
        ("[[1, 2, 0, 1], [3, 4, 9, 0]]", [0, 9], [1, 0]),
        ("[[1, 2, 0, 1, 7], [3, 4, 9, 0, 7]]", [0, 9], [1, 0]),
        ("[[1, 2, 0, 700], [3, 4, 9, 900]]", [0, 9], None),
    ],
)
def test_times_and_pressures_are_read(tmp_path, points, times, pressures):
    (digit,) = read_ink_file(written(tmp_path / "timed.jsonl", f'{{"label": 1, "strokes": [{points}]}}'))
    (stroke,) = digit.ink.strokes
    assert stroke.points.tolist() == [[1, 2], [3, 4]]
    assert stroke.times_ms.tolist() == times
    assert (None if stroke.pressures is None else stroke.pressures.tolist()) == pressures


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "not JSON"),
        ("\x00\x01", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("9" * 5000, "not JSON"),
        ("[1, 2]", "not an object"),
        ('{"strokes": [[[1, 2]]]}', '"label" is null'),
        ('{"label": 10, "strokes": [[[1, 2]]]}', '"label" is 10'),
        ('{"label": -1, "strokes": [[[1, 2]]]}', '"label" is -1'),
        ('{"label": 3.0, "strokes": [[[1, 2]]]}', '"label" is 3.0'),
        ('{"label": true, "strokes": [[[1, 2]]]}', '"label" is true'),
        ('{"label": "3", "strokes": [[[1, 2]]]}', '"label" is "3"'),
        ('{"label": 3}', '"strokes"'),
        ('{"label": 3, "strokes": []}', '"strokes"'),
        ('{"label": 3, "strokes": {"a": 1}}', '"strokes"'),
        ('{"label": 3, "strokes": [[[1, 2]], []]}', "stroke 2"),
        ('{"label": 3, "strokes": [[1, 2]]}', "stroke 1"),
        ('{"label": 3, "strokes": [[[1], [2]]]}', "stroke 1"),
        ('{"label": 3, "strokes": [[[1, 2], [3]]]}', "stroke 1"),
        ('{"label": 3, "strokes": [[[1, "2"]]]}', "stroke 1"),
        ('{"label": 3, "strokes": [["12", "34"]]}', "stroke 1"),
        ('{"label": 3, "strokes": [[[1, null]]]}', "stroke 1"),
        ('{"label": 3, "strokes": [[[true, false]]]}', "stroke 1"),
        ('{"label": 3, "strokes": [[[[1, 2], [3, 4]]]]}', "stroke 1"),
        ('{"label": 3, "strokes": [{"x": 1}]}', "stroke 1"),
        ('{"label": 3, "strokes": [7]}', "stroke 1"),
        ('{"label": 3, "strokes": [[[1, NaN]]]}', "finite"),
        ('{"label": 3, "strokes": [[[1, -Infinity]]]}', "finite"),
        ('{"label": 3, "strokes": [[[1, 1e39]]]}', "finite"),
        (f'{{"label": 3, "strokes": [[[1, {"9" * 400}]]]}}', "finite"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path, line, complaint):
    message = refusal(written(tmp_path / "bad.jsonl", GOOD_LINE, "", line, GOOD_LINE))
    assert "line 3:" in message
    assert complaint in message
    assert "correct or delete" in message


def test_bytes_that_are_not_text_are_refused(tmp_path):
    path = tmp_path / "bytes.jsonl"
    path.write_bytes(b'{"label": 3, "strokes": "\xff\xfe"}\n')
    assert "line 1: this is not JSON" in refusal(path)


def test_an_overlong_line_is_refused_without_reading_on(tmp_path, monkeypatch):
    monkeypatch.setattr(ink_room, "MAX_LINE_BYTES", 1000)
    message = refusal(written(tmp_path / "long.jsonl", GOOD_LINE, "[" + " " * 1000, "{"))
    assert "line 2" in message
    assert "longer than 1,000 bytes" in message


def test_a_line_of_exactly_the_limit_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(ink_room, "MAX_LINE_BYTES", len(GOOD_LINE) + 1)
    assert len(read_ink_file(written(tmp_path / "just.jsonl", GOOD_LINE, GOOD_LINE))) == 2


def test_more_digits_than_the_limit_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(ink_room, "MAX_DIGITS", 2)
    assert len(read_ink_file(written(tmp_path / "two.jsonl", GOOD_LINE, GOOD_LINE))) == 2
    assert "more than 2 digits" in refusal(written(tmp_path / "three.jsonl", *[GOOD_LINE] * 3))
    assert "more than 2 digits or lines" in refusal(written(tmp_path / "blank.jsonl", GOOD_LINE, "", GOOD_LINE))


def test_a_digit_of_more_strokes_than_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(ink_room, "MAX_STROKES", 3)
    lines = ['{"label": 3, "strokes": [' + ", ".join(["[[1, 2]]"] * count) + "]}" for count in (3, 4)]
    assert len(read_ink_file(written(tmp_path / "few.jsonl", lines[0]))[0].ink.strokes) == 3
    assert "at most 3 strokes" in refusal(written(tmp_path / "many.jsonl", lines[1]))


@pytest.mark.parametrize("filler", [b" " * 10 + b"\n", b" " * 1000 + b"\n"])
def test_a_small_file_that_unpacks_to_very_much_is_refused_before_all_of_it_is_read(tmp_path, filler):
    path = tmp_path / "bomb.jsonl.gz"
    # The rubbish behind it would be complained of, if it were come to.
    path.write_bytes(gzip.compress(filler * (3 * 2**20 // len(filler))) + b"rubbish")
    assert "unpacks to more than 10 times its size" in refusal(path)


def test_ink_that_packs_well_is_read_while_it_is_short(tmp_path):
    path = tmp_path / "alike.jsonl.gz"
    path.write_bytes(gzip.compress(f"{GOOD_LINE}\n".encode() * 5000))
    assert path.stat().st_size * 10 < len(GOOD_LINE) * 5000
    assert len(read_ink_file(path)) == 5000


@pytest.mark.parametrize("text", ["", "\n", " \n\n"])
def test_a_file_without_digits_is_refused(tmp_path, text):
    assert "no digits" in refusal(written(tmp_path / "empty.jsonl", text))


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    assert "does not exist" in refusal(tmp_path / "absent.jsonl")
    assert "does not exist" in refusal(tmp_path / "absent.jsonl.gz")
    assert "folder" in refusal(tmp_path)


def test_a_gz_file_that_is_not_gzip_or_cut_short_is_refused(tmp_path):
    plain = written(tmp_path / "plain.gz", GOOD_LINE)
    assert "not gzip" in refusal(plain)
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress("\n".join([GOOD_LINE] * 50).encode())[:-12])
    assert "ends early" in refusal(cut)
    garbled = bytearray(gzip.compress(GOOD_LINE.encode()))
    garbled[10] = 0xFF  # the first byte after the header: a kind of block that does not exist
    cut.write_bytes(garbled)
    assert "damaged" in refusal(cut)
