"""The stage that compares pages with the archive and stores what is new."""

from __future__ import annotations

from scrapy.crawler import Crawler

from archivebot.archive import Archive
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.process.stages import staged
from archivebot.crawl.retry import UNANSWERED
from archivebot.models import REQUISITE, Capture, Page, Snapshot
from archivebot.warc.estimate import WarcEstimate


class StoragePipeline:
    """Turns a Page or Snapshot into a Capture, in one transaction, durable when the item leaves.

    Beforehand its fields are read and it is compared with the archive, in a different process from the one
    that stores. A Capture lists its blocks only if there is a feed, which exports them.
    """

    def __init__(self, crawler: Crawler, session: ArchiveSession) -> None:
        self.stats = crawler.stats
        self.session = session
        self.with_blocks = bool(crawler.settings.getdict("FEEDS"))
        self._warc = WarcEstimate()
        session.stages += [Archive.extract, Archive.judge]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StoragePipeline:
        return cls(crawler, ArchiveSession.of(crawler))

    async def process_item(self, item: object) -> object:
        """Return the Capture of a page; other items pass unchanged. Raises StorageError."""
        if not isinstance(item, Page | Snapshot):
            return item
        snapshot = await staged(self.session, item)
        capture = await self.session.run(Archive.add, snapshot, self.with_blocks)
        self._count(capture, snapshot.page.body)
        return capture

    def _count(self, capture: Capture, body: bytes) -> None:
        stats = self.stats
        of = "requisites" if capture.origin == REQUISITE else "archive"
        stats.inc_value(f"{of}/captures")
        stats.inc_value(f"{of}/{capture.kind.value}")
        stats.inc_value(f"{of}/outcome/{capture.outcome.value}")
        if capture.status is not None and capture.outcome not in UNANSWERED:
            stats.inc_value(f"{of}/answered")
        if of == "requisites":
            stats.inc_value("requisites/bytes", len(body))
        stats.inc_value("archive/bytes_fetched", len(body))
        stats.inc_value("archive/bytes_stored", capture.stored_bytes)
        self._warc.add(body if capture.stored_bytes else b"")
        stats.set_value("archive/bytes_warc_estimated", self._warc.bytes)
