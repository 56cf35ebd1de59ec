"""The stage that compares pages with the archive and stores what is new."""

from __future__ import annotations

from scrapy.crawler import Crawler

from archivebot.archive import Archive
from archivebot.crawl.process.session import ArchiveSession
from archivebot.models import Capture, Snapshot


class StoragePipeline:
    """Snapshot to Capture: one transaction each, durable when the item leaves the pipeline."""

    def __init__(self, crawler: Crawler, session: ArchiveSession) -> None:
        self.stats = crawler.stats
        self.session = session

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StoragePipeline:
        return cls(crawler, ArchiveSession.of(crawler))

    async def process_item(self, item: object) -> object:
        """Return the Capture of a Snapshot; other items pass unchanged. Raises StorageError."""
        if not isinstance(item, Snapshot):
            return item
        capture = await self.session.run(Archive.add, item)
        self._count(capture, len(item.page.body))
        return capture

    def _count(self, capture: Capture, fetched: int) -> None:
        stats = self.stats
        stats.inc_value("archive/captures")
        stats.inc_value(f"archive/{capture.kind.value}")
        stats.inc_value(f"archive/outcome/{capture.outcome.value}")
        stats.inc_value("archive/bytes_fetched", fetched)
        stats.inc_value("archive/bytes_stored", capture.stored_bytes)
