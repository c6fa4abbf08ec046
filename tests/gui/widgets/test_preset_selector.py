"""The choice of a recipe: every preset is there, and choosing tells its name and its lesson."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.training.presets import PRESETS
from gui.widgets.preset_selector import PresetSelector

FIRST, SECOND = list(PRESETS)[:2]


@pytest.fixture
def selector(qtbot: QtBot) -> PresetSelector:
    selector = PresetSelector()
    qtbot.addWidget(selector)
    selector.show()
    return selector


def test_every_preset_is_there_with_its_title_and_its_lesson(selector: PresetSelector) -> None:
    assert [selector.itemText(row) for row in range(selector.count())] == [p.title for p in PRESETS.values()]
    assert PRESETS[SECOND].lesson[:30] in selector.itemData(1, Qt.ItemDataRole.ToolTipRole)
    assert PRESETS[FIRST].lesson[:30] in selector.toolTip()


def test_choosing_emits_the_name_and_shows_the_lesson(qtbot: QtBot, selector: PresetSelector) -> None:
    with qtbot.waitSignal(selector.preset_selected, check_params_cb=lambda name: name == SECOND):
        qtbot.keyClick(selector, Qt.Key.Key_Down)
    assert selector.selected_name() == SECOND
    assert PRESETS[SECOND].lesson[:30] in selector.toolTip()


def test_select_by_name(qtbot: QtBot, selector: PresetSelector) -> None:
    selector.select(SECOND)
    assert selector.selected_name() == SECOND
    with qtbot.assertNotEmitted(selector.preset_selected):
        selector.select(SECOND)
    with pytest.raises(ValueError, match="no preset 'nonsense'"):
        selector.select("nonsense")


def test_names_for_tests_and_screen_readers(selector: PresetSelector) -> None:
    assert selector.objectName() == "presetSelector"
    assert selector.accessibleName()
