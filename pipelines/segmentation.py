"""The stage that cuts pages into blocks."""

from __future__ import annotations

from scrapy.crawler import Crawler

from archivebot.archive import Archive
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.process.stages import staged
from archivebot.models import Page, Snapshot


class SegmentationPipeline:
    """Turns a Page into a Snapshot, in the processes of the archive, so that fetching continues.

    Without this stage pages are stored without blocks.
    """

    def __init__(self, session: ArchiveSession) -> None:
        self.session = session
        session.stages.append(Archive.cut)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SegmentationPipeline:
        return cls(ArchiveSession.of(crawler))

    async def process_item(self, item: object) -> object:
        """Return a page with its blocks; other items pass unchanged. Raises StorageError."""
        if isinstance(item, Page | Snapshot):
            return await staged(self.session, item)
        return item
