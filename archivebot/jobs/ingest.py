"""Ingesting WARC and ARC files: their pages go through the same stages as those of a crawl.

Pages are analysed side by side, in several processes. They are stored by one process, in the order of their
records, so that the archive does not depend on the number of processes.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from archivebot.archive import Archive
from archivebot.archive.process.readers import Readers
from archivebot.archive.process.worker import Crashed
from archivebot.bounds import excess
from archivebot.exceptions import TooLarge, UsageError, WarcError
from archivebot.fingerprint.payload import payload_key
from archivebot.garbage import release_memory
from archivebot.jobs.analysis import Analysed, LinksOf, analysed, no_links
from archivebot.models import Capture, Outcome, Page, Payload, Snapshot
from archivebot.urls import canonical_url
from archivebot.warc import Damage, Input, WarcPage, first_date, read_pages
from archivebot.wire import Attachment

logger = logging.getLogger(__name__)

LAST = datetime.max.replace(tzinfo=UTC)

# Maximum of pages that are read from files and not stored yet, and of the bytes of their bodies.
MOST_AHEAD = 256
MOST_BYTES = 4 * 1024 * 1024

# Of larger pages one at a time is analysed: a page of 2.7 MB takes 100 MB meanwhile.
LARGE = 1024 * 1024

# Bytes of the bodies of stored pages until the freed memory is returned to the system: it was 60 of 240 MB.
RELEASED_BYTES = 2 * 1024 * 1024


@dataclass(slots=True)
class Ingested:
    """The counts of the records of one file."""

    file: str
    kinds: Counter[str] = field(default_factory=Counter)
    records: int = 0
    position: int = 0  # in the file, of the record stored last
    known: int = 0
    bytes_fetched: int = 0
    bytes_stored: int = 0
    damaged: list[Damage] = field(default_factory=list)
    attached: Counter[str] = field(default_factory=Counter)  # records kept with a page, by their type
    skipped: Counter[str] = field(default_factory=Counter)  # records that are not kept, by the reason
    error: str = ""

    def skip(self, reason: str) -> None:
        """Count a record that is not kept."""
        self.skipped[reason] += 1

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
            "attached": dict(self.attached),
            "skipped": dict(self.skipped),
            "damaged": [{"offset": damage.offset, "reason": damage.reason} for damage in self.damaged],
            "error": self.error,
        }


class Progress:
    """What is called while files are ingested; a subclass prints it."""

    def damaged(self, message: str) -> None:
        """A damaged part of a file was found; the message has its offset and the reason."""

    def stored(self, result: Ingested) -> None:
        """A record of a file was stored."""

    def finished(self, result: Ingested) -> None:
        """All records of a file were stored, durably."""


async def ingest(
    archive: Archive,
    paths: Sequence[Input],
    links_of: LinksOf = no_links,
    readers: Readers | None = None,
    progress: Progress | None = None,
    start: Callable[[], Readers] | None = None,
) -> list[Ingested]:
    """Store the pages of files in an archive with the links that ``links_of`` finds; return their counts.

    The pages are analysed by ``readers``; without them, one after another in this process, until a large
    page comes for which ``start`` starts readers. If the reading of a file ends early, the reason is the
    ``error`` of its result. Raises StorageError if the archive fails.
    """
    progress = progress or Progress()
    results = [Ingested(str(path)) for path in paths]
    queue = Queue(archive, links_of, readers, progress, start)
    try:
        for index in by_date(paths):
            await _read(paths[index], results[index], queue, progress)
        await queue.finish()
    finally:
        await queue.close()
    return results


async def _read(path: Input, result: Ingested, queue: Queue, progress: Progress) -> None:
    """Pass the pages of a file on to be stored."""

    def report(damage: Damage) -> None:
        _heed_cancellation()
        result.damaged.append(damage)
        progress.damaged(str(damage))

    def skip(reason: str) -> None:
        _heed_cancellation()
        result.skip(reason)

    def attach(attachment: Attachment) -> None:
        _heed_cancellation()
        queue.attach(result, attachment)

    try:
        for found in read_pages(path, report, on_skip=skip, on_attachment=attach, on_read=_heed_cancellation):
            await queue.add(found, result)
    except WarcError as error:
        result.error = str(error)
    queue.end(result)


def _heed_cancellation() -> None:
    """Raise CancelledError if this task was cancelled: between two pages of a file no ``await`` does."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def by_date(paths: Sequence[Input]) -> list[int]:
    """Return the indexes of files in the order of their first dates; files without a date come last.

    Any order results in the same captures. But a version stored between others costs more than one after
    them, and versions are numbered in the order in which they are stored.
    """
    return sorted(range(len(paths)), key=lambda index: first_date(paths[index]) or LAST)


class Visit:
    """A page that was read from a file and is not stored yet.

    ``found`` is the page that is analysed ahead of its turn: for a revisit, with the body that it repeats.
    ``is_stale`` is whether its URL has changed since its analysis began.
    """

    def __init__(self, page: Page, result: Ingested) -> None:
        self.page = self.found = page
        self.result = result
        self.digest = page.payload.digest if page.payload else ""
        self.position = int(page.origin.rpartition(":")[2])
        self.stored = asyncio.Event()
        self.is_stale = False
        self.analysis: asyncio.Task[Analysed | None] | None = None


class Queue:
    """The pages between the files and the archive.

    The analysis of a page depends on the versions of its URL, so it begins when the page's previous visit is
    stored. A revisit also waits for the page that it repeats. If no page with its digest was read before it,
    it is analysed when all pages before it are stored.
    """

    def __init__(
        self,
        archive: Archive,
        links_of: LinksOf,
        readers: Readers | None,
        progress: Progress,
        start: Callable[[], Readers] | None = None,
    ) -> None:
        self._archive, self._links_of, self._readers = archive, links_of, readers
        self._progress, self._start = progress, start
        self._waiting: deque[Visit | Ingested] = deque()  # an Ingested is the end of its file
        self._last: dict[str, Visit] = {}  # the last waiting visit of each URL
        self._bringing: dict[str, Visit] = {}  # the first waiting visit that brings a payload, by its digest
        self._bytes = self._freed = 0
        self._large = asyncio.Lock()

    async def add(self, found: WarcPage, result: Ingested) -> None:
        """Begin to analyse a page; first store earlier pages, as long as too many wait."""
        page = _page(found)
        most = MOST_AHEAD if self._readers else 1
        while self._waiting and (len(self._waiting) >= most or self._bytes + len(page.body) > MOST_BYTES):
            await self._settle()
        visit = Visit(page, result)
        brings = visit.digest and page.body
        earlier = self._last.get(page.url), None if brings else self._bringing.get(visit.digest)
        visit.analysis = asyncio.create_task(self._begun(visit, [each for each in earlier if each]))
        self._last[page.url] = visit
        if brings:
            self._bringing.setdefault(visit.digest, visit)
        self._waiting.append(visit)
        self._bytes += len(page.body)

    def attach(self, result: Ingested, attachment: Attachment) -> None:
        """Store at once a record that is not a page: its page may be stored before or after it."""
        if self._archive.attach(replace(attachment, url=_identity(attachment.url))):
            result.attached[attachment.kind] += 1
        else:
            result.known += 1

    def end(self, result: Ingested) -> None:
        """Note that all pages of a file have been added."""
        self._waiting.append(result)

    async def finish(self) -> None:
        """Store all pages that wait."""
        while self._waiting:
            await self._settle()

    async def close(self) -> None:
        """Give up the pages that wait."""
        begun = [each.analysis for each in self._waiting if isinstance(each, Visit) and each.analysis]
        for task in begun:
            task.cancel()
        await asyncio.gather(*begun, return_exceptions=True)

    async def _settle(self) -> None:
        """Store the page that waits longest, or finish its file."""
        first = self._waiting[0]
        if isinstance(first, Ingested):
            self._archive.sync()
            self._progress.finished(first)
        else:
            await self._store(first)
            first.result.records += 1
            first.result.position = first.position
            self._progress.stored(first.result)
        self._waiting.popleft()
        await asyncio.sleep(0)  # pages that waited for this one go to the readers

    async def _begun(self, visit: Visit, earlier: Sequence[Visit]) -> Analysed | None:
        """Return a page analysed ahead of its turn; None if that is not possible or not needed.

        ``earlier`` are the visits that must be stored before.
        """
        for each in earlier:
            await each.stored.wait()
        page = self._archive.resolved(visit.page)
        if page.outcome in (Outcome.NOT_MODIFIED, Outcome.UNRESOLVED) or self._archive.holds(page):
            return None
        repeated = 0 if visit.page.body else len(page.body)
        if repeated and self._bytes + repeated > MOST_BYTES:
            return None
        visit.found = page
        self._bytes += repeated
        return await self._analysed(page)

    async def _store(self, visit: Visit) -> None:
        """Store a page, then the revisits of earlier files that waited for it, recursively."""
        assert visit.analysis is not None
        ahead = await visit.analysis
        archive, result = self._archive, visit.result
        page = archive.resolved(visit.page)
        if archive.holds(page):
            archive.remember(page)
            result.known += 1
        else:
            is_current = not visit.is_stale and page == visit.found
            snapshot, text = ahead if ahead and is_current else await self._analysed(page)
            result.count(page, archive.add(snapshot, with_blocks=False, text=text))
        waiting = archive.released(page)
        while waiting:
            page = waiting.pop()
            snapshot, text = await self._analysed(page)
            result.count(page, archive.settle(snapshot, with_blocks=False, text=text))
            for other in self._waiting:
                if isinstance(other, Visit) and other.page.url == page.url:
                    other.is_stale = True
            waiting += archive.released(page)
        self._bytes -= len(visit.found.body)
        self._freed += len(visit.found.body)
        if self._freed > RELEASED_BYTES:
            self._freed = 0
            release_memory()
        if self._last[visit.page.url] is visit:
            del self._last[visit.page.url]
        if self._bringing.get(visit.digest) is visit:
            del self._bringing[visit.digest]
        visit.stored.set()

    async def _analysed(self, page: Page) -> Analysed:
        """Return a page with its links and the results of all stages."""
        if self._readers is None and self._start and len(page.body) > LARGE:
            self._readers = self._start()  # their memory is bounded, that of this process is not
        if self._readers is None or excess(page.body):  # of such a page only the beginning is read
            found, text = analysed(self._archive, page, self._links_of)
        else:
            bare = replace(page, wire=None, payload=None)
            try:
                # One large page at a time, so that the memory of all processes together is bounded.
                async with self._large if len(page.body) > LARGE else nullcontext():
                    found, text = await self._readers.run((analysed, (bare, self._links_of), {}), page.url)
            except (Crashed, TooLarge) as error:
                logger.error("%s could not be cut, its bytes are kept: %s", page.url, error)
                return Snapshot.uncut(page, f"not cut: {error}"), None
        return replace(found, page=replace(page, links=found.page.links, reason=found.page.reason)), text


def _page(found: WarcPage) -> Page:
    """Return a page as it is stored: under its canonical URL, with the payload that it has or repeats."""
    payload = Payload(
        payload_key(found.payload_digest or ""),
        _identity(found.refers_to_uri) if found.refers_to_uri else None,
        found.refers_to_date,
    )
    origin = os.fsencode(found.page.origin).decode(errors="replace")  # a file name may be any bytes
    return replace(found.page, url=_identity(found.page.url), origin=origin, payload=payload)


def _identity(url: str) -> str:
    """Return the canonical URL, or the recorded text if it is not a URL that can be requested."""
    try:
        return canonical_url(url)
    except UsageError:
        return url
