"""Analyses a page before it is stored: blocks, capture quality, near-duplicates."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

from archivebot.archive import inheritance
from archivebot.archive.bodies import Bodies
from archivebot.archive.comparison import Comparison
from archivebot.archive.readings import PageReading, Readings
from archivebot.bounds import excess
from archivebot.collection.collections import Collections
from archivebot.config import ArchiveConfig
from archivebot.content.page import main_text
from archivebot.duplicates.marker import mark
from archivebot.exceptions import StorageError
from archivebot.fields.kept import Kept
from archivebot.fields.sites import Sites
from archivebot.fingerprint import sha256_hex
from archivebot.markup.contenttype import content_type
from archivebot.metadata import Metadata
from archivebot.models import (
    REQUISITE,
    Kind,
    Label,
    Outcome,
    Page,
    PageChange,
    Partition,
    Quality,
    QualityKind,
    Snapshot,
)
from archivebot.segmentation.segmenter import SEGMENTER_VERSION, cut_page, uncut
from archivebot.storage.base import ArchiveStore, StoredVersion
from archivebot.versioning.policy import WINDOW, Step, next_level

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Main texts of archived pages in the cache. A page is compared with similar pages when it is marked and when
# it is stored, and the next pages of a site resemble the same pages: 458 pages of a manual ask 41 times for
# the texts of 12 pages.
TEXTS = 32

NO_MEMORY = "not cut: it takes more memory than a process may have"


@dataclass(frozen=True, slots=True)
class Holding:
    """What the archive holds of a page: the latest version before a visit, and whether it has the body.

    ``digest`` is the digest of the body. Writers may change the archive meanwhile, but all stages of a visit
    agree, and :class:`~archivebot.archive.recorder.Recorder` looks again.
    """

    visit: tuple[str, datetime, bytes] | None = None
    digest: str = ""
    latest: StoredVersion | None = None
    is_known: bool = False


class Inspector:
    """Analyses pages and compares them with the archive; writes nothing.

    Each stage adds its own results to a snapshot and needs no other stage. A page is not read if it was not
    fetched, exceeds the bounds or was given up, or if the process runs out of memory.
    """

    def __init__(
        self,
        store: ArchiveStore,
        bodies: Bodies,
        readings: Readings,
        comparison: Comparison,
        config: ArchiveConfig,
        sites: Sites,
        collections: Collections,
    ) -> None:
        self._store, self._bodies, self._readings = store, bodies, readings
        self._comparison, self._config, self._sites = comparison, config, sites
        self._collections = collections
        self._held = Holding()
        self._text_of = lru_cache(maxsize=TEXTS)(self._main_text)

    def follow(self, page: Page) -> None:
        """Take over what is known of a page from its latest version, before the page is read."""
        if is_readable(snapshot_of(page)) and not self._holding(page).is_known:
            _unless_broken(self._following, page)

    def cut(self, snapshot: Snapshot) -> Snapshot:
        """Add the blocks with their labels, at the level that the page's history or the page itself asks for.

        If the archive already holds the body, its blocks are known.
        """
        return self._staged(snapshot, self._cut)

    def extract(self, snapshot: Snapshot) -> Snapshot:
        """Add the description and the summary of the page, and what the selectors of its site find.

        A body that the archive holds keeps its fields, unless there are selectors.
        """
        return self._staged(snapshot, self._extract)

    def fingerprint(self, snapshot: Snapshot) -> Snapshot:
        """Add the fingerprint of the main text; a wall, an error and the latest version again have none."""
        return self._staged(snapshot, self._fingerprint)

    def mark(self, snapshot: Snapshot) -> Snapshot:
        """Add the fingerprint of the main text, and the archived page that this page repeats.

        A wall or an error repeats nothing. A missing mark is provisional: the original may be stored
        meanwhile, so :meth:`confirmed` looks again.
        """
        return self._staged(snapshot, lambda snapshot: self.confirmed(self._fingerprint(snapshot)))

    def judge(self, snapshot: Snapshot) -> Snapshot:
        """Add the title, the quality if the capture is not the page, and the changes since the last version.

        The changes are provisional: they hold only while that version is the latest.
        """
        return self._staged(snapshot, self._judge)

    def confirmed(self, snapshot: Snapshot, text: str | None = None) -> Snapshot:
        """Mark a page with a fingerprint if it repeats a page that is in the archive now.

        ``text`` is its main text, if the caller knows it.
        """
        known, page = snapshot.fingerprint, snapshot.page
        if known is None or snapshot.duplicate:
            return snapshot
        found = _unless_broken(
            lambda page: mark(
                self._store.fingerprints.near,
                page.url,
                known,
                lambda: self._read(page).main_text if text is None else text,
                self._text_of,
            ),
            page,
        )
        return replace(snapshot, duplicate=found) if found else snapshot

    def title(self, body: bytes, declared: str) -> str:
        """Return the title element of a body that came with a Content-Type; empty if it has none."""
        return self._readings.title(body, declared)

    def kept(self, snapshot: Snapshot) -> Kept:
        """Return what a version keeps beside its body."""
        page = snapshot.page
        metadata = self.metadata(page.url, page.metadata)
        return Kept.by(self._sites.of(page.url), snapshot.fields, metadata)

    def metadata(self, url: str, kept: Metadata) -> Metadata:
        """Return the metadata of a visit by the rules; without rules what its version ``kept``."""
        return self._collections.current(url, kept, self._config.collection)

    def change(self, page: Page, latest: StoredVersion, kept: Kept | None = None) -> PageChange:
        """Return the changes of a page since its latest version, whose bytes differ.

        ``kept`` are the data kept with the version of the page, if it is stored.
        """
        found = self._comparison.with_version(latest, self._read(page), content_type(page.headers), kept)
        return PageChange(latest.digest, found.kind, found.reason)

    def _staged(self, snapshot: Snapshot, stage: Callable[[Snapshot], Snapshot]) -> Snapshot:
        if not is_readable(snapshot):
            return snapshot
        try:
            return stage(snapshot)
        except MemoryError:
            return Snapshot.uncut(snapshot.page, NO_MEMORY)

    def partition(self, snapshot: Snapshot) -> Partition | None:
        """Return the blocks of a body with their labels, also if it came with an error; None if it fails."""
        fetched = replace(snapshot, page=replace(snapshot.page, outcome=Outcome.FETCHED))
        return self._staged(fetched, self._partitioned).partition

    def _cut(self, snapshot: Snapshot) -> Snapshot:
        return snapshot if self._holding(snapshot.page).is_known else self._partitioned(snapshot)

    def _partitioned(self, snapshot: Snapshot) -> Snapshot:
        page = snapshot.page
        held = self._holding(page)
        cut = _unless_broken(lambda page: self._partition(page, held.latest), page)
        if cut is None:
            return snapshot
        labels = cut.labels or _unless_broken(lambda page: self._labels(page, cut, held.latest), page)
        return replace(snapshot, partition=replace(cut, labels=labels or ()))

    def _extract(self, snapshot: Snapshot) -> Snapshot:
        page, site = snapshot.page, self._sites.of(snapshot.page.url)
        if self._holding(page).is_known and not (site and site.rules):
            return snapshot
        found = _unless_broken(lambda page: self._following(page).fields(site, page.url), page)
        return replace(snapshot, fields=found or ())

    def _fingerprint(self, snapshot: Snapshot) -> Snapshot:
        page = snapshot.page
        held = self._holding(page)
        is_latest = held.latest is not None and held.latest.digest == held.digest
        if (held.is_known and is_latest) or _unless_broken(self._doubt, page) is not None:
            return snapshot
        known = _unless_broken(lambda page: self._following(page).fingerprint, page)
        return replace(snapshot, fingerprint=known)

    def _judge(self, snapshot: Snapshot) -> Snapshot:
        page, partition = snapshot.page, snapshot.partition
        held = self._holding(page)
        if partition is None and not held.is_known:
            partition = _unless_broken(self._all_layout, page)
        doubt = _unless_broken(self._doubt, page)
        is_other = held.latest is not None and held.latest.digest != held.digest
        change = self.change(page, held.latest) if held.latest and is_other and not doubt else None
        title = _unless_broken(lambda page: self._read(page).full_title, page) or ""
        return replace(snapshot, partition=partition, quality=doubt, change=change, title=title)

    def _all_layout(self, page: Page) -> Partition:
        """Return the partition of an uncut page: no blocks."""
        return Partition(len(page.body), 0, self._read(page).media.charset, SEGMENTER_VERSION, ())

    def _holding(self, page: Page) -> Holding:
        """Return what the archive holds of a page; it is asked once for all stages of a visit."""
        visit = page.url, page.captured_at, page.body
        if self._held.visit != visit:
            digest = sha256_hex(page.body)
            latest = self._store.latest(page.url, page.captured_at)
            known = latest if latest and latest.digest == digest else self._store.find(page.url, digest)
            is_known = known is not None and known.number is not None and not known.pruned
            self._held = Holding(visit, digest, latest, is_known)
        return self._held

    def _read(self, page: Page) -> PageReading:
        return self._readings.of(page.body, content_type(page.headers))

    def _following(self, page: Page) -> PageReading:
        """Return the reading of a page, with what it takes over from the version before."""
        read, latest = self._read(page), self._holding(page).latest
        known = self._bodies.readable(latest) if latest and latest.segmenter else None
        if known is not None:
            read.follow(self._readings.of(known.body, content_type(page.headers)))
        return read

    def _doubt(self, page: Page) -> Quality | None:
        """Return the quality of a capture that is not the page; None if no sign of that was found."""
        found = self._read(page).quality(page.status or 200, page.url)
        return None if found.kind is QualityKind.GOOD else found

    def _main_text(self, url: str, number: int) -> str:
        """Return the main text of a version; empty if no version has that number."""
        for version in self._store.versions(url):
            if version.number == number and not version.pruned:
                return main_text(self._bodies.get(version).body, version.charset)
        return ""

    def following(self, page: Page) -> StoredVersion | None:
        """Return the first version of content seen after a visit; None for the latest visit."""
        for capture in self._store.captures(page.url, since=page.captured_at):
            if capture.number is not None and capture.kind is not Kind.FAILED:
                return self._store.find(page.url, capture.sha256)
        return None

    def _partition(self, page: Page, latest: StoredVersion | None) -> Partition:
        """Reuse the blocks of the neighbouring version with their labels if the tags are the same.

        If the tags differ, the page is cut again.
        """
        latest = latest or self.following(page)
        level = page.level or self._level(page.url)
        read = self._read(page)
        charset = read.media.charset
        if read.content is None:
            return uncut(page.body, level, charset)
        if latest and _is_cut_so(latest, level, charset) and (known := self._bodies.readable(latest)):
            blocks, labels = inheritance.carried(known, page.body, read.since)
            if blocks:
                return Partition(len(page.body), level, charset, SEGMENTER_VERSION, blocks, labels)
        return cut_page(read.content.page, level)

    def _labels(self, page: Page, cut: Partition, latest: StoredVersion | None) -> tuple[Label, ...]:
        """Return the labels of a page; blocks that the latest version has keep theirs."""
        read = self._read(page)
        if latest and _is_cut_so(latest, cut.level, cut.charset) and (known := self._bodies.readable(latest)):
            return inheritance.labels(known, page.body, cut.blocks, read.labels)
        return read.labels(cut.blocks)

    def _level(self, url: str) -> int:
        known = self._store.versions(url, last=WINDOW + 1)
        recent = [version for version in known if version.number and version.level]
        if not recent:
            return self._config.level
        adjusted = (
            next_level([_step(version) for version in recent[1:]]) if self._config.adjust_level else None
        )
        return adjusted or recent[-1].level


def _is_cut_so(version: StoredVersion, level: int, charset: str) -> bool:
    """Return whether a version was cut at a level as pages are cut now."""
    return (version.level, version.segmenter, version.charset) == (level, SEGMENTER_VERSION, charset)


def snapshot_of(page: Page) -> Snapshot:
    """Return the snapshot of a page for its first stage; a requisite passes no stage."""
    if page.origin == REQUISITE:
        return Snapshot.uncut(page)
    reason = excess(page.body) if page.outcome is Outcome.FETCHED else ""
    return Snapshot.uncut(page, reason) if reason else Snapshot(page, None)


def is_readable(snapshot: Snapshot) -> bool:
    """Return whether a page may be read: it was fetched and not given up."""
    given_up = snapshot.change is not None and not snapshot.change.before
    return snapshot.page.outcome is Outcome.FETCHED and not given_up


def _unless_broken(work: Callable[[Page], T], page: Page) -> T | None:
    """Return the result of ``work``, or None if it fails; the bytes of the page are kept in any case."""
    try:
        return work(page)
    except (StorageError, MemoryError):
        raise
    except Exception:
        logger.exception("%s could not be read; its bytes are kept", page.url)
        return None


def _step(version: StoredVersion) -> Step:
    return Step(
        level=version.level,
        blocks=version.blocks,
        new_blocks=version.new_blocks,
        length=version.length,
        new_bytes=version.new_bytes,
        stored_bytes=version.stored_bytes,
    )
