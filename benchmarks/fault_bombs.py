"""The memory and time that hostile answers take in a crawl.

    python benchmarks/faults.py bombs

Each kind of bomb is crawled by `scrapy crawl site` in an archive of its own, with a pipeline that measures
the greatest resident memory of each process and the longest time of CPU in which the event loop stood still.
Exit code 1 if a process has more than 600 MB, the loop stands still for more than a second, or a page is not
stored byte for byte.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from common import need, run
from rawserver import answer, serve
from tables import Row, Table, at_most

MOST_MEGABYTES = 600
MOST_STALL = 1.0
PROCESSES = ("crawl", "writer", "reader")

TEXT = b"some words of a text, "

# The bodies of a bomb, made one after the other, and how each is sent.
Bomb = tuple[Callable[[], Iterator[bytes]], Callable[[bytes], bytes]]


def _one(begin: bytes, piece: bytes, count: int) -> Callable[[], Iterator[bytes]]:
    return lambda: iter([begin + piece * count])


def _links() -> Iterator[bytes]:
    yield b"<html>" + b"".join(b"<a href=/to/%d>link</a>" % number for number in range(299_000))


def _texts() -> Iterator[bytes]:
    return (TEXT * 2_700_000 + b"%d" % number for number in range(8))


def _endless(_: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\n" + b"X-Line: 1\r\n" * 5_000_000


def _packed(body: bytes) -> bytes:
    return answer(gzip.compress(body, 6), "gzip")


def _packed_twice(body: bytes) -> bytes:
    return answer(gzip.compress(gzip.compress(body, 6), 6), "gzip, gzip")


def _plain(body: bytes) -> bytes:
    return answer(body, kind="text/plain")


BOMBS: dict[str, Bomb] = {
    "8 MB of `<tr><td>`": (_one(b"<html><table>", b"<tr><td>", 1_000_000), _packed),
    "2.4 MB of `<p>`": (_one(b"<html>", b"<p>a", 590_000), _packed),
    "14 MB of attributes": (_one(b"<html><p ", b"a ", 7_000_000), _packed),
    "16 MB of control characters": (_one(b"<html>", b"\x01", 16_000_000), _packed),
    "60 MB of NULs": (_one(b"", b"\0", 60_000_000), _packed),
    "60 MB of NULs, gzip of gzip": (_one(b"", b"\0", 60_000_000), _packed_twice),
    "299,000 links": (_links, _packed),
    "eight texts of 60 MB at once": (_texts, _plain),
    "eight packed texts of 60 MB at once": (_texts, _packed),
    "endless headers": (_one(b"", b"", 1), _endless),
}


def measure(folder: Path, count: int) -> Table:
    """Crawl the first ``count`` kinds of bombs."""
    found = {name: _explode(folder, *BOMBS[name]) for name in list(BOMBS)[:count]}
    rows = [
        Row(name, harm.cells, at_most(max(harm.megabytes), MOST_MEGABYTES)) for name, harm in found.items()
    ]
    stall, lost = max(harm.stall for harm in found.values()), sum(harm.lost for harm in found.values())
    rows += [
        Row("the longest that it stands still, s", ("", "", "", f"{stall:.2f}"), at_most(stall, MOST_STALL)),
        Row("pages lost of all", ("", "", "", "", str(lost)), at_most(lost, 0)),
    ]
    return Table("peak memory, MB", (*PROCESSES, "event loop, s", "pages lost"), rows)


@dataclass(frozen=True, slots=True)
class Harm:
    """What a bomb did: the peak memory of each process, how long the event loop stood still, pages lost."""

    megabytes: tuple[float, ...]
    stall: float
    lost: int

    @property
    def cells(self) -> tuple[str, ...]:
        return *(f"{each:.0f}" for each in self.megabytes), f"{self.stall:.2f}", str(self.lost)


def _explode(folder: Path, bodies: Callable[[], Iterator[bytes]], send: Callable[[bytes], bytes]) -> Harm:
    answers: dict[str, bytes] = {}
    digests: dict[str, str | None] = {}
    for body in bodies():
        path = f"/{len(answers)}"
        answers[path] = send(body)
        digests[path] = f"sha256:{sha256(body).hexdigest()}" if body else None
    with tempfile.TemporaryDirectory(dir=folder) as place, serve(answers) as url:
        feed = Path(place, "captures.jsonl")
        command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"seeds={url}", "-a", "depth=1"]
        command += ["-s", f"ITEM_PIPELINES={_with_probe()}", "-s", "RETRY_TIMES=0", "-O", str(feed)]
        command += ["-s", "LOG_LEVEL=INFO"]
        log = need(run(command, ARCHIVE_URI=f"sqlite:///{place}/archive.db"), "scrapy crawl").stderr
        records = {record["url"]: record for record in map(json.loads, feed.read_text("utf-8").splitlines())}
    found = {path: records.get(url.rstrip("/") + path) for path in digests}
    lost = sum(not record or record["digest"] != digests[path] for path, record in found.items())
    megabytes = tuple(_stat(log, f"memory/{process}") for process in PROCESSES)
    return Harm(megabytes, _stat(log, "stall"), lost)


def _with_probe() -> str:
    from archivebot.settings import ITEM_PIPELINES

    return json.dumps({**ITEM_PIPELINES, "tests.probes.Strain": 200})


def _stat(log: str, name: str) -> float:
    found = re.search(rf"'probe/{name}': ([\d.e-]+)", log)
    assert found, log[-2000:]
    return float(found[1])
