"""The names of requests further on in a file: all are found, and no byte is read many times."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from archivebot.warc.ahead import request_names
from archivebot.warc.frames import CHUNK, RawFile
from tests.test_ingest import record_of

URL = "http://example.com/"
DAY = "2020-01-01T00:00:00Z"

SIZE = 1_000_000


class Counted(RawFile):
    """A file that counts the bytes that are read from it."""

    read_bytes = 0

    def read(self, offset: int, size: int) -> bytes:
        data = super().read(offset, size)
        self.read_bytes += len(data)
        return data


def names(path: Path, offset: int = 0) -> tuple[set[str], int]:
    with Counted(path) as raw:
        return request_names(raw, offset), raw.read_bytes


def request(number: int, block: bytes = b"GET / HTTP/1.1\r\n\r\n") -> bytes:
    fields = {"WARC-Record-ID": f"<q:{number}>", "WARC-Concurrent-To": f"<a:{number}>"}
    return record_of(block, "request", DAY, URL, fields)


@pytest.mark.parametrize("packed", [False, True])
def test_all_requests_are_found_wherever_they_stand(tmp_path: Path, packed: bool) -> None:
    chance, path = random.Random(3), tmp_path / "x.warc"
    records = []
    for number in range(40):
        size = chance.choice((10, 3_000, 60_000, CHUNK // 7))
        records.append(record_of(chance.randbytes(size // 2).hex().encode(), "response", DAY, URL))
        records.append(request(number))
    path.write_bytes(b"".join(map(gzip.compress, records) if packed else records))
    assert path.stat().st_size > CHUNK
    assert names(path)[0] == {f"<{kind}:{number}>" for kind in "qa" for number in range(40)}
    assert names(path, path.stat().st_size)[0] == set()


def test_a_request_is_found_after_what_looks_like_one(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(b"WARC-Type: request\r\n" * 9 + b"WARC/1.0\r\nWARC-Type: request\r\n" + request(1))
    assert names(path)[0] == {"<q:1>", "<a:1>"}


@pytest.mark.parametrize(
    "unit", [b"\nWARC-Type: request", b"WARC/1.0\nWARC-Type: request\n", b"WARC/1.0\n", b"WARC/1.0 "]
)
def test_hostile_lines_are_read_once(tmp_path: Path, unit: bytes) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(b"WARC/1.0\n" + unit * (SIZE // len(unit)))
    assert names(path)[1] < 2 * SIZE
