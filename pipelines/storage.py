"""The stage that compares pages with the archive and stores what is new."""

from __future__ import annotations

import asyncio
import logging

from scrapy.crawler import Crawler

from archivebot.archive import Archive
from archivebot.crawl.session import ArchiveSession
from archivebot.exceptions import StorageError
from archivebot.models import Capture, Snapshot

logger = logging.getLogger(__name__)


class StoragePipeline:
    """Snapshot to Capture: one transaction each, durable when the item leaves the pipeline.

    A crawl whose archive cannot be written ends, with the first error as its reason: pages
    fetched after it would be lost.
    """

    def __init__(self, crawler: Crawler, session: ArchiveSession) -> None:
        self.crawler = crawler
        self.session = session
        self.failure: StorageError | None = None
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StoragePipeline:
        return cls(crawler, ArchiveSession.of(crawler))

    async def process_item(self, item: object) -> object:
        """Give the Capture of a Snapshot; other items pass unchanged. Raises StorageError."""
        if not isinstance(item, Snapshot):
            return item
        try:
            capture = await self.session.run(Archive.add, item)
        except StorageError as error:
            self._stop(error)
            raise
        self._count(capture, len(item.page.body))
        return capture

    def _stop(self, error: StorageError) -> None:
        if self.failure is None:
            self.failure = error
            logger.error("The archive cannot be written, so the crawl ends: %s", error)
            self._closing = asyncio.create_task(
                self.crawler.engine.close_spider_async(reason="storage_error")
            )

    def _count(self, capture: Capture, fetched: int) -> None:
        stats = self.crawler.stats
        stats.inc_value("archive/captures")
        stats.inc_value(f"archive/{capture.kind.value}")
        stats.inc_value(f"archive/outcome/{capture.outcome.value}")
        stats.inc_value("archive/bytes_fetched", fetched)
        stats.inc_value("archive/bytes_stored", capture.stored_bytes)
