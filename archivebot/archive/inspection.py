"""What is read of a page before it is stored: its blocks, whether it is one, which page it repeats."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from archivebot.archive.bodies import Bodies
from archivebot.archive.comparison import Comparison, Read, reader
from archivebot.bounds import excess
from archivebot.config import ArchiveConfig
from archivebot.content.page import main_text
from archivebot.duplicates.marker import mark
from archivebot.duplicates.rule import fingerprint
from archivebot.exceptions import StorageError
from archivebot.fingerprint import sha256_hex
from archivebot.markup.charset import is_wide
from archivebot.markup.contenttype import content_type
from archivebot.markup.media import media_of
from archivebot.models import (
    Block,
    Fingerprint,
    Kind,
    Outcome,
    Page,
    PageChange,
    Partition,
    Quality,
    QualityKind,
    Snapshot,
)
from archivebot.quality.quality import quality
from archivebot.segmentation.carry import carry
from archivebot.segmentation.segmenter import SEGMENTER_VERSION, partition
from archivebot.storage.base import ArchiveStore, StoredVersion
from archivebot.versioning.policy import WINDOW, Step, next_level

logger = logging.getLogger(__name__)

T = TypeVar("T")

NO_MEMORY = "not cut: it takes more memory than a process may have"


class Inspector:
    """Reads pages beside what the archive holds; writes nothing."""

    def __init__(
        self, store: ArchiveStore, bodies: Bodies, comparison: Comparison, config: ArchiveConfig
    ) -> None:
        self._store, self._bodies, self._comparison, self._config = store, bodies, comparison, config

    def segment(self, page: Page) -> Snapshot:
        """Cut a page into blocks and tell what it is, what changed, and which page of the archive it repeats.

        The blocks of a body that the archive holds are known. A page beyond the bounds is not read, nor
        is one for which the memory of the process does not suffice.
        """
        if page.outcome is not Outcome.FETCHED:
            return Snapshot(page, None)
        if reason := excess(page.body):
            return Snapshot.uncut(page, reason)
        try:
            return self._segmented(page)
        except MemoryError:
            return Snapshot.uncut(page, NO_MEMORY)

    def _segmented(self, page: Page) -> Snapshot:
        read, digest = _read(page), sha256_hex(page.body)
        latest = self._store.latest(page.url, page.captured_at)
        doubt = _unless_broken(_doubt, page)
        is_other = latest is not None and latest.digest != digest
        change = self.change(page, latest, read) if latest and is_other and not doubt else None
        if self._store.find(page.url, digest):
            return Snapshot(page, None, doubt, change=change)
        blocks = _unless_broken(lambda page: self._partition(page, latest), page)
        known = None if doubt else _unless_broken(lambda page: _known_by(read().main_text), page)
        return self.marked(Snapshot(page, blocks, doubt, known, change=change), read)

    def change(self, page: Page, latest: StoredVersion, read: Read | None = None) -> PageChange:
        """Return what changed on a page since its latest version, whose bytes are others."""
        found = self._comparison.with_version(latest, read or _read(page), content_type(page.headers))
        return PageChange(latest.digest, found.kind, found.reason)

    def marked(self, snapshot: Snapshot, read: Read | None = None) -> Snapshot:
        """Mark a page that has no mark, if it repeats one that the archive holds by now."""
        page, known = snapshot.page, snapshot.fingerprint
        if known is None or snapshot.duplicate:
            return snapshot
        read = read or _read(page)
        found = _unless_broken(
            lambda page: mark(
                self._store.fingerprints.near, page.url, known, lambda: read().main_text, self._text_of
            ),
            page,
        )
        return replace(snapshot, duplicate=found) if found else snapshot

    def _text_of(self, url: str, number: int) -> str:
        """Return the main text of a version; empty where there is none of that number."""
        for version in self._store.versions(url):
            if version.number == number:
                return main_text(self._bodies.get(version).body, version.charset)
        return ""

    def following(self, page: Page) -> StoredVersion | None:
        """Return the version of content that was seen first after a visit; None for the latest visit."""
        for capture in self._store.captures(page.url, since=page.captured_at):
            if capture.number is not None and capture.kind is not Kind.FAILED:
                return self._store.find(page.url, capture.sha256)
        return None

    def _partition(self, page: Page, latest: StoredVersion | None) -> Partition:
        """Cut where the version beside it was cut, if the page has the same tags, else anew."""
        latest = latest or self.following(page)
        level = page.level or self._level(page.url)
        declared = content_type(page.headers)
        if latest and (latest.level, latest.segmenter) == (level, SEGMENTER_VERSION):
            charset = media_of(page.body, declared).charset
            blocks = self._carried(latest, page.body) if charset == latest.charset else None
            if blocks:
                return Partition(len(page.body), level, charset, SEGMENTER_VERSION, blocks)
        return partition(page.body, level, declared)

    def _carried(self, latest: StoredVersion, body: bytes) -> tuple[Block, ...] | None:
        known = self._bodies.readable(latest)
        if known is None or is_wide(known.charset):
            return None
        return carry(known.body, [Block(slot.start, slot.end, slot.level) for slot in known.slots], body)

    def _level(self, url: str) -> int:
        recent = [version for version in self._store.versions(url, last=WINDOW + 1) if version.number]
        if not recent:
            return self._config.level
        adjusted = (
            next_level([_step(version) for version in recent[1:]]) if self._config.adjust_level else None
        )
        return adjusted or recent[-1].level


def _unless_broken(work: Callable[[Page], T], page: Page) -> T | None:
    """Do what can be done with a page; whatever it does to the parsers, its bytes are kept."""
    try:
        return work(page)
    except (StorageError, MemoryError):
        raise
    except Exception:
        logger.exception("%s could not be read; its bytes are kept", page.url)
        return None


def _doubt(page: Page) -> Quality | None:
    """Return what a fetch brought in place of a page; None where nothing speaks against it."""
    found = quality(page.status or 200, page.body, content_type(page.headers), page.url)
    return None if found.kind is QualityKind.GOOD else found


def _read(page: Page) -> Read:
    return reader(page.body, content_type(page.headers))


def _known_by(text: str) -> Fingerprint | None:
    """Return what the main text of a page is known by; None for what has none, such as a picture."""
    return fingerprint(text) if text else None


def _step(version: StoredVersion) -> Step:
    return Step(
        level=version.level,
        blocks=version.blocks,
        new_blocks=version.new_blocks,
        length=version.length,
        new_bytes=version.new_bytes,
        stored_bytes=version.stored_bytes,
    )
