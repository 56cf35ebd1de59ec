"""HTTP/2 as Scrapy speaks it, with notes on each exchange, and without requests that never end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import Event, InformationalResponseReceived, TrailersReceived
from h2.exceptions import ProtocolError
from scrapy import Request, Spider
from scrapy.core._http2.agent import ConnectionKey, H2ConnectionPool
from scrapy.core._http2.protocol import PROTOCOL_NAME, H2ClientFactory, H2ClientProtocol
from scrapy.core._http2.stream import Stream, StreamCloseReason
from scrapy.core.downloader.handlers.http2 import H2DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadFailedError
from scrapy.http import Response
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from twisted.web._newclient import ParseError
from twisted.web.client import URI

from archivebot.crawl.exchange import Exchange

Fields = Iterable[tuple[bytes, bytes]]

_STATUS = b":status"

# Ways in which a stream ends without our doing before its answer is complete.
_BROKEN = (StreamCloseReason.RESET, StreamCloseReason.CONNECTION_LOST, StreamCloseReason.INACTIVE)

# The notes of the requests that are under way.
_NOTES: WeakKeyDictionary[Request, Exchange] = WeakKeyDictionary()


class _NotSpokenError(Exception):
    """A connection ended before both sides agreed to speak HTTP/2."""


class StreamHandler(H2DownloadHandler):
    """Scrapy's handler of HTTP/2 over TLS, which takes notes."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool = _Pool(crawler)

    async def download_noted(self, request: Request, exchange: Exchange) -> Response | None:
        """Download and take notes; return None if the server does not speak HTTP/2."""
        _NOTES[request] = exchange
        try:
            return await super().download_request(request)
        except DownloadFailedError as error:
            if any(reason.check(_NotSpokenError) for reason in getattr(error.__cause__, "reasons", ())):
                return None
            raise


class _Pool(H2ConnectionPool):
    """Scrapy's pool, where the requests that wait for a connection fail if none can be made."""

    def _new_connection(self, key: ConnectionKey, uri: URI, endpoint: Any) -> Deferred[H2ClientProtocol]:
        waiting: Deferred[H2ClientProtocol] = Deferred()
        self._pending_requests[key] = deque((waiting,))
        connected = endpoint.connect(_Factory(uri, self._crawler, lambda each: self._leave(key, each)))
        connected.addCallbacks(self.put_connection, self._fail, callbackArgs=(key,), errbackArgs=(key,))
        return waiting

    def _fail(self, failure: Failure, key: ConnectionKey) -> None:
        for waiting in self._pending_requests.pop(key):
            waiting.errback(failure)

    def _leave(self, key: ConnectionKey, connection: H2ClientProtocol) -> None:
        if self._connections.get(key) is connection:
            del self._connections[key]


class _Factory(H2ClientFactory):
    def __init__(self, uri: URI, crawler: Crawler, leave: Callable[[_Connection], None]) -> None:
        super().__init__(uri, crawler, Deferred())
        self._leave = leave

    def buildProtocol(self, addr: IAddress | None) -> _Connection:
        return _Connection(self.uri, self.crawler, self._leave)


class _Connection(H2ClientProtocol):
    """A connection that reads headers as bytes, and that gets no further requests once it has failed."""

    def __init__(self, uri: URI, crawler: Crawler, leave: Callable[[_Connection], None]) -> None:
        super().__init__(uri, crawler, Deferred())
        # Scrapy decodes headers as UTF-8, and loses the connection if they are not.
        self.conn = H2Connection(H2Configuration(client_side=True, header_encoding=None))
        self._leave = leave
        self._speaks = False  # whether both sides agreed to speak HTTP/2
        self._retired = False

    def handshakeCompleted(self) -> None:
        transport: Any = self.transport
        self._speaks = transport.negotiatedProtocol == PROTOCOL_NAME
        if self._speaks:
            super().handshakeCompleted()
        else:
            transport.abortConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self._leave(self)
        if not self._speaks:
            self._conn_lost_errors.append(_NotSpokenError())
        super().connectionLost(reason)

    def retire(self) -> None:
        """Accept no further requests, and end with the last of the present ones."""
        self._retired = True
        self._leave(self)

    def pop_stream(self, stream_id: int) -> Stream:
        stream = super().pop_stream(stream_id)
        if self._retired and not self.streams:
            transport: Any = self.transport
            transport.abortConnection()
        return stream

    def _lose_connection_with_error(self, errors: list[BaseException]) -> None:
        self._leave(self)
        super()._lose_connection_with_error(errors)

    def _new_stream(self, request: Request, spider: Spider) -> Stream:
        stream = super()._new_stream(request, spider)
        stream.__class__ = _NotedStream  # as Scrapy does for its parser of HTTP/1.1
        return stream

    def _handle_events(self, events: list[Event]) -> None:
        for event in events:
            stream: Any = self.streams.get(getattr(event, "stream_id", 0))
            if stream and isinstance(event, InformationalResponseReceived):
                stream.exchange.arrived()
                stream.exchange.line(_head(event.headers))
            elif stream and isinstance(event, TrailersReceived):
                stream.exchange.trailed([b"%b: %b" % field for field in event.headers])
        super()._handle_events(events)


class _NotedStream(Stream):
    """A stream that takes notes, and whose answer is kept if it is cut short."""

    _cut = False

    @property
    def exchange(self) -> Exchange:
        """The notes of the exchange that this stream carries."""
        return _NOTES[self._request]

    def get_response(self) -> Deferred[Response]:
        return super().get_response().addCallback(self._marked)

    def _marked(self, response: Response) -> Response:
        if self._cut:
            response.flags.append("dataloss")  # as Scrapy does for HTTP/1.1
        return response

    def _get_request_headers(self) -> list[tuple[str, str]]:
        wanted = [
            (name.lower(), value)
            for name, value in super()._get_request_headers()
            if name != "Content-Length" or self._request.body  # RFC 9110, 8.6: a GET without a body has none
        ]
        pseudo = {name: value for name, value in wanted if name[0] == ":"}
        lines = [f"{pseudo[':method']} {pseudo[':path']} HTTP/2", f"host: {pseudo[':authority']}"]
        lines += [f"{name}: {value}" for name, value in wanted if name not in pseudo]
        transport: Any = self._protocol.transport
        peer = transport.getPeer()
        self.exchange.begin(peer.host, peer.port)
        self.exchange.secured(transport.getHandle().get_protocol_version_name())
        self.exchange.sent([line.encode() + b"\r\n" for line in [*lines, ""]])
        return wanted

    def initiate_request(self) -> None:
        super().initiate_request()
        # A wrong length, or the length in a 304, would end the connection and all its streams.
        stream: Any = self._protocol.conn.streams.get(self.stream_id)
        if stream:
            stream._initialize_content_length = lambda _: None

    def receive_headers(self, headers: Any) -> None:
        self.exchange.arrived()
        self.exchange.line(_head(headers))
        fields: Any = [
            (":status" if name == _STATUS else name, value)
            for name, value in headers
            if name != b"content-length" or value.isdigit()
        ]
        super().receive_headers(fields)

    def receive_data(self, data: bytes, flow_controlled_length: int) -> None:
        super().receive_data(data, flow_controlled_length)
        # Else the connection gets no more bytes after a few closed streams.
        if self.metadata["stream_closed_local"]:
            self._protocol.conn.acknowledge_received_data(flow_controlled_length, self.stream_id)

    def close(
        self,
        reason: StreamCloseReason,
        errors: Sequence[BaseException] | None = None,
        from_protocol: bool = False,
    ) -> None:
        protocol: Any = self._protocol
        if reason is StreamCloseReason.CANCELLED:  # perhaps because the connection is dead
            protocol.retire()
        if reason is StreamCloseReason.ENDED:
            self._cut = self._is_short()
        elif reason in _BROKEN:
            self._cut = self._response["status"] is not None
            lost = reason if reason is StreamCloseReason.RESET else StreamCloseReason.CONNECTION_LOST
            reason = StreamCloseReason.ENDED if self._cut else lost
        alone = len(protocol.streams) == 1  # else another stream may have broken the rules
        failures: Any = [_failure(error, alone) for error in errors or ()]
        super().close(reason, failures, from_protocol)

    def _is_short(self) -> bool:
        """Return whether the body has fewer bytes than its header announces."""
        if self._request.method == "HEAD" or self._response["status"] == 304:
            return False
        announced = int(self._response["headers"].get("Content-Length", 0))
        received: int = self._response["body"].tell()
        return received < announced


def _failure(error: BaseException | Failure, alone: bool) -> Failure:
    """Return why an exchange failed; an answer that breaks the rules fails as over HTTP/1.1."""
    if isinstance(error, Failure):
        return error
    broken = alone and isinstance(error, ProtocolError)
    return Failure(ParseError(str(error), b"") if broken else error)


def _head(headers: Any) -> bytes:
    """Return a list of headers as lines, with the status in the first, as curl prints it."""
    fields = list(headers)
    status = b"".join(value for name, value in fields if name == _STATUS)
    lines = [b"%b: %b\r\n" % field for field in fields if field[0] != _STATUS]
    return b"".join((b"HTTP/2 %b\r\n" % status, *lines, b"\r\n"))
