"""Inkling's front door: no arguments open the window, a command word runs without one."""

import sys
from importlib import import_module

from gui.startup_check import why_no_window


def main() -> int:
    """Load only what was asked for, so that neither way in waits for the other."""
    if len(sys.argv) > 1:
        return int(import_module("core.command_line").run(sys.argv[1:]))
    if (reason := why_no_window()) is not None:
        sys.stderr.write(f"inkling: {reason}\n")
        return 2
    return int(import_module("gui.application").run_window())


if __name__ == "__main__":
    sys.exit(main())
