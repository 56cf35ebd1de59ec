"""The stage that reads the fields of pages by selectors."""

from __future__ import annotations

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.process.stages import staged
from archivebot.models import Page, Snapshot


class FieldPipeline:
    """Adds the fields of pages, if there is a fields file, in the processes of the archive.

    Without this stage no fields are kept; the fields file still decides how changes are judged.
    """

    def __init__(self, session: ArchiveSession) -> None:
        self.session = session
        session.stages.append(Archive.extract)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FieldPipeline:
        if not ArchiveConfig.from_settings(crawler.settings).fields.name:
            raise NotConfigured
        return cls(ArchiveSession.of(crawler))

    async def process_item(self, item: object) -> object:
        """Return a page with its fields; other items pass unchanged. Raises StorageError."""
        if isinstance(item, Page | Snapshot):
            return await staged(self.session, item)
        return item
