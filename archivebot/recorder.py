"""From a snapshot to a stored capture: compare with what the archive holds, keep what is new."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from archivebot.bodies import Bodies, Content
from archivebot.config import ArchiveConfig
from archivebot.exceptions import Conflict
from archivebot.fingerprint import piece_id, sha256_hex
from archivebot.inspection import Inspector
from archivebot.models import (
    Capture,
    Change,
    ChangeKind,
    Kind,
    Outcome,
    Page,
    Partition,
    PlacedBlock,
    Snapshot,
)
from archivebot.segmentation.dom import visible_text
from archivebot.segmentation.layout import split
from archivebot.segmentation.topic import topic
from archivebot.storage import frames
from archivebot.storage.base import ArchiveStore, NewVersion, PageHead, StoredVersion, VersionId
from archivebot.storage.content import Slot, pack
from archivebot.storage.sketch import sketch
from archivebot.urls import urlkey
from archivebot.versioning.align import align
from archivebot.versioning.policy import kind_of

# Attempts to store a capture while other processes store versions of the same page. Comparing takes most
# of an attempt, so a writer may lose to the same other one several times in a row: eight were too few once.
ATTEMPTS = 16

# Versions of a page so large that two of them exceed the bound are chained up to this number all the same.
LONGEST_PAGES_CHAIN = 4


class Recorder:
    """Stores snapshots; the only writer of versions."""

    def __init__(
        self, store: ArchiveStore, bodies: Bodies, inspector: Inspector, config: ArchiveConfig
    ) -> None:
        self._store, self._bodies, self._inspector, self._config = store, bodies, inspector, config

    def add(self, snapshot: Snapshot) -> Capture:
        """Store one visit and give it as a capture; a visit stored before changes nothing.

        Raises StorageError where the store fails, Conflict where other writers of the same page
        were first again and again; the last attempt keeps them out where the store can.
        """
        for _ in range(ATTEMPTS - 1):
            try:
                return self._add(snapshot)
            except Conflict:
                continue
        with self._store.together():
            return self._add(snapshot)

    def _add(self, snapshot: Snapshot) -> Capture:
        page = snapshot.page
        head = self._store.head(page.url)
        latest = self._store.latest(page.url, page.captured_at) if head.versions else None
        digest = sha256_hex(page.body) if page.body else None
        kind, reason = self._kind(snapshot, digest, latest)
        snapshot = replace(snapshot, page=replace(page, reason=page.reason or reason))
        if digest is None:
            known = latest if kind is Kind.REVISIT else None
        else:
            known = latest if latest and latest.digest == digest else self._store.find(page.url, digest)
            if known is None:
                return self._add_version(snapshot, kind, head, latest, digest)
        blocks = self._known_blocks(known, latest) if known else ()
        capture = replace(_capture(snapshot, kind, known), blocks=blocks)
        self._keep(page, capture, head, known.id if known else None)
        return capture

    def _kind(self, snapshot: Snapshot, digest: str | None, latest: StoredVersion | None) -> tuple[Kind, str]:
        """Tell what a visit means, and why where that is more than a difference of bytes.

        What came in place of a page is no content where there was a page.
        """
        page, doubt = snapshot.page, snapshot.quality
        kind = kind_of(page.outcome, digest, latest.digest if latest else None)
        if kind is Kind.GONE and latest and not self._is_page(latest):
            return Kind.NOT_FOUND, ""
        if kind is Kind.CHANGED and latest:
            if doubt and self._is_page(latest):
                return Kind.FAILED, doubt.reason
            change = snapshot.change
            # It is told here for a wall after a wall, and where another writer was first.
            if change is None or change.before not in ("", latest.digest):
                change = self._inspector.change(page, latest)
            if change.kind is ChangeKind.FURNITURE:
                return Kind.TOUCHED, change.reason
        return kind, doubt.reason if doubt else ""

    def _is_page(self, version: StoredVersion) -> bool:
        """Tell whether the fetch that brought a version brought the page."""
        digest = f"sha256:{version.digest}"
        for capture in self._store.captures(version.url, newest_first=True):
            if capture.outcome is Outcome.FETCHED and capture.digest == digest:  # a 304 is not judged
                return capture.quality is None
        return True

    def _known_blocks(self, known: StoredVersion, latest: StoredVersion | None) -> tuple[PlacedBlock, ...]:
        """Give the blocks of a version seen again, compared with the latest one before this visit."""
        content = self._bodies.readable(known) if known.number else None
        if content is None:
            return ()
        before = content if latest is None or latest.id == known.id else self._bodies.readable(latest)
        return tuple(block.placed(known.url) for block in again(content, before or content))

    def _add_version(
        self, snapshot: Snapshot, kind: Kind, head: PageHead, latest: StoredVersion | None, digest: str
    ) -> Capture:
        page = snapshot.page
        content = page.outcome is Outcome.FETCHED and kind is not Kind.FAILED
        cut = Cut.of(page.body, snapshot.partition if content else None)
        before = self._bodies.readable(latest) if cut.blocks and latest and latest.segmenter else None
        blocks = place(cut, before, head.lineages)
        base, pieces = self._base(page, cut, latest)
        reference = self._bodies.readable(base)
        base = base if reference else None
        frame = frames.encode(
            pack([block.slot for block in blocks], page.body),
            reference.packed if reference else None,
            self._config.zstd_level,
        )
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
            cost=frames.cost(len(page.body), base.cost if base else 0),
            base=base.id if base else None,
            stored_bytes=len(frame),
        )
        capture = replace(
            _capture(snapshot, kind, record),
            stored_bytes=record.stored_bytes,
            new_blocks=record.new_blocks,
            blocks=tuple(block.placed(page.url) for block in blocks),
        )
        lineages = max([head.lineages, *(block.slot.lineage for block in blocks)])
        new = NewVersion(record, frame, lineages, pieces, snapshot.fingerprint, snapshot.duplicate)
        self._keep(page, capture, head, new)
        return capture

    def _keep(
        self, page: Page, capture: Capture, head: PageHead, version: NewVersion | VersionId | None
    ) -> None:
        with self._store.together():
            if page.links:  # first: links without a visit do no harm, a visit without them lies
                self._store.add_links(page.url, page.links, page.captured_at)
            self._store.add(capture, head, version)

    def _base(
        self, page: Page, cut: Cut, latest: StoredVersion | None
    ) -> tuple[StoredVersion | None, tuple[int, ...] | None]:
        """Choose what to compress against: the latest version, else a page of the site most like it.

        For that choice the page's blocks are sketched; the sketch is given, too.
        """
        bound = max(self._config.frame_bound, LONGEST_PAGES_CHAIN * len(page.body))
        if latest is not None and frames.cost(len(page.body), latest.cost) <= bound:
            return latest, None
        pieces = sketch(map(piece_id, cut.blocks))
        room = bound // 2 - frames.cost(len(page.body))
        return self._store.similar(urlkey(page.url), pieces, room) if room > 0 else None, pieces


@dataclass(frozen=True, slots=True)
class Cut:
    """A body with its partition applied: the bytes of its blocks, and the id of its layout."""

    partition: Partition
    blocks: tuple[bytes, ...]
    layout: int

    @classmethod
    def of(cls, body: bytes, partition: Partition | None) -> Cut:
        """Apply a partition; a body without one is all layout."""
        partition = partition or Partition(len(body), 0, "utf-8", 0, ())
        layout, blocks = split(body, partition.blocks)
        return cls(partition, blocks, int.from_bytes(layout.digest()[:8], "big", signed=True))


@dataclass(frozen=True, slots=True)
class Placement:
    """A block of a version about to be stored: where it stands, and what happened to it."""

    slot: Slot
    change: Change
    new: bool

    def placed(self, url: str) -> PlacedBlock:
        slot = self.slot
        lineage = lineage_id(url, slot.lineage)
        return PlacedBlock(lineage, slot.level, slot.start, slot.end, slot.topic, self.change, self.new)


def place(cut: Cut, before: Content | None, lineages: int) -> list[Placement]:
    """Give every block of a cut its lineage: that of the block it continues, or the next free one."""
    slots, body = (
        (before.recut(cut.partition.level, cut.partition.segmenter), before.body) if before else ((), b"")
    )
    old = [body[slot.start : slot.end] for slot in slots]
    charset = cut.partition.charset
    placements: list[Placement] = []
    for match, block, data in zip(
        align(
            old,
            cut.blocks,
            lambda index: visible_text(old[index], before.charset if before else charset),
            lambda index: visible_text(cut.blocks[index], charset),
        ),
        cut.partition.blocks,
        cut.blocks,
        strict=False,  # removed blocks come last
    ):
        known = slots[match.before] if match.before is not None else None
        lineage = known.lineage if known else 0
        if not lineage:
            lineages = lineage = lineages + 1
        new = match.change in (Change.ADDED, Change.MODIFIED)
        words = topic(data, charset) if new or not (known and known.topic) else known.topic
        slot = Slot(block.start, block.end, block.level, lineage, words)
        placements.append(Placement(slot, match.change, new))
    return placements


def again(content: Content, before: Content) -> list[Placement]:
    """Give the blocks of a version that the archive holds; by lineage they are those of the one before."""
    then, now = before.body, content.body
    old = {slot.lineage: then[slot.start : slot.end] for slot in before.slots}
    placements = []
    for slot in content.slots:
        change = Change.ADDED if slot.lineage not in old else Change.MODIFIED
        if old.get(slot.lineage) == now[slot.start : slot.end]:
            change = Change.UNCHANGED
        placements.append(Placement(slot, change, new=False))
    return placements


def lineage_id(url: str, lineage: int | str) -> str:
    """Name a block of a page for ever: 8 hex digits of the SHA-256 of its URL, and its number there.

    >>> lineage_id("http://example.com/", 7)
    '2a1b4024-7'
    """
    return f"{_page_id(url)}-{lineage}"


@lru_cache(maxsize=64)
def _page_id(url: str) -> str:
    return sha256_hex(url.encode())[:8]


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
        links=len(page.links),
        reason=page.reason,
        location=page.location,
        origin=page.origin,
        headers=page.headers,
        focus=page.focus,
        quality=snapshot.quality,
        duplicate=snapshot.duplicate,
    )
