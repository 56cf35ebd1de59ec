"""scrapy serve with clients that are slow, broken, or very many."""

from __future__ import annotations

import asyncio
import random
import resource
import socket
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from archivebot.web.connections import MOST_UNSENT, OTHERS, SENDING, TOLD
from tests.factories import URL, html, make_page
from tests.served import Served, archived, serving

BIG = "http://example.com/big"
BIG_BYTES = 16_000_000
LAZY = 96
ASKED = b"GET /web/2026id_/%s HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    noise = random.Random(1).randbytes(BIG_BYTES)
    pages = [
        make_page(html("one"), 0),
        make_page(noise, 1, url=BIG, headers=(("Content-Type", "image/png"),)),
    ]
    with serving(archived(f"sqlite:///{tmp_path}/a.db", pages)) as found:
        yield found


def connected(server: Served, count: int, sent: bytes = b"") -> list[socket.socket]:
    found = []
    for _ in range(count):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(SENDING * 3)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(sent)
        found.append(connection)
    return found


def closed(connections: list[socket.socket]) -> None:
    for connection in connections:
        connection.close()


def read(connection: socket.socket) -> bytes:
    """Read until the server closes; a reset after it counts as its end."""
    found = b""
    try:
        while data := connection.recv(65_536):
            found += data
    except ConnectionResetError:
        pass
    return found


def memory(server: Served) -> int:
    """Return the bytes of memory that the server has now."""
    pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


def status(server: Served) -> int:
    """Return the status of a page, 0 for a connection that was cut."""
    try:
        return server.get(f"/web/2026id_/{URL}").status
    except ConnectionError:
        return 0


def answers(server: Served) -> bool:
    return server.get(f"/web/2026id_/{URL}").body == html("one")


@pytest.mark.long
def test_a_request_that_does_not_end_is_refused_and_keeps_no_others_waiting(server: Served) -> None:
    begun = time.monotonic()
    slow = connected(server, 300, b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ")
    while time.monotonic() < begun + SENDING * 0.7:
        for connection in slow:
            connection.send(b"b")
        asked = time.monotonic()
        assert answers(server)
        assert time.monotonic() - asked < SENDING / 2
    for connection in slow:
        assert read(connection).startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - begun < SENDING * 3
    closed(slow)


def test_a_body_that_does_not_come_is_not_waited_for(server: Served) -> None:
    head = b"POST /api/crawls HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n"
    (connection,) = connected(server, 1, head)
    assert answers(server)
    assert b" 40" in connection.recv(65_536)
    closed([connection])


@pytest.mark.long
def test_a_thousand_clients_at_once_are_answered_or_asked_to_come_again(server: Served) -> None:
    paths = (f"/page?url={URL}", f"/web/2026/{URL}", f"/cdx?url={URL}", f"/web/timemap/link/{URL}")

    async def ask(number: int) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        path = paths[number % len(paths)]
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = await asyncio.wait_for(reader.read(), 60)
        writer.close()
        head = answer.partition(b"\r\n\r\n")[0].decode()
        assert head.startswith("HTTP/1.1 200 ") or "retry-after: " in head.lower(), head
        return head[:12]

    async def all_at_once() -> Counter[str]:
        return Counter(await asyncio.gather(*map(ask, range(1000))))

    assert answers(server)
    before = memory(server)
    counts = asyncio.run(all_at_once())
    assert counts.keys() <= {"HTTP/1.1 200", "HTTP/1.1 503"}
    assert counts["HTTP/1.1 200"] >= 400
    assert memory(server) - before < 200_000_000
    assert answers(server)


@pytest.mark.long
def test_answers_that_nobody_takes_have_a_limit(server: Served) -> None:
    before = memory(server)
    lazy = connected(server, LAZY, ASKED % BIG.encode())
    assert LAZY * BIG_BYTES > 2 * MOST_UNSENT
    deadline = time.monotonic() + 60
    refused = 0
    try:
        for connection in lazy:
            head = connection.recv(4096, socket.MSG_PEEK)
            refused += head.startswith(b"HTTP/1.1 503 ") and b"\r\nretry-after: 5\r\n" in head
        assert refused >= LAZY - MOST_UNSENT // BIG_BYTES
        assert memory(server) - before < 3 * MOST_UNSENT  # with the caches of the readers
    finally:
        closed(lazy)
    while not answers(server):
        assert time.monotonic() < deadline
    assert server.end() == 0


def test_clients_beyond_the_limit_of_open_files_are_told_so(server: Served) -> None:
    fit = 100
    limit = fit + TOLD + OTHERS
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (limit, limit))
    idle = connected(server, fit)
    one_more = connected(server, 1, ASKED % URL.encode())
    told = read(one_more[0])
    assert told.startswith(b"HTTP/1.1 503 ")
    assert b"Retry-After: 5" in told
    cut = connected(server, TOLD + 20)
    closed([*idle, *one_more, *cut])
    deadline = time.monotonic() + 30
    while status(server) != 200:
        assert time.monotonic() < deadline
    assert server.end() == 0
