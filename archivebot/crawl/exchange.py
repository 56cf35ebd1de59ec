"""Notes on one HTTP exchange, taken while it happens."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from archivebot.wire import Wire, protocol_of, without_secrets

# The meta key under which a request carries the facts of its exchange.
WIRE = "archive_wire"


class Exchange:
    """The notes of one exchange; they start over when the request is sent again."""

    def __init__(self) -> None:
        self.begin("", None)

    def begin(self, ip: str, port: int | None) -> None:
        """Note that a request is about to be sent to an address."""
        self._clock, self._started = time.monotonic(), datetime.now(UTC)
        self._ip, self._port, self._tls = ip, port, ""
        self._request = self._trailers = b""
        self._received = bytearray()
        self._first_byte: int | None = None

    def sent(self, lines: Sequence[bytes]) -> None:
        """Note the head of the request."""
        self._request = b"".join(lines)

    def arrived(self) -> None:
        """Note that bytes of the answer came."""
        if self._first_byte is None:
            self._first_byte = self._elapsed()

    def line(self, line: bytes) -> None:
        """Note a header line of the answer, with its line end if that was received."""
        self._received += line

    def secured(self, version: str) -> None:
        """Note the version of TLS, as OpenSSL names it."""
        self._tls = version.lower().replace("tlsv", "tls/")

    def trailed(self, lines: Sequence[bytes]) -> None:
        """Note the header lines after a chunked body."""
        self._trailers = b"".join(bytes(line) + b"\r\n" for line in lines)

    def wire(self, length: int | None, truncated: str = "") -> Wire | None:
        """Return the facts at the end of the exchange; None if nothing was sent.

        ``length`` counts the bytes of the body that came, None if that is not known.
        """
        if not self._request:
            return None
        request, left_out = without_secrets(self._request)
        received = bytes(self._received)
        return Wire(
            received=received,
            request=request,
            left_out=left_out,
            ip=self._ip,
            port=self._port,
            protocols=tuple(filter(None, (protocol_of(received), self._tls))),
            started=self._started,
            first_byte=self._first_byte,
            ended=self._elapsed(),
            length=length,
            trailers=self._trailers,
            truncated=truncated,
        )

    def _elapsed(self) -> int:
        return round(1000 * (time.monotonic() - self._clock))
