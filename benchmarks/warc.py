"""The WARC reader compared with warcio, record by record, on real files of many tools.

    python benchmarks/warc.py DATA/warc-dev [--list]

Every WARC and ARC file below the folder is read by both. The benchmark counts the responses, resources and
revisits of http URIs that warcio reads: a page of ours is the same if URI, second, status, headers and body
are. ``--list`` prints what is lost or differs, with the reason.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import brotli
import common  # noqa: F401  the checkout itself, installed or not
from tables import Row, Table, at_most, report
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.recordloader import ArcWarcRecord

from archivebot.exceptions import WarcError
from archivebot.warc import Damage, WarcPage, read_pages
from archivebot.warc.dates import record_date

# The most records that may be lost or differ, each for a reason.
MOST = 5

# What of a file may differ from what warcio gives, and why.
REASONS = {
    "example-extra.warc": "HTTPX/1.1 is no status line of HTTP: kept as it is, without a status",
    "example-space-in-url.arc": "warcio escapes the blanks of the URL",
    "example-trunc.warc": "a gzip body that is cut keeps its coding",
    "example-wrong-chunks.warc.gz": "warcio gives up in the middle of the body, which spans two gzip members",
}

KINDS = ("response", "resource", "revisit")


@dataclass(frozen=True, slots=True)
class Seen:
    """A record as a reader gives it."""

    uri: str
    second: str
    status: int | None
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)

    def differs(self, other: Seen) -> str:
        """Name the first field that is not the same in another one; "" for none."""
        return next((name for name in self.__slots__ if getattr(self, name) != getattr(other, name)), "")


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("data", type=Path, help="folder with WARC and ARC files, at any depth")
    arguments.add_argument("--list", action="store_true", help="print what is lost or differs")
    given = arguments.parse_args()
    files = sorted(path for path in given.data.rglob("*") if path.name.endswith(SUFFIXES))
    counts: Counter[str] = Counter()
    seconds = [0.0, 0.0]
    for path in files:
        started = time.process_time()
        theirs = list(by_warcio(path))
        between = time.process_time()
        ours = [seen_of(page) for page in by_us(path)]
        seconds = [seconds[0] + time.process_time() - between, seconds[1] + between - started]
        counts["ours"] += len(ours)
        for record in theirs:
            found = verdict(record, ours)
            reason = REASONS.get(path.name, "")
            counts["same" if found == "same" else "excused" if reason else "wrong"] += 1
            if found != "same" and given.list:
                print(f"{path.name}: {record.uri} {record.second}: {found} {reason}", file=sys.stderr)
    wrong, excused = counts["wrong"], counts["excused"]
    total = str(counts["same"] + wrong + excused)
    rows = [
        Row("pages", (str(counts["ours"]), total)),
        Row("read the same", (str(counts["same"]), total)),
        Row("lost or different, for a known reason", (str(excused),), at_most(excused, MOST)),
        Row("lost or different, for none", (str(wrong),), at_most(wrong, 0)),
        Row("CPU, s", [f"{each:.1f}" for each in seconds]),
    ]
    return report(Table(f"{len(files)} WARC and ARC files", ("archivebot", "warcio"), rows))


SUFFIXES = (".warc", ".warc.gz", ".arc", ".arc.gz", ".warc.zst")


def verdict(record: Seen, ours: list[Seen]) -> str:
    """Take the page that is the record out of ours, and return how they differ: "same", "lost" or a field."""
    near = [page for page in ours if (page.uri, page.second) == (record.uri, record.second)]
    if not near:
        return "lost"
    best = min(near, key=lambda page: page.differs(record) != "")
    ours.remove(best)
    return best.differs(record) or "same"


def by_warcio(path: Path) -> Iterator[Seen]:
    """Read the records of a file with warcio, up to where it gives up."""
    with path.open("rb") as file:
        try:
            for record in ArchiveIterator(file, arc2warc=True):
                uri = record.rec_headers.get_header("WARC-Target-URI") or ""
                if record.rec_type in KINDS and uri.lower().startswith(("http://", "https://")):
                    yield of_warcio(record, uri)
        except (ArchiveLoadFailed, EOFError) as error:
            print(f"warcio gives up on {path.name}: {error}", file=sys.stderr)


def of_warcio(record: ArcWarcRecord, uri: str) -> Seen:
    date = record_date(record.rec_headers.get_header("WARC-Date"))
    http = record.http_headers
    status = http.get_statuscode() if http else None
    headers = tuple((name.strip(), value.strip()) for name, value in http.headers) if http else ()
    if record.rec_type == "resource":
        status, headers = "200", (("Content-Type", record.rec_headers.get_header("Content-Type")),)
    body = b"" if record.rec_type == "revisit" else body_of(record)
    return Seen(uri, f"{date:%Y%m%d%H%M%S}", int(status) if status else None, headers, body)


def body_of(record: ArcWarcRecord) -> bytes:
    """Return the body as warcio decodes it; br is undone here, for warcio fails with Google's module."""
    http = record.http_headers
    if http and (http.get_header("Content-Encoding") or "").lower() == "br":
        http.headers = [pair for pair in http.headers if pair[0].lower() != "content-encoding"]
        return bytes(brotli.decompress(record.content_stream().read()))
    return bytes(record.content_stream().read())


def by_us(path: Path) -> Iterator[WarcPage]:
    def ignore(_: Damage) -> None:
        pass

    try:
        yield from read_pages(path, ignore)
    except WarcError as error:
        print(error, file=sys.stderr)


def seen_of(item: WarcPage) -> Seen:
    page = item.page
    uri = re.sub(r"[?&]__wb_method=.*", "", page.url)  # the answer to a POST has a URL of its own
    return Seen(uri, f"{page.captured_at:%Y%m%d%H%M%S}", page.status, page.headers, page.body)


if __name__ == "__main__":
    sys.exit(main())
