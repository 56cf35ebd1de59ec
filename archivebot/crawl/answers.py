"""The HTTP parser: a malformed answer keeps its status and all data that can be read."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadCancelledError, DownloadTimeoutError, StopDownload
from scrapy.http import Response
from twisted.python.failure import Failure
from twisted.web.http_headers import Headers, InvalidHeaderName

from archivebot.config import CrawlConfig, PaceConfig
from archivebot.crawl.compat.http1 import LenientParser, ParsingHandler, content_length
from archivebot.crawl.compat.parser import HEADER, STATUS, ParseError
from archivebot.crawl.exchange import WIRE, Exchange
from archivebot.crawl.intake import Intake
from archivebot.crawl.reading.convert import flagged, stated_outcome
from archivebot.models import Outcome

if TYPE_CHECKING:
    from archivebot.crawl.compat.http2 import StreamHandler

# Maximum bytes of the headers of an answer, and of one header line. Chromium accepts 256 kB, Twisted by
# default any number of lines of 16 kB: endless headers took 2.3 GB.
MOST_HEADERS = 256 * 1024

TOO_LONG = f"the headers are longer than {MOST_HEADERS} bytes"
CUT_OFF = "the connection ended before the headers did"

# Maximum of interim answers (100 Continue, 103 Early Hints) before the final one; Twisted logs each. Real
# servers send one or two.
MOST_INTERIM = 20

# Seconds without a byte after which a body of unknown length counts as complete: servers that announce a
# wrong length may keep the connection open.
SILENCE = 2.0

# The header in which the parser passes a fault to the handler: Scrapy passes nothing else on.
FAULT = "X-Archivebot-Fault"

_FRAMING = (b"content-length", b"transfer-encoding")


class AnswerParser(LenientParser):
    """Parse an answer; it is kept even if its headers end early or never, or its length is invalid.

    In the first case the answer consists of the headers received so far. If the length is invalid, the body
    extends to the end of the connection.
    """

    MAX_LENGTH = MOST_HEADERS
    size = 0  # bytes of headers
    interim = 0  # answers before the final one
    silence: Any = None  # the call that ends a body of unknown length

    def dataReceived(self, data: bytes) -> None:
        self.exchange.arrived()
        super().dataReceived(data)

    def lineReceived(self, line: bytes) -> None:
        self.exchange.line(line + b"\n")
        self.size += len(line) + 1
        if self.size > MOST_HEADERS:
            self._break_off(TOO_LONG)
        elif self.state == STATUS or line[: len(FAULT)].lower() != FAULT.lower().encode():
            super().lineReceived(line)

    def lineLengthExceeded(self, line: bytes) -> None:
        self.exchange.line(line[: MOST_HEADERS - self.size])
        self._break_off(TOO_LONG)

    def statusReceived(self, status: bytes) -> None:
        super().statusReceived(status)
        if not 100 <= self.response.code <= 999:
            raise ParseError("status code out of range", status[:40])

    def headerReceived(self, name: bytes, value: bytes) -> None:
        with suppress(InvalidHeaderName):  # Twisted cannot hold it; it stays in the bytes received
            super().headerReceived(name.rstrip(), value)

    def allHeadersReceived(self) -> None:
        self.interim += self.response.code < 200
        if self.interim > MOST_INTERIM:
            raise ParseError("interim answers only", b"")
        if fault := self._wrong_framing():
            self._record_fault(fault)
            from twisted.internet import reactor  # importing it earlier would choose it

            self.silence = reactor.callLater(SILENCE, self.abort)  # type: ignore[arg-type]  # wrong stub
        super().allHeadersReceived()

    def rawDataReceived(self, data: bytes) -> None:
        if self.silence and self.silence.active():
            self.silence.reset(SILENCE)
        super().rawDataReceived(data)

    def connectionLost(self, reason: Failure | None = None) -> None:
        if self.silence and self.silence.active():
            self.silence.cancel()
        self.note_trailers()
        if self.state in (STATUS, HEADER):
            self.exchange.line(self.unfinished_line())
        if self.state == HEADER and hasattr(self, "response") and self.response.code >= 200:
            self._break_off(CUT_OFF)
        else:
            super().connectionLost(reason)

    def _wrong_framing(self) -> str:
        """Return why the headers do not determine the end of the body, or ""."""
        if self.response.code < 200 or self.response.code in self.NO_BODY_CODES:
            return ""
        codings = self.connHeaders.getRawHeaders(b"transfer-encoding")
        if codings:
            known = self.knows_coding(codings[0].lower())
            return "" if known else f"unknown transfer coding {codings[0][:40]!r}"
        try:
            content_length(self.connHeaders)
        except ValueError as error:
            return f"Content-Length is none ({str(error)[:100]})"
        return ""

    def _break_off(self, fault: str) -> None:
        """End the answer after the headers received so far, without a body."""
        if self.state == STATUS or self.response.code < 200:
            raise ParseError(fault, b"")
        self._record_fault(fault)
        self.connHeaders = Headers({b"connection": [b"close"], b"content-length": [b"0"]})
        super().allHeadersReceived()

    def _record_fault(self, fault: str) -> None:
        """Record the fault, and the headers that are wrong."""
        self.headers.setRawHeaders(FAULT, [fault])
        for name in _FRAMING:
            for value in self.connHeaders.getRawHeaders(name, ()):
                self.headers.addRawHeader(name, value)
            self.connHeaders.removeHeader(name)


class AnswerHandler(ParsingHandler):
    """Download over HTTP/1.1 and TLS with bounded headers, and with room for each large body.

    If the crawl uses HTTP/2, only the hosts that do not speak it are asked over HTTP/1.1.
    """

    parser = AnswerParser

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        at_once = PaceConfig.from_settings(settings).local_concurrency
        super().__init__(crawler, max(at_once, settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")))
        self._intake = Intake.of(crawler)
        self._streams = _streams(crawler) if CrawlConfig.from_settings(settings).http2 else None
        self._without_http2: set[str] = set()  # hosts with their ports

    async def download_request(self, request: Request) -> Response:
        intake = self._intake
        try:
            return intake.received.keep(await self._download(request))
        except StopDownload:
            if request not in intake.waiting:
                raise
            async with intake.received.waited_for(intake.waiting[request]):
                return intake.received.keep(await self._download(request))
        finally:
            intake.done(request)

    async def _download(self, request: Request) -> Response:
        """Download once; afterwards the request carries the facts of the exchange, even after an error."""
        exchange = Exchange()
        try:
            response = await self._answer(request, exchange)
        except Exception as error:
            request.meta[WIRE] = exchange.wire(None, _cut_by(error))
            raise
        request.meta[WIRE] = exchange.wire(len(response.body), _cut(response))
        return response

    async def _answer(self, request: Request, exchange: Exchange) -> Response:
        url = urlsplit(request.url)
        direct = url.scheme == "https" and not request.meta.get("proxy")
        if self._streams and direct and url.netloc not in self._without_http2:
            response = await self._streams.download_noted(request, exchange)
            if response is not None:
                return response
            self._without_http2.add(url.netloc)
        return _with_fault(await self.download_noted(request, exchange))

    async def close(self) -> None:
        if self._streams:
            await self._streams.close()
        await super().close()


def _streams(crawler: Crawler) -> StreamHandler:
    """Return the handler of HTTP/2; it needs a package that other crawls do not need."""
    from archivebot.crawl.compat.http2 import StreamHandler

    return StreamHandler(crawler)


def _cut(response: Response) -> str:
    """Return why an answer is incomplete, in the words of WARC-Truncated; "" if it is complete."""
    outcome, reason = stated_outcome(response)
    if outcome is not Outcome.INCOMPLETE:
        return ""
    cut_off = "dataloss" in response.flags or reason == CUT_OFF
    return "length" if reason == TOO_LONG else "disconnect" if cut_off else "unspecified"


def _cut_by(error: Exception) -> str:
    """Return why no complete answer came, in the words of WARC-Truncated."""
    if isinstance(error, DownloadTimeoutError):
        return "time"
    return "length" if isinstance(error, DownloadCancelledError) else "disconnect"


def _with_fault(response: Response) -> Response:
    """Return an answer with its fault as the outcome."""
    fault = response.headers.pop(FAULT, None)
    if not fault:
        return response
    if not response.body and response.headers.get("Content-Length") == b"0":
        del response.headers["Content-Length"]  # the parser's
    return flagged(response, Outcome.INCOMPLETE, b"".join(fault).decode("latin-1"))
