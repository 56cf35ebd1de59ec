"""A connection to another server that ends in time."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Timer


@contextmanager
def connected(host: str, port: int, seconds: float, tls: bool) -> Iterator[socket.socket]:
    """Yield a connection that is shut down after some seconds, counted from the call.

    A timeout of a socket is only that of each read: a server that sends a byte now and then would never end.
    Raises OSError if there is no connection, TimeoutError if the time was over before the end of the block,
    whatever the block read.
    """
    end, over = time.monotonic() + seconds, Event()
    with _reached(host, port, end) as line, line.dup() as held:
        # The timer shuts down a copy: nobody else closes it or puts TLS in its place.
        timer = Timer(end - time.monotonic(), _shut, (held, over))
        timer.daemon = True
        timer.start()
        try:
            if tls:
                with tls_context().wrap_socket(line, server_hostname=host) as safe:
                    yield safe
            else:
                yield line
        except Exception:
            if not over.is_set():
                raise
        finally:
            timer.cancel()
        if over.is_set():
            raise TimeoutError(f"no whole answer within {seconds:g} seconds")


def tls_context(*, is_verified: bool = True) -> ssl.SSLContext:
    """Return a context that verifies the certificate and the name of the server, or neither of them."""
    context = ssl.create_default_context()
    if not is_verified:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _reached(host: str, port: int, end: float) -> socket.socket:
    """Connect to the first address of a host that answers; all of them together have until ``end``."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError("its host is no name of a host") from error
    failure = OSError("its host has no address")
    for family, kind, protocol, _, address in found:
        line = socket.socket(family, kind, protocol)
        try:
            line.settimeout(max(end - time.monotonic(), 0.001))  # 0 would not wait at all
            line.connect(address)
        except OSError as error:
            line.close()
            failure = error
        else:
            return line
    raise failure


def _shut(line: socket.socket, over: Event) -> None:
    over.set()
    with suppress(OSError):  # the server has closed it
        line.shutdown(socket.SHUT_RDWR)
