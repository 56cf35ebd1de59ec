"""Ingesting WARC and ARC files: their pages go through the same stages as those of a crawl."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from archivebot.archive import Archive
from archivebot.exceptions import NotArchived, UsageError, WarcError
from archivebot.fingerprint.payload import payload_key
from archivebot.models import Capture, Link, Outcome, Page, Payload
from archivebot.urls import canonical_url
from archivebot.warc import Damage, WarcPage, first_date, read_pages

LAST = datetime.max.replace(tzinfo=UTC)


LinksOf = Callable[[Page], tuple[Link, ...]]


def no_links(page: Page) -> tuple[Link, ...]:
    """Return no links, for callers that do not need them."""
    return ()


@dataclass(slots=True)
class Ingested:
    """The counts of the records of one file."""

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

    def record(self) -> dict[str, object]:
        """Return the result as a record for ``--json``."""
        return {
            "file": self.file,
            "captures": sum(self.kinds.values()),
            "kinds": dict(self.kinds),
            "known": self.known,
            "bytes_fetched": self.bytes_fetched,
            "bytes_stored": self.bytes_stored,
            "damaged": [{"offset": damage.offset, "reason": damage.reason} for damage in self.damaged],
            "error": self.error,
        }


def ingest(
    archive: Archive,
    path: Path,
    damaged: Callable[[Damage], None],
    done: Callable[[int], None],
    links_of: LinksOf = no_links,
) -> Ingested:
    """Store the pages of a file in an archive, durably, with the links that ``links_of`` finds.

    Calls ``damaged`` with each damage, and ``done`` with the number of records so far. If the reading of a
    file ends early, the reason is the ``error`` of the result.
    """
    result = Ingested(str(path))

    def report(damage: Damage) -> None:
        result.damaged.append(damage)
        damaged(damage)

    try:
        for number, page in enumerate(read_pages(path, report), 1):
            add(archive, page, result, links_of)
            done(number)
    except WarcError as error:
        result.error = str(error)
    archive.sync()
    return result


def by_date(paths: Sequence[Path]) -> list[int]:
    """Return the indexes of files in the order of their first dates; files without a date come last.

    Any order results in the same captures. But a version stored between others costs more than one after
    them, and versions are numbered in the order in which they are stored.
    """
    return sorted(range(len(paths)), key=lambda index: first_date(paths[index]) or LAST)


def add(archive: Archive, found: WarcPage, result: Ingested, links_of: LinksOf = no_links) -> None:
    """Store a page, then the revisits of earlier files that waited for it, recursively."""
    payload = Payload(
        payload_key(found.payload_digest or ""),
        _identity(found.refers_to_uri) if found.refers_to_uri else None,
        found.refers_to_date,
    )
    origin = os.fsencode(found.page.origin).decode(errors="replace")  # a file name may be any bytes
    page = archive.resolved(
        replace(found.page, url=_identity(found.page.url), origin=origin, payload=payload)
    )
    if archive.holds(page):
        archive.remember(page)
        result.known += 1
    else:
        page = _linked(archive, page, links_of)
        result.count(page, archive.add(archive.segment(page), with_blocks=False))
    waiting = archive.released(page)
    while waiting:
        page = _linked(archive, waiting.pop(), links_of)
        result.count(page, archive.settle(archive.segment(page), with_blocks=False))
        waiting += archive.released(page)


def _linked(archive: Archive, page: Page, links_of: LinksOf) -> Page:
    """Return a page with its links; for a 304, the links of the archived page of that time."""
    if page.outcome is not Outcome.NOT_MODIFIED:
        return replace(page, links=links_of(page))
    with suppress(NotArchived):
        seen = archive.at(page.url, page.captured_at)
        if seen.captured_at <= page.captured_at:
            content = replace(archive.brought(seen).page(archive.body(seen)), outcome=Outcome.FETCHED)
            return replace(page, links=links_of(content))
    return page


def _identity(url: str) -> str:
    """Return the canonical URL, or the recorded text if it is not a URL that can be requested."""
    try:
        return canonical_url(url)
    except UsageError:
        return url
