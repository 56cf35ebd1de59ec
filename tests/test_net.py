"""Requests to other servers: none waits longer than its limit, whatever the server does."""

from __future__ import annotations

import socketserver
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from starlette.exceptions import HTTPException

from archivebot.exceptions import StorageError, Undelivered, UsageError
from archivebot.kinds import SiteChange
from archivebot.net import post
from archivebot.proof import stamp
from archivebot.watch.alert import Alert, ChangedAddress
from archivebot.watch.mail import Mail
from archivebot.web import crawls

LIMIT = 0.3
# A machine that is busy with other tests ends a request late; a request without a limit lasts for ever.
LATE = 20


@contextmanager
def trickling(begin: bytes, byte: bytes) -> Iterator[int]:
    """Run a server that sends a byte now and then after a begin, and yield its port."""

    class Trickle(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            try:
                self.request.sendall(begin)
                while True:
                    self.request.sendall(byte)
                    time.sleep(LIMIT / 10)
            except OSError:
                return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Trickle) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("begin", "byte"),
    [
        (b"HTTP/1.0 200 OK\r\n\r\n", b"x"),  # such a body ends with the connection
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
    ],
)
def test_a_request_ends_although_bytes_of_its_answer_come(begin: bytes, byte: bytes) -> None:
    with trickling(begin, byte) as port:
        began = time.monotonic()
        with pytest.raises(TimeoutError, match=r"within 0.3 seconds"):
            post(f"http://127.0.0.1:{port}/", b"", {}, LIMIT, 1 << 20)
        assert time.monotonic() - began < LATE


def test_an_authority_that_does_not_come_to_an_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamp, "PATIENCE", LIMIT)
    with (
        trickling(b"HTTP/1.0 200 OK\r\n\r\n", b"x") as port,
        pytest.raises(StorageError, match="does not answer: no whole answer within"),
    ):
        stamp.stamped(b"note", f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize(
    "url", ["http://[", "http://example.org:99999/", "https://", "ftp://example.org/", "x y"]
)
def test_what_is_no_address_of_an_authority_is_an_error_of_its_user(url: str) -> None:
    with pytest.raises(UsageError, match="write https://host/path"):
        stamp.stamped(b"note", url)


def test_a_name_that_no_host_can_have_is_an_error_of_the_request() -> None:
    with pytest.raises(OSError, match="no name of a host"):
        post(f"http://{'a' * 64}.example/", b"", {}, LIMIT, 1)


def test_a_scrapyd_that_does_not_come_to_an_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawls, "TIMEOUT", LIMIT)
    with (
        trickling(b'HTTP/1.0 200 OK\r\n\r\n{"status": "', b"x") as port,
        pytest.raises(HTTPException, match=r"does not answer .no whole answer within"),
    ):
        crawls.Crawls(f"http://127.0.0.1:{port}/").start(b'{"spider": "site"}')


@pytest.mark.parametrize("greeting", [b"", b"220-"])
def test_a_mail_server_that_does_not_come_to_an_end_is_left(greeting: bytes) -> None:
    url = "http://example.org/"
    page = ChangedAddress(url, 1, 2, "20260101000000", url)
    alert = Alert("id", "all", SiteChange.CHANGED, "a text", (page,))
    with trickling(greeting, b"x" if greeting else b"220-x\r\n") as port:
        mail = Mail("mail", "a@example.org", "a@example.org", f"smtp://127.0.0.1:{port}", LIMIT)
        with pytest.raises(Undelivered, match="no whole answer within"):
            mail.send([alert])
