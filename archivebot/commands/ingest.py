"""scrapy ingest: WARC and ARC files through the same stages as a crawl."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from archivebot.archive import Archive
from archivebot.cli import ArchiveCommand, print_json
from archivebot.exceptions import CorruptObject, NotArchived, UsageError, WarcError
from archivebot.models import Outcome, Page
from archivebot.units import size
from archivebot.urls import canonical_url
from archivebot.warc import Damage, WarcPage, read_pages

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
        "Damaged records are reported with file and offset and skipped; the exit code is 5 then."
        " Ingesting a file again adds nothing."
    )
    create = True

    def answer(self, archive: Archive, args: list[str], opts: argparse.Namespace) -> int:
        results = [self._file(archive, Path(arg)) for arg in args]
        if opts.json:
            print_json({"archive": archive.uri, "files": [_record(result) for result in results]})
        return WarcError.exit_code if any(result.damaged or result.error for result in results) else 0

    def _file(self, archive: Archive, path: Path) -> Result:
        result = Result(str(path))

        def report(damage: Damage) -> None:
            result.damaged.append(damage)
            print(damage, file=sys.stderr)

        try:
            for number, found in enumerate(read_pages(path, report), 1):
                _add(archive, found, result)
                if number % PROGRESS == 0 and sys.stderr.isatty():
                    print(f"\r{path.name}: {number} records", end="", file=sys.stderr, flush=True)
        except WarcError as error:
            result.error = str(error)
            print(f"scrapy ingest: {error}", file=sys.stderr)
        archive.sync()
        print(("\r" if sys.stderr.isatty() else "") + str(result), file=sys.stderr)
        return result


def _add(archive: Archive, found: WarcPage, result: Result) -> None:
    page = replace(found.page, url=_identity(found.page.url))
    if page.outcome is Outcome.NOT_MODIFIED:
        page = _resolved(archive, page, found)
    if archive.holds(page):
        result.known += 1
        return
    capture = archive.add(archive.segment(page))
    result.kinds[capture.kind.value] += 1
    result.bytes_fetched += len(page.body)
    result.bytes_stored += capture.stored_bytes


def _identity(url: str) -> str:
    """Give the canonical URL, or for one that cannot be asked for the text as recorded."""
    try:
        return canonical_url(url)
    except UsageError:
        return url


def _resolved(archive: Archive, revisit: Page, found: WarcPage) -> Page:
    """Give a revisit record the body of the capture that it refers to, where that is archived.

    A revisit may refer to another URL with the same payload; then it is a visit of its own URL with
    those bytes.
    """
    if found.refers_to_uri is None and found.refers_to_date is None:
        return revisit
    try:
        url = _identity(found.refers_to_uri) if found.refers_to_uri else revisit.url
        original = archive.at(url, found.refers_to_date or revisit.captured_at)
        body = archive.body(original)
    except (NotArchived, CorruptObject):
        reason = f"{revisit.reason}; the capture it refers to cannot be read: ingest its file first"
        return replace(revisit, reason=reason)
    return replace(revisit, outcome=original.outcome, status=original.status, body=body)


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
