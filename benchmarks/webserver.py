"""A web on one loopback port: pages of many hosts, answered by Host header or as an HTTP proxy."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import common  # noqa: F401  the checkout itself, installed or not

from archivebot.exceptions import UsageError
from archivebot.urls import canonical_url

_VARIANT = re.compile(r"(?:/(?:index\.html?)?)?$")


@dataclass(frozen=True, slots=True)
class Stored:
    """One page of the web: its canonical URL, what it is about, its media type and its bytes."""

    url: str
    label: str
    kind: str = "text/html"
    body: bytes = field(default=b"", repr=False)


class Web:
    """Pages by URL; a URL that differs only in ``www.``, a last slash or ``index.html`` is a variant."""

    def __init__(self, pages: Iterable[Stored]) -> None:
        self.pages: dict[str, Stored] = {}
        for page in pages:
            self.pages.setdefault(page.url, page)
        self._variants = {_plain(url): url for url in reversed(self.pages)}

    def find(self, url: str) -> Stored | None:
        """Return the page of a canonical URL or of a variant of it."""
        return self.pages.get(url) or self.pages.get(self._variants.get(_plain(url), ""))


def _plain(url: str) -> str:
    return _VARIANT.sub("", url).replace("://www.", "://")


class Server:
    """Serves a web and keeps the order of the requests, without those for robots.txt.

    A page is answered with its media type, a variant with a redirect to the page, all else with 404;
    no host has a robots.txt. ``asked`` holds the canonical URL of each request, ``posted`` those of POSTs.
    """

    def __init__(self, web: Web) -> None:
        self.web = web
        self.asked: list[str] = []
        self.posted: list[str] = []

    def answer(self, url: str) -> tuple[int, str, bytes]:
        """Return status, location or media type, and body."""
        if urlsplit(url).path == "/robots.txt":
            return 404, "text/plain", b""
        self.asked.append(url)
        page = self.web.find(url)
        if page is None:
            return 404, "text/html", b"<p>no such page</p>"
        return (200, page.kind, page.body) if page.url == url else (301, page.url, b"")


@contextmanager
def serving(web: Web) -> Iterator[tuple[Server, str]]:
    """Serve a web on a free port of this machine; gives the server and the URL of the proxy."""
    site = Server(web)
    with _Listener(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site})) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield site, f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _Listener(ThreadingHTTPServer):
    def handle_error(self, *request: object) -> None:
        """Report what goes wrong here, but not that a crawler was ended and let its connections go."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*request)  # type: ignore[arg-type]  # passed through


class _Handler(BaseHTTPRequestHandler):
    site: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or head and body, sent one after the other, wait 40 ms
    timeout = 60

    def do_GET(self) -> None:
        url = self.path if "://" in self.path else f"http://{self.headers.get('Host', '')}{self.path}"
        try:
            status, told, body = self.site.answer(canonical_url(url))
        except UsageError:
            status, told, body = 400, "text/plain", b""
        self.send_response(status)
        self.send_header("Location" if status == 301 else "Content-Type", told)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.site.posted.append(self.path)
        self.close_connection = True  # its body is not read
        self.send_error(405)

    def log_message(self, *args: object) -> None:
        """Keep silent: the requests are counted."""
