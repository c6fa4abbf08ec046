"""Whether a window can be opened at all, found out before Qt is asked: on Linux, Qt aborts where it cannot.

It is a room of its own because it must run, and say its one sentence, where nothing else of gui/ can be imported.
"""

import ctypes
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

WINDOWLESS = "without a window, use: uv run main.py train (see uv run main.py --help)"

# Shared libraries that Qt's wheels do not bring, and the Debian/Ubuntu packages that hold them.
QT_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libfontconfig.so.1": "libfontconfig1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}
X11_LIBRARIES = {
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}


def why_no_window(environment: Mapping[str, str] = os.environ) -> str | None:
    """One sentence saying why no window can open here and what to do, or None if one can.

    Only Linux is looked at; elsewhere Qt finds its own way. A platform chosen by QT_QPA_PLATFORM other than xcb is
    taken at its word.
    """
    if not sys.platform.startswith("linux"):
        return None
    # Qt tries the platforms of this list in turn: "wayland;xcb", each perhaps with settings after a colon.
    chosen = environment.get("QT_QPA_PLATFORM") or "wayland;xcb"
    platforms = [name.strip().partition(":")[0] for name in chosen.split(";")]
    needs_screen = all(name in ("xcb", "wayland") for name in platforms)
    on_wayland = "wayland" in platforms and _wayland_answers(environment)
    if needs_screen and not on_wayland and not ("xcb" in platforms and environment.get("DISPLAY")):
        return f"there is no display to open a window on; {WINDOWLESS}"
    needs_x11 = needs_screen and not on_wayland
    missing = _missing(QT_LIBRARIES | (X11_LIBRARIES if needs_x11 else {}))
    if missing:
        return f"Qt needs libraries that are not installed; run: sudo apt-get install {' '.join(missing)}"
    if needs_x11 and not _x11_answers():
        return f"the display {environment['DISPLAY']} does not answer; check DISPLAY, or {WINDOWLESS}"
    return None


def _missing(libraries: Mapping[str, str]) -> list[str]:
    """The packages of those libraries that cannot be loaded."""
    packages = []
    for library, package in libraries.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            packages.append(package)
    return packages


def _x11_answers() -> bool:
    """Whether the X server named by DISPLAY accepts a connection."""
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connection_has_error.argtypes = xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    failed = bool(xcb.xcb_connection_has_error(connection))
    xcb.xcb_disconnect(connection)
    return not failed


def _wayland_answers(environment: Mapping[str, str]) -> bool:
    """Whether the compositor named by WAYLAND_DISPLAY accepts a connection."""
    name = environment.get("WAYLAND_DISPLAY")
    if not name:
        return False
    path = Path(environment.get("XDG_RUNTIME_DIR", "/")) / name
    with socket.socket(socket.AF_UNIX) as compositor:
        try:
            compositor.connect(str(path))
        except OSError:
            return False
    return True
