"""Which captures of an archive an export takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from archivebot.archive import ArchiveReader
from archivebot.jobs.listing import Filter
from archivebot.models import Capture
from archivebot.topic.relevance import PageScorer
from archivebot.urls import urlkey


@dataclass(frozen=True, slots=True)
class Selection:
    """The captures of the pages with a urlkey in [start, end), from ``since`` on and at or before ``until``.

    With a ``topic`` only pages whose content fetched last belongs to it.
    """

    start: str = ""
    end: str = "\U0010ffff"
    since: datetime | None = None
    until: datetime | None = None
    topic: PageScorer | None = None

    def captures(self, archive: ArchiveReader) -> Iterator[Capture]:
        """Yield the captures, sorted by urlkey, time and URL."""
        only = Filter(topic=self.topic)
        admits = lru_cache(1)(lambda url: only.is_on_topic(archive, url)) if self.topic else bool
        return archive.visits.keyed(self.start, self.end, self.since, self.until, admits)

    def takes(self, url: str, when: datetime) -> bool:
        """Return whether something that belongs to no capture is taken; a topic takes nothing of that."""
        in_time = (self.since is None or when >= self.since) and (self.until is None or when <= self.until)
        return in_time and self.topic is None and self.start <= urlkey(url) < self.end
