"""Looking back at the pages, versions and blocks of an archive."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice, takewhile
from typing import Self

from archivebot.archive.attachments import Attachments
from archivebot.archive.bodies import Bodies, Content
from archivebot.archive.comparison import Comparison
from archivebot.archive.edits import block_topic, placed_texts
from archivebot.archive.mementos import Mementos, chosen
from archivebot.archive.placement import lineage_id
from archivebot.archive.proofs import Proofs
from archivebot.archive.readings import PageReading, Readings
from archivebot.archive.stints import Stints
from archivebot.archive.verification import verify
from archivebot.archive.visits import Visits
from archivebot.collection.file import read_collections
from archivebot.config import ArchiveConfig, UserFile, without_password
from archivebot.exceptions import NotArchived
from archivebot.fields.about import merged
from archivebot.fields.kept import Kept
from archivebot.fields.sites import Sites
from archivebot.fingerprint import sha256_hex
from archivebot.markup.contenttype import content_type
from archivebot.markup.words import block_text
from archivebot.metadata import NONE, Metadata
from archivebot.models import (
    Block,
    BlockState,
    Capture,
    Damage,
    Delta,
    Field,
    Kind,
    Outcome,
    Page,
    PlacedBlock,
    Position,
)
from archivebot.proof.checkpoint import Checkpoint
from archivebot.significance.significance import Significance
from archivebot.storage.base import ArchiveStore, StoredVersion, Totals, VersionId
from archivebot.storage.content import Slot
from archivebot.storage.edges import Edge
from archivebot.urls import key_range, parse_seed, urlkey
from archivebot.versioning.delta import PlacedText, compare
from archivebot.versioning.presence import gone_since, is_content, placed, redirect


class ArchiveReader:
    """What an archive holds: pages, versions and blocks, over one store; see :meth:`Archive.reader`.

    Pages are named by their canonical URL; :meth:`resolve` finds it for a URL that a person typed. ``links``,
    ``forms``, ``retention``, ``fingerprints`` and ``templates`` belong to the store; ``mementos`` are the
    captures that can be replayed, ``visits`` all captures in the order of an index, ``stints`` the times of
    the versions and blocks of pages, ``proofs`` proves that captures are as they were stored.

    Long results come in parts. With a ``limit`` a method returns that many results; with ``after``, the last
    result of the previous part, it returns the results that follow. An empty part is the end. Pages stored
    meanwhile move no result to another part. A part read to its end blocks no writer.
    """

    def __init__(self, store: ArchiveStore, config: ArchiveConfig) -> None:
        self._store = store
        self.links, self.forms, self.retention = store.links, store.forms, store.retention
        self.fingerprints, self.templates = store.fingerprints, store.templates
        self.mementos, self.proofs = Mementos(store), Proofs(store)
        self._bodies, self.attachments = Bodies(store), Attachments(store)
        self.visits = Visits(store, self._bodies)
        self.readings = Readings()
        self.stints = Stints(store, self._bodies, self._labelled)
        self.sites, self.collections = _sites(config.fields), read_collections(config.collections)
        self._comparison = Comparison(
            store, self._bodies, self.readings, config.content_attributes, self.sites
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def uri(self) -> str:
        """The URI of this archive as it may be shown, without a password."""
        return without_password(self._store.uri)

    def close(self) -> None:
        """Close the archive, after making everything stored durable."""
        self._store.close()

    def position(self) -> Position:
        """Return the identity and position of the archive; the position grows with each sync."""
        return self._store.position()

    def changes(self) -> Hashable | None:
        """Return a value that differs after each change of the archive, None if the store has none.

        See :meth:`ArchiveStore.changes`.
        """
        return self._store.changes()

    def holds(self, page: Page) -> bool:
        """Return whether the archive already holds this capture (URL, time, outcome, body)."""
        digest = sha256_hex(page.body) if page.body else None
        return self._store.holds(page.url, page.captured_at, page.outcome, digest)

    def validators(self, url: str) -> tuple[str | None, str | None]:
        """Return ETag and Last-Modified of the last content up to now, for a conditional request."""
        capture = self.fetched(url, until=datetime.now(UTC))
        fields = {name.lower(): value for name, value in capture.headers} if capture else {}
        return fields.get("etag"), fields.get("last-modified")

    def fetched(self, url: str, digest: str | None = None, until: datetime | None = None) -> Capture | None:
        """Return the latest capture with content, or with the body of ``digest``, at or before ``until``.

        A 304 points at a version, but its headers did not come with the body, so it does not count. Nor does
        a wall.
        """
        for capture in self._store.captures(url, newest_first=True, until=until):
            if capture.outcome is Outcome.FETCHED and (
                capture.digest == digest if digest else capture.kind is not Kind.FAILED
            ):
                return capture
        return None

    def stored(self, url: str) -> tuple[Capture, bytes] | None:
        """Return the capture that fetched content last, and its body; None if there is none or damaged."""
        capture = self.fetched(url)
        content = self._bodies.readable(self.seen(capture)) if capture else None
        return (capture, content.body) if capture and content else None

    def seen_since(self, url: str, when: datetime) -> bool:
        """Return whether a page was captured at or after a time."""
        latest = next(iter(self._store.captures(url, newest_first=True)), None)
        return latest is not None and latest.captured_at >= when

    def resolve(self, text: str) -> str:
        """Return the URL of the archived page that a typed URL refers to.

        If only one of the variants (http or https, with or without www, upper or lower case) has content, it
        is that page. Raises NotArchived if none of them was ever captured, UsageError if the text is not a
        URL.
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

    def pages(
        self, after: str | None = None, limit: int | None = None, site: str | None = None
    ) -> Iterator[tuple[str, str]]:
        """Yield (urlkey, URL) of every page ever requested, sorted; ``after`` is the last URL read.

        With ``site``, a URL, only the pages on its host are returned.
        """
        start, end = key_range(site, "host") if site else ("", "\U0010ffff")
        start = max(start, urlkey(after)) if after else start
        return islice(self._store.urls(start, end, after or ""), limit)

    def site(
        self, url: str, after: str | None = None, limit: int | None = None, match: str = "host"
    ) -> list[str]:
        """Return the pages with content on the host of a URL, or below the URL if ``match`` is ``prefix``."""
        found = self.visits.pages(url, after=after, match=match)
        return list(islice((page for page in found if self._store.head(page).versions), limit))

    def captures(self, url: str, after: datetime | None = None, limit: int | None = None) -> list[Capture]:
        """Return the captures of a page, oldest first; ``after`` is the time of a capture.

        Captures with the same time stay in one part, so a part may exceed ``limit``.
        """
        captures = placed(self._store.captures(url, since=after), lambda: self._had_content(url, after))
        found = list(islice(captures, limit))
        if found and limit:
            last = found[-1].captured_at
            found.extend(takewhile(lambda capture: capture.captured_at == last, captures))
        return found

    def last(self, url: str) -> Capture | None:
        """Return the last capture of a page, whatever it showed; None if the URL was never captured."""
        found = next(self._store.captures(url, newest_first=True), None)
        return next(placed([found], lambda: self._had_content(url, found.captured_at))) if found else None

    def _had_content(self, url: str, when: datetime | None) -> bool:
        """Return whether a capture up to ``when`` shows the page itself; None for any time."""
        if when is None or self._store.latest(url, when) is None:
            return False
        return any(map(is_content, self._store.captures(url, until=when)))

    def gone_since(self, url: str, when: datetime | None = None) -> datetime | None:
        """Return the time since which a page is gone, as known at ``when``; None if it is not gone."""
        return gone_since(list(placed(self._store.captures(url, until=when, brief=True))))

    def at(self, url: str, when: datetime | None) -> Capture:
        """Return the last capture at or before a time, else the first; without a time, the last.

        Only captures with content count, unless the page never had any. Raises NotArchived if there is no
        such capture, or if it is a revisit of bytes that the archive does not hold.
        """
        for found in (_has_content, _has_body):
            before = chosen(self._store.captures(url, newest_first=True, until=when), found)
            if capture := before or chosen(self._store.captures(url), found):
                return capture
        led = redirect(self._store.captures(url, newest_first=True))
        where = f": it led to {led.location}" if led else ""
        raise NotArchived(f"{url} has no capture with a body in {self.uri}{where}")

    def body(self, capture: Capture) -> bytes:
        """Rebuild the body of a capture; raises NotArchived and CorruptObject."""
        return self._bodies.get(self.seen(capture)).body

    def document(self, capture: Capture) -> tuple[bytes, str]:
        """Return the body of a capture and the Content-Type that came with it ("" for none)."""
        return self.body(capture), content_type(self.brought(capture).headers)

    def brought(self, capture: Capture) -> Capture:
        """Return the capture that fetched the body of this capture; a 304 fetched none."""
        before = self.fetched(capture.url, capture.digest, until=capture.captured_at)
        return before or self.fetched(capture.url, capture.digest) or capture

    def seen(self, capture: Capture) -> StoredVersion:
        """Return the version that a capture points at; raises NotArchived if it has no body."""
        if version := self._store.find(capture.url, capture.sha256):
            return version
        raise NotArchived(f"the capture of {capture.url} has no body")

    def version_count(self, url: str) -> int:
        """Return how many versions of content a page has."""
        return self._store.head(url).versions

    def version(self, url: str, number: int) -> StoredVersion:
        """Return a version of a page by its number; raises NotArchived."""
        for version in self._store.versions(url):
            if version.number == number:
                return version
        raise NotArchived(f"{url} has no version {number}")

    def versions(
        self, url: str, after: VersionId | None = None, limit: int | None = None
    ) -> list[StoredVersion]:
        """Return the versions of a page in the order they were stored; ``after`` is a version id."""
        return list(islice(self._store.versions_after(url, after), limit))

    def blocks(self, version: StoredVersion) -> list[tuple[PlacedBlock, str]]:
        """Return the partition of a version with the text of each block.

        If the labels were not recorded, they are computed.
        """
        content = self._bodies.get(version)
        body = content.body
        slots = self._labelled(version, content, content.slots)
        return [
            (
                PlacedBlock(
                    lineage=lineage_id(version.url, slot.lineage),
                    level=slot.level,
                    start=slot.start,
                    end=slot.end,
                    topic=block_topic(body[slot.start : slot.end], content.charset, slot.is_all_of(body)),
                    label=slot.label,
                ),
                block_text(body[slot.start : slot.end], content.charset, slot.is_all_of(body)),
            )
            for slot in slots
        ]

    def _labelled(self, version: StoredVersion, content: Content, slots: Sequence[Slot]) -> Sequence[Slot]:
        """Return blocks of a version with their labels; those not recorded are computed."""
        if all(slot.label for slot in slots):
            return slots
        read = self.readings.of(content.body, self._declared(version))
        labels = read.labels([Block(slot.start, slot.end, slot.level) for slot in slots])
        return [replace(slot, label=slot.label or label) for slot, label in zip(slots, labels, strict=True)]

    def metadata(self, url: str, version: StoredVersion | None = None) -> Metadata:
        """Return the metadata of a page by the rules of the configuration, else those kept with a version."""
        kept = NONE
        if version is not None and version.number is not None and not version.pruned:
            kept = self._bodies.get(version).kept.metadata
        return self.collections.current(url, kept)

    def fields(self, version: StoredVersion, *, anew: bool = False) -> tuple[Field, ...]:
        """Return the fields of a version: those kept with it, and what the configured selectors find.

        A field that is kept and has a selector has its kept value. With ``anew`` only the selectors are used.
        A version that was too large to be cut has only what is kept with it.
        """
        content, site = self._bodies.get(version), self.sites.of(version.url)
        kept = content.kept.fields
        is_all = bool(kept) and (site is None or site.rules.keys() <= {field.name for field in kept})
        if not anew and (is_all or not version.segmenter):
            return kept
        read = self.readings.of(content.body, self._declared(version))
        found = read.fields(site, version.url)
        return tuple(f for f in found if site and f.name in site.rules) if anew else merged(found, kept)

    def _declared(self, version: StoredVersion) -> str:
        """Return the Content-Type that came with the body of a version."""
        brought = self.fetched(version.url, f"sha256:{version.digest}")
        return content_type(brought.headers) if brought else ""

    def delta(self, url: str, before: StoredVersion, after: StoredVersion) -> Delta:
        """Return what happened to each block between two versions of a page."""
        now, declared, kept = self._read(after)
        found = self._comparison.with_version(before, now, declared, kept)
        return Delta(
            url=url,
            before=before.number or 0,
            after=after.number or 0,
            layout_changed=before.layout != after.layout,
            kind=found.kind,
            reason=found.reason,
            changes=compare(self._texts(before, after), self._texts(after, after), found.of_block),
            attributes=self._comparison.beside_text(before, now, declared, kept),
        )

    def change(self, before: StoredVersion, after: StoredVersion) -> Significance:
        """Return whether content or only furniture changed between two versions of a page, and the reason."""
        return self._comparison.with_version(before, *self._read(after))

    def _read(self, version: StoredVersion) -> tuple[PageReading, str, Kept]:
        """Return the reading of a version, the Content-Type that came with it, and what it keeps."""
        content, declared = self._bodies.get(version), self._declared(version)
        return self.readings.of(content.body, declared), declared, content.kept

    def _texts(self, version: StoredVersion, like: StoredVersion) -> list[PlacedText]:
        """Return the blocks of a version, cut at the level and by the segmenter of ``like``."""
        content = self._bodies.get(version)
        slots = self._labelled(version, content, content.recut(like.level, like.segmenter))
        return placed_texts(version.url, content.body, version.charset, slots)

    def block_history(self, url: str, lineage: str) -> list[BlockState]:
        """Return the successive contents of one block, oldest first.

        Raises NotArchived if the page has no block of that lineage.
        """
        name = lineage.rpartition("-")[2]
        states: list[BlockState] = []
        current: bytes | None = None
        for each in self._store.captures(url, brief=True) if lineage in (name, lineage_id(url, name)) else ():
            if each.number is None or each.kind is Kind.REVISIT or each.pruned:
                continue
            content = self._bodies.get(self.seen(each))
            slot = next((slot for slot in content.slots if str(slot.lineage) == name), None)
            data = content.body[slot.start : slot.end] if slot else None
            if data != current:
                whole = slot is not None and slot.is_all_of(content.body)
                text = block_text(data, content.charset, whole) if data is not None else None
                words = block_topic(data, content.charset, whole) if data is not None else ""
                states.append(BlockState(each.number, each.captured_at, words, text))
            current = data
        if not states:
            raise NotArchived(f"{url} has no block {lineage!r}; see its blocks with: scrapy blocks {url}")
        return states

    def links_from(self, url: str, after: str = "", limit: int | None = None) -> Iterator[Edge]:
        """Yield the links of a page; ``after`` is the target of the last link read."""
        return self.links.of(url, after, limit)

    def links_to(self, url: str, after: str = "", limit: int | None = None) -> Iterator[Edge]:
        """Yield the links to a URL, even one never requested; ``after`` is the last linking page."""
        return self.links.to(url, after, limit)

    def totals(self) -> dict[str, Totals]:
        """Return the totals of each host, and of the whole archive under the key ""."""
        return self._store.totals()

    def verify(self, sample: int | None = None, since: Checkpoint | None = None) -> tuple[int, list[Damage]]:
        """Check all versions or a random sample, all checksums and the log; see :func:`verify`."""
        return verify(self._store, self._bodies, sample, since)


def _has_content(capture: Capture) -> bool:
    return capture.number is not None and capture.kind is not Kind.FAILED


def _has_body(capture: Capture) -> bool:
    return capture.digest is not None


def _sites(file: UserFile) -> Sites:
    if not file.text:
        return Sites()
    from archivebot.fields.file import read_sites  # it imports parsel, a tenth of a second

    return read_sites(file)
