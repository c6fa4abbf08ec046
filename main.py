"""Inkling's front door: no arguments open the window, a command word runs without one."""

import sys


def main() -> int:
    if len(sys.argv) > 1:
        from core.command_line import run

        return run(sys.argv[1:])
    from gui.application import run_window

    return run_window()


if __name__ == "__main__":
    sys.exit(main())
