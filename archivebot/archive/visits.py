"""All visits of an archive in the order of an index, and the blocks of what they saw."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from heapq import merge
from itertools import groupby
from operator import attrgetter

from archivebot.archive.bodies import Bodies
from archivebot.models import Block, Capture, Partition
from archivebot.storage.base import ArchiveStore, StoredVersion
from archivebot.storage.times import just_before


class Visits:
    """The visits of all pages, mementos or not, over one store."""

    def __init__(self, store: ArchiveStore, bodies: Bodies) -> None:
        self._store, self._bodies = store, bodies

    def keyed(
        self,
        start: str,
        end: str,
        since: datetime | None = None,
        until: datetime | None = None,
        admits: Callable[[str], bool] = bool,
    ) -> Iterator[Capture]:
        """Yield the captures of the pages with a urlkey in [start, end), sorted by urlkey, time and URL.

        Only captures from ``since`` on and at or before ``until`` are yielded, of the URLs that ``admits``
        accepts. They are read lazily.
        """
        after = just_before(since)
        for _, pages in groupby(self._store.urls(start, end), key=lambda page: page[0]):
            found = (self._store.captures(url, until=until, since=after) for _, url in pages if admits(url))
            yield from merge(*found, key=attrgetter("captured_at", "url"))

    def partition(self, version: StoredVersion) -> Partition:
        """Return the blocks of a version as they were recorded; raises CorruptObject."""
        content = self._bodies.get(version)
        slots = content.slots
        labels = tuple(slot.label for slot in slots if slot.label)
        return Partition(
            length=version.length,
            level=version.level,
            charset=version.charset,
            segmenter=version.segmenter,
            blocks=tuple(Block(slot.start, slot.end, slot.level) for slot in slots),
            labels=labels if len(labels) == len(slots) else (),
        )
