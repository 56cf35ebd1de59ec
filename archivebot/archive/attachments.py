"""The attachments of captures: WARC records that are not captures, read and stored over one store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache

from archivebot.exceptions import CorruptObject
from archivebot.storage.attachments import Packed
from archivebot.storage.base import ArchiveStore
from archivebot.wire import Attachment

# Pages whose times are in the cache: the captures of one page, or of the few with its key, are read together.
_PAGES = 64


class Attachments:
    """Reads and stores attachments; if one is damaged, CorruptObject is raised after the others."""

    def __init__(self, store: ArchiveStore) -> None:
        self._store = store
        self._times = lru_cache(_PAGES)(store.attachments.times)

    def add(self, attachment: Attachment, level: int) -> bool:
        """Store an attachment, compressed at a Zstandard level; False if it was already stored."""
        return self._store.attachments.add(Packed.of(attachment, level))

    def of(self, url: str) -> Iterator[Attachment]:
        """Yield the attachments of a page or of another URI, by time."""
        return _unpacked(self._store.attachments.of(url))

    def has(self, url: str) -> bool:
        """Return whether a page or another URI has attachments."""
        return bool(self._store.attachments.times(url))

    def all(self) -> Iterator[Attachment]:
        """Yield all attachments, those of one page together."""
        return _unpacked(self._store.attachments.all())

    def at(self, url: str, when: datetime) -> Iterator[Attachment]:
        """Yield the attachments of the captures of a page at a time; what comes meanwhile may be missing."""
        if when in self._times(url):
            yield from _unpacked(self._store.attachments.of(url, when))

    def loose(self) -> Iterator[tuple[str, datetime]]:
        """Yield the URLs and times of the attachments whose capture the archive lacks, or cannot read."""
        return (place for place in self._store.attachments.places() if not self._is_captured(*place))

    def _is_captured(self, url: str, when: datetime) -> bool:
        try:
            found = next(self._store.captures(url, newest_first=True, until=when, brief=True), None)
        except CorruptObject:
            return False
        return found is not None and found.captured_at == when


def _unpacked(found: Iterable[Packed]) -> Iterator[Attachment]:
    """Yield the attachments that can be read; if one cannot, CorruptObject is raised after them."""
    damaged: CorruptObject | None = None
    for packed in found:
        try:
            attachment = packed.unpacked()
        except CorruptObject as error:
            damaged = error
        else:
            yield attachment
    if damaged:
        raise damaged
