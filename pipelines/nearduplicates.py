"""The stage that marks pages which repeat another one of the archive."""

from __future__ import annotations

import logging
from dataclasses import replace

from scrapy.crawler import Crawler

from archivebot.archive import Archive
from archivebot.crawl.dispatcher import Dispatcher
from archivebot.crawl.session import ArchiveSession
from archivebot.crawl.spider import ArchiveSpider
from archivebot.exceptions import StorageError
from archivebot.frontier import State
from archivebot.models import Page, Snapshot

logger = logging.getLogger(__name__)


class NearDuplicatePipeline:
    """Mark a page that is a near-duplicate of one in the archive, and put off the links that it gave.

    Nothing is dropped. ``penalty`` is taken from the scores of the links that wait because of this page
    and of no better one; a page that is none, and has one of them as well, brings it back to its place.
    """

    def __init__(self, crawler: Crawler, penalty: float) -> None:
        assert isinstance(crawler.spider, ArchiveSpider)
        self.stats, self.spider, self.penalty = crawler.stats, crawler.spider, penalty
        self.session, self.dispatcher = ArchiveSession.of(crawler), Dispatcher.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NearDuplicatePipeline:
        return cls(crawler, crawler.settings.getfloat("ARCHIVE_DUPLICATE_PENALTY"))

    async def process_item(self, item: object) -> object:
        """Give a Snapshot with its mark, where it has one; other items pass unchanged."""
        if not isinstance(item, Snapshot) or item.fingerprint is None:
            return item
        told = replace(item, page=replace(item.page, links=()))  # they need not travel
        try:
            duplicate = await self.session.run(Archive.mark, told)
        except StorageError as error:  # the next stage meets it as well, and ends the crawl
            logger.warning("%s cannot be compared with the archive: %s", item.page.url, error)
            return item
        if duplicate is None:
            return item
        self.stats.inc_value("archive/near_duplicates")
        self._put_off(item.page)
        return replace(item, duplicate=duplicate)

    def _put_off(self, page: Page) -> None:
        """Lower the links of a page in the frontier; one that is away goes without."""
        scores = {}
        try:
            for link in page.links if self.penalty else ():
                known = self.dispatcher.frontier.get(link.url)
                if known and known.state is State.QUEUED and known.entry.source == page.url:
                    scores[link.url] = known.entry.score - self.penalty
                    self.spider.forget(link)
        except StorageError:
            return
        if scores:
            self.dispatcher.reprioritise(scores)
