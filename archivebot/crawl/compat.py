"""Every use of what Scrapy and Twisted call private, in one place: what another release may break.

Scrapy has no public way to learn whether a crawl is ending, to look for the next request at once, or to
read answers with a parser of one's own.
"""

from __future__ import annotations

from typing import Any, ClassVar

from scrapy.core.downloader import Slot
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress
from twisted.web._newclient import HEADER, STATUS, HTTP11ClientProtocol, ParseError, _contentLength
from twisted.web.http_headers import Headers
from twisted.web.iweb import IResponse

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
    """Return whether the spider of a crawl is being closed; not before it was opened, nor after."""
    return engine._slot is not None and engine._slot.closing is not None


def is_closing(engine: ExecutionEngine) -> bool:
    """Return whether the crawl is ending, so that nothing new will be fetched."""
    return not engine.running or engine._slot is None or is_ending(engine)


def look_again(engine: ExecutionEngine) -> None:
    """Let the engine ask its scheduler for requests now; its heartbeat does so every five seconds."""
    slot = engine._slot
    if slot is not None and slot.closing is None:
        slot.nextcall.schedule()


def forget_spider(engine: ExecutionEngine) -> None:
    """Let a crawl that could not begin end: Scrapy would close what it has not opened, with tracebacks."""
    engine.spider = None


def keep_exact(slot: Slot) -> None:
    """Switch off the jitter of the delay of a host, of up to 50 %."""
    if hasattr(slot, "jitter"):  # Scrapy 2.19 and later
        slot.jitter = 0.0
    else:
        slot.randomize_delay = False


def content_length(headers: Headers) -> int | None:
    """Return the length that the headers of a connection name; raises ValueError for one that is none."""
    length: int | None = _contentLength(headers)
    return length


class LenientParser(_LenientHTTPClientParser):
    """The parser of an answer. Scrapy makes one without asking, so a subclass has no constructor."""

    abort: Any = None  # closes the connection at once

    def knows_coding(self, name: bytes) -> bool:
        """Return whether a transfer coding can be undone."""
        return name in self._transferDecoders


class ParsingHandler(HTTP11DownloadHandler):
    """Scrapy's handler of HTTP/1.1 and TLS, whose answers a ``parser`` of ours reads."""

    parser: ClassVar[type[LenientParser]]

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool._factory = _factory(self.parser)


def _factory(parser: type[LenientParser]) -> type[_LenientHTTP11ClientFactory]:
    """Return a maker of connections whose answers a parser reads."""

    class Protocol(_LenientHTTP11ClientProtocol):
        def request(self, request: Any) -> Deferred[IResponse]:
            answer = super().request(request)
            assert self._parser is not None
            assert self.transport is not None
            self._parser.__class__ = parser  # as Scrapy does for its own
            self._parser.abort = self.transport.abortConnection  # type: ignore[attr-defined]
            return answer

    class Factory(_LenientHTTP11ClientFactory):
        def buildProtocol(self, addr: IAddress | None) -> HTTP11ClientProtocol:
            return Protocol(self._quiescentCallback)  # type: ignore[no-untyped-call]

    return Factory
