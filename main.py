"""Inkling's front door: no arguments open the window, a command word runs without one; neither loads the other's."""

import os
import signal
import sys
from importlib import import_module


def main() -> int:
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # While it loads, Ctrl-C has nothing to keep.
    if not sys.argv[1:] and (reason := import_module("gui.startup_check").why_no_window()) is not None:
        sys.stderr.write(f"inkling: {reason}\n")
        return 2
    room = import_module("core.command_line" if sys.argv[1:] else "gui.application")
    signal.signal(signal.SIGINT, before)
    return int(room.run(sys.argv[1:]) if sys.argv[1:] else room.run_window())


if __name__ == "__main__":
    sys.exit(main())
