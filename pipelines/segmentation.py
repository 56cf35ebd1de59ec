"""The stage that cuts pages into blocks."""

from __future__ import annotations

from dataclasses import replace

from scrapy.crawler import Crawler

from archivebot.crawl.archivist import segment
from archivebot.crawl.session import ArchiveSession
from archivebot.models import Page, Snapshot


class SegmentationPipeline:
    """Page to Snapshot, in the archive's process so that the event loop goes on fetching."""

    def __init__(self, session: ArchiveSession) -> None:
        self.session = session

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SegmentationPipeline:
        return cls(ArchiveSession.of(crawler))

    async def process_item(self, item: object) -> object:
        """Give the Snapshot of a Page; other items pass unchanged."""
        return await self.segment(item) if isinstance(item, Page) else item

    async def segment(self, page: Page) -> Snapshot:
        without = replace(page, links=())  # they need not travel
        return replace(await self.session.run(segment, without), page=page)
