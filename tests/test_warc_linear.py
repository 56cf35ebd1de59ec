"""Hostile files: doubling a file takes at most some twice the time, whatever its bytes."""

from __future__ import annotations

import gzip
import os
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from archivebot.exceptions import WarcError
from archivebot.warc import Damage, read_pages
from tests.test_ingest import URL, record_of

# Bytes of the smaller file.
SIZE = int(os.environ.get("ARCHIVEBOT_TEST_WARC_BYTES", "150000"))

# Twice the bytes may take so many times as long; a quadratic reader takes four times as long.
MOST = 2.9

HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
WARC = b"WARC/1.0\nWARC-Type: response\n"


def repeated(unit: bytes, before: bytes = b"") -> Callable[[int], bytes]:
    return lambda size: before + unit * ((size - len(before)) // len(unit))


def stored(block: bytes) -> bytes:
    """A block of deflate that is not compressed."""
    return b"\0" + struct.pack("<HH", len(block), len(block) ^ 0xFFFF) + block


def http(head: bytes, unit: bytes) -> Callable[[int], bytes]:
    """A record with an HTTP response that repeats something."""
    return lambda size: record_of(
        b"HTTP/1.1 200 OK\r\n" + head + unit * (size // len(unit)), "response", "2020-01-01", URL
    )


def after_answer(unit: bytes) -> Callable[[int], bytes]:
    """An answer whose request is looked for in all that follows."""
    return lambda size: (
        record_of(b"HTTP/1.1 200 OK\r\n\r\n", "response", "2020-01-01", URL) + unit * (size // len(unit))
    )


FILES: dict[str, Callable[[int], bytes]] = {
    "ARC lines with large lengths": repeated(b"http://a.example/ 1.2.3.4 20140216050221 text/html 1000000\n"),
    "ARC lines without lengths": repeated(b"http://a.example/ 1.2.3.4 20140216050221 text/html x\n"),
    "lines like ARC": repeated(b"http:" + b" a 20140216050221" * 400 + b"\n"),
    "lines with colons": repeated(b"aa:" + b" a" * 3000 + b"\n"),
    "magic numbers of gzip": repeated(b"\x1f\x8b\x08"),
    "headers of gzip": repeated(HEADER),
    "members without records": repeated(gzip.compress(b"junk", mtime=0)),
    "members that were cut": repeated(gzip.compress(WARC + b"\nx" * 30, mtime=0)[:-4]),
    "members in members": repeated(HEADER + stored(b"WARC/1.0\r\n") + stored(HEADER)[:5]),
    "records without heads": repeated(WARC),
    "records with large lengths": repeated(WARC + b"Content-Length: 400000000\n\n"),
    "one head": repeated(b"a: b\n", WARC),
    "one folded line": repeated(b"\n ", WARC + b"a:"),
    "line ends": repeated(b"\r\r\n", WARC),
    "a member for each byte": lambda size: b"".join(
        gzip.compress(b"%c" % byte, mtime=0)
        for byte in (WARC + b"Content-Length: 9999\n\n").ljust(size // 60, b"a")
    ),
    "HTTP headers": http(b"", b"a: b\r\n"),
    "chunks": http(b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
    "types after an answer": after_answer(b"\nWARC-Type: request"),
    "heads after an answer": after_answer(b"WARC/1.0\nWARC-Type: request\n"),
    "members in a body": http(b"Content-Encoding: gzip\r\n\r\n", gzip.compress(b"", mtime=0)),
}


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_twice_the_bytes_take_at_most_some_twice_the_time(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    ratios = []
    for _ in range(4):
        seconds = []
        for size in (SIZE, 2 * SIZE):
            path.write_bytes(FILES[name](size))
            started = time.process_time()
            read(path)
            seconds.append(time.process_time() - started)
        ratios.append((seconds[1] + 0.02) / (seconds[0] + 0.01))
        if min(ratios) <= MOST:
            break
    assert min(ratios) <= MOST


def read(path: Path) -> None:
    def ignore(_: Damage) -> None:
        """Take a report and do nothing."""

    with suppress(WarcError):
        for _ in read_pages(path, ignore):
            pass
