"""A server on this machine that serves well or in one of many bad ways, and small made-up sets for it to serve."""

import gzip
import hashlib
import io
import struct
import threading
import zipfile
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from core.digits.dataset import Dataset, DigitSets
from core.digits.downloads import DIGITS, PublishedFile, PublishedSet


class Mirror:
    """Serves `files` by name; each request is noted in `requests` as (name, its Range or None).

    `manners` says how, one request after the other; the last one stays.
    """

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self.files = dict(files or {})
        self.manners = ["well"]
        self.requests: list[tuple[str, str | None]] = []
        self.going_down = threading.Event()
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.rsplit("/", 1)[-1]
                mirror.requests.append((name, self.headers["Range"]))
                manner = mirror.manners.pop(0) if len(mirror.manners) > 1 else mirror.manners[0]
                try:
                    MANNERS[manner](self, mirror.files[name], mirror)
                except OSError:
                    self.close_connection = True

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = False  # They are waited for when the server closes.
        self._server.handle_error = lambda *args: None  # type: ignore[method-assign]
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self.going_down.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _answer(to: BaseHTTPRequestHandler, status: int, headers: Mapping[str, object], body: bytes = b"") -> None:
    to.send_response(status)
    for name, value in headers.items():
        to.send_header(name, str(value))
    to.end_headers()
    to.wfile.write(body)
    to.wfile.flush()


def _send(to: BaseHTTPRequestHandler, content: bytes, upto: float = 1.0, announced: int | None = None) -> None:
    """What was asked for, as a range if one was; only the first share `upto` of it."""
    asked = to.headers["Range"]
    start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
    body = content[start:]
    headers = {"Content-Length": len(body) if announced is None else announced}
    if asked:
        headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
    _answer(to, 206 if asked else 200, headers, body[: int(len(body) * upto)])


def _stall(to: BaseHTTPRequestHandler, content: bytes, mirror: Mirror) -> None:
    _send(to, content, upto=0.5)
    mirror.going_down.wait(30)


def _endless(to: BaseHTTPRequestHandler, content: bytes, mirror: Mirror) -> None:
    _answer(to, 200, {})
    while not mirror.going_down.is_set():
        to.wfile.write(bytes(65536))


def _slam(to: BaseHTTPRequestHandler, content: bytes, mirror: Mirror) -> None:
    to.close_connection = True


def _reply(status: int, headers: Mapping[str, object], body: bytes = b"") -> Callable[..., None]:
    return lambda to, content, mirror: _answer(to, status, headers, body)


def _redirect(target: str) -> Callable[..., None]:
    return lambda to, content, mirror: _answer(to, 302, {"Location": target.replace("HERE", mirror.url)})


PAGE = b"<!DOCTYPE html><title>This page is blocked in your school</title>"
MANNERS: dict[str, Callable[[BaseHTTPRequestHandler, bytes, Mirror], None]] = {
    "well": lambda to, content, mirror: _send(to, content),
    "without ranges": lambda to, content, mirror: _answer(to, 200, {"Content-Length": len(content)}, content),
    "without length": lambda to, content, mirror: _answer(to, 200, {}, content),
    "truncating": lambda to, content, mirror: _send(to, content, upto=0.5),
    "truncating, without length": lambda to, content, mirror: _answer(to, 200, {}, content[: len(content) // 2]),
    "stalling": _stall,
    "silent": lambda to, content, mirror: mirror.going_down.wait(30) and None,
    "announcing too much": lambda to, content, mirror: _send(to, content, announced=len(content) + 1000),
    "announcing too little": lambda to, content, mirror: _send(to, content, announced=len(content) - 1000),
    "announcing nonsense": _reply(200, {"Content-Length": "many"}, bytes(100)),
    "endless": _endless,
    "other bytes": lambda to, content, mirror: _send(to, bytes(byte ^ 255 for byte in content)),
    "a page instead": _reply(200, {"Content-Length": len(PAGE)}, PAGE),
    "nothing": _reply(200, {"Content-Length": 0}),
    "no content": _reply(204, {}),
    "not found": _reply(404, {"Content-Length": len(PAGE)}, PAGE),
    "broken": _reply(503, {}),
    "another part": _reply(206, {"Content-Range": "bytes 7-8/9", "Content-Length": 2}, b"ab"),
    "redirecting to nowhere": _redirect("http://127.0.0.1:9/"),
    "redirecting in circles": _redirect("HERE"),
    "redirecting to a file": _redirect("file:///etc/hostname"),
    "redirecting to nonsense": _redirect("http://[/"),
    "slamming the door": _slam,
    "no HTTP": lambda to, content, mirror: to.wfile.write(b"220 ready\r\n") and None,
}


def made_up(sets: DigitSets, train: int = 30, test: int = 20) -> DigitSets:
    """The first digits of `sets`, inverted, so that they are nobody's."""
    return DigitSets(
        "Made-up",
        *(
            Dataset(255 - part.images[:count], part.labels[:count])
            for part, count in ((sets.train, train), (sets.test, test))
        ),
    )


def idx(array: np.ndarray) -> bytes:
    """An IDX file of bytes, written as its format's page says."""
    return struct.pack(f">{1 + array.ndim}I", 0x0800 + array.ndim, *array.shape) + array.tobytes()


def extended(labels: np.ndarray) -> bytes:
    """QMNIST's file of labels: eight 32-bit integers a digit, of which the first is the label."""
    rows = [struct.pack(">8i", label, 4, 2100 + number, 1, 30, number, 0, 0) for number, label in enumerate(labels)]
    return struct.pack(">3I", 0x0C02, len(labels), 8) + b"".join(rows)


def as_files(sets: DigitSets) -> dict[str, bytes]:
    """The four files of MNIST's form."""
    return {
        f"{part}-{kind}-ubyte.gz": gzip.compress(idx(array), mtime=0)
        for part, digits in (("train", sets.train), ("t10k", sets.test))
        for kind, array in (("images-idx3", digits.images), ("labels-idx1", digits.labels))
    }


def as_archive(files: Mapping[str, bytes], folder: str = "gzip/") -> bytes:
    """A zip archive of `files`."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(folder + name, data)
    return content.getvalue()


def published(name: str, files: Mapping[str, bytes], *mirrors: str, **choices: Any) -> PublishedSet:
    """A set of `files` as the table lists it, with 30 training and 20 test digits."""
    listed = tuple(
        PublishedFile(file, len(data), hashlib.sha256(data).hexdigest(), tuple(mirror + file for mirror in mirrors))
        for file, data in files.items()
    )
    values = {"classes": DIGITS, "train_digits": 30, "test_digits": 20} | choices
    return PublishedSet(name, name.title(), licence="free", credit="nobody", source="here", files=listed, **values)
