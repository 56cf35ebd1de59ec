"""Crawls over HTTP/2: what is kept of an answer is what a server sent, over TLS and real sockets."""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from scrapy import Request

from archivebot import Archive, ArchiveConfig
from archivebot import settings as project
from archivebot.models import Outcome
from archivebot.wire import Wire
from tests.commands import run_scrapy
from tests.conftest import Crawl
from tests.mockserver import markup
from tests.servers import certificate, free_port
from tests.test_crawl_wire import kept

pytest.importorskip("h2", reason="no h2: pip install -e .[http2]")

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived, StreamEnded
from h2.exceptions import StreamClosedError

Fields = tuple[tuple[bytes, bytes], ...]

PAGE = markup([], "some words of a page " * 20)
HTML = (b"content-type", b"text/html; charset=utf-8")


@dataclass(frozen=True)
class Kind:
    """A kind of answer, and what is to be kept of it."""

    headers: Fields = (HTML,)
    body: bytes = PAGE
    status: bytes = b"200"
    interim: Fields = ()  # of an answer 103 before this one
    trailers: Fields = ()
    announced: int | None = None  # the length in its header, if it is not that of the body
    counted: bool = True  # whether it has that header
    end: str = "stream"  # or "reset", "connection", "never", "silence"
    padding: int = 0
    truncated: str = ""
    outcome: Outcome = Outcome.FETCHED
    decoded: bool = False

    @property
    def fields(self) -> Fields:
        length = len(self.body) if self.announced is None else self.announced
        counted = ((b"content-length", b"%d" % length),) if self.counted else ()
        return ((b":status", self.status), *self.headers, *counted)

    @property
    def head(self) -> bytes:
        """Its heads as the archive keeps them."""
        early = ((b":status", b"103"), *self.interim)
        return (written(early) if self.interim else b"") + written(self.fields)


def written(fields: Fields) -> bytes:
    (_, status), *others = fields
    return b"HTTP/2 %b\r\n%b\r\n" % (status, b"".join(b"%b: %b\r\n" % field for field in others))


LINK = (b"link", b"</a.css>; rel=preload")
ETAG = (b"etag", b'"x"')
BIG = markup([], "many words of a long page " * 20_000)

KINDS = {
    "plain": Kind(),
    "gzip": Kind((HTML, (b"content-encoding", b"gzip")), gzip.compress(PAGE, mtime=0), decoded=True),
    "repeated": Kind(((b"set-cookie", b"a=1"), HTML, (b"set-cookie", b"b=2"), (b"set-cookie", b"a=1"))),
    "utf-8": Kind((HTML, (b"x-place", "Zürich 東京".encode()))),
    "latin-1": Kind((HTML, (b"x-place", b"Z\xfcrich"))),
    "empty-values": Kind((HTML, (b"x-empty", b""))),
    "uncounted": Kind(counted=False),
    "padded": Kind(padding=200),
    "big": Kind(body=BIG),
    "early-hints": Kind(interim=(LINK, LINK)),
    "trailers": Kind(trailers=((b"x-sum", b"1"), (b"x-sum", b"2"))),
    "no-content": Kind(((b"x-why", b"none"),), b"", b"204", counted=False, outcome=Outcome.NO_CONTENT),
    "not-modified": Kind((ETAG,), b"", b"304", announced=99, outcome=Outcome.NOT_MODIFIED),
    "redirect": Kind(((b"location", b"/plain"),), b"there", b"302", outcome=Outcome.REDIRECT),
    "not-found": Kind(status=b"404", outcome=Outcome.NOT_FOUND),
    "head": Kind(body=b"", announced=99, outcome=Outcome.NO_CONTENT),
    "short": Kind(announced=9999, truncated="disconnect", outcome=Outcome.INCOMPLETE),
    "odd-length": Kind((HTML, (b"content-length", b"many")), counted=False),
    "reset": Kind(end="reset", announced=9999, truncated="disconnect", outcome=Outcome.INCOMPLETE),
    "too-large": Kind(
        body=b"", announced=99_999_999, end="never", truncated="length", outcome=Outcome.TOO_LARGE
    ),
    "slow": Kind(end="silence", truncated="time", outcome=Outcome.TIMEOUT),
}
FAILURES = (Outcome.PROTOCOL_ERROR, Outcome.UNREACHABLE)
FAILED = (Outcome.TOO_LARGE, Outcome.TIMEOUT)


@dataclass
class StreamServer:
    """Speaks HTTP/2 over TLS and nothing else, one thread for each connection."""

    folder: Path
    kinds: dict[str, Kind]
    protocols: tuple[str, ...] = ("h2",)
    goodbye_after: int = 0  # requests after which a connection ends with GOAWAY; 0: never
    silent_after: int = 0  # requests after which a connection answers nothing
    requests: dict[str, Fields] = field(default_factory=dict)
    connections: int = 0
    port: int = 0

    @contextmanager
    def running(self) -> Iterator[StreamServer]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate(self.folder))
        if self.protocols:
            context.set_alpn_protocols(list(self.protocols))
        with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
            self.port = server.getsockname()[1]
            threading.Thread(target=self._accept, args=(server, context), daemon=True).start()
            yield self
            server.shutdown(socket.SHUT_RDWR)

    def url(self, name: str = "") -> str:
        return f"https://127.0.0.1:{self.port}/{name}"

    def _accept(self, server: socket.socket, context: ssl.SSLContext) -> None:
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                threading.Thread(target=self._serve, args=(client, context), daemon=True).start()

    def _serve(self, plain: socket.socket, context: ssl.SSLContext) -> None:
        self.connections += 1
        with suppress(OSError), context.wrap_socket(plain, server_side=True) as client:
            if client.selected_alpn_protocol() == "h2":
                self._streams(client)
            else:
                self._lines(client)

    def _lines(self, client: ssl.SSLSocket) -> None:
        """Answer one request over HTTP/1.1."""
        request = client.recv(1 << 16)
        body = self._answer(request.split(b" ")[1].decode().removeprefix("/")).body
        client.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: %d\r\n" % len(body))
        client.sendall(b"connection: close\r\n\r\n" + body)

    def _streams(self, client: ssl.SSLSocket) -> None:
        conversation = Conversation(self, client)
        while conversation.goes_on and (data := client.recv(1 << 16)):
            conversation.hear(data)

    def asked(self, request: Fields) -> Kind:
        """Note a request and return the kind of its answer."""
        name = dict(request)[b":path"].decode().removeprefix("/")
        self.requests[name] = request
        return self._answer(name)

    def _answer(self, name: str) -> Kind:
        return self.kinds.get(name) or Kind(body=markup(self.kinds))


class Conversation:
    """One connection over HTTP/2, from the side of the server."""

    def __init__(self, server: StreamServer, client: ssl.SSLSocket) -> None:
        self._server, self._client = server, client
        as_given = {"validate_outbound_headers": False, "normalize_outbound_headers": False}
        self._h2 = H2Connection(H2Configuration(client_side=False, header_encoding=None, **as_given))
        self._h2.initiate_connection()
        self._kinds: dict[int, Kind] = {}
        self._bodies: dict[int, bytes] = {}  # what is still to be sent
        self._answered = 0
        self.goes_on = True
        self._say()

    def hear(self, data: bytes) -> None:
        """Handle what came, and send as much of the answers as the client has room for."""
        for event in self._h2.receive_data(data):
            if isinstance(event, RequestReceived):
                self._kinds[event.stream_id] = self._server.asked(tuple(event.headers))
            elif isinstance(event, StreamEnded) and not 0 < self._server.silent_after <= self._answered:
                self._answered += 1
                self._begin(event.stream_id)
        for stream in list(self._bodies):
            with suppress(StreamClosedError):  # the client reset it
                self._go_on(stream)
        if 0 < self._server.goodbye_after <= self._answered and not self._bodies:
            self._h2.close_connection()
            self.goes_on = False
        self._say()

    def _say(self) -> None:
        self._client.sendall(self._h2.data_to_send())

    def _begin(self, stream: int) -> None:
        kind = self._kinds[stream]
        if kind.interim:
            self._h2.send_headers(stream, ((b":status", b"103"), *kind.interim))
        if kind.end != "silence":
            self._h2.send_headers(stream, kind.fields, end_stream=not kind.body and kind.end == "stream")
            self._bodies[stream] = kind.body

    def _go_on(self, stream: int) -> None:
        kind = self._kinds[stream]
        while body := self._bodies[stream]:
            room = self._h2.local_flow_control_window(stream) - kind.padding - 1
            size = min(room, self._h2.max_outbound_frame_size - 256, len(body))
            if size <= 0:
                return
            self._h2.send_data(stream, body[:size], pad_length=kind.padding or None)
            self._bodies[stream] = body[size:]
        del self._bodies[stream]
        if kind.end == "reset":
            self._h2.reset_stream(stream)
        elif kind.trailers:
            self._h2.send_headers(stream, kind.trailers, end_stream=True)
        elif kind.end == "stream" and kind.body:
            self._h2.end_stream(stream)
        self.goes_on &= kind.end != "connection"


class Odd:
    """A downloader middleware that asks for one page with HEAD, and for one with secrets."""

    def process_request(self, request: Request) -> None:
        if request.url.endswith("/head"):
            request.method = "HEAD"
        if request.url.endswith("/plain"):
            request.headers["Authorization"] = "Basic c2VjcmV0"


HTTP2 = ("-s", "ARCHIVE_HTTP2=1", "-s", "ROBOTSTXT_OBEY=0")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StreamServer]:
    with StreamServer(tmp_path_factory.mktemp("server"), KINDS).running() as server:
        yield server


@pytest.fixture(scope="module")
def crawled(server: StreamServer, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A crawl of all kinds."""
    crawl = Crawl(tmp_path_factory.mktemp("http2"))
    middlewares = json.dumps({**project.DOWNLOADER_MIDDLEWARES, "tests.test_crawl_http2.Odd": 580})
    settings = (
        *(*HTTP2, "-s", "RETRY_TIMES=2", "-s", "DOWNLOAD_TIMEOUT=2", "-s", "DOWNLOAD_MAXSIZE=9999999"),
        *("-s", f"DOWNLOADER_MIDDLEWARES={middlewares}"),
    )
    done = crawl(*settings, seeds=server.url())
    assert done.code == 0
    assert "Traceback" not in done.log
    return crawl


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_what_is_kept_is_what_was_sent(name: str, server: StreamServer, crawled: Crawl) -> None:
    capture, wire = kept(crawled, server.url(name))
    kind = KINDS[name]
    assert wire.received == (b"" if name == "slow" else kind.head)
    assert wire.trailers == b"".join(b"%b: %b\r\n" % field for field in kind.trailers)
    assert (capture.outcome, wire.truncated) == (kind.outcome, kind.truncated)
    assert wire.length == (None if kind.outcome in FAILED else len(kind.body))
    assert wire.decoded == kind.decoded
    assert (wire.ip, wire.port) == ("127.0.0.1", server.port)
    assert wire.protocols == (("tls/1.3",) if name == "slow" else ("h2", "tls/1.3"))
    if capture.number:
        with closing(Archive.open(ArchiveConfig(uri=crawled.uri))) as archive:
            body = gzip.decompress(kind.body) if kind.decoded else kind.body
            assert archive.body(capture) == body


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_the_request_is_kept_as_the_server_got_it(name: str, server: StreamServer, crawled: Crawl) -> None:
    _, wire = kept(crawled, server.url(name))
    sent = dict(server.requests[name])
    first = b"%b %b HTTP/2\r\nhost: %b\r\n" % (sent[b":method"], sent[b":path"], sent[b":authority"])
    others = [field for field in server.requests[name] if not field[0].startswith(b":")]
    lines = [b"%b: %b\r\n" % field for field in others if field[0] != b"authorization"]
    assert wire.request == first + b"".join(lines) + b"\r\n"
    assert wire.left_out == (("authorization",) if name == "plain" else ())
    assert b"content-length" not in sent


@pytest.mark.long
def test_times_are_those_of_the_exchange(crawled: Crawl, server: StreamServer) -> None:
    _, wire = kept(crawled, server.url("slow"))
    assert wire.first_byte is None
    assert wire.ended is not None
    assert 1900 < wire.ended < 6000
    _, quick = kept(crawled, server.url("plain"))
    assert quick.first_byte is not None
    assert quick.ended is not None
    assert quick.first_byte <= quick.ended < 3000


@pytest.mark.long
def test_replay_shows_the_headers_in_lines(crawled: Crawl, server: StreamServer) -> None:
    shown = run_scrapy(
        ("replay", server.url("repeated"), "--headers", "-s", f"ARCHIVE_URI={crawled.uri}")
    ).stdout
    assert shown.startswith("HTTP/2 200\nset-cookie: a=1\ncontent-type: text/html; charset=utf-8\n")


PAGES = {f"page-{number}": Kind() for number in range(40)}


def crawl_of(crawl: Crawl, server: StreamServer, *options: str) -> dict[str, Wire]:
    """Crawl the pages of a server and return the exchange of each."""
    done = crawl(*HTTP2, *options, seeds=server.url())
    assert done.code == 0
    assert "Traceback" not in done.log
    return {name: kept(crawl, server.url(name))[1] for name in server.kinds}


@pytest.mark.long
def test_one_connection_carries_all_requests_to_a_host(crawl: Crawl, tmp_path: Path) -> None:
    with StreamServer(tmp_path, PAGES).running() as server:
        found = crawl_of(crawl, server)
    assert server.connections == 1
    assert {wire.head for wire in found.values()} == {Kind().head}


@pytest.mark.parametrize("protocols", [("http/1.1",), ()], ids=["http/1.1", "none"])
def test_a_server_without_http2_is_asked_over_http1(
    protocols: tuple[str, ...], crawl: Crawl, tmp_path: Path
) -> None:
    with StreamServer(tmp_path, {"page": Kind(), "other": Kind()}, protocols).running() as server:
        found = crawl_of(crawl, server)
    assert [wire.protocols for wire in found.values()] == [("http/1.1", "tls/1.3")] * 2
    assert server.connections == 4  # the first of them to ask for HTTP/2


@pytest.mark.long
def test_http2_is_spoken_only_if_it_is_wanted(crawl: Crawl, tmp_path: Path) -> None:
    with StreamServer(tmp_path, {"page": Kind()}, ("h2", "http/1.1")).running() as server:
        assert crawl("-s", "ROBOTSTXT_OBEY=0", seeds=server.url()).code == 0
        assert kept(crawl, server.url("page"))[1].protocols == ("http/1.1", "tls/1.3")


@pytest.mark.long
def test_a_connection_that_ends_costs_no_page(crawl: Crawl, tmp_path: Path) -> None:
    with StreamServer(tmp_path, PAGES, goodbye_after=10).running() as server:
        assert {wire.head for wire in crawl_of(crawl, server).values()} == {Kind().head}
    assert server.connections > 2


@pytest.mark.long
def test_a_connection_that_falls_silent_costs_no_page(crawl: Crawl, tmp_path: Path) -> None:
    with StreamServer(tmp_path, PAGES, silent_after=15).running() as server:
        found = crawl_of(crawl, server, "-s", "DOWNLOAD_TIMEOUT=1")
    assert {wire.head for wire in found.values()} == {Kind().head}


@pytest.mark.long
def test_an_answer_that_the_end_of_the_connection_cuts_is_kept(crawl: Crawl, tmp_path: Path) -> None:
    kind = Kind(end="connection", counted=False)
    with StreamServer(tmp_path, {"page": kind}).running() as server:
        (wire,) = crawl_of(crawl, server).values()
        capture, _ = kept(crawl, server.url("page"))
    assert capture.outcome is Outcome.INCOMPLETE
    assert (wire.received, wire.length, wire.truncated) == (kind.head, len(PAGE), "disconnect")


@pytest.mark.long
@pytest.mark.parametrize("at_once", [1, 8])
def test_an_answer_that_breaks_the_rules_costs_no_other_page(
    at_once: int, crawl: Crawl, tmp_path: Path
) -> None:
    broken = {"broken": Kind((HTML, (b"X-Upper", b"case")))}
    with StreamServer(tmp_path, {**PAGES, **broken}).running() as server:
        found = crawl_of(crawl, server, "-s", f"ARCHIVE_LOCAL_CONCURRENCY={at_once}")
        capture, _ = kept(crawl, server.url("broken"))
    assert {found[name].head for name in PAGES} == {Kind().head}
    assert capture.outcome in ([Outcome.PROTOCOL_ERROR] if at_once == 1 else FAILURES)
    assert "uppercase" in capture.reason


@pytest.mark.long
def test_bodies_that_are_refused_leave_room_on_the_connection(crawl: Crawl, tmp_path: Path) -> None:
    kinds = {
        f"big-{number}": Kind(body=BIG, counted=False, outcome=Outcome.TOO_LARGE) for number in range(12)
    }
    with StreamServer(tmp_path, {**kinds, "page": Kind()}).running() as server:
        found = crawl_of(crawl, server, "-s", "DOWNLOAD_MAXSIZE=10000", "-s", "DOWNLOAD_TIMEOUT=5")
    assert found["page"].head == Kind().head
    assert {found[name].truncated for name in kinds} == {"length"}
    assert server.connections == 1


@pytest.mark.long
def test_a_host_that_refuses_connections_is_unreachable(crawl: Crawl) -> None:
    done = crawl(*HTTP2, "-s", "DOWNLOAD_TIMEOUT=20", seeds=f"https://127.0.0.1:{free_port()}/")
    (record,) = done.records
    assert record["outcome"] == "unreachable"
    assert "refused" in record["reason"]


@pytest.mark.long
@pytest.mark.parametrize("protocols", [(), ("h2",)], ids=["http1", "http2"])
def test_certificates_that_no_browser_accepts_are_refused_only_on_demand(
    tmp_path: Path, crawl: Crawl, protocols: tuple[str, ...]
) -> None:
    verified = ("-s", "DOWNLOAD_VERIFY_CERTIFICATES=True", "-s", "RETRY_TIMES=0")
    with StreamServer(tmp_path, {}, protocols).running() as server:
        assert crawl(*HTTP2, seeds=server.url()).code == 0
        assert crawl(*HTTP2, *verified, seeds=server.url()).code == 8
        with closing(Archive.open(ArchiveConfig(uri=crawl.uri))) as archive:
            accepted, refused = archive.captures(server.url())
    assert (accepted.outcome, accepted.number) == (Outcome.FETCHED, 1)
    assert refused.outcome in FAILURES
    assert refused.reason == "TLS: certificate verify failed"
