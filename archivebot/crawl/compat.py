"""All uses of private parts of Scrapy and Twisted: another release may break them.

Scrapy has no public way to learn whether a crawl is ending, to ask for the next request at once, or to read
answers with a different parser.
"""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar

from scrapy import Request
from scrapy.core.downloader import Slot
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress
from twisted.web._newclient import HEADER, STATUS, HTTP11ClientProtocol, ParseError, _contentLength
from twisted.web.http_headers import Headers
from twisted.web.iweb import IResponse

from archivebot.crawl.exchange import Exchange

__all__ = [
    "HEADER",
    "STATUS",
    "LenientParser",
    "ParseError",
    "ParsingHandler",
    "content_length",
    "forget_spider",
    "is_closing",
    "is_ending",
    "keep_exact",
    "look_again",
]


def is_ending(engine: ExecutionEngine) -> bool:
    """Return whether the spider of a crawl is being closed; False before it was opened, and afterwards."""
    return engine._slot is not None and engine._slot.closing is not None


def is_closing(engine: ExecutionEngine) -> bool:
    """Return whether the crawl is ending, so that nothing new will be fetched."""
    return not engine.running or engine._slot is None or is_ending(engine)


def look_again(engine: ExecutionEngine) -> None:
    """Make the engine ask its scheduler for requests now; its heartbeat does so every five seconds."""
    slot = engine._slot
    if slot is not None and slot.closing is None:
        slot.nextcall.schedule()


def forget_spider(engine: ExecutionEngine) -> None:
    """End a crawl that could not begin: Scrapy would close a spider it never opened, with tracebacks."""
    engine.spider = None


def keep_exact(slot: Slot) -> None:
    """Switch off the jitter of the delay of a host, of up to 50 %."""
    if hasattr(slot, "jitter"):  # Scrapy 2.19 and later
        slot.jitter = 0.0
    else:
        slot.randomize_delay = False


def content_length(headers: Headers) -> int | None:
    """Return the length in the headers of a connection; raises ValueError if it is not a number."""
    length: int | None = _contentLength(headers)
    return length


class LenientParser(_LenientHTTPClientParser):
    """The parser of an answer. Twisted creates it, so a subclass has no constructor of its own."""

    abort: Any = None  # a function that closes the connection at once

    @property
    def exchange(self) -> Exchange:
        """The notes of the exchange that this answer is part of."""
        found: Exchange = self.request.exchange
        return found

    def unfinished_line(self) -> bytes:
        """Return the received part of an unfinished line."""
        return bytes(self.clearLineBuffer())  # type: ignore[no-untyped-call]

    def note_trailers(self) -> None:
        """Note the header lines after a chunked body."""
        self.exchange.trailed(getattr(self.bodyDecoder, "_trailerHeaders", ()))

    def _finished(self, rest: bytes) -> None:
        self.note_trailers()
        super()._finished(rest)  # type: ignore[no-untyped-call]

    def knows_coding(self, name: bytes) -> bool:
        """Return whether a transfer coding can be decoded."""
        return name in self._transferDecoders


class ParsingHandler(HTTP11DownloadHandler):
    """Scrapy's handler of HTTP/1.1 and TLS, with our own ``parser`` for the answers.

    It keeps at most ``connections`` to a host for the next requests.
    """

    parser: ClassVar[type[LenientParser]]

    def __init__(self, crawler: Crawler, connections: int) -> None:
        super().__init__(crawler)
        pool: Any = self._pool
        pool._factory = _factory(self.parser)
        pool.maxPersistentPerHost = connections
        connect = pool.getConnection
        pool.getConnection = lambda *place: connect(*place).addCallback(_Noted, _NOTES.get())

    async def download_noted(self, request: Request, exchange: Exchange) -> Response:
        """Download and take notes; the connection is requested before any other task runs."""
        _NOTES.set(exchange)
        return await super().download_request(request)


# The notes of the request that is about to get a connection.
_NOTES: ContextVar[Exchange] = ContextVar("notes")


@dataclass(frozen=True)
class _Noted:
    """A connection whose next request takes notes, also if it is sent again over another connection."""

    connection: HTTP11ClientProtocol
    exchange: Exchange

    def request(self, request: Any) -> Deferred[IResponse]:
        write = request._writeHeaders
        request.exchange = self.exchange
        request._writeHeaders = lambda transport, length: write(_Tee(transport, self.exchange), length)
        answer: Deferred[IResponse] = self.connection.request(request)
        return answer


@dataclass(frozen=True)
class _Tee:
    """A transport that notes the lines written to it."""

    transport: Any
    exchange: Exchange

    def writeSequence(self, lines: list[bytes]) -> None:
        self.exchange.sent(lines)
        self.transport.writeSequence(lines)


def _factory(parser: type[LenientParser]) -> type[_LenientHTTP11ClientFactory]:
    """Return a connection factory that uses ``parser`` for the answers."""

    class Protocol(_LenientHTTP11ClientProtocol):
        def request(self, request: Any) -> Deferred[IResponse]:
            transport: Any = self.transport
            peer = transport.getPeer()
            request.exchange.begin(getattr(peer, "host", ""), getattr(peer, "port", None))
            answer = super().request(request)
            assert self._parser is not None
            self._parser.__class__ = parser  # as Scrapy does for its own
            self._parser.abort = transport.abortConnection  # type: ignore[attr-defined]

            def secured(response: IResponse) -> IResponse:
                with suppress(AttributeError):  # no TLS
                    request.exchange.secured(transport.getHandle().get_protocol_version_name())
                return response

            return answer.addCallback(secured)

    class Factory(_LenientHTTP11ClientFactory):
        def buildProtocol(self, addr: IAddress | None) -> HTTP11ClientProtocol:
            return Protocol(self._quiescentCallback)  # type: ignore[no-untyped-call]

    return Factory
