"""Whether a window can open is found out before Qt is asked, on real sockets, libraries and processes."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gui import startup_check
from gui.startup_check import why_no_window

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux is looked at")

PROJECT = Path(__file__).resolve().parents[2]


def start_program(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    screenless = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    return subprocess.run(
        [sys.executable, "main.py"],
        cwd=PROJECT,
        env=screenless | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"DISPLAY": ":4711"},
        {"QT_QPA_PLATFORM": "xcb"},
        {"WAYLAND_DISPLAY": "wayland-77"},
        {"QT_QPA_PLATFORM": "wayland;xcb"},
        {"QT_QPA_PLATFORM": "wayland", "DISPLAY": ":4711"},
    ],
    ids=[
        "no display",
        "a display that is not there",
        "xcb without a display",
        "a dead compositor",
        "a list of platforms",
        "wayland alone, without a compositor",
    ],
)
def test_without_a_screen_the_program_ends_with_one_sentence(environment: dict[str, str]) -> None:
    run = start_program(environment)
    assert run.returncode == 2
    assert run.stdout == ""
    assert len(run.stderr.splitlines()) == 1
    assert "display" in run.stderr
    assert "uv run main.py train" in run.stderr


def test_a_chosen_platform_that_needs_no_screen_is_taken_at_its_word() -> None:
    assert why_no_window({"QT_QPA_PLATFORM": "offscreen"}) is None
    assert why_no_window({"QT_QPA_PLATFORM": "vnc:size=800x600"}) is None


def test_a_missing_library_is_named_by_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup_check, "QT_LIBRARIES", {"libc.so.6": "libc6", "libabsent-inkling.so.1": "libabsent1"})
    reason = why_no_window({"QT_QPA_PLATFORM": "offscreen"})
    assert reason is not None
    assert "sudo apt-get install libabsent1" in reason
    assert "libc6" not in reason


def test_x11_libraries_are_wanted_only_where_x11_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(startup_check, "X11_LIBRARIES", {"libabsent-inkling.so.1": "libxcb-cursor0"})
    reason = why_no_window({"DISPLAY": ":4711"})
    assert reason is not None
    assert "libxcb-cursor0" in reason
    with socket.socket(socket.AF_UNIX) as compositor:
        compositor.bind(str(tmp_path / "wayland-0"))
        compositor.listen()
        wayland = {"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": str(tmp_path), "DISPLAY": ":4711"}
        assert why_no_window(wayland) is None
