"""The front door: a command word goes to the command line, no word to the window, and neither loads the other's rooms.

Each test starts a process of its own, for what is imported can only be seen in a fresh one.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WITHOUT_SCREEN = {
    name: value
    for name, value in os.environ.items()
    if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "XDG_RUNTIME_DIR")
}


def python(script: str, *words: str, env: dict[str, str] = WITHOUT_SCREEN) -> subprocess.CompletedProcess[str]:
    """Run `script` where main can be imported, with `words` as the user's."""
    script = f"import sys\nsys.argv = ['main.py', *{words!r}]\nsys.path.insert(0, {str(ROOT)!r})\n{script}"
    return subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60)


def main_py(*words: str, env: dict[str, str] = WITHOUT_SCREEN) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "main.py"), *words]
    return subprocess.run(command, env=env, cwd="/", capture_output=True, text=True, timeout=60)


def test_a_command_word_needs_no_screen_and_loads_nothing_of_qt() -> None:
    process = python("import main; status = main.main(); print(status, 'PySide6' in sys.modules)", "devices")
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("cpu: ")
    assert process.stdout.splitlines()[-1] == "0 False"


def test_the_command_s_exit_status_is_the_program_s() -> None:
    assert main_py("train", "--epochs", "0").returncode == 2
    assert main_py("evaluate", "--model", "/absent").returncode == 1
    assert main_py("--help").returncode == 0


def test_no_word_opens_the_window_and_loads_no_command_line() -> None:
    script = (
        "from types import ModuleType\n"
        "window = sys.modules['gui.application'] = ModuleType('gui.application')\n"
        "window.run_window = lambda: 7\n"
        "import main; status = main.main(); print(status, 'typer' in sys.modules)"
    )
    process = python(script, env={**WITHOUT_SCREEN, "QT_QPA_PLATFORM": "offscreen"})
    assert process.stdout == "7 False\n", process.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a screen")
@pytest.mark.parametrize("display", [None, ":4242"], ids=["no display", "a display that does not answer"])
def test_where_no_window_can_open_one_sentence_says_what_to_do_with_status_2(display: str | None) -> None:
    process = main_py(env={**WITHOUT_SCREEN, **({"DISPLAY": display} if display else {})})
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith("inkling: ")
    assert process.stderr.count("\n") == 1
    assert "uv run main.py train" in process.stderr or "sudo apt-get install lib" in process.stderr
    assert "display" in process.stderr or "libraries" in process.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a screen")
def test_the_sentence_without_a_display_names_the_way_without_a_window() -> None:
    process = main_py()
    assert "there is no display" in process.stderr
    assert "uv run main.py train" in process.stderr


@pytest.mark.parametrize("loading", ["core.command_line", "numpy", "rich", "gui.startup_check", "gui.application"])
def test_an_interrupt_while_it_loads_ends_it_without_a_word(loading: str) -> None:
    script = (
        "import os, signal, main\n"
        "class InterruptsOnce:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {loading!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, InterruptsOnce())\n"
        "sys.exit(main.main())"
    )
    words = () if loading.startswith("gui") else ("devices",)
    process = python(script, *words, env={**WITHOUT_SCREEN, "QT_QPA_PLATFORM": "offscreen"})
    assert (process.returncode, process.stdout, process.stderr) == (130, "", "")


def test_the_front_door_stays_small() -> None:
    assert len((ROOT / "main.py").read_text().splitlines()) <= 20
