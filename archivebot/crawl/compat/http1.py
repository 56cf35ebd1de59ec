"""HTTP/1.1 as Scrapy speaks it, with another parser for the answers and with notes on each exchange."""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress
from twisted.web._newclient import HTTP11ClientProtocol, _contentLength
from twisted.web.http_headers import Headers
from twisted.web.iweb import IResponse

from archivebot.crawl.exchange import Exchange


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
        return bytes(self.clearLineBuffer())

    def note_trailers(self) -> None:
        """Note the header lines after a chunked body."""
        self.exchange.trailed(getattr(self.bodyDecoder, "_trailerHeaders", ()))

    def _finished(self, rest: bytes) -> None:
        self.note_trailers()
        super()._finished(rest)

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
            self._parser.abort = transport.abortConnection  # type: ignore[attr-defined]  # of our parser

            def secured(response: IResponse) -> IResponse:
                with suppress(AttributeError):  # no TLS
                    request.exchange.secured(transport.getHandle().get_protocol_version_name())
                return response

            return answer.addCallback(secured)

    class Factory(_LenientHTTP11ClientFactory):
        def buildProtocol(self, addr: IAddress | None) -> HTTP11ClientProtocol:
            return Protocol(self._quiescentCallback)

    return Factory
