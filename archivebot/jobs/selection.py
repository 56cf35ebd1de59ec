"""Which captures of an archive an export takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Self

from archivebot.archive import ArchiveReader
from archivebot.exceptions import CorruptObject
from archivebot.jobs.listing import Filter
from archivebot.models import Capture
from archivebot.storage.base import Damaged, raised
from archivebot.topic.relevance import PageScorer
from archivebot.urls import key_range, urlkey


@dataclass(frozen=True, slots=True)
class Selection:
    """The captures of the pages with a urlkey in [start, end), from ``since`` on and at or before ``until``.

    With a ``topic`` only pages whose content fetched last belongs to it. ``folder`` is the key of a folder:
    only its own page and what is below it are taken.
    """

    start: str = ""
    end: str = "\U0010ffff"
    since: datetime | None = None
    until: datetime | None = None
    topic: PageScorer | None = None
    folder: str = ""

    @classmethod
    def below(cls, prefix: str) -> Self:
        """Return the selection of the URLs that begin with a prefix; one with a slash at its end is a folder.

        >>> Selection.below("http://a.example/b/").end, Selection.below("http://a.example/b").end
        ('example,a)/b@', 'example,a)/c')
        """
        start, end = key_range(prefix, "prefix")
        key = urlkey(prefix)
        if start == key:
            return cls(start, end)
        return cls(key, f"{key}@", folder=key)  # a key has no slash at its end; "@" follows "?"

    def captures(self, archive: ArchiveReader, damaged: Damaged = raised) -> Iterator[Capture]:
        """Yield the captures, sorted by urlkey, time and URL; ``damaged`` gets errors of unreadable ones."""
        only = Filter(topic=self.topic)

        @lru_cache(1)
        def admits(url: str) -> bool:
            try:
                return self._has(url) and only.is_on_topic(archive, url)
            except CorruptObject as error:
                damaged(error)
                return False

        return archive.visits.keyed(self.start, self.end, self.since, self.until, admits, damaged)

    def takes(self, url: str, when: datetime) -> bool:
        """Return whether something that belongs to no capture is taken; a topic takes nothing of that."""
        in_time = (self.since is None or when >= self.since) and (self.until is None or when <= self.until)
        return in_time and self.topic is None and self.start <= urlkey(url) < self.end and self._has(url)

    def _has(self, url: str) -> bool:
        """Return whether a URL of the range is in the folder, if there is one."""
        return not self.folder or urlkey(url)[len(self.folder) :][:1] in ("", "/", "?")
