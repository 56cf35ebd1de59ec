"""The facts of the wire: what is kept of an answer is what a server sent, over real sockets."""

from __future__ import annotations

import gzip
import json
import socket
import sqlite3
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import brotli
import pytest
from backports import zstd
from scrapy import Request

from archivebot import Archive, ArchiveConfig
from archivebot import settings as project
from archivebot.models import Capture, Outcome
from archivebot.wire import Wire
from tests.conftest import Crawl
from tests.mockserver import markup
from tests.test_crawl_truncation import deflated

PAGE = markup([], "some words of a page " * 20)
OK = b"HTTP/1.1 200 OK\r\n"
HTML = b"Content-Type: text/html; charset=utf-8\r\n"
CLOSE = b"Connection: close\r\n"


@dataclass(frozen=True)
class Kind:
    """A kind of answer: its heads, what comes behind them, and what is to be kept of that."""

    head: bytes
    body: bytes = PAGE
    length: int | None = None  # of the body as kept by the wire, where that is not what was sent
    trailers: bytes = b""
    truncated: str = ""
    outcome: Outcome = Outcome.FETCHED
    decoded: bool = False
    protocols: tuple[str, ...] = ("http/1.1",)
    keeps_open: bool = False
    pause: float = 0.0  # seconds before the body


def counted(*lines: bytes, body: bytes = PAGE, status: bytes = OK) -> bytes:
    return status + b"".join(lines) + b"Content-Length: %d\r\n\r\n" % len(body)


def coded(name: bytes, body: bytes) -> Kind:
    return Kind(counted(HTML, b"Content-Encoding: " + name + b"\r\n", body=body), body, decoded=True)


def chunks(*parts: bytes, trailers: bytes = b"", extension: bytes = b"") -> bytes:
    pieces = [b"%x%s\r\n%s\r\n" % (len(part), extension, part) for part in parts]
    return b"".join(pieces) + b"0\r\n" + trailers + b"\r\n"


CHUNKED = OK + HTML + b"Transfer-Encoding: chunked\r\n"
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"
LONG = b"".join(b"X-Line-%d: %s\r\n" % (number, b"y" * 90) for number in range(300))

KINDS: dict[str, Kind] = {
    "plain": Kind(counted(HTML)),
    "gzip": coded(b"gzip", gzip.compress(PAGE)),
    "deflate": coded(b"deflate", zlib.compress(PAGE)),
    "raw-deflate": coded(b"deflate", deflated(PAGE)),
    "br": coded(b"br", brotli.compress(PAGE)),
    "zstd": coded(b"zstd", zstd.compress(PAGE)),
    "two-codings": coded(b"gzip, br", brotli.compress(gzip.compress(PAGE))),
    "two-coding-headers": coded(b"gzip\r\nContent-Encoding: br", brotli.compress(gzip.compress(PAGE))),
    "unknown-coding": Kind(counted(HTML, b"Content-Encoding: utf-8\r\n")),
    "repeated": Kind(counted(b"Set-Cookie: a=1\r\n", HTML, b"set-cookie: b=2\r\nSET-COOKIE: a=1\r\n")),
    "case": Kind(counted(b'cOnTeNt-tYpE: text/html\r\nETAG: "x"\r\nx-lower: y\r\n')),
    "folded": Kind(counted(HTML, b"X-Folded: one\r\n two\r\n\tthree\r\n")),
    "empty-values": Kind(counted(HTML, b"X-Empty:\r\nX-Blank:   \r\n: no name\r\n")),
    "blanks": Kind(counted(HTML, b"X-Left:value\r\nX-Right:   value   \r\nX-Name : value\r\n")),
    "utf-8": Kind(counted(HTML, "X-Place: Zürich 東京\r\n".encode())),
    "latin-1": Kind(counted(HTML, b"X-Place: Z\xfcrich\r\n")),
    "odd-bytes": Kind(counted(HTML, b"X-Odd: \x01\x7f\x80\xff\r\n")),
    "no-colon": Kind(counted(HTML, b"this is no header\r\n")),
    "line-feeds": Kind(counted(HTML, CLOSE).replace(b"\r\n", b"\n")),
    "no-reason": Kind(counted(HTML, status=b"HTTP/1.1 200\r\n")),
    "odd-reason": Kind(counted(HTML, status=b"HTTP/1.1 200 Everything  f\xefne\r\n")),
    "long": Kind(counted(HTML, LONG)),
    "http-1.0": Kind(counted(HTML, status=b"HTTP/1.0 200 OK\r\n"), protocols=("http/1.0",)),
    "until-close": Kind(OK + HTML + CLOSE + b"\r\n"),
    "early-hints": Kind(EARLY + counted(HTML)),
    "interim-twice": Kind(b"HTTP/1.1 100 Continue\r\n\r\n" + EARLY + counted(HTML)),
    "chunked": Kind(CHUNKED + b"\r\n", chunks(PAGE[:100], PAGE[100:]), len(PAGE)),
    "chunk-extension": Kind(CHUNKED + b"\r\n", chunks(PAGE, extension=b";a=b"), len(PAGE)),
    "trailers": Kind(
        CHUNKED + b"Trailer: X-Sum\r\n\r\n",
        chunks(PAGE, trailers=b"X-Sum: 1\r\nX-Sum:  2\r\n"),
        len(PAGE),
        b"X-Sum: 1\r\nX-Sum:  2\r\n",
    ),
    "chunked-gzip": Kind(
        CHUNKED + b"Content-Encoding: gzip\r\n\r\n",
        chunks(gzip.compress(PAGE, mtime=0)),
        len(gzip.compress(PAGE, mtime=0)),
        decoded=True,
    ),
    "no-content": Kind(b"HTTP/1.1 204 No Content\r\nX-Why: none\r\n\r\n", b"", 0, outcome=Outcome.NO_CONTENT),
    "not-modified": Kind(
        b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 99\r\n\r\n',
        b"",
        0,
        outcome=Outcome.NOT_MODIFIED,
    ),
    "redirect": Kind(
        counted(b"location: /plain\r\n", body=b"there", status=b"HTTP/1.1 302 Found\r\n"),
        b"there",
        outcome=Outcome.REDIRECT,
    ),
    "not-found": Kind(counted(HTML, status=b"HTTP/1.1 404 Nope\r\n"), outcome=Outcome.NOT_FOUND),
    "head": Kind(counted(HTML), b"", 0, outcome=Outcome.NO_CONTENT),
    "keep-alive": Kind(counted(HTML, b"Connection: keep-alive\r\nKeep-Alive: 5\r\n"), keeps_open=True),
    "cut": Kind(
        OK + HTML + b"Content-Length: 9999\r\n\r\n", truncated="disconnect", outcome=Outcome.INCOMPLETE
    ),
    "cut-chunks": Kind(
        CHUNKED + b"\r\n", b"64\r\n" + PAGE[:50], 50, truncated="disconnect", outcome=Outcome.INCOMPLETE
    ),
    "cut-head": Kind(
        OK + HTML + b"X-Ha", b"", 0, truncated="disconnect", outcome=Outcome.INCOMPLETE, keeps_open=False
    ),
    "too-large": Kind(
        OK + HTML + b"Content-Length: 99999999\r\n\r\n", b"", truncated="length", outcome=Outcome.TOO_LARGE
    ),
    "slow": Kind(counted(HTML), b"", truncated="time", outcome=Outcome.TIMEOUT, pause=4),
    "no-http": Kind(
        b"SSH-2.0-OpenSSH_9.2\r\n", b"", truncated="disconnect", outcome=Outcome.PROTOCOL_ERROR, protocols=()
    ),
}


@dataclass
class RawServer:
    """Sends the bytes of each kind as they are, and keeps the heads of the requests."""

    kinds: dict[str, Kind]
    requests: dict[str, bytes] = field(default_factory=dict)
    places: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    port: int = 0

    @contextmanager
    def running(self) -> Iterator[RawServer]:
        with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
            self.port = server.getsockname()[1]
            threading.Thread(target=self._accept, args=(server,), daemon=True).start()
            yield self
            server.shutdown(socket.SHUT_RDWR)

    def url(self, name: str = "") -> str:
        return f"http://127.0.0.1:{self.port}/{name}"

    def _accept(self, server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            opened = True
            while opened:
                request = b""
                while not request.endswith(b"\r\n\r\n"):
                    data = client.recv(1 << 16)
                    if not data:
                        return
                    request += data
                name = request.split(b" ")[1].decode().removeprefix("/")
                kind = self.kinds.get(name) or self._front()
                self.requests[name] = request
                self.places[name].append(client.getpeername()[1])
                client.sendall(kind.head)
                time.sleep(kind.pause)
                client.sendall(kind.body)
                opened = kind.keeps_open

    def _front(self) -> Kind:
        page = markup(self.kinds)
        return Kind(counted(HTML, body=page), page)


class Odd:
    """A downloader middleware that asks for one page with HEAD, and for one with secrets."""

    def process_request(self, request: Request) -> None:
        if request.url.endswith("/head"):
            request.method = "HEAD"
        if request.url.endswith("/plain"):
            request.headers["Authorization"] = "Basic c2VjcmV0"
            request.headers["Cookie"] = "session=secret"


@pytest.fixture(scope="module")
def server() -> Iterator[RawServer]:
    with RawServer(KINDS).running() as server:
        yield server


@pytest.fixture(scope="module")
def crawled(server: RawServer, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A crawl of all kinds."""
    crawl = Crawl(tmp_path_factory.mktemp("wire"))
    middlewares = json.dumps({**project.DOWNLOADER_MIDDLEWARES, "tests.test_crawl_wire.Odd": 580})
    settings = (
        *("-s", "RETRY_TIMES=0", "-s", "ROBOTSTXT_OBEY=0", "-s", "DOWNLOAD_TIMEOUT=2"),
        *("-s", "DOWNLOAD_MAXSIZE=9999999", "-s", f"DOWNLOADER_MIDDLEWARES={middlewares}"),
    )
    assert crawl(*settings, seeds=server.url()).code == 0
    return crawl


def kept(crawl: Crawl, url: str) -> tuple[Capture, Wire]:
    with closing(Archive.open(ArchiveConfig(uri=crawl.uri))) as archive:
        (capture,) = archive.captures(url)
    assert capture.wire is not None
    return capture, capture.wire


@pytest.mark.parametrize("name", KINDS)
def test_what_is_kept_is_what_was_sent(name: str, server: RawServer, crawled: Crawl) -> None:
    capture, wire = kept(crawled, server.url(name))
    kind = KINDS[name]
    assert wire.received == (kind.head if name != "slow" else wire.received)
    assert wire.trailers == kind.trailers
    assert (capture.outcome, wire.truncated) == (kind.outcome, kind.truncated)
    failed = kind.outcome in (Outcome.TOO_LARGE, Outcome.TIMEOUT, Outcome.PROTOCOL_ERROR)
    assert wire.length == (None if failed else len(kind.body) if kind.length is None else kind.length)
    assert wire.decoded == kind.decoded
    assert (wire.ip, wire.port, wire.protocols) == ("127.0.0.1", server.port, kind.protocols)
    sent = server.requests[name]
    if name == "plain":
        sent = sent.replace(b"Authorization: Basic c2VjcmV0\r\n", b"")
        sent = sent.replace(b"Cookie: session=secret\r\n", b"")
        assert sorted(wire.left_out) == ["Authorization", "Cookie"]
    else:
        assert wire.left_out == ()
    assert wire.request == sent


def test_there_are_more_than_thirty_kinds() -> None:
    assert len(KINDS) > 30


def test_no_secret_is_in_the_archive(crawled: Crawl, server: RawServer) -> None:
    assert b"secret" in server.requests["plain"]
    with closing(sqlite3.connect(crawled.uri.removeprefix("sqlite:///"))) as database:
        dump = "".join(database.iterdump())
    assert "secret" not in dump
    assert b"secret" not in kept(crawled, server.url("plain"))[1].request


def test_the_headers_of_a_capture_are_those_that_came(crawled: Crawl, server: RawServer) -> None:
    capture, wire = kept(crawled, server.url("repeated"))
    assert (
        capture.headers
        == wire.headers
        == (
            ("Set-Cookie", "a=1"),
            ("Content-Type", "text/html; charset=utf-8"),
            ("set-cookie", "b=2"),
            ("SET-COOKIE", "a=1"),
            ("Content-Length", str(len(PAGE))),
        )
    )
    assert ("X-Place", "Zürich 東京") in kept(crawled, server.url("utf-8"))[0].headers
    assert ("X-Place", "Zürich") in kept(crawled, server.url("latin-1"))[0].headers
    folded = dict(kept(crawled, server.url("folded"))[0].headers)
    assert folded["X-Folded"] == "one two three"
    assert kept(crawled, server.url("early-hints"))[1].status_line == "HTTP/1.1 200 OK"


def test_times_are_those_of_the_exchange(crawled: Crawl, server: RawServer) -> None:
    capture, wire = kept(crawled, server.url("slow"))
    assert wire.started is not None
    assert wire.first_byte is not None
    assert wire.ended is not None
    assert 0 <= wire.first_byte < 1500 < wire.ended < 6000
    end = wire.started + timedelta(milliseconds=wire.ended)
    assert abs(capture.captured_at - end) < timedelta(seconds=3)
    assert capture.captured_at == wire.started  # the time of a capture is that of its begin
    assert abs(datetime.now(UTC) - wire.started) < timedelta(minutes=10)


def test_a_connection_that_is_kept_carries_several_exchanges(crawl: Crawl) -> None:
    same = {f"page-{number}": KINDS["keep-alive"] for number in range(3)}
    with RawServer(same).running() as server:
        assert (
            crawl("-s", "ROBOTSTXT_OBEY=0", "-s", "ARCHIVE_LOCAL_CONCURRENCY=1", seeds=server.url()).code == 0
        )
        for name in same:
            _, wire = kept(crawl, server.url(name))
            assert (wire.received, wire.request) == (same[name].head, server.requests[name])
        assert len({port for name in same for port in server.places[name]}) == 1
