"""The sample site on this machine: its first pages, and its pages a week later."""

from __future__ import annotations

import mimetypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

HOST = "127.0.0.1"
STATES = ("first", "second")

# Changes of the week beside the edits: one page moved, one was removed.
MOVED = {"second": {"/reading-groups.html": "/groups/reading.html"}}
GONE = {"second": frozenset({"/summer-fete.html"})}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of the site to one request."""

    status: HTTPStatus
    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    location: str = ""

    @property
    def etag(self) -> str:
        """The validator of the body."""
        return f'"{sha256(self.body).hexdigest()[:16]}"'


@cache
def answer(state: str, path: str) -> Answer:
    """Return the answer to a path in one state of the site.

    >>> answer("first", "/summer-fete.html").status, answer("second", "/summer-fete.html").status
    (<HTTPStatus.OK: 200>, <HTTPStatus.GONE: 410>)
    >>> answer("second", "/reading-groups.html").location, answer("first", "/no/such.html").status.value
    ('/groups/reading.html', 404)
    """
    if target := MOVED.get(state, {}).get(path):
        return Answer(HTTPStatus.MOVED_PERMANENTLY, _note("This page has moved."), location=target)
    if path in GONE.get(state, ()):
        return Answer(HTTPStatus.GONE, _note("This page was taken down."))
    name = "index.html" if path == "/" else path.removeprefix("/")
    page = _file(state, name)
    if page is None:
        return Answer(HTTPStatus.NOT_FOUND, _note("There is no such page."))
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    charset = "; charset=utf-8" if kind.startswith("text/") else ""
    return Answer(HTTPStatus.OK, page.read_bytes(), f"{kind}{charset}")


def paths(state: str) -> list[str]:
    """Return the paths of all files of a state, sorted.

    >>> [path for path in paths("second") if path not in paths("first")]
    ['/groups/reading.html', '/news/repair-kits.html']
    """
    return sorted(_below(files(__package__) / state, ""))


def _below(folder: Traversable, path: str) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _below(entry, f"{path}/{entry.name}")
        else:
            yield f"{path}/{entry.name}"


def _file(state: str, name: str) -> Traversable | None:
    parts = name.split("/")
    if not {"", ".", ".."}.isdisjoint(parts):
        return None
    page = files(__package__).joinpath(state, *parts)
    return page if page.is_file() else None


def _note(text: str) -> bytes:
    return f"<!DOCTYPE html>\n<title>Millwater Town Library</title>\n<p>{text}\n".encode()


class _Server(ThreadingHTTPServer):
    request_queue_size = 64  # with 5, the default, a crawl that opens eight at once waits a second


class SampleSite:
    """Serves one state of the site at a time; ``state`` may be set while it runs."""

    def __init__(self, port: int, state: str = STATES[0]) -> None:
        self.state = state
        handler = type("Handler", (_Handler,), {"site": self})
        self._server = _Server((HOST, port), handler)

    @property
    def url(self) -> str:
        """The address of the front page."""
        return f"http://{HOST}:{self._server.server_address[1]}/"

    def serve(self) -> None:
        """Serve until interrupted."""
        try:
            self._server.serve_forever()
        finally:
            self._server.server_close()

    @contextmanager
    def running(self) -> Iterator[SampleSite]:
        """Serve in the background."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "sample"
    sys_version = ""
    disable_nagle_algorithm = True
    site: SampleSite

    def do_GET(self) -> None:
        self._send(answer(self.site.state, self.path.partition("?")[0]))

    do_HEAD = do_GET  # noqa: N815 the name is that of the base class

    def _send(self, reply: Answer) -> None:
        known = reply.status is HTTPStatus.OK and reply.etag in self.headers.get("If-None-Match", "")
        body = b"" if known else reply.body
        self.send_response(HTTPStatus.NOT_MODIFIED if known else reply.status)
        if reply.status is HTTPStatus.OK:
            self.send_header("ETag", reply.etag)
        if reply.location:
            self.send_header("Location", reply.location)
        if not known:
            self.send_header("Content-Type", reply.kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the name is that of the base class
        """Log nothing: the crawl logs its requests."""
