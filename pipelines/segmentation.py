"""The stage that cuts pages into blocks."""

from __future__ import annotations

import logging
from dataclasses import replace

from scrapy.crawler import Crawler

from archivebot.bounds import excess
from archivebot.crawl.process.archivist import segment
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.process.worker import Crashed
from archivebot.models import Outcome, Page, Snapshot

logger = logging.getLogger(__name__)


class SegmentationPipeline:
    """Page to Snapshot, in the processes of the archive so that the event loop goes on fetching.

    A page of which processes die that have nothing else to do goes on uncut; one beyond the bounds does not
    travel.
    """

    def __init__(self, session: ArchiveSession) -> None:
        self.session = session

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SegmentationPipeline:
        return cls(ArchiveSession.of(crawler))

    async def process_item(self, item: object) -> object:
        """Return the Snapshot of a Page; other items pass unchanged."""
        return await self.segment(item) if isinstance(item, Page) else item

    async def segment(self, page: Page) -> Snapshot:
        if page.outcome is Outcome.FETCHED and (reason := excess(page.body)):
            return Snapshot.uncut(page, reason)
        without = replace(page, links=())  # they need not travel
        try:
            snapshot = await self.session.read(segment, without)
        except Crashed as error:
            logger.error("%s could not be cut, its bytes are kept: %s", page.url, error)
            return Snapshot.uncut(page, f"not cut: {error}")
        return replace(snapshot, page=replace(page, reason=snapshot.page.reason))
