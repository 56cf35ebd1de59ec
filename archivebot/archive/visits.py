"""All visits of an archive in the order of an index, and the blocks of what they saw."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime
from heapq import merge
from itertools import groupby
from operator import attrgetter, itemgetter

from archivebot.archive.bodies import Bodies
from archivebot.exceptions import CorruptObject
from archivebot.models import Block, Capture, Partition
from archivebot.storage.base import ArchiveStore, Damaged, StoredVersion, left_out, raised
from archivebot.storage.times import just_before
from archivebot.urls import key_range, urlkey


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
        damaged: Damaged = raised,
    ) -> Iterator[Capture]:
        """Yield the captures of the pages with a urlkey in [start, end), sorted by urlkey, time and URL.

        Only captures from ``since`` on and at or before ``until`` are yielded, of the URLs that ``admits``
        accepts. They are read lazily. Those that cannot be read are left out, and ``damaged`` gets the error.
        """
        after = just_before(since)
        for _, pages in groupby(self._urls(start, end, damaged), key=itemgetter(0)):
            found = (self._readable(url, after, until, damaged) for _, url in pages if admits(url))
            yield from merge(*found, key=attrgetter("captured_at", "url"))

    def pages(
        self,
        site: str | None = None,
        damaged: Damaged = left_out,
        after: str | None = None,
        match: str = "host",
    ) -> Iterator[str]:
        """Yield the URLs of all pages, or of those on the host of a URL, or below it by the ``match`` prefix.

        ``damaged`` gets the errors of pages that cannot be read; ``after`` is the last URL read.
        """
        start, end = key_range(site, match) if site else ("", "\U0010ffff")
        start = max(start, urlkey(after)) if after else start
        return (url for _, url in self._urls(start, end, damaged, after or ""))

    def backwards(self, url: str, until: datetime | None = None) -> Iterator[Capture]:
        """Yield the captures of a page at or before a time, the last first; they are read lazily."""
        return self._store.captures(url, newest_first=True, until=until)

    def _urls(self, start: str, end: str, damaged: Damaged, after: str = "") -> Iterator[tuple[str, str]]:
        try:
            yield from self._store.urls(start, end, after, damaged)
        except CorruptObject as error:
            damaged(error)

    def _readable(
        self, url: str, since: datetime | None, until: datetime | None, damaged: Damaged
    ) -> Iterator[Capture]:
        """Yield the captures of a page that can be read; then ``damaged`` gets each different error once."""
        told: dict[str, None] = {}

        def tell(error: CorruptObject) -> None:
            told[str(error)] = None

        try:
            for capture in self._store.captures(url, until=until, since=since, damaged=tell):
                yield capture
                since = capture.captured_at
        except CorruptObject as error:  # a part of the file: what comes after it is read from the end
            tell(error)
            later: deque[Capture] = deque()
            try:
                for capture in self._store.captures(url, True, until, since, damaged=tell):
                    later.appendleft(capture)
            except CorruptObject as further:
                tell(further)
            yield from later
        for message in told:
            damaged(CorruptObject(f"captures of {url} cannot be read: {message}"))

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
