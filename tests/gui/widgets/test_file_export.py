"""Files of what is shown: figures that programs can read, pictures twice as sharp, and never half a file."""

import csv
import io
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gui.widgets.file_export import as_csv, as_png, as_svg, write
from gui.widgets.series_plot import Series, SeriesPlot, View


def test_rows_come_back_from_csv_as_they_went() -> None:
    text = as_csv([["device", "seconds"], ["CPU, 2 threads", 0.25], ['a "fast" one', 3]])
    assert list(csv.reader(io.StringIO(text))) == [
        ["device", "seconds"],
        ["CPU, 2 threads", "0.25"],
        ['a "fast" one', "3"],
    ]


def test_a_spreadsheet_gets_tabs() -> None:
    assert as_csv([["a", "b"], [1, 2.5]], "\t") == "a\tb\n1\t2.5\n"


def test_a_picture_is_twice_as_large_as_what_is_seen_and_shows_it(qtbot: QtBot) -> None:
    label = QLabel()
    qtbot.addWidget(label)
    label.setStyleSheet("background: #ff0000")
    label.resize(40, 20)
    picture = QImage.fromData(as_png(label), "PNG")
    assert (picture.width(), picture.height()) == (80, 40)
    assert picture.pixelColor(40, 20).name() == "#ff0000"


def test_a_file_is_replaced_only_when_the_new_one_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "figures.csv"
    path.write_bytes(b"old")
    assert write(str(path), b"new\n") == (True, f"Saved {path}.")
    assert path.read_bytes() == b"new\n"
    assert [file.name for file in tmp_path.iterdir()] == ["figures.csv"]


@pytest.mark.parametrize("place", ["no-such-folder/figures.csv", "."])
def test_where_nothing_can_be_written_the_reason_is_told(tmp_path: Path, place: str) -> None:
    path = str(tmp_path / place)
    saved, sentence = write(path, b"new")
    assert not saved
    assert sentence.startswith(f"{path} could not be saved (")
    assert sentence.endswith("); choose another folder or free some space.")
    assert "()" not in sentence
    assert list(tmp_path.iterdir()) == []


def test_a_drawing_is_made_of_letters_and_lines(qtbot: QtBot) -> None:
    plot = SeriesPlot("Accuracy", "Seconds")
    qtbot.addWidget(plot)
    plot.resize(400, 300)
    plot.show_series([Series("Mine", "run 3", [0.0, 1.0], [0.0, 1.0])], View((0.0, 1.0), (0.0, 1.0)))
    plot.show()
    drawing = as_svg(plot)
    assert QSvgRenderer(drawing).isValid()
    words = [text for text in ElementTree.fromstring(drawing).itertext() if text.strip()]
    assert {"Accuracy", "Mine", "Seconds"} <= {text.strip() for text in words}
