"""scrapy ingest: WARC and ARC files through the same stages as a crawl."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from archivebot.archive import Archive
from archivebot.cli import ArchiveCommand, print_json
from archivebot.exceptions import UsageError, WarcError
from archivebot.fingerprint.payload import payload_key
from archivebot.models import Capture, Page, Payload
from archivebot.terminal import status, tell
from archivebot.units import size
from archivebot.urls import canonical_url
from archivebot.warc import Damage, WarcPage, first_date, read_pages

LAST = datetime.max.replace(tzinfo=UTC)

# Records between two lines of progress on a terminal.
PROGRESS = 100


@dataclass(slots=True)
class Result:
    """What became of the records of one file."""

    file: str
    kinds: Counter[str] = field(default_factory=Counter)
    known: int = 0
    bytes_fetched: int = 0
    bytes_stored: int = 0
    damaged: list[Damage] = field(default_factory=list)
    error: str = ""

    def count(self, page: Page, capture: Capture) -> None:
        """Count a page that was stored."""
        self.kinds[capture.kind.value] += 1
        self.bytes_fetched += len(page.body)
        self.bytes_stored += capture.stored_bytes

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items()) or "nothing new"
        known = f"; {self.known} were there already" if self.known else ""
        damaged = f"; {len(self.damaged)} damaged" if self.damaged else ""
        return (
            f"{self.file}: {kinds}{known}{damaged};"
            f" {size(self.bytes_fetched)} read, {size(self.bytes_stored)} stored"
        )


class Command(ArchiveCommand):
    """Put the pages of WARC and ARC files into the archive, dated by their records"""

    arguments = "FILE..."
    least, most = 1, sys.maxsize
    explanation = (
        "Damage is reported with file and offset; the exit code is 5 then. Files may come in any order,"
        " and ingesting a file again adds nothing."
    )
    create = True

    def answer(self, archive: Archive, args: list[str], opts: argparse.Namespace) -> int:
        paths = list(map(Path, args))
        done = {index: self._file(archive, paths[index]) for index in by_date(paths)}
        results = [done[index] for index in range(len(paths))]
        if opts.json:
            print_json({"archive": archive.uri, "files": [_record(result) for result in results]})
        return WarcError.exit_code if any(result.damaged or result.error for result in results) else 0

    def _file(self, archive: Archive, path: Path) -> Result:
        result = Result(str(path))

        def report(damage: Damage) -> None:
            result.damaged.append(damage)
            tell(str(damage))

        try:
            for number, found in enumerate(read_pages(path, report), 1):
                add(archive, found, result)
                if number % PROGRESS == 0:
                    status(f"{path.name}: {number} records")
        except WarcError as error:
            result.error = str(error)
            tell(f"scrapy ingest: {error}")
        archive.sync()
        tell(str(result))
        return result


def by_date(paths: Sequence[Path]) -> list[int]:
    """Return the places of files in the order of their first dates; a file without a date comes last.

    Any order gives the same captures, but a version that is stored between others costs more than a
    version behind them, and the numbers of versions follow the order in which they are stored.
    """
    return sorted(range(len(paths)), key=lambda index: first_date(paths[index]) or LAST)


def add(archive: Archive, found: WarcPage, result: Result) -> None:
    """Store a page, then the revisits of earlier files that waited for it, and what waited for those."""
    payload = Payload(
        payload_key(found.payload_digest or ""),
        _identity(found.refers_to_uri) if found.refers_to_uri else None,
        found.refers_to_date,
    )
    origin = os.fsencode(found.page.origin).decode(errors="replace")  # the name of a file is any bytes
    page = archive.resolved(
        replace(found.page, url=_identity(found.page.url), origin=origin, payload=payload)
    )
    if archive.holds(page):
        archive.remember(page)
        result.known += 1
    else:
        result.count(page, archive.add(archive.segment(page)))
    waiting = archive.released(page)
    while waiting:
        page = waiting.pop()
        result.count(page, archive.settle(archive.segment(page)))
        waiting += archive.released(page)


def _identity(url: str) -> str:
    """Give the canonical URL, or for one that cannot be asked for the text as recorded."""
    try:
        return canonical_url(url)
    except UsageError:
        return url


def _record(result: Result) -> dict[str, object]:
    return {
        "file": result.file,
        "captures": sum(result.kinds.values()),
        "kinds": dict(result.kinds),
        "known": result.known,
        "bytes_fetched": result.bytes_fetched,
        "bytes_stored": result.bytes_stored,
        "damaged": [{"offset": damage.offset, "reason": damage.reason} for damage in result.damaged],
        "error": result.error,
    }
