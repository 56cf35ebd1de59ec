"""The connections of a server: how many there may be, and how long a client may take."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Awaitable, Callable
from functools import cache, partial

import h11
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from archivebot.web.safety import INTERFACE

# Seconds in which a client must send a request, and take what stands in the buffers of its connection. A
# browser sends a request at once; a slow line of 50 kB/s takes a page of 300 kB in 6 seconds.
SENDING, TAKING = 10.0, 60.0

# Connections, each of which takes 50 kB and a file descriptor; files and sockets that the process needs
# besides; connections beyond the limit that are told so. If there are still more, they are cut.
MOST, OTHERS, TOLD = 2_000, 64, 128

# Requests that are being answered or wait for it: at 10 ms each, the last one is answered after 5 seconds.
# Bytes of answers that clients have not taken yet, and of a piece that is sent.
MOST_REQUESTS, MOST_UNSENT, PIECE = 500, 256 << 20, 256 << 10

RETRY_AFTER = 5

_CLOSING = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
_TOO_MANY = "too many clients are connected: ask again later\n"
REFUSED = (
    f"HTTP/1.1 503 Service Unavailable\r\n{_CLOSING}Retry-After: {RETRY_AFTER}\r\n"
    f"Content-Length: {len(_TOO_MANY)}\r\n\r\n{_TOO_MANY}"
).encode()
TOO_SLOW = f"HTTP/1.1 408 Request Timeout\r\n{_CLOSING}Content-Length: 0\r\n\r\n".encode()


@cache
def most_connections() -> int:
    """Return how many connections there may be; the limit of open files is raised if it is lower."""
    wanted = MOST + TOLD + OTHERS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return MOST if soft == resource.RLIM_INFINITY else max(1, min(MOST, soft - TOLD - OTHERS))


class Connection(H11Protocol):
    """One connection; clients that are too slow or too many get an error and are cut off."""

    _sending: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None
    _is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        over = len(self.connections) - most_connections()
        self._is_refused = over > 0
        if over > TOLD:
            transport.abort()
        else:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._received()
        self._taken()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            self._end(REFUSED)
            return
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):  # a part of a request
            self._wait()
        else:
            self._received()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._taken()
        self._taking = self.loop.call_later(TAKING, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._taken()

    def _wait(self) -> None:
        """Wait for the rest of a request, from its first byte on."""
        if self._sending is None and not self.transport.is_closing():
            self._sending = self.loop.call_later(SENDING, self._end, TOO_SLOW)

    def _received(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None

    def _taken(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None

    def _end(self, answer: bytes) -> None:
        self._received()
        if not self.transport.is_closing():
            if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                self.transport.write(answer)
            self.transport.close()


class Admission:
    """Refuses requests while too many wait, and answers while clients do not take the answers before them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._count = self._bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if self._count >= MOST_REQUESTS or self._bytes >= MOST_UNSENT:
            await _busy(scope, receive, send)
            return
        answer = _Sent(partial(_busy, scope, receive, send), send, self._room)
        self._count += 1
        try:
            await self._app(scope, receive, answer.send)
        finally:
            self._count -= 1
            self._bytes -= answer.size

    def _room(self, size: int) -> bool:
        """Take room for the body of an answer, if there is room; an answer alone always has room."""
        if self._bytes and self._bytes + size > MOST_UNSENT:
            return False
        self._bytes += size
        return True


class _Sent:
    """An answer that is sent in pieces, each when the client has taken the pieces before."""

    def __init__(
        self, refuse: Callable[[], Awaitable[None]], send: Send, room: Callable[[int], bool]
    ) -> None:
        self._refuse, self._send, self._room = refuse, send, room
        self._start: Message | None = None
        self._is_refused = False
        self.size = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        body: bytes = message.get("body", b"")
        if self._start is not None:
            if not self._room(len(body)):
                self._is_refused = True
                await self._refuse()
            else:
                self.size = len(body)
                await self._send(self._start)
            self._start = None
        if self._is_refused:
            return
        begin = 0
        while len(body) - begin > PIECE:
            await self._send({**message, "body": body[begin : begin + PIECE], "more_body": True})
            begin += PIECE
        await self._send({**message, "body": body[begin:]})


async def _busy(scope: Scope, receive: Receive, send: Send) -> None:
    headers = INTERFACE | {"Retry-After": str(RETRY_AFTER)}
    await PlainTextResponse("too many requests wait: ask again later\n", 503, headers)(scope, receive, send)
