"""A web server on this machine whose answers a test writes down, and which remembers what it was asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    """One request that the server saw."""

    path: str
    headers: dict[str, str]
    time: float
    body: bytes = b""


@dataclass(frozen=True)
class Reply:
    """One answer: ``length`` announces another Content-Length, ``raw`` replaces the answer by bytes.

    After ``raw`` the connection is left open for ``hold`` seconds.
    """

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    type: str = "text/html; charset=utf-8"
    delay: float = 0.0
    length: int | None = None
    raw: bytes | None = None
    hold: float = 0.0


Route = Reply | Sequence[Reply] | Callable[[Asked], Reply]


@dataclass
class MockServer:
    """Routes by path. A sequence is answered in turn, its last entry for ever; no route is a 404."""

    routes: dict[str, Route] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    host: str = "127.0.0.1"
    connections: int = 0

    def __enter__(self) -> MockServer:
        handler = type("Handler", (_Handler,), {"site": self})
        self._server = _Server((self.host, 0), handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def url(self, path: str = "/") -> str:
        return f"http://{self.host}:{self.port}{path}"

    def paths(self) -> list[str]:
        """The paths of all pages asked for, in order, without robots.txt."""
        return [asked.path for asked in self.asked if asked.path != "/robots.txt"]

    def times(self, path: str) -> list[float]:
        return [asked.time for asked in self.asked if asked.path == path]

    def reply(self, asked: Asked) -> Reply:
        before = self.times(asked.path)
        self.asked.append(asked)
        route = self.routes.get(asked.path, Reply(b"<p>no such page</p>", 404))
        if isinstance(route, Reply):
            return route
        if callable(route):
            return route(asked)
        return route[min(len(before), len(route) - 1)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    site: MockServer

    def setup(self) -> None:
        super().setup()
        self.site.connections += 1

    def do_GET(self, body: bytes = b"") -> None:
        reply = self.site.reply(Asked(self.path, dict(self.headers.items()), time.monotonic(), body))
        time.sleep(reply.delay)
        try:
            self._send(reply)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_POST(self) -> None:
        self.do_GET(self.rfile.read(int(self.headers["Content-Length"])))

    def _send(self, reply: Reply) -> None:
        if reply.raw is not None:
            self.wfile.write(reply.raw)
            time.sleep(reply.hold)
            self.close_connection = True
            return
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        if reply.status not in (204, 304):
            self.send_header("Content-Type", reply.type)
            self.send_header("Content-Length", str(reply.length or len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body if reply.status not in (204, 304) else b"")
        self.close_connection = self.close_connection or reply.length is not None

    def log_message(self, *args: Any) -> None:
        """Keep quiet: the test knows what was asked."""


def html(*links: str, text: str = "", head: str = "") -> Reply:
    """A page with a heading, some text and the links."""
    return Reply(markup(links, text, head))


def markup(links: Iterable[str], text: str = "", head: str = "") -> bytes:
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    body = f"<body><h1>t</h1><p>{text}</p><ul>{anchors}</ul></body>"
    return f"<html><head><title>t</title>{head}</head>{body}</html>".encode()


def redirect(target: str, status: int = 302) -> Reply:
    return Reply(b"<p>elsewhere</p>", status, (("Location", target),))


def robots(text: str, status: int = 200) -> Reply:
    return Reply(text.encode(), status, type="text/plain")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # 5 by default: with eight connections at once one would wait for a second
