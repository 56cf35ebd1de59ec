"""Turns a snapshot into a stored capture: compares it with the archive and stores the new parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice, takewhile

from archivebot.archive.bases import Bases
from archivebot.archive.bodies import Bodies, Content
from archivebot.archive.dictionaries import Base, Dictionaries
from archivebot.archive.edits import edits
from archivebot.archive.inspection import Inspector
from archivebot.archive.placement import Cut, Placement, again, place
from archivebot.archive.revisits import SHORT
from archivebot.config import ArchiveConfig
from archivebot.exceptions import Conflict
from archivebot.fields.about import merged
from archivebot.fields.kept import Kept
from archivebot.fingerprint import sha256_hex
from archivebot.fingerprint.payload import payload_key
from archivebot.markup.contenttype import content_type
from archivebot.models import (
    CRAWL,
    REQUISITE,
    Capture,
    ChangeKind,
    Kind,
    Outcome,
    Page,
    Payload,
    Snapshot,
)
from archivebot.storage import frames
from archivebot.storage.base import ArchiveStore, NewVersion, PageHead, StoredVersion
from archivebot.storage.content import pack
from archivebot.urls import host_part, urlkey
from archivebot.versioning.policy import kind_of

# Attempts to store a capture while other processes store versions of the same page. Comparing takes most of
# an attempt, so one writer may lose to another several times in a row: eight attempts were once too few.
ATTEMPTS = 16

# Kinds of captures that show another version than the capture before.
EDITED = frozenset((Kind.CHANGED, Kind.TOUCHED))


class Recorder:
    """Stores snapshots; the only writer of versions."""

    def __init__(
        self, store: ArchiveStore, bodies: Bodies, inspector: Inspector, config: ArchiveConfig
    ) -> None:
        self._store, self._bodies, self._inspector, self._config = store, bodies, inspector, config
        self._dictionaries = Dictionaries(store, bodies, config.zstd_level)
        self._bases = Bases(store, bodies, self._dictionaries, config)

    def add(self, snapshot: Snapshot, with_blocks: bool = True) -> Capture:
        """Store one visit and return it as a capture; a visit that is already stored changes nothing.

        The capture lists its blocks only if ``with_blocks`` is true, because their topics take 2 ms a page.

        Raises StorageError if the store fails, Conflict if other writers of the same page were first in every
        attempt. The last attempt locks them out if the store supports that.
        """
        for _ in range(ATTEMPTS - 1):
            try:
                return self._add(snapshot, with_blocks)
            except Conflict:
                self._dictionaries.forget()
        with self._store.together():
            return self._add(snapshot, with_blocks)

    def _add(self, snapshot: Snapshot, with_blocks: bool) -> Capture:
        page = snapshot.page
        head = self._store.head(page.url)
        latest = self._store.latest(page.url, page.captured_at) if head.versions else None
        digest = sha256_hex(page.body) if page.body else None
        kind, reason = self._kind(snapshot, digest, latest)
        page = replace(page, reason=page.reason or reason)
        if digest and page.origin == REQUISITE:
            page = replace(page, payload=Payload(payload_key(f"sha256:{digest}")))
        snapshot = replace(snapshot, page=page)
        if digest is None:
            known = latest if kind is Kind.REVISIT else None
        else:
            known = latest if latest and latest.digest == digest else self._store.find(page.url, digest)
            # Bytes that came with an error before get a number when they come as content.
            if known is None or (known.number is None and _is_content(page, kind)):
                return self._add_version(snapshot, kind, head, latest, digest, with_blocks)
        if known and known.pruned and page.body:
            known, head = self._restored(snapshot, known, head, latest)
        capture = _capture(snapshot, kind, known)
        content = self._bodies.readable(known) if known and known.number else None
        kept = content.kept if content else Kept()
        capture = replace(capture, metadata=self._inspector.metadata(page.url, kept.metadata))
        if known and content:
            fields = merged(kept.fields, capture.fields) if kind.has_content else ()
            capture = replace(capture, fields=fields)
            if with_blocks:
                capture = self._described(capture, known, content, latest)
        turned = content and kind in (Kind.NEW, *EDITED) and self._inspector.following(page) is None
        with self._store.together():
            self._keep(page, capture, head, known)
            if turned:  # the page is another one again, and no new version brings its fingerprint
                self._store.fingerprints.put(capture, snapshot.fingerprint)
        return _explained(capture, snapshot, latest) if with_blocks else capture

    def _restored(
        self, snapshot: Snapshot, pruned: StoredVersion, head: PageHead, latest: StoredVersion | None
    ) -> tuple[StoredVersion, PageHead]:
        """Store the bytes of a pruned version again, which a visit brought; its old captures show it again.

        Its blocks continue those of the versions seen before and after the visit. Its frame stands on the
        dictionary of the site or alone, because a base is older than its versions. Returns the version and
        the counters of its page.
        """
        page = snapshot.page
        if pruned.segmenter and snapshot.partition is None:  # the body of an error now, or pruned meanwhile
            snapshot = replace(snapshot, partition=self._inspector.partition(snapshot))
        cut = Cut.of(page.body, snapshot.partition if pruned.number else None)
        blocks, _ = self._placed(cut, latest, self._inspector.following(page), head)
        notes = self._inspector.kept(snapshot).notes if pruned.number else ()
        packed = pack([block.slot for block in blocks], page.body, notes)
        base = self._dictionaries.of(host_part(urlkey(page.url))) or Base()
        frame = base.encode(packed, self._config.zstd_level)
        restored = replace(
            pruned,
            base=base.id,
            cost=frames.cost(len(page.body), base.cost),
            charset=cut.partition.charset,
            level=cut.partition.level,
            segmenter=cut.partition.segmenter,
            layout=cut.layout,
            blocks=len(blocks),
            stored_bytes=len(frame),
        )
        grown = replace(head, lineages=_lineages(head, blocks))
        self._store.retention.restore(restored, frame, head, grown.lineages)
        self._bodies.forget(restored)  # its blocks may be others
        return restored, grown

    def _placed(
        self, cut: Cut, latest: StoredVersion | None, following: StoredVersion | None, head: PageHead
    ) -> tuple[list[Placement], Content | None]:
        """Return the blocks of a cut with their lineages, and the version ``latest`` if it has blocks."""
        before, after = (
            self._bodies.readable(version) if cut.blocks and version and version.segmenter else None
            for version in (latest, following)
        )
        return place(cut, before, after, head.lineages), before

    def _kind(
        self,
        snapshot: Snapshot,
        digest: str | None,
        latest: StoredVersion | None,
        kept: Kept | None = None,
    ) -> tuple[Kind, str]:
        """Return the kind of a visit, and the reason if it is more than a difference of bytes.

        If the page had content before, a wall or an error in its place is not content. ``kept`` is what the
        version of a stored visit keeps.
        """
        page, doubt = snapshot.page, snapshot.quality
        kind = kind_of(page.outcome, digest, latest.digest if latest else None)
        if kind is Kind.GONE and latest and not self._is_page(latest):
            return Kind.NOT_FOUND, ""
        if kind is Kind.CHANGED and latest:
            if doubt and self._is_page(latest):
                return Kind.FAILED, doubt.reason
            change = snapshot.change
            # Decided here for a wall after a wall, and if another writer was first.
            if change is None or change.before not in ("", latest.digest):
                change = self._inspector.change(page, latest, kept)
            if change.kind is ChangeKind.FURNITURE:
                return Kind.TOUCHED, change.reason
        return kind, doubt.reason if doubt else ""

    def _is_page(self, version: StoredVersion) -> bool:
        """Return whether a version is the page itself, by the capture that fetched it."""
        digest = f"sha256:{version.digest}"
        for capture in self._store.captures(version.url, newest_first=True):
            if capture.outcome is Outcome.FETCHED and capture.digest == digest:  # a 304 is not judged
                return capture.quality is None
        return True

    def _described(
        self, capture: Capture, known: StoredVersion, content: Content, latest: StoredVersion | None
    ) -> Capture:
        """Return the capture of a version seen again with its title and its blocks.

        The blocks are compared with those of the latest version before this visit.
        """
        before = content if latest is None or latest.id == known.id else self._bodies.readable(latest)
        body, blocks = content.body, again(content, before or content)
        title = capture.title
        if not title and capture.kind is Kind.REVISIT and capture.origin != REQUISITE:
            title = self._inspector.title(body, self._declared(known))
        return replace(
            capture,
            title=title,
            blocks=tuple(block.placed(known, body) for block in blocks),
            edits=edits(known, body, blocks, before) if before and capture.kind in EDITED else (),
        )

    def _declared(self, version: StoredVersion) -> str:
        """Return the Content-Type that came with the body of a version."""
        digest = f"sha256:{version.digest}"
        captures = self._store.captures(version.url, newest_first=True)
        brought = (each for each in captures if each.outcome is Outcome.FETCHED and each.digest == digest)
        return content_type(next((each.headers for each in brought), ()))

    def _add_version(
        self,
        snapshot: Snapshot,
        kind: Kind,
        head: PageHead,
        latest: StoredVersion | None,
        digest: str,
        with_blocks: bool,
    ) -> Capture:
        page = snapshot.page
        content = _is_content(page, kind)
        cut = Cut.of(page.body, snapshot.partition if content else None)
        following = self._inspector.following(page) if head.versions else None
        blocks, before = self._placed(cut, latest, following, head)
        notes = self._inspector.kept(snapshot).notes if content else ()
        packed = pack([block.slot for block in blocks], page.body, notes)
        base, frame = self._bases.encoded(page, cut, packed, latest or following)
        record = StoredVersion(
            id=0,
            url=page.url,
            number=head.versions + 1 if content else None,
            digest=digest,
            length=len(page.body),
            charset=cut.partition.charset,
            level=cut.partition.level,
            segmenter=cut.partition.segmenter,
            layout=cut.layout,
            blocks=len(blocks),
            new_blocks=sum(block.new for block in blocks),
            new_bytes=sum(block.slot.end - block.slot.start for block in blocks if block.new),
            cost=frames.cost(len(page.body), base.cost),
            base=base.id,
            stored_bytes=len(frame),
        )
        capture = replace(
            _capture(snapshot, kind, record),
            stored_bytes=record.stored_bytes,
            new_blocks=record.new_blocks,
            blocks=tuple(block.placed(record, page.body) for block in blocks) if with_blocks else (),
            metadata=self._inspector.metadata(page.url, page.metadata),
            edits=edits(record, page.body, blocks, before) if with_blocks and before else (),
        )
        new = NewVersion(
            record,
            frame,
            _lineages(head, blocks),
            base.sketch,
            snapshot.fingerprint,
            snapshot.duplicate,
            latest=following is None,
        )
        self._keep(page, capture, head, new)
        if content:
            self._bases.stored(host_part(capture.urlkey), record)
        return _explained(capture, snapshot, latest) if with_blocks else capture

    def _keep(
        self, page: Page, capture: Capture, head: PageHead, version: NewVersion | StoredVersion | None
    ) -> None:
        with self._store.together():
            if page.links:  # first: links without a visit do no harm, a visit without them lies
                self._store.links.add(page.url, page.links, page.captured_at)
            elif page.seen_links:
                self._store.links.again(page.url, page.seen_links.when, page.captured_at)
            known = version.id if isinstance(version, StoredVersion) else version
            self._store.add(capture, head, known)
            self.remember(page)
            if capture.kind.has_content:
                self._judge_again(page)

    def remember(self, page: Page) -> None:
        """Record the payload that a stored page has or waits for; recording it twice changes nothing."""
        payload, revisits = page.payload, self._store.revisits
        if payload and page.outcome is Outcome.UNRESOLVED:
            revisits.wait((page.url, page.captured_at, payload))
        elif payload and payload.digest and page.body:
            whole = page.outcome not in SHORT
            revisits.remember(payload.digest, page.url, sha256_hex(page.body), again=whole)

    def _judge_again(self, page: Page) -> None:
        """Judge the visits after a newly stored one again, up to the first that does not change.

        They now follow another version. A visit from a WARC file that only states that nothing changed now
        refers to that version.
        """
        later = self._later(page.url, page.captured_at)
        first = next(later, None)
        latest = self._store.latest(page.url, page.captured_at) if first else None
        for capture in chain([first] if first else [], later):
            counted = capture.number is not None and capture.kind.has_content
            found = self._judged(capture, latest)
            if _judgement(found) != _judgement(capture):
                self._store.amend(capture, found)
            if counted and found.kind.has_content and found.digest == capture.digest:
                return  # the later visits are compared with the same version as before
            if found.number is not None and found.kind.has_content:
                latest = self._store.find(page.url, found.sha256)

    def _later(self, url: str, when: datetime) -> Iterator[Capture]:
        """Yield the captures of a page after a time, in parts, between which they may be amended.

        Mostly the first is enough, and to read the captures of a page that has 20,000 takes a second.
        """
        size = 1
        while part := self._part(url, when, size):
            yield from part
            when, size = part[-1].captured_at, 4 * size

    def _part(self, url: str, when: datetime, size: int) -> list[Capture]:
        """Return the first captures of a page after a time; those of one time stay together."""
        captures = self._store.captures(url, since=when)
        part = list(islice(captures, size))
        return part + list(takewhile(lambda capture: capture.captured_at == part[-1].captured_at, captures))

    def _judged(self, capture: Capture, latest: StoredVersion | None) -> Capture:
        """Return a visit with its kind, reason and digest when compared with ``latest``."""
        if capture.outcome is Outcome.NOT_MODIFIED and capture.origin != CRAWL:
            seen = _capture(Snapshot(capture.page(), None), Kind.REVISIT, latest)
            return replace(seen, links=capture.links) if latest else capture
        digest = capture.sha256 or None
        body, kept = b"", None
        if capture.outcome is Outcome.FETCHED and digest and latest and digest != latest.digest:
            version = self._bodies.readable(self._store.find(capture.url, digest))
            if version is None:
                return capture
            body, kept = version.body, version.kept
        is_ours = capture.kind is Kind.TOUCHED or capture.quality  # then the reason is ours
        page = replace(capture.page(body), reason="" if is_ours else capture.reason)
        kind, reason = self._kind(Snapshot(page, None, capture.quality), digest, latest, kept)
        return replace(capture, kind=kind, reason=page.reason or reason)


def _lineages(head: PageHead, blocks: Sequence[Placement]) -> int:
    """Return the counter of lineages of a page once it has these blocks."""
    return max([head.lineages, *(block.slot.lineage for block in blocks)])


def _is_content(page: Page, kind: Kind) -> bool:
    """Return whether a visit of some kind shows the content of its page."""
    return page.outcome is Outcome.FETCHED and kind is not Kind.FAILED


def _capture(snapshot: Snapshot, kind: Kind, version: StoredVersion | None) -> Capture:
    page = snapshot.page
    return Capture(
        url=page.url,
        urlkey=urlkey(page.url),
        captured_at=page.captured_at,
        outcome=page.outcome,
        kind=kind,
        status=page.status,
        number=version.number if version else None,
        digest=f"sha256:{version.digest}" if version else None,
        size=version.length if version else 0,
        stored_bytes=0,
        level=version.level if version else None,
        block_count=version.blocks if version else 0,
        new_blocks=0,
        links=page.seen_links.count if page.seen_links else len(page.links),
        reason=page.reason,
        location=page.location,
        origin=page.origin,
        headers=page.headers,
        focus=page.focus,
        quality=snapshot.quality,
        duplicate=snapshot.duplicate,
        wire=page.wire,
        fields=snapshot.fields if kind.has_content else (),
        title=snapshot.title,
    )


def _explained(capture: Capture, snapshot: Snapshot, latest: StoredVersion | None) -> Capture:
    """Return the capture of a changed page with the line that decided that; it is not stored."""
    change = snapshot.change
    if capture.kind is Kind.CHANGED and not capture.reason and change and latest:
        return replace(capture, reason=change.reason) if change.before == latest.digest else capture
    return capture


def _judgement(capture: Capture) -> tuple[Kind, str, str | None]:
    return capture.kind, capture.reason, capture.digest
