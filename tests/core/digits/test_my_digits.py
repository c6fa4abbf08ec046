"""The user's own digits: kept, found again, corrected, and never lost, whatever else the file holds."""

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from core.digits import my_digits
from core.digits.ink import Ink, LabelledInk, Stroke, read_ink_file
from core.digits.my_digits import Added, MyDigits, MyDigitsError, Problem, key_of
from core.digits.rasterizer import rasterize
from tests.core.training.damage import files_limited_to

BROKEN = b'{"label": 12, "strokes": [[[0, 0]]]}\n'


def digit(label: int, *points: tuple[float, float]) -> LabelledInk:
    return LabelledInk(label, Ink((Stroke(np.array(points or [(label, 0.1), (2, 3.7)])),)))


@pytest.fixture
def mine(tmp_path: Path) -> MyDigits:
    return MyDigits(tmp_path / "data" / "mine.jsonl")


def labels(mine: MyDigits) -> list[int]:
    return [sample.digit.label for sample in mine.samples()]


def test_before_anything_was_drawn_there_is_nothing_and_no_file(mine: MyDigits) -> None:
    assert (mine.samples(), mine.problems(), mine.dataset()) == ([], [], None)
    assert not mine.path.exists()


def test_what_was_added_is_an_ink_file_with_every_point_as_it_was(mine: MyDigits) -> None:
    assert mine.add([digit(3), digit(4)]) == Added(2, 0)
    assert mine.add([digit(5)]) == Added(1, 0)
    for back, wanted in zip(read_ink_file(mine.path), (digit(3), digit(4), digit(5)), strict=True):
        assert back.label == wanted.label
        np.testing.assert_array_equal(back.ink.strokes[0].points, wanted.ink.strokes[0].points)


def test_the_same_drawing_is_kept_once_whatever_it_is_called_and_nothing_is_no_digit(mine: MyDigits) -> None:
    again = LabelledInk(7, digit(3).ink)
    assert mine.add([digit(3), digit(3), again, LabelledInk(1, Ink())]) == Added(1, 2)
    assert mine.add([again]) == Added(0, 1)
    assert labels(mine) == [3]


def test_strokes_cut_elsewhere_are_another_drawing() -> None:
    points = np.arange(8.0).reshape(4, 2)
    whole, cut = Ink((Stroke(points),)), Ink((Stroke(points[:2]), Stroke(points[2:])))
    assert key_of(whole) != key_of(cut)


def test_digits_are_relabelled_and_deleted_and_the_others_stay_in_their_order(mine: MyDigits) -> None:
    mine.add([digit(label) for label in (1, 2, 3, 4)])
    keys = [sample.key for sample in mine.samples()]
    mine.relabel({keys[1]: 9})
    mine.delete([keys[0], "no such key"])
    assert labels(mine) == [9, 3, 4]
    assert [sample.key for sample in mine.samples()] == keys[1:]


def test_a_broken_line_is_told_with_its_number_passed_over_and_kept_through_every_change(mine: MyDigits) -> None:
    mine.add([digit(1)])
    with mine.path.open("ab") as file:
        file.write(BROKEN + b"not json\n\n")
    mine.add([digit(2)])
    assert labels(mine) == [1, 2]
    assert [problem.line for problem in mine.problems()] == [2, 3]
    assert mine.problems()[1] == Problem(3, "this is not JSON")
    mine.delete([mine.samples()[0].key])
    assert mine.path.read_bytes().startswith(BROKEN + b"not json\n\n")
    assert labels(mine) == [2]


def test_a_line_that_a_crash_cut_off_takes_no_other_with_it(mine: MyDigits) -> None:
    mine.add([digit(1)])
    with mine.path.open("ab") as file:
        file.write(b'{"label": 2, "str')
    mine.add([digit(3)])
    assert labels(mine) == [1, 3]
    assert [problem.line for problem in mine.problems()] == [2]


def test_another_file_is_imported_without_what_is_known_or_no_digit(mine: MyDigits, tmp_path: Path) -> None:
    mine.add([digit(1)])
    other = MyDigits(tmp_path / "other.jsonl")
    other.add([digit(1), digit(2)])
    with other.path.open("ab") as file:
        file.write(BROKEN)
    before = other.path.read_bytes()
    added = mine.import_file(other.path)
    assert (added.new, added.known, [problem.line for problem in added.problems]) == (1, 1, [3])
    assert labels(mine) == [1, 2]
    assert other.path.read_bytes() == before


def test_reading_takes_no_more_memory_than_the_file_is_long(mine: MyDigits) -> None:
    mine.add([digit(3, (0, 0), (1, 1))])
    tracemalloc.start()
    try:
        assert labels(mine) == [3]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_an_exported_file_holds_all_digits_and_nothing_broken(mine: MyDigits, tmp_path: Path) -> None:
    mine.add([digit(1), digit(2)])
    with mine.path.open("ab") as file:
        file.write(BROKEN)
    out = tmp_path / "out.jsonl"
    assert mine.export_file(out) == 2
    assert [json.loads(line)["label"] for line in out.read_text().splitlines()] == [1, 2]


def test_the_dataset_holds_the_pictures_the_canvas_would_make(mine: MyDigits) -> None:
    mine.add([digit(1), digit(7, (0, 0), (9, 0), (3, 9))])
    dataset = mine.dataset()
    assert dataset is not None
    assert dataset.labels.tolist() == [1, 7]
    np.testing.assert_array_equal(dataset.images[1], rasterize(digit(7, (0, 0), (9, 0), (3, 9)).ink))


def test_what_cannot_be_written_or_read_is_a_sentence(mine: MyDigits, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(MyDigitsError, match="cannot be read"):
        MyDigits(tmp_path / "folder").samples()
    with pytest.raises(MyDigitsError, match="does not exist"):
        mine.import_file(tmp_path / "absent.jsonl")
    (tmp_path / "data").write_text("a file where the folder should be")
    with pytest.raises(MyDigitsError, match="cannot be written"):
        mine.add([digit(1)])


ADD = """
import sys; sys.path.insert(0, {root!r})
from pathlib import Path
import numpy as np
from core.digits.ink import Ink, LabelledInk, Stroke
from core.digits.my_digits import MyDigits
mine = MyDigits(Path({path!r}))
for number in range({start}, {start} + 40):
    mine.add([LabelledInk(1, Ink((Stroke(np.array([(number, 0.5), (3, 4)])),)))])
"""


def test_two_processes_that_write_at_once_lose_nothing(mine: MyDigits) -> None:
    mine.add([digit(2)])
    key = mine.samples()[0].key
    root = str(Path(__file__).resolve().parents[3])
    script = ADD.format(root=root, path=str(mine.path), start=100)
    with subprocess.Popen([sys.executable, "-c", script]) as other:
        while other.poll() is None:
            mine.relabel({key: 3})
            mine.relabel({key: 2})
    assert other.returncode == 0
    assert len(mine.samples()) == 41
    assert mine.problems() == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full here")
def test_what_is_no_file_is_neither_read_nor_written() -> None:
    for odd in ("/dev/zero", "/dev/full"):
        with pytest.raises(MyDigitsError, match="cannot be"):
            MyDigits(Path(odd)).samples()


def test_on_a_full_disk_nothing_half_is_left(mine: MyDigits, monkeypatch: pytest.MonkeyPatch) -> None:
    mine.add([digit(1)])
    before = mine.path.read_bytes()
    whole = my_digits.ink_line
    monkeypatch.setattr(my_digits, "ink_line", lambda one: whole(one) + " " * 5000)
    with files_limited_to(1000), pytest.raises(MyDigitsError, match="cannot be written"):
        mine.add([digit(2)])
    assert mine.path.read_bytes() == before
