"""The archive: put pages in, look back at them. The one place where stages and store meet."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from archivebot.archive.bodies import Bodies
from archivebot.archive.comparison import Comparison
from archivebot.archive.inspection import Inspector, snapshot_of
from archivebot.archive.placement import lineage_id
from archivebot.archive.readings import Readings
from archivebot.archive.recorder import Recorder
from archivebot.archive.revisits import Revisits
from archivebot.archive.verification import Damage, verify
from archivebot.config import ArchiveConfig, without_password
from archivebot.exceptions import NotArchived
from archivebot.fingerprint import sha256_hex
from archivebot.markup.contenttype import content_type
from archivebot.markup.dom import visible_text
from archivebot.models import (
    Capture,
    Delta,
    Headers,
    Kind,
    Outcome,
    Page,
    PlacedBlock,
    Position,
    Snapshot,
)
from archivebot.storage import open_store
from archivebot.storage.base import (
    ArchiveStore,
    Edge,
    StoredVersion,
    Totals,
)
from archivebot.timestamps import timestamp
from archivebot.urls import key_range, parse_seed
from archivebot.versioning.delta import PlacedText, compare
from archivebot.versioning.presence import gone_since, placed

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BlockState:
    """The content that one block had from ``version`` on; no text while it was not on the page."""

    version: int
    captured_at: datetime
    topic: str
    text: str | None


class Archive:
    """Pages, versions and blocks of an archive, over one store.

    All calls must come from the thread that opened it. Pages are named by their canonical URL;
    what a person types is turned into it by :meth:`resolve`. ``links``, ``forms``, ``fingerprints`` and
    ``templates`` are those of the store.
    """

    def __init__(self, store: ArchiveStore, config: ArchiveConfig) -> None:
        self._store = store
        self.links, self.forms = store.links, store.forms
        self.fingerprints, self.templates = store.fingerprints, store.templates
        self._bodies = Bodies(store)
        self.readings = Readings()
        self._comparison = Comparison(store, self._bodies, self.readings, config.content_attributes)
        self._inspector = Inspector(store, self._bodies, self.readings, self._comparison, config)
        self._revisits = Revisits(store, self._bodies)
        self._recorder = Recorder(store, self._bodies, self._inspector, config)

    @classmethod
    def open(cls, config: ArchiveConfig, create: bool = True) -> Archive:
        """Open the archive that the configuration names; it is made where it does not exist yet.

        Raises StorageError if it cannot be opened, NotArchived if there is none and ``create`` is false.
        """
        return cls(open_store(config.uri, create), config)

    @property
    def uri(self) -> str:
        """The URI of this archive as it may be shown, without a password."""
        return without_password(self._store.uri)

    def close(self) -> None:
        """Make durable what was stored, and release the archive."""
        self._store.close()

    def segment(self, page: Page) -> Snapshot:
        """Return a page with all that is read of it: :meth:`cut`, :meth:`mark` and :meth:`judge` in one."""
        return self.judge(self.mark(self.cut(snapshot_of(page))))

    def cut(self, snapshot: Snapshot) -> Snapshot:
        """Cut a page into blocks, as deep as its history or its own wish says."""
        return self._inspector.cut(snapshot)

    def mark(self, snapshot: Snapshot) -> Snapshot:
        """Compute the fingerprint of a page, and mark it if it repeats a page of the archive."""
        return self._inspector.mark(snapshot)

    def judge(self, snapshot: Snapshot) -> Snapshot:
        """Add whether the fetch brought the page, and what changed since the version before."""
        return self._inspector.judge(snapshot)

    def add(self, snapshot: Snapshot) -> Capture:
        """Store one visit; it survives the death of the process, and after :meth:`sync` that of the machine.

        The page that it repeats may have come since it was cut, so it is held against the archive once
        more. Raises StorageError where the store fails; nothing of the visit is stored then.
        """
        return self._recorder.add(self._inspector.confirmed(snapshot))

    @property
    def is_durable(self) -> bool:
        """Whether all that was stored survives a power cut."""
        return self._store.is_durable

    def sync(self) -> Position | None:
        """Make durable what was stored, so that it survives a power cut; return how far the archive has come.

        None if there was nothing to do. Raises StorageError if it cannot be done, or the archive was deleted.
        """
        return self._store.sync()

    def position(self) -> Position:
        """Return which archive this is, and how far it has come; it moves on with what is made durable."""
        return self._store.position()

    def resolved(self, page: Page) -> Page:
        """Return a revisit with the body that it repeats, or as unresolved where the archive has none."""
        return self._revisits.resolved(page)

    def remember(self, page: Page) -> None:
        """Store which payload a page has that was stored before; what is stored now is remembered anyway."""
        self._recorder.remember(page)

    def released(self, page: Page) -> list[Page]:
        """Return the unresolved visits that repeat a stored page, each with its body."""
        return list(self._revisits.released(page))

    def settle(self, snapshot: Snapshot) -> Capture:
        """Store a visit that was unresolved, in place of what was stored of it."""
        with self._store.together():
            capture = self._recorder.add(self._inspector.confirmed(snapshot))
            self._store.revisits.release(capture.url, capture.captured_at)
        return capture

    def holds(self, page: Page) -> bool:
        """Return whether this very visit (URL, time, outcome, body) is in the archive."""
        digest = sha256_hex(page.body) if page.body else None
        return self._store.holds(page.url, page.captured_at, page.outcome, digest)

    def validators(self, url: str) -> tuple[str | None, str | None]:
        """Return ETag and Last-Modified of the content stored last, to ask the server with."""
        capture = self.fetched(url)
        fields = {name.lower(): value for name, value in capture.headers} if capture else {}
        return fields.get("etag"), fields.get("last-modified")

    def fetched(self, url: str, digest: str | None = None) -> Capture | None:
        """Return the latest capture that brought content, or that brought the body of that digest.

        A 304 points at a version, yet its headers are not those that came with the body. A wall is no
        content.
        """
        for capture in self._store.captures(url, newest_first=True):
            if capture.outcome is Outcome.FETCHED and (
                capture.digest == digest if digest else capture.kind is not Kind.FAILED
            ):
                return capture
        return None

    def stored(self, url: str) -> tuple[Headers, bytes] | None:
        """Return headers and body of the content fetched last; None where there is none that can be read."""
        capture = self.fetched(url)
        content = self._bodies.readable(self.seen(capture)) if capture else None
        return (capture.headers, content.body) if capture and content else None

    def seen_since(self, url: str, when: datetime) -> bool:
        """Return whether a page was captured at or after a time."""
        latest = next(iter(self._store.captures(url, newest_first=True)), None)
        return latest is not None and latest.captured_at >= when

    def resolve(self, text: str) -> str:
        """Return the URL of the archived page that a typed URL means.

        http and https, with and without www, upper and lower case are the same page where only one
        of them has content. Raises NotArchived where the archive never saw any, UsageError where
        the text is no URL.
        """
        if self._store.head(text).versions:
            return text
        url = parse_seed(text)
        if self._store.head(url).versions:
            return url
        same_key = [found for _, found in self._store.urls(*key_range(url, "exact"))]
        if not same_key:
            raise NotArchived(f"{url} was never captured in {self.uri}")
        best = max(same_key, key=lambda found: (self._store.head(found).versions, found == url))
        return best if self._store.head(best).versions or url not in same_key else url

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield (urlkey, URL) of every page ever asked for, sorted by key."""
        return self._store.urls("", "\U0010ffff")

    def site(self, url: str) -> list[str]:
        """Return the pages of the host of a URL that have content, sorted by urlkey."""
        found = (page for _, page in self._store.urls(*key_range(url, "host")))
        return [page for page in found if self._store.head(page).versions]

    def captures(self, url: str) -> list[Capture]:
        """Return the captures of a page, oldest first."""
        return list(placed(self._store.captures(url)))

    def gone_since(self, url: str, when: datetime | None = None) -> datetime | None:
        """Return since when a page is gone, as it was known at a time; None when it is not gone."""
        return gone_since([each for each in self.captures(url) if when is None or each.captured_at <= when])

    def at(self, url: str, when: datetime | None) -> Capture:
        """Return the capture nearest at or before a time, else the first; the last without a time.

        Only captures with content count, unless the page never had any. Raises NotArchived, also where
        the capture is a revisit of bytes that the archive does not hold.
        """
        for found in (_has_content, _has_body):
            before = filter(found, self._known(self._store.captures(url, newest_first=True, until=when)))
            after = filter(found, self._store.captures(url))
            capture = next(before, None) or next(after, None)
            if capture is not None:
                return capture
        raise NotArchived(f"{url} has no capture with a body in {self.uri}")

    def _known(self, captures: Iterator[Capture]) -> Iterator[Capture]:
        """Raise NotArchived at a capture whose body is not known: an older one would pass for it."""
        for capture in captures:
            if capture.outcome is Outcome.UNRESOLVED:
                raise NotArchived(
                    f"the capture of {capture.url} at {timestamp(capture.captured_at)} repeats bytes that are"
                    " not in the archive: ingest the file that holds them, or give another time"
                )
            yield capture

    def body(self, capture: Capture) -> bytes:
        """Rebuild the bytes that a capture saw; raises NotArchived and CorruptObject."""
        return self._bodies.get(self.seen(capture)).body

    def document(self, capture: Capture) -> tuple[bytes, str]:
        """Return the body that a capture saw, and the Content-Type that came with it, empty for none."""
        return self.body(capture), content_type(self.brought(capture).headers)

    def brought(self, capture: Capture) -> Capture:
        """Return the capture whose fetch brought the body that a capture points at; a 304 brings none."""
        return self.fetched(capture.url, capture.digest) or capture

    def seen(self, capture: Capture) -> StoredVersion:
        """Return the version that a capture points at; raises NotArchived where it saw no body."""
        version = self._store.find(capture.url, capture.sha256)
        if version is None:
            raise NotArchived(f"the capture of {capture.url} has no body")
        return version

    def version_count(self, url: str) -> int:
        """Return how many versions of content a page has."""
        return self._store.head(url).versions

    def version(self, url: str, number: int) -> StoredVersion:
        """Return a version of a page by its number; raises NotArchived."""
        for version in self._store.versions(url):
            if version.number == number:
                return version
        raise NotArchived(f"{url} has no version {number}")

    def blocks(self, version: StoredVersion) -> list[tuple[PlacedBlock, str]]:
        """Return the partition of a version with the text of each block."""
        content = self._bodies.get(version)
        body = content.body
        return [
            (
                PlacedBlock(
                    lineage_id(version.url, slot.lineage), slot.level, slot.start, slot.end, slot.topic
                ),
                visible_text(body[slot.start : slot.end], content.charset),
            )
            for slot in content.slots
        ]

    def delta(self, url: str, before: StoredVersion, after: StoredVersion) -> Delta:
        """Return what happened to each block between two versions of a page."""
        brought = self.fetched(url, f"sha256:{after.digest}")
        declared = content_type(brought.headers) if brought else ""
        now = self.readings.of(self._bodies.get(after).body, declared)
        found = self._comparison.with_version(before, now, declared)
        return Delta(
            url=url,
            before=before.number or 0,
            after=after.number or 0,
            layout_changed=before.layout != after.layout,
            kind=found.kind,
            reason=found.reason,
            changes=compare(self._texts(before, after), self._texts(after, after), found.of_block),
            attributes=self._comparison.beside_text(before, now, declared),
        )

    def _texts(self, version: StoredVersion, like: StoredVersion) -> list[PlacedText]:
        """Return the blocks of a version, cut as another one is."""
        content = self._bodies.get(version)
        body = content.body
        return [
            PlacedText(
                lineage_id(version.url, slot.lineage) if slot.lineage else "",
                slot.topic,
                body[slot.start : slot.end],
                version.charset,
                slot.start,
            )
            for slot in content.recut(like.level, like.segmenter)
        ]

    def block_history(self, url: str, lineage: str) -> list[BlockState]:
        """Return the contents that one block had through time, oldest first.

        Raises NotArchived where the page has no block of that lineage.
        """
        name = lineage.rpartition("-")[2]
        states: list[BlockState] = []
        current: bytes | None = None
        for capture in self.captures(url) if lineage_id(url, name) == lineage or name == lineage else ():
            if capture.number is None or capture.kind is Kind.REVISIT:
                continue
            content = self._bodies.get(self.seen(capture))
            slot = next((slot for slot in content.slots if str(slot.lineage) == name), None)
            data = content.body[slot.start : slot.end] if slot else None
            if data != current:
                text = visible_text(data, content.charset) if data is not None else None
                states.append(
                    BlockState(capture.number, capture.captured_at, slot.topic if slot else "", text)
                )
            current = data
        if not states:
            raise NotArchived(f"{url} has no block {lineage!r}; see its blocks with: scrapy blocks {url}")
        return states

    def links_to(self, url: str) -> Iterator[Edge]:
        """Yield the links to a URL, whether that was ever asked for or not."""
        return self.links.to(url)

    def totals(self) -> dict[str, Totals]:
        """Return the sums per host, and those of the whole archive under ""."""
        return self._store.totals()

    def verify(self, sample: int | None = None) -> tuple[int, list[Damage]]:
        """Check versions, all or that many at random, and all that is stored; see :func:`verify`."""
        return verify(self._store, self._bodies, sample)


def _has_content(capture: Capture) -> bool:
    return capture.number is not None and capture.kind is not Kind.FAILED


def _has_body(capture: Capture) -> bool:
    return capture.digest is not None
