"""Calls larger than what a socket takes are sent while the sending process does other work."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from archivebot.archive.process.sender import Sender

LARGE = 3_000_000  # bytes, more than a socket takes

Senders = Callable[[], list[threading.Thread]]


@pytest.fixture
def ends() -> Iterator[tuple[Sender, socket.socket]]:
    ours, theirs = socket.socketpair()
    theirs.settimeout(20)
    sender = Sender(ours)
    with ours, theirs:
        yield sender, theirs
        sender.close()


def received(line: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count and (part := line.recv(1 << 16)):
        data += part
    return bytes(data)


@pytest.fixture
def senders() -> Senders:
    """Return the threads that send, without those of other tests in this process."""
    others = threading.enumerate()

    def started() -> list[threading.Thread]:
        found = [thread for thread in threading.enumerate() if thread not in others]
        return [thread for thread in found if thread.name == "archivebot-sender"]

    return started


def test_data_arrives_in_order_though_nobody_sends_the_rest(ends: tuple[Sender, socket.socket]) -> None:
    sender, theirs = ends
    chance = random.Random(1)
    parts = [chance.randbytes(size) for size in (10, LARGE, 0, 1, LARGE, 20)]
    for part in parts:
        sender.send(part)
    assert received(theirs, sum(map(len, parts))) == b"".join(parts)


def test_small_calls_need_no_thread(ends: tuple[Sender, socket.socket], senders: Senders) -> None:
    sender, theirs = ends
    for number in range(9):
        sender.send(b"%d" % number)
    assert received(theirs, 9) == b"012345678"
    assert senders() == []


def test_after_a_large_call_small_ones_are_sent_at_once_again(ends: tuple[Sender, socket.socket]) -> None:
    sender, theirs = ends
    sender.send(bytes(LARGE))
    assert received(theirs, LARGE) == bytes(LARGE)
    deadline = time.monotonic() + 20
    while sender.waits and time.monotonic() < deadline:
        time.sleep(0.01)
    sender.send(b"x")
    assert not sender.waits
    assert received(theirs, 1) == b"x"


def test_closing_ends_a_thread_that_waits_for_room(
    ends: tuple[Sender, socket.socket], senders: Senders
) -> None:
    sender, theirs = ends
    sender.send(bytes(LARGE))
    sender.send(bytes(LARGE))
    assert len(senders()) == 1
    sender.close()
    assert senders() == []
    assert len(received(theirs, 2 * LARGE)) < LARGE


@pytest.mark.parametrize("size", [1, LARGE])
def test_a_process_that_has_ended_stops_nothing(size: int, ends: tuple[Sender, socket.socket]) -> None:
    sender, theirs = ends
    theirs.close()
    for _ in range(3):
        sender.send(bytes(size))


def test_a_process_that_ends_while_data_waits_stops_nothing(
    ends: tuple[Sender, socket.socket], senders: Senders
) -> None:
    sender, theirs = ends
    for _ in range(3):
        sender.send(bytes(LARGE))
    theirs.close()
    sender.send(b"x")
    sender.close()
    assert senders() == []
