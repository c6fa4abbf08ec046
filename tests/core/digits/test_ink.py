import gzip
import json

import numpy as np
import pytest

from core.digits import ink as ink_room
from core.digits.ink import Ink, InkFileError, Stroke, read_ink_file

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
        "[[1, 2], [3, 4, 0.5]]",
        "[[1, 2, NaN], [3, 4, null]]",
        "[[1, 2, 1e999], [3, 4, 0]]",
    ],
)
def test_what_follows_x_and_y_is_ignored(tmp_path, points):
    path = written(tmp_path / "pressure.jsonl", f'{{"label": 1, "strokes": [{points}]}}')
    (digit,) = read_ink_file(path)
    assert digit.ink.strokes[0].points.tolist() == [[1, 2], [3, 4]]


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
